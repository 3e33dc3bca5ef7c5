#!/usr/bin/env python3
"""salloc and srun outside of a job, with a stand-in qrsh that runs hook, starter and supervisor here.

usage: allocation_test.py BIN_DIR
"""
import fcntl
import json
import os
import pathlib
import pty
import re
import select
import signal
import struct
import subprocess
import sys
import tempfile
import termios
import time
import unittest

BIN = os.path.abspath(sys.argv.pop(1))
REPO = pathlib.Path(__file__).resolve().parents[2]
CONFIG = "default_partition: batch\npartitions: {batch: {queue: batch.q, pe_by_layout: {fill_up: slurm-shim, pe_slots: slurm-shim, fixed: {1: slurm-shim}}}}\nlauncher: qrsh-inherit\n"


def wait_until(condition, what, seconds=60):
    end = time.monotonic() + seconds
    while not condition():
        if time.monotonic() > end:
            raise AssertionError(f"not within {seconds} s: {what}")
        time.sleep(0.02)


class Allocation(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory(prefix="allocation-")
        self.addCleanup(folder.cleanup)
        self.root = pathlib.Path(folder.name)
        for name in ("home", "cwd", "qrsh", "tools", "engine"):
            (self.root / name).mkdir()
        for kind in ("ge-bin", "allocate"):
            for tool in (REPO / "tests/fakes" / kind).iterdir():
                (self.root / "tools" / tool.name).symlink_to(tool)
        self.config = self.root / "config.yaml"
        self.config.write_text(CONFIG, encoding="utf-8")
        self.state = self.root / "home/.local/state/slurm-shim/default"
        self.env = {"PATH": BIN + ":/usr/bin:/bin", "HOME": str(self.root / "home"), "USER": "root", "SHELL": "/bin/sh",
                    "SGE_ROOT": "/nonexistent", "SLURM_SHIM_GE_BIN": str(self.root / "tools"),
                    "SLURM_SHIM_CONFIG": str(self.config), "FAKE_GE_DIR": str(self.root / "engine"),
                    "FAKE_QRSH": str(self.root / "qrsh"), "SHIM_BIN": BIN, "STARTER": str(REPO / "scripts/starter_method.sh")}

    def run_it(self, *words, stdin="", **env):
        return subprocess.run(words, input=stdin, capture_output=True, text=True, timeout=120, cwd=self.root / "cwd",
                              env={**self.env, **env}, check=False)

    def start(self, *words, **env):
        process = subprocess.Popen(words, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
                                   cwd=self.root / "cwd", env={**self.env, **env},
                                   preexec_fn=lambda: signal.signal(signal.SIGINT, signal.default_int_handler))
        self.addCleanup(process.kill)
        return process

    def on_terminal(self, script, *words):
        """Runs words on a terminal; `script`: (text to wait for, what is then typed, or rows and columns of the window
        from then on). All output, exit code."""
        pid, master = pty.fork()
        if pid == 0:
            os.chdir(self.root / "cwd")
            os.execve(BIN + "/" + words[0], list(words), self.env)
        seen, script, end = b"", list(script), time.monotonic() + 60
        while time.monotonic() < end:
            if not select.select([master], [], [], 0.5)[0]:
                continue
            try:
                piece = os.read(master, 65536)
            except OSError:
                break
            if not piece:
                break
            seen += piece
            while script and re.search(script[0][0].encode(), seen):
                then = script.pop(0)[1]
                if isinstance(then, str):
                    os.write(master, then.encode())
                else:
                    fcntl.ioctl(master, termios.TIOCSWINSZ, struct.pack("4H", *then, 0, 0))
        os.close(master)
        code = os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])
        return seen.decode(errors="replace").replace("\r\n", "\n"), code

    def call(self, number=-1):
        lines = (self.root / "qrsh/calls").read_text(encoding="utf-8").splitlines()
        return json.loads(lines[number])

    def submitted(self):
        return sorted(p.name for p in (self.state / "submit").glob("*")) if self.state.exists() else []

    # --- salloc

    def test_a_command_runs_in_a_job_with_its_environment(self):
        done = self.run_it("salloc", "-n2", "sh", "-c", "printf '%s ' $SLURM_JOB_ID $SLURM_NTASKS $SLURM_JOB_NAME \"$MINE\"; pwd; echo e >&2; exit 5",
                           MINE="my\\n own", LC_ALL="C.UTF-8")
        self.assertEqual(done.stdout, f"101 2 interactive my\\n own {self.root}/cwd\n")
        self.assertEqual(done.stderr, "salloc: Granted job allocation 101\ne\nsalloc: Relinquishing job allocation 101\n")
        self.assertEqual(done.returncode, 5)
        self.assertEqual(self.submitted(), [])
        record = [json.loads(line) for line in (self.state / "jobs/101.jsonl").read_text(encoding="utf-8").splitlines()]
        self.assertEqual((record[-1]["ev"], record[-1]["code"]), ("end", 5))

    def test_words_of_the_command_arrive_as_they_are(self):
        words = ["a b", "", "$HOME *", "-x", "\n", "'q\"", "x" * 50000]
        done = self.run_it("salloc", sys.executable, "-c", "import sys; print(sys.argv[1:])", *words)
        self.assertEqual(done.stdout, repr(words) + "\n", done.stderr)

    def test_codes_that_the_engine_would_take_for_its_own(self):
        for code in (99, 100, 0, 255):
            self.assertEqual(self.run_it("salloc", "sh", "-c", f"exit {code}").returncode, code)
        self.assertEqual(self.run_it("salloc", "sh", "-c", "kill -9 $$").returncode, 137)
        done = self.run_it("salloc", "nosuchprogram")
        self.assertEqual(done.returncode, 2)
        self.assertIn("nosuchprogram: No such file or directory", done.stderr)

    def test_stdin_and_binary_output(self):
        data = bytes(range(256)) * 4096
        done = subprocess.run(["salloc", "cat"], input=data, capture_output=True, timeout=120, env=self.env, check=False)
        self.assertEqual(done.stdout, data)

    def test_a_shell_reads_its_commands_from_stdin(self):
        done = self.run_it("salloc", stdin="echo in $SLURM_JOB_ID\nexit 3\n")
        self.assertEqual((done.stdout, done.returncode), ("in 101\n", 3), done.stderr)

    def test_a_shell_on_a_terminal(self):
        text, code = self.on_terminal([("Granted job allocation 101", "tty; stty -echo; echo $SLURM_JOB_ID-x\n"),
                                       ("101-x", "exit 4\n")], "salloc")
        self.assertEqual(code, 4, text)
        self.assertRegex(text, r"/dev/pts/\d+")
        self.assertIn("salloc: Relinquishing job allocation 101", text)
        # Its terminal is the supervisor's: the engine's own does not work on 8.1.9.
        self.assertEqual(self.call()["argv"][self.call()["argv"].index("-pty") + 1], "n")

    def test_interrupts_on_a_terminal_reach_the_command(self):
        text, code = self.on_terminal([("ready", "\x03")], "salloc", "sh", "-c", "trap 'echo caught; exit 6' INT; echo ready; sleep 60 & wait")
        self.assertEqual(code, 6, text)
        self.assertIn("caught", text)

    def test_the_window_of_the_command_is_the_users(self):
        text, code = self.on_terminal([("waits", (40, 100)), ("100", (50, 132)), ("132", "\x04")], "salloc", "sh", "-c",
                                      "echo waits; until [ \"$(stty size)\" = '40 100' ]; do sleep 0.05; done; stty size; "
                                      "until [ \"$(stty size)\" = '50 132' ]; do sleep 0.05; done; stty size; cat; exit 3")
        self.assertEqual(code, 3, text)
        self.assertRegex(text, r"(?s)40 100\n.*50 132\n")

    def test_all_of_the_screen_is_seen(self):
        text, code = self.on_terminal([], "salloc", "sh", "-c", "seq 100000; exit 4")
        self.assertEqual(code, 4, text[-500:])
        self.assertIn("\n".join(map(str, range(1, 100001))) + "\n", text)

    def test_waiting_is_told_and_so_is_the_grant(self):
        (self.root / "qrsh/busy").touch()
        process = self.start("salloc", "true")
        line = process.stderr.readline()
        self.assertEqual(line, "salloc: Pending job allocation 101\n")
        self.assertEqual(process.stderr.readline(), "salloc: job 101 queued and waiting for resources\n")
        (self.root / "qrsh/busy").unlink()
        rest = process.communicate(timeout=60)[1]
        self.assertEqual(rest, "salloc: job 101 has been allocated resources\nsalloc: Granted job allocation 101\n"
                               "salloc: Relinquishing job allocation 101\n")
        self.assertEqual(process.returncode, 0)

    def test_a_signal_while_waiting_removes_the_job(self):
        (self.root / "qrsh/busy").touch()
        cases = ((signal.SIGINT, "salloc", "salloc: Job aborted due to signal\n", "."),
                 (signal.SIGTERM, "salloc", "salloc: Job aborted due to signal\n", "."),
                 (signal.SIGINT, "srun", "srun: Force Terminated job {}\n", ""))
        for number, (sig, command, last, dot) in enumerate(cases, 101):
            process = self.start(command, "true")
            process.stderr.readline()
            process.send_signal(sig)
            rest = process.communicate(timeout=60)[1]
            self.assertTrue(rest.endswith(f"{command}: Job allocation {number} has been revoked{dot}\n" + last.format(number)), rest)
            self.assertEqual(process.returncode, 1)
            self.assertTrue((self.root / f"qrsh/gone.{number}").exists())
            self.assertEqual(self.submitted(), [])

    def test_signals_reach_the_running_command(self):
        for sig, code in ((signal.SIGUSR1, 7), (signal.SIGTERM, 8), (signal.SIGINT, 9)):
            process = self.start("salloc", "sh", "-c", "trap 'exit 7' USR1; trap 'exit 8' TERM; trap 'exit 9' INT; echo up; "
                                 "while :; do sleep 0.1; done")
            self.assertEqual(process.stdout.readline(), "up\n")
            process.send_signal(sig)
            process.communicate(timeout=60)
            self.assertEqual(process.returncode, code)

    def test_a_reader_that_goes_ends_the_job(self):
        done = self.run_it("bash", "-c", "set -o pipefail; salloc yes 2>/dev/null | head -n1; echo ${PIPESTATUS[0]}")
        self.assertEqual(done.stdout, "y\n141\n")

    def test_heterogeneous_jobs_are_refused(self):
        done = self.run_it("salloc", "-n1", ":", "-n2", "true")
        self.assertEqual((done.returncode, done.stdout, done.stderr),
                         (255, "", "salloc: error: heterogeneous jobs are not supported\n"))

    def test_refusals(self):
        (self.root / "qrsh/refuse").write_text("error: no suitable queues", encoding="utf-8")
        done = self.run_it("salloc", "-N9", "true")
        self.assertEqual(done.stderr, "salloc: error: Job submit/allocate failed: Requested node configuration is not available\n")
        self.assertEqual(done.returncode, 1)
        self.assertEqual(self.submitted(), [])
        done = self.run_it("salloc", "-p", "nosuch", "true")
        self.assertEqual(done.stderr, "salloc: error: invalid partition specified: nosuch\n"
                                      "salloc: error: Job submit/allocate failed: Invalid partition name specified\n")
        for words, text in ((("--begin=now+60",), "cannot delay"), (("--no-shell",), "sbatch"), (("-n", "x"), "x")):
            done = self.run_it("salloc", *words, "true")
            self.assertIn(text, done.stderr)
            self.assertNotEqual(done.returncode, 0)

    def test_at_once_or_never(self):
        (self.root / "qrsh/busy").touch()
        done = self.run_it("salloc", "-I1", "true")
        self.assertEqual(done.stderr, "salloc: Job allocation 101 has been revoked.\n"
                                      "salloc: error: Unable to allocate resources: Requested nodes are busy\n")
        done = self.run_it("srun", "-I2", "true")
        self.assertEqual((done.stderr, done.returncode), ("srun: error: Unable to allocate resources: Requested nodes are busy\n", 1))
        self.assertTrue((self.root / "qrsh/gone.102").exists())

    # --- srun

    def test_srun_allocates_and_runs_the_step(self):
        done = self.run_it("srun", "-n2", "-l", "-J", "name", "-D", "/usr", "-p", "batch", "-t", "5", "-K", "sh", "-c",
                           "echo $SLURM_PROCID $SLURM_JOB_NAME $SLURM_STEP_ID $PWD")
        self.assertEqual(sorted(done.stdout.splitlines()), ["0: 0 name 0 /usr", "1: 1 name 0 /usr"], done.stderr)
        self.assertEqual((done.stderr, done.returncode), ("", 0))
        argv = self.call()["argv"]
        self.assertIn("h_rt=300", argv[argv.index("-l") + 1])
        done = self.run_it("srun", "-n2", "sh", "-c", "exit 3")
        self.assertEqual(done.returncode, 3)
        self.assertRegex(done.stderr, r"^srun: error: \S+: tasks 0-1: Exited with exit code 3\n$")

    def test_srun_by_variables_and_with_export(self):
        done = self.run_it("srun", "--export=ALL,GIVEN=1", "sh", "-c", "echo $GIVEN $MINE $SLURM_JOB_PARTITION", MINE="2", SLURM_PARTITION="batch")
        self.assertEqual(done.stdout, "1 2 batch\n", done.stderr)

    def test_srun_on_a_terminal_of_its_own(self):
        text, code = self.on_terminal([("\n.*ready", "exit 9\n")], "srun", "--pty", "sh", "-c", "tty; stty size; echo ready; exec sh")
        self.assertEqual(code, 9, text)
        self.assertRegex(text, r"/dev/pts/\d+")
        self.assertNotIn("slurm-shim srun", self.call()["env"]["SLURM_SHIM_REQ"])

    def test_srun_that_must_not_or_need_not_allocate(self):
        for mode, code, text in (("reject", 1, "srun: error: not inside a slurm-shim allocation (standalone: reject)\n"), ("local", 0, "")):
            self.config.write_text(CONFIG + f"standalone: {mode}\n", encoding="utf-8")
            done = self.run_it("srun", "true")
            self.assertEqual((done.returncode, done.stderr), (code, text))
            self.assertFalse((self.root / "qrsh/calls").exists())

    def test_srun_asks_whether_a_job_could_run(self):
        done = self.run_it("srun", "--test-only", "-n1", "true")
        self.assertRegex(done.stderr, r"^srun: Job 0 to start at \S+ using 1 processors on nodes \S+ in partition batch\n$")
        self.assertEqual(done.returncode, 0)
        self.assertFalse((self.root / "qrsh/calls").exists())


if __name__ == "__main__":
    unittest.main()
