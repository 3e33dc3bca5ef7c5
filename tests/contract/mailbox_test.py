#!/usr/bin/env python3
"""Requests to a running batch job: what the supervisor does with its mailbox, the signal timer, and
the end of steps. The steps' side is played here by their registered files.

usage: mailbox_test.py BIN_DIR
"""
import fcntl
import os
import signal
import subprocess
import sys
import time
import unittest

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from job_world import TOK, pace, write  # noqa: E402
from supervised_job import Step, SupervisedJob  # noqa: E402

BIN = os.path.abspath(sys.argv.pop(1))
SHIM = os.path.join(BIN, "slurm-shim")

# Tells each signal that it gets; ends with what is written into the fifo.
LISTENER = """#!/usr/bin/python3 -I
import os, signal, sys
def say(text):
    os.write(1, text.encode() + b'\\n')  # print is not reentrant
for name in 'USR1 USR2 TERM'.split():
    signal.signal(getattr(signal, 'SIG' + name),
                  lambda number, _: say(signal.Signals(number).name[3:]))
say('ready')
sys.exit(int(open('fifo').read() or 0))
"""


class Mailbox(SupervisedJob):
    SHIM = SHIM

    def start(self, text=LISTENER, **changes):
        super().start(text, **changes)

    def test_the_mailbox_lives_as_long_as_the_job(self):
        write(self.world.state("jobs", "4711.mbox"), "v1 00000000000000aa signal 9 batch\n")
        self.start()
        self.assertEqual(os.stat(self.world.state("jobs", "4711.mbox")).st_size, 0)
        self.finish(6)
        self.assertEqual(self.process.wait(timeout=30), 6)
        self.assertFalse(os.path.exists(self.world.state("jobs", "4711.mbox")))

    def test_signals_go_where_they_are_wanted(self):
        self.start()
        first, second = Step(self.world, 0), Step(self.world, 3)
        self.assertEqual(self.ask("signal 12 steps"), (0, ""))
        self.assertEqual((first.asked(), second.asked()), ("signal 12\n", "signal 12\n"))
        self.assertEqual(self.ask("signal 10 step:3"), (0, ""))
        self.assertEqual(self.ask("signal 10 batch"), (0, ""))
        self.wait_for(lambda: self.output() == "ready\nUSR1\n")
        self.assertEqual(self.ask("signal 12 full"), (0, ""))
        self.wait_for(lambda: self.output() == "ready\nUSR1\nUSR2\n")
        self.assertEqual(first.asked(), "signal 12\nsignal 12\n")
        self.assertEqual(second.asked(), "signal 12\nsignal 10\nsignal 12\n")
        first.end()
        self.assertEqual(self.ask("signal 10 step:0"), (1, "step 0 is not running"))
        second.end()
        self.assertEqual(self.ask("signal 10 steps"), (0, ""))

    def test_suspend_resume_and_the_end_of_one_step(self):
        self.start()
        step = Step(self.world, 0)
        # A stepper's word for other hosts: the engine has stopped and woken this one itself.
        self.assertEqual(self.ask("suspend engine"), (0, ""))
        self.assertEqual(self.ask("resume engine"), (0, ""))
        self.assertEqual(self.ask("suspend"), (0, ""))
        self.assertEqual(self.ask("resume"), (0, ""))
        self.assertEqual(self.ask("end-step 0"), (0, ""))
        self.assertEqual(step.asked(), f"signal {int(signal.SIGSTOP)}\n"
                                       f"signal {int(signal.SIGCONT)}\nend\n")
        self.assertEqual(self.ask("end-step 1"), (1, "step 1 is not running"))
        step.end()

    def test_what_cannot_be_done_is_answered(self):
        self.start()
        for words, text in (
                ("dance", 'unknown request "dance"'),
                ("signal 65 batch", "expected: signal <1..64> <target>"),
                ("signal 0 batch", "expected: signal <1..64> <target>"),
                ("signal 9", "expected: signal <1..64> <target>"),
                ("signal 9 all", 'unknown target "all"'),
                ("signal 9 step:x", 'unknown target "step:x"'),
                ("end-step", "expected: end-step <step>")):
            self.assertEqual(self.ask(words), (1, text))
        self.count += 1
        self.assertEqual(self.ask("", f"v2 {self.count + 1:016x} x\n"),
                         (1, 'unknown version "v2"'))
        self.assertIsNone(self.process.poll())

    def test_the_signal_timer_of_the_script(self):
        started = time.monotonic()
        self.start(signal={"num": 10, "lead_s": 60 - int(pace.limit(2)), "batch": True}, limit_s=60)
        step = Step(self.world, 0)
        self.wait_for(lambda: self.output() == "ready\nUSR1\n")
        self.assertGreater(time.monotonic() - started, 1.9)
        self.assertEqual(step.asked(), "")
        step.end()
        self.finish()
        self.assertEqual(self.process.wait(timeout=30), 0)

    def test_the_signal_timer_of_the_steps(self):
        self.start(signal={"num": 12, "lead_s": 60 - int(pace.limit(2)), "batch": False}, limit_s=60)
        step = Step(self.world, 0)
        self.wait_for(lambda: step.asked() == "signal 12\n")
        self.assertEqual(self.output(), "ready\n")
        step.end()

    def test_steps_that_outlive_the_script_are_ended(self):
        self.start(kill_wait_ms=10000)
        step = Step(self.world, 0)
        self.finish(5)
        self.wait_for(lambda: step.asked() == "end\n")
        self.assertIsNone(self.process.poll())
        step.end()
        self.assertEqual(self.process.wait(timeout=30), 5)
        self.assertEqual(self.world.records()[-1]["code"], 5)

    def test_steps_that_do_not_end_are_left_after_a_time(self):
        self.start(kill_wait_ms=500)
        step = Step(self.world, 0)
        started = time.monotonic()
        self.finish(5)
        self.assertEqual(self.process.wait(timeout=30), 5)
        self.assertGreater(time.monotonic() - started, 5)
        self.assertLess(time.monotonic() - started, pace.limit(8))
        step.end()

    def test_requeue_ends_steps_first_then_the_script_and_leaves_with_99(self):
        write(self.world.state("submit", TOK + ".env"), "")
        self.start(kill_wait_ms=1000)
        step = Step(self.world, 0)
        self.assertEqual(self.ask("requeue"), (0, ""))
        self.wait_for(lambda: step.asked() == "end\n")
        self.assertRegex(self.output(), r"\Aready\nslurmstepd: error: \*\*\* JOB 4711 ON n1 "
                         r"CANCELLED AT \S{19} DUE TO JOB REQUEUE \*\*\*\n\Z")  # not TERM yet
        step.end()
        self.wait_for(lambda: self.output().endswith("***\nTERM\n"))
        self.assertEqual(self.process.wait(timeout=30), 99)  # it did not end by itself: KILL
        end = self.world.records()[-1]
        self.assertEqual((end["ev"], end["reason"], end["code"], end["sig"]),
                         ("end", "requeue", 137, 9))
        # The second run needs them.
        self.assertTrue(os.path.exists(self.world.state("submit", TOK + ".env")))

    def test_requeue_waits_for_the_qrsh_that_a_step_left_behind(self):
        # A program named qrsh whose parent ends at once: it becomes the supervisor's child.
        qrsh = os.path.join(self.world.root, "qrsh")
        os.symlink("/bin/cat", qrsh)
        os.mkfifo(self.world.path("remote"))
        self.start("#!/bin/bash\nset -m\n(" + qrsh + " remote >/dev/null &)\necho ready\n"
                   "exec /bin/cat fifo\n")
        with open(self.world.path("remote"), "w", encoding="utf-8") as remote:
            self.assertEqual(self.ask("requeue"), (0, ""))
            self.assertEqual(self.ask("signal 9 batch"), (1, "the job is ending"))
            self.assertIsNone(self.process.poll())
            self.assertFalse([r for r in self.world.records() if r["ev"] == "end"])
            remote.write("the remote task has ended")
        self.assertEqual(self.process.wait(timeout=30), 99)
        end = self.world.records()[-1]
        self.assertEqual((end["reason"], end["sig"]), ("requeue", int(signal.SIGTERM)))

    def test_requeue_as_the_last_word_of_a_script(self):
        # It is answered although the script ends before the mailbox is looked into.
        box = self.world.state("jobs", "4711.mbox")
        self.start("#!/bin/bash\necho ready\n"
                   f"echo v1 00000000000000ab requeue >>{box}\nexit 7\n")
        self.assertEqual(self.process.wait(timeout=30), 99)
        self.assertEqual(self.answer("00000000000000ab"), (0, ""))
        end = self.world.records()[-1]
        self.assertEqual((end["ev"], end["reason"], end["code"]), ("end", "requeue", 7))

    def test_the_last_seconds_before_the_limit_are_told(self):
        # 3 s before the engine's KILL, which counts from the hook's start.
        self.start(limit_s=60, start_s=int(time.time() - 60 + pace.limit(4)))
        step = Step(self.world, 0)
        self.wait_for(lambda: self.output().endswith("TERM\n"))
        self.assertRegex(self.output(), r"\Aready\nslurmstepd: error: \*\*\* JOB 4711 ON n1 "
                         r"CANCELLED AT \S{19} DUE TO TIME LIMIT \*\*\*\nTERM\n\Z")
        self.assertEqual(step.asked(), "signal 15\n")
        self.assertEqual([(r["ev"], r.get("reason"), r.get("sig"))
                          for r in self.world.records()][1:], [("ending", "timeout", 15)])
        step.end()
        self.finish(0)
        self.assertEqual(self.process.wait(timeout=30), 0)
        self.assertEqual(self.world.records()[-1]["reason"], "timeout")

    def test_the_signal_timer_counts_from_the_start_of_the_job(self):
        self.start(signal={"num": 10, "lead_s": 10, "batch": True}, limit_s=60,
                   start_s=int(time.time() - 50 + pace.limit(4)))
        self.wait_for(lambda: self.output() == "ready\nUSR1\n")
        self.finish()
        self.assertEqual(self.process.wait(timeout=30), 0)
        self.assertEqual(self.world.records()[-1]["reason"], "exit")

    def test_the_engines_notice_is_recorded_at_once(self):
        self.start()
        os.killpg(self.process.pid, signal.SIGUSR2)
        self.wait_for(lambda: [r for r in self.world.records() if r["ev"] == "ending"])
        self.wait_for(lambda: self.output() == "ready\nUSR2\n")
        os.killpg(self.process.pid, signal.SIGUSR2)
        self.wait_for(lambda: self.output() == "ready\nUSR2\nUSR2\n")
        os.killpg(self.process.pid, signal.SIGKILL)
        self.process.wait(timeout=30)
        events = [(r["ev"], r.get("reason"), r.get("sig")) for r in self.world.records()]
        self.assertEqual(events, [("start", None, None), ("ending", "notify", 12)])

    def test_requeue_can_be_forbidden(self):
        self.start(requeue=False)
        self.assertEqual(self.ask("requeue"), (1, "the job was submitted with --no-requeue"))
        self.finish(3)
        self.assertEqual(self.process.wait(timeout=30), 3)

    def test_the_supervisors_lock_goes_with_it_and_not_with_the_script(self):
        self.start("#!/bin/bash\necho ready\nset -m\n/bin/cat fifo >/dev/null &\n"
                   "echo $! >child; wait\n")
        with open(self.world.job_file("lock"), "rb") as lock:
            with self.assertRaises(BlockingIOError):
                fcntl.flock(lock, fcntl.LOCK_SH | fcntl.LOCK_NB)
            self.wait_for(lambda: os.path.exists(self.world.path("child")) and
                          self.world.text("child").strip())
            child = int(self.world.text("child"))
            os.killpg(self.process.pid, signal.SIGKILL)  # as qdel
            self.process.wait(timeout=30)
            os.kill(child, 0)  # in a group of its own: lives on
            fcntl.flock(lock, fcntl.LOCK_SH | fcntl.LOCK_NB)
        self.finish()

    def test_only_one_supervisor(self):
        self.start()
        second = subprocess.run([SHIM, "batch-exec", "--", "/bin/true"], env=self.world.env,
                                capture_output=True, text=True, timeout=30)
        self.assertEqual(second.returncode, 1)
        self.assertEqual(second.stderr, f"slurm-shim: error: {self.world.j}/lock: held by another "
                                        "supervisor\n")


if __name__ == "__main__":
    unittest.main()
