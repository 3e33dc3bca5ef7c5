#!/usr/bin/env python3
"""srun with the local launcher: exit codes, messages, output, files, environment, signals, and what
is left when something is killed.

usage: srun_local_test.py BIN_DIR
"""
import collections
import hashlib
import json
import os
import re
import resource
import signal
import subprocess
import sys
import time
import unittest

from srun_world import World, pace, wait_until

BIN = os.path.abspath(sys.argv.pop(1))
LOCAL = "launcher: local\nkill_wait: 2s\n"
BOTH = "echo out $SLURM_PROCID; echo err $SLURM_PROCID >&2"


def lines(text):
    return sorted(text.splitlines())


class Base(unittest.TestCase):
    def setUp(self):
        # node001 has three slots and node002 one, as in the recorded Slurm.
        self.world = World(BIN, ["node001", "node002"], LOCAL, tasks_per_node=[3, 1])
        self.addCleanup(self.world.close)
        path = os.path.join(self.world.job_dir, "layout.json")
        with open(path, encoding="utf-8") as file:
            layout = json.load(file)
        for node, slots in zip(layout["nodes"], (3, 1)):
            node["slots"] = slots
        self.world.write(path, json.dumps(layout))

    def run_step(self, *words, **kwargs):
        return self.world.run(*words, **kwargs)

    def file(self, name):
        with open(os.path.join(self.world.work, name), encoding="utf-8") as file:
            return file.read()


