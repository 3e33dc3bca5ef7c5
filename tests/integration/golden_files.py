"""What the tests with golden files share: their arguments, the facts at a file's head, the comparison.

argv: BIN_DIR [--rewrite], which writes the files anew instead.
"""
import difflib
import os
import pathlib
import re
import sys

REWRITE = "--rewrite" in sys.argv
if REWRITE:
    sys.argv.remove("--rewrite")
BIN = os.path.abspath(sys.argv.pop(1))
TESTS = pathlib.Path(__file__).resolve().parent.parent


class Head:
    """A golden file: its text, its facts before the first "$ " line, and what comes from there on."""

    def __init__(self, path):
        self.text = path.read_text(encoding="utf-8")
        self.head, _, body = self.text.partition("\n$ ")
        self.body = "$ " + body
        self.engine = self.fact("engine")
        self.fixtures = TESTS / "fixtures" / self.engine
        self.config = re.sub(r"^  ", "", self.head.partition("\nconfig:\n")[2], flags=re.M)

    def fact(self, name):
        found = re.search(rf"^{name}: (.*)$", self.head, re.M)
        return found and found[1]


def check(test, path, golden, made):
    """`made` is what the file says, or becomes it."""
    if REWRITE:
        path.write_text(made, encoding="utf-8")
        return
    diff = difflib.unified_diff(golden.text.splitlines(), made.splitlines(), path.name, "now", lineterm="")
    test.assertEqual(golden.text, made, "\n" + "\n".join(diff))
