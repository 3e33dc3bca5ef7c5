#!/usr/bin/env python3
"""slurm-shim ports: what it asks, what it does without an answer, and the nftables rules in a kernel.

usage: ports_test.py BIN_DIR
"""
import json
import os
import pathlib
import subprocess
import sys
import tempfile
import unittest

BIN = os.path.abspath(sys.argv.pop(1))
TOOLS = str(pathlib.Path(__file__).resolve().parent.parent / "fakes" / "ge-bin")
GETENT = """#!/bin/sh
case "$1 $2" in
    *v4\\ n1) echo "10.77.0.11 STREAM n1" ;;
    *v4\\ n2) echo "10.77.0.12 STREAM n2" ;;
    *v4\\ n3) echo "127.0.1.1 STREAM n3" ;;
    services\\ sge_qmaster) echo "sge_qmaster  7444/tcp" ;;
    *) exit 2 ;;
esac
"""
# Runs in a network name space of its own: a peer with two addresses, of which one may connect.
KERNEL = r"""
set -e
rules=$1
ip link set lo up
unshare -n sleep 1000 & peer=$!
trap 'kill $peer' EXIT
until [ "$(readlink /proc/$peer/ns/net)" != "$(readlink /proc/$$/ns/net)" ]; do :; done
ip link add here type veth peer name there
ip link set there netns $peer
ip addr add 10.77.0.1/24 dev here
ip link set here up
nsenter -t $peer -n sh -c 'ip addr add 10.77.0.11/24 dev there; ip addr add 10.77.0.99/24 dev there
                           ip link set there up'
nft -f "$rules"
nft -f "$rules" # again: replaces itself
python3 -I - $peer <<'END'
import socket, subprocess, sys
listeners = []
for port in (61000, 61439, 60999, 61440):
    listener = socket.create_server(("0.0.0.0", port))
    listeners.append(listener)
CONNECT = ("import socket, sys; s = socket.socket(); s.settimeout(float(sys.argv[4]));"
           "s.bind((sys.argv[1], 0)); s.connect((sys.argv[2], int(sys.argv[3])))")
def connects(source, port, target="10.77.0.1", seconds="2"):
    words = ["nsenter", "-t", sys.argv[1], "-n"] if target != "127.0.0.1" else []
    return subprocess.run(words + ["python3", "-I", "-c", CONNECT, source, target, str(port), seconds],
                          stderr=subprocess.DEVNULL).returncode == 0
for port in (61000, 61439):
    print(port, connects("10.77.0.11", port, seconds="60"), connects("10.77.0.99", port),
          connects("127.0.0.1", port, "127.0.0.1", "60"))
for port in (60999, 61440): # not ours to judge
    print(port, connects("10.77.0.99", port, seconds="60"))
END
"""


class Ports(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory(prefix="ports-")
        self.addCleanup(folder.cleanup)
        self.root = pathlib.Path(folder.name)
        (self.root / "bin").mkdir()
        (self.root / "bin/getent").write_text(GETENT, encoding="ascii")
        (self.root / "bin/getent").chmod(0o755)
        (self.root / "config.yaml").write_text("control_port: 61000-61439\n", encoding="ascii")

    def ports(self, *words, rc=0, **env):
        env = {"PATH": f"{self.root}/bin:/usr/bin:/bin", "SLURM_SHIM_GE_BIN": TOOLS,
               "SLURM_SHIM_CONFIG": str(self.root / "config.yaml"), **env}
        done = subprocess.run([BIN + "/slurm-shim", "ports", *words], env=env, capture_output=True,
                              text=True, timeout=120, check=False)
        self.assertEqual(done.returncode, rc, done.stderr)
        return done

    def test_sources_are_the_execution_hosts(self):
        done = self.ports("--format=json")
        facts = json.loads(done.stdout)
        self.assertEqual(facts["sources"], ["10.77.0.11", "10.77.0.12"])
        self.assertEqual(done.stderr, "slurm-shim: warning: ports: host n3 has no address that "
                                      "others could reach: left out\n")
        self.assertIsNone(facts["qrsh"])

    def test_the_engines_port_range_is_let_in_too(self):
        done = self.ports("--format=json", FAKE_GE_PORT_RANGE="40000-40099")
        self.assertEqual(json.loads(done.stdout)["qrsh"], {"from": 40000, "to": 40099, "proto": "tcp"})
        done = self.ports("--format=json", FAKE_GE_PORT_RANGE="sometimes")
        self.assertIsNone(json.loads(done.stdout)["qrsh"])
        self.assertIn('port_range "sometimes" is not understood', done.stderr)

    def test_text_has_all_sections_and_the_engines_ports(self):
        text = self.ports("--source=10.0.0.0/8").stdout
        for part in ("firewall-cmd --permanent", "gcloud compute", "table inet slurm_shim",
                     "ip_local_reserved_ports=61000-61439", "TCP 7444 on the qmaster's host"):
            self.assertIn(part, text)

    def test_without_an_engine_it_prints_a_marked_example(self):
        done = self.ports("--format=nftables", FAKE_GE_DOWN="1")
        self.assertIn("PLACEHOLDER", done.stdout)
        self.assertIn("10.0.0.0/8", done.stdout)
        self.assertIn("warning: ports: ", done.stderr)

    def test_nothing_is_printed_for_what_cannot_be(self):
        self.assertIn("61439-61000", self.ports("--range=61439-61000", rc=1).stderr)
        done = self.ports("--source=n3", rc=1)
        self.assertEqual(done.stdout, "")
        (self.root / "config.yaml").write_text("control_port: 0\n", encoding="ascii")
        done = self.ports(rc=1)
        self.assertIn("control_port is 0", done.stderr)
        self.assertEqual(done.stdout, "")

    def test_the_kernel_lets_in_what_the_rules_say_and_nothing_else(self):
        rules = self.root / "rules.nft"
        rules.write_text(self.ports("--format=nftables", "--source=10.77.0.11").stdout,
                         encoding="ascii")
        words = ["unshare", "--net"] if os.geteuid() == 0 else ["unshare", "--map-root-user", "--net"]
        done = subprocess.run([*words, "bash", "-c", KERNEL, "kernel", str(rules)],
                              capture_output=True, text=True, timeout=300, check=False)
        self.assertEqual(done.stdout.splitlines(),
                         ["61000 True False True", "61439 True False True",
                          "60999 True", "61440 True"], done.stderr)


if __name__ == "__main__":
    unittest.main()
