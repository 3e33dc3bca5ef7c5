#!/usr/bin/env python3
"""Standard input over three hosts, and task 0 on a terminal of another host."""
import fcntl
import os
import pty
import select
import struct
import subprocess
import termios
import time

from cluster import MASTER, NODES, ROOT, expect, expect_equal, run

THREE = ("-N3", "-n6", "-o", "job.out", "-e", "job.err")


def output(c, body):
    c.wait_gone(c.script(body, *THREE))
    expect_equal(c.read("job.err"), "", "messages")
    return c.read("job.out")


def every_task_gets_every_byte(c):
    text = output(c, "head -c 30000000 /dev/urandom > data\nsha256sum < data\n"
                  "cat data | srun sha256sum | sort | uniq -c\nsrun -i data sha256sum | sort | uniq -c\n")
    digest = text.split()[0]
    expect_equal(text.split(), [digest, "-"] + ["6", digest, "-"] * 2, "digests")


def one_task_on_another_host(c):
    text = output(c, "echo for one | srun -l -i 5 bash -c 'hostname; cat' | sort\n")
    lines = text.splitlines()
    expect_equal(len(lines), 7, f"lines in {text!r}")
    expect("5: for one" in lines, f"task 5 got nothing: {text!r}")
    expect(MASTER not in [line[3:] for line in lines if line.startswith("5: ")], "task 5 is on another host")


def files_of_their_own(c):
    text = output(c, "for i in 0 1 2 3 4 5; do echo of $i > in.$i; done\nsrun -l -i in.%t cat | sort\n")
    expect_equal(text.splitlines(), [f"{i}: of {i}" for i in range(6)], "-i in.%t")


def one_that_stops_reading_holds_nobody_up(c):
    # Task 5, on another host, reads on when all others have read everything.
    text = output(c, "head -c 20000000 /dev/urandom > data\nsha256sum < data\n"
                  "cat data | srun bash -c 'if [ $SLURM_PROCID = 5 ]; then head -c 100 > first; "
                  "until [ $(ls done.* 2>/dev/null | wc -l) = 5 ]; do sleep 0.2; done; "
                  "cat > rest; cat first rest | sha256sum; else sha256sum; touch done.$SLURM_PROCID; fi' | sort | uniq -c\n")
    digest = text.split()[0]
    expect_equal(text.split(), [digest, "-", "6", digest, "-"], "digests")


def steps_of_a_batch_job_read_nothing(c):
    expect_equal(output(c, "srun -n3 -N3 wc -c\n"), "0\n" * 3, "stdin of a batch job")


class Terminal:
    """A command on a terminal of ours on a node, and what it shows."""

    def __init__(self, c, node, *command):
        where = [str(ROOT / "docker/cluster"), "exec", node, "--user", "user1", "--dir", c.folder, "--", *command]
        self.ours, theirs = pty.openpty()
        self.seen = ""
        self.resize(24, 80)
        self.shell = subprocess.Popen(where, stdin=theirs, stdout=theirs, stderr=theirs, start_new_session=True,
                                      preexec_fn=lambda: fcntl.ioctl(theirs, termios.TIOCSCTTY, 0))
        os.close(theirs)

    def resize(self, rows, columns):
        fcntl.ioctl(self.ours, termios.TIOCSWINSZ, struct.pack("HHHH", rows, columns, 0, 0))

    def type(self, text):
        os.write(self.ours, text.encode())

    def until(self, text, seconds=60):
        deadline = time.monotonic() + seconds
        while text not in self.seen:
            expect(time.monotonic() < deadline, f"no {text!r} in {self.seen!r}")
            if select.select([self.ours], [], [], 0.2)[0]:
                try:
                    self.seen += os.read(self.ours, 65536).decode(errors="replace")
                except OSError:
                    raise AssertionError(f"the terminal has ended: {self.seen!r}") from None
        self.seen = self.seen[self.seen.index(text) + len(text):]

    def end(self):
        code = self.shell.wait(timeout=60)
        os.close(self.ours)
        return code


def shell_on(terminal, host):
    """A conversation with a shell of task 0, which ends with 9."""
    terminal.until("$ ")
    terminal.type("echo on $(hostname) $(tty | cut -c1-9)\r")
    terminal.until(f"on {host} /dev/pts/")
    terminal.type("sh -c 'echo begin; exec sleep 777'\r")
    terminal.until("begin\r\n")
    terminal.type("\x03")
    terminal.until("^C")
    terminal.type("echo code $?; trap 'echo now $(stty size)' WINCH; stty size\r")
    terminal.until("code 130")
    terminal.until("24 80\r\n")
    terminal.until("$ ")  # the shell has the terminal again, else stty alone is told of the new size
    terminal.resize(40, 100)
    terminal.until("now 40 100\r\n")
    terminal.type("exit 9\r")
    expect_equal(terminal.end(), 9, "exit code of srun --pty")


def terminals_on_another_host(c):
    """From a shell of the job's, and from a host that is not the job's first."""
    job = c.script("hostname > host; env -0 > environment; touch up; until [ -e over ]; do sleep 0.2; done\n", *THREE)
    c.wait_for_text("environment", "SLURM_JOB_ID")
    master = c.read("host").strip()  # the engine chooses it
    other = next(node for node in NODES if node != master)
    c.write("enter.sh", "#!/bin/bash\nwhile IFS= read -r -d '' entry; do export \"$entry\" 2>/dev/null; done < environment\n"
            f"cd {c.folder}\nexec srun --pty -N1 -n1 -w {other} bash --norc --noprofile\n", "755")
    shell_on(Terminal(c, master, "bash", "enter.sh"), other)
    shell_on(Terminal(c, other, "srun", f"--jobid={job}", "--pty", "-N1", "-n1", "-w", other, "bash", "--norc", "--noprofile"),
             other)
    c.write("over", "")
    c.wait_gone(job)


run(every_task_gets_every_byte, one_task_on_another_host, files_of_their_own,
    one_that_stops_reading_holds_nobody_up, steps_of_a_batch_job_read_nothing, terminals_on_another_host)
