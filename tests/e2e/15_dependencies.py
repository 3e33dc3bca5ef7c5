#!/usr/bin/env python3
"""Dependencies end to end, decided by what the predecessors came to."""
import time

from cluster import expect, expect_equal, run, wait_until


def follows(c, kind, first, second=None, *, array=(), words=()):
    """Submits a job that ends as `first` says and one that depends on it; what the second did: its output."""
    one = c.script(f"sleep 1; {first}\n", "-o", "/dev/null", *array)
    two = c.sbatch("-o", f"two.{one}", "-d", kind.format(one), *words, "--wrap", "echo ran")
    c.wait_gone(two)
    expect(one not in c.known_jobs(), f"{two} ended before {one}")
    return c.read(f"two.{one}"), one, two


def never(text, two):
    return text.startswith(f"slurm-shim: error: job {two} cannot start: DependencyNeverSatisfied: ")


def afterok_runs_after_success_only(c):
    expect_equal(follows(c, "afterok:{}", "exit 0")[0], "ran\n", "afterok, success")
    for how, told in (("exit 3", "ended with exit code 3"), ("kill -9 $$", "was ended by signal KILL"),
                      ("exit 99", "ended with exit code 99")):
        text, one, two = follows(c, "afterok:{}", how)
        expect(never(text, two) and f"afterok:{one}: job {one} {told}" in text, f"{how}: {text!r}")
        expect_equal(c.exit_status(two), 1, "exit status of the job that could not run")


def afternotok_and_afterany(c):
    expect_equal(follows(c, "afternotok:{}", "exit 3")[0], "ran\n", "afternotok, failure")
    text, _, two = follows(c, "afternotok:{}", "exit 0")
    expect(never(text, two), text)
    expect_equal(follows(c, "afterany:{}", "exit 3")[0], "ran\n", "afterany")
    expect_equal(follows(c, "afterok:{0}?afterany:{0}", "exit 3")[0], "ran\n", "one of two about one job")


def a_chain_breaks_at_its_first_failure(c):
    one = c.sbatch("-o", "/dev/null", "--wrap", "sleep 1; exit 1")
    two = c.sbatch("-o", "two", "-d", f"afterok:{one}", "--wrap", "echo ran")
    three = c.sbatch("-o", "three", "-d", f"afterok:{two}", "--wrap", "echo ran")
    four = c.sbatch("-o", "four", "-d", f"afternotok:{two}", "--wrap", "echo ran")
    for job in (two, three, four):
        c.wait_gone(job)
    expect(never(c.read("two"), two), c.read("two"))
    expect(f"job {two} could not run (dependency)" in c.read("three"), c.read("three"))
    expect_equal(c.read("four"), "ran\n", "afternotok of a job that could not run")


def predecessors_that_were_ended(c):
    # Running, then deleted: the engine leaves no time for an end line.
    one = c.sbatch("-o", "one", "--wrap", "echo up; sleep 300")
    two = c.sbatch("-o", "two", "-d", f"afterok:{one}", "--wrap", "echo ran")
    c.wait_for_text("one", "up")
    c.ok("qdel", one)
    c.wait_gone(two)
    expect(never(c.read("two"), two), c.read("two"))
    # Deleted while it waited: it never ran.
    one = c.sbatch("-H", "-o", "/dev/null", "--wrap", "true")
    two = c.sbatch("-o", "notok", "-d", f"afternotok:{one}", "--wrap", "echo ran")
    c.ok("qdel", one)
    c.wait_gone(two)
    expect_equal(c.read("notok"), "ran\n", "afternotok of a cancelled job")


def predecessors_of_plain_qsub(c):
    for how, kind, runs in (("exit 0", "afterok", True), ("exit 3", "afterok", False), ("exit 3", "afternotok", True)):
        c.write("plain.sh", f"#!/bin/sh\nsleep 1; {how}\n")
        one = c.qsub("-o", "/dev/null", "-j", "y", "plain.sh")
        two = c.sbatch("-o", f"two.{one}", "-d", f"{kind}:{one}", "--wrap", "echo ran")
        c.wait_gone(two)
        text = c.read(f"two.{one}")
        expect((text == "ran\n") if runs else never(text, two), f"{kind} after {how}: {text!r}")


def finished_and_unknown_predecessors(c):
    """Report R74."""
    bad, good = (c.sbatch("-o", "/dev/null", "--wrap", f"exit {code}") for code in (4, 0))
    c.wait_gone(bad)
    c.wait_gone(good)
    later = []
    for one, kind, runs in ((bad, "afterany", True), (bad, "afterok", False), (bad, "afternotok", True),
                            (good, "afterok", True), (good, "afternotok", False)):
        name = f"{kind}.{one}"
        later.append((c.sbatch("-o", name, "-d", f"{kind}:{one}", "--wrap", "echo ran"), name, runs))
    for two, name, runs in later:
        c.wait_gone(two)
        expect((c.read(name) == "ran\n") if runs else never(c.read(name), two), f"{name}: {c.read(name)!r}")
    done = c.exec("sbatch", "-o", "unknown", "-d", "afterok:9999999", "--wrap", "echo ran")
    expect("nothing is known of job 9999999" in done.stderr, done.stderr)
    c.jobs.append(done.stdout.split()[-1])
    c.wait_gone(c.jobs[-1])
    expect_equal(c.read("unknown"), "ran\n", "afterok of an unknown job")


