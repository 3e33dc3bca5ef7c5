#!/usr/bin/env python3
"""The multi-call front: dispatch by link and by word, version rules, streams, exit codes.

usage: front_test.py BIN_DIR
"""
import os
import shutil
import subprocess
import sys
import tempfile
import unittest

BIN = os.path.abspath(sys.argv.pop(1))
USER_COMMANDS = ["sacct", "sacctmgr", "salloc", "sattach", "sbatch", "sbcast", "scancel", "scontrol", "sdiag",
                 "sinfo", "sprio", "squeue", "sreport", "srun", "sshare", "sstat", "strigger"]


def run(words, **kwargs):
    env = {"PATH": "/usr/bin:/bin", "HOME": "/nonexistent"}
    env.update(kwargs.pop("env", {}))
    return subprocess.run(words, capture_output=True, text=True, timeout=60, env=env,
                          stdin=subprocess.DEVNULL, **kwargs)


class Front(unittest.TestCase):
    def shim(self, *words, **kwargs):
        return run([os.path.join(BIN, "slurm-shim"), *words], **kwargs)

    def test_version_of_commands_is_slurms_line_and_nothing_else(self):
        for name in USER_COMMANDS:
            for flag in ("-V", "--version"):
                for words in ([os.path.join(BIN, name), flag],
                              [os.path.join(BIN, "slurm-shim"), name, flag]):
                    done = run(words)
                    self.assertEqual((done.returncode, done.stdout, done.stderr),
                                     (0, "slurm 24.05.0\n", ""), words)

    def test_version_of_the_root(self):
        for word in ("--version", "-V", "version"):
            done = self.shim(word)
            self.assertRegex(done.stdout, r"\Aslurm-shim \d+\.\d+\.\d+ \(slurm 24\.05\.0\)\n\Z")
            self.assertEqual((done.returncode, done.stderr), (0, ""))

    def test_version_follows_the_config_and_survives_a_broken_one(self):
        with tempfile.TemporaryDirectory() as folder:
            config = os.path.join(folder, "config.yaml")
            for text, expected in (("compat_version: '23.11.4'\n", "slurm 23.11.4\n"),
                                   ("compat_version: [\n", "slurm 24.05.0\n")):
                with open(config, "w", encoding="utf-8") as file:
                    file.write(text)
                done = run([os.path.join(BIN, "squeue"), "--version"],
                           env={"SLURM_SHIM_CONFIG": config})
                self.assertEqual((done.returncode, done.stdout, done.stderr), (0, expected, ""))

    def test_no_command_and_unknown_command(self):
        for words, text in (([], "no command given"), (["foo"], 'unknown command "foo"')):
            done = self.shim(*words)
            self.assertEqual((done.returncode, done.stdout, done.stderr),
                             (1, "", f"slurm-shim: error: {text}\n"))

    def test_help_lists_the_commands(self):
        done = self.shim("--help")
        self.assertEqual(done.returncode, 0)
        for name in USER_COMMANDS + ["env", "install"]:
            self.assertRegex(done.stdout, rf"(?m)^  {name} ")
        self.assertNotIn("rank-exec", done.stdout)

    def test_every_command_has_help_and_usage_on_stdout(self):
        for name in USER_COMMANDS:
            for flag in ("--help", "--usage"):
                done = run([os.path.join(BIN, name), flag])
                self.assertEqual((done.returncode, done.stderr), (0, ""), (name, flag))
                self.assertIn(name, done.stdout)

    def test_links_are_relative_and_complete(self):
        names = self.shim("links").stdout.split()
        self.assertEqual(sorted(names),
                         sorted(USER_COMMANDS + ["slurm-shim-env", "slurm-shim-stepper"]))
        for name in names:
            self.assertEqual(os.readlink(os.path.join(BIN, name)), "slurm-shim")

    def test_links_never_replace_a_foreign_file(self):
        with tempfile.TemporaryDirectory() as folder:
            with open(os.path.join(folder, "squeue"), "w", encoding="utf-8") as file:
                file.write("real")
            done = self.shim("links", "--create", folder)
            self.assertEqual(done.returncode, 1)
            self.assertIn("squeue: exists and is not a link to slurm-shim", done.stderr)
            with open(os.path.join(folder, "squeue"), encoding="utf-8") as file:
                self.assertEqual(file.read(), "real")

    def test_a_renamed_binary_is_the_root(self):
        with tempfile.TemporaryDirectory() as folder:
            copy = os.path.join(folder, "shim-2")
            shutil.copy(os.path.join(BIN, "slurm-shim"), copy)
            self.assertEqual(run([copy, "srun", "--version"]).stdout, "slurm 24.05.0\n")

    def test_full_disk_is_told_and_a_closed_pipe_is_not(self):
        with open("/dev/full", "w", encoding="utf-8") as full:
            done = subprocess.run([os.path.join(BIN, "slurm-shim"), "--help"], stdout=full,
                                  stderr=subprocess.PIPE, text=True, timeout=60, check=False)
        self.assertEqual((done.returncode, done.stderr),
                         (1, "slurm-shim: error: write error: No space left on device\n"))
        script = 'trap "" PIPE; { "$0" --help; echo "rc=$?" >&2; } | true'
        done = run(["bash", "-c", script, os.path.join(BIN, "slurm-shim")])
        self.assertIn(done.stderr, ("rc=1\n", "rc=0\n"))  # 0 when the text fitted before true left

    def test_closed_standard_descriptors(self):
        done = run(["sh", "-c", '"$0" --version <&- 2>&-', os.path.join(BIN, "slurm-shim")])
        self.assertEqual(done.returncode, 0)
        self.assertTrue(done.stdout.startswith("slurm-shim "))


if __name__ == "__main__":
    unittest.main(verbosity=1)
