#!/usr/bin/env python3
"""What clients ask sacct, sinfo and scontrol, word for word, and what they require of the answers.

    query_contracts_test.py FOLDER-OF-LINKS"""
import json
import pathlib
import re
import subprocess
import sys
import tempfile

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "conformance"))

import sinfo_vectors  # noqa: E402
from query_world import Job, World  # noqa: E402

FINAL = {"COMPLETED", "FAILED", "CANCELLED", "TIMEOUT", "NODE_FAIL", "OUT_OF_MEMORY"}
RUNNING, ARRAY, DONE = "70017", "70011", "70002"


def build(world):
    sinfo_vectors.build(world)
    running = Job(70017, "run", limit=60, steps=(dict(name="sleep"),), extra={"mem": 100, "memper": "cpu"})
    world.submitted(running)
    world.recorded(running)
    world.row(running, "r")
    array = Job(70011, "arr")
    world.submitted(array, "0-3")
    world.row(array, "r", tasks="1")
    world.row(array, "qw", tasks="2-4:1", pending=True)
    world.ended(Job(70002, "f3", end={"code": 3, "sig": 0}, status=3, steps=(dict(name="sh", code=3),)))
    gone = Job(70030, "gap", start=-5)
    world.submitted(gone)  # neither in the queue nor in accounting yet
    world.write()


class Client:
    def __init__(self, world, links):
        self.world, self.links = world, links
        self.failed = 0

    def ask(self, *words, env=None, status=0):
        environment = self.world.environment(self.links)
        environment.update(env or {})
        done = subprocess.run(words, capture_output=True, text=True, env=environment, cwd=self.world.folder, timeout=60)
        self.expect(done.returncode == status, words, "exit %d: %s" % (done.returncode, done.stderr))
        return done.stdout

    def expect(self, good, what, seen):
        if not good:
            self.failed += 1
            print("FAIL %s: %s" % (what, seen))

    def matches(self, pattern, *words, **options):
        text = self.ask(*words, **options)
        self.expect(re.search(pattern, text, re.M), " ".join(words), repr(text[:300]))
        return text


def sacct(client):
    fields = ("sacct", "-o", "JobID,State,NodeList", "--parsable2")
    client.matches(r"^JobID\|State\|NodeList\n\d+\|RUNNING\|\S+", *fields, "-j", RUNNING)
    client.matches(r"^\d+_(\d+|\[[\d,\-]+(%\d+)?\])\|", *fields, "-j", ARRAY)
    text = client.ask(*fields, "-j", RUNNING, "-j", ARRAY)
    client.expect("70017|" in text and "70011_[1-3]|PENDING" in text, "repeated -j", text)
    client.matches(r"^JobID\|State\|NodeList\n?$", *fields, "-j", "999999")
    client.ask("sacct", "-X")
    client.matches(r"^\s*\d+\s+[A-Z_]+", "sacct", "-X", "--noheader", "--format=jobid,state%20", "--job",
                   RUNNING + "," + RUNNING)
    client.matches(r"^70002\|FAILED\|3:0\|\d+\|node001$", "sacct", "-S", "2026-11-30", "-P", "-j", DONE, "-o",
                   "jobid,state,exitcode,end,nodelist", env={"SLURM_TIME_FORMAT": "%s"})
    client.matches(r"^70017\|RUNNING\|0:0\|Unknown\|node001$", "sacct", "-S", "2020-01-01", "-P", "-j", RUNNING, "-o",
                   "jobid,state,exitcode,end,nodelist", env={"SLURM_TIME_FORMAT": "%s"})
    names = client.matches(r"\bJobID\b[\s\S]*\bState\b", "sacct", "--helpformat").split()
    lines = client.ask("sacct", "--format=" + "".join(name + "," for name in names), "--parsable",
                       "--jobs=" + RUNNING).splitlines()
    client.expect({line.count("|") for line in lines} == {len(names)}, "as many cells as names", lines[:1])
    client.matches(r"^JobID\|JobName\|Partition\|Account\|AllocCPUS\|State\|ExitCode\n\d+\|", "sacct", "--parsable2",
                   "-j", RUNNING)
    document = json.loads(client.ask("sacct", "--json", "-S1970-01-01-00:00:01"))
    states = {job["job_id"]: job["state"]["current"] for job in document["jobs"]}
    client.expect(states.get(70002) == ["FAILED"] and states.get(70017) == ["RUNNING"], "sacct --json", states)
    client.matches(r"^[A-Z_]+", "sacct", "-j", RUNNING, "--format=State", "--noheader", "--parsable2")
    client.matches(r"^70002\|FAILED$", "sacct", "-X", "--parsable2", "--clusters", "all", "--noheader",
                   "--format=JobIdRaw,State", "--starttime", "2026-11-28T10:00", "--endtime", "now", "--name", "f3")
    client.ask("sacct", "-j", RUNNING, "-n", "-X", "-o", "nodelist%-256")
    client.ask("sacct", "-j", RUNNING + ".0", "--format=Reason", "--noheader")
    row = client.ask("sacct", "-P", "--delimiter", "\x1f", "-n", "--units", "G", "--allocations", "-o",
                     "User,Group,JobId,JobName,Elapsed,ReqMem,AllocCPUS,ReqCPUS,Timelimit,State,TotalCPU,MaxRSS,"
                     "Partition,Submit,Start,End,ReqTRES", "-j", RUNNING)
    client.expect(row.rstrip("\n").count("\x1f") == 16, "17 cells", repr(row))
    gap = client.ask("sacct", "-n", "-X", "-P", "-o", "State", "-j", "70030").strip()
    client.expect(gap and gap not in FINAL, "between queue and accounting", gap)


