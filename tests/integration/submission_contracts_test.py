#!/usr/bin/env python3
"""How clients call sbatch, word for word, the scripts that they write, and what they require of the answer, with
stand-ins for Grid Engine's tools (tests/cases/client-submission.json). Every case goes through `explain` and
`--test-only` as well.

usage: submission_contracts_test.py BIN_DIR
"""
import json
import os
import pathlib
import re
import subprocess
import sys
import tempfile
import unittest
import urllib.parse

import replayed_engine

BIN = os.path.abspath(sys.argv.pop(1))
TESTS = pathlib.Path(__file__).resolve().parent.parent
CASES = json.loads((TESTS / "cases/client-submission.json").read_text(encoding="utf-8"))["cases"]
CONFIG = """
default_partition: batch
partitions: {batch: {queue: all.q}, gpu: {queue: gpu.q}}
licenses: {foo: foo}
features: {volta32gb: "cpu=70"}
"""
ANSWERS = {"-help": "qsub-help", "-spl": "qconf-spl", "-sql": "qconf-sql"}
# Clients' scripts name hosts of their own.
HOSTS = "n1\nnode1\nnode2\n"
PLAIN = "#!/bin/sh\ntrue\n"


class Contracts(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory(prefix="contracts-")
        self.addCleanup(folder.cleanup)
        self.root = pathlib.Path(folder.name)
        fixtures = TESTS / "fixtures/9.1.5"
        answers = {words: (fixtures / (name + ".stdout")).read_text(encoding="utf-8") for words, name in ANSWERS.items()}
        table = (fixtures / "qconf-sc.stdout").read_text(encoding="utf-8").replace(
            "YES         YES        NONE", "YES         HOST       NONE")
        answers["-sc"] = table.replace("# >#<", "foo foo INT <= YES JOB 0 0\n# >#<")
        replayed_engine.make(self.root / "tools", dict(answers, **{"-sel": HOSTS}))
        (self.root / "config.yaml").write_text(CONFIG, encoding="utf-8")

    def call(self, case, words, index):
        home = self.root / str(index)
        home.mkdir()
        on_stdin = "stdin" in case.get("context", "") and not any(w.endswith((".sh", ".sub")) for w in words)
        text = PLAIN
        if case["kind"] == "script":
            lines = case["expect"]["directives"]
            text = "\n".join(([] if lines[0].startswith("#!") else ["#!/bin/bash"]) + lines + ["true", ""])
        if "without #! line" in case.get("context", ""):
            text = "true\n"
        for name in words:
            if name.endswith((".sh", ".sub")) and name != "nothere.sh":
                (home / name).write_text(text, encoding="utf-8")
        piped = on_stdin or "/dev/stdin" in words or words[-1:] == ["sbatch"]
        env = dict(replayed_engine.environment(self.root / "tools", home, self.root / "config.yaml"), FOO="1", BAR="2")
        env["PATH"] = BIN + ":" + env["PATH"]
        done = subprocess.run(words, input=text if piped else "", capture_output=True, text=True, timeout=120, env=env,
                              cwd=home, check=False)
        return done, replayed_engine.submitted(home)

    def check(self, case, done, argv):
        expected = case["expect"]
        refused = "expected_failure" in expected
        if refused:
            self.assertNotEqual(done.returncode, 0)
        else:
            self.assertEqual(done.returncode, expected["exit"], done.stderr)
        self.assertEqual(argv is None, refused or expected["exit"] != 0)
        for stream in ("stdout", "stderr"):
            pattern = expected.get(stream + "_regex")
            if pattern:
                self.assertRegex(getattr(done, stream), re.compile(pattern, re.M))

    def test_clients_are_answered_as_they_require(self):
        self.assertGreater(len(CASES), 50)
        for index, case in enumerate(CASES):
            if not case["robust"]:
                continue
            with self.subTest(case["id"]):
                done, argv = self.call(case, case["argv"], index)
                self.check(case, done, argv)
                self.check_alternatives(case, done, index)

    def check_alternatives(self, case, done, index):
        """explain agrees and submits nothing, --test-only neither."""
        told, argv = self.call(case, ["slurm-shim", "explain", "--json", *case["argv"]], f"{index}-explain")
        self.assertEqual((told.returncode, argv), (done.returncode, None), told.stderr)
        self.assertEqual(json.loads(told.stdout)["accepted"], done.returncode == 0)
        tried, _ = self.call(case, [case["argv"][0], "--test-only", *case["argv"][1:]], f"{index}-test")
        self.assertEqual((tried.returncode, tried.stdout), (done.returncode, ""), tried.stderr)
        if done.returncode == 0:
            self.assertRegex(tried.stderr, r"(?m)^sbatch: Job \d+ to start at \S{19} using \d+ processors on nodes \S+ in "
                                           r"partition \w+$")

    def test_what_the_scripts_ask_for_is_honoured(self):
        by_id = {case["id"]: case for case in CASES}

        def asked(name):
            case = by_id[name]
            _, argv = self.call(case, case["argv"], name)
            text = (self.root / name / "req").read_text(encoding="utf-8")
            pairs = (item.partition("=") for item in text.split(";")[1:])
            return argv, {key: urllib.parse.unquote(value) for key, _, value in pairs}

        argv, record = asked("torchx-034")
        self.assertEqual([argv[argv.index(o) + 1] for o in ("-N", "-q", "-l", "-r")],
                         ["w-0", "all.q", "h_rt=300,h_vmem=100M", "y"])
        argv, record = asked("megatron-lm-046")
        self.assertEqual((argv[argv.index("-pe") + 2], argv[argv.index("-l") + 1], record["over"]), ("8", "h_rt=1800", "1"))
        self.assertEqual(asked("nextflow-032")[1]["sig"], "USR2@30B")
        self.assertEqual(asked("lightning-031")[1]["sig"], "USR1@90")
        argv, record = asked("accelerate-047")
        self.assertEqual((record["nodes"], argv[argv.index("-l") + 1]), ("4", "h_rt=7140,gpu=4"))
        self.assertEqual(asked("ray-045")[1]["npn"], "1")


if __name__ == "__main__":
    unittest.main()
