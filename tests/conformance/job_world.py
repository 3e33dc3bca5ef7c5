"""The job that a case of srun was captured in, on paper: layout.json and the variables of the batch script, so that
srun finds an allocation of pretended hosts without any Grid Engine.

A job file: {"id": number, "name": text, "setup": shell, "allocations": [{"ids": regex, "hosts": {name: slots}}, ...]};
the first allocation whose `ids` match a case is that case's.
"""
import json
import os
import pathlib
import re
import resource
import tempfile

TOOLS = str(pathlib.Path(__file__).resolve().parents[1] / "fakes/step-bin")
REPORT = re.compile(r"(srun: error: \S+: )tasks? ([\d,-]+)(: .*)")


def enter(job, case_id, places, env):
    """Makes the job's folder in places["TMP"] and puts its variables into the environment."""
    hosts = next(a["hosts"] for a in job["allocations"] if re.search(a["ids"], case_id))
    folder = pathlib.Path(places["TMP"], "slurm_shim")
    folder.mkdir(mode=0o700)
    nodes = [{"index": i, "host": host, "fqdn": host, "ip": "127.0.0.1", "slots": slots, "gpus": None,
              "is_master": i == 0} for i, (host, slots) in enumerate(hosts.items())]
    facts = {"job_id": job["id"], "name": job["name"], "user": "alice", "pe_name": "mpi"}
    (folder / "layout.json").write_text(json.dumps({"schema_version": 1, "job": facts, "nodes": nodes,
                                                    "tasks": {"per_node": list(hosts.values())}}), encoding="utf-8")
    (folder / "layout.json").chmod(0o600)
    number, tasks = str(job["id"]), str(sum(hosts.values()))
    names = "node[%s]" % "-".join(host[len("node"):] for host in hosts)
    links, rest = env["PATH"].split(":", 1)
    env["PATH"] = links + ":" + TOOLS + ":" + rest
    env.update({"JOB_ID": number, "SLURM_JOB_ID": number, "SLURM_JOBID": number, "SLURM_JOB_NAME": job["name"],
                "SLURM_JOB_NUM_NODES": str(len(hosts)), "SLURM_NNODES": str(len(hosts)), "SLURM_NTASKS": tasks,
                "SLURM_NPROCS": tasks, "SLURM_JOB_NODELIST": names, "SLURM_NODELIST": names,
                "SLURM_TASKS_PER_NODE": ",".join(map(str, hosts.values()))})


def allow_cores():
    hard = resource.getrlimit(resource.RLIMIT_CORE)[1]
    resource.setrlimit(resource.RLIMIT_CORE, (hard, hard))


def has_cores():
    """Whether a process that is to dump its core can do so here: the messages tell."""
    with tempfile.TemporaryDirectory(prefix="core-") as folder:
        pid = os.fork()
        if pid == 0:
            allow_cores()
            os.chdir(folder)
            os.execv("/bin/sh", ["sh", "-c", "kill -SEGV $$"])
        return os.WCOREDUMP(os.waitpid(pid, 0)[1])


def comparable(text, cores):
    """Step numbers and times as placeholders; a report on several tasks as one line a task (how they are grouped
    depends on when they ended)."""
    text = re.sub(r"(StepId=|STEP )\{JOBID\}\.\d+", r"\1{JOBID}.{STEPID}", text)
    text = re.sub(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d", "{TIME}", text)
    if not cores:
        text = text.replace(" (core dumped)", "")
    out = []
    for line in text.splitlines(True):
        match = REPORT.fullmatch(line.rstrip("\n"))
        if not match:
            out.append(line)
            continue
        for part in match[2].split(","):
            first, _, last = part.partition("-")
            out += ["%stask %d%s\n" % (match[1], rank, match[3]) for rank in range(int(first), int(last or first) + 1)]
    return "".join(out)
