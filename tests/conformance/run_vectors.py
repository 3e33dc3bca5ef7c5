#!/usr/bin/env python3
"""Runs captured cases of real Slurm against the built commands and compares what they print and exit with.

    run_vectors.py [options] FOLDER-OF-LINKS VECTORS.json...

Only cases marked robust are run. A difference must be listed, with its reason, in the deviations file
({topic: {case id: reason}}), and a listed case that no longer differs is a failure too, so the list stays true.
A reason may be given per field ({case id: {"stdout": reason}}): the other fields must not differ then.

Files that a case's notes describe but its `files` do not hold come from files.json ({topic: {case id: {name: content}}});
a name that ends in a slash is an empty folder.

With --job FILE ({"layout": layout.json, "env": variables}) the cases run as the batch script of a job with pretended
hosts would: the layout is where the commands look for it, the variables are set.

The files that a case leaves (parsed.files) are compared with --files; the order of lines in one that several tasks
wrote does not count.

Each case runs `bash -c CMD` in an empty working directory of its own, with HOME and TMPDIR beside it and the
links first on PATH; FAKE_GE_DIR is a folder for the stand-ins; nothing of the caller's SLURM_*, SBATCH_*, SQUEUE_*, SGE_* variables reaches it. Grid Engine
is what --tools offers (stand-ins named qsub, qstat, ...); without it no tool is found. The placeholders of the
vectors are put back into the output before comparing: {CWD} {HOME} {TMP}, {LOGINHOST}, and {JOBID}, {JOBID2}, ...
for the numbers that match --job-id, in order of appearance.

With --job each case runs in the job that this file pretends for it (job_world.py); `signals` of a case are sent to its
srun.
"""
import argparse
import concurrent.futures
import hashlib
import json
import os
import pathlib
import re
import shlex
import signal
import subprocess
import sys
import tempfile
import time

import job_world
import recorded

CLEARED = re.compile(r"^(SLURM|SBATCH|SRUN|SQUEUE|SCANCEL|SCONTROL|SGE|JOB_|PE_|NSLOTS|NHOSTS)")


class Setting:
    """What is the same for all cases of a run."""

    def __init__(self, options):
        self.links = str(pathlib.Path(options.links).resolve())
        self.tools = str(pathlib.Path(options.tools).resolve()) if options.tools else "/nonexistent"
        self.config = str(pathlib.Path(options.config).resolve()) if options.config else ""
        self.fields = options.fields.split(",")
        self.job_id = re.compile(options.job_id) if options.job_id else None
        self.extra_env = dict(pair.split("=", 1) for pair in options.env)
        self.timeout = options.timeout
        self.recorded = options.recorded
        self.files = options.files
        self.job = json.loads(pathlib.Path(options.job).read_text(encoding="utf-8")) if options.job else None
        self.cores = not options.job or job_world.has_cores()
        self.noise = re.compile(options.ignore_stderr) if options.ignore_stderr else None
        self.case_env = [pair.split("=", 2) for pair in options.case_env]


def environment(setting, places):
    env = {k: v for k, v in os.environ.items() if not CLEARED.match(k)}
    env.update(HOME=places["HOME"], TMPDIR=places["TMP"], LC_ALL="C.UTF-8", USER="alice", LOGNAME="alice")
    env["PATH"] = setting.links + ":/usr/bin:/bin"
    env["SLURM_SHIM_GE_BIN"] = setting.tools
    env["SLURM_SHIM_CONFIG"] = setting.config or places["HOME"] + "/no-config.yaml"
    env.update(setting.extra_env)
    return env


OTHER_JOB = "70025"  # {JOBID2} of a command line: a job that was there before


def fill(text, places):
    for name, path in places.items():
        text = text.replace("{" + name + "}", path)
    return text.replace("{JOBID2}", OTHER_JOB)


def grown(content):
    """A file too long for the vectors is described: "head" + COUNT x "piece" + "tail"."""
    match = re.fullmatch(r'("[^"]*") \+ (\d+) x ("[^"]*") \+ ("[^"]*")', content)
    if not match:
        return content
    head, count, piece, tail = match.groups()
    return json.loads(head) + int(count) * json.loads(piece) + json.loads(tail)


def write_files(case, places):
    modes = case.get("files_mode", {})
    for name, content in case.get("files", {}).items():
        path = pathlib.Path(places["CWD"], fill(name, places))
        if name.endswith("/"):
            path.mkdir(parents=True, exist_ok=True)
            continue
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(grown(fill(content, places)).encode("utf-8", "surrogateescape"))
        path.chmod(int(str(modes.get(name, "0o644")), 8))


