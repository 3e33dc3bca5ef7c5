#!/usr/bin/env python3
"""Runs the steps of captured jobs of real Slurm and compares what every rank saw.

    run_steps.py [--only REGEX] FOLDER-OF-LINKS 01_environment.json

A captured job is rebuilt on paper: hosts and slots from the batch environment that Slurm gave it (SLURM_JOB_NODELIST,
SLURM_JOB_CPUS_PER_NODE), so that the numbers of CPUs are Slurm's and the placement is ours; the job's script is this
program, the hosts are pretended (launcher: local). Each step then runs with that batch environment, in the order of the
vectors. Compared are exit code, stderr, and for each rank the variables that the vectors call robust, its host, working
directory and umask. A difference must be listed, with its reason, in the deviations file:

    {topic: {case id: {command of the step: {variable: reason}}}}

"*" stands for every step of the case, and a case "*" for all cases. `rc`, `stderr` and `ranks` (their number) count as
variables. Lines of stderr that begin with "srun: warning: " are the shim's own and do not count. Every host of a job is
granted the devices that the captured one had on its first; other masks than CUDA_VISIBLE_DEVICES are not to be there,
where Slurm sets several.
"""
import argparse
import json
import os
import pathlib
import re
import shlex
import subprocess
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "integration"))
from srun_world import World  # noqa: E402

JOB = 4711
OTHER_MASKS = ("ROCR_VISIBLE_DEVICES", "GPU_DEVICE_ORDINAL")
DUMP = """#!/bin/sh
exec > {folder}/$SLURM_STEP_ID.$SLURM_PROCID
printf 'CWD_REAL=%s\\0UMASK_REAL=%s\\0' "$(/bin/pwd)" "$(umask)"
exec /usr/bin/env -0
"""


def expand_hosts(text):
    hosts = []
    for part in re.findall(r"[^,\[]+(?:\[[^\]]*\])?", text):
        match = re.fullmatch(r"(.*)\[(.*)\]", part)
        if not match:
            hosts.append(part)
            continue
        for item in match[2].split(","):
            first, _, last = item.partition("-")
            for number in range(int(first), int(last or first) + 1):
                hosts.append(match[1] + str(number).zfill(len(first)))
    return hosts


def expand_counts(text):
    counts = []
    for item in text.split(","):
        value, _, times = item.partition("(x")
        counts += [int(value)] * int(times.rstrip(")") or 1)
    return counts


class Job:
    """One captured job, rebuilt."""

    def __init__(self, bin_dir, instance):
        self.batch = instance["batch_env"]
        hosts = expand_hosts(self.batch["SLURM_JOB_NODELIST"])
        self.world = World(bin_dir, hosts=hosts, slots=expand_counts(self.batch["SLURM_JOB_CPUS_PER_NODE"]),
                           tasks_per_node=expand_counts(self.batch["SLURM_TASKS_PER_NODE"]), job=JOB,
                           cpus_per_task=int(self.batch.get("SLURM_CPUS_PER_TASK", 0)), gpus=self.grants(hosts))
        self.folder = os.path.join(self.world.dir, "dump")
        os.mkdir(self.folder)
        self.program = os.path.join(self.world.dir, "PROG")
        self.world.write(self.program, DUMP.format(folder=self.folder))
        os.chmod(self.program, 0o755)
        # An element of an array has a number of its own (the layout has the engine's).
        element = int(self.batch.get("SLURM_ARRAY_TASK_ID", 0)) - int(self.batch.get("SLURM_ARRAY_TASK_MIN", 0))
        self.places = {"JOBID": str(JOB), "JOBID2": str(JOB + (element + 1) * 10000019), "CWD": self.world.work, "HOME": self.world.dir, "TMP": self.world.dir,
                       "PID": "1", "PORT": "1", "IPADDR": "127.0.0.1", "LOGINHOST": "login"}
        os.mkdir(os.path.join(self.world.dir, "arb"))

    def grants(self, hosts):
        ids = self.batch.get("SLURM_JOB_GPUS")
        return [[int(number) for number in ids.split(",")] if ids else None for _ in hosts]

    def close(self):
        self.world.close()

    def fill(self, text):
        for name, value in self.places.items():
            text = text.replace("{" + name + "}", value)
        return text

    def environment(self):
        env = {name: self.fill(value) for name, value in self.batch.items()
               if not name.endswith("_REAL") and name not in OTHER_MASKS}
        own = {name: value for name, value in self.world.env.items()
               if name not in ("HOME", "LC_ALL", "SLURM_JOB_ID")}
        env.update(own)
        env["PATH"] = self.world.bin + ":/usr/bin:/bin"
        env["Q"] = os.path.join(self.world.dir, "arb")
        return env

    def run(self, command):
        """(exit code, stderr, one dict a rank)."""
        for name in os.listdir(self.folder):
            os.unlink(os.path.join(self.folder, name))
        command = re.sub(r"\bPROG\b", shlex.quote(self.program), command)
        done = subprocess.run(["bash", "-c", command], env=self.environment(), cwd=self.world.work, umask=0o22,
                              stdin=subprocess.DEVNULL, capture_output=True, timeout=300, check=False)
        ranks = {}
        for name in os.listdir(self.folder):
            with open(os.path.join(self.folder, name), "rb") as file:
                entries = file.read().decode("utf-8", "surrogateescape").split("\0")
            ranks[int(name.split(".")[1])] = dict(e.split("=", 1) for e in entries if "=" in e)
        stderr = done.stderr.decode("utf-8", "surrogateescape").replace(str(JOB), "{JOBID}")
        return done.returncode, stderr, [ranks[number] for number in sorted(ranks)]


