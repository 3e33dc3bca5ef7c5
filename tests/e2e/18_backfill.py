#!/usr/bin/env python3
"""Gang start and backfill with the textbook's five jobs: 16 slots, all submitted through sbatch before the queue is
enabled. Four clusters of two hosts with 8 slots each live side by side, each in a queue of its own, so that all of
them take no longer than the slowest:

honest    --time as long as the jobs are, and a reservation for the big one
padded    60 units of --time for the small ones: nothing fits before the reservation
starved   no reservation, and a stream of small jobs, each of which ends only when the next one has begun
spared    the same stream with a reservation

A unit of the book is BACKFILL_UNIT seconds of sleep (1). --time knows whole minutes only: a unit of it is 3 s, rounded
up, which keeps what matters (8 units end before 40 units do, 60 units do not)."""
import contextlib
import math
import os
import re

from cluster import NODES, expect, expect_equal, run, wait_until

UNIT = float(os.environ.get("BACKFILL_UNIT", "1"))
LIMIT_UNIT = 3
HOSTS, SLOTS = NODES[:2], 8
CELLS = {"honest": "multi_node", "padded": "multi_node", "starved": "never", "spared": "multi_node"}
# Units of run time and of --time. --nice keeps the book's order of priorities, also against the urgency of a job's size.
LONG, BIG = ("long", "-N1 -n8", 40, 40, 0), ("big", "-N2 --ntasks-per-node=8", 20, 20, 20)
SMALL = (("smallX", "-N1 -n4", 8, 200), ("smallY", "-N1 -n4", 8, 400), ("smallZ", "-N1 -n8", 8, 600))
STREAM = [f"stream{i}" for i in range(1, 6)]
JOB = ('#!/bin/bash\nsay() { date "+$SLURM_JOB_NAME $1 %s.%N $SLURM_JOB_NUM_NODES $SLURM_TASKS_PER_NODE" >> "log.$CELL"; }\n'
       'say start; $DO; say end\n')
WAIT = '#!/bin/bash\nuntil grep -q "^$1 start" log.$CELL; do sleep 0.1; done\n'


# What OCS is delivered with; Debian's 8.1.9 gives priorities no weight at all.
WEIGHTS = {"weight_priority": "1.0", "weight_urgency": "0.1", "weight_ticket": "0.01", "max_reservation": "32"}


def minutes(units):
    return max(1, math.ceil(units * LIMIT_UNIT / 60))


def root(c, script):
    return c.ok("bash", "-c", "set -e\n" + script, user="root", cwd="/")


def changed(text, values):
    """An object of qconf with other values."""
    text = re.sub(r"\\\n\s*", "", text)
    for name, value in values.items():
        text = re.sub(rf"(?m)^{name}\s.*", f"{name} {value}", text)
    return text


@contextlib.contextmanager
def clusters(c):
    """Queues of their own, disabled, for the time of the test; the hosts get the slots that these offer, priorities
    their weight."""
    scheduler = root(c, "qconf -ssconf")
    instance = root(c, "qconf -sq batch.q")
    slots = {host: re.search(r"slots=([\d.]+)", root(c, f"qconf -se {host}"))[1] for host in HOSTS}
    try:
        c.write("scheduler", changed(scheduler, WEIGHTS))
        root(c, f"qconf -Msconf {c.folder}/scheduler")
        for host in HOSTS:
            root(c, f"qconf -mattr exechost complex_values slots={SLOTS * len(CELLS)} {host}")
        for cell in CELLS:
            c.write(cell + ".queue", changed(instance, {
                "qname": cell + ".q", "hostlist": " ".join(HOSTS), "slots": SLOTS,
                "pe_list": f"slurm-shim-smp slurm-shim-{SLOTS}"}))
            root(c, f"qconf -Aq {c.folder}/{cell}.queue && qmod -d {cell}.q")
        yield
    finally:
        try:
            c.exec("scancel", *c.jobs)
            for job in c.jobs:
                c.wait_gone(job)
        finally:
            c.write("scheduler", scheduler)
            restore = [f"qconf -Msconf {c.folder}/scheduler"] + [f"qconf -dq {cell}.q" for cell in CELLS]
            restore += [f"qconf -mattr exechost complex_values slots={n} {host}" for host, n in slots.items()]
            c.exec("bash", "-c", "; ".join(restore), user="root", cwd="/")


def configure(c):
    for cell, reserve in CELLS.items():
        c.write(cell + ".yaml", f"default_partition: {cell}\nreserve: {reserve}\npartitions:\n  {cell}:\n    "
                f"queue: {cell}.q\n    pe: slurm-shim\n    pe_by_layout: {{pe_slots: slurm-shim-smp, "
                f"fixed: {{{SLOTS}: slurm-shim-{SLOTS}}}}}\n")
    c.write("job.sh", JOB, "755")
    c.write("wait.sh", WAIT, "755")


