#!/usr/bin/env python3
"""srun --pty inside a job, at a scripted terminal: size, raw mode, job control, exit codes, and the
state of the terminal afterwards.

usage: srun_pty_test.py BIN_DIR
"""
import fcntl
import os
import pty
import re
import select
import signal
import struct
import subprocess
import sys
import termios
import time
import unittest

from srun_world import World, wait_until

BIN = os.path.abspath(sys.argv.pop(1))
LOCAL = "launcher: local\nkill_wait: 2s\n"


class Terminal:
    """A terminal with a program in its foreground; what it shows is kept in `text`."""

    def __init__(self, argv, env, cwd, size=(40, 120)):
        self.text = ""
        self.pid, self.fd = pty.fork()
        if self.pid == 0:
            try:
                os.chdir(cwd)
                signal.signal(signal.SIGINT, signal.SIG_DFL)
                os.execve(argv[0], argv, env)
            finally:
                os._exit(120)
        self.resize(*size)
        self.code = None

    def resize(self, rows, columns):
        fcntl.ioctl(self.fd, termios.TIOCSWINSZ, struct.pack("HHHH", rows, columns, 0, 0))

    def modes(self):
        return termios.tcgetattr(self.fd)

    def is_raw(self):
        return not self.modes()[3] & (termios.ICANON | termios.ISIG | termios.ECHO)

    def type(self, text):
        os.write(self.fd, text.encode())

    def read(self, seconds=0.2):
        """False at the end."""
        if not select.select([self.fd], [], [], seconds)[0]:
            return True
        try:
            data = os.read(self.fd, 65536)
        except OSError:
            data = b""
        self.text += data.decode(errors="replace")
        return bool(data)

    def expect(self, pattern, seconds=60):
        """Waits until the text matches, and takes everything up to there off it."""
        end = time.monotonic() + seconds
        while True:
            found = re.search(pattern, self.text)
            if found:
                self.text = self.text[found.end():]
                return found
            if not self.read() or time.monotonic() > end:
                raise AssertionError(f"no {pattern!r} in {self.text!r}")

    def wait(self, seconds=60):
        """The exit code, and all that was shown."""
        end = time.monotonic() + seconds
        while self.read():
            if time.monotonic() > end:
                os.kill(self.pid, signal.SIGKILL)
                raise AssertionError(f"it does not end: {self.text!r}")
        _, status = os.waitpid(self.pid, 0)
        os.close(self.fd)
        return os.waitstatus_to_exitcode(status)