def wanted_ranks(step):
    ranks = [{**step["env_common"], **rank} for rank in step.get("ranks", [])]
    return [{name: text for name, text in rank.items() if name not in OTHER_MASKS} for rank in ranks]


def differences(step, got, variables, job):
    """variable -> text; the first rank that differs."""
    rc, stderr, ranks = got
    found = {}
    if rc != step["rc"]:
        found["rc"] = "want %r have %r" % (step["rc"], rc)
    stderr = "".join(line for line in stderr.splitlines(True) if not line.startswith("srun: warning: "))
    if sorted(stderr.splitlines()) != sorted(step["stderr"].splitlines()):
        found["stderr"] = "want %r have %r" % (step["stderr"], stderr)
    wanted = wanted_ranks(step)
    if len(ranks) != len(wanted):
        found["ranks"] = "want %d have %d" % (len(wanted), len(ranks))
        return found
    for number, (want, have) in enumerate(zip(wanted, ranks)):
        for name in variables:
            expected = want.get(name)
            if expected is not None:
                expected = job.fill(expected)
            seen = have.get(name)
            if expected != seen and name not in found:
                found[name] = "rank %d: want %r have %r" % (number, expected, seen)
    return found


def reasons(listed, case, command):
    out = {}
    for table in (listed.get("*", {}), listed.get(case, {})):
        for key in ("*", command):
            out.update(table.get(key, {}))
    return out


def run_case(case, bin_dir, variables, listed, seen):
    """Number of failed steps. `seen`: the listed deviations that occurred."""
    failed = 0
    job = Job(bin_dir, case["instances"][0])
    try:
        for step in case["instances"][0]["steps"]:
            found = differences(step, job.run(step["cmd"]), variables, job)
            allowed = reasons(listed, case["id"], step["cmd"])
            seen.update((case["id"], name) for name in found if name in allowed)
            wrong = {name: text for name, text in found.items() if name not in allowed}
            failed += bool(wrong)
            for name, text in wrong.items():
                print("FAIL %s: %s\n    %s: %s" % (case["id"], step["cmd"], name, text))
    finally:
        job.close()
    return failed


def stale(listed, seen):
    """Listed deviations that did not occur."""
    for case, steps in listed.items():
        for step, names in steps.items():
            for name in names:
                if not any(name == n and case in ("*", c) for c, n in seen):
                    yield "%s: %s: %s" % (case, step, name)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("links", help="folder with the commands")
    parser.add_argument("vectors")
    parser.add_argument("--deviations", default=str(pathlib.Path(__file__).with_name("deviations.json")))
    parser.add_argument("--only", default="", help="regular expression of case ids")
    options = parser.parse_args()
    topic = json.loads(pathlib.Path(options.vectors).read_text(encoding="utf-8"))
    listed = json.loads(pathlib.Path(options.deviations).read_text(encoding="utf-8")).get(topic["topic"], {})
    variables = topic["context"]["robust_vars"] + list(OTHER_MASKS)
    variables += ["CWD_REAL", "UMASK_REAL", "HOME", "USER", "LOGNAME", "SHELL", "LANG", "HOSTNAME"]
    cases = [c for c in topic["cases"] if c["robust"] and re.search(options.only, c["id"])]
    seen, failed, steps = set(), 0, 0
    for case in cases:
        failed += run_case(case, str(pathlib.Path(options.links).resolve()), variables, listed, seen)
        steps += len(case["instances"][0]["steps"])
    for text in stale(listed, seen) if not options.only else []:
        failed += 1
        print("FAIL listed as a deviation, but it does not differ: %s" % text)
    print("%s: %d cases, %d steps, %d failed" % (topic["topic"], len(cases), steps, failed))
    return 0 if not failed and cases else 1


if __name__ == "__main__":
    sys.exit(main())
