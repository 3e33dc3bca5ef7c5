#!/usr/bin/env python3
"""Runs the captured file name cases of sbatch through every part that has to do with them: sbatch with a stand-in for
qsub, then, as the engine would, PE hook, starter and batch-exec for each task. Compares answer, files left behind and
end of the job.

    batch_files.py [--only REGEX] FOLDER-OF-LINKS VECTORS.json

A difference must be listed in deviations.json with its reason, as for run_vectors.py.
"""
import argparse
import concurrent.futures
import json
import os
import pathlib
import re
import subprocess
import sys
import tempfile
import types

import recorded
import run_vectors

HERE = pathlib.Path(__file__).resolve().parent
STARTER = HERE.parents[1] / "scripts/starter_method.sh"
JOB, HOST = 71001, "node001"
STRIDE = 10000019


def setting(links):
    return run_vectors.Setting(types.SimpleNamespace(
        **{"links": links, "tools": str(HERE.parent / "fakes/ge-bin"), "config": str(HERE / "sbatch.yaml"),
           "fields": "rc,stdout", "job_id": "", "timeout": 120, "recorded": False, "ignore_stderr": "", "case_env": [],
           "job": "", "files": False, "only": "",
           "env": ["SGE_CELL=oracle", "FAKE_GE_PAR=1", f"FAKE_GE_FIRST={JOB}", f"FAKE_GE_HOSTS={HOST}",
                   "FAKE_GE_QUEUES=batch.q gpu.q debug.q spare.q"]}))


def option(argv, name):
    return argv[argv.index(name) + 1] if name in argv else None


def tasks_of(argv):
    spec = option(argv, "-t")
    if spec is None:
        return [None]
    span, _, step = spec.partition(":")
    first, _, last = span.partition("-")
    return list(range(int(first), int(last or first) + 1, int(step or 1)))


def engine_environment(got, task, places, tmp, wanted):
    argv, workdir = got["argv"], option(got["argv"], "-wd")
    (tmp / "hosts").write_text(f"{os.uname().nodename} 1 batch.q@{os.uname().nodename} UNDEFINED\n", encoding="utf-8")
    env = {name: places["HOME"] if name == "HOME" else "alice" for name in ("HOME", "USER", "LOGNAME")}
    env.update(PATH="/usr/bin:/bin", JOB_ID=str(JOB), JOB_NAME=option(argv, "-N"), NSLOTS="1", NHOSTS="1", NQUEUES="1",
               PE="slurm-shim", PE_HOSTFILE=str(tmp / "hosts"), QUEUE="batch.q", RESTARTED="0", ENVIRONMENT="BATCH",
               TMPDIR=str(tmp), SGE_TASK_ID="undefined" if task is None else str(task), SGE_CWD_PATH=workdir,
               SGE_O_WORKDIR=workdir, SGE_STARTER_SHELL_PATH="/bin/bash", SGE_STARTER_SHELL_START_MODE="unix_behavior",
               SLURM_SHIM_REQ=got["env"]["SLURM_SHIM_REQ"], SLURM_SHIM_CONFIG=wanted.config,
               SLURM_SHIM_GE_BIN=wanted.tools, LC_ALL="C.UTF-8")
    return env, workdir


def run_task(got, task, places, root, wanted):
    tmp = pathlib.Path(root, f"task{task or ''}")
    tmp.mkdir(mode=0o700)
    env, workdir = engine_environment(got, task, places, tmp, wanted)
    subprocess.run([wanted.links + "/slurm-shim-env"], env=env, cwd=workdir, timeout=60, check=True,
                   capture_output=True)
    batch = tmp / "slurm_shim/batch.json"
    job = json.loads(batch.read_text(encoding="utf-8"))
    job["host"] = HOST
    batch.write_text(json.dumps(job), encoding="utf-8")
    script = tmp / "script"
    script.write_text(got["script"], encoding="utf-8")
    script.chmod(0o700)
    with open(option(got["argv"], "-o"), "ab") as log:
        subprocess.run([str(STARTER), str(script)], env=env, cwd=workdir, stdin=subprocess.DEVNULL, stdout=log,
                       stderr=log, start_new_session=True, timeout=60, check=False)
    record = pathlib.Path(job["dir"], "jobs", str(JOB) + ("" if task is None else f".{task}") + ".jsonl")
    end = [json.loads(line) for line in record.read_text(encoding="utf-8").splitlines()][-1]
    if end["reason"] == "output":
        return "FAILED", "0:53"
    return "FAILED" if end["code"] else "COMPLETED", "%d:%d" % (end["code"], end["sig"])


