#!/usr/bin/env python3
"""What clients ask of squeue and scancel while a job waits, runs, has ended, failed or was cancelled."""
import json
import os

from cluster import expect, expect_equal, run, wait_until


def squeue(c, *words):
    return c.ok("squeue", *words)


def state(c, job):
    return squeue(c, "-h", "-t", "all", "-j", job, "-o", "%i %t %r").strip()


def wait_state(c, job, wanted):
    wait_until(lambda: state(c, job) == wanted, f"squeue -t all says {wanted!r} (now {state(c, job)!r})", 60)


def states_from_the_queue_to_the_end(c):
    names = [f"{name}{os.getpid()}" for name in ("good", "bad")]  # jobs of an earlier run are listed, too
    good = c.script("sleep 2\n", "-J", names[0])
    bad = c.script("exit 3\n", "-J", names[1])
    wait_state(c, good, f"{good} CD None")
    wait_state(c, bad, f"{bad} F NonZeroExitCode")
    expect_equal(squeue(c, "-h", "-j", good), "", "a job that has ended, without -t all")
    lines = squeue(c, "-h", "-t", "all", "-u", "user1", "-n", ",".join(names), "-o", "%i %t", "-S", "i")
    expect_equal(lines.splitlines(), [f"{good} CD", f"{bad} F"], "as Nextflow asks")


def cancelled_while_it_waits_and_while_it_runs(c):
    waiting = c.script("true\n", "--hold")
    running = c.script("sleep 300\n")
    c.wait_running(running)
    c.ok("scancel", waiting, running)
    wait_state(c, waiting, f"{waiting} CA None")
    wait_state(c, running, f"{running} CA None")


def array_elements(c):
    job = c.script("sleep 300\n", "--array=0-5%2", "-J", "arr")
    wait_until(lambda: squeue(c, "-h", "-t", "R", "-j", job, "-o", "%K", "-S", "i").split() == ["0", "1"],
               "two elements run")
    expect_equal(squeue(c, "-h", "-j", job, "-o", "%i|%t|%r", "-S", "i").splitlines(),
                 [f"{job}_0|R|None", f"{job}_1|R|None", f"{job}_[2-5%2]|PD|JobArrayTaskLimit"], "compact")
    expect_equal(squeue(c, "-h", "-r", "-j", job, "-o", "%F %K %t", "-S", "i").splitlines(),
                 [f"{job} {i} {'R' if i < 2 else 'PD'}" for i in range(6)], "one line for each")
    c.ok("scancel", f"{job}_[3,4]", f"{job}_0")
    wait_until(lambda: squeue(c, "-h", "-r", "-t", "all", "-j", f"{job}_[0,3-4]", "-o", "%t").split() and
               set(squeue(c, "-h", "-t", "all", "-r", "-j", f"{job}_[0,3-4]", "-o", "%t").split()) == {"CA"},
               "the elements are cancelled")
    left = squeue(c, "-h", "-r", "-j", job, "-o", "%K", "-S", "i").split()
    expect_equal(left, ["1", "2", "5"], "the others are left alone")


def steps_are_listed_and_ended(c):
    job = c.script("srun -J first sleep 300; echo ended $? > after\nsleep 300\n", "-N2", "--ntasks-per-node=1")
    c.wait_running(job)
    lines = wait_until(lambda: (t := squeue(c, "-h", "-s", "-j", job, "-o", "%i|%j|%A")) and f"{job}.0" in t and t,
                       "the step is listed").splitlines()
    expect_equal(lines, [f"{job}.0|first|2", f"{job}.batch|batch|1"], "squeue -s")
    done = c.exec("scancel", f"{job}.9")
    text = f"scancel: error: Kill job error on job step id {job}: Invalid job id specified\n"
    expect_equal((done.returncode, done.stderr), (225, text + text), "a step that is not there")
    c.ok("scancel", f"{job}.0")
    c.wait_for_text("after", "ended")
    expect(c.running(job), "the job went with its step")
    expect_equal(squeue(c, "-h", "-s", "-j", job, "-o", "%i").split(), [f"{job}.batch"], "after the step's end")


def signals_reach_ranks_or_the_script(c):
    job = c.script("trap 'echo script >> got' USR1\nsrun bash -c \"trap 'echo rank >> got' USR1; : > up; "
                   "while :; do sleep 0.2; done\" &\nwhile :; do wait $!; done\n")
    wait_until(lambda: c.exists("up"), "the rank runs")
    c.ok("scancel", "--signal=USR1", job)
    c.wait_for_text("got", "^rank$")
    c.ok("scancel", "-b", "-s", "USR1", job)
    c.wait_for_text("got", "^script$")
    expect_equal(c.read("got"), "rank\nscript\n", "once each")
    expect(c.running(job), "the job lives on")


def documents_and_long_names(c):
    job = c.script("sleep 300\n", "-N2", "--ntasks-per-node=1", "-J", "doc", "--comment=a b")
    c.wait_running(job)
    shown = wait_until(lambda: next((j for j in json.loads(squeue(c, "--json", "-j", job))["jobs"]
                                     if j["job_state"] == ["RUNNING"]), None), "RUNNING in --json")
    expect_equal((shown["job_id"], shown["name"], shown["comment"], shown["current_working_directory"]),
                 (int(job), "doc", "a b", c.folder), "--json")
    expect_equal(len(shown["job_resources"]["nodes"]["allocation"]), 2, "nodes of --json")
    expect_equal(squeue(c, "-j", job, "-O", "JobID:\x1f,Name:10,WorkDir:\x1f"),
                 f"JOBID\x1fNAME      WORK_DIR\x1f\n{job}\x1fdoc       {c.folder}\x1f\n", "-O")
    done = c.shell(f"SLURM_TIME_FORMAT=%s squeue -h -j {job} -o %S")
    expect(done.stdout.strip().isdigit(), f"SLURM_TIME_FORMAT: {done.stdout!r}")
    expect('"job_id": ' + job in squeue(c, "--yaml", "-j", job), "--yaml")


def records_are_pruned_only_when_old(c):
    job = c.script("true\n")
    c.wait_gone(job)
    expect("0 files removed" in c.ok("slurm-shim", "records", "prune"), "young files go")
    wait_state(c, job, f"{job} CD None")


def start_of_what_waits(c):
    job = c.script("true\n", "--begin=now+1hour", "-J", "later")
    line = squeue(c, "--me", "--start", "-h", "-o", "%i|%t|%S").strip()
    expect(line.startswith(f"{job}|PD|20"), f"--start: {line!r}")
    expect_equal(squeue(c, "-h", "-j", job, "-o", "%r").strip(), "BeginTime", "reason")


run(states_from_the_queue_to_the_end, cancelled_while_it_waits_and_while_it_runs, array_elements,
    steps_are_listed_and_ended, signals_reach_ranks_or_the_script, documents_and_long_names,
    records_are_pruned_only_when_old, start_of_what_waits)
