#!/usr/bin/env python3
"""The questions of client tools (contracts/contracts.json), asked while a job waits, runs, has ended, failed, was
cancelled, ran out of time or was requeued, and of arrays: each time the word that the client acts upon is looked at."""
import json
import re

from cluster import expect, expect_equal, run, wait_until

# Word for word as the clients ask; {job}, {name} and USER are filled in. Which kind of state word comes out:
# live    squeue's code while the job is in the queue; afterwards nothing
# all     squeue's code, also of jobs that have ended
# LIVE, ALL   the same in long words
# final   sacct's word
QUESTIONS = (
    ("parsl", "live", ("squeue", "--noheader", "--format=%i %t", "--job", "{job}"), r"^{id} (\w+)$"),
    ("aiida", "live", ("squeue", "--noheader", "-o", "%i^^^%t^^^%r^^^%B^^^%u^^^%D^^^%C^^^%R^^^%P^^^%l^^^%M^^^%S^^^%j^^^%V",
                       "--jobs={job},{job}"), r"^{id}\^\^\^(\w+)\^\^\^.+$"),
    ("galaxy", "live", ("squeue", "-a", "-o", "%A %t", "-j", "{job}"), r"^JOBID ST\n\d+ (\w+)$"),
    ("jobflow", "live", ("squeue", "--noheader", "-o", "%i<><> %t<><> %r<><> %j<><> %u<><> %P<><> %l<><> %D<><> %C<><> "
                         "%M<><> %m", "--jobs={job},{job}"), r"^{id}<><> (\w+)<><> .+[0-9MG]$"),
    ("nextflow", "all", ("squeue", "--noheader", "-o", "%i %t", "-t", "all", "-u", "USER"), r"^{id} (\w+)$"),
    ("ood_core", "all", ("squeue", "--all", "--states=all", "--noconvert", "-O",
                         "JobID:\x1f,JobArrayID:\x1f,StateCompact:\x1f,", "-j", "{job}"),
     "^\\d+\x1f{id}\x1f(\\w+)\x1f$"),
    ("batchspawner", "LIVE", ("squeue", "-h", "-j", "{job}", "-o", "%T %B"), r"^(\w+) \S+$"),
    ("nemo-run", "LIVE", ("squeue", "-j", "{job}", "-h", "-o", "%T"), r"^(\w+)$"),
    ("skypilot", "LIVE", ("squeue", "-h", "--only-job-state", "--jobs", "{job}", "-o", "%T"), r"^(\w+)$"),
    ("reframe", "LIVE", ("squeue", "-h", "-j", "{job}", "-o", "%%i|%%T|%%N|%%r"), r"^{id}\|(\w+)\|\S*\|.+$"),
    ("snakemake", "ALL", ("squeue", "--format=%i|%T", "--states=all", "--noheader", "--name", "{name}"),
     r"^{id}\|(\w+)$"),
    ("submitit", "final", ("sacct", "-o", "JobID,State,NodeList", "--parsable2", "-j", "{job}"),
     r"^{id}\|(\w+)[^|\n]*\|\S.*$"),
    ("parsl", "final", ("sacct", "-X", "--noheader", "--format=jobid,state%20", "--job", "{job},{job}"),
     r"^\s*{id}\s+(\w+)"),
    ("reframe", "final", ("sacct", "-S", "2026-01-01", "-P", "-j", "{job}", "-o", "jobid,state,exitcode,end,nodelist"),
     r"^{id}\|(\w+)[^|]*\|\d+:\d+\|\S+\|[^|]*$"),
    ("torchx", "final", ("sacct", "--parsable2", "-j", "{job}"), r"^{id}\|{name}\|batch\|[^|]*\|\d+\|(\w+)[^|]*\|\d+:\d+$"),
    ("snakemake", "final", ("sacct", "-X", "--parsable2", "--clusters", "all", "--noheader", "--format=JobIdRaw,State",
                            "--starttime", "2026-01-01T10:00", "--endtime", "now", "--name", "{name}"),
     r"^\d+\|(\w+)"),
    ("ood_core", "final", ("sacct", "-P", "--delimiter", "\x1f", "-n", "--units", "G", "--allocations", "-o",
                           "User,Group,JobId,JobName,Elapsed,ReqMem,AllocCPUS,ReqCPUS,Timelimit,State,TotalCPU,MaxRSS,"
                           "Partition,Submit,Start,End,ReqTRES", "-j", "{job}"),
     "^user1\x1f[^\x1f]*\x1f{id}\x1f{name}\x1f(?:[^\x1f]*\x1f){{5}}(\\w+)[^\x1f]*(?:\x1f[^\x1f\n]*){{7}}$"),
    ("jobflow", "ALL", ("scontrol", "show", "job", "-o", "{job}"), r"^JobId=\d+ .*JobName={name} .* JobState=(\w+) .*$"),
)
# Code, long word, whether the job is still in the queue.
STATES = {
    "pending": ("PD", "PENDING", True),
    "running": ("R", "RUNNING", True),
    "done": ("CD", "COMPLETED", False),
    "failed": ("F", "FAILED", False),
    "cancelled": ("CA", "CANCELLED", False),
    "timed out": ("TO", "TIMEOUT", False),
}


