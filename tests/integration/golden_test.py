#!/usr/bin/env python3
"""Golden files: the exact qsub command line of many requests, with captured answers of both engines.

usage: golden_test.py BIN_DIR [--rewrite]

A file of tests/golden begins with its facts:

    engine: 9.1.5                 the folder of tests/fixtures whose qconf and qsub -help answer
    complexes: gpu=HOST, ...      how these complexes count instead (column "consumable"), also added ones
    config:                       the shim's configuration, indented by two blanks

and goes on with requests, each a line "$ sbatch ..." and what comes of it: qsub's command line, or the refusal with its
exit code, and sbatch's warnings. Files are compared whole. --rewrite writes the answers anew: to add a request, add its
"$" line and rewrite; then read the diff, for it is the only check of what is written.

Not in the command lines: the folder of the submission's files (S), its token (TOKEN), the current folder (CWD).
"""
import concurrent.futures
import os
import pathlib
import re
import shlex
import subprocess
import tempfile
import unittest

import replayed_engine
from golden_files import BIN, TESTS, Head, check

FILES = sorted((TESTS / "golden").glob("*.txt"))


class Golden(Head):
    """One file: its facts, its requests, and what sbatch makes of them now."""

    def __init__(self, path):
        super().__init__(path)
        self.blocks = self.body.split("\n$ ")
        self.blocks[0] = self.blocks[0][2:]
        counts = self.fact("complexes")
        self.counts = dict(pair.split("=") for pair in counts.split(", ")) if counts else {}

    def answers(self):
        folder = self.fixtures
        table = (folder / "qconf-sc.stdout").read_text(encoding="utf-8").splitlines()
        for name, kind in self.counts.items():
            row = next((line.split() for line in table if line.split()[0] == name), None)
            if row is None:
                row = [name, name, "INT", "<=", "YES", kind, "0", "0"]
            else:
                table = [line for line in table if line.split()[0] != name]
                row[5] = kind
            table.insert(-1, " ".join(row))
        answers = {"-sc": "\n".join(table) + "\n"}
        for words, name in (("hosts", {"8.1.9": "qhost-q-xml.stdout", "9.1.5": "qhost-F-q-j.xml"}[self.engine]),
                            ("-help", "qsub-help"), ("-spl", "qconf-spl"), ("-sql", "qconf-sql"), ("-sel", "qconf-sel")):
            name += "" if "." in name else ".stdout"
            answers[words] = (folder / name).read_text(encoding="utf-8")
        return answers

    def rewritten(self, root):
        replayed_engine.make(root / "tools", self.answers())
        (root / "config.yaml").write_text(self.config, encoding="utf-8")
        numbered = [(root, i, block) for i, block in enumerate(self.blocks)]
        with concurrent.futures.ThreadPoolExecutor(os.cpu_count() or 1) as pool:
            done = list(pool.map(lambda one: self.run(*one), numbered))
        return self.head + "\n" + "\n".join(done)

    @staticmethod
    def run(root, index, block):
        request, newline, rest = block.partition("\n")
        # Comments between the blocks stay where they are.
        tail = "\n" + "\n".join(re.findall(r"^#.*$", rest, re.M)) + "\n" if re.search(r"^#", rest, re.M) else ""
        out = root / str(index)
        out.mkdir()
        hosts = (root / "tools/-sel").read_text(encoding="ascii").splitlines()
        (out / "hosts").write_text("\n".join(hosts[-2:]) + "\n", encoding="ascii")
        words = shlex.split(request)
        env = replayed_engine.environment(root / "tools", out, root / "config.yaml")
        while "=" in words[0]:
            name, _, value = words.pop(0).partition("=")
            env[name] = value
        done = subprocess.run([BIN + "/" + words[0], *words[1:], "--wrap", "true"], stdin=subprocess.DEVNULL,
                              capture_output=True, text=True, timeout=300, env=env, cwd=out, check=False)
        argv = replayed_engine.submitted(out)
        lines = ["exit %d" % done.returncode] if argv is None else ["qsub " + shlex.join(argv)]
        text = "\n".join(lines + done.stderr.splitlines()) + "\n"
        text = text.replace(str(out) + "/.local/state/slurm-shim/default/submit", "S").replace(str(out), "CWD")
        return "$ " + request + "\n" + re.sub(r"S/[0-9a-f]{16}\.", "S/TOKEN.", text) + tail


class GoldenTest(unittest.TestCase):
    maxDiff = None

    def test_every_command_line_is_the_written_one(self):
        self.assertGreater(len(FILES), 1)
        for path in FILES:
            with self.subTest(path.name), tempfile.TemporaryDirectory(prefix="golden-") as folder:
                golden = Golden(path)
                made = golden.rewritten(pathlib.Path(folder))
                check(self, path, golden, made)


if __name__ == "__main__":
    unittest.main()