class Ends(Base):
    def ends(self, err):
        """Counter of (task, reason) out of the messages, which may be grouped anyhow."""
        out = collections.Counter()
        for line in err.splitlines():
            match = re.fullmatch(r"srun: error: (node00\d): tasks? ([\d,-]+): (.*)", line)
            if not match:
                out[line] += 1
                continue
            for part in match[2].split(","):
                first, _, last = part.partition("-")
                for rank in range(int(first), int(last or first) + 1):
                    out[(match[1], rank, match[3])] += 1
        return out

    def test_codes_and_messages(self):
        forced = "srun: Force Terminated StepId=4711.{}"
        cases = [
            ("exit 3", 1, 3, [("node001", 0, "Exited with exit code 3")]),
            ("exit $SLURM_PROCID", 4, 3, [("node001", 1, "Exited with exit code 1"),
                                          ("node001", 2, "Exited with exit code 2"),
                                          ("node002", 3, "Exited with exit code 3")]),
            ("exit 255", 1, 255, [("node001", 0, "Exited with exit code 255")]),
            ("exit 137", 1, 137, [("node001", 0, "Exited with exit code 137")]),
            ("kill -TERM $$", 1, 143, [("node001", 0, "Terminated"), forced]),
            ("kill -INT $$", 1, 130, [("node001", 0, "Interrupt")]),
            ("kill -HUP $$", 1, 129, [("node001", 0, "Hangup")]),
            ("kill -USR1 $$", 1, 138, [("node001", 0, "User defined signal 1")]),
            ("kill -9 $$", 4, 137, [("node001", rank, "Killed") for rank in range(3)] +
             [("node002", 3, "Killed"), forced]),
        ]
        for step, (script, tasks, want, ends) in enumerate(cases):
            code, out, err = self.run_step("-n", str(tasks), "sh", "-c", script)
            self.assertEqual((code, out), (want, ""), script)
            want_ends = collections.Counter(
                end.format(step) if isinstance(end, str) else end for end in ends)
            self.assertEqual(self.ends(err), want_ends, script)

    def test_programs_that_cannot_run(self):
        self.world.write(os.path.join(self.world.work, "nox"), "")
        for program, want, shown, why in (
                ("nosuchcmd_x", 2, "nosuchcmd_x", "No such file or directory"),
                ("/no/such", 2, "/no/such", "No such file or directory"),
                ("./nosuch", 2, self.world.work + "/./nosuch", "No such file or directory"),
                ("./nox", 13, self.world.work + "/./nox", "Permission denied")):
            code, out, err = self.run_step("-n1", program)
            self.assertEqual((code, out), (want, ""))
            self.assertEqual(err, f"slurmstepd-node001: error: execve(): {shown}: {why}\n"
                                  f"srun: error: node001: task 0: Exited with exit code {want}\n")

    def test_others_go_on_after_a_bad_exit(self):
        code, out, err = self.run_step(
            "-n2", "sh", "-c", "[ $SLURM_PROCID = 1 ] && exit 1; sleep 1; echo survived")
        self.assertEqual((code, out), (1, "survived\n"))
        self.assertEqual(err, "srun: error: node001: task 1: Exited with exit code 1\n")

    def test_kill_on_bad_exit_ends_the_others_and_keeps_the_first_code(self):
        script = "[ $SLURM_PROCID = 1 ] && exit 7; exec sleep 50"
        begin = time.monotonic()
        for words, env in ((["-K"], {}), (["--kill-on-bad-exit=1"], {}),
                           ([], {"SLURM_KILL_BAD_EXIT": "1"})):
            code, _, err = self.run_step("-n4", *words, "sh", "-c", script, env=env)
            self.assertEqual(code, 7)
            self.assertIn("srun: error: node001: task 1: Exited with exit code 7\n", err)
            self.assertRegex(err, r"\*\*\* STEP 4711\.\d ON node001 CANCELLED AT [\dT:-]+ \*\*\*")
            self.assertIn(": Terminated\n", err)
        self.assertLess(time.monotonic() - begin, pace.limit(40))
        code, out, _ = self.run_step("-n2", "-K0", "sh", "-c",
                                     "[ $SLURM_PROCID = 1 ] && exit 7; sleep 1; echo on",
                                     env={"SLURM_KILL_BAD_EXIT": "1"})
        self.assertEqual((code, out), (7, "on\n"))

    def test_kill_on_bad_exit_ends_in_kill(self):
        code, _, err = self.run_step("-n2", "-K", "sh", "-c", "[ $SLURM_PROCID = 1 ] && sleep 1 && "
                                     "exit 7; trap '' TERM; while :; do sleep 1; done", timeout=60)
        self.assertEqual(code, 7)
        self.assertIn("task 0: Killed", err)

    def test_wait_ends_the_others(self):
        code, _, err = self.run_step("-n4", "-W", "1", "sh", "-c",
                                     "[ $SLURM_PROCID = 1 ] && exit 0; exec sleep 50")
        self.assertEqual(code, 137)
        for text in ("First task exited 1s ago", "StepId=4711.0 tasks 0,2-3: running",
                     "StepId=4711.0 task 1: exited"):
            self.assertIn(f"srun: {text}\n", err)

    def test_refusals(self):
        for words, want, text in (
                (["-n99", "true"], 1, "srun: error: Unable to create step for job 4711: More "
                 "processors requested than permitted\n"),
                (["-N3", "true"], 1, "srun: error: Only allocated 2 nodes asked for 3\n"),
                (["-N", "x", "true"], 255, 'srun: error: "x" is not a valid node count\n'),
                (["-c", "x", "true"], 1, 'srun: error: Invalid numeric value "x" for '
                 "--cpus-per-task.\n"),
                (["-w", "node099", "true"], 1, "srun: error: Unable to create step for job 4711: "
                 "Requested node configuration is not available\n"),
                (["-n1"], 1, "srun: fatal: No command given to execute.\n"),
                (["-y", "true"], 255, "srun: invalid option -- 'y'\nTry \"srun --help\" for more "
                 "information\n"),
                (["-n2", "-o", ".", "true"], 1, "srun: error: Could not open stdout file: Is a "
                 "directory\n")):
            self.assertEqual(self.run_step(*words), (want, "", text), words)

    def test_what_follows_the_program_is_the_programs(self):
        self.assertEqual(self.run_step("-n1", "echo", "--version", "-x"), (0, "--version -x\n", ""))
        self.assertEqual(self.run_step("-n1", "--", "echo", "-K"), (0, "-K\n", ""))

    def test_mpi(self):
        self.assertEqual(self.run_step("--mpi=none", "-n1", "true"), (0, "", ""))
        self.assertEqual(self.run_step("--mpi=list"), (0, "MPI plugin types are...\n\tnone\n", ""))
        code, _, err = self.run_step("--mpi=bogus", "-n1", "true")
        self.assertEqual(code, 1)
        self.assertTrue(err.endswith("srun: error: Invalid MPI type 'bogus', --mpi=list for "
                                     "acceptable types\n"))


