#!/usr/bin/env python3
"""Steps over three hosts: placement, identity of ranks, output, exit codes, signals."""
from cluster import NODES, expect, expect_equal, run

# Without --ntasks-per-node: a smaller step would warn about it, as in Slurm. Warnings of srun go
# to a file where the test is about something else.
THREE = ("-N3", "-n6", "-o", "job.out", "-e", "job.err")


def step_job(c, body, *words):
    """Runs a job of three hosts to its end and returns what it printed."""
    job = c.script(body, *(words or THREE))
    c.wait_gone(job)
    return job, c.read("job.out")


def identity_of_every_rank(c):
    job, text = step_job(c, "srun bash -c 'echo $SLURM_PROCID $SLURM_NTASKS $SLURM_LOCALID $SLURM_NODEID "
                         "$SLURM_NNODES $SLURMD_NODENAME $(hostname) $SLURM_JOB_ID $SLURM_STEP_ID "
                         "${SLURM_SHIM_TOKEN-none} ${SLURM_SHIM_REQ-none}'\n")
    rows = sorted((line.split() for line in text.splitlines()), key=lambda row: int(row[0]))
    expect_equal(len(rows), 6, f"ranks in {text!r}")
    master = rows[0][5]
    order = [master] + [node for node in NODES if node != master]
    for rank, row in enumerate(rows):
        host = order[rank // 2]
        wanted = [str(rank), "6", str(rank % 2), str(rank // 2), "3", host, host, job, "0", "none", "none"]
        expect_equal(row, wanted, f"rank {rank}")


def ranks_have_the_scripts_environment(c):
    _, text = step_job(c, "export ODD=$'two\\nlines \\\\ \"q\"'; greet() { echo hi; }; export -f greet\n"
                       "cd /tmp && srun -n3 -N3 bash -c 'echo \"$ODD|$PWD|$(greet)\"'\n")
    # One rank a host; the directory is the script's.
    expect_equal(text, 'two\nlines \\ "q"|/tmp|hi\n' * 3, "ranks' environment")


def labels_and_bytes(c):
    _, text = step_job(c, "srun -l bash -c 'echo first; echo second >&2' 2>&1\n")
    expect_equal(sorted(text.splitlines()), sorted(f"{r}: {w}" for r in range(6) for w in ("first", "second")), "-l")
    _, text = step_job(c, "srun bash -c 'seq 100000' | sort -n | uniq -c | awk '$1 != 6 {bad++} END {print NR, bad + 0}'\n")
    expect_equal(text.split(), ["100000", "0"], "lines of six ranks")


def output_files(c):
    step_job(c, "srun -o rank.%t bash -c 'echo $SLURM_PROCID'; srun -o node.%n -e err.%t bash -c 'echo x; echo y >&2'\n"
             "srun -o together bash -c 'for i in $(seq 1000); do echo line $SLURM_PROCID $i; done'\n")
    for rank in range(6):
        expect_equal(c.read(f"rank.{rank}"), f"{rank}\n", f"rank.{rank}")
        expect_equal(c.read(f"err.{rank}"), "y\n", f"err.{rank}")
    for node in range(3):
        expect_equal(c.read(f"node.{node}"), "x\nx\n", f"node.{node}")
    expect_equal(c.ok("bash", "-c", "sort -u together | wc -l; grep -cvE '^line [0-5] [0-9]+$' together || true").split(),
                 ["6000", "0"], "shared file")


def sub_steps(c):
    _, text = step_job(c, "srun -N1 -n2 hostname | sort -u | wc -l; srun -N2 -n4 hostname | sort | uniq -c | awk '{print $1}'\n"
                       f"srun -N1 -w {NODES[1]} -n2 hostname | sort -u; srun -n1 bash -c 'echo $SLURM_STEP_ID'\n")
    expect_equal(text.split(), ["1", "2", "2", NODES[1], "3"], "sub-steps")
    warned = c.read("job.err")
    expect("can't run 1 processes on 3 nodes, setting nnodes to 1" in warned, f"Slurm's warning: {warned!r}")


def steps_side_by_side(c):
    _, text = step_job(c, "for i in 1 2 3; do srun -N3 -n3 bash -c 'sleep 1; echo $SLURM_STEP_ID' & done; wait\n")
    ids = text.split()
    expect_equal(sorted(ids), ["0"] * 3 + ["1"] * 3 + ["2"] * 3, "steps")


def exit_codes(c):
    _, text = step_job(c, "ulimit -c 0\n"
                       "srun bash -c 'exit $SLURM_PROCID' 2>/dev/null; echo $?\n"
                       "srun -n1 true; echo $?\nsrun -n1 /nonexistent 2>/dev/null; echo $?\n"
                       "srun -n1 /etc/passwd 2>/dev/null; echo $?\n"
                       "srun -n1 bash -c 'kill -SEGV $$' 2>/dev/null; echo $?\n"
                       "srun -K bash -c '[ $SLURM_PROCID = 4 ] && exit 9; exec sleep 100' 2>/dev/null; echo $?\n")
    expect_equal(text.split(), ["5", "0", "2", "13", "139", "9"], "exit codes")


def wrong_use_is_named(c):
    _, text = step_job(c, "srun -n 99 hostname 2>&1; echo $?; srun -w nosuchhost hostname 2>&1; echo $?\n"
                       "srun --mpi=pmix hostname 2>&1; echo $?; srun 2>&1; echo $?\n")
    lines = text.splitlines()
    for words in ("More processors requested than permitted", "Requested node configuration is not available"):
        expect(words in text, f"no '{words}' in {text!r}")
    expect("pmix" in text, f"the MPI type is not named: {text!r}")
    codes = [line for line in lines if line.isdigit()]
    expect_equal(len(codes), 4, f"four codes in {text!r}")
    expect("0" not in codes, f"a wrong use succeeded: {text!r}")


def signals_reach_every_rank(c):
    _, text = step_job(c, "srun bash -c 'trap \"echo got; exit 0\" USR1; touch up.$SLURM_PROCID; while :; do sleep 0.1; done' &\n"
                       "until [ $(ls up.* 2>/dev/null | wc -l) = 6 ]; do sleep 0.1; done\n"
                       "kill -USR1 $!; wait $!; echo code $?\n")
    # bash also says that the signal ended its sleep.
    lines = [line for line in text.splitlines() if "signal 1" not in line]
    expect_equal(sorted(lines), ["code 0"] + ["got"] * 6, "USR1 to srun")


def working_directory_option(c):
    _, text = step_job(c, "srun -n3 -N3 -D /usr pwd; srun -n1 -D /nonexistent true 2>/dev/null; [ $? != 0 ] && echo refused\n")
    expect_equal(text, "/usr\n" * 3 + "refused\n", "-D")


run(identity_of_every_rank, ranks_have_the_scripts_environment, labels_and_bytes, output_files, sub_steps,
    steps_side_by_side, exit_codes, wrong_use_is_named, signals_reach_every_rank, working_directory_option)
