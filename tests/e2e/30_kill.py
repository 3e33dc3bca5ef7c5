#!/usr/bin/env python3
"""Whatever dies during a step, nothing of it is left on any host, and what lives on is right.

Every rank starts a child in a session of its own and one that ignores TERM; all are looked for
by name on every host as root.
"""
import re
import time

from cluster import NODES, Failed, expect, expect_equal, run, wait_until

RANK = """#!/bin/bash
setsid sleep 77701 &
(trap '' TERM INT HUP USR1 USR2; exec sleep 77702) &
touch "up.$SLURM_PROCID"
exec sleep 77703
"""
STRAYS = r"sleep 7770[123]"
STEP = STRAYS + r"|stepper --envelope|^srun |/srun |qrsh -inherit"


def start_step(c, after="echo after >> result\n", options=""):
    """A job of three hosts and six ranks whose step is up; returns its number."""
    c.write("rank", RANK, "755")
    job = c.script(f'srun {options} ./rank > step.out 2> step.err\necho "srun $?" >> result\n' + after,
                   "-N3", "--ntasks-per-node=2", "-o", "job.out")
    wait_until(lambda: len(c.ok("bash", "-c", "ls up.* 2>/dev/null || true").split()) == 6,
               "six ranks up", 90)
    return job


def host_of_job(c, job):
    """The node where the batch script runs."""
    listing = c.ok("qstat", "-g", "t", "-u", "*")
    for line in listing.splitlines():
        words = line.split()
        if words[:1] == [job] and "MASTER" in words:
            return next(w for w in words if "@" in w).split("@")[1]
    raise Failed(f"no master task of job {job} in {listing!r}")


def the(processes, pattern, what):
    found = [p for p in processes if re.search(pattern, p.args)]
    expect(found, f"no {what} among {processes}")
    return found[0]


def srun_of(c, node):
    return the(c.processes(node), r"(^|/)srun ", "srun")


def front_and_guardian(c, node):
    """The step's two supervising processes on a node: parent's parent and parent of its ranks."""
    here = {p.pid: p for p in c.processes(node)}
    rank = the(here.values(), "^sleep 77703", "rank")
    guardian = here[rank.ppid]
    return here[guardian.ppid], guardian


def other_node(node):
    return next(n for n in NODES if n != node)


def reported_lost(c, host, killed_at):
    """srun's line about that host, and that it came within two seconds."""
    c.wait_for_text("step.err", rf"{host}", 20)
    written = float(c.ok("stat", "-c", "%.9Y", "step.err"))
    expect(written - killed_at < 2.0 + 0.5, f"reported {written - killed_at:.1f} s after the kill")


def kill_9_of_srun(c):
    job = start_step(c)
    node = host_of_job(c, job)
    c.kill(node, "KILL", srun_of(c, node).pid)
    c.wait_no_processes(10, STEP)
    c.wait_gone(job)
    expect_equal(c.read("result"), "srun 137\nafter\n", "the script went on")
    expect_equal(c.exit_status(job), 0, "exit status of the job")


def term_of_srun(c):
    job = start_step(c)
    node = host_of_job(c, job)
    c.kill(node, "TERM", srun_of(c, node).pid)
    c.wait_gone(job)
    result = c.read("result").splitlines()
    expect_equal(result[1:], ["after"], f"the script went on: {result}")
    expect(result[0] != "srun 0", "a step ended by TERM reported success")
    c.wait_no_processes(5)


def kill_9_of_a_remote_front(c):
    job = start_step(c)
    node = other_node(host_of_job(c, job))
    front, _ = front_and_guardian(c, node)
    killed_at = time.time()
    c.kill(node, "KILL", front.pid)
    reported_lost(c, node, killed_at)
    # A remote task that dies by a signal makes the engine end the job: its rule, not ours.
    c.wait_gone(job, 60)
    c.wait_no_processes(5)


def kill_9_of_a_remote_guardian(c):
    job = start_step(c)
    node = other_node(host_of_job(c, job))
    _, guardian = front_and_guardian(c, node)
    killed_at = time.time()
    c.kill(node, "KILL", guardian.pid)
    reported_lost(c, node, killed_at)
    wait_until(lambda: not any(re.search(STRAYS, p.args) for p in c.processes(node)),
               f"strays gone from {node}", 5)
    c.exec("qdel", job)
    c.wait_gone(job)
    c.wait_no_processes(5)


