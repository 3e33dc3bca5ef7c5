#!/usr/bin/env python3
"""The documentation is run: every block has a runner, and those of a plain machine run here.

usage: docs_test.py BIN_DIR
"""
import html
import json
import os
import pathlib
import re
import subprocess
import sys
import tempfile
import unittest

REPO = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
sys.path[:0] = [os.path.join(REPO, "tests", "support"), os.path.join(REPO, "tests", "conformance"),
                os.path.join(REPO, "bench")]
import chart  # noqa: E402
import doc_blocks  # noqa: E402
import query_world  # noqa: E402
import sinfo_vectors  # noqa: E402

BIN = os.path.abspath(sys.argv.pop(1))


class Marks(unittest.TestCase):
    def test_every_block_of_every_page_has_a_runner(self):
        problems = [problem for path in doc_blocks.documents() for problem in doc_blocks.read(path)[1]]
        self.assertEqual(problems, [])

    def test_a_block_that_nobody_runs_is_seen(self):
        for text, wanted in (("```sh\nls\n```\n", "nobody runs"), ("```\nls\n```\n", "nobody runs"),
                             ("```sh later\nls\n```\n", "nobody runs"), ("```sh by=\nls\n```\n", "nobody runs"),
                             ("```sh picture\nls\n```\n", "a picture is text"),
                             ("text\n\n    ls -l\n", "indented"), ("```sh run\nls\n", "no end"),
                             ("```text output\nls\n```\n", "behind no block"),
                             ("```text output rc=1\nls\n```\n", "nobody runs")):
            problems = doc_blocks.parse("x.md", text)[1]
            self.assertTrue(problems and wanted in problems[0], (text, problems))
        blocks, problems = doc_blocks.parse("x.md", "```sh run rc=3\nls\n```\n\n* a\n\n    b\n")
        self.assertEqual((blocks[0].kind, blocks[0].rc, blocks[0].line, problems), ("run", 3, 1, []))

    def test_outputs_are_compared(self):
        same = doc_blocks.matches
        self.assertTrue(same("Submitted batch job 7\n", "Submitted batch job 4711\n"))
        self.assertFalse(same("Submitted batch job 7\n", "Submitted batch job x\n"))
        self.assertTrue(same("a ... z\n...\nend\n", "a  b z\none\ntwo\nend\n"))
        self.assertFalse(same("a\n", "a\nb\n"))
        self.assertFalse(same("a.b\n", "axb\n"))

    def test_what_others_run_is_found_there(self):
        for path in doc_blocks.documents():
            for block in doc_blocks.read(path)[0]:
                if block.kind != "by":
                    continue
                with open(os.path.join(REPO, block.value), encoding="utf-8") as file:
                    there = " ".join(file.read().split())
                for line in block.text.splitlines():
                    line = re.sub(r"\s+#.*$", "", line).strip()
                    if line:
                        self.assertIn(line, there, f"{block.place}: {block.value} does not run it")

    def test_messages_of_the_trouble_page_are_those_of_the_sources(self):
        sources = ""
        for folder, pattern in (("src", "**/*.cpp"), ("src", "**/*.h"), ("scripts", "starter_method.sh")):
            paths = sorted(pathlib.Path(REPO, folder).glob(pattern))
            sources += "".join(path.read_text(encoding="utf-8") for path in paths)
        sources = re.sub(r'"\s*\n\s*"', "", sources).replace('\\"', '"')
        rows = pathlib.Path(REPO, "docs/trouble.md").read_text(encoding="utf-8").splitlines()
        messages = [text for row in rows if row.startswith("| ") for text in re.findall("`([^`]+)`", row.split("|")[1])]
        self.assertGreater(len(messages), 10)
        for message in messages:
            # Between its variable parts a message has fixed ones.
            for part in re.split(r"\.\.\.|:|--x|[A-Z]{3,}", message):
                if len(part.strip()) > 4:
                    self.assertIn(part.strip(), sources, message)

    def test_the_picture_of_the_demo_is_one_of_today(self):
        with open(os.path.join(REPO, "docs/demo.svg"), encoding="utf-8") as file:
            shown = [html.unescape(text) for text in re.findall(r"<text [^>]*>([^<]*)<animate", file.read())]
        for name in ("post.sh", "textbook.sh"):
            with open(os.path.join(REPO, "demo", name), encoding="utf-8") as file:
                script = [line for line in file.read().splitlines() if line.strip()]
            at = shown.index(f"$ cat {name}") + 1
            self.assertEqual(shown[at:at + len(script)], script)
        self.assertEqual(shown[-1], "demo: both scripts ran unchanged")


    def test_the_performance_page_shows_its_results(self):
        with open(os.path.join(REPO, "docs/performance.json"), encoding="utf-8") as file:
            results = json.load(file)
        self.assertGreater(len(results["rows"]), 20)
        with open(os.path.join(REPO, "docs/performance.svg"), encoding="utf-8") as file:
            self.assertEqual(file.read(), chart.svg(results))
        with open(os.path.join(REPO, "docs/performance.md"), encoding="utf-8") as file:
            self.assertIn(chart.table(results), file.read())


class Runs(unittest.TestCase):
    def test_blocks_for_a_plain_machine(self):
        count = 0
        for path in doc_blocks.documents():
            blocks = doc_blocks.read(path)[0]
            if any(block.kind == "run" for block in blocks):
                count += self.run_page(blocks)
        self.assertGreater(count, 0)

    def run_page(self, blocks):
        count = 0
        with tempfile.TemporaryDirectory() as folder:
            world = query_world.World(os.path.join(folder, "world"))
            sinfo_vectors.build(world)
            world.write()
            env = world.environment(BIN)
            home = os.path.join(folder, "here")
            os.mkdir(home)
            for block, output in doc_blocks.groups(blocks):
                if block.kind == "file":
                    with open(os.path.join(home, block.value), "w", encoding="utf-8") as file:
                        file.write(block.text)
                if block.kind != "run":
                    continue
                count += 1
                done = subprocess.run(["bash", "-e", "-o", "pipefail", "-c", block.text], cwd=home, env=env,
                                      stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=120,
                                      check=False)
                self.assertEqual(done.returncode, block.rc, f"{block.place}: {done.stdout}{done.stderr}")
                if output:
                    self.assertTrue(doc_blocks.matches(output.text, done.stdout),
                                    f"{output.place}: saw\n{done.stdout}{done.stderr}")
        return count


if __name__ == "__main__":
    unittest.main()