def placeholders(text):
    """The job's number, padded or not, and the elements' own."""
    text = re.sub(r"(?<!\d)(0*)%d(?!\d)" % JOB,
                  lambda m: "{JOBID:%03d}" % len(m.group(0)) if m.group(1) else "{JOBID}", text)
    own = re.compile(r"(?<!\d)(\d{8,9})(?!\d)")
    return own.sub(lambda m: "{JOBID%d}" % (int(m.group(1)) // STRIDE + 1)
                   if int(m.group(1)) % STRIDE == JOB else m.group(0), text)


def files_of(folder):
    return {placeholders(str(path.relative_to(folder))): path.read_text(encoding="utf-8")
            for path in sorted(folder.rglob("*")) if path.is_file() and path.name != "job.sh"}


def execute(case, wanted):
    with tempfile.TemporaryDirectory(prefix="batch-") as root:
        places = {"CWD": root + "/cwd", "HOME": root + "/home", "TMP": root + "/tmp"}
        for path in (*places.values(), root + "/engine", places["CWD"] + "/sub"):
            os.mkdir(path)
        cwd = pathlib.Path(places["CWD"])
        (cwd / "job.sh").write_text(case["script"], encoding="utf-8")
        env = dict(run_vectors.environment(wanted, places), FAKE_GE_DIR=root + "/engine")
        env.update(case.get("env", {}))
        if "setup" in case:
            subprocess.run(["bash", "-c", case["setup"]], cwd=cwd, check=True)
        # No test writes to /etc, not even one that root runs.
        command = case["cmd"].replace("/etc/", "/proc/")
        done = subprocess.run(["bash", "-c", command], cwd=cwd, env=env, capture_output=True, text=True, timeout=120,
                              check=False)
        answer = {"rc": done.returncode, "stdout": placeholders(done.stdout), "stderr": done.stderr}
        found = recorded.last_submission(places["HOME"], root + "/engine")
        if found is None:
            return dict(answer, files=files_of(cwd), ends=[])
        ends = [run_task(found[2], task, places, root, wanted) for task in tasks_of(found[2]["argv"])]
        return dict(answer, files=files_of(cwd), ends=ends)


def differences(case, got):
    parsed = case["parsed"]
    pairs = {"rc": (case["rc"], got["rc"]), "stdout": (case["stdout"], got["stdout"]),
             "files": (parsed["files"], got["files"]),
             "ends": (sorted(zip(parsed["job_state"], parsed["exit_code"])), sorted(got["ends"]))}
    return {name: "    %s: want %r\n    %s  have %r" % (name, want, " " * len(name), have)
            for name, (want, have) in pairs.items() if want != have}


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("links")
    parser.add_argument("vectors")
    parser.add_argument("--only", default="")
    options = parser.parse_args()
    topic = json.loads(pathlib.Path(options.vectors).read_text(encoding="utf-8"))
    listed = json.loads((HERE / "deviations.json").read_text(encoding="utf-8")).get(topic["topic"], {})
    cases = [c for c in topic["cases"] if c["robust"] and c["id"].startswith("file.sbatch.")
             and re.search(options.only, c["id"])]
    wanted = setting(options.links)
    with concurrent.futures.ThreadPoolExecutor(2 * (os.cpu_count() or 1)) as pool:
        results = list(pool.map(lambda c: execute(c, wanted), cases))
    failed = 0
    for case, got in zip(cases, results):
        found = differences(case, got)
        if run_vectors.agrees(found, listed.get(case["id"])):
            continue
        failed += 1
        print("FAIL %s: %s" % (case["id"], case["cmd"]))
        print("\n".join(found.values()) if found else "    listed as a deviation, but it does not differ")
    print("%d cases, %d failed" % (len(cases), failed))
    return 1 if failed or not cases else 0


if __name__ == "__main__":
    sys.exit(main())
