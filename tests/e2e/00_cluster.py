#!/usr/bin/env python3
"""The cluster itself is healthy: engine, parallel environments, remote tasks, shared home."""
from cluster import MASTER, NODES, expect, expect_equal, run


def queue_instances_are_fine(c):
    listing = [line.split() for line in c.ok("qstat", "-f").splitlines() if "@" in line]
    expect_equal(len(listing), 6, "queue instances")
    for words in listing:
        expect_equal(len(words), 5, f"a state letter at {words[0]}: {words}")


def remote_tasks_run_on_every_host(c):
    c.write("hosts.sh", '#!/bin/bash\nwhile read -r host _; do\n'
            '    qrsh -inherit -nostdin "$host" hostname\ndone < "$PE_HOSTFILE"\n')
    c.ok("qsub", "-cwd", "-sync", "y", "-terse", "-j", "y", "-o", "out", "-pe", "mpi", "3", "hosts.sh")
    expect_equal(sorted(c.read("out").split()), NODES, "hosts that answered")


def home_is_shared(c):
    c.ok("touch", "seen", node=MASTER)
    for node in NODES:
        expect(c.exec("test", "-e", "seen", node=node).returncode == 0, f"not seen on {node}")


def tools_are_the_programs_themselves(c):
    expect_equal(c.ok("bash", "-c", "command -v qsub").strip(), "/opt/ge/bin/lx-amd64/qsub", "qsub")


run(queue_instances_are_fine, remote_tasks_run_on_every_host, home_is_shared,
    tools_are_the_programs_themselves)
