#!/usr/bin/env python3
"""Faults during a step: a full disk, and a step led from outside of its job whose srun is ended by force.

A host that is cut off, a stopped stepper and a process that nobody may kill are in 32_signals.py.
"""
import re

from cluster import NODES, expect, expect_equal, run, wait_until

FULL = "/tmp/e2e-full"
THREE = ("-N3", "-n6", "-o", "job.out", "-e", "job.err")
# Ends by KILL alone, with a child that has left its group and session.
STUBBORN = """#!/bin/bash
trap '' TERM INT HUP QUIT
setsid sleep 77901 < /dev/null > /dev/null 2>&1 &
touch "up.$SLURM_PROCID"
while :; do sleep 77902; done
"""
STEP = r"sleep 7790|bash \./stubborn|stepper --envelope|(^|/)srun |qrsh -inherit"


def on_every_host(c, command):
    for node in NODES:
        c.ok("bash", "-c", command, node=node, user="root", cwd="/")


def a_full_disk_under_output_files(c):
    on_every_host(c, f"mkdir -p {FULL} && mount -t tmpfs -o size=256k,mode=1777 none {FULL}")
    try:
        # Merged by srun, by the ranks themselves, and behind the script's back.
        job = c.script("write='head -c 400000 /dev/zero; echo $SLURM_PROCID >> ended'\n"
                       f"srun -o {FULL}/merged sh -c \"$write\" 2> merged.err; echo $?\nsort ended; rm ended\n"
                       f"srun -o /dev/full sh -c \"$write\" 2> full.err; echo $?\nsort ended; rm ended {FULL}/merged\n"
                       f"srun sh -c \"$write\" > {FULL}/redirected 2> redirected.err; echo $?\nsort ended; rm ended {FULL}/redirected\n"
                       f"srun -o {FULL}/own.%t sh -c 'head -c 400000 /dev/zero' 2> own.err; echo $?\n"
                       "srun sh -c 'echo next' | sort -u\n", *THREE)
        c.wait_gone(job)
        # The ranks run on to their end, srun tells it once and fails.
        expect_equal(c.read("job.out").split(), (["1"] + list("012345")) * 3 + ["1", "next"], f"codes ({c.read('job.err')})")
        for name in ("merged", "full", "redirected"):
            told = c.read(f"{name}.err")
            expect_equal(told.count("No space left on device"), 1, f"words of srun: {told!r}")
        expect("Exited with exit code 1" in c.read("own.err"), c.read("own.err"))
    finally:
        on_every_host(c, f"umount {FULL} && rmdir {FULL}")
    c.wait_no_processes(10)


def waiting_job(c):
    job = c.script("touch running; until [ -e end ]; do sleep 0.2; done\nsrun hostname | sort > next.out; echo $? >> next.out\n", *THREE)
    wait_until(lambda: c.exists("running"), "the script runs", 60)
    return job


def step_from_outside(c, job, ending):
    """A step of ranks that ignore signals, led from a host that is not the job's first; `ending` gets its srun."""
    c.write("stubborn", STUBBORN, "755")
    node = next(node for node in NODES if not [p for p in c.processes(node) if "batch-exec" in p.args])
    c.ok("bash", "-c", "rm -f up.*")
    # Below a shell: whoever waits for a stopped program outside of the host would stop, too.
    outer = c.start("bash", "-c", f"srun --jobid={job} -n6 ./stubborn; exit $?", node=node)
    wait_until(lambda: c.ok("bash", "-c", "ls up.* 2>/dev/null | wc -l").strip() == "6", "six ranks up", 60)
    leader = [p.pid for p in c.processes(node) if re.match(r"(/\S+/)?srun --jobid=", p.args)]
    expect_equal(len(leader), 1, f"srun on {node}")
    ending(c, node, leader[0])
    outer.communicate(timeout=60)
    wait_until(lambda: not c.alive(STEP), "nothing left of the step", 60)
    expect(c.running(job), "the job has died with the step")
    return outer.returncode


def term_then_kill(c, node, pid):
    c.kill(node, "TERM", pid)
    wait_until(lambda: c.alive("sleep 77902"), "ranks that have ignored TERM", 10)
    c.kill(node, "KILL", pid)


def interrupt_twice(c, node, pid):
    c.ok("bash", "-c", f"kill -INT {pid}; sleep 0.3; kill -INT {pid}", node=node, user="root", cwd="/")


def stop_then_kill(c, node, pid):
    c.kill(node, "TSTP", pid)
    wait_until(lambda: all(p.state.startswith("T") for found in c.alive("sleep 77902|stubborn").values() for p in found
                           if "sleep 77902" in p.args or "bash ./stubborn" in p.args), "stopped ranks", 20)
    c.kill(node, "KILL", pid)


def pipe(c, node, pid):
    c.kill(node, "PIPE", pid)


def a_job_outlives_a_step_from_outside(c):
    job = waiting_job(c)
    for ending in (term_then_kill, interrupt_twice, stop_then_kill, pipe):
        code = step_from_outside(c, job, ending)
        expect(code != 0, f"{ending.__name__}: the step reported success")
    c.write("end", "")
    c.wait_gone(job)
    expect_equal(c.read("next.out").split(), sorted(NODES * 2) + ["0"], "the job's own next step")
    expect_equal(c.exit_status(job), 0, "exit status of the job")
    c.wait_no_processes(10)


def a_job_outlives_a_step_inside_of_a_killed_step(c):
    c.write("stubborn", STUBBORN, "755")
    # set -m: a plain shell starts background commands with INT ignored.
    job = c.script("set -m\nsrun -N1 -n1 srun -N3 -n3 ./stubborn 2> err & pid=$!\n"
                   "until [ $(ls up.* 2>/dev/null | wc -l) = 3 ]; do sleep 0.1; done\n"
                   "kill -INT $pid; sleep 0.3; kill -INT $pid; wait $pid; echo $? > code\n"
                   "srun -N3 -n3 sh -c 'while pgrep -x stubborn > /dev/null; do sleep 0.2; done; sleep 2; hostname' | sort > next.out\n",
                   *THREE)
    c.wait_gone(job)
    expect_equal(c.read("next.out").split(), NODES, f"the next step ({c.read('job.err')} {c.read('err')})")
    expect_equal((c.read("code"), c.exit_status(job)), ("137\n", 0), "codes of the step and of the job")
    c.wait_no_processes(10)


run(a_full_disk_under_output_files, a_job_outlives_a_step_from_outside,
    a_job_outlives_a_step_inside_of_a_killed_step)
