#!/usr/bin/env python3
"""sbatch with stand-ins for Grid Engine's tools: files of the state folder, what qsub gets, refusals.

usage: sbatch_test.py BIN_DIR
"""
import json
import os
import pathlib
import subprocess
import sys
import tempfile
import time
import unittest

BIN = os.path.abspath(sys.argv.pop(1))
TOOLS = str(pathlib.Path(__file__).resolve().parent.parent / "fakes" / "ge-bin")
CONFIG = """
default_partition: batch
partitions:
  batch:
    queue: batch.q
    pe_by_layout: {pe_slots: slurm-shim-smp, fixed: {1: slurm-shim-1, 2: slurm-shim-2}}
"""
POST = """#!/bin/bash
#SBATCH --partition=gpu
#SBATCH --nodes=4
#SBATCH --ntasks-per-node=1
#SBATCH --gpus-per-node=8

head=$(scontrol show hostnames | head -n1)
srun --ntasks-per-node=1 true
"""


class Sbatch(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory(prefix="sbatch-")
        self.addCleanup(self.folder.cleanup)
        self.root = pathlib.Path(self.folder.name)
        for name in ("home", "cwd", "engine"):
            (self.root / name).mkdir()
        self.state = self.root / "home/.local/state/slurm-shim/default"
        self.config = self.root / "config.yaml"
        self.config.write_text(CONFIG, encoding="utf-8")

    def sbatch(self, *words, stdin="", **env):
        self.env = {"PATH": "/usr/bin:/bin", "HOME": str(self.root / "home"), "USER": "u",
                    "SLURM_SHIM_GE_BIN": TOOLS, "SLURM_SHIM_CONFIG": str(self.config),
                    "FAKE_GE_DIR": str(self.root / "engine"),
                    "FAKE_GE_PES": "slurm-shim slurm-shim-1 slurm-shim-2 slurm-shim-smp"}
        self.env.update(env)
        return subprocess.run([BIN + "/sbatch", *words], input=stdin, capture_output=True, text=True,
                              timeout=120, env=self.env, cwd=self.root / "cwd")

    def accepted(self, *words, **more):
        done = self.sbatch(*words, **more)
        self.assertEqual(done.returncode, 0, done.stderr)
        job = (self.root / "engine/last").read_text(encoding="ascii")
        return done, json.loads((self.root / "engine" / (job + ".json")).read_text(encoding="utf-8"))

    def left_behind(self):
        return sorted(p.name for p in self.state.rglob("*") if p.is_file())

    def test_environment_travels_by_file_and_not_through_qsub(self):
        odd = "a\\nb\nc'\"\xe9"
        _, got = self.accepted("--wrap", "true", ODD=odd, LD_LIBRARY_PATH="/x", JOB_ID="7",
                               SLURM_JOB_ID="7", SLURM_NTASKS="9", **{"BASH_FUNC_f%%": "() { :; }"})
        self.assertNotIn("-V", got["argv"])
        path = next((self.state / "submit").glob("*.env"))
        head, *entries = path.read_bytes().split(b"\0")[:-1]
        self.assertEqual(head, b"slurm-shim-env 1 %d" % len(entries))
        entries = dict(e.decode("utf-8", "surrogateescape").split("=", 1) for e in entries)
        self.assertEqual(entries["ODD"], odd)
        self.assertEqual(entries["LD_LIBRARY_PATH"], "/x")
        self.assertEqual(entries["BASH_FUNC_f%%"], "() { :; }")
        for name in ("JOB_ID", "SLURM_JOB_ID", "SLURM_NTASKS", "SLURM_SHIM_CONFIG"):
            self.assertNotIn(name, entries)
        self.assertEqual(path.stat().st_mode & 0o7777, 0o600)
        for folder in (self.state, self.state / "submit", self.state / "jobs"):
            self.assertEqual(folder.stat().st_mode & 0o7777, 0o700)

    def test_export_chooses_the_variables(self):
        for words, expected in ((["--export=NONE"], set()),
                                (["--export=A,UNSET,C=3"], {"A=1", "C=3"})):
            self.accepted("--wrap", "true", *words, A="1", B="2")
            path = max((self.state / "submit").glob("*.env"), key=lambda p: p.stat().st_mtime_ns)
            entries = path.read_bytes().split(b"\0")[1:-1]
            self.assertEqual({e.decode() for e in entries}, expected)

    def test_the_record_is_in_qsubs_environment_only(self):
        _, got = self.accepted("-J", "7b train", "--wrap", "true")
        record = got["env"]["SLURM_SHIM_REQ"]
        self.assertTrue(record.startswith("v1;tok="), record)
        self.assertIn(";name=7b%20train;", record + ";")
        argv = got["argv"]
        self.assertEqual(argv[argv.index("-v") + 1], "SLURM_SHIM_REQ,SLURM_SHIM_CONFIG,SLURM_SHIM_GE_BIN")
        self.assertFalse([word for word in argv if "tok=" in word])
        submit = json.loads((self.state / "jobs/4711.submit").read_text(encoding="utf-8"))
        self.assertEqual(submit["req"], record)
        self.assertEqual(submit["qsub"], ["qsub", *argv])
        self.assertEqual(submit["cmd"], ["sbatch", "-J", "7b train", "--wrap", "true"])
        self.assertEqual((submit["job"], submit["tasks"], submit["native"]), (4711, None, True))

    def test_a_long_record_goes_by_file(self):
        _, got = self.accepted("--comment", "x" * 9000, "--wrap", "true")
        record = got["env"]["SLURM_SHIM_REQ"]
        self.assertLess(len(record), 8000)
        self.assertIn(";file=1", record)
        text = next((self.state / "submit").glob("*.req")).read_text(encoding="utf-8")
        self.assertIn("comment=" + "x" * 9000, text)
        self.assertTrue(text.endswith("\n"))

    def test_arrays_are_numbered_by_the_engine_where_it_can(self):
        for spec, tasks, native in (("1-9:2", "1-9:2", True), ("0-3", "1-4", False)):
            _, got = self.accepted("-a", spec, "--wrap", "true")
            argv = got["argv"]
            self.assertEqual(argv[argv.index("-t") + 1], tasks)
            newest = max((self.state / "jobs").glob("*.submit"), key=lambda p: p.stat().st_mtime_ns)
            self.assertEqual(json.loads(newest.read_text(encoding="utf-8"))["native"], native)

    def test_script_arguments_stay_as_they_are(self):
        (self.root / "cwd/job.sh").write_text("#!/bin/sh\ntrue\n", encoding="ascii")
        words = ["job.sh", "-V", "--help", "a b", "", "$X*"]
        _, got = self.accepted(*words)
        self.assertEqual(got["argv"][-6:], [str(self.root / "cwd/job.sh"), *words[1:]])

    def test_spooled_scripts_are_gone_afterwards(self):
        for stdin, words in (("", ["--wrap", "echo hi"]), ("#!/bin/sh\necho hi\n", [])):
            _, got = self.accepted(*words, stdin=stdin)
            self.assertTrue(got["script"].endswith("echo hi\n"), got["script"])
        self.assertEqual([n for n in self.left_behind() if n.endswith(".sh")], [])

    def test_a_refused_job_leaves_nothing(self):
        done = self.sbatch("-N4", "--wrap", "true", FAKE_GE_SLOTS="2")
        self.assertEqual((done.returncode, done.stdout, done.stderr),
                         (1, "", "sbatch: error: Batch job submission failed: "
                                 "Requested node configuration is not available\n"))
        self.assertEqual(self.left_behind(), [])

    def test_published_scripts_are_refused_at_once(self):
        self.config.write_text(CONFIG.replace("batch:\n", "gpu:\n").replace("batch", "gpu"), encoding="utf-8")
        (self.root / "cwd/post.sh").write_text(POST, encoding="ascii")
        done = self.sbatch("post.sh", FAKE_GE_SLOTS="2")
        self.assertEqual((done.returncode, done.stdout, done.stderr),
                         (1, "", "sbatch: error: Batch job submission failed: "
                                 "Requested node configuration is not available\n"))
        done = self.sbatch("-p", "training", "post.sh")
        self.assertEqual((done.returncode, done.stderr),
                         (1, "sbatch: error: invalid partition specified: training\nsbatch: error: "
                             "Batch job submission failed: Invalid partition name specified\n"))

    def test_a_fixed_rule_without_a_pe_names_both(self):
        done = self.sbatch("-N2", "--ntasks-per-node=3", "--wrap", "true")
        self.assertEqual((done.returncode, done.stdout), (1, ""))
        self.assertIn("allocation_rule 3", done.stderr)
        self.assertIn("slurm-shim-3", done.stderr)

    def test_without_a_configuration_queues_are_partitions(self):
        self.config.unlink()
        _, got = self.accepted("-p", "gpu", "--wrap", "true")
        argv = got["argv"]
        self.assertEqual(argv[argv.index("-q") + 1], "gpu.q")
        done = self.sbatch("-p", "training", "--wrap", "true")
        self.assertIn("invalid partition specified: training", done.stderr)

    def test_hosts_must_exist(self):
        for words in (["-x", "n[2,9]"], ["-w", "n9"], ["-w", "n2", "-x", "n2"]):
            done = self.sbatch(*words, "--wrap", "true")
            self.assertEqual((done.returncode, done.stderr),
                             (1, "sbatch: error: Batch job submission failed: Invalid node name specified\n"))
        _, got = self.accepted("-N2", "-w", "n2.example,n3", "-x", "n1", "--wrap", "true",
                               FAKE_GE_HOSTS="n1 n2.example n3")
        argv = got["argv"]
        self.assertEqual(argv[argv.index("-q") + 1], "batch.q@n2.example,batch.q@n3")
        self.assertEqual(argv[argv.index("-l") + 1], "h=!(n1)")

    def test_an_unreachable_engine(self):
        done = self.sbatch("--wrap", "true", FAKE_GE_DOWN="1")
        self.assertEqual(done.returncode, 1)
        self.assertEqual(done.stderr.splitlines()[-1], "sbatch: error: Batch job submission failed: "
                                                       "Unable to contact slurm controller (connect failure)")
        done = self.sbatch("--wrap", "true", SLURM_SHIM_GE_BIN="/nonexistent")
        self.assertEqual((done.returncode, done.stderr),
                         (1, "sbatch: error: qsub: not found in /nonexistent\n"))
        self.assertEqual(self.left_behind(), [])

    def test_a_tool_that_says_nothing_is_given_up(self):
        silent = self.root / "silent"
        silent.mkdir()
        (silent / "qsub").write_text("#!/bin/sh\nexec sleep 1000\n", encoding="ascii")
        (silent / "qsub").chmod(0o755)
        self.config.write_text("qstat_timeout: 500ms\n" + CONFIG, encoding="utf-8")
        start = time.monotonic()
        done = self.sbatch("--wrap", "true", SLURM_SHIM_GE_BIN=str(silent))
        self.assertLess(time.monotonic() - start, 30)
        self.assertEqual(done.returncode, 1)
        self.assertIn("qsub", done.stderr)
        self.assertEqual(done.stderr.count("\n"), 1)

    def test_a_broken_configuration_is_named(self):
        self.config.write_text("partitions: [\n", encoding="utf-8")
        done = self.sbatch("--wrap", "true")
        self.assertEqual((done.returncode, done.stdout), (1, ""))
        self.assertIn(str(self.config), done.stderr)

    def test_warnings_come_with_acceptance_and_name_the_option(self):
        done, _ = self.accepted("--gpus-per-node=2", "--exclusive", "--wrap", "true", FAKE_GE_SAY="warning: odd\n")
        lines = done.stderr.splitlines()
        self.assertTrue(all(line.startswith("sbatch: warning: ") for line in lines), lines)
        for words in ("gpus-per-node", "--exclusive", "qsub: odd"):
            self.assertEqual(sum(words in line for line in lines), 1, (words, lines))
        done, _ = self.accepted("-Q", "--gpus-per-node=2", "--wrap", "true")
        self.assertEqual((done.stdout, done.stderr), ("", ""))

    def test_environment_by_the_engine(self):
        self.config.write_text("env_transport: qsub\n" + CONFIG, encoding="utf-8")
        done, got = self.accepted("-o", "%j.out", "--wrap", "true", LD_PRELOAD="/x.so", SLURM_JOB_ID="7", A="1")
        self.assertIn("-V", got["argv"])
        self.assertEqual(got["argv"][got["argv"].index("-o") + 1], ":%s/cwd/$JOB_ID.out" % self.root)
        self.assertEqual((got["env"].get("A"), got["env"].get("SLURM_JOB_ID")), ("1", None))
        self.assertIn("LD_PRELOAD", done.stderr)
        self.assertEqual(list((self.state / "submit").glob("*.env")), [])

    def test_a_backslash_in_a_passed_variable_is_refused(self):
        done = self.sbatch("--wrap", "true", SLURM_SHIM_TASK_POLICY="a\\nb")
        self.assertEqual(done.returncode, 1)
        self.assertIn("SLURM_SHIM_TASK_POLICY", done.stderr)


if __name__ == "__main__":
    unittest.main()
