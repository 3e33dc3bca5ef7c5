#!/usr/bin/env python3
"""sacct, sinfo and scontrol against the live engine: every state a job can be in, hosts, changes."""
import re

from cluster import MASTER, NODES, expect, expect_equal, run, wait_until

UID = "1500"


def rows(c, *words, fields="JobID,State,ExitCode"):
    text = c.ok("sacct", "-n", "-P", "-o", fields, *words)
    return [line.split("|") for line in text.splitlines()]


def ended(c, job):
    """The rows of a job once accounting has it."""
    c.wait_gone(job)
    final = {"COMPLETED", "FAILED", "TIMEOUT", "CANCELLED", "NODE_FAIL", "OUT_OF_MEMORY"}

    def probe():
        found = rows(c, "-X", "-j", job)
        return found if found and all(row[1].split()[0] in final for row in found) else None

    wait_until(probe, f"final state of {job} in sacct", 60)
    return rows(c, "-j", job)


def exit_codes_and_steps(c):
    job = c.script("srun true\nsrun -J named sh -c 'exit 3'\nexit 7\n", "-J", "codes")
    expect_equal(ended(c, job), [[job, "FAILED", "7:0"], [f"{job}.batch", "FAILED", "7:0"],
                                 [f"{job}.0", "COMPLETED", "0:0"], [f"{job}.1", "FAILED", "3:0"]], "rows")
    expect_equal(rows(c, "-X", "-j", job, fields="JobName,DerivedExitCode,NNodes,Partition"),
                 [["codes", "3:0", "1", "batch"]], "job")
    expect_equal(rows(c, "-j", f"{job}.1", fields="JobName"), [["named"]], "one step")
    text = c.ok("scontrol", "-o", "show", "job", job)
    expect("JobState=FAILED Reason=NonZeroExitCode" in text and "ExitCode=7:0" in text, text)


def a_signal_is_no_code(c):
    killed = c.script("kill -9 $$\n")
    plain = c.script("exit 137\n")
    expect_equal(ended(c, killed)[0][1:], ["FAILED", "0:9"], "kill -9 of the script itself")
    expect_equal(ended(c, plain)[0][1:], ["FAILED", "137:0"], "exit 137")


def codes_that_the_engine_would_act_upon(c):
    job = c.script("exit 99\n")
    expect_equal(ended(c, job)[0][1:], ["FAILED", "99:0"], "exit 99")


def waits_runs_and_is_cancelled(c):
    job = c.script("srun sleep 300\n", "--hold", "-J", "life", "-t", "10")
    expect_equal(rows(c, "-j", job), [[job, "PENDING", "0:0"]], "held")
    c.ok("scontrol", "release", job)
    c.wait_running(job)
    running = wait_until(lambda: r if len(r := rows(c, "-j", job)) == 3 else None, "three rows", 30)
    expect_equal([row[1] for row in running], ["RUNNING"] * 3, "running")
    c.ok("scancel", job)
    expect_equal([row[1] for row in ended(c, job)], [f"CANCELLED by {UID}", "CANCELLED", "CANCELLED"], "cancelled")
    expect_equal(rows(c, "-X", "-j", job, fields="Timelimit"), [["00:10:00"]], "limit")


def cancelled_while_it_waits(c):
    job = c.script("true\n", "--hold")
    array = c.script("true\n", "--hold", "--array=1-4%2")
    c.ok("scancel", job)
    c.ok("scancel", f"{array}_2")
    expect_equal(rows(c, "-j", job), [[job, f"CANCELLED by {UID}", "0:0"]], "job")
    expect_equal(rows(c, "-j", array), [[f"{array}_[1,3-4%2]", "PENDING", "0:0"],
                                        [f"{array}_2", f"CANCELLED by {UID}", "0:0"]], "element")


def array_elements(c):
    job = c.script("exit $SLURM_ARRAY_TASK_ID\n", "--array=0,2,5")
    found = [row for row in ended(c, job) if "." not in row[0]]
    expect_equal(found, [[f"{job}_0", "COMPLETED", "0:0"], [f"{job}_2", "FAILED", "2:0"],
                         [f"{job}_5", "FAILED", "5:0"]], "elements")
    expect_equal(rows(c, "-X", "-j", f"{job}_2"), [[f"{job}_2", "FAILED", "2:0"]], "one element")
    raw = {row[0] for row in rows(c, "-X", "-j", job, fields="JobIDRaw")}
    expect_equal(len(raw), 3, "ids of their own")


def over_the_limit(c):
    job = c.script("srun sleep 300\n", "-t", "1")
    c.wait_running(job)
    c.wait_gone(job, 180)
    expect_equal(ended(c, job)[0][1:], ["TIMEOUT", "0:0"], "TIMEOUT")


def requeued(c):
    job = c.script("[ \"$SLURM_RESTART_COUNT\" = 1 ] && exit 0\ntouch first\nsleep 300\n", "--requeue")
    wait_until(lambda: c.exists("first"), "first run", 60)
    c.ok("scontrol", "requeue", job)
    live = {"PENDING", "REQUEUED", "RUNNING", "COMPLETING", "COMPLETED"}
    seen = rows(c, "-X", "-j", job)
    expect(seen and seen[0][1] in live, f"after requeue: {seen}")
    expect_equal(ended(c, job)[0][1:], ["COMPLETED", "0:0"], "second run")
    both = rows(c, "-X", "-D", "-j", job)
    expect_equal([row[1] for row in both], ["REQUEUED", "COMPLETED"], "-D")


