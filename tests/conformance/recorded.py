"""What sbatch left behind for its last job, in the terms of `scontrol show job`: read from the .submit file and from
what the stand-in for qsub was given."""
import json
import pathlib
import re
import urllib.parse

ELEMENT = "4294967294"  # what Slurm shows for %a of an array that has not been split up


def last_submission(home, engine):
    """(submit record, .submit file, what qsub got), or nothing when no job was submitted."""
    last = pathlib.Path(engine, "last")
    if not last.exists():
        return None
    job = last.read_text(encoding="ascii")
    files = sorted(pathlib.Path(home).glob(".local/state/slurm-shim/*/jobs/%s.submit" % job))
    if not files:
        return None
    submit = json.loads(files[0].read_text(encoding="utf-8"))
    record = {}
    for item in submit["req"].split(";")[1:]:
        key, _, value = item.partition("=")
        record[key] = urllib.parse.unquote(value)
    return record, submit, json.loads(pathlib.Path(engine, job + ".json").read_text(encoding="utf-8"))


def limit(minutes):
    if minutes is None:
        return "UNLIMITED"
    days, rest = divmod(int(minutes), 1440)
    return ("%d-" % days if days else "") + "%02d:%02d:00" % divmod(rest, 60)


def memory(mebibytes):
    value, unit = int(mebibytes), 0
    while value and value % 1024 == 0 and unit < 4:
        value, unit = value // 1024, unit + 1
    return "%d%s" % (value, "MGTPE"[unit]) if value else "0"


def path(pattern, record, job, folder):
    def verb(match):
        width, letter = match.groups()
        value = {"j": job, "A": job, "a": ELEMENT, "x": record["name"], "%": "%", "u": "alice"}.get(letter)
        if value is None:
            return match.group(0)
        return value.rjust(int(width), "0") if width and value.isdigit() else value

    expanded = re.sub(r"%(\d*)([A-Za-z%])", verb, pattern)
    return expanded if expanded.startswith("/") else folder + "/" + expanded


def tasks(record):
    if "ntasks" in record:
        return int(record["ntasks"])
    counts = [int(n) for n in record.get("tpn", "1").split(",")]
    return counts[0] * int(record.get("nodes", 1)) if len(counts) == 1 else sum(counts)


def gres(record, key):
    kind = record["gtype"] + ":" if "gtype" in record else ""
    return "gres:gpu:%s%s" % (kind, record[key]) if key in record else None


def show(home, engine):
    """Fields of scontrol; a field that is None was not asked for."""
    found = last_submission(home, engine)
    if found is None:
        return None
    record, submit, got = found
    argv = got["argv"]
    folder = record.get("wd") or argv[argv.index("-wd") + 1]
    job = str(submit["job"])
    array, _, throttle = record.get("array", "").partition("%")
    per = record.get("memper")
    out = path(record["out"], record, job, folder)
    return {
        "JobName": record["name"],
        "TimeLimit": limit(record.get("time")),
        "NumNodes": record.get("nodes"),
        "NumTasks": str(tasks(record)),
        "CPUs/Task": record.get("cpt", "1"),
        "Partition": record.get("part"),
        "Comment": record.get("comment"),
        "Command": record.get("cmd", "(null)"),
        "WorkDir": folder,
        "StdOut": out,
        "StdErr": path(record["err"], record, job, folder) if "err" in record else out,
        "StdIn": record["in"],
        "Nice": record.get("nice", "0"),
        "Requeue": record["requeue"],
        "MinMemoryNode": memory(record["mem"]) if per == "node" else None,
        "MinMemoryCPU": memory(record["mem"]) if per == "cpu" else None,
        "ArrayTaskId": record.get("array") or None,
        "ArrayTaskThrottle": throttle or None,
        "Dependency": record.get("dep", "(null)"),
        "TresPerJob": gres(record, "gpus"),
        "TresPerNode": record.get("tres") or gres(record, "gpn"),
        "TresPerTask": gres(record, "gpt"),
        "MailType": record.get("mail"),
        "BatchScript": got["script"],
    }


# Fields of which Slurm shows something else than what was asked for: its guess of the hosts of a job without -N; a
# memory of 0; the job's own number in Dependency is compared without the state behind it.
def differences(wanted, shown):
    found = []
    for field, value in wanted.items():
        if field not in shown:
            continue
        have = shown[field]
        if field == "NumNodes":
            value = value.split("-")[0]
            have = value if have is None else have
        if field == "Dependency":
            value = value.replace("(unfulfilled)", "").replace("70025", "{JOBID2}")
        if field in ("MinMemoryNode", "MinMemoryCPU") and value in ("0", None):
            have = value if have in ("0", None) else have
        if field.startswith("Tres") and value and have == value + ":1":
            have = value  # a count that was not written is 1
        if value is None and field in ("MailType", "BatchScript"):
            continue
        if value is not None and have is None and value in ("", "0", "(null)"):
            have = value
        if value != have:
            found.append("    %s: want %r\n    %s: have %r" % (field, value, " " * len(field), have))
    return found