def scontrol(client):
    for words in (("-o", RUNNING), (RUNNING, "-o")):
        line = client.matches(r"JobId=\d+ JobName=\S+ UserId=\S+\(\d+\).* JobState=[A-Z_]+ .*Partition=\S+", "scontrol",
                              "show", "job", *words)
        client.expect(line.count("\n") == 1 and all("=" in token for token in line.split()), "tokens", line)
    job = json.loads(client.ask("scontrol", "show", "job", RUNNING, "--json"))["jobs"][0]
    client.expect(job["current_working_directory"] == "/tmp", "current_working_directory", job)
    client.matches(r"PartitionName=\S+\s+.*Default=YES", "scontrol", "-a", "show", "-o", "partitions")
    client.matches(r"NodeName=\S+ .*State=[A-Z+]+.*Partitions=\S+", "scontrol", "-a", "show", "-o", "nodes")
    line = client.matches(r"^PartitionName=\S+", "scontrol", "show", "part", "-o")
    client.expect(all(re.fullmatch(r"[^=]+=.+", token) for token in line.split()), "key=value", line)
    client.matches(r"MinJobAge\s*=\s*\d+", "scontrol", "show", "config")
    client.matches(r"ProctrackType\s*=\s*proctrack/\w+", "scontrol", "show", "config")
    client.matches(r"NodeAddr=\S+", "scontrol", "show", "node=node001")
    client.matches(r"^node01\nnode02\nnode03\nnode07\nm1\n$", "scontrol", "show", "hostnames", "node[01-03,07],m1")
    client.matches(r"No reservations in the system", "scontrol", "show", "reservation")


def sinfo(client):
    client.matches(r"^slurm \d+\.\d+(\.\d+)?\s*$", "sinfo", "--version")
    client.matches(r"^PARTITION,MEMORY\n\S+\*?,\d+\+?M?\n", "sinfo", "--format", "%P,%m", "--noconvert")
    client.ask("sinfo")
    for line in client.ask("sinfo", "-h", "--Node", "-o", "%N\x1f%t\x1f%G\x1f%c\x1f%m\x1f%P").splitlines():
        cells = line.split("\x1f")
        client.expect(len(cells) == 6 and cells[3].isdigit() and cells[4].isdigit(), "six cells", line)
    client.matches(r"^\d+/\d+/\d+/\d+/\d+/\d+/\d+/\d+$", "sinfo", "-aho", "%F/%C")
    client.matches(r"^PARTITION\n(\S+\*?\n)+$", "sinfo", "-o", "%P")
    client.expect(json.loads(client.ask("sinfo", "--json"))["sinfo"], "sinfo --json", "empty")


def main():
    links = str(pathlib.Path(sys.argv[1]).resolve())
    with tempfile.TemporaryDirectory(prefix="contracts-") as folder:
        world = World(folder)
        build(world)
        client = Client(world, links)
        sacct(client)
        scontrol(client)
        sinfo(client)
        # An engine that does not answer is no empty cluster.
        world.answer("qhost", "", 1, "error: unable to send message to qmaster\n")
        world.answer("qstat -xml", "", 1, "error: unable to send message to qmaster\n")
        for words in (("sinfo",), ("sacct", "-j", RUNNING), ("scontrol", "show", "job"), ("scontrol", "show", "node")):
            text = client.ask(*words, status=1)
            client.expect("error" not in text, words, text)
    print("query contracts: %s" % ("fine" if client.failed == 0 else "%d failed" % client.failed))
    return 1 if client.failed else 0


if __name__ == "__main__":
    sys.exit(main())