def wanted_files(case):
    return case.get("parsed", {}).get("files", {})


def left_files(folder):
    return {str(path.relative_to(folder)): path.read_text(encoding="utf-8", errors="surrogateescape")
            for path in pathlib.Path(folder).rglob("*") if path.is_file()}


def normalize(text, setting, places, jobs):
    for name in sorted(places, key=lambda n: -len(places[n])):
        text = text.replace(places[name], "{" + name + "}")
    if setting.job_id is None:
        return text

    def placeholder(match):
        number = jobs.setdefault(match.group(0), len(jobs) + 1)
        return "{JOBID}" if number == 1 else "{JOBID%d}" % number

    return setting.job_id.sub(placeholder, text)


def words(command):
    """The argument vector of a case with signals: captured unquoted, whatever follows `sh -c` was one word."""
    head, found, script = command.partition(" sh -c ")
    return shlex.split(head) + (["sh", "-c", script] if found else [])


def run_signalled(case, common):
    """The case's command is started by itself and gets its signals at their times."""
    limit = common.pop("timeout")
    argv = words(case["cmd"])
    argv[0] = common["env"]["PATH"].split(":")[0] + "/" + argv[0]
    process = subprocess.Popen(argv, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE, **common)
    for item in case["signals"]:
        time.sleep(item["delay_s"])  # the captured moment is part of the case
        process.send_signal(getattr(signal, item["signal"]))
    out, err = process.communicate(timeout=limit)
    return subprocess.CompletedProcess(argv, process.returncode, out, err)


def run_command(case, places, common):
    if case.get("signals"):
        return run_signalled(case, dict(common))
    stdin = fill(case["stdin"], places).encode("utf-8", "surrogateescape") if "stdin" in case else b""
    return subprocess.run(["bash", "-c", fill(case["cmd"], places)], input=stdin, capture_output=True, **common)


def execute(case, setting):
    with tempfile.TemporaryDirectory(prefix="vector-") as root:
        places = {"CWD": root + "/cwd", "HOME": root + "/home", "TMP": root + "/tmp"}
        for path in places.values():
            os.mkdir(path)
        os.mkdir(root + "/engine")
        env = environment(setting, places)
        if setting.job:
            job_world.enter(setting.job, case["id"], places, env)
        write_files(case, places)
        env["FAKE_GE_DIR"] = root + "/engine"
        env.update({k: fill(v, places) for k, v in (case.get("env") or {}).items()})
        env.update({name: value for ids, name, value in setting.case_env if re.search(ids, case["id"])})
        common = dict(cwd=places["CWD"], env=env, timeout=setting.timeout,
                      preexec_fn=job_world.allow_cores if setting.job else None)
        for setup in (setting.job and setting.job.get("setup"), case.get("setup")):
            if setup:
                subprocess.run(["bash", "-c", fill(setup, places)], check=True, capture_output=True, **common)
        before = set(left_files(places["CWD"]))
        try:
            done = run_command(case, places, common)
        except subprocess.TimeoutExpired:
            return {"rc": "TIMEOUT", "stdout": "", "stderr": ""}
        files = {k: v for k, v in left_files(places["CWD"]).items() if k not in before or k in wanted_files(case)}
        shown = recorded.show(places["HOME"], root + "/engine") if setting.recorded else None
    rc = done.returncode if done.returncode >= 0 else 128 - done.returncode
    jobs = {}
    texts = [normalize(t.decode("utf-8", "surrogateescape"), setting, places, jobs) for t in (done.stdout, done.stderr)]
    if setting.job:
        texts = [job_world.comparable(text, setting.cores) for text in texts]
    if setting.noise is not None:
        texts[1] = "".join(line for line in texts[1].splitlines(True) if not setting.noise.search(line))
    got = {"rc": rc, "stdout": texts[0], "stderr": texts[1]}
    if setting.files:
        got["files"] = {k: normalize(v, setting, places, jobs) for k, v in files.items()}
    if shown is not None:
        got["recorded"] = {k: normalize(v, setting, places, jobs) if v else v for k, v in shown.items()}
    return got


def summary(text):
    """The form that vectors give to long outputs."""
    lines = text.splitlines()
    data = text.encode("utf-8", "surrogateescape")
    return {"lines": len(lines), "first": lines[:3], "last": lines[-3:], "bytes": len(data),
            "sha256": hashlib.sha256(data).hexdigest()}


def expected(case, setting):
    """The case in the form that execute() gives its results."""
    if not setting.job:
        return case
    changed = {k: job_world.comparable(case[k], setting.cores) for k in ("stdout", "stderr") if case.get(k)}
    return dict(case, **changed)


