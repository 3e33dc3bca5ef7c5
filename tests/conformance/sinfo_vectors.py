#!/usr/bin/env python3
"""sinfo against captured cases of Slurm: the nodes of vectors/08 as hosts and queue instances of Grid Engine.

    sinfo_vectors.py FOLDER-OF-LINKS VECTORS.json [--only REGEX]"""
import sys

import query_runner
import query_world
from query_world import Job

QUEUES = {"batch.q": (1, 2, 3, 4), "gpu.q": (3, 4), "debug.q": (1, 2), "spare.q": (5, 6)}
# What runs on a node, and the letters of its queue instances, in the situations of the captured cluster.
SITUATIONS = {
    "mixed": {1: (4, ""), 2: (3, ""), 3: (2, ""), 4: (2, ""), 5: (0, "au"), 6: (0, "adu")},
    "idle": {1: (0, ""), 2: (0, ""), 3: (0, ""), 4: (0, ""), 5: (0, "au"), 6: (0, "adu")},
    "states": {1: (0, "d"), 2: (3, "d"), 3: (0, "E"), 4: (8, ""), 5: (0, "au"), 6: (0, "adu")},
    "resumed": {1: (0, ""), 2: (3, ""), 3: (0, ""), 4: (8, ""), 5: (0, "au"), 6: (0, "adu")},
    "partdown": {1: (0, ""), 2: (3, ""), 3: (0, ""), 4: (8, ""), 5: (0, "au"), 6: (0, "adu")},
}
DISABLED = {"partdown": "debug.q"}  # a whole cluster queue


def build(world, situation="mixed"):
    hosts = ""
    for number, (used, letters) in SITUATIONS[situation].items():
        known = "u" not in letters
        value = lambda name, text: "<hostvalue name='%s'>%s</hostvalue>" % (name, text)
        hosts += "<host name='node%03d'>" % number
        hosts += value("arch_string", "lx-amd64" if known else "-") + value("num_proc", 8)
        hosts += value("m_socket", 1) + value("m_core", 8) + value("m_thread", 8)
        hosts += value("load_avg", "1.50" if known else "-") + value("mem_total", "15.625G")
        hosts += "<resourcevalue name='slots' dominance='hc'>%d.000000</resourcevalue>" % (8 - used)
        if known:
            hosts += "<resourcevalue name='arch' dominance='hl'>lx-amd64</resourcevalue>"
            hosts += "<resourcevalue name='gpu' dominance='hc'>%d.000000</resourcevalue>" % (
                2 if number == 3 and situation == "mixed" else 4)
        for queue, members in QUEUES.items():
            if number in members:
                row = lambda name, text: "<queuevalue qname='%s' name='%s'>%s</queuevalue>" % (queue, name, text)
                hosts += "<queue name='%s'>%s%s%s</queue>" % (
                    queue, row("slots_used", used if queue in ("batch.q", "spare.q") else 0), row("slots", 8),
                    row("state_string", letters + ("d" if queue == DISABLED.get(situation) else "")))
        hosts += "</host>\n"
    world.answer("qhost", "<?xml version='1.0'?>\n<qhost>\n%s</qhost>\n" % hosts)
    world.answer("qconf -se", "".join(
        "hostname              node%03d\ncomplex_values        slots=8,gpu=4\n" % n for n in range(1, 5)))
    (world.folder / "config.yaml").write_text(query_world.CONFIG + 'features: {std: "arch=lx-amd64"}\n')


# Which cases belong to which state of the cluster: the captured one was changed as they went on.
CASES = {
    "mixed": r"^si\.(?!idle|states|resumed|part|set\.resume)",
    "idle": r"^si\.idle",
    "states": r"^si\.states",
    "resumed": r"^si\.(resumed|set\.resume)",
    "partdown": r"^si\.part(down|inact|drain)",
}


def with_administrator(world, situation):
    """What qmod says to an administrator, and a job for a partition that is down."""
    build(world, situation)
    world.row(Job(number=71001, name="wrap", partition="debug", limit=5), "qw", pending=True)
    world.write()
    world.answer("qstat -g c", "<?xml version='1.0'?><job_info><cluster_queue_summary><name>debug.q</name>"
                 "<total>16</total><manual_intervention>16</manual_intervention></cluster_queue_summary></job_info>\n")
    world.answer("qsub", "71001\n")
    world.answer("qsub -help", "SGE 8.1.9\n")
    world.answer("qconf -spl", "slurm-shim\n")
    world.answer("qmod -d", 'root@login changed state of "batch.q@node001" (disabled)\n')
    world.answer("qmod -e", 'root@login changed state of "batch.q@node001" (enabled)\n')


def is_enabled(world):
    world.answer("qmod -e *@node002", 'Queue instance "batch.q@node002" is already in the specified state: enabled\n', 1)


if __name__ == "__main__":
    sys.exit(max(query_runner.main(lambda world, s=name: with_administrator(world, s), {}, "^(?!%s)" % cases[1:],
                                   between={"si.set.resume_idle": is_enabled})
                 for name, cases in CASES.items()))
