#!/usr/bin/env python3
"""salloc and srun outside of a job: qrsh on a real engine, with command, shell, signals; nothing is left."""
import os
import pty
import re
import select
import signal
import time

from cluster import MASTER, NODES, ROOT, expect, expect_equal, run, wait_until

STATE = "$HOME/.local/state/slurm-shim/default"


def files_of_submissions(c):
    return set(c.shell(f"ls {STATE}/submit {STATE}/jobs/*.mbox 2>/dev/null | grep -v :").stdout.split())


def nothing_left(c):
    wait_until(lambda: not c.known_jobs(), "no job left", 60)
    c.wait_no_processes(20)
    expect_equal(files_of_submissions(c) - c.found, set(), "files of the submission")


def alone(check):
    """Remembers what earlier checks, of killed jobs for instance, have left in the state folder."""
    def checked(c):
        c.found = files_of_submissions(c)
        try:
            check(c)
        finally:
            left = c.known_jobs()
            if left:
                c.exec("qdel", *left)
    checked.__name__ = check.__name__
    return checked


def on_terminal(c, steps, *command):
    """Runs a command on a terminal of its own; steps: (text to wait for, what is then typed)."""
    where = [str(ROOT / "docker/cluster"), "exec", MASTER, "--user", "user1", "--dir", c.folder, "--", *command]
    pid, master = pty.fork()
    if pid == 0:
        os.execv(where[0], where)
    seen, steps, end = b"", list(steps), time.monotonic() + 120
    while time.monotonic() < end:
        if not select.select([master], [], [], 1)[0]:
            continue
        try:
            piece = os.read(master, 65536)
        except OSError:
            break
        if not piece:
            break
        seen += piece
        while steps and re.search(steps[0][0].encode(), seen):
            typed = steps.pop(0)[1]
            os.write(master, typed.encode())
    else:
        os.kill(pid, signal.SIGKILL)
    os.close(master)
    code = os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])
    return seen.decode(errors="replace").replace("\r\n", "\n"), code


def a_command_in_a_job(c):
    done = c.exec("salloc", "-N2", "-n2", "--ntasks-per-node=1", "bash", "-c",
                  "echo $SLURM_JOB_ID $SLURM_NNODES $SLURM_JOB_NAME $PWD; srun hostname; echo err >&2; exit 99")
    expect_equal(done.returncode, 99, f"exit code {done.stderr}")
    first, *hosts = done.stdout.splitlines()
    job = first.split()[0]
    expect_equal(first, f"{job} 2 interactive {c.folder}", "what the command sees")
    expect(len(set(hosts)) == 2 and set(hosts) < set(NODES), f"two hosts: {hosts}")
    # A scheduler that takes more than three seconds is told of.
    waited = (f"salloc: Pending job allocation {job}\nsalloc: job {job} queued and waiting for resources\n"
              f"salloc: job {job} has been allocated resources\n")
    expect_equal(done.stderr.removeprefix(waited), f"salloc: Granted job allocation {job}\nerr\nsalloc: Relinquishing job allocation {job}\n", "messages")
    nothing_left(c)


def input_and_output_of_the_command(c):
    done = c.exec("bash", "-c", "head -c 3000000 /dev/urandom > bytes; salloc cat < bytes | cmp - bytes && echo same; salloc sh -c 'kill -9 $$'; echo $?")
    expect_equal(done.stdout.split(), ["same", "137"], f"bytes and code: {done.stderr}")
    for command in ("salloc", "srun -n1"):
        done = c.shell(f"head -c 30000000 /dev/urandom | tee bytes | {command} cat | cksum; cksum < bytes")
        there, sent = done.stdout.splitlines()
        expect_equal(there, sent, f"30 MB through {command}: {done.stderr}")
    nothing_left(c)


def keys_before_the_command(c):
    """What is typed while the job starts is for its command: the engine must not get it earlier."""
    text, code = on_terminal(c, [("Granted job", "exit 5\n")], "salloc", "-n1", "sh", "-c", "sleep 1; read line; echo got $line; $line")
    expect(code == 5 and "got exit 5" in text, f"code {code}: {text!r}")
    nothing_left(c)


def a_shell_on_a_terminal(c):
    text, code = on_terminal(c, [(r"(?s)Granted job.*[$#] $", "stty -echo; echo quiet-$((1+1))\n"), (r"(?s)quiet-2.*[$#] $", "tty; hostname; echo $SLURM_JOB_ID-id\n"),
                                 (r"(?s)\d+-id.*[$#] $", "exit 4\n")], "salloc", "-n1")
    expect_equal(code, 4, f"exit code of the shell: {text!r}")
    expect(re.search(r"/dev/pts/\d+\n", text) and re.search(r"-n[123]\n", text), f"a terminal on a host: {text!r}")
    expect("salloc: Relinquishing job allocation" in text, text)
    nothing_left(c)


