#!/usr/bin/env python3
"""Golden files: what the query commands print from captured answers of both engines.

usage: golden_queries_test.py BIN_DIR [--rewrite]

A file of tests/golden-queries begins with its facts:

    engine: 8.1.9               the folder of tests/fixtures whose files answer
    qstat -xml -r = NAME ...    a question of Grid Engine's tools (its first words) and the files that answer, one behind
                                the other; the longest question that fits answers. What has no line is refused.
    accounting: NAME            the accounting file of the cell
    config:                     the shim's configuration, indented by two blanks

and goes on with commands, each a line "$ squeue ..." and what it prints, stderr with its prefix "! ", and its exit code
when it is not 0. Files are compared whole. --rewrite writes the answers anew: to add a command, add its "$" line and
rewrite; then read the diff, for it is the only check of what is written.
"""
import concurrent.futures
import os
import pathlib
import re
import shlex
import subprocess
import tempfile
import unittest

from golden_files import BIN, TESTS, Head, check

FILES = sorted((TESTS / "golden-queries").glob("*.txt"))
TOOL = """#!/bin/sh
best=
while IFS='|' read -r words files; do
  case "${0##*/} $* " in
    "$words "*) [ ${#words} -gt ${#best} ] && best=$words && found=$files ;;
  esac
done < "${0%/*}/answers"
[ -n "$best" ] || { echo "nobody answers ${0##*/} $*" >&2; exit 1; }
exec cat $found
"""


class Golden(Head):
    """One file: its facts, its commands, and what they print now."""

    def __init__(self, path):
        super().__init__(path)
        self.commands = re.findall(r"^\$ (.*)$", self.body, re.M)
        self.answers = [(words, names.split())
                        for words, names in re.findall(r"^(q\w+.*?) = (.*)$", self.head, re.M)]
        self.accounting = self.fact("accounting")

    def now(self):
        with tempfile.TemporaryDirectory(prefix="golden-") as root:
            folder = pathlib.Path(root)
            for name in ("tools", "home", "ge/default/common"):
                (folder / name).mkdir(parents=True)
            files = {words: " ".join(str(self.fixtures / name) for name in names) for words, names in self.answers}
            (folder / "tools/answers").write_text("".join(f"{w}|{f}\n" for w, f in files.items()), encoding="utf-8")
            for tool in {words.split()[0] for words in files}:
                (folder / "tools" / tool).write_text(TOOL, encoding="ascii")
                (folder / "tools" / tool).chmod(0o755)
            if self.accounting:
                source = self.fixtures / self.accounting
                name = "accounting.jsonl" if source.suffix == ".jsonl" else "accounting"
                (folder / "ge/default/common" / name).write_bytes(source.read_bytes())
            (folder / "config.yaml").write_text(self.config, encoding="utf-8")
            with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
                return self.head + "\n" + "".join(pool.map(lambda words: self.answer(folder, words), self.commands))

    @staticmethod
    def answer(folder, words):
        env = {"PATH": "/usr/bin:/bin", "HOME": str(folder / "home"), "USER": "root", "TZ": "UTC",
               "SGE_ROOT": str(folder / "ge"), "SLURM_SHIM_GE_BIN": str(folder / "tools"),
               "SLURM_SHIM_CONFIG": str(folder / "config.yaml")}
        command, *rest = shlex.split(words)
        done = subprocess.run([BIN + "/" + command, *rest], stdin=subprocess.DEVNULL, capture_output=True,
                              timeout=120, env=env, cwd=folder, check=False)
        out, err = (text.decode("utf-8", "backslashreplace").replace(str(folder), "FOLDER")
                    for text in (done.stdout, done.stderr))
        shown = "".join(re.sub(r"[ ]+$", lambda blanks: "\u00b7" * len(blanks[0]), line) + "\n"
                        for line in out.splitlines())
        shown += "".join(f"! {line}\n" for line in err.splitlines())
        return f"$ {words}\n{shown}" + (f"exit {done.returncode}\n" if done.returncode else "")


class GoldenQueries(unittest.TestCase):
    maxDiff = None

    def test_every_file(self):
        self.assertGreater(len(FILES), 1)
        for path in FILES:
            with self.subTest(path.name):
                golden = Golden(path)
                self.assertGreater(len(golden.commands), 10)
                check(self, path, golden, golden.now())


unittest.main(verbosity=1)
