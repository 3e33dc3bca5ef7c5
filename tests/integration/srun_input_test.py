#!/usr/bin/env python3
"""Standard input of a step: who gets it, that not a byte is lost, and that nobody is held up by a
task that does not read.

usage: srun_input_test.py BIN_DIR
"""
import fcntl
import hashlib
import os
import signal
import socket
import subprocess
import sys
import time
import unittest

from srun_world import World, wait_until

BIN = os.path.abspath(sys.argv.pop(1))
LOCAL = "launcher: local\nkill_wait: 2s\n"
MIB = 1 << 20


def pattern(size):
    """Bytes of which no two pieces of 64 KiB are alike."""
    block = os.urandom(MIB - 7)
    return (block * (size // len(block) + 1))[:size]


class Base(unittest.TestCase):
    def setUp(self):
        self.world = World(BIN, ["node001", "node002", "node003"], LOCAL, slots=4)
        self.addCleanup(self.world.close)
        self.data = os.path.join(self.world.dir, "data")

    def path(self, name):
        return os.path.join(self.world.work, name)

    def put(self, name, data):
        with open(self.path(name), "wb") as file:
            file.write(data)
        return self.path(name)

    def lines(self, *words, data=b"", **kwargs):
        """Sorted lines of a step that succeeds; `data` comes through a pipe."""
        process = self.world.start(*words, stdin=subprocess.PIPE, **kwargs)
        out, err = process.communicate(data, timeout=120)
        self.assertEqual((process.returncode, err), (0, b""))
        return sorted(out.decode().splitlines())

    def fed(self, data, *words):
        """A step that reads a pipe into which another process writes, at the step's pace."""
        with open(self.data, "wb") as file:
            file.write(data)
        feeder = subprocess.Popen(["cat", self.data], stdout=subprocess.PIPE)
        process = self.world.start(*words, stdin=feeder.stdout)
        feeder.stdout.close()
        self.addCleanup(feeder.wait)
        return process


class WhoReads(Base):
    def test_all_one_none(self):
        for words, ranks in (([], (0, 1, 2)), (["-i", "all"], (0, 1, 2)), (["-i", "1"], (1,)),
                             (["-i", "none"], ()), (["--input=2"], (2,))):
            self.assertEqual(self.lines("-N3", "-n3", "-l", *words, "cat", data=b"a\nb"),
                             sorted(f"{rank}: {line}" for rank in ranks for line in "ab"), words)
        self.assertEqual(self.lines("-n1", "cat", data=b"x", env={"SLURM_STDINMODE": "none"}), [])

    def test_files(self):
        self.put("in", b"one\ntwo")
        self.assertEqual(self.lines("-n2", "-l", "-i", "in", "cat"),
                         ["0: one", "0: two", "1: one", "1: two"])
        for rank in range(3):
            self.put(f"in-{rank}", f"of {rank}".encode())
        self.assertEqual(self.lines("-N3", "-n3", "-l", "-i", "in-%t", "cat", data=b"not this"),
                         [f"{rank}: of {rank}" for rank in range(3)])
        self.put("in.4711", b"by job")
        self.assertEqual(self.lines("-n1", "-i", "in.%j", "cat"), ["by job"])
        os.mkdir(self.path("sub"))
        self.put("sub/in-0", b"where the task runs")
        self.assertEqual(self.lines("-n1", "-D", "sub", "-i", "in-%t", "cat"),
                         ["where the task runs"])

    def test_files_that_cannot_be_read(self):
        for word, why in (("nosuch", "No such file or directory"), (".", "Is a directory"),
                          ("7", "No such file or directory")):
            self.assertEqual(self.world.run("-n2", "-i", word, "touch", "ran"),
                             (1, "", f"srun: error: Could not open stdin file: {why}\n"))
        code, out, err = self.world.run("-n2", "-i", "in-%t", "touch", "ran")
        self.assertEqual((code, out), (1, ""))
        self.assertIn(f"opening {self.path('in-0')}: No such file or directory", err)
        self.assertFalse(os.path.exists(self.path("ran")))

    def test_the_end_comes_to_readers_and_without_input_at_once(self):
        self.assertEqual(self.lines("-n2", "wc", "-c"), ["0", "0"])
        code, out, _ = self.world.run("-n2", "wc", "-c")  # /dev/null
        self.assertEqual((code, out), (0, "0\n0\n"))
        closed = ["bash", "-c", 'exec "$0" -n1 wc -c <&-', os.path.join(BIN, "srun")]
        done = subprocess.run(closed, env=self.world.env, cwd=self.world.work, timeout=60,
                              capture_output=True, text=True, check=False)
        self.assertEqual((done.returncode, done.stdout, done.stderr), (0, "0\n", ""))

    def test_a_directory_as_stdin_is_told(self):
        folder = os.open(self.world.work, os.O_RDONLY)
        self.addCleanup(os.close, folder)
        self.assertEqual(self.world.run("-n1", "wc", "-c", stdin=folder),
                         (0, "0\n", "srun: error: reading stdin: Is a directory\n"))

    def test_what_comes_late_arrives_at_once(self):
        process = self.world.start("-n2", "sh", "-c", "read a; echo got $a; read b; echo got $b",
                                   stdin=subprocess.PIPE)
        process.stdin.write(b"1\n")
        process.stdin.flush()
        got = [process.stdout.readline(), process.stdout.readline()]
        self.assertEqual(got, [b"got 1\n"] * 2)
        out, _ = process.communicate(b"2\n", timeout=60)
        self.assertEqual((process.returncode, out), (0, b"got 2\n" * 2))

    def test_a_socket_and_shared_flags(self):
        ours, theirs = socket.socketpair()
        self.addCleanup(ours.close)
        self.addCleanup(theirs.close)
        flags = fcntl.fcntl(theirs, fcntl.F_GETFL)
        process = self.world.start("-n1", "cat", stdin=theirs)
        ours.sendall(b"by socket")
        wait_until(lambda: process.stdout.read(9) == b"by socket")
        self.assertEqual(fcntl.fcntl(theirs, fcntl.F_GETFL), flags)
        ours.shutdown(socket.SHUT_WR)
        self.assertEqual(process.communicate(timeout=60), (b"", b""))

    def test_two_steps_on_one_pipe_share_it_and_none_hangs(self):
        read, write = os.pipe()
        steps = [self.world.start("-n1", "-o", f"out{i}", "cat", stdin=read) for i in range(2)]
        flags = fcntl.fcntl(read, fcntl.F_GETFL)
        os.close(read)
        data = pattern(4 * MIB)
        with os.fdopen(write, "wb") as pipe:
            pipe.write(data)
        self.assertEqual([step.communicate(timeout=120) for step in steps], [(b"", b"")] * 2)
        self.assertEqual([step.returncode for step in steps], [0, 0])
        self.assertEqual(sum(os.path.getsize(self.path(f"out{i}")) for i in range(2)), len(data))
        self.assertEqual(flags & os.O_NONBLOCK, 0)

    def test_a_loop_is_eaten_unless_told_otherwise(self):
        for word, want in (("", "1"), ("-i none", "1 2 3"), ("</dev/null", "1 2 3")):
            script = ("printf '1\\n2\\n3\\n' | while read x; do srun -n1 %s true; echo $x; done"
                      % word)
            done = subprocess.run(["bash", "-c", script], cwd=self.world.work, timeout=60,
                                  env={**self.world.env, "PATH": BIN + ":/usr/bin:/bin"},
                                  capture_output=True, text=True, check=False)
            self.assertEqual((done.stdout.split(), done.stderr), (want.split(), ""), word)


class Flow(Base):
    def test_not_a_byte_is_lost(self):
        data = pattern(24 * MIB + 12345)
        digest = hashlib.sha256(data).hexdigest()
        want = [f"{digest}  -"] * 8
        self.assertEqual(self.lines("-N3", "-n8", "sha256sum", data=data), want)
        # From a file, which never makes srun wait.
        path = self.put("in", data)
        self.assertEqual(self.lines("-n8", "-i", "in", "sha256sum"), want)
        with open(path, "rb") as file:
            process = self.world.start("-n8", "sha256sum", stdin=file)
            out, err = process.communicate(timeout=120)
        self.assertEqual((sorted(out.decode().splitlines()), err), (want, b""))

    def test_in_and_out_again(self):
        data = pattern(8 * MIB) + b"\0without a line feed at the end"
        process = self.fed(data, "-n1", "cat")
        out, err = process.communicate(timeout=120)
        self.assertEqual((process.returncode, err), (0, b""))
        self.assertEqual(hashlib.sha256(out).digest(), hashlib.sha256(data).digest())

    def test_a_task_that_stops_reading_does_not_hold_the_others_up(self):
        # Task 0 reads on only when all others have read everything: on its own host and on others.
        data = pattern(16 * MIB)
        digest = hashlib.sha256(data).hexdigest()
        script = ("if [ $SLURM_PROCID = 0 ]; then head -c 1000 > first; "
                  "while [ $(ls done-* 2>/dev/null | wc -l) -lt 5 ]; do sleep .05; done; "
                  "cat - > rest; cat first rest | sha256sum; "
                  "else sha256sum; : > done-$SLURM_PROCID; fi")
        process = self.fed(data, "-N3", "-n6", "sh", "-c", script)
        out, err = process.communicate(timeout=120)
        self.assertEqual((process.returncode, err), (0, b""))
        self.assertEqual(out.decode().split(), [digest, "-"] * 6)

    def test_tasks_that_do_not_read_are_no_hindrance(self):
        for stop in ("exec <&-; sleep 0.5", "exit 0", "true"):
            script = f"if [ $SLURM_PROCID = 1 ]; then {stop}; else wc -c; fi"
            process = self.fed(b"x" * 4 * MIB, "-N3", "-n3", "sh", "-c", script)
            out, err = process.communicate(timeout=60)
            self.assertEqual((process.returncode, out, err), (0, b"%d\n" % (4 * MIB) * 2, b""))

    def test_nobody_reads_and_the_source_is_held_back(self):
        read, write = os.pipe()
        process = self.world.start("-n3", "sh", "-c", ": > up$SLURM_PROCID; exec sleep 600",
                                   stdin=read)
        os.close(read)
        self.addCleanup(os.close, write)
        os.set_blocking(write, False)
        sent, stalled_since = 0, time.monotonic()
        while time.monotonic() - stalled_since < 4:  # longer than a reader counts as reading
            try:
                sent += os.write(write, b"x" * 65536)
                stalled_since = time.monotonic()
            except BlockingIOError:
                time.sleep(0.05)
        self.assertLess(sent, 16 * MIB)
        process.send_signal(signal.SIGTERM)
        process.communicate(timeout=60)

    def test_all_close_and_the_source_is_left_alone(self):
        read, write = os.pipe()
        process = self.world.start("-N2", "-n2", "sh", "-c",
                                   "exec <&-; : > up$SLURM_PROCID; while [ ! -e go ]; do sleep .1; done",
                                   stdin=read)
        os.close(read)
        os.set_blocking(write, False)
        wait_until(lambda: all(os.path.exists(self.path(f"up{i}")) for i in range(2)))
        sent, stalled_since = 0, time.monotonic()
        while time.monotonic() - stalled_since < 2:
            try:
                sent += os.write(write, b"x" * 65536)
                stalled_since = time.monotonic()
            except BlockingIOError:
                time.sleep(0.05)
        self.assertLess(sent, 8 * MIB)
        self.put("go", b"")
        self.assertEqual(process.communicate(timeout=60), (b"", b""))
        self.assertEqual(process.returncode, 0)
        os.close(write)

    def test_head_ends_the_step(self):
        process = self.fed(b"line\n" * MIB, "-n1", "head", "-n1")
        self.assertEqual(process.communicate(timeout=60), (b"line\n", b""))
        self.assertEqual(process.returncode, 0)

    def test_signals_pass_stalled_input(self):
        script = "trap 'echo got; exit 0' USR1; : > up; while :; do sleep .1; done"
        process = self.fed(b"x" * 4 * MIB, "-n1", "sh", "-c", script)
        wait_until(lambda: os.path.exists(self.path("up")))
        time.sleep(0.5)  # pipes and windows fill up
        process.send_signal(signal.SIGUSR1)
        self.assertEqual(process.communicate(timeout=60)[0], b"got\n")


if __name__ == "__main__":
    unittest.main(verbosity=2)