def ask(c, words, job, name):
    words = [{"USER": "user1"}.get(w, w.replace("{job}", job).replace("{name}", name)) for w in words]
    done = c.exec(*words)
    expect(done.returncode == 0, f"{words}: exit {done.returncode}: {done.stderr}")
    return done.stdout


def document_state(c, job):
    jobs = [j for j in json.loads(ask(c, ("squeue", "--json", "-j", "{job}"), job, ""))["jobs"]]
    return jobs[0]["job_state"][0] if jobs else ""


def hold_for(c, job, name, state, shown=None):
    """Every question is answered with the state, as it is."""
    code, word, live = STATES[state]
    for client, kind, words, pattern in QUESTIONS:
        text = ask(c, words, job, name)
        what = f"{client} asks {' '.join(words)[:60]!r} while {state}"
        pattern = pattern.replace("{{", "\0").replace("}}", "\1").replace("{id}", re.escape(shown or job)).replace(
            "{name}", re.escape(name)).replace("\0", "{").replace("\1", "}")
        found = re.search(pattern, text, re.M)
        if kind in ("live", "LIVE") and not live:
            expect(not found, f"{what}: {text!r}")
            continue
        expect(found, f"{what}: {text!r}")
        wanted = code if kind in ("live", "all") else word
        expect_equal(found[1], wanted, what)
    expect_equal(document_state(c, job), word if live else "", f"torchx asks --json while {state}")
    reason = ask(c, ("squeue", "-h", "--jobs", "{job}", "--states", "all", "-o", "%r"), job, name)
    expect(re.search(r"^\S.*$", reason, re.M), f"skypilot asks for the reason while {state}: {reason!r}")


def settled(c, job, word):
    """Until accounting has the job, sacct may call it by a live word."""
    def state():
        return c.ok("sacct", "-X", "-n", "-P", "-o", "State", "-j", job).split("\n")[0].split()[:1]
    wait_until(lambda: state() == [word], f"sacct calls {job} {word}", 90)


def from_waiting_to_done(c):
    job = c.script("echo up > up\nwhile [ ! -e go ]; do sleep 0.2; done\n", "--hold", "-J", "clientdone", "-t", "10")
    hold_for(c, job, "clientdone", "pending")
    c.ok("scontrol", "release", job)
    c.wait_for_text("up", "up")
    hold_for(c, job, "clientdone", "running")
    c.write("go", "")
    c.wait_gone(job)
    settled(c, job, "COMPLETED")
    hold_for(c, job, "clientdone", "done")


def failed(c):
    job = c.script("exit 3\n", "-J", "clientfail", "-t", "10")
    c.wait_gone(job)
    settled(c, job, "FAILED")
    hold_for(c, job, "clientfail", "failed")


def cancelled_while_it_runs(c):
    job = c.script("sleep 300\n", "-J", "clientcancel", "-t", "10")
    c.wait_running(job)
    c.ok("scancel", job)
    c.wait_gone(job)
    settled(c, job, "CANCELLED")
    hold_for(c, job, "clientcancel", "cancelled")


def out_of_time(c):
    job = c.script("sleep 300\n", "-J", "clienttime", "-t", "1")
    c.wait_running(job)
    c.wait_gone(job, 180)
    settled(c, job, "TIMEOUT")
    hold_for(c, job, "clienttime", "timed out")