class Output(Base):
    def test_labels(self):
        self.assertEqual(lines(self.run_step("-n4", "-l", "printf", "abc")[1]),
                         ["0: abc", "1: abc", "2: abc", "3: abc"])
        self.assertEqual(self.run_step("-n1", "-l", "printf", "a\\nb\\n\\nc")[1],
                         "0: a\n0: b\n0: \n0: c\n")
        self.assertEqual(self.run_step("-n1", "-l", "sh", "-c", "printf a; sleep .4; echo b")[1],
                         "0: ab\n")
        self.assertEqual(self.run_step("-n1", "-l", "-u", "sh", "-c",
                                       "printf a; sleep .4; echo b")[1], "0: a\n0: b\n")
        code, out, _ = self.run_step("-O", "-n12", "sh", "-c", "echo x", env={"SLURM_LABELIO": "1"})
        self.assertEqual((code, lines(out)), (0, sorted(f"{i:2}: x" for i in range(12))))

    def test_bytes_are_exact(self):
        self.assertEqual(self.run_step("-n1", "printf", "abc"), (0, "abc", ""))
        blob = os.path.join(self.world.work, "blob")
        data = os.urandom(5_000_000) + b"\n" * 1000 + b"x" * 200000 + b"\0end without line feed"
        with open(blob, "wb") as file:
            file.write(data)
        process = self.world.start("-n1", "sh", "-c", "cat blob; cat blob >&2")
        out, err = process.communicate(timeout=120)
        for got in (out, err):
            self.assertEqual(hashlib.sha256(got).digest(), hashlib.sha256(data).digest())

    def test_many_lines_of_many_ranks_arrive_whole(self):
        code, out, _ = self.run_step("-n4", "-l", "seq", "20000")
        self.assertEqual(code, 0)
        got = collections.Counter(out.splitlines())
        self.assertEqual(got, collections.Counter(f"{r}: {i}" for r in range(4)
                                                  for i in range(1, 20001)))

    def test_files(self):
        cases = [
            (["-o", "x"], "", "", {"x": [f"{w} {i}" for w in ("out", "err") for i in range(3)]}),
            (["-o", "x", "-e", "y"], "", "", {"x": ["out 0", "out 1", "out 2"],
                                              "y": ["err 0", "err 1", "err 2"]}),
            (["-o", "o-%2t"], "", "", {f"o-0{i}": [f"out {i}", f"err {i}"] for i in range(3)}),
            (["-l", "-o", "l-%t"], "", "", {f"l-{i}": [f"{i}: out {i}", f"{i}: err {i}"]
                                            for i in range(3)}),
            (["-e", "none"], "out 0,out 1,out 2", "", {}),
            (["-o", "1"], "out 1,err 1", "", {}),
            (["-e", "1"], "out 0,out 1,out 2", "err 1", {}),
            (["-o", "all"], "out 0,out 1,out 2", "err 0,err 1,err 2", {}),
            (["-o", "%j.%s.%x"], "", "", None),
        ]
        for step, (words, out, err, files) in enumerate(cases):
            code, got_out, got_err = self.run_step("-n3", *words, "sh", "-c", BOTH)
            self.assertEqual(code, 0, got_err)
            self.assertEqual(lines(got_out), sorted(out.split(",")) if out else [], words)
            self.assertEqual(lines(got_err), sorted(err.split(",")) if err else [], words)
            for name, text in (files if files is not None else
                               {f"4711.{step}.testjob": ["out 0", "out 1", "out 2", "err 0",
                                                         "err 1", "err 2"]}).items():
                self.assertEqual(lines(self.file(name)), sorted(text), words)

    def test_shared_file_gets_every_line_and_open_mode_counts(self):
        script = "i=0; while [ $i -lt 500 ]; do echo line; i=$((i+1)); done"
        for mode, want in (("truncate", 2000), ("append", 4000), ("truncate", 2000)):
            code, _, err = self.run_step("-n4", "-o", "x", "--open-mode", mode, "sh", "-c", script)
            self.assertEqual((code, err), (0, ""))
            self.assertEqual(self.file("x"), "line\n" * want)

    def test_a_file_that_cannot_be_opened_is_the_tasks_failure(self):
        code, out, err = self.run_step("-n2", "-o", "/no/such-%t", "echo", "x")
        self.assertEqual((code, out), (1, ""))
        self.assertIn("/no/such-", err)

    def test_a_closed_reader_ends_the_step(self):
        done = subprocess.run(["bash", "-c", '"$0" -n1 yes | head -1; echo ${PIPESTATUS[0]}',
                               os.path.join(BIN, "srun")], env=self.world.env, timeout=60,
                              capture_output=True, text=True, check=False)
        self.assertEqual(done.stdout, "y\n141\n")

    def test_a_full_disk_is_told_once(self):
        with open("/dev/full", "w", encoding="utf-8") as full:
            code, _, err = self.run_step("-n1", "seq", "100000", stdout=full)
        self.assertEqual((code, err),
                         (1, "srun: error: write error: stdout: No space left on device\n"))


    def test_a_full_disk_is_told_while_the_tasks_go_on(self):
        process = self.world.start("-n2", "-o", "/dev/full", "sh", "-c",
                                   "echo x; while [ ! -e go ]; do sleep .1; done")
        self.assertEqual(process.stderr.readline(),
                         b"srun: error: write error: /dev/full: No space left on device\n")
        self.world.write(os.path.join(self.world.work, "go"), "")
        self.assertEqual(process.communicate(timeout=60), (b"", b""))
        self.assertEqual(process.returncode, 1)

    def test_a_disk_that_fills_up_ends_the_step_and_leaves_no_process(self):
        # The file system ends with its name space.
        script = ('mkdir small && mount -t tmpfs -o size=1m none small && '
                  'exec "$0" -n4 "$@" sh -c "head -c 3000000 /dev/zero || exit 6; exec sleep 0.7543"')
        for words, want, text in (
                (["-o", "small/all"], 1, "srun: error: write error: {}/small/all: No space left "
                 "on device\n"),
                (["-o", "small/%t"], 6, "srun: error: node001: tasks 0-2: Exited with exit code 6\n")):
            done = subprocess.run(["unshare", "-m", "bash", "-c", script,
                                   os.path.join(BIN, "srun"), *words], env=self.world.env,
                                  cwd=self.world.work, timeout=60, capture_output=True, text=True,
                                  stdin=subprocess.DEVNULL, check=False)
            self.assertEqual((done.returncode, done.stdout), (want, ""), done.stderr)
            self.assertIn(text.format(self.world.work), done.stderr)
            left = subprocess.run(["pgrep", "-f", "[s]leep 0.7543"], check=False)
            self.assertEqual(left.returncode, 1)
            os.rmdir(os.path.join(self.world.work, "small"))


