#!/usr/bin/env python3
"""Steps of a size that jobs on paper can have: many ranks on one host, many hosts, long arguments."""
import resource
import sys
import unittest

from srun_world import World

BIN = sys.argv.pop(1) if len(sys.argv) > 1 else "build/dev/bin"


class Large(unittest.TestCase):
    def world(self, **kwargs):
        world = World(BIN, **kwargs)
        self.addCleanup(world.close)
        return world

    def test_1000_ranks_on_one_host_with_few_descriptors(self):
        hard = resource.getrlimit(resource.RLIMIT_NOFILE)[1]
        code, out, err = self.world(hosts=("n1",), slots=1000).run(
            "-n1000", "sh", "-c", "echo $SLURM_PROCID $(ulimit -Sn)", timeout=300,
            preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_NOFILE, (256, hard)))
        self.assertEqual((code, err), (0, ""))
        self.assertEqual(sorted(out.splitlines(), key=lambda line: int(line.split()[0])),
                         [f"{rank} 256" for rank in range(1000)])

    def test_500_hosts_whose_names_have_several_numbers(self):
        hosts = [f"r{rack:02}n{node}" for rack in range(50) for node in range(1, 11)]
        code, out, err = self.world(hosts=hosts, slots=1).run(
            "-n500", "sh", "-c", "echo $SLURM_PROCID $SLURM_NODEID $SLURMD_NODENAME; "
            "[ $SLURM_PROCID != 499 ] || echo -1 $SLURM_STEP_NODELIST", timeout=500)
        self.assertEqual((code, err), (0, ""))
        lines = sorted((line.split() for line in out.splitlines()), key=lambda words: int(words[0]))
        self.assertEqual(lines[0][1], ",".join(f"r{rack:02}n[1-9,10]" for rack in range(50)))
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