def requeued(c):
    job = c.script("[ \"$SLURM_RESTART_COUNT\" = 1 ] && echo again > again\ntouch up\nsleep 300\n", "--requeue",
                   "-J", "clientagain", "-t", "10")
    wait_until(lambda: c.exists("up"), "first run")
    c.ok("scontrol", "requeuehold", job)
    wait_until(lambda: c.ok("squeue", "-h", "-j", job, "-o", "%t").strip() == "PD", "it waits again")
    hold_for(c, job, "clientagain", "pending")
    c.ok("scontrol", "release", job)
    c.wait_for_text("again", "again", 120)
    hold_for(c, job, "clientagain", "running")
    c.ok("scancel", job)


def elements_of_an_array(c):
    job = c.script("[ $SLURM_ARRAY_TASK_ID = 0 ] && exit 0\n[ $SLURM_ARRAY_TASK_ID = 1 ] && exit 5\nsleep 300\n",
                   "--array=0-3%3", "-J", "clientarray", "-t", "10")
    wanted = {f"{job}_0": "CD", f"{job}_1": "F", f"{job}_2": "R", f"{job}_3": "R"}

    def seen():
        text = c.ok("squeue", "--noheader", "-o", "%i %t", "-t", "all", "-u", "user1")
        return dict(line.split() for line in text.splitlines() if line.startswith(job))
    wait_until(lambda: seen() == wanted, f"nextflow sees {wanted}, now {seen()}", 90)
    rows = [r.split("|") for r in ask(c, ("sacct", "-o", "JobID,State,NodeList", "--parsable2", "-j", "{job}"), job,
                                      "").splitlines()]
    expect_equal({r[0]: r[1] for r in rows if "." not in r[0] and r[0].startswith(job)},
                 {f"{job}_0": "COMPLETED", f"{job}_1": "FAILED", f"{job}_2": "RUNNING", f"{job}_3": "RUNNING"},
                 "submitit")
    text = ask(c, ("squeue", "-h", "-j", "{job}", "-o", "%i|%T|%N|%r"), job, "")
    expect_equal(sorted(line.split("|")[:2] for line in text.splitlines()),
                 [[f"{job}_2", "RUNNING"], [f"{job}_3", "RUNNING"]], "reframe")
    c.ok("scancel", f"{job}_2")
    wait_until(lambda: seen().get(f"{job}_2") == "CA", f"element 2 is cancelled, now {seen()}", 60)
    expect_equal(seen()[f"{job}_3"], "R", "the other goes on")
    c.ok("scancel", job)


def an_array_that_waits(c):
    job = c.script("true\n", "--hold", "--array=0-3%2", "-J", "clientwait")
    text = ask(c, ("sacct", "-o", "JobID,State,NodeList", "--parsable2", "-j", "{job}"), job, "")
    expect(re.search(rf"^{job}_\[0-3%2\]\|PENDING\|", text, re.M), f"submitit: {text!r}")
    text = ask(c, ("squeue", "-h", "-j", "{job}", "-o", "%i|%T|%N|%r"), job, "")
    expect_equal(text, f"{job}_[0-3%2]|PENDING||JobHeldUser\n", "reframe")
    line = ask(c, ("scontrol", "show", "job", "-o", "{job}"), job, "")
    expect(all("=" in token for token in line.split()), f"jobflow splits at blanks: {line!r}")
    c.ok("scancel", job)


def a_job_that_nobody_has(c):
    for words, code in ((("squeue", "-j", "9999998"), 1), (("squeue", "--json", "-j", "9999998"), 1),
                        (("sacct", "-o", "JobID,State,NodeList", "--parsable2", "-j", "9999998"), 0),
                        (("squeue", "--noheader", "-o", "%i^^^%t", "--jobs=9999998,9999999"), 0)):
        done = c.exec(*words)
        expect_equal(done.returncode, code, f"{words}: {done.stdout!r} {done.stderr!r}")
        expect("9999998" not in done.stdout, f"{words}: {done.stdout!r}")
    done = c.exec("squeue", "-j", "9999998")
    expect("Invalid job id specified" in done.stderr, f"cromwell, ood_core: {done.stderr!r}")


run(from_waiting_to_done, failed, cancelled_while_it_runs, out_of_time, requeued, elements_of_an_array,
    an_array_that_waits, a_job_that_nobody_has)