class Environment(Base):
    def test_identity_of_ranks(self):
        code, out, _ = self.run_step("-n4", "sh", "-c", "echo $SLURM_PROCID $SLURM_LOCALID "
                                     "$SLURM_NODEID $SLURM_STEP_ID $SLURM_NTASKS "
                                     "$SLURM_STEP_NODELIST $SLURMD_NODENAME $SLURM_GTIDS")
        self.assertEqual(code, 0)
        self.assertEqual(lines(out), [
            f"{r} {r} 0 0 4 node[001-002] node001 0,1,2" for r in range(3)] +
            ["3 0 1 0 4 node[001-002] node002 3"])

    def test_export(self):
        show = "echo ${FOO-unset} ${BAR-unset}"
        for words, want in (([], "1 unset"), (["--export=NONE"], "unset unset"),
                            (["--export=ALL,BAR=x"], "1 x"), (["--export=BAR=y"], "unset y"),
                            (["--export=FOO"], "1 unset")):
            code, out, err = self.run_step("-n1", *words, "/bin/sh", "-c", show, env={"FOO": "1"})
            self.assertEqual((code, out), (0, want + "\n"), (words, err))

    def test_4_MiB_and_bytes_that_are_no_text(self):
        def more_arguments():  # the kernel's limit is a quarter of the stack's
            resource.setrlimit(resource.RLIMIT_STACK, (64 << 20, resource.RLIM_INFINITY))
        env = {f"BIG{i}": "x" * 100000 for i in range(42)}
        env = {**{os.fsencode(k): os.fsencode(v) for k, v in {**self.world.env, **env}.items()},
               b"RAW": b"\xff\xfe\x80"}
        process = subprocess.Popen([os.path.join(BIN, "srun"), "-n1", "sh", "-c",
                                    "echo ${#BIG41}; printf %s \"$RAW\""], env=env,
                                   stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                                   preexec_fn=more_arguments)
        out, err = process.communicate(timeout=60)
        self.assertEqual((process.returncode, out, err), (0, b"100000\n\xff\xfe\x80", b""))

    def test_chdir(self):
        os.mkdir(os.path.join(self.world.work, "sub"))
        self.assertEqual(self.run_step("-n1", "pwd")[1], self.world.work + "\n")
        self.assertEqual(self.run_step("-n1", "-D", "sub", "pwd")[1], self.world.work + "/sub\n")
        code, out, err = self.run_step("-n1", "-D", "/no/such", "pwd")
        self.assertEqual((code, out), (1, ""))
        self.assertIn("/no/such", err)

    def test_another_host_of_the_job_is_told_from_no_job(self):
        os.remove(os.path.join(self.world.job_dir, "layout.json"))
        self.assertEqual(self.run_step("-n1", "true"), (
            1, "", "srun: error: srun must run on the master host of job 4711\n"))

    def test_standalone(self):
        env = {k: v for k, v in self.world.env.items() if k in ("PATH", "HOME")}
        def alone(config, *words):
            path = self.world.write(os.path.join(self.world.dir, "alone.yaml"), config)
            done = subprocess.run([os.path.join(BIN, "srun"), *words], capture_output=True,
                                  text=True, timeout=60, check=False, stdin=subprocess.DEVNULL,
                                  env={**env, "SLURM_SHIM_CONFIG": path})
            return done.returncode, done.stdout, done.stderr
        host = os.uname().nodename.split(".")[0]
        code, out, err = alone("", "-n", "4", "-l", "sh", "-c", "echo $SLURMD_NODENAME")
        self.assertEqual((code, lines(out), err), (0, [f"{i}: {host}" for i in range(4)], ""))
        self.assertEqual(alone("standalone: reject\n", "true"), (
            1, "", "srun: error: not inside a slurm-shim allocation (standalone: reject)\n"))
        code, _, err = alone("standalone: allocate\n", "true")
        self.assertEqual(code, 1)
        self.assertIn("standalone: local", err)
        inner = os.path.join(BIN, "srun") + " -n1 echo inner"
        self.assertEqual(alone("", "-n1", "sh", "-c", inner)[:2], (0, "inner\n"))


