#!/usr/bin/env python3
"""sacct against captured cases of Slurm: the jobs of vectors/09 as Grid Engine's accounting, its queue and the job
records of the shim would have them.

    accounting_vectors.py FOLDER-OF-LINKS VECTORS.json [--only REGEX]"""
import sys

import query_runner
from query_world import Job

NUMBERS = {"J%02d" % n: 70000 + n for n in range(1, 23)}
OK = {"code": 0, "sig": 0}


def build(world):
    world.cwd = str(world.folder / "cwd")
    def job(token, name, **facts):
        return Job(number=NUMBERS[token], name=name, start=-120, **facts)  # Slurm still knows them

    step = lambda name, code, **facts: dict(name=name, code=code, **facts)
    world.ended(job("J01", "ok", cpus=2, ntasks=2, end=OK, steps=(
        step("true", 0, ntasks=2), step("mystep", 0))))
    world.ended(job("J02", "f3", end={"code": 3, "sig": 0}, status=3, steps=(step("sh", 3),)))
    world.ended(job("J03", "stepfail", end=OK, steps=(step("false", 1),)))
    world.ended(job("J04", "kill9", end={"code": 137, "sig": 9}, status=137))
    world.ended(job("J05", "term", end={"code": 143, "sig": 15}, status=143))
    world.ended(job("J06", "stepkill", end={"code": 9, "sig": 0}, status=9, steps=(step("sh", 137, sig=9),)))
    world.ended(job("J07", "to", limit=1, seconds=60, failed=100, status=137, deleted_by="execd@node001",
                    steps=(dict(name="sleep"),)))
    world.ended(job("J08", "canc", failed=100, status=137, deleted_by="alice@login", steps=(dict(name="sleep"),)))
    never = job("J09", "cancpd", limit=0)
    world.submitted(never)
    note = world.state / "jobs" / ("%d.cancel" % never.number)
    note.write_text("v1 %d alice -\n" % (world.now - 200))
    note.chmod(0o600)
    world.ended(job("J10", "cancroot", failed=100, status=137, deleted_by="root@login"))
    array = job("J11", "arr")
    world.submitted(array, "0-3")
    for index in range(4):
        element = job("J11", "arr", end={"code": index, "sig": 0}, status=index)
        world.recorded(element, index + 1)
        world.accounted(element, index + 1)
    world.ended(job("J12", "e127", end={"code": 127, "sig": 0}, status=127))
    world.ended(job("J13", "nf", failed=22, hosts=("node004",)))
    waiting = job("J14", "arrpd", limit=0)
    world.submitted(waiting, "1,3-4%2")
    world.row(waiting, "hqw", tasks="1-3:1", pending=True, hold="u")
    held = job("J15", "pend", limit=0)
    world.submitted(held)
    world.row(held, "hqw", pending=True, hold="u")
    world.ended(job("J16", "averyverylongjobname", end=OK))
    running = job("J17", "run", limit=60, steps=(dict(name="sleep"),))
    world.submitted(running)
    world.recorded(running)
    world.row(running, "r")
    world.ended(job("J18", "gpu", end=OK, extra={"gpus": 2, "mem": 100, "memper": "node"}))
    world.ended(job("J19", "bobj", user="bob", end=OK), account="acct1", category="-l h_rt=300")
    world.ended(job("J20", "derived", end={"code": 2, "sig": 0}, status=2, steps=(step("sh", 5), step("sh", 9))))
    world.ended(job("J21", "n2", cpus=3, ntasks=3, hosts=("node001", "node002"), end=OK, extra={"nodes": 2}, steps=(
        step("true", 0, ntasks=3, hosts=("node001", "node002")),)))
    world.ended(job("J22", "mult", end=OK, extra={"comment": "hello"}, steps=(
        step("true", 0), step("true", 0), step("true", 0))))
    world.ended(Job(number=70023, name="a/b", end=OK))
    world.write()


if __name__ == "__main__":
    sys.exit(query_runner.main(build, NUMBERS, "^$", fresh=True))  # Slurm forgets jobs in five minutes
