#!/usr/bin/env python3
"""Starter and batch-exec together: outputs, exit codes, environment, records of a batch job.

usage: batch_exec_test.py BIN_DIR
"""
import os
import signal
import stat
import sys
import threading
import time
import unittest

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from job_world import TOK, World, pace, write  # noqa: E402

BIN = os.path.abspath(sys.argv.pop(1))
SHIM = os.path.join(BIN, "slurm-shim")

PRINT_ENV = "#!/usr/bin/python3 -I\nimport os, sys\n" \
            "sys.stdout.buffer.write(b'\\0'.join(k + b'=' + v for k, v in os.environb.items()))\n"


class BatchExec(unittest.TestCase):
    def setUp(self):
        self.world = World(SHIM)
        self.addCleanup(self.world.close)
        self.world.hook()

    def job(self, text, words=(), env=(b"PATH=/usr/bin:/bin",), **changes):
        """Runs a script of that text; its exit code."""
        self.world.batch(env, **changes)
        return self.world.run([self.world.script(text), *words])

    def end(self, stem="4711"):
        return self.world.records(stem)[-1]

    # Outputs.

    def test_default_output_holds_both_streams_exactly(self):
        code = self.job("#!/bin/bash\necho out\necho err >&2\nprintf 'no end'\n")
        self.assertEqual(code, 0)
        self.assertEqual(self.world.text("slurm-4711.out"), "out\nerr\nno end")
        self.assertIsNone(self.world.log())  # empty: unlinked

    def test_patterns(self):
        cases = (
            ({"out": "%j.out"}, "4711.out"),
            ({"out": "%10j.%x.%u.%N.%t"}, "0000004711.7b train.me.n1.0"),
            ({"out": "%A_%a.o", "task": 3, "index": 20, "slurm_id": 30004768}, "4711_20.o"),
            ({"out": "%j_%4a", "task": 3, "index": 20, "slurm_id": 30004768}, "30004768_0020"),
            ({"out": "p-%%j"}, "p-%j"),
            ({"out": "p\\-%j"}, "p-%j"),
            ({"out": "%a"}, "4294967294"),
        )
        for changes, name in cases:
            code = self.job("#!/bin/sh\necho $0\n", name="7b train", user="me",
                            host="n1.example.org", **changes)
            self.assertEqual((code, os.listdir(self.world.wd)), (0, [name]), changes)
            os.unlink(self.world.path(name))

    def test_separate_streams_and_equal_names(self):
        text = "#!/bin/sh\necho out\necho err >&2\n"
        self.assertEqual(self.job(text, out="x.out", err="x.err"), 0)
        self.assertEqual((self.world.text("x.out"), self.world.text("x.err")), ("out\n", "err\n"))
        self.assertEqual(self.job(text, out="same", err=self.world.path("same")), 0)
        self.assertEqual(self.world.text("same"), "out\nerr\n")
        self.assertEqual(self.job(text, out="y.out", err="NONE"), 0)
        self.assertEqual(self.world.text("y.out"), "out\n")

    def test_open_mode(self):
        write(self.world.path("x"), "old\n")
        self.job("#!/bin/sh\necho new\n", out="x", open_append=True)
        self.assertEqual(self.world.text("x"), "old\nnew\n")
        self.job("#!/bin/sh\necho new\n", out="x")
        self.assertEqual(self.world.text("x"), "new\n")

    def test_input(self):
        write(self.world.path("in-4711"), "line\n")
        self.assertEqual(self.job("#!/bin/cat\n", out="o", **{"in": "in-%j"}), 0)
        self.assertIn("line\n", self.world.text("o") + "line\n")
        self.assertEqual(self.job("#!/bin/sh\ncat\n", out="o", **{"in": "in-%j"}), 0)
        self.assertEqual(self.world.text("o"), "line\n")
        self.assertEqual(self.job("#!/bin/sh\ncat; echo $?\n", out="o"), 0)
        self.assertEqual(self.world.text("o"), "0\n")
        self.assertEqual(self.job("#!/bin/sh\n", out="o", **{"in": "missing"}), 1)
        self.assertIn(f"cannot open the input file: {self.world.path('missing')}: "
                      "No such file or directory\n", self.world.log())
        self.assertEqual(self.end()["reason"], "output")

    def test_without_its_input_a_job_makes_no_output_file(self):
        self.assertEqual(self.job("#!/bin/sh\n", out="o", err="d/e", **{"in": "missing"}), 1)
        self.assertEqual(os.listdir(self.world.wd), [])

    def test_a_missing_working_directory_is_replaced_by_tmp(self):
        wd = self.world.path("gone")
        self.assertEqual(self.job("#!/bin/sh\npwd; echo $PWD\n", wd=wd, out="/dev/null",
                                  err=self.world.path("e")), 0)
        self.assertEqual(self.world.text("e"), f"slurm-shim: error: couldn't chdir to `{wd}': "
                                               "No such file or directory: going to /tmp instead\n")
        self.assertEqual(self.job("#!/bin/sh\npwd; echo $PWD\n", wd=wd,
                                  out=self.world.path("o"), err="/dev/null"), 0)
        self.assertEqual(self.world.text("o"), "/tmp\n/tmp\n")

    def test_a_job_that_may_not_run_says_why(self):
        write(self.world.path("slurm-4711.out"), "of an earlier run\n")
        text = "DependencyNeverSatisfied: afterok:12: job 12 ended with exit code 3"
        self.assertEqual(self.job("#!/bin/sh\ntouch ran\n",
                                  never={"reason": "dependency", "text": text}), 1)
        line = f"slurm-shim: error: job 4711 cannot start: {text}\n"
        self.assertEqual(self.world.text("slurm-4711.out"), "of an earlier run\n" + line)
        self.assertEqual(self.world.log(), line)
        self.assertEqual([(r["ev"], r.get("reason")) for r in self.world.records()],
                         [("start", None), ("end", "dependency")])
        self.assertFalse(os.path.exists(self.world.path("ran")))

    def test_a_folder_that_comes_late_is_used(self):  # report R52, as are the next two
        def make_it():
            time.sleep(1)
            os.mkdir(self.world.path("late"), 0o711)
        maker = threading.Thread(target=make_it)
        maker.start()
        started = time.monotonic()
        self.assertEqual(self.job("#!/bin/sh\necho hi\n", out="late/%j"), 0)
        maker.join()
        self.assertLess(time.monotonic() - started, pace.limit(4))
        self.assertEqual(self.world.text("late/4711"), "hi\n")
        self.assertEqual(stat.S_IMODE(os.stat(self.world.path("late")).st_mode), 0o711)

    def test_a_folder_that_never_comes_is_made(self):
        started = time.monotonic()
        self.assertEqual(self.job("#!/bin/sh\necho hi\n", out="a/b/%j", err="c/d"), 0)
        self.assertGreater(time.monotonic() - started, 4.5)
        self.assertLess(time.monotonic() - started, pace.limit(9))
        self.assertEqual(self.world.text("a/b/4711"), "hi\n")
        self.assertEqual(self.world.text("c/d"), "")

    def test_a_file_that_cannot_be_opened_ends_the_job_with_a_message(self):
        os.mkdir(self.world.path("folder"))
        for out, reason in (("folder", "Is a directory"), ("", "Is a directory"),
                            ("/proc/self/nothing", "No such file or directory"),
                            ("/dev/null/x", "Not a directory")):
            code = self.job("#!/bin/sh\ntouch ran\n", out=out)
            self.assertEqual(code, 1)
            self.assertRegex(self.world.log(), r"slurm-shim: error: cannot [^\n]*" + reason)
            self.assertEqual((self.end()["ev"], self.end()["reason"]), ("end", "output"))
            self.assertFalse(os.path.exists(self.world.path("ran")))
            self.world.close()
            self.setUp()
            os.mkdir(self.world.path("folder"))

    # Exit codes.

    def test_exit_codes(self):
        for code, told in ((0, 0), (1, 1), (3, 3), (99, 1), (100, 1), (101, 101), (255, 255)):
            self.assertEqual(self.job(f"#!/bin/sh\nexit {code}\n"), told, code)
            self.assertEqual((self.end()["code"], self.end()["sig"], self.end()["reason"]),
                             (code, 0, "exit"))

    def test_death_by_a_signal_becomes_an_exit_code(self):
        for number in (signal.SIGKILL, signal.SIGSEGV, signal.SIGTERM, signal.SIGUSR2):
            code = self.job(f"#!/bin/sh\nkill -{int(number)} $$\n")
            self.assertEqual(code, 128 + number)
            self.assertEqual((self.end()["code"], self.end()["sig"]), (128 + number, number))

    def test_scripts_that_cannot_be_started(self):
        missing = os.path.join(self.world.root, "missing")
        self.world.batch()
        self.assertEqual(self.world.run([missing]), 2)
        self.assertEqual(self.world.text("slurm-4711.out"),
                         f"slurm-shim: error: execve(): {missing}: No such file or directory\n")
        self.assertEqual((self.end()["code"], self.end()["reason"]), (2, "exit"))
        self.world.batch()
        plain = self.world.script("#!/bin/sh\n", "plain", 0o644)
        self.assertEqual(self.world.run([plain]), 13)
        self.assertEqual(self.world.text("slurm-4711.out"),
                         f"slurm-shim: error: execve(): {plain}: Permission denied\n")
        self.assertEqual(self.job("#!/no/such/interp -x\n"), 2)
        self.assertEqual(self.world.text("slurm-4711.out"),
                         "slurm-shim: error: execve(): bad interpreter(/no/such/interp): "
                         "No such file or directory\n")

    def test_a_script_without_interpreter_line_is_run_by_sh(self):
        self.assertEqual(self.job("echo $1; exit 4\n", ["a b"]), 4)
        self.assertEqual(self.world.text("slurm-4711.out"), "a b\n")

    def test_the_engines_signals_reach_the_script_and_not_the_supervisor(self):
        self.world.batch()
        script = self.world.script(
            "#!/usr/bin/python3 -I\nimport os, signal, sys\n"
            "def say(text):\n    os.write(1, text.encode() + b'\\n')\n"  # print is not reentrant
            "for name in 'USR1 USR2 TERM XCPU HUP INT'.split():\n"
            "    signal.signal(getattr(signal, 'SIG' + name),\n"
            "                  lambda number, _: say(signal.Signals(number).name[3:]))\n"
            "say('ready')\n"
            "sys.exit(int(open('fifo').read()))\n")
        os.mkfifo(self.world.path("fifo"))
        job = self.world.start([script])
        self.wait_for(lambda: self.output() == "ready\n")
        expected = "ready\n"
        for name in ("USR1", "USR2", "TERM", "XCPU", "HUP", "INT"):
            os.killpg(job.pid, getattr(signal, "SIG" + name))
            expected += name + "\n"
            self.wait_for(lambda: self.output() == expected)
        with open(self.world.path("fifo"), "w", encoding="utf-8") as fifo:
            fifo.write("5")
        self.assertEqual(job.wait(timeout=30), 5)

    def output(self, name="slurm-4711.out"):
        path = self.world.path(name)
        return self.world.text(name) if os.path.exists(path) else ""

    def wait_for(self, condition, seconds=20):
        deadline = time.monotonic() + pace.limit(seconds)
        while not condition():
            self.assertLess(time.monotonic(), deadline, self.output())
            time.sleep(0.02)

    def test_the_script_starts_with_default_dispositions_in_the_same_group(self):
        self.world.batch()
        script = self.world.script(
            "#!/usr/bin/python3 -I\nimport os\n"
            "print([l.split()[1] for l in open('/proc/self/status') if l[:4] in "
            "('SigI', 'SigB')])\nprint(os.getpgrp(), sorted(os.listdir('/proc/self/fd'))[:4])\n")
        job = self.world.start([script])
        self.assertEqual(job.wait(timeout=30), 0)
        # Python itself ignores PIPE and XFSZ; descriptor 3 is the listing of the folder.
        ignored = (1 << (signal.SIGPIPE - 1)) | (1 << (signal.SIGXFSZ - 1))
        self.assertEqual(self.output(), f"['{0:016x}', '{ignored:016x}']\n"
                                        f"{job.pid} ['0', '1', '2', '3']\n")

    # Environment.

    def script_env(self, env, own=None, environment=None, **changes):
        if environment is not None:
            write(self.world.job_file("environment"), environment)
        self.world.env.update(own or {})
        self.assertEqual(self.job(PRINT_ENV, env=env, out="env", **changes), 0, self.world.log())
        with open(self.world.path("env"), "rb") as file:
            return dict(e.split(b"=", 1) for e in file.read().split(b"\0"))

    def test_the_users_environment_arrives_byte_for_byte(self):
        odd = {b"BASH_FUNC_module%%": b"() {  echo \"$1\"\n}", b"a.b": b"1", b"x-y": b"\xff\xfe",
               b"LINES2": b"a\nb\n", b"BACK": b"C:\\new", b"EMPTY": b"", b"EQ": b"a=b=c",
               b"BIG": b"z" * 100000, b"LD_LIBRARY_PATH": b"/mine", b"LD_PRELOAD": b"",
               b"HOME": b"/home/me", b"SHLVL": b"3", b"BASH_ENV": b"/nonexistent/bashenv"}
        seen = self.script_env([k + b"=" + v for k, v in odd.items()] + [b"PATH=/my/bin:/bin"])
        for name, value in odd.items():
            self.assertEqual(seen.get(name), value, name)
        self.assertEqual(seen[b"PATH"], os.fsencode(BIN) + b":/my/bin:/bin")
        self.assertEqual(seen[b"PWD"], os.fsencode(self.world.wd))
        self.assertEqual(seen[b"SLURM_SHIM_DIR"], os.fsencode(self.world.j))

    def test_engine_and_job_variables_win(self):
        seen = self.script_env(
            [b"TMPDIR=/users", b"JOB_ID=1", b"SLURM_JOB_ID=1", b"SGE_ROOT=/users", b"PATH=/bin",
             b"SLURM_EXPORT_ENV=ALL"],
            own={"SGE_ROOT": "/opt/sge", "SLURM_SHIM_CONFIG": "/c"},
            environment="export SLURM_JOB_ID='4711' MASTER_ADDR='n1' SLURMD_NODENAME='n1'\n")
        for name, value in ((b"TMPDIR", self.world.tmp), (b"JOB_ID", "4711"),
                            (b"SLURM_JOB_ID", "4711"), (b"SGE_ROOT", "/opt/sge"),
                            (b"MASTER_ADDR", "n1"), (b"SLURMD_NODENAME", "n1"),
                            (b"SLURM_EXPORT_ENV", "ALL"), (b"SLURM_SHIM_CONFIG", "/c")):
            self.assertEqual(seen[name].decode(), value)

    def test_what_is_of_this_start_only_stays_out(self):
        seen = self.script_env([b"PATH=/bin"], own={"SLURM_SHIM_TOKEN": "secret"})
        for name in seen:
            self.assertFalse(name.startswith(b"SGE_STARTER_"), name)
        for name in (b"SLURM_SHIM_REQ", b"SLURM_SHIM_TOKEN", b"_", b"SHLVL", b"OLDPWD",
                     b"LD_LIBRARY_PATH"):
            self.assertNotIn(name, seen)

    def test_export_none_leaves_the_engines_environment(self):
        seen = self.script_env([])
        self.assertEqual(seen[b"HOME"], b"/root")
        self.assertEqual(seen[b"PATH"].split(b":")[0], os.fsencode(BIN))
        self.assertIn(b"/usr/bin", seen[b"PATH"].split(b":"))

    def test_arguments_arrive_exactly(self):
        words = ["", "a  b", "*", "$HOME", "-n", "--", "a\nb", "'\"\\"]
        self.assertEqual(self.job("#!/usr/bin/python3 -I\nimport sys\nprint(sys.argv[1:])\n",
                                  words), 0)
        self.assertEqual(self.output(), repr(words) + "\n")

    def test_start_modes(self):
        self.world.env["SGE_STARTER_SHELL_PATH"] = "/bin/bash"
        self.world.env["SGE_STARTER_SHELL_START_MODE"] = "posix_compliant"
        # The interpreter line does not count in this mode, and the file need not be executable.
        self.world.batch()
        os.mkdir(os.path.join(self.world.root, "job_scripts"))
        script = self.world.script("#!/bin/false\necho $BASH $1\n", name="job_scripts/4711", mode=0o644)
        self.assertEqual(self.world.run([script, "x"]), 0)
        self.assertEqual(self.output(), "/bin/bash x\n")
        self.world.env["SGE_STARTER_SHELL_START_MODE"] = "script_from_stdin"
        self.world.batch()
        with open(script, "rb") as file:
            self.assertEqual(self.world.run(["-s", "y"], stdin=file), 0)
        self.assertEqual(self.output(), "/bin/bash y\n")

    # What is missing or broken.

    def test_an_environment_file_that_is_not_visible(self):
        started = time.monotonic()
        self.assertEqual(self.job("#!/bin/sh\ntouch ran\n", env=None), 1)
        self.assertLess(time.monotonic() - started, pace.limit(9))
        self.assertGreater(time.monotonic() - started, 4.5)
        line = (f"slurm-shim: error: environment file {self.world.s}/submit/{TOK}.env is not "
                f"visible on {os.uname().nodename}: is {self.world.s} on a file system all hosts "
                "share? (config env_transport: qsub)\n")
        self.assertEqual(self.world.log(), line)
        self.assertEqual(self.output(), line)
        self.assertEqual(self.end()["reason"], "environment")
        self.assertFalse(os.path.exists(self.world.path("ran")))

    def test_a_foreign_environment_file_fails_at_once(self):
        self.world.batch()
        os.chmod(self.world.state("submit", TOK + ".env"), 0o666)
        self.assertEqual(self.world.run([self.world.script("#!/bin/sh\n")]), 1)
        self.assertIn("writable by others", self.world.log())

    def test_the_hooks_failure_is_told_in_the_users_file(self):
        write(self.world.job_file("environment.failed"), "no grant for gpu on n1\n")
        self.assertEqual(self.job("#!/bin/sh\n"), 1)
        self.assertEqual(self.output(), "slurm-shim: error: no grant for gpu on n1\n")
        self.assertEqual(self.end()["reason"], "environment")

    def test_a_broken_batch_json_names_the_file(self):
        self.world.batch()
        for text in ("", "{}", '{"v":2}', '{"v":1,"tok":"9f3c21d07be84a55","job":1,"dir":"x"}'):
            write(self.world.job_file("batch.json"), text)
            self.assertEqual(self.world.run([self.world.script("#!/bin/sh\n")]), 1)
            self.assertIn(f"slurm-shim: error: {self.world.j}/batch.json: ", self.world.log())

    # Records.

    def test_start_and_end_records(self):
        before = time.time()
        env = self.world.env
        env.update(SLURM_TASKS_PER_NODE="2(x2),1", SLURM_JOB_CPUS_PER_NODE="4(x3)",
                   SLURM_JOB_NUM_NODES="3", SLURM_JOB_NODELIST="n[1-3]")
        write(self.world.job_file("environment"), "")
        self.assertEqual(self.job("#!/bin/sh\nexit 3\n", err="e"), 3)
        start, end = self.world.records()
        pid = start.pop("pid")
        self.assertGreater(pid, 1)
        self.assertTrue(before - 1 < start.pop("t") <= end.pop("t") < time.time() + 1)
        self.assertEqual(start, {
            "v": 1, "tok": TOK, "run": 0, "ev": "start", "job": 4711, "task": None,
            "slurm_id": 4711, "host": "n1", "hosts": "n[1-3]", "nodes": 3, "ntasks": 5,
            "cpus": 12, "out": self.world.path("slurm-4711.out"), "err": self.world.path("e")})
        self.assertEqual(end, {"v": 1, "tok": TOK, "run": 0, "ev": "end", "code": 3, "sig": 0,
                               "reason": "exit"})
        mode = os.stat(self.world.state("jobs", "4711.jsonl")).st_mode
        self.assertEqual(stat.S_IMODE(mode), 0o600)

    def test_what_is_left_in_the_state_folder(self):
        write(self.world.state("submit", TOK + ".req"), "v1;x")
        self.assertEqual(self.job("#!/bin/sh\n"), 0)
        self.assertEqual(os.listdir(self.world.state("submit")), [])
        self.assertEqual(os.listdir(self.world.state("jobs")), ["4711.jsonl"])
        # Another task of an array still needs them.
        self.assertEqual(self.job("#!/bin/sh\n", task=3, index=3), 0)
        self.assertEqual(os.listdir(self.world.state("submit")), [TOK + ".env"])
        self.assertEqual(sorted(os.listdir(self.world.state("jobs"))),
                         ["4711.3.jsonl", "4711.jsonl"])

    def test_records_that_cannot_be_written_change_nothing(self):
        os.rmdir(self.world.state("jobs"))
        self.assertEqual(self.job("#!/bin/sh\necho hi; exit 2\n"), 2)
        self.assertEqual(self.output(), "hi\n")
        os.mkdir(self.world.state("jobs"))
        self.assertEqual(self.job("#!/bin/sh\nexit 2\n", records=False), 2)
        self.assertEqual(self.world.records(), [])

    def test_a_second_run_counts_on(self):
        self.job("#!/bin/sh\n")
        self.job("#!/bin/sh\n", restart=1)
        self.assertEqual([(r["run"], r["ev"]) for r in self.world.records()],
                         [(0, "start"), (0, "end"), (1, "start"), (1, "end")])

    @pace.released_only("a sanitizer's shadow is terabytes of address space")
    def test_it_stays_small(self):
        self.world.batch()
        job = self.world.start([self.world.script("#!/bin/sh\nread x <fifo\n")])
        os.mkfifo(self.world.path("fifo"))
        self.wait_for(lambda: [r for r in self.world.records() if r["ev"] == "start"])
        with open(f"/proc/{job.pid}/status", encoding="utf-8") as file:
            usage = dict(line.split(":", 1) for line in file)
        with open(self.world.path("fifo"), "w", encoding="utf-8"):
            pass
        job.wait(timeout=30)
        self.assertEqual(usage["Threads"].strip(), "1")
        self.assertLess(int(usage["VmPeak"].split()[0]), 64 * 1024)
        self.assertLess(int(usage["VmHWM"].split()[0]), 12 * 1024)


if __name__ == "__main__":
    unittest.main()
