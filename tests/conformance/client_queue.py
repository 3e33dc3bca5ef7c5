#!/usr/bin/env python3
"""What client tools run and expect of squeue and scancel (tests/cases/client-queue.json), in the captured queue.

    client_queue.py FOLDER-OF-LINKS CASES.json"""
import json
import pathlib
import re
import subprocess
import sys
import tempfile

import captured_queue
from query_world import World

NUMBER = captured_queue.NUMBERS
# Which job a case speaks of, by a word of its context: one that waits, one that has ended, else one that runs.
PLACES = (("pending", "J09"), ("finished and gone", None), ("", "J01"))
# OOD ignores an unknown id only when it is told of; 22.05.8 and decision 25b keep silent, and silence with exit 0 is no
# error for it either.
SILENT = {"ood_core-110"}


def words_of(case, world):
    token = next(job for word, job in PLACES if word in case["context"])
    number = str(NUMBER[token]) if token else "9999998"
    put = {"{job}": number, "{arrayjob}": str(NUMBER["J05"]), "{jobname}": "run1", "USER": "alice"}
    words = case["argv"]
    for key, value in put.items():
        words = [word.replace(key, value) for word in words]
    return words


def kind(value, wanted):
    if wanted == "int":
        return isinstance(value, int)
    if wanted == "str":
        return isinstance(value, str)
    return value is None or isinstance(value, dict) if wanted == "null allowed" else value == wanted


def at(document, path):
    for part in re.findall(r"[^.\[\]]+", path):
        document = document[int(part)] if part.isdigit() else document[part]
    return document


def json_problems(text, wanted, code):
    if code != 0:
        return []
    document = json.loads(text)
    problems = []
    for path, value in wanted.items():
        if path.endswith("[]"):
            found = at(document, path[:-2])
            problems += [] if found else [path + " is empty"]
            for member in found:
                problems += [p for p, v in value.items() if not kind(at(member, p), v)]
        elif not (at(document, path) == value if isinstance(value, list) else kind(at(document, path), value)):
            problems.append(path)
    return problems


def problems_of(case, done):
    wanted, found = case["expect"], []
    if isinstance(wanted.get("exit"), int) and done.returncode != wanted["exit"]:
        found.append("exit %d" % done.returncode)
    if "stdout_regex" in wanted and not re.search(wanted["stdout_regex"], done.stdout, re.M):
        found.append("stdout %r" % done.stdout[:200])
    if "stderr_regex" in wanted and case["id"] not in SILENT:
        if not re.search(wanted["stderr_regex"], done.stderr, re.M):
            found.append("stderr %r" % done.stderr[:200])
    if "lines" in wanted and len(done.stdout.splitlines()) != wanted["lines"]:
        found.append("%d lines" % len(done.stdout.splitlines()))
    if "stdout_json" in wanted:
        found += json_problems(done.stdout, wanted["stdout_json"], done.returncode)
    return found


def main():
    links = str(pathlib.Path(sys.argv[1]).resolve())
    cases = json.loads(pathlib.Path(sys.argv[2]).read_text(encoding="utf-8"))["cases"]
    failed = 0
    for case in cases:
        with tempfile.TemporaryDirectory(prefix="wo-", dir="/tmp") as folder:
            world = World(folder)
            captured_queue.fill(world)
            captured_queue.answer_mailboxes(world)
            (world.folder / "cwd").mkdir()
            env = world.environment(links)
            if "SLURM_TIME_FORMAT=standard" in case["context"]:
                env["SLURM_TIME_FORMAT"] = "standard"
            done = subprocess.run(words_of(case, world), env=env, cwd=world.folder / "cwd", capture_output=True,
                                  text=True, stdin=subprocess.DEVNULL, timeout=60, check=False)
        found = problems_of(case, done)
        if found:
            failed += 1
            print("FAIL %s (%s): %s\n    %s" % (case["id"], case["tool"], case["argv"], "; ".join(found)))
    print("%d of %d cases hold" % (len(cases) - failed, len(cases)))
    return 1 if failed or not cases else 0


if __name__ == "__main__":
    sys.exit(main())
