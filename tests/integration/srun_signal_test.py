#!/usr/bin/env python3
"""srun and time: limits of a step, signals before its end, stopping and going on, the progress line.

usage: srun_signal_test.py BIN_DIR
"""
import json
import os
import re
import signal
import sys
import time
import unittest

from srun_world import PING, PONG, READY, Stepper, World, frame, pace, wait_until

BIN = os.path.abspath(sys.argv.pop(1))
LOCAL = "launcher: local\nkill_wait: 2s\n"
REMOTE = "launcher: qrsh-inherit\ncontrol_address: 127.0.0.1\n"
COUNTER = "i=0; while :; do echo $i > count; i=$((i+1)); sleep .05; done"


def state_of(pid):
    with open(f"/proc/{pid}/stat", encoding="utf-8") as file:
        return file.read().rsplit(")", 1)[1].split()[0]


class Base(unittest.TestCase):
    def make(self, hosts=("node001",), config=LOCAL, **kwargs):
        self.world = World(BIN, list(hosts), config, **kwargs)
        self.addCleanup(self.world.close)

    def path(self, name):
        return os.path.join(self.world.work, name)

    def ready(self, count=1):
        wait_until(lambda: all(os.path.exists(self.path(f"ready{i}")) for i in range(count)), what="ranks")

    def batch_job(self, limit_s, begun_s_ago):
        """The job's record as the hook leaves it, `begun_s_ago` seconds after the job's start."""
        record = {"v": 1, "tok": "9f3c21d07be84a55", "job": 4711, "task": None, "slurm_id": 4711, "index": None,
                  "dir": self.world.dir, "env": False, "name": "testjob", "user": "alice", "host": "node001",
                  "out": "slurm-%j.out", "err": None, "in": "/dev/null", "open_append": False,
                  "wd": self.world.work, "signal": None, "limit_s": limit_s, "kill_wait_ms": 2000,
                  "records": False, "requeue": True, "restart": 0, "afterok": []}
        path = self.world.write(os.path.join(self.world.job_dir, "batch.json"), json.dumps(record))
        begun = time.time() - begun_s_ago
        os.utime(path, (begun, begun))


