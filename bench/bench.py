#!/usr/bin/env python3
"""Speed and size of the launcher as ratios of one run, with the goals beside.

  bench/bench.py --bin build/release/bin [--compare OTHER_SLURM_SHIM] [--cluster] [--results FILE.json]

Everything but the cluster row is CPU time: it tells the same on a busy machine. A missed goal is
printed as missed and is no error; a command that fails is.
"""
import argparse
import json
import os
import shutil
import sys
import tempfile
import time

import cluster
import queries
from job import SLOTS, Job, write
from measure import Failed, Runner, children, medians, status, wait_until

TRUE = "/bin/true"
CAT = "/bin/cat"
LINES_MIB = 96
# Pretended hosts of the fan-out, rounds, and the goal: each host costs a stepper, which is two
# processes and a canary, beside the rank itself.
FAN_OUT = [(1, 15, 6), (8, 9, 5), (64, 5, 5), (500, 3, 5)]
MAX_RESIDENT_MIB, MAX_SPACE_MIB = 6, 64


class Table:
    def __init__(self):
        self.missed = 0
        self.rows = []  # those with goals, for charts

    def row(self, what, value, unit, goal, note="", judge=True):
        if judge:
            met = value <= goal
            self.missed += not met
            self.rows.append({"what": what, "value": round(value, 3), "unit": unit, "goal": goal})
            verdict = "ok" if met else "MISSED"
        else:
            verdict = ""
        print(f"  {what:<38} {value:9.2f} {unit:<8} goal {goal:<5g} {verdict:<7} {note}".rstrip(),
              flush=True)


