#!/usr/bin/env python3
"""Who is told when a batch job is to end, and how long it has: the script and all that it started, but nobody below an
srun, which has its own way.

usage: cancel_test.py BIN_DIR
"""
import os
import signal
import sys
import time
import unittest

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from job_world import pace, write  # noqa: E402
from supervised_job import Step, SupervisedJob  # noqa: E402

BIN = os.path.abspath(sys.argv.pop(1))

# Waits for a program that knows nothing of signals, as most scripts do, and tells what became of it.
WAITING = """#!/bin/bash
trap "echo batch:TERM" TERM
sleep 300 & p=$!
echo ready
while kill -0 $p 2>/dev/null; do wait $p; code=$?; done
echo "sleep:$code"
exit 7
"""
# Pretends a step: what is below a program named srun.
RANK = """#!/bin/bash
trap "echo rank:TERM" TERM
echo rank
sleep 300 & p=$!
while kill -0 $p 2>/dev/null; do wait $p; done
"""
SRUN = "#!/bin/bash\necho ready\n../rank &\nwait\nwait\n"
CANCELLED = r"slurmstepd: error: \*\*\* JOB 4711 ON n1 CANCELLED AT \S{19} \*\*\*\n"


class Cancel(SupervisedJob):
    SHIM = os.path.join(BIN, "slurm-shim")

    def end_of_record(self):
        end = self.world.records()[-1]
        return end["ev"], end["reason"], end["code"], end["sig"]

    def test_the_script_and_what_it_started_get_term(self):
        self.start(WAITING)
        self.assertEqual(self.ask("cancel"), (0, ""))
        self.assertEqual(self.process.wait(timeout=30), 7)
        self.assertRegex(self.output(), r"\Aready\n" + CANCELLED + r"batch:TERM\nsleep:143\n\Z")
        self.assertEqual(self.end_of_record(), ("end", "cancel", 7, 0))
        self.assertEqual([(r["reason"], r["sig"]) for r in self.world.records() if r["ev"] == "ending"], [("cancel", 15)])

    def test_who_stays_is_killed_after_kill_wait(self):
        self.start("#!/bin/bash\ntrap '' TERM\nsleep 300 & echo $! >child\necho ready\nwhile :; do wait; done\n",
                   kill_wait_ms=1500)
        child = int(self.world.text("child"))
        started = time.monotonic()
        self.assertEqual(self.ask("cancel"), (0, ""))
        self.assertEqual(self.ask("cancel"), (0, ""))  # asked twice
        self.assertEqual(self.ask("signal 10 batch"), (1, "the job is ending"))
        self.assertEqual(self.process.wait(timeout=30), 137)
        self.assertGreater(time.monotonic() - started, 1.4)
        self.assertEqual(self.end_of_record(), ("end", "cancel", 137, 9))
        self.wait_for(lambda: not os.path.exists(f"/proc/{child}"))

    def test_steps_are_asked_to_end_and_their_processes_left_alone(self):
        os.mkdir(self.world.path("bin"))
        for path, text in ((self.world.path("bin", "srun"), SRUN), (self.world.path("rank"), RANK)):
            write(path, text, 0o755)
        self.start("#!/bin/bash\ntrap 'echo batch:TERM' TERM\ncd bin; ./srun & wait; wait\n")
        step = Step(self.world, 0)
        self.wait_for(lambda: "rank\n" in self.output())
        self.assertEqual(self.ask("cancel"), (0, ""))
        self.wait_for(lambda: "batch:TERM" in self.output() and step.asked() == "end\n")
        self.assertIsNone(self.process.poll())
        step.end()
        os.killpg(self.process.pid, signal.SIGKILL)
        self.assertNotIn("rank:TERM", self.output())

    def test_the_time_limit_reaches_what_the_script_started(self):
        self.start(WAITING, limit_s=60, start_s=int(time.time() - 60 + pace.limit(4)))
        self.assertEqual(self.process.wait(timeout=30), 7)
        self.assertRegex(self.output(), r"DUE TO TIME LIMIT \*\*\*\nbatch:TERM\nsleep:143\n\Z")
        self.assertEqual(self.end_of_record(), ("end", "timeout", 7, 0))

    def test_a_signal_for_the_whole_batch_step(self):
        self.start(WAITING)
        self.assertEqual(self.ask(f"signal {int(signal.SIGTERM)} batch"), (0, ""))
        self.wait_for(lambda: "batch:TERM" in self.output())
        self.assertNotIn("sleep", self.output())
        self.assertEqual(self.ask(f"signal {int(signal.SIGTERM)} full"), (0, ""))
        self.assertEqual(self.process.wait(timeout=30), 7)
        self.assertTrue(self.output().endswith("batch:TERM\nbatch:TERM\nsleep:143\n"), self.output())
        self.assertEqual(self.end_of_record(), ("end", "exit", 7, 0))


if __name__ == "__main__":
    unittest.main()
