#!/usr/bin/env python3
"""Steps of a size that jobs on paper can have: many ranks on one host, many hosts, long arguments."""
import resource
import sys
import unittest

from srun_world import World, pace

BIN = sys.argv.pop(1) if len(sys.argv) > 1 else "build/dev/bin"


class Large(unittest.TestCase):
    def world(self, **kwargs):
        world = World(BIN, **kwargs)
        self.addCleanup(world.close)
        return world

    def test_1000_ranks_on_one_host_with_few_descriptors(self):
        count = pace.crowd(1000, under_sanitizers=200)  # in each case more pipes than descriptors
        hard = resource.getrlimit(resource.RLIMIT_NOFILE)[1]
        code, out, err = self.world(hosts=("n1",), slots=count).run(
            f"-n{count}", "sh", "-c", "echo $SLURM_PROCID $(ulimit -Sn)", timeout=300,
            preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_NOFILE, (256, hard)))
        self.assertEqual((code, err), (0, ""))
        self.assertEqual(sorted(out.splitlines(), key=lambda line: int(line.split()[0])),
                         [f"{rank} 256" for rank in range(count)])

    def test_500_hosts_whose_names_have_several_numbers(self):
        racks = pace.crowd(50, under_sanitizers=2)
        hosts = [f"r{rack:02}n{node}" for rack in range(racks) for node in range(1, 11)]
        code, out, err = self.world(hosts=hosts, slots=1).run(
            f"-n{len(hosts)}", "sh", "-c", "echo $SLURM_PROCID $SLURM_NODEID $SLURMD_NODENAME; "
            f"[ $SLURM_PROCID != {len(hosts) - 1} ] || echo -1 $SLURM_STEP_NODELIST", timeout=500)
        self.assertEqual((code, err), (0, ""))
        lines = sorted((line.split() for line in out.splitlines()), key=lambda words: int(words[0]))
        self.assertEqual(lines[0][1], ",".join(f"r{rack:02}n[1-9,10]" for rack in range(racks)))
        self.assertEqual(lines[1:], [[str(rank), str(rank), host] for rank, host in enumerate(hosts)])

    def test_hosts_are_known_by_short_and_full_names(self):
        world = self.world(hosts=("n1", "n2"), slots=2)
        for name in ("n2", "n2.example", "N2.Example"):
            self.assertEqual(world.run("-w", name, "-n1", "-N1", "sh", "-c", "echo $SLURMD_NODENAME"), (0, "n2\n", ""))

    def test_an_argument_as_long_as_the_kernel_allows(self):
        longest = "x" * (128 * 1024 - 1)
        code, out, err = self.world(hosts=("n1",)).run("-n2", "sh", "-c", "echo ${#1}", "sh", longest)
        self.assertEqual((code, out, err), (0, f"{len(longest)}\n" * 2, ""))


if __name__ == "__main__":
    unittest.main(verbosity=2)
