#!/usr/bin/env python3
"""scontrol against captured cases of Slurm: the jobs of vectors/10 in Grid Engine's queue, with stand-ins for qhold,
qrls, qalter and qmod that change it.

    scontrol_vectors.py FOLDER-OF-LINKS VECTORS.json [--only REGEX]
    scontrol_vectors.py --act FOLDER NOW TOOL WORD...    what a stand-in does"""
import json
import pathlib
import sys

import query_runner
import sinfo_vectors
from query_world import Job, World

NUMBERS = {"J%02d" % n: 70000 + n for n in range(1, 24)}
HELD = ("J07", "J11", "J16", "J21", "J22", "J23")
WAITING = ("J06", "J08", "J09", "J10", "J12", "J13", "J14", "J20")
FOREIGN = str(NUMBERS["J02"])
NOTHING = {"hold": [], "release": [], "suspend": [], "queue": {}, "after": {}}
DENIED = 'denied: "alice" must be at least %s\n'


def build(world, changes=None):
    """`changes`: names of jobs and tasks ("70007", "70005.6") that were held, released, suspended; queues, predecessors."""
    changes = changes or NOTHING
    sinfo_vectors.build(world)

    def job(token, name, **facts):
        queue = changes["queue"].get(str(NUMBERS[token]), "batch.q")
        return Job(number=NUMBERS[token], name=name, partition=queue[:-2], **facts)

    def hold_of(name, hold):
        if hold == "u" and name in changes["release"]:
            hold = ""
        return hold or ("u" if name in changes["hold"] else "")

    def running(this, **facts):
        world.submitted(this)
        world.recorded(this)
        world.row(this, "s" if str(this.number) in changes["suspend"] else "r", **facts)

    running(job("J01", "run1", cpus=2, ntasks=2, limit=60))
    running(job("J02", "longjobname_xyz", user="bob", hosts=("node002", "node003"), cpus=4))
    running(job("J03", "steps", cpus=2, ntasks=2, steps=(dict(name="named"), dict(name="sleep"))))
    array = job("J05", "arr", hosts=("node004",))
    world.submitted(array, "0-5%2")
    world.row(array, "r", tasks="1")
    world.row(array, "r", tasks="2")
    tasks = [t for t in range(3, 7) if not hold_of("%d.%d" % (array.number, t), "")]
    world.row(array, "qw", tasks=",".join(map(str, tasks)), pending=True)
    for task in sorted({3, 4, 5, 6} - set(tasks)):
        world.row(array, "hqw", tasks=str(task), pending=True, hold="u")
    for token in HELD + WAITING:
        this = job(token, token.lower())
        world.submitted(this, "0,3,6,9" if token == "J11" else None)
        hold = hold_of(str(this.number), "s" if token == "J16" else "u" if token in HELD else "")
        world.row(this, "hqw" if hold else "qw", pending=True, hold=hold, tasks="1-4:1" if token == "J11" else "",
                  after=[number for number in changes["after"].get(str(this.number), "").split(",") if number])
    world.ended(job("J19", "comp", start=-60, end={"code": 0, "sig": 0}))
    world.write()
    for tool in ("qhold", "qrls", "qalter", "qmod"):
        world.script(tool, '#!/bin/sh\nexec python3 "%s" --act "%s" %d %s "$@"\n' % (
            pathlib.Path(__file__).resolve(), world.folder, world.now, tool))


def change(world, what, names):
    path = world.folder / "changes.json"
    changes = json.loads(path.read_text()) if path.exists() else json.loads(json.dumps(NOTHING))
    if isinstance(changes[what], dict):
        changes[what].update(names)
    else:
        opposite = {"hold": "release", "release": "hold"}.get(what)
        changes[what] = sorted(set(changes[what]) | set(names))
        if opposite:
            changes[opposite] = sorted(set(changes[opposite]) - set(names))
    path.write_text(json.dumps(changes))
    build(world, changes)


def resume(world):
    """What an administrator did between two of the captured cases."""
    (world.folder / "changes.json").unlink(missing_ok=True)
    build(world)


def act(folder, now, tool, *words):
    """The engine's answer to one call; only what the captured cases do is known."""
    names = words[-1].split(",")
    options = dict(zip(words[:-1:2], words[1:-1:2]))
    if tool == "qmod" and "-d" in words:
        print('alice - you have no permission to modify queue "%s"' % words[-1])
        return 1
    if FOREIGN in names:
        print(DENIED % ("owner of job %s to change job attributes" % FOREIGN))
        return 1
    if tool == "qrls" and str(NUMBERS["J16"]) in names:
        print(DENIED % ("operator to remove the system hold of %s" % names[0]))
        return 1
    if options.get("-p") == "1024":
        print(DENIED % "operator to set priority to a positive value")
        return 1
    world = World(folder, now)
    if tool == "qhold":
        change(world, "hold", names)
    elif tool == "qrls":
        change(world, "release", names)
    elif "-sj" in words:
        change(world, "suspend", names)
    elif "-q" in options:
        change(world, "queue", {name: options["-q"] for name in names})
    elif "-hold_jid" in options:
        change(world, "after", {name: options["-hold_jid"].strip() for name in names})
    else:
        change(world, "queue", {})
    print("modified job %s" % words[-1])
    return 0


if __name__ == "__main__":
    if sys.argv[1] == "--act":
        sys.exit(act(sys.argv[2], int(sys.argv[3]), *sys.argv[4:]))
    sys.exit(query_runner.main(build, NUMBERS, "^$", between={"res.again": resume}))