def plain_qsub_jobs(c):
    c.write("plain.sh", "#!/bin/sh\nexit 4\n", "755")
    job = c.qsub("-o", "/dev/null", "-j", "y", "plain.sh")
    expect_equal(ended(c, job), [[job, "FAILED", "4:0"]], "no records, no steps")


def unknown_jobs(c):
    done = c.exec("sacct", "-n", "-j", "9999998")
    expect_equal((done.returncode, done.stdout, done.stderr), (0, "", ""), "sacct")
    done = c.exec("scontrol", "show", "job", "9999998")
    expect_equal((done.returncode, done.stderr), (1, "slurm_load_jobs error: Invalid job id specified\n"), "scontrol")


def hosts_agree_with_the_engine(c):
    job = c.script("sleep 300\n", "-N1", "-n2")
    c.wait_running(job)
    used = total = 0
    for line in c.ok("qstat", "-f", "-q", "batch.q").splitlines():
        if found := re.match(r"batch\.q@\S+ +\S+ +\d+/(\d+)/(\d+)", line):
            used += int(found[1])
            total += int(found[2])
    cpus = c.ok("sinfo", "-h", "-p", "batch", "-o", "%C").strip().split("/")
    expect_equal([cpus[0], cpus[3]], [str(used), str(total)], "CPUs of sinfo and qstat -f")
    expect_equal(sorted(c.ok("sinfo", "-h", "-N", "-p", "batch", "-o", "%N").split()), sorted(NODES), "nodes")
    host = c.ok("squeue", "-h", "-j", job, "-o", "%N").strip()
    expect_equal(c.ok("sinfo", "-h", "-n", host, "-p", "batch", "-o", "%t").strip(), "mix", "state of its host")
    node = c.ok("scontrol", "-o", "show", "node", host)
    expect("State=MIXED" in node and f"CPUAlloc={used}" in node and "Gres=gpu:2" in node, node)
    c.ok("scancel", job)


def administrators_drain_and_resume(c):
    host = NODES[1]
    denied = c.exec("scontrol", "update", f"NodeName={host}", "State=DRAIN", "Reason=x")
    expect_equal((denied.returncode, denied.stderr), (1, "slurm_update error: Invalid user id\n"), "as a user")
    try:
        c.ok("scontrol", "update", f"NodeName={host}", "State=DRAIN", "Reason=x", user="root", cwd="/")
        expect_equal(c.ok("sinfo", "-h", "-n", host, "-p", "batch", "-o", "%t").strip(), "drain", "drained")
        expect(host in c.ok("sinfo", "-h", "-R", "-o", "%n"), "-R")
        expect_equal(c.ok("sinfo", "-h", "-p", "batch", "-o", "%a").strip(), "up", "the partition is up")
    finally:
        c.ok("scontrol", "update", f"NodeName={host}", "State=RESUME", user="root", cwd="/")
    try:
        c.ok("scontrol", "update", "PartitionName=gpu", "State=DOWN", user="root", cwd="/")
        expect_equal(c.ok("sinfo", "-h", "-p", "gpu", "-o", "%a").strip(), "down", "down")
        expect_equal(c.ok("sinfo", "-h", "-p", "gpu", "-o", "%D %a").strip(), f"{len(NODES)} down", "its nodes stay")
    finally:
        c.ok("scontrol", "update", "PartitionName=gpu", "State=UP", user="root", cwd="/")
    expect_equal(c.ok("sinfo", "-h", "-p", "gpu", "-o", "%a").strip(), "up", "up")


def updates_of_a_waiting_job(c):
    job = c.script("true\n", "--hold", "-t", "10", "-J", "before")
    c.ok("scontrol", "update", f"JobId={job}", "TimeLimit=30", "Name=after", "Comment=a b")
    expect_equal(c.ok("squeue", "-h", "-j", job, "-o", "%j|%l|%k"), "after|30:00|a b\n", "squeue")
    expect("hard resource_list" in (text := c.ok("qstat", "-j", job)) and "h_rt=1800" in text, text)
    done = c.exec("scontrol", "update", f"JobId={job}", "NumNodes=2")
    expect_equal(done.returncode, 1, "what the engine cannot change")
    expect("NumNodes=2" in done.stderr, done.stderr)


def suspended_ranks(c):
    job = c.script("srun sh -c 'while :; do date +%s%N > beat; sleep 0.1; done'\n")
    c.wait_running(job)
    wait_until(lambda: c.exists("beat"), "the rank", 60)
    c.ok("scontrol", "suspend", job)
    expect_equal(c.ok("squeue", "-h", "-j", job, "-o", "%t").strip(), "S", "state")
    stopped = c.read("beat")
    expect_equal(c.ok("sacct", "-n", "-X", "-j", job, "-o", "State%-12").strip(), "RUNNING", "never a final word")
    expect_equal(c.read("beat"), stopped, "the rank goes on")
    c.ok("scontrol", "resume", job)
    wait_until(lambda: c.read("beat") != stopped, "the rank after resume", 30)
    c.ok("scancel", job)


run(exit_codes_and_steps, a_signal_is_no_code, codes_that_the_engine_would_act_upon, waits_runs_and_is_cancelled,
    cancelled_while_it_waits, array_elements, over_the_limit, requeued, plain_qsub_jobs, unknown_jobs,
    hosts_agree_with_the_engine, administrators_drain_and_resume, updates_of_a_waiting_job, suspended_ranks)
