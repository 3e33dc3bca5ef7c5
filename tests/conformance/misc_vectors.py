#!/usr/bin/env python3
"""The commands that scripts probe (sstat, sprio, sshare, sacctmgr, sattach, sbcast) against captured cases of Slurm.

    misc_vectors.py FOLDER-OF-LINKS VECTORS.json [--only REGEX]"""
import sys

import query_runner
import sinfo_vectors
from query_world import Job

NUMBERS = {"J%02d" % n: 70000 + n for n in range(1, 23)}


def build(world):
    sinfo_vectors.build(world)
    running = Job(number=NUMBERS["J17"], name="run", limit=60, steps=(dict(name="sleep"),))
    world.submitted(running)
    world.recorded(running)
    world.row(running, "r")
    world.write()
    tree = (("root", 1, "NONE"), ("acct1", 1, "3,4"), ("alice", 1, "NONE"), ("bob", 1, "NONE"))
    world.answer("qconf -sstree", "id=0\nname=Root\ntype=0\nshares=1\nchildnodes=1,2\n" + "".join(
        "id=%d\nname=%s\ntype=0\nshares=%d\nchildnodes=%s\n" % ((n,) + node) for n, node in enumerate(tree, 1)))


if __name__ == "__main__":
    # Not here: salloc and srun (allocation_vectors), and sbatch --wait, which has tests of its own.
    sys.exit(query_runner.main(build, NUMBERS, r"^(salloc|srun|wait)\."))