class Signals(Base):
    def sleeper(self, script, *words):
        """A step of two ranks that have said that they run."""
        process = self.world.start("-n2", *words, "sh", "-c", "touch ready$SLURM_PROCID; " + script)
        wait_until(lambda: all(os.path.exists(os.path.join(self.world.work, f"ready{i}"))
                               for i in range(2)), what="ranks")
        return process

    def gone(self, marker):
        def nobody():
            for pid in os.listdir("/proc"):
                try:
                    with open(f"/proc/{pid}/cmdline", "rb") as file:
                        if marker.encode() in file.read():
                            return False
                except OSError:
                    continue
            return True
        wait_until(nobody, 15, f"end of {marker}")

    def test_signals_reach_the_ranks(self):
        for number in ("INT", "TERM", "HUP", "USR1", "USR2", "QUIT"):
            process = self.sleeper(f"trap 'echo got; exit 6' {number}; while :; do sleep .1; done")
            time.sleep(0.3)  # the trap comes after the file
            process.send_signal(getattr(signal, "SIG" + number))
            out, _ = process.communicate(timeout=60)
            self.assertEqual((process.returncode, out), (6, b"got\ngot\n"), number)
            for i in range(2):
                os.remove(os.path.join(self.world.work, f"ready{i}"))

    def test_one_interrupt_is_told(self):
        process = self.sleeper("trap '' INT; sleep 2")
        time.sleep(0.3)
        process.send_signal(signal.SIGINT)
        out, err = process.communicate(timeout=60)
        self.assertEqual((process.returncode, err.decode()),
                         (0, "srun: interrupt (one more within 1 sec to abort)\n"
                             "srun: StepId=4711.0 tasks 0-1: running\n"))

    def test_two_interrupts_kill(self):
        process = self.sleeper("trap '' INT TERM; while :; do sleep .2; done")
        time.sleep(0.3)
        process.send_signal(signal.SIGINT)
        time.sleep(0.2)
        process.send_signal(signal.SIGINT)
        _, err = process.communicate(timeout=60)
        self.assertEqual(process.returncode, 137)
        for text in ("srun: sending Ctrl-C to StepId=4711.0\n",
                     "srun: forcing job termination\n",
                     "srun: Job step aborted: Waiting up to 4 seconds for job step to finish.\n"):
            self.assertIn(text, err.decode())

    def test_a_killed_srun_leaves_nothing(self):
        process = self.sleeper("setsid sleep 7531 & sleep 7533")
        process.kill()
        process.communicate(timeout=60)
        for marker in ("7531", "7533"):
            self.gone("sleep\0" + marker)

    def test_a_stopped_reader_does_not_make_srun_deaf(self):
        read, write = os.pipe()
        try:
            process = self.world.start("-n1", "sh", "-c", "touch ready; exec yes", stdout=write)
            os.close(write)
            wait_until(lambda: os.path.exists(os.path.join(self.world.work, "ready")))
            time.sleep(1)  # pipes and queues fill up
            process.send_signal(signal.SIGTERM)
            time.sleep(0.5)
            os.close(read)
            read = -1
            process.communicate(timeout=60)
            self.assertEqual(process.returncode, 141)
        finally:
            if read >= 0:
                os.close(read)

    def test_requests_in_the_jobs_folder(self):
        process = self.sleeper("trap 'echo usr1' USR1; while :; do sleep .1; done")
        time.sleep(0.3)
        requests = os.path.join(self.world.job_dir, "steps", "0.req")
        with open(os.path.join(self.world.job_dir, "steps", "0.json"), encoding="utf-8") as file:
            step = json.load(file)
        self.assertEqual((step["step"], step["pid"], step["hosts"], step["ntasks"]),
                         (0, process.pid, ["node001"], 2))
        for text in ("signal 10\n", "end\n"):
            with open(requests, "a", encoding="utf-8") as file:
                file.write(text)
            time.sleep(1)
        out, err = process.communicate(timeout=60)
        self.assertEqual((process.returncode, out), (143, b"usr1\nusr1\n"), err)
        self.assertEqual(os.listdir(os.path.join(self.world.job_dir, "steps")), [])


if __name__ == "__main__":
    unittest.main(verbosity=2)
