#!/usr/bin/env python3
"""Keys of the configuration change what the commands do: each case runs a command without and with the key.

usage: config_keys_test.py BIN_DIR
"""
import json
import os
import pathlib
import subprocess
import sys
import tempfile
import unittest

REPO = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(REPO / "tests/conformance"))
import captured_queue  # noqa: E402
import query_world  # noqa: E402

BIN = os.path.abspath(sys.argv.pop(1))
TOOLS = str(REPO / "tests/fakes/ge-bin")
BASE = "default_partition: batch\npartitions:\n  batch: {queue: batch.q, pe_by_layout: {pe_slots: slurm-shim-smp}}\n"


class Keys(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory(prefix="keys-")
        self.addCleanup(self.folder.cleanup)
        self.root = pathlib.Path(self.folder.name)
        for name in ("home", "engine"):
            (self.root / name).mkdir()
        self.config = self.root / "config.yaml"

    def run_command(self, key, *words, **env):
        self.config.write_text(f"{BASE}{key}\nqstat_timeout: 60s\n", encoding="utf-8")
        env = {"PATH": "/usr/bin:/bin", "HOME": str(self.root / "home"), "USER": "u", "SLURM_SHIM_GE_BIN": TOOLS,
               "SLURM_SHIM_CONFIG": str(self.config), "FAKE_GE_DIR": str(self.root / "engine"),
               "FAKE_GE_PES": "slurm-shim slurm-shim-smp", **env}
        return subprocess.run([f"{BIN}/{words[0]}", *words[1:]], capture_output=True, text=True, timeout=120, env=env,
                              cwd=self.root, check=False)

    def submit(self, key, *words, **env):
        """What qsub was given: its arguments as text, the submit record."""
        done = self.run_command(key, "sbatch", *words, **env)
        self.assertEqual(done.returncode, 0, f"{key}: {done.stderr}")
        job = (self.root / "engine/last").read_text(encoding="ascii")
        got = json.loads((self.root / "engine" / (job + ".json")).read_text(encoding="utf-8"))
        return " ".join(got["argv"]), got["env"].get("SLURM_SHIM_REQ", "")

    def differs(self, key, text, *words, where=0, **env):
        """`text` is there with the key, and not without it."""
        self.assertNotIn(text, self.submit("", *words, **env)[where], key)
        self.assertIn(text, self.submit(key, *words, **env)[where], key)

    def test_words_of_the_submission(self):
        wrap = ("--wrap", "true")
        self.differs("qsub_extra_args: [-P, site]", "-P site", *wrap)
        self.differs("account_map: project", "-P physics", "-A", "physics", *wrap)
        self.differs("reserve: always", "-R y", *wrap)
        self.differs("exclusive_complex: excl", "excl=true", "--exclusive", *wrap, FAKE_GE_COMPLEXES="excl:YES")
        self.differs("tmp_complex: scratch", "scratch=", "--tmp=1G", *wrap, FAKE_GE_COMPLEXES="scratch:YES")
        self.differs("memory_complex: ram", "ram=", "--mem=1G", *wrap, FAKE_GE_COMPLEXES="ram:YES")
        self.differs("output_mode: ge", f"-o :{self.root}/out", "-o", f"{self.root}/out", *wrap)
        self.differs("env_transport: qsub", "-V", *wrap)
        self.differs("pe_name: other\npartition_aliases: {}", "-pe other", "-N1", "-n2", *wrap,
                     FAKE_GE_PES="slurm-shim other slurm-shim-smp", FAKE_GE_PAR="1")
        self.assertIn("-w e", self.submit("", *wrap)[0])
        self.assertNotIn("-w e", self.submit("submit_check: none", *wrap)[0])
        self.assertIn("fabric=ib", self.submit("features: {ib: fabric=ib}", "--constraint=ib", *wrap,
                                               FAKE_GE_COMPLEXES="fabric:NO")[0])

    def test_values_of_the_record(self):
        self.differs("requeue_default: false", "requeue=0", "--wrap", "true", where=1)
        self.differs("kill_wait: 7s", "kw=7000", "--wrap", "true", where=1)
        self.differs("job_records: off", "rec=0", "--wrap", "true", where=1)

    def test_names_of_jobs(self):
        words = ("--job-name=a/b@c", "--wrap", "true")
        self.differs("job_name_sanitize: false", "-N a/b@c", *words)
        self.assertIn("-N a_b_c", self.submit("", *words)[0])

    def test_directives_of_the_engine(self):
        script = self.root / "job.sh"
        script.write_text("#!/bin/sh\n#$ -l fast=1\ntrue\n", encoding="ascii")
        self.assertIn(" -C  ", self.submit("", str(script))[0])
        self.assertNotIn(" -C ", self.submit("honor_ge_directives: true", str(script))[0])

    def test_a_supervisor_where_it_is_needed(self):
        words = ("-o", f"{self.root}/out", "--wrap", "true")
        # Without it the engine itself writes the output; a signal before the end needs it all the same.
        self.differs("batch_supervisor: needed", f"-o :{self.root}/out", *words)
        self.assertNotIn(f"-o :{self.root}/out",
                         self.submit("batch_supervisor: needed", "--signal=USR1@10", "--time=1", *words)[0])

    def test_strict_flags_refuse_what_is_only_warned_of(self):
        words = ("sbatch", "--container-image=x", "--wrap", "true")
        self.assertEqual(self.run_command("", *words).returncode, 0)
        self.assertNotEqual(self.run_command("strict_flags: true", *words).returncode, 0)

    def test_version(self):
        self.assertEqual(self.run_command("compat_version: 23.11.1", "sinfo", "--version").stdout, "slurm 23.11.1\n")

    def test_config_show_and_check(self):
        done = self.run_command("launch_ramp: 7", "slurm-shim", "config", "show", "--json")
        self.assertEqual(done.returncode, 0, done.stderr)
        report = json.loads(done.stdout)
        self.assertEqual(report["file"], str(self.config))
        self.assertEqual(report["values"]["launch_ramp"], {"value": 7, "origin": "file", "line": 4})
        self.assertEqual(report["values"]["kill_wait"], {"value": "30s", "origin": "default"})
        done = self.run_command("launch_ramp: 7", "slurm-shim", "config", "show", "--changed")
        self.assertIn(f"{self.config}:4\n", done.stdout)
        self.assertNotIn("# default", done.stdout)
        for text, code, out, err in (("", 0, "fine", ""), ("lunch: 1", 0, "1 unknown keys", ":4:1: unknown config key"),
                                     ("launch_ramp: many", 1, "", ":4:14: launch_ramp: expected a whole number")):
            done = self.run_command(text, "slurm-shim", "config", "check", str(self.config))
            self.assertEqual(done.returncode, code, done.stderr)
            self.assertIn(out, done.stdout)
            self.assertIn(err, done.stderr)
        for words in (["check"], ["show", "more"], [], ["check", "/no/such"]):
            done = self.run_command("", "slurm-shim", "config", *words)
            self.assertEqual(done.returncode, 1)
            self.assertTrue(done.stderr.startswith("slurm-shim: error: config: "), done.stderr)

    def test_config_show_without_a_file(self):
        done = self.run_command("", "slurm-shim", "config", "show", SLURM_SHIM_CONFIG="/no/such")
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn("# file: none, built-in defaults\n", done.stdout)


class Answers(unittest.TestCase):
    """Keys that change how a cluster with jobs is asked."""

    def setUp(self):
        folder = tempfile.TemporaryDirectory(prefix="keys-")
        self.addCleanup(folder.cleanup)
        self.world = query_world.World(os.path.join(folder.name, "world"))
        self.world.write()

    def run_command(self, key, *words):
        (self.world.folder / "config.yaml").write_text(query_world.CONFIG + key + "\n", encoding="utf-8")
        return subprocess.run(words, capture_output=True, text=True, timeout=120, check=False,
                              env=self.world.environment(BIN))

    def asked(self, tool):
        return [call for call in self.world.calls() if call.split()[0] == tool]

    def test_signals_are_delivered_or_requeue(self):
        queue = captured_queue.Queue(self.world, set())
        queue.runs(query_world.Job(101, "train"))
        queue.write()
        captured_queue.answer_mailboxes(self.world)
        mailbox = self.world.state / "jobs/101.mbox"
        for key, wanted in (("", ["signal", "10", "steps"]), ("scancel_signal: requeue", ["requeue"])):
            mailbox.write_text("", encoding="ascii")
            done = self.run_command(key, "scancel", "--signal=USR1", "101")
            self.assertEqual((done.returncode, done.stderr), (0, ""), key)
            self.assertEqual(mailbox.read_text(encoding="ascii").split()[2:], wanted, key)

    def test_accounting_is_read_where_it_is_told(self):
        self.world.ended(query_world.Job(61, "infile"))
        text = (REPO / "tests/fixtures/8.1.9/qacct-hrt.stdout").read_text(encoding="utf-8")
        self.world.answer("qacct", text)
        words = ("sacct", "-X", "-n", "-S", "1970-01-01", "-a", "-j", "61", "--format=JobName,User")
        for key, name, calls in (("", "infile", False), ("accounting_source: jsonl", "infile", False),
                                 ("accounting_source: qacct", "hrt", True)):
            done = self.run_command(key, *words)
            self.assertEqual(done.returncode, 0, done.stderr)
            self.assertIn(name, done.stdout.split(), key)
            self.assertEqual(bool(self.asked("qacct")), calls, key)

    def test_a_missing_accounting_file_is_no_empty_one(self):
        (self.world.common / "accounting.jsonl").unlink()
        self.world.answer("qacct", "", 1, "error: no jobs\n")
        done = self.run_command("accounting_source: jsonl", "sacct", "-n", "-j", "61")
        self.assertNotEqual(done.returncode, 0)
        self.assertIn("accounting", done.stderr)
        self.assertEqual(self.asked("qacct"), [])


if __name__ == "__main__":
    unittest.main(verbosity=2)