def elements(c):
    ends = "exit $SLURM_ARRAY_TASK_ID"
    array = ("--array=0-1",)
    expect_equal(follows(c, "afterok:{}_0", ends, array=array)[0], "ran\n", "the element that succeeded")
    text, one, two = follows(c, "afterok:{}_1", ends, array=array)
    expect(never(text, two) and f"afterok:{one}_1: " in text, text)
    text, _, two = follows(c, "afterok:{}", ends, array=array)
    expect(never(text, two), text)
    expect_equal(follows(c, "afterok:{}", "exit 0", array=array)[0], "ran\n", "all elements")


def corresponding_elements(c):
    one = c.script('[ "$SLURM_ARRAY_TASK_ID" != 1 ]\n', "--array=0-2", "-o", "/dev/null")
    two = c.sbatch("--array=0-2", "-o", "corr.%a", "-d", f"aftercorr:{one}", "--wrap", "echo ran")
    c.wait_gone(two)
    expect_equal((c.read("corr.0"), c.read("corr.2")), ("ran\n", "ran\n"), "elements of successful ones")
    expect("DependencyNeverSatisfied" in c.read("corr.1"), c.read("corr.1"))


def after_the_start(c):
    one = c.sbatch("-o", "one", "--wrap", "echo up; sleep 300")
    c.wait_for_text("one", "up")
    two = c.sbatch("-o", "two", "-d", f"after:{one}", "--wrap", "echo ran")
    c.wait_gone(two)
    expect_equal(c.read("two"), "ran\n", "after a job that runs")
    expect(c.running(one), "the first job runs on")
    three = c.sbatch("-o", "three", "-d", f"after:{one}+1", "--wrap", "date +%s")
    started = int(time.mktime(time.strptime(c.ok("squeue", "-h", "-j", one, "-o", "%S").strip(),
                                            "%Y-%m-%dT%H:%M:%S")))
    c.wait_gone(three, 180)
    expect(int(c.read("three")) >= started + 59, f"started {int(c.read('three')) - started} s after the first")


def after_the_start_of_a_job_that_waits(c):
    one = c.sbatch("-H", "-o", "one", "--wrap", "echo up; sleep 300")
    two = c.sbatch("-o", "two", "-d", f"after:{one}", "--wrap", "echo ran")
    expect(two in c.known_jobs(), "the second job waits")
    c.ok("scontrol", "release", one)
    c.wait_gone(two)
    expect_equal(c.read("two"), "ran\n", "after a job that waited")
    expect(c.running(one), "the first job runs on")


def singleton(c):
    words = ("-J", "only one", "-d", "singleton")
    one = c.sbatch("-J", "only one", "-o", "one", "--wrap", "echo up; sleep 4; date +%s.%N")
    two = c.sbatch(*words, "-o", "two", "--wrap", "date +%s.%N")
    other = c.sbatch("-J", "another", "-o", "other", "--wrap", "date +%s.%N")
    for job in (one, two, other):
        c.wait_gone(job)
    end = float(c.read("one").split()[-1])
    expect(float(c.read("two")) > end, "the second of that name waited")
    expect(float(c.read("other")) < end, "a job of another name did not")


def what_is_open_is_shown(c):
    one = c.script("until [ -e go ]; do sleep 0.2; done\n", "-a", "0-1", "-o", "/dev/null")
    two = c.sbatch("-H", "-o", "/dev/null", "-d", f"afterany:{one},afterok:{one}_0", "--wrap", "true")
    three = c.sbatch("-a", "0-1", "-o", "/dev/null", "-d", f"aftercorr:{one}", "--wrap", "true")

    def shown(job):
        return c.ok("squeue", "-h", "-j", job, "-o", "%E|%r").strip()
    # 8.1.9 does not tell by whom such a job is held.
    expect_equal(shown(two), f"afterany:{one}(unfulfilled),afterok:{one}_0(unfulfilled)|Dependency", "held as well")
    expect_equal(shown(three), f"aftercorr:{one}(unfulfilled)|Dependency", "element by element")
    c.write("go", "")
    wait_until(lambda: shown(two) == "(null)|JobHeldUser", "the dependency is fulfilled", 60)
    expect(" Dependency=(null)" in c.ok("scontrol", "-o", "show", "job", two), "scontrol")
    c.wait_gone(three)


def alternatives_are_refused(c):
    done = c.exec("sbatch", "-d", "afterok:1?afterok:2", "--wrap", "true")
    expect_equal((done.returncode, done.stdout), (1, ""), "answer")
    expect("jobs joined by '?' are not supported" in done.stderr, done.stderr)
    expect_equal(c.known_jobs(), [], "jobs")


run(afterok_runs_after_success_only, afternotok_and_afterany, a_chain_breaks_at_its_first_failure,
    predecessors_that_were_ended, predecessors_of_plain_qsub, finished_and_unknown_predecessors, elements,
    corresponding_elements, after_the_start, after_the_start_of_a_job_that_waits, singleton,
    what_is_open_is_shown, alternatives_are_refused)