class Pty(unittest.TestCase):
    def setUp(self):
        self.world = World(BIN, ["node001", "node002"], LOCAL, slots=2)
        self.addCleanup(self.world.close)
        self.env = {**self.world.env, "TERM": "xterm", "PS1": "$ ", "HISTFILE": ""}

    def srun(self, *words, **kwargs):
        return Terminal([os.path.join(BIN, "srun"), *words], self.env, self.world.work, **kwargs)

    def shell(self, **kwargs):
        """bash at its prompt."""
        terminal = self.srun("--pty", "-n1", "-N1", "bash", "--norc", "--noprofile", "-i", **kwargs)
        terminal.expect(r"\$ $")
        return terminal

    def test_the_rank_is_on_a_terminal_of_the_same_size(self):
        terminal = self.srun("--pty", "-n1", "-N1", "sh", "-c",
                             "tty; stty size; test -t 0 -a -t 1 -a -t 2 && echo all; exit 3",
                             size=(33, 77))
        terminal.expect(r"/dev/pts/\d+\r\n33 77\r\nall\r\n")
        self.assertEqual(terminal.wait(), 3)
        self.assertEqual(terminal.text, "srun: error: node001: task 0: Exited with exit code 3\r\n")

    def test_a_shell_with_job_control(self):
        terminal = self.shell()
        self.assertTrue(terminal.is_raw())
        terminal.type("sleep 600 & jobs\r")
        terminal.expect(r"\[1\]\+? +Running +sleep 600 &\r\n")
        # A program that has said something is in the foreground; a key before that would be bash's.
        terminal.type("sh -c 'echo first; exec sleep 601'\r")
        terminal.expect(r"[\r\n]first\r\n")
        terminal.type("\x1a")  # suspends sleep, not srun
        terminal.expect(r"\[2\]\+ +Stopped +sh -c ")
        terminal.type("kill -9 %1 %2; wait; echo all gone\r")
        terminal.expect(r"[\r\n]all gone\r\n")
        terminal.type("sh -c 'echo second; exec sleep 602'\r")
        terminal.expect(r"[\r\n]second\r\n")
        terminal.type("\x03")  # interrupts sleep, not srun
        terminal.expect(r"\^C\r\n")
        terminal.type("echo code $?\r")
        terminal.expect(r"code 130\r\n")
        terminal.type("exit 5\r")
        self.assertEqual(terminal.wait(), 5)

    def test_window_changes_arrive(self):
        terminal = self.shell(size=(24, 80))
        terminal.resize(50, 133)
        wait_until(lambda: terminal.type("stty size\r") or terminal.read(1) and
                   "50 133\r\n" in terminal.text, what="new size")
        terminal.type("exit\r")
        self.assertEqual(terminal.wait(), 0)

    def test_keys_arrive_one_by_one(self):
        script = ("import sys, tty; tty.setraw(0); sys.stdout.write('up'); sys.stdout.flush()\n"
                  "while True:\n    c = sys.stdin.buffer.raw.read(1)\n"
                  "    sys.stdout.write('<%02x>' % c[0]); sys.stdout.flush()\n"
                  "    if c == b'q': break\n")
        terminal = self.srun("--pty", "-n1", "-N1", "python3", "-c", script)
        terminal.expect("up")
        for key, shown in (("a", "61"), ("\x03", "03"), ("\x1b", "1b"), ("\x04", "04"),
                           ("\r", "0d"), ("\x11", "11"), ("\x1c", "1c")):
            terminal.type(key)
            terminal.expect(f"<{shown}>")
        terminal.type("q")
        self.assertEqual(terminal.wait(), 0)

    def test_what_is_typed_during_the_launch_is_not_lost(self):
        terminal = self.srun("--pty", "-n1", "-N1", "sh", "-c", "read line; echo got $line")
        terminal.type("early\r")
        terminal.expect(r"got early\r\n")
        self.assertEqual(terminal.wait(), 0)

    def test_the_terminal_is_as_before_after_every_end(self):
        for how in ("exit", "kill", "term", "int"):
            holder = Terminal(["/bin/sh", "-c", f"{BIN}/srun --pty -n1 -N1 "
                               "sh -c 'echo up; while :; do sleep .1; done'; stty -a; echo over"],
                              self.env, self.world.work)
            before = holder.modes()
            holder.expect("up")
            self.assertTrue(holder.is_raw())
            srun, rank = self.processes()
            if how == "exit":
                os.kill(rank, signal.SIGUSR1)
            elif how == "kill":
                os.kill(rank, signal.SIGKILL)
            elif how == "term":
                os.kill(srun, signal.SIGTERM)
            else:
                holder.type("\x03")
            holder.expect("over")
            self.assertEqual(holder.modes(), before, how)
            holder.wait()

    def processes(self):
        """srun and its rank."""
        def find():
            found = {}
            for pid in filter(str.isdigit, os.listdir("/proc")):
                try:
                    with open(f"/proc/{pid}/cmdline", "rb") as file:
                        words = file.read().split(b"\0")
                    with open(f"/proc/{pid}/environ", "rb") as file:
                        mine = self.world.dir.encode() in file.read()
                except OSError:
                    continue
                if mine and words[0] == b"sh" and b"echo up" in b" ".join(words):
                    found["rank"] = int(pid)
                if mine and words[0].endswith(b"srun"):
                    found["srun"] = int(pid)
            return (found["srun"], found["rank"]) if len(found) == 2 else None
        return wait_until(find, what="srun and its rank")

    def test_a_terminal_that_goes_away_ends_the_step(self):
        terminal = self.srun("--pty", "-n1", "-N1", "sh", "-c",
                             "trap 'echo hup > hup; exit' HUP; echo up; while :; do sleep .1; done")
        terminal.expect("up")
        os.close(terminal.fd)
        os.waitpid(terminal.pid, 0)
        wait_until(lambda: os.path.exists(os.path.join(self.world.work, "hup")))

    def test_only_rank_0_is_on_the_terminal(self):
        terminal = self.srun("--pty", "-n3", "sh", "-c",
                             "test -t 0 && test -t 1 && echo tty $SLURM_PROCID; echo done "
                             "$SLURM_PROCID; [ $SLURM_PROCID = 0 ] || wc -c > read$SLURM_PROCID")
        code = terminal.wait()
        self.assertEqual((code, terminal.text), (0, "tty 0\r\ndone 0\r\n"))
        for rank in (1, 2):
            with open(os.path.join(self.world.work, f"read{rank}"), encoding="ascii") as file:
                self.assertEqual(file.read(), "0\n")

    def test_messages_of_srun_keep_to_the_left(self):
        terminal = self.srun("--pty", "-n2", "sh", "-c",
                             "[ $SLURM_PROCID = 1 ] && exit 4; while [ ! -e go ]; do sleep .1; done")
        terminal.expect(r"srun: error: node00\d: task 1: Exited with exit code 4\r\n")
        self.world.write(os.path.join(self.world.work, "go"), "")
        self.assertEqual(terminal.wait(), 4)

    def test_much_output_is_whole(self):
        terminal = self.srun("--pty", "-n1", "-N1", "seq", "200000")
        self.assertEqual(terminal.wait(), 0)
        self.assertEqual(terminal.text, "".join(f"{i}\r\n" for i in range(1, 200001)))

    def test_a_stopped_srun_comes_back_raw(self):
        terminal = Terminal(["/bin/bash", "--norc", "-i"],
                            {**self.env, "PATH": BIN + ":/usr/bin:/bin"}, self.world.work)
        terminal.expect(r"\$ $")
        terminal.type("srun --pty -n1 -N1 sh -c 'echo up; while :; do sleep .1; done'\r")
        terminal.expect(r"[\r\n]up\r\n")
        srun, _ = self.processes()
        for number in (signal.SIGSTOP, signal.SIGTSTP):
            os.kill(srun, number)
            terminal.expect("Stopped")
            self.assertFalse(terminal.is_raw())
            terminal.type("fg\r")
            wait_until(terminal.is_raw)
        terminal.type("\x03")
        terminal.expect(r"task 0: Interrupt\r\n")
        terminal.expect(r"\$ $")
        terminal.type("exit\r")
        self.assertEqual(terminal.wait(), 130)

    def test_without_a_terminal_it_says_so_and_runs(self):
        self.assertEqual(self.world.run("--pty", "-n2", "echo", "hi"), (
            0, "hi\nhi\n", "srun: error: ioctl(TIOCGWINSZ): Inappropriate ioctl for device\n"
            "srun: error: Not using a pseudo-terminal, disregarding --pty option\n"))

    def test_options_that_do_not_go_with_it(self):
        for option in ("--output", "--error", "--input"):
            self.assertEqual(self.world.run("--pty", option + "=x", "true"), (
                1, "", f"srun: error: {option}=x cannot be combined with --pty\n"))

    def test_no_process_and_no_file_of_the_terminal_is_left(self):
        terminal = self.shell()
        terminal.type("setsid sleep 7541 & sleep 7542 &\rexit\r")
        self.assertEqual(terminal.wait(), 0)
        left = subprocess.run(["pgrep", "-f", "sleep 754[12]"], capture_output=True, check=False)
        self.assertEqual(left.stdout, b"")


if __name__ == "__main__":
    unittest.main(verbosity=2)