def srun_makes_its_job(c):
    done = c.exec("srun", "-N2", "-n4", "-l", "bash", "-c", "echo $SLURM_JOB_NAME $SLURM_NTASKS $SLURM_STEP_ID")
    expect_equal(sorted(done.stdout.splitlines()), [f"{r}: bash 4 0" for r in range(4)], f"ranks: {done.stderr}")
    expect_equal(c.exec("srun", "-n2", "sh", "-c", "exit 3").returncode, 3, "exit code")
    text, code = on_terminal(c, [("up", "exit 6\n")], "srun", "--pty", "bash", "-c", "tty; echo up; exec sh")
    expect_equal(code, 6, f"--pty: {text!r}")
    nothing_left(c)


def refused_at_once(c):
    done = c.exec("salloc", "-N9", "true")
    expect_equal((done.returncode, done.stderr), (1, "salloc: error: Job submit/allocate failed: Requested node configuration is not available\n"), "-N9")
    done = c.exec("srun", "-p", "nosuch", "true")
    expect_equal((done.returncode, done.stderr), (1, "srun: error: invalid partition specified: nosuch\n"
                                                     "srun: error: Unable to allocate resources: Invalid partition name specified\n"), "-p nosuch")


def full_cluster(c):
    """Takes every slot until the returned process gets its file."""
    holder = c.start("salloc", "-n12", "bash", "-c", "echo held; until [ -e go ]; do sleep 0.2; done")
    expect_equal(holder.stdout.readline(), "held\n", "the holder runs")
    return holder


def waiting_and_giving_up(c):
    holder = full_cluster(c)
    done = c.exec("salloc", "-I1", "-n12", "true")
    expect(done.returncode == 1 and done.stderr.endswith("Unable to allocate resources: Requested nodes are busy\n"), f"-I: {done.stderr}")
    for command, number, last in (("salloc", "INT", "salloc: Job aborted due to signal\n"), ("srun", "TERM", "srun: Force Terminated job {}\n")):
        done = c.shell(f"set -m; {command} -n12 true 2>err.{command} & pid=$!; until grep -q queued err.{command}; do sleep 0.2; done; "
                       f"kill -{number} $pid; wait $pid; echo $?")
        expect_equal(done.stdout, "1\n", f"{command} ended by {number}: {done.stderr}")
        told = c.read(f"err.{command}")
        job = re.search(r"job (\d+) queued and waiting for resources\n", told)[1]
        expect(f"Job allocation {job} has been revoked" in told and told.endswith(last.format(job)), told)
        c.wait_gone(job, 20)
    waiter = c.start("salloc", "-n12", "true")
    for text in ("Pending job allocation", "queued and waiting for resources"):
        line = waiter.stderr.readline()
        expect(text in line, line)
    c.write("go", "")
    rest = waiter.communicate(timeout=120)[1]
    expect("has been allocated resources" in rest and "Granted job allocation" in rest, rest)
    expect_equal((waiter.returncode, holder.wait(timeout=60)), (0, 0), "codes")
    nothing_left(c)


def signals_and_kills_while_it_runs(c):
    done = c.shell("set -m; salloc bash -c 'trap \"exit 7\" USR1; touch up; while :; do sleep 0.2; done' & pid=$!; "
                   "until [ -e up ]; do sleep 0.2; done; kill -USR1 $pid; wait $pid; echo $?")
    expect_equal(done.stdout, "7\n", f"USR1: {done.stderr}")
    done = c.shell("set -m; srun bash -c 'touch up2; exec sleep 100' & pid=$!; until [ -e up2 ]; do sleep 0.2; done; "
                   "kill -TERM $pid; wait $pid; echo $?")
    expect_equal(done.stdout, "143\n", f"TERM to srun: {done.stderr}")
    # Nobody is left to ask for anything: the engine ends what lost its qrsh.
    c.shell("set -m; salloc bash -c 'touch up3; exec sleep 100' & pid=$!; until [ -e up3 ]; do sleep 0.2; done; kill -KILL $pid; wait $pid")
    wait_until(lambda: not c.known_jobs(), "the job of a killed salloc gone", 60)
    c.wait_no_processes(20)
    c.shell(f"rm -f {STATE}/submit/* {STATE}/jobs/*.mbox")


def scancel_ends_it(c):
    holder = full_cluster(c)
    job = c.known_jobs()[0]
    c.ok("scancel", job)
    told = holder.communicate(timeout=60)[1]
    expect(f"salloc: Job allocation {job} has been revoked.\n" in told, told)
    expect(holder.returncode != 0, "a cancelled job is no success")
    wait_until(lambda: not c.known_jobs(), "no job left", 60)
    c.shell(f"rm -f {STATE}/submit/* {STATE}/jobs/*.mbox")


run(*map(alone, (a_command_in_a_job, input_and_output_of_the_command, keys_before_the_command, a_shell_on_a_terminal, srun_makes_its_job, refused_at_once,
                 waiting_and_giving_up, signals_and_kills_while_it_runs, scancel_ends_it)))
