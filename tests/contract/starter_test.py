#!/usr/bin/env python3
"""The real starter_method.sh against what the engine, the launcher and the hook give it.

usage: starter_test.py BIN_DIR
"""
import os
import subprocess
import sys
import tempfile
import unittest

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from job_world import STARTER, World, write  # noqa: E402

BIN = os.path.abspath(sys.argv.pop(1))
SHIM = os.path.join(BIN, "slurm-shim")

# Prints its own name, arguments and environment, exactly.
WITNESS = r"""#!/usr/bin/python3 -I
import os, sys
out = [b"argv"] + [os.fsencode(a) for a in sys.argv[1:]] + [b"env"]
out += sorted(k + b"=" + v for k, v in os.environb.items())
sys.stdout.buffer.write(b"\0".join(out))
"""


class Starter(unittest.TestCase):
    def setUp(self):
        self.world = World(SHIM)
        self.addCleanup(self.world.close)
        self.witness = self.world.script(WITNESS, "witness")

    def start(self, *words, env=None, stdin=b""):
        return subprocess.run([STARTER, *words], env=env or self.world.env, input=stdin,
                              capture_output=True, cwd=self.world.wd, timeout=60)

    def seen(self, done):
        """(arguments, environment) that the witness saw."""
        self.assertEqual((done.returncode, done.stderr), (0, b""))
        fields = done.stdout.split(b"\0")
        self.assertEqual(fields[0], b"argv")
        at = fields.index(b"env")
        return fields[1:at], dict(f.split(b"=", 1) for f in fields[at + 1:])

    # Rules 1 and 2: tasks of a parallel job.

    def test_a_stepper_launch_is_started_untouched(self):
        # The launcher's argv after qrsh's own words (post; token by -v without a value). The
        # folder of a hook is there, as on the master host, and must not matter.
        self.world.hook("export SLURM_JOB_ID='999'\n")
        self.world.batch()
        env = dict(self.world.env, SLURM_SHIM_TOKEN="t0ken")
        args, seen = self.seen(self.start(self.witness, "stepper", "--envelope", "QQ==", env=env))
        self.assertEqual(args, [b"stepper", b"--envelope", b"QQ=="])
        self.assertEqual(seen[b"SLURM_SHIM_TOKEN"], b"t0ken")
        self.assertNotIn(b"SLURM_JOB_ID", seen)

    def test_only_that_exact_form_is_a_stepper_launch(self):
        self.world.hook("export SLURM_JOB_ID='999'\n")
        for words in (["stepper", "--envelop", "QQ=="], ["steppers", "--envelope", "QQ=="],
                      ["--envelope", "stepper"], ["stepper"]):
            args, seen = self.seen(self.start(self.witness, *words))
            self.assertEqual(args, [w.encode() for w in words])
            self.assertEqual(seen[b"SLURM_JOB_ID"], b"999")

    def test_a_foreign_task_is_started_untouched(self):
        self.world.hook("export SLURM_JOB_ID='999'\n")
        write(self.world.job_file("environment.failed"), "broken\n")
        env = dict(self.world.env, SGE_PE_TASK_ID="1.n1", SGE_STARTER_SHELL_PATH="",
                   SLURM_SHIM_REQ="v1;x")
        args, seen = self.seen(self.start(self.witness, "orted", "--x", env=env))
        self.assertEqual(args, [b"orted", b"--x"])
        self.assertEqual(seen[b"SLURM_SHIM_REQ"], b"v1;x")

    def test_a_foreign_task_is_known_by_its_spool_folder(self):
        # 8.1.9 sets no SGE_PE_TASK_ID; a task's folder lies below that of its job. On the master
        # host the job's own environment is in sight.
        self.world.hook("export SLURM_JOB_ID='999'\n")
        for spool, is_task in (("/spool/n2/active_jobs/57.1/9.n2", True),
                               ("/spool/n2/active_jobs/57.1", False)):
            env = dict(self.world.env, SGE_JOB_SPOOL_DIR=spool, SGE_STARTER_SHELL_PATH="",
                       SLURM_SHIM_REQ="v1;x")
            args, seen = self.seen(self.start(self.witness, "orted", "--x", env=env))
            self.assertEqual(args, [b"orted", b"--x"], spool)
            self.assertEqual(b"SLURM_JOB_ID" not in seen, is_task, spool)
        os.unlink(self.world.job_file("environment"))
        env["SGE_JOB_SPOOL_DIR"] = "/spool/n2/active_jobs/57.1/9.n2"
        args, _ = self.seen(self.start(self.witness, "orted", env=env))
        self.assertEqual(args, [b"orted"])

    # Rule 3: the queue's start modes.

    def test_start_modes_of_a_plain_job(self):
        shell = self.world.script(WITNESS, "my shell")
        # Scripts lie in the execution daemon's spool folder; other words are a command.
        spooled = "/var/spool/ge/n1/job_scripts/4711"
        cases = (("unix_behavior", shell, [self.witness, "a b", ""], [b"a b", b""]),
                 ("unix_behavior", "", [self.witness, "x"], [b"x"]),
                 ("posix_compliant", "", [self.witness, "x"], [b"x"]),
                 ("posix_compliant", shell, [spooled, "x"], [spooled.encode(), b"x"]),
                 ("posix_compliant", shell, [self.witness, "a b"], [b"a b"]),
                 ("script_from_stdin", shell, ["-s", "x", ""], [b"-s", b"x", b""]))
        for mode, path, words, expected in cases:
            env = dict(self.world.env, SGE_STARTER_SHELL_START_MODE=mode,
                       SGE_STARTER_SHELL_PATH=path)
            args, _ = self.seen(self.start(*words, env=env))
            self.assertEqual(args, expected, (mode, path))

    def test_script_from_stdin_reads_the_script(self):
        env = dict(self.world.env, SGE_STARTER_SHELL_START_MODE="script_from_stdin",
                   SGE_STARTER_SHELL_PATH="/bin/sh")
        self.world.hook()
        done = self.start("-s", "a b", env=env, stdin=b'echo "$1 $SLURM_JOB_ID"\n')
        self.assertEqual((done.returncode, done.stdout, done.stderr), (0, b"a b 4711\n", b""))

    # Rules 4 to 6: what the hook left.

    def test_a_plain_job_runs_as_without_us(self):
        for words in ([], ["", "a  b", "*", "$HOME", "-n", "--", "\n", "'\""],
                      ["-x"] * 50):
            args, seen = self.seen(self.start(self.witness, *words))
            self.assertEqual(args, [w.encode() for w in words])
            self.assertFalse([name for name in seen if name.lower().startswith(b"_slurm")])

    def test_the_exit_status_is_the_jobs(self):
        self.world.hook()
        for code in (0, 1, 99, 100, 255):
            self.assertEqual(self.start("/bin/sh", "-c", f"exit {code}").returncode, code)

    def test_a_job_of_sbatch_without_the_hook_fails_clearly(self):
        env = dict(self.world.env, SLURM_SHIM_REQ="v1;x")
        done = self.start(self.witness, env=env)
        self.assertEqual((done.returncode, done.stdout), (1, b""))
        self.assertEqual(done.stderr, b"slurm-shim: error: the PE hook did not run "
                                      b"(queue's PE has no start_proc_args?)\n")

    def test_the_sentinel_ends_the_job_with_its_reason(self):
        self.world.hook()
        write(self.world.job_file("environment.failed"), "PE_HOSTFILE: no line at all\n")
        done = self.start(self.witness)
        self.assertEqual((done.returncode, done.stdout, done.stderr),
                         (1, b"", b"slurm-shim: error: PE_HOSTFILE: no line at all\n"))
        write(self.world.job_file("environment.failed"), "")
        self.assertEqual(self.start(self.witness).stderr,
                         b"slurm-shim: error: the PE hook failed\n")

    def assert_ignored(self, path):
        done = self.start(self.witness)
        self.assertEqual(done.stderr.decode(), f"slurm-shim: warning: {path} is not private to "
                                               "this user, ignored\n")
        self.assertNotIn(b"SLURM_JOB_ID=4711", done.stdout)
        self.assertEqual(done.returncode, 0)
        env = dict(self.world.env, SLURM_SHIM_REQ="v1;x")
        self.assertEqual(self.start(self.witness, env=env).returncode, 1)

    def test_unsafe_files_are_as_if_missing(self):
        self.world.hook()
        environment = self.world.job_file("environment")
        for mode in (0o620, 0o602, 0o666):
            os.chmod(environment, mode)
            self.assert_ignored(environment)
        os.chmod(environment, 0o600)
        os.rename(environment, environment + ".real")
        os.symlink(environment + ".real", environment)
        self.assert_ignored(environment)
        os.unlink(environment)
        os.symlink("/nonexistent", environment)
        self.assert_ignored(environment)
        os.unlink(environment)
        os.mkfifo(environment, 0o600)
        self.assert_ignored(environment)
        os.unlink(environment)
        os.mkdir(environment, 0o700)
        self.assert_ignored(environment)

    def test_an_unsafe_batch_json_or_sentinel_counts_too(self):
        for name in ("batch.json", "environment.failed"):
            world = self.world
            world.close()
            self.world = World(SHIM)
            self.addCleanup(self.world.close)
            self.witness = self.world.script(WITNESS, "witness")
            self.world.hook()
            path = write(self.world.job_file(name), "{}", 0o646)
            self.assert_ignored(path)

    def test_an_unsafe_folder_is_as_if_missing(self):
        self.world.hook()
        os.chmod(self.world.j, 0o770)
        self.assert_ignored(self.world.j)
        os.chmod(self.world.j, 0o700)
        os.rename(self.world.j, self.world.j + ".real")
        os.symlink(self.world.j + ".real", self.world.j)
        self.assert_ignored(self.world.j)

    @unittest.skipUnless(os.geteuid() == 0, "only root can give files away")
    def test_files_of_another_user_are_as_if_missing(self):
        self.world.hook()
        os.chown(self.world.job_file("environment"), 65534, 65534)
        self.assert_ignored(self.world.job_file("environment"))
        os.chown(self.world.job_file("environment"), 0, 0)
        os.chown(self.world.j, 65534, 65534)
        self.assert_ignored(self.world.j)

    # Rule 7 without a supervisor: a job from plain qsub.

    def test_the_hooks_environment_reaches_a_plain_job(self):
        hostile = "a'\\''b $(touch /nonexistent/x) `id` \"\\n\n*"
        self.world.hook("unset SLURM_OLD\nexport SLURM_X='" + hostile + "'\n")
        env = dict(self.world.env, SLURM_OLD="1", SLURM_SHIM_REQ="v1;bad")
        args, seen = self.seen(self.start(self.witness, "a b", env=env))
        self.assertEqual(args, [b"a b"])
        self.assertEqual(seen[b"SLURM_X"].decode(), hostile.replace("'\\''", "'"))
        self.assertNotIn(b"SLURM_OLD", seen)
        self.assertNotIn(b"SLURM_SHIM_REQ", seen)

    def test_bash_env_functions_and_odd_names_pass_untouched(self):
        with tempfile.NamedTemporaryFile("w", suffix=".sh") as poison:
            poison.write("echo poisoned; exit 7\n")
            poison.flush()
            odd = {"BASH_ENV": poison.name, "ENV": poison.name, "a.b": "1", "x-y": "2",
                   "BASH_FUNC_module%%": "() {  echo \"module $*\"\n}",
                   "CDPATH": "/", "POSIXLY_CORRECT": "",
                   "file": "exported", "status": "exported", "i": "exported", "files": "e",
                   "_slurm_shim_unrelated": "kept"}
            self.world.hook()
            _, seen = self.seen(self.start(self.witness, env=dict(self.world.env, **odd)))
        for name in odd:
            self.assertEqual(seen.get(name.encode()), odd[name].encode(), name)
        self.assertEqual(seen[b"SLURM_JOB_ID"], b"4711")

    def test_stdin_and_stdout_stay_the_jobs(self):
        self.world.hook()
        done = self.start("/bin/cat", stdin=b"\x00\xffdata without end")
        self.assertEqual((done.returncode, done.stdout, done.stderr),
                         (0, b"\x00\xffdata without end", b""))

    def test_a_missing_program_is_127(self):
        self.world.hook()
        self.assertEqual(self.start("/nonexistent/program").returncode, 127)


if __name__ == "__main__":
    unittest.main()
