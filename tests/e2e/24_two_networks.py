#!/usr/bin/env python3
"""Hosts with two networks: which of them the steppers call srun on is said by control_address."""
import contextlib
import subprocess

from cluster import NAME, NODES, expect, expect_equal, run

SWITCH = f"{NAME}-switch"
THREE = ("-N3", "-n3", "-o", "job.out", "-e", "job.err")
# Where a host's connections lead to, as the kernel shows them: little endian, in hexadecimal.
PEERS = "awk '$4 == \"01\" {print substr($3, 1, 8)}' /proc/net/tcp"


def ip(*words):
    subprocess.run(["ip", *words], check=True, capture_output=True)


@contextlib.contextmanager
def second_network():
    """eth1 on every host, 10.231.78.1 to 3, over a bridge of its own; and on each an address that no other host reaches."""
    ip("-n", SWITCH, "link", "add", "bridge1", "type", "bridge")
    try:
        ip("-n", SWITCH, "link", "set", "bridge1", "up")
        for i, node in enumerate(NODES):
            ip("-n", SWITCH, "link", "add", f"second{i}", "type", "veth", "peer", "name", "eth1", "netns", node)
            ip("-n", SWITCH, "link", "set", f"second{i}", "master", "bridge1", "up")
            ip("-n", node, "addr", "add", f"10.231.78.{i + 1}/24", "dev", "eth1")
            ip("-n", node, "link", "set", "eth1", "up")
            ip("-n", node, "link", "add", "lonely0", "type", "veth", "peer", "name", "lonely1")
            ip("-n", node, "addr", "add", f"10.231.79.{i + 1}/32", "dev", "lonely0")
            for end in ("lonely0", "lonely1"):
                ip("-n", node, "link", "set", end, "up")
        yield
    finally:
        for node in NODES:
            for name in ("eth1", "lonely0"):
                subprocess.run(["ip", "-n", node, "link", "del", name], check=False, capture_output=True)
        ip("-n", SWITCH, "link", "del", "bridge1")


def step(c, address, script):
    c.ok("bash", "-c", "cp /opt/ge/slurm-shim/etc/config.yaml nics.yaml")
    c.write("nics.yaml", c.read("nics.yaml") + f"control_address: {address}\n")
    c.wait_gone(c.script(f"hostname\nSLURM_SHIM_CONFIG=$PWD/nics.yaml srun -N3 -n3 sh -c '{script}'\n", *THREE))
    master, *lines = c.read("job.out").splitlines()
    expect_equal(c.read("job.err"), "", "messages")
    expect_equal(len(lines), 3, f"lines in {lines}")
    return NODES.index(master) + 1, [line.split() for line in sorted(lines)]


def the_channel_takes_the_network_that_is_named(c):
    with second_network():
        quoted = PEERS.replace("'", "'\\''")
        for address in ("eth1", "eth0"):
            master, lines = step(c, address, f"echo $SLURM_PROCID $SLURM_SRUN_COMM_HOST $({quoted} | sort -u)")
            network = {"eth0": (77, "4D"), "eth1": (78, "4E")}[address]
            expect_equal({words[1] for words in lines}, {f"10.231.{network[0]}.{master}"}, f"what ranks are told for {address}")
            for words in lines[1:]:
                expect(f"0{master}{network[1]}E70A" in words[2:], f"{address}: a connection to it among {words[2:]}")


def an_address_that_is_out_of_reach_is_not_the_last_word(c):
    with second_network():
        # The other addresses of the host follow.
        _, lines = step(c, "lonely0", "echo $SLURM_PROCID here")
        expect_equal(lines, [["0", "here"], ["1", "here"], ["2", "here"]], "ranks")


run(the_channel_takes_the_network_that_is_named, an_address_that_is_out_of_reach_is_not_the_last_word)
