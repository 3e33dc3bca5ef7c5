#!/usr/bin/env python3
"""Arrays, holds, squeue's columns, scancel, against the live engine."""
import re

from cluster import NODES, expect, expect_equal, run, wait_until

HEADER = "             JOBID PARTITION     NAME     USER ST       TIME  NODES NODELIST(REASON)\n"


def squeue(c, *words, user="user1"):
    return c.ok("squeue", *words, user=user)


def dense_array(c):
    job = c.script('echo "$SLURM_ARRAY_JOB_ID $SLURM_ARRAY_TASK_ID $SLURM_ARRAY_TASK_COUNT"\n', "--array=1-3")
    c.wait_gone(job)
    for task in (1, 2, 3):
        expect_equal(c.read(f"slurm-{job}_{task}.out"), f"{job} {task} 3\n", f"task {task}")


def sparse_array_from_zero(c):
    job = c.script('echo "$SLURM_ARRAY_TASK_ID $SLURM_ARRAY_TASK_MIN $SLURM_ARRAY_TASK_MAX $SLURM_JOB_ID"\n',
                   "--array=0,5,9", "-o", "a.%a")
    c.wait_gone(job)
    ids = set()
    for task in (0, 5, 9):
        words = c.read(f"a.{task}").split()
        expect_equal(words[:3], [str(task), "0", "9"], f"task {task}")
        ids.add(words[3])
    expect_equal(len(ids), 3, f"SLURM_JOB_ID differs between elements: {ids}")


def held_job(c):
    job = c.script("true\n", "--hold", "-J", "waits")
    line = squeue(c, "-h", "-j", job, "-o", "%i|%P|%j|%u|%t|%M|%D|%R")
    expect_equal(line, f"{job}|batch|waits|user1|PD|0:00|1|(JobHeldUser)\n", "squeue")
    c.ok("qrls", job)
    c.wait_gone(job)


def running_job_over_three_nodes(c):
    job = c.script("sleep 300\n", "-N3", "--ntasks-per-node=1", "-J", "three")
    c.wait_running(job)
    text = wait_until(lambda: (t := squeue(c, "-j", job)) if " R " in squeue(c, "-j", job) else None, "R in squeue")
    expect(text.startswith(HEADER), f"header: {text!r}")
    row = text[len(HEADER):]
    found = re.fullmatch(rf" *{job} +batch +three +user1  R +(\d+):(\d\d) +3 (\S+)\n", row)
    expect(found, f"row: {row!r}")
    # The batch host may come first, as in SLURM_JOB_NODELIST.
    expect_equal(sorted(c.ok("scontrol", "show", "hostnames", found[3]).split()), NODES, "NODELIST")
    first = int(found[1]) * 60 + int(found[2])
    expect(first < 100, f"TIME is {first} s")
    wait_until(lambda: squeue(c, "-h", "-j", job, "-o", "%M").strip() != f"{found[1]}:{found[2]}", "TIME goes on", 10)
    c.ok("scancel", job)
    c.wait_gone(job)


def filters_and_unknown_jobs(c):
    mine = c.script("sleep 300\n", "--hold", "-J", "mine")
    expect_equal(squeue(c, "--me", "-h", "-o", "%j").split(), ["mine"], "--me")
    expect_equal(squeue(c, "-u", "user2", "-h"), "", "-u user2")
    expect_equal(squeue(c, "-t", "R", "-h"), "", "-t R")
    done = c.exec("squeue", "-j", "9999998")
    expect_equal((done.returncode, done.stderr), (1, "slurm_load_jobs error: Invalid job id specified\n"), "unknown")
    c.ok("scancel", mine)


def scancel_pending_and_running(c):
    pending = c.script("true\n", "--hold")
    done = c.exec("scancel", pending)
    expect_equal((done.returncode, done.stdout, done.stderr), (0, "", ""), "scancel of a pending job")
    running = c.script("sleep 300\n")
    c.wait_running(running)
    done = c.exec("scancel", running)
    expect_equal((done.returncode, done.stdout, done.stderr), (0, "", ""), "scancel of a running job")
    c.wait_gone(pending)
    c.wait_gone(running)
    c.wait_no_processes(10)


def scancel_unknown_is_silent(c):
    done = c.exec("scancel", "9999998")
    expect_equal((done.returncode, done.stdout, done.stderr), (0, "", ""), "scancel of an unknown job")


def scancel_of_anothers_job(c):
    job = c.script("sleep 300\n", "--hold")
    done = c.exec("scancel", job, user="user2", cwd="/home/user2")
    expect(done.returncode != 0, "user2 could cancel user1's job")
    expect_equal(done.stderr, f"scancel: error: Kill job error on job id {job}: Access/permission denied\n", "stderr")
    expect(job in c.known_jobs(), "the job is gone")


def scancel_by_name_and_state(c):
    keep = c.script("true\n", "--hold", "-J", "keep")
    go = c.script("true\n", "--hold", "-J", "go")
    c.ok("scancel", "--name=go")
    c.wait_gone(go)
    expect(keep in c.known_jobs(), "the other job is gone")


run(dense_array, sparse_array_from_zero, held_job, running_job_over_three_nodes, filters_and_unknown_jobs,
    scancel_pending_and_running, scancel_unknown_is_silent, scancel_of_anothers_job, scancel_by_name_and_state)