def kill_9_of_the_local_front(c):
    job = start_step(c)
    node = host_of_job(c, job)
    front, _ = front_and_guardian(c, node)
    killed_at = time.time()
    c.kill(node, "KILL", front.pid)
    reported_lost(c, node, killed_at)
    c.exec("qdel", job)
    c.wait_gone(job)
    c.wait_no_processes(5)


def qdel_during_a_step(c):
    job = start_step(c)
    c.ok("qdel", job)
    c.wait_gone(job, 30)
    c.wait_no_processes(5)
    expect(not c.exists("result"), "the script went on after qdel")


def scancel_during_a_step(c):
    job = start_step(c)
    c.ok("scancel", job)
    c.wait_gone(job, 30)
    c.wait_no_processes(5)


def kill_9_of_a_rank(c):
    job = start_step(c)
    node = other_node(host_of_job(c, job))
    rank = the(c.processes(node), "^sleep 77703", "rank")
    c.kill(node, "KILL", rank.pid)
    c.wait_for_text("step.err", "Killed|signal 9", 10)
    expect(job in c.known_jobs(), "the job ended with the rank")
    left = [p for n in NODES for p in c.processes(n) if p.args.startswith("sleep 77703")]
    expect_equal(len(left), 5, f"ranks left: {left}")
    c.ok("scancel", job)
    c.wait_gone(job)
    c.wait_no_processes(5)


def strays_end_with_the_step(c):
    c.write("leaver", "#!/bin/bash\nsetsid sleep 77701 > /dev/null 2>&1 < /dev/null &\n"
            "(trap '' TERM; exec sleep 77702) &\nexit 0\n", "755")
    job = c.script("srun ./leaver\necho srun $? >> result\nsleep 60\n", "-N3", "--ntasks-per-node=1")
    c.wait_for_text("result", "srun 0", 60)
    c.wait_no_processes(2, STEP)
    c.ok("scancel", job)


def stopped_reader_of_stdout(c):
    job = c.script("srun -n6 bash -c 'yes 0123456789012345678901234567890123456789 | head -n 200000' | (\n"
                   "  head -c 1000 > head.out; touch stopped; kill -STOP $BASHPID; cat | wc -c > rest.out)\n"
                   "echo done >> result\n", "-N3", "--ntasks-per-node=2", "-o", "job.out")
    wait_until(lambda: c.exists("stopped"), "reader stopped", 60)
    node = host_of_job(c, job)
    reader = wait_until(lambda: [p for p in c.processes(node) if p.state.startswith("T")], "a stopped process", 10)
    time.sleep(2)  # time for 49 MB to pile up, if anything let them
    srun = srun_of(c, node)
    resident = int(c.ok("ps", "-o", "rss=", "-p", srun.pid, node=node, user="root", cwd="/"))
    expect(resident < 20000, f"srun holds {resident} KB for a stopped reader")
    c.kill(node, "CONT", reader[0].pid)
    c.wait_gone(job)
    expect_equal(c.read("result"), "done\n", "the script's end")
    rest = int(c.read("rest.out"))
    expect(6 * 200000 * 41 - 1_000_000 < rest + 1000 <= 6 * 200000 * 41, f"{rest} bytes after the stop")


def qdel_with_a_stopped_reader(c):
    job = c.script("srun -n6 bash -c 'setsid sleep 77701 & yes' | (\n"
                   "  head -c 1000 > head.out; touch stopped; kill -STOP $BASHPID; cat > /dev/null)\n",
                   "-N3", "--ntasks-per-node=2", "-o", "job.out")
    wait_until(lambda: c.exists("stopped"), "reader stopped", 60)
    c.ok("qdel", job)
    c.wait_gone(job, 60)
    c.wait_no_processes(5)


run(kill_9_of_srun, term_of_srun, kill_9_of_a_remote_front, kill_9_of_a_remote_guardian,
    kill_9_of_the_local_front, qdel_during_a_step, scancel_during_a_step, kill_9_of_a_rank,
    strays_end_with_the_step, stopped_reader_of_stdout, qdel_with_a_stopped_reader)