class Limits(Base):
    def test_time_limit_with_a_signal_before(self):
        self.make(["node001", "node002"])
        begin = time.monotonic()
        script = "trap 'echo early $SLURM_PROCID' USR1; trap 'echo term $SLURM_PROCID; exit 5' TERM; " \
                 "while :; do sleep .1; done"
        code, out, err = self.world.run("-N2", "-n2", "-t", "1", "--signal=USR1@55", "sh", "-c", script)
        took = time.monotonic() - begin
        self.assertEqual((code, sorted(out.splitlines())), (5, ["early 0", "early 1", "term 0", "term 1"]), err)
        self.assertGreaterEqual(took, 59.5)
        self.assertIn("srun: Job step aborted: Waiting up to 4 seconds for job step to finish.\n", err)
        self.assertRegex(err, r"slurmstepd-node001: error: \*\*\* STEP 4711\.0 ON node001 CANCELLED AT "
                              r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d DUE TO TIME LIMIT \*\*\*\n")

    def test_signal_before_the_end_of_the_job(self):
        self.make()
        self.batch_job(limit_s=3600, begun_s_ago=3600 - 64)
        code, out, err = self.world.run("-n1", "--signal=10@60", "sh", "-c",
                                        "trap 'echo early; exit 0' USR1; while :; do sleep .1; done", timeout=60)
        self.assertEqual((code, out), (0, "early\n"), err)

    def test_signal_without_any_limit_is_warned_about(self):
        self.make()
        self.assertEqual(self.world.run("-n1", "--signal=USR1@60", "true"), (
            0, "", "srun: warning: --signal: neither step nor job has a time limit, no signal is sent\n"))

    def test_values(self):
        self.make()
        for words, text in ((["-t", "x"], "Invalid --time specification"),
                            (["--signal=bogus"], "Invalid --signal specification")):
            self.assertEqual(self.world.run("-n1", *words, "true"), (255, "", f"srun: error: {text}\n"))
        for words in (["-t", "0"], ["-t", "UNLIMITED"], ["-t", "1-0"], ["-T", "4"]):
            self.assertEqual(self.world.run("-n1", *words, "true"), (0, "", ""), words)


class Stop(Base):
    def stopped(self, process):
        wait_until(lambda: state_of(process.pid) == "T", what="a stopped srun")

    def count(self):
        with open(self.path("count"), encoding="utf-8") as file:
            return file.read()

    def check(self, stop, resume):
        process = self.world.start("-n1", "sh", "-c", "touch ready0; " + COUNTER)
        self.ready()
        wait_until(lambda: os.path.exists(self.path("count")))
        stop(process)
        self.stopped(process)
        # Standing still shows only over some time.
        wait_until(lambda: self.stands_still(), what="a rank that stands still")
        resume(process)
        before = self.count()
        wait_until(lambda: self.count() != before, what="a rank that runs again")
        process.send_signal(signal.SIGKILL)
        process.communicate(timeout=60)

    def stands_still(self):
        before = self.count()
        time.sleep(0.5)
        return self.count() == before

    def test_stop_key_stops_the_ranks_too(self):
        self.make()
        self.check(lambda p: p.send_signal(signal.SIGTSTP), lambda p: p.send_signal(signal.SIGCONT))

    def test_stop_of_the_group_as_the_engine_does_it(self):
        self.make()
        start = self.world.start
        self.world.start = lambda *words: start(*words, start_new_session=True)
        self.check(lambda p: os.killpg(p.pid, signal.SIGSTOP), lambda p: os.killpg(p.pid, signal.SIGCONT))

    def test_user_signals_of_the_group_reach_the_ranks_once(self):
        self.make()
        for number in (signal.SIGUSR1, signal.SIGUSR2):
            process = self.world.start(
                "-n2", "sh", "-c", f"trap 'echo got' {number.name[3:]}; touch ready$SLURM_PROCID; i=0; "
                "while [ $i -lt 30 ]; do i=$((i+1)); sleep .1; done", start_new_session=True)
            self.ready(2)
            os.killpg(process.pid, number)
            out, err = process.communicate(timeout=60)
            self.assertEqual((process.returncode, out), (0, b"got\ngot\n"), err)
            for i in range(2):
                os.remove(self.path(f"ready{i}"))

    def test_a_third_interrupt_is_told(self):
        self.make()
        process = self.world.start("-n1", "sh", "-c", "trap '' INT; touch ready0; sleep 60")
        self.ready()
        for _ in range(2):
            process.send_signal(signal.SIGINT)
            time.sleep(0.1)  # two signals of one number at once are one
        process.send_signal(signal.SIGSTOP)  # so that the third comes before the step's end is seen
        process.send_signal(signal.SIGINT)
        process.send_signal(signal.SIGCONT)
        _, err = process.communicate(timeout=60)
        self.assertEqual(process.returncode, 137)
        self.assertIn("srun: forcing job termination\n", err.decode())


    def test_one_interrupt_is_enough_when_asked_for(self):
        self.make()
        process = self.world.start("--quit-on-interrupt", "-n1", "sh", "-c", "trap '' INT; touch ready0; sleep 60")
        self.ready()
        process.send_signal(signal.SIGINT)
        _, err = process.communicate(timeout=60)
        self.assertEqual(process.returncode, 137)
        self.assertIn("srun: sending Ctrl-C to StepId=4711.0\nsrun: forcing job termination\n", err.decode())


class LongLaunch(Base):
    def test_progress_on_a_terminal(self):
        self.make(["node001", "node002", "node003"], REMOTE)
        self.world.script("node002", "delay 5")
        main, terminal = os.openpty()
        self.addCleanup(os.close, main)
        process = self.world.start("-N3", "-n3", "true", stderr=terminal)
        os.close(terminal)
        process.communicate(timeout=60)
        self.assertEqual(process.returncode, 0)
        shown = b""
        try:
            while True:
                shown += os.read(main, 4096)
        except OSError:  # the other side has closed it
            pass
        clear = b"\r\x1b[K"
        self.assertIn(clear + b"srun: launching StepId=4711.0: 2 of 3 hosts ready", shown)
        self.assertTrue(shown.endswith(b"hosts ready" + clear), shown)

    def test_no_progress_without_a_terminal_or_under_quiet(self):
        self.make(["node001", "node002"], REMOTE)
        self.world.script("node002", "delay 4")
        self.assertEqual(self.world.run("-N2", "-n2", "true"), (0, "", ""))

    def test_a_host_that_goes_silent_while_others_are_awaited(self):
        seconds = f"{pace.limit(3):g}"
        self.make(["node001", "node002", "node003"], REMOTE + f"ping_interval: 1s\nping_deadline: {seconds}s\n")
        self.world.script("node002", "leak")
        self.world.script("node003", "hang")
        process = self.world.start("-N3", "-n3", "true")
        envelope = self.world.envelope("node002")
        stepper = Stepper(envelope, self.world.leaked_token("node002"))
        _, err = process.communicate(timeout=60)
        self.world.end_leak("node002")
        stepper.close()
        self.assertEqual((process.returncode, err.decode()), (
            8, f"srun: error: stepper on node002 left before the step started: no sign of life for {seconds} s\n"))

    def test_every_ending_signal_interrupts_a_launch(self):
        for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP, signal.SIGQUIT):
            self.make(["node001", "node002"], REMOTE)
            self.world.script("node002", "delay 300")
            process = self.world.start("-N2", "-n2", "touch", "ran")
            self.world.envelope("node002")
            begin = time.monotonic()
            process.send_signal(number)
            _, err = process.communicate(timeout=60)
            self.assertEqual((process.returncode, err.decode()), (
                128 + number, f"srun: Cancelled pending job step with signal {int(number)}\n"))
            self.assertLess(time.monotonic() - begin, pace.limit(15))
            self.assertFalse(os.path.exists(self.path("ran")))


class Hooks(Base):
    def test_prolog_and_epilog_run_around_the_step(self):
        self.make()
        for name in ("before", "after"):
            path = self.world.write(self.path(name), f"#!/bin/sh\necho {name} $SLURM_STEP_ID $*\nexit 7\n")
            os.chmod(path, 0o700)
        code, out, err = self.world.run("-n1", "--prolog", self.path("before"), "--epilog", self.path("after"),
                                        "echo", "step")
        self.assertEqual((code, out, err), (0, "before 0 echo step\nstep\nafter 0 echo step\n", ""))
        self.assertEqual(self.world.run("-n1", "--prolog=none", "echo", "x",
                                        env={"SLURM_EPILOG": "/no/such"}),
                         (0, "x\n", "srun: error: /no/such: No such file or directory\n"))


if __name__ == "__main__":
    unittest.main(verbosity=2)
