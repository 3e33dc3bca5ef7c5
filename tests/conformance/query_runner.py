"""Runs the captured cases of a topic in a world that is made anew for each of them or once for all.

A case is compared as run_vectors does; {Jnn} are the numbers of the world's jobs, {CWD} its working directory. What
differs on purpose is listed in deviations.json."""
import argparse
import concurrent.futures
import json
import os
import pathlib
import re
import subprocess
import tempfile

import run_vectors
from query_world import World


def fill(text, numbers, cwd):
    text = text.replace("{CWD}", cwd).replace("{JOBID}", "71001")  # of what a case submits itself
    return re.sub(r"\{(J\d\d)\}", lambda m: str(numbers.get(m.group(1), m.group(0))), text)


def execute(case, world, links, numbers):
    cwd = world.folder / "cwd"
    cwd.mkdir(exist_ok=True)
    env = world.environment(links)
    env.update({"USER": case.get("user", "alice"), "LOGNAME": case.get("user", "alice")})
    env.update(case.get("env", {}))
    done = subprocess.run(["bash", "-c", fill(case["cmd"], numbers, str(cwd))], input=case.get("stdin", "").encode(),
                          capture_output=True, cwd=cwd, env=env, timeout=60)
    texts = []
    for text in (done.stdout, done.stderr):
        text = text.decode("utf-8", "surrogateescape").replace(str(cwd), "{CWD}")
        if "{TIME}" in case["stdout"] + case["stderr"]:
            text = re.sub(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d", "{TIME}", text)
        texts.append(text)
    return {"rc": done.returncode, "stdout": texts[0], "stderr": texts[1]}


def wanted(case, numbers):
    case = dict(case)
    for field in ("stdout", "stderr"):
        case[field] = fill(case.get(field) or "", numbers, "{CWD}")
    return case


def main(build, numbers, skip, fresh=False, between=None):
    """`between`: what happens to the world before a case, by the id of the case."""
    parser = argparse.ArgumentParser()
    parser.add_argument("links")
    parser.add_argument("vectors")
    parser.add_argument("--only", default="")
    options = parser.parse_args()
    links = str(pathlib.Path(options.links).resolve())
    topic = json.loads(pathlib.Path(options.vectors).read_text(encoding="utf-8"))
    listed = json.loads(pathlib.Path(__file__).with_name("deviations.json").read_text(encoding="utf-8")).get(
        topic["topic"], {})
    cases = [wanted(c, numbers) for c in topic["cases"]
             if c["robust"] and not re.search(skip, c["id"]) and (not options.only or re.search(options.only, c["id"]))]

    def run(case):
        with tempfile.TemporaryDirectory(prefix="wo-", dir="/tmp") as folder:
            world = World(folder)
            build(world)
            return execute(case, world, links, numbers)

    if fresh:
        with concurrent.futures.ThreadPoolExecutor(os.cpu_count() or 1) as pool:
            results = list(pool.map(run, cases))
    else:
        with tempfile.TemporaryDirectory(prefix="wo-", dir="/tmp") as folder:
            world = World(folder)
            build(world)
            results = []
            for case in cases:
                (between or {}).get(case["id"], lambda _: None)(world)
                results.append(execute(case, world, links, numbers))
    counts = {"PASS": 0, "DEVIATION": 0, "FAIL": 0}
    for case, got in zip(cases, results):
        found = run_vectors.differences(case, got, ("rc", "stdout", "stderr"))
        if run_vectors.agrees(found, listed.get(case["id"])):
            counts["DEVIATION" if found else "PASS"] += 1
            continue
        counts["FAIL"] += 1
        print("FAIL %s: %s" % (case["id"], case["cmd"]))
        print("\n".join(found.values()) if found else "    listed as a deviation, but it does not differ")
    print("%s: %d passed, %d deviate as listed, %d failed" % (
        topic["topic"], counts["PASS"], counts["DEVIATION"], counts["FAIL"]))
    return 0 if counts["FAIL"] == 0 and cases else 1