class Bench:
    def __init__(self, shim, folder, table, judged):
        self.root = folder
        self.table = table
        self.judged = judged
        links = os.path.join(folder, "bin")
        os.mkdir(links)
        self.shim = os.path.join(links, "slurm-shim")
        self.srun = os.path.join(links, "srun")
        # A copy, as an installation has it: what a linker wrote in pieces maps more slowly.
        shutil.copy(shim, self.shim)
        os.symlink(self.shim, self.srun)
        self.job = Job(folder)
        self.errors = os.path.join(folder, "stderr")
        self.runner = Runner(self.job.env, self.errors)

    def row(self, *args):
        self.table.row(*args, judge=self.judged)

    def start_up(self):
        seen = medians(60, true=lambda: self.runner.cpu([TRUE]),
                       shim=lambda: self.runner.cpu([self.shim, "--version"]))
        self.row("slurm-shim --version / true", seen["shim"] / seen["true"], "x", 1.5,
                 f"{seen['shim'] * 1e3:.2f} ms beside {seen['true'] * 1e3:.2f} ms")

    def one_rank(self):
        seen = medians(40, true=lambda: self.runner.cpu([TRUE]),
                       srun=lambda: self.runner.cpu([self.srun, "-n", "1", "true"]))
        self.row("srun -n 1 true / true", seen["srun"] / seen["true"], "x", 6,
                 f"{seen['srun'] * 1e3:.2f} ms beside {seen['true'] * 1e3:.2f} ms")

    def many_ranks(self):
        seen = medians(9, plain=lambda: self.runner.spawn_loop([TRUE], SLOTS),
                       srun=lambda: self.runner.cpu([self.srun, "-n", str(SLOTS), "true"]))
        self.row(f"srun -n {SLOTS} true / {SLOTS} spawns", seen["srun"] / seen["plain"], "x", 2,
                 f"{seen['srun'] * 1e3:.1f} ms beside {seen['plain'] * 1e3:.1f} ms")

    def fan_out(self):
        for hosts, rounds, goal in FAN_OUT:
            root = os.path.join(self.root, f"hosts-{hosts}")
            os.mkdir(root)
            runner = Runner(Job(root, hosts).env, self.errors)
            step = [self.srun, "-N", str(hosts), "-n", str(hosts), "true"]
            seen = medians(rounds, plain=lambda: runner.spawn_loop([TRUE], hosts),
                           srun=lambda: runner.cpu(step))
            self.row(f"srun -N {hosts} true / {hosts} spawns", seen["srun"] / seen["plain"], "x", goal,
                     f"{seen['srun'] / hosts * 1e3:.2f} ms a host")

    def throughput(self, what, line, goal):
        path = os.path.join(self.root, "data")
        with open(path, "wb") as file:
            piece = line * ((1 << 20) // len(line))
            for _ in range(LINES_MIB):
                file.write(piece)
        size = os.path.getsize(path)
        seen = medians(5, cat=lambda: self.runner.pipeline_cpu([CAT, path], [CAT]),
                       srun=lambda: self.runner.cpu([self.srun, "-n", "1", CAT, path]))
        self.row(f"srun cat, {what}", seen["srun"] / size * 1e9, "ns/byte", goal,
                 f"cat | cat: {seen['cat'] / size * 1e9:.2f}")
        os.unlink(path)

    def standard_input(self, what, readers, goal):
        """Through srun's stdin to `readers` tasks, per byte and reader."""
        path = os.path.join(self.root, "data")
        with open(path, "wb") as file:
            for _ in range(LINES_MIB):
                file.write(b"x" * (1 << 20))
        size = os.path.getsize(path)
        argv = [self.srun, "-n", str(readers), "-o", "none", CAT]
        seen = medians(5, cat=lambda: self.runner.pipeline_cpu([CAT, path], [CAT]),
                       srun=lambda: self.runner.cpu(argv, stdin=path))
        self.row(f"srun {what} < file", seen["srun"] / size / readers * 1e9, "ns/byte", goal,
                 f"cat | cat: {seen['cat'] / size * 1e9:.2f}")
        os.unlink(path)

    def memory_row(self, what, pid):
        resident, space, _ = status(pid)
        self.row(f"{what}, peak resident", resident, "MiB", MAX_RESIDENT_MIB)
        self.row(f"{what}, peak address space", space, "MiB", MAX_SPACE_MIB)

    def memory(self):
        """After 64 ranks have written 16 MiB of lines, while they wait for the end of a pipe."""
        fifo = os.path.join(self.root, "fifo")
        os.mkfifo(fifo)
        script = ("exec 3<$0; yes a line of some length to be passed on | head -c 262144; "
                  ": > $0.$SLURM_PROCID; cat <&3")
        pid = self.runner.start([self.srun, "-n", str(SLOTS), "sh", "-c", script, fifo])
        gate = os.open(fifo, os.O_RDWR)
        try:
            wait_until(lambda: all(os.path.exists(f"{fifo}.{rank}") for rank in range(SLOTS)),
                       "all ranks have written")
            self.memory_row("srun", pid)
            steppers = [child for child in children(pid) if "stepper" in " ".join(status(child)[2])]
            if not steppers:
                raise Failed("no stepper below srun")
            self.memory_row("stepper, front", steppers[0])
            for guardian in children(steppers[0]):
                if "stepper" in status(guardian)[2]:
                    self.memory_row("stepper, guardian", guardian)
        finally:
            os.close(gate)
            self.runner.wait(pid, [self.srun])

    def batch_memory(self):
        fifo = os.path.join(self.root, "batch-fifo")
        os.mkfifo(fifo)
        script = write(os.path.join(self.root, "script"), f"exec 3<{fifo}\n: > {fifo}.up\ncat <&3\n", 0o700)
        argv = [self.shim, "batch-exec", "--", "/bin/sh", script]
        runner = Runner(self.job.batch(), self.errors)
        pid = runner.start(argv)
        gate = os.open(fifo, os.O_RDWR)
        try:
            wait_until(lambda: os.path.exists(fifo + ".up"), "the batch script runs")
            self.memory_row("batch-exec", pid)
        finally:
            os.close(gate)
            runner.wait(pid, argv)
            self.job.end_batch()

    def run(self):
        self.start_up()
        self.one_rank()
        self.many_ranks()
        self.fan_out()
        self.throughput("80-byte lines", b"x" * 79 + b"\n", 6)
        self.throughput("blocks", b"\0" * 65536, 3)
        self.standard_input("cat", 1, 3)
        self.standard_input("-n 8 cat", 8, 2)

    def run_memory(self):
        self.memory()
        self.batch_memory()

    def run_queries(self, parser):
        queries.squeue(self.root, self.shim, parser, self.row)
        queries.sacct(self.root, self.shim, self.row)
        queries.sinfo(self.root, self.shim, parser, self.row)


def run_cluster(table):
    if not cluster.is_up():
        print("  no cluster is up (make cluster-up): its row is left out")
        return
    qrsh, step = cluster.measure()
    table.row("srun true on 3 hosts / qrsh -inherit", step / qrsh, "x", 1.3,
              f"{step * 1e3:.0f} ms beside {qrsh * 1e3:.0f} ms, wall")


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n", 1)[0])
    parser.add_argument("--bin", default="build/release/bin", help="folder of slurm-shim")
    parser.add_argument("--compare", help="another slurm-shim binary, measured in the same way")
    parser.add_argument("--cluster", action="store_true", help="also the row of the real cluster")
    parser.add_argument("--results", help="where to write the rows with goals, for bench/chart.py")
    options = parser.parse_args()
    table = Table()
    try:
        with tempfile.TemporaryDirectory(prefix="shim-bench-") as folder:
            print(os.path.join(options.bin, "slurm-shim"))
            bench = Bench(os.path.join(options.bin, "slurm-shim"), folder, table, True)
            bench.run()
            bench.run_memory()
            bench.run_queries(os.path.join(options.bin, "../bench-parse-xml"))
        if options.cluster:
            run_cluster(table)
        if options.compare:
            with tempfile.TemporaryDirectory(prefix="shim-bench-") as folder:
                print(f"{options.compare} (compared)")
                Bench(options.compare, folder, table, False).run()
    except (Failed, OSError) as error:
        print(f"bench: error: {error}", file=sys.stderr)
        return 1
    if options.results:
        title = f"slurm-shim: measured beside its goals, {time.strftime('%Y-%m-%d')}, one run"
        write(options.results, json.dumps({"title": title, "rows": table.rows}, indent=1) + "\n", 0o644)
    print("all goals met" if table.missed == 0 else f"{table.missed} goals missed")
    return 0


if __name__ == "__main__":
    sys.exit(main())
