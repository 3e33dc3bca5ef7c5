#!/usr/bin/env python3
"""Where ranks go over three hosts, and steps side by side."""
from cluster import NODES, expect, expect_equal, run, wait_until

THREE = ("-N3", "-n6", "-o", "job.out", "-e", "job.err")
WHERE = "sh -c 'echo $SLURM_PROCID $SLURM_NODEID $SLURM_LOCALID $(hostname)'"


def step_job(c, body, *words):
    """Runs a job of three hosts to its end and returns what it printed."""
    job = c.script(body, *(words or THREE))
    c.wait_gone(job)
    return c.read("job.out")


def places(text):
    """NODEID of each rank; a host's name belongs to one NODEID."""
    rows = sorted((line.split() for line in text.splitlines()), key=lambda row: int(row[0]))
    names = {}
    for _, node, _, host in rows:
        expect_equal(names.setdefault(node, host), host, f"host of node {node} in {text!r}")
    expect_equal(len(set(names.values())), len(names), "hosts")
    return [int(row[1]) for row in rows]


def distributions(c):
    text = step_job(c, f"for m in block cyclic plane=2; do srun -m $m {WHERE}; echo --; done\n"
                    "scontrol show hostnames | tac > hosts; SLURM_HOSTFILE=hosts srun -n3 sh -c "
                    "'echo $SLURM_PROCID $SLURM_NODEID $SLURM_LOCALID $(hostname)'\n")
    block, cyclic, plane, listed = text.split("--\n")
    expect_equal(places(block), [0, 0, 1, 1, 2, 2], "block")
    expect_equal(places(cyclic), [0, 1, 2, 0, 1, 2], "cyclic")
    expect_equal(places(plane), [0, 0, 1, 1, 2, 2], "plane=2")
    expect_equal(places(listed), [2, 1, 0], "SLURM_HOSTFILE")


def relative_steps(c):
    text = step_job(c, "scontrol show hostnames; srun -r1 -N1 -n1 hostname; srun -r2 -N1 -n2 hostname\n"
                    "srun -r3 -N1 -n1 hostname; echo $?\n")
    lines = text.split()
    expect_equal(lines[3:], [lines[1], lines[2], lines[2], "1"], "-r")
    expect("--relative and --nodes option incompatible with count of allocated nodes (3+1>3)" in c.read("job.err"), "text")


def programs_from_a_file(c):
    text = step_job(c, "printf '%s\\n' '0 echo zero' '1-4 echo %t.%o' '* hostname' > mp.conf\n"
                    "srun -l --multi-prog mp.conf | sort; scontrol show hostnames | tail -1\n")
    lines = text.split("\n")
    expect_equal(lines[:6], ["0: zero", "1: 1.0", "2: 2.1", "3: 3.2", "4: 4.3", "5: " + lines[6]], "--multi-prog")


def a_dry_run_starts_nothing(c):
    text = step_job(c, "srun --test-only -m cyclic env > report; srun -m cyclic sh -c 'echo $SLURM_STEP_ID $SLURM_PROCID "
                    "$SLURMD_NODENAME' | sort -n -k2; cat report\n")
    lines = text.splitlines()
    ran = [line.split() for line in lines[:6]]
    expect_equal({row[0] for row in ran}, {"0"}, "the dry run took no number")
    for _, rank, host in ran:
        expect(f"task {rank} on {host}:" in lines, f"task {rank} on {host} in the report")


def steps_share_slots_and_wait(c):
    text = step_job(c, "srun sh -c 'touch up.$SLURM_PROCID; until [ -e end ]; do sleep 0.1; done' &\n"
                    "until [ $(ls up.* 2>/dev/null | wc -l) = 6 ]; do sleep 0.1; done\n"
                    "srun -I -N1 -n1 hostname; echo $?; srun --overlap -N3 -n3 echo over\n"
                    "srun -N1 -n1 echo after 2> waited & until grep -q busy waited; do sleep 0.1; done; touch end; wait\n")
    expect_equal(text.split(), ["1", "over", "over", "over", "after"], "steps")
    expect("Requested nodes are busy" in c.read("job.err"), "-I")
    expect("Step created for job" in c.read("waited"), "the wait is told")


def a_step_from_outside_of_the_job(c):
    job = c.script("touch up; until [ -e end ]; do sleep 0.1; done\n", "-N2", "-n2", "-o", "job.out")
    wait_until(lambda: c.exists("up"), "the script runs")
    # From each host, also the one that has no part in the job.
    for step, node in enumerate(NODES):
        text = c.ok("srun", f"--jobid={job}", "-N2", "-n2", "sh", "-c", "echo $SLURM_STEP_ID $SLURM_JOB_ID $(cat)",
                    node=node, stdin="typed")
        expect_equal(text, f"{step} {job} typed\n" * 2, f"step from {node}")
    expect_equal(c.exec("srun", f"--jobid={job}", "sh", "-c", "exit 7", node=NODES[2]).returncode, 7, "exit code")
    # Input that the step does not read stays for others; the number may come by a variable.
    looped = c.ok("bash", "-c", f"printf 'a\\nb\\n' | while read word; do SLURM_JOB_ID={job} srun -N1 -n1 -i none echo $word; done")
    expect_equal(looped, "a\nb\n", "srun in a loop that reads")
    expect(c.running(job), "the job goes on")
    waiting = c.sbatch("--hold", "-n1", "--wrap", "true")
    expect("Job is pending execution" in c.exec("srun", f"--jobid={waiting}", "true").stderr, "a job that waits")
    c.write("end", "")
    c.wait_gone(job)


def a_step_from_a_task_on_any_host(c):
    text = step_job(c, "scontrol show hostnames > hosts\nfor host in $(cat hosts); do srun -N1 -n1 -w $host "
                    "sh -c 'srun -n1 sh -c \"echo \\$SLURM_STEP_ID \\$SLURM_NTASKS \\$(hostname)\"'; done\n")
    rows = [line.split() for line in text.splitlines()]
    # Each has a number of its own, behind that of the step around it, and the slots of that step.
    expect_equal([row[:2] for row in rows], [["1", "1"], ["3", "1"], ["5", "1"]], "steps")
    expect_equal({row[2] for row in rows} - set(NODES), set(), "hosts")


run(distributions, relative_steps, programs_from_a_file, a_dry_run_starts_nothing, steps_share_slots_and_wait,
    a_step_from_outside_of_the_job, a_step_from_a_task_on_any_host)