def differences(case, got, fields):
    found = {}
    for field in fields:
        # The lines themselves, or only that those of `field` come in any order.
        unordered = case.get(field + "_unordered")
        if isinstance(unordered, bool):
            unordered = case[field] if unordered else None
        if unordered is not None:
            want = sorted(unordered if isinstance(unordered, list) else unordered.splitlines())
            have = sorted(got[field].splitlines())
        elif field == "stdout" and case.get("stdout") is None and "sha256" in case.get("parsed", {}):
            want, have = case["parsed"], {k: v for k, v in summary(got["stdout"]).items() if k in case["parsed"]}
        else:
            want, have = case.get(field), got[field]
        if want != have:
            found[field] = "    %s: want %r\n    %s: have %r" % (field, want, " " * len(field), have)
    if "files" in got and "files" in case.get("parsed", {}):
        in_order = "line_order_in_files" not in case["parsed"]
        want, have = ({name: text if in_order else sorted(text.splitlines()) for name, text in files.items()}
                      for files in (wanted_files(case), got["files"]))
        if want != have:
            found["files"] = "    files: want %r\n    files: have %r" % (want, have)
    if "recorded" in got and case.get("parsed"):
        wrong = recorded.differences(case["parsed"], got["recorded"])
        if wrong:
            found["recorded"] = "\n".join(wrong)
    return found


def agrees(found, reason):
    """Whether the fields that differ are those that may (and do)."""
    return set(found) == set(reason) if isinstance(reason, dict) else bool(found) == bool(reason)


def add_files(topic, cases):
    table = json.loads(pathlib.Path(__file__).with_name("files.json").read_text(encoding="utf-8")).get(topic, {})
    for case in cases:
        case["files"] = dict(case.get("files") or {}, **table.get(case["id"], {}))


def run_topic(path, setting, deviations, only):
    with open(path, encoding="utf-8") as stream:
        topic = json.load(stream)
    name = topic["topic"]
    listed = deviations.get(name, {})
    cases = [c for c in topic["cases"] if c["robust"] and (not only or re.search(only, c["id"]))]
    add_files(name, cases)
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count() or 1) as pool:
        results = list(pool.map(lambda c: execute(c, setting), cases))
    counts = {"PASS": 0, "DEVIATION": 0, "FAIL": 0}
    for case, got in zip(cases, results):
        found = differences(expected(case, setting), got, setting.fields)
        if agrees(found, listed.get(case["id"])):
            counts["DEVIATION" if found else "PASS"] += 1
            continue
        counts["FAIL"] += 1
        print("FAIL %s %s: %s" % (name, case["id"], case["cmd"]))
        print("\n".join(found.values()) if found else "    listed as a deviation, but it does not differ")
    known = {c["id"] for c in topic["cases"]}
    for stray in sorted(set(listed) - known) if not only else []:
        counts["FAIL"] += 1
        print("FAIL %s: the deviations name an unknown case %s" % (name, stray))
    print("%s: %d passed, %d deviate as listed, %d failed" % (name, counts["PASS"], counts["DEVIATION"], counts["FAIL"]))
    return counts["FAIL"] == 0 and bool(cases)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("links", help="folder with the commands")
    parser.add_argument("vectors", nargs="+")
    parser.add_argument("--deviations", default=str(pathlib.Path(__file__).with_name("deviations.json")))
    parser.add_argument("--tools", help="folder with stand-ins for Grid Engine's tools")
    parser.add_argument("--config", help="configuration file of the shim")
    parser.add_argument("--fields", default="rc,stdout,stderr")
    parser.add_argument("--job-id", default="", help="regular expression of the stand-ins' job numbers")
    parser.add_argument("--env", action="append", default=[], metavar="NAME=VALUE")
    parser.add_argument("--case-env", action="append", default=[], metavar="IDS=NAME=VALUE",
                        help="a variable for the cases whose id matches the regular expression IDS")
    parser.add_argument("--ignore-stderr", default="", help="regular expression of lines of stderr that do not count")
    parser.add_argument("--recorded", action="store_true", help="compare `parsed` with what sbatch recorded")
    parser.add_argument("--job", help="the job that the cases run in")
    parser.add_argument("--files", action="store_true", help="compare the files that a case leaves")
    parser.add_argument("--only", default="", help="regular expression of case ids")
    parser.add_argument("--timeout", type=float, default=60)
    options = parser.parse_args()
    deviations = json.loads(pathlib.Path(options.deviations).read_text(encoding="utf-8"))
    setting = Setting(options)
    good = [run_topic(path, setting, deviations, options.only) for path in options.vectors]
    return 0 if all(good) else 1


if __name__ == "__main__":
    sys.exit(main())