def submission(cell, name, shape, limit, nice, what):
    return (f"SLURM_SHIM_CONFIG=$PWD/{cell}.yaml CELL={cell} DO='{what}' sbatch --parsable -J {name} {shape} "
            f"-t {minutes(limit)} --nice={nice} -H -o /dev/null job.sh\n")


def sleep(units):
    return f"sleep {units * UNIT}"


def submissions():
    script = ""
    for cell, padding in (("honest", None), ("padded", 60)):
        for name, shape, length, limit, nice in (LONG, BIG):
            script += submission(cell, name, shape, limit, nice, sleep(length))
        for name, shape, length, nice in SMALL:
            script += submission(cell, name, shape, padding or length, nice, sleep(length))
    for cell in ("starved", "spared"):
        script += submission(cell, "long", LONG[1], 40, 0, sleep(5))
        script += submission(cell, "big", BIG[1], 20, BIG[4], sleep(1))
        for i, name in enumerate(STREAM):
            what = f"./wait.sh {STREAM[i + 1]}" if i + 1 < len(STREAM) else sleep(1)
            script += submission(cell, name, "-N1 -n8", 60, 200 + 60 * i, what)
    return script


def log(c, cell, event):
    """When each job of a cluster began or ended."""
    lines = c.exec("cat", "log." + cell).stdout.splitlines()
    return {words[0]: float(words[2]) for words in map(str.split, lines) if words[1] == event}


def order(c, cell):
    """The jobs by their starts; those that began within 5 units of each other count as one."""
    groups, first = [], None
    for name, at in sorted(log(c, cell, "start").items(), key=lambda item: item[1]):
        if first is None or at - first > 5 * UNIT:
            groups.append(set())
            first = at
        groups[-1].add(name)
    return groups


def by_start(c, cell):
    starts = log(c, cell, "start")
    return sorted(starts, key=starts.get)


def course(c, cell):
    """Starts and ends in seconds since the first start, for what is told."""
    first = min(log(c, cell, "start").values())
    return {name: [round(at[name] - first, 1) for at in (log(c, cell, "start"), log(c, cell, "end")) if name in at]
            for name in by_start(c, cell)}


def makespan(c, cell):
    return (max(log(c, cell, "end").values()) - min(log(c, cell, "start").values())) / UNIT


def starvation(c):
    """The big job outranks the stream in both cases; the reservation alone makes the difference."""
    for cell in ("starved", "spared"):
        wait_until(lambda cell=cell: len(log(c, cell, "end")) == 2 + len(STREAM), f"all jobs of {cell} have ended", 150)
    # The long one and the head of the stream begin in one pass of the scheduler, on a host each: either may be first.
    starved = [name for name in by_start(c, "starved") if name != "long"]
    expect_equal(starved, STREAM + ["big"], f"beside the long one: {course(c, 'starved')}")
    expect_equal(by_start(c, "spared")[:2], ["long", "big"], f"the first two: {course(c, 'spared')}")


def five_jobs(c):
    for cell in ("honest", "padded"):
        wait_until(lambda cell=cell: len(log(c, cell, "end")) == 5, f"five jobs of {cell} have ended", 400)
    seen = {cell: (order(c, cell), makespan(c, cell)) for cell in ("honest", "padded")}
    print("     " + "; ".join(f"{cell}: {[sorted(g) for g in groups]}, makespan {span:.1f} units"
                              for cell, (groups, span) in seen.items()), flush=True)
    expect_equal(seen["honest"][0], [{"long", "smallX", "smallY"}, {"smallZ"}, {"big"}], "order with honest limits")
    expect_equal(seen["padded"][0], [{"long"}, {"big"}, {"smallX", "smallY", "smallZ"}], "order with padded limits")
    # The book: 60 / 68 = 0.88. Without backfill in the one or with it in the other the ratio is 1 and more.
    ratio = seen["honest"][1] / seen["padded"][1]
    expect(0.80 < ratio < 0.96, f"ratio of the makespans: {ratio:.3f} of {seen}")
    for cell in ("honest", "padded"):
        expect(re.search(r"(?m)^big start \S+ 2 8\(x2\)$", c.read("log." + cell)), f"whole gang: {c.read('log.' + cell)}")


def textbook(c):
    configure(c)
    with clusters(c):
        done = c.shell(submissions())
        c.jobs += done.stdout.split()
        expect_equal(len(c.jobs), 2 * 5 + 2 * (2 + len(STREAM)), f"submitted jobs ({done.stderr})")
        expect_equal(c.exec("bash", "-c", "ls log.*").stdout, "", "what began before the queues were enabled")
        root(c, "qmod -e " + " ".join(cell + ".q" for cell in CELLS))
        # 8.1.9 makes no reservation for a job that it has looked at while the queue was disabled (measured with plain
        # qsub, too): until now they were held.
        c.ok("scontrol", "release", ",".join(c.jobs))
        starvation(c)
        five_jobs(c)


run(textbook)
