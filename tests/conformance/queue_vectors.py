#!/usr/bin/env python3
"""squeue and scancel against captured cases of Slurm: the jobs of vectors/07 and 11 in a queue of Grid Engine.

    queue_vectors.py FOLDER-OF-LINKS VECTORS.json [--only REGEX]"""
import sys

import captured_queue
import query_runner


def build(world):
    captured_queue.fill(world)
    captured_queue.answer_mailboxes(world)


if __name__ == "__main__":
    sys.exit(query_runner.main(build, captured_queue.NUMBERS, "^$", fresh="11_scancel" in sys.argv[2]))
