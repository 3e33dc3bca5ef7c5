"""A batch script that runs under its supervisor, and the files of steps that are played. For the contract tests."""
import fcntl
import json
import os
import signal
import time
import unittest

from job_world import World, pace, write


class Step:
    """The registered files of a running step, as srun holds them."""

    def __init__(self, world, number):
        self.folder = world.job_file("steps")
        os.makedirs(self.folder, 0o700, exist_ok=True)
        self.file = os.path.join(self.folder, f"{number}.json")
        self.requests = write(os.path.join(self.folder, f"{number}.req"), "")
        temporary = write(os.path.join(self.folder, f".{number}"),
                          json.dumps({"v": 1, "step": number, "pid": 1, "start": 1.5, "name": "s",
                                      "hosts": ["n1"], "ntasks": 1}))
        self.lock = open(temporary, "rb")
        fcntl.flock(self.lock, fcntl.LOCK_EX)
        os.rename(temporary, self.file)

    def asked(self):
        with open(self.requests, encoding="utf-8") as file:
            return file.read()

    def end(self):
        os.unlink(self.file)
        os.unlink(self.requests)
        self.lock.close()


class SupervisedJob(unittest.TestCase):
    """One running batch job under its supervisor."""
    SHIM = ""  # the binary

    def setUp(self):
        self.world = World(self.SHIM)
        self.addCleanup(self.world.close)
        self.world.hook()
        self.count = 0

    def start(self, text, **changes):
        self.world.batch(**changes)
        os.mkfifo(self.world.path("fifo"))
        self.process = self.world.start([self.world.script(text)])
        self.addCleanup(self.stop)
        self.wait_for(lambda: self.output().startswith("ready\n"))

    def stop(self):
        if self.process.poll() is None:
            os.killpg(self.process.pid, signal.SIGKILL)
            self.process.wait(timeout=30)

    def finish(self, code=0):
        with open(self.world.path("fifo"), "w", encoding="utf-8") as fifo:
            fifo.write(str(code))

    def output(self):
        path = self.world.path("slurm-4711.out")
        return self.world.text("slurm-4711.out") if os.path.exists(path) else ""

    def wait_for(self, condition, seconds=20):
        deadline = time.monotonic() + pace.limit(seconds)
        while not condition():
            self.assertLess(time.monotonic(), deadline, (self.output(), self.world.records()))
            time.sleep(0.02)

    def ask(self, words, line=None):
        """Appends a request and waits for its answer; (rc, text) and how long it took."""
        self.count += 1
        number = f"{self.count:016x}"
        started = time.monotonic()
        with open(self.world.state("jobs", "4711.mbox"), "ab") as box:
            box.write((line or f"v1 {number} {words}\n").encode())
        self.wait_for(lambda: self.answer(number))
        self.assertLess(time.monotonic() - started, pace.limit(3))
        return self.answer(number)

    def answer(self, number):
        for record in self.world.records():
            if record["ev"] == "req" and record["id"] == number:
                return record["rc"], record["text"]
        return None
