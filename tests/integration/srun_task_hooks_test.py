#!/usr/bin/env python3
"""Programs around each task (--task-prolog, --task-epilog) and the binding of tasks to CPUs, with pretended hosts."""
import os
import sys
import time
import unittest

from srun_world import World, wait_until

BIN = sys.argv.pop(1) if len(sys.argv) > 1 else "build/dev/bin"


class TaskHooks(unittest.TestCase):
    def setUp(self):
        self.world = World(BIN, hosts=("n1", "n2"), slots=2)

    def tearDown(self):
        self.world.close()

    def program(self, name, text):
        path = World.write(os.path.join(self.world.work, name), "#!/bin/sh\n" + text)
        os.chmod(path, 0o700)
        return path

    def test_the_prolog_makes_the_tasks_environment(self):
        path = self.program("tp", "echo export FOO=$SLURM_PROCID of $SLURMD_NODENAME\necho unset BAR\n"
                            "echo print from the prolog\necho noise\necho export PROLOG_PID=$SLURM_TASK_PID\n")
        code, out, err = self.world.run(
            "-N2", "-n2", "--label", f"--task-prolog={path}", "sh", "-c",
            "echo $FOO ${BAR-no bar}; [ $$ = $PROLOG_PID ] && [ $$ = $SLURM_TASK_PID ] && echo same pid", env={"BAR": "x"})
        self.assertEqual((code, err), (0, ""))
        self.assertEqual(sorted(out.splitlines()), [
            "0: 0 of n1 no bar", "0: from the prolog", "0: same pid",
            "1: 1 of n2 no bar", "1: from the prolog", "1: same pid"])

    def test_names_are_looked_up_and_paths_belong_to_srun(self):
        self.program("tp", "echo print found\n")
        self.assertEqual(self.world.run("-n1", "-N1", "--task-prolog=./tp", "-D", "/", "pwd"), (0, "found\n/\n", ""))
        env = {"SLURM_TASK_PROLOG": "tp", "PATH": self.world.work + ":/usr/bin:/bin"}
        self.assertEqual(self.world.run("-n1", "-N1", "true", env=env), (0, "found\n", ""))

    def test_a_failing_prolog_keeps_its_task_from_running(self):
        path = self.program("tp", "[ $SLURM_PROCID != 1 ] || exit 3\n")
        code, out, err = self.world.run("-N2", "-n2", f"--task-prolog={path}", "echo", "ran")
        self.assertEqual((code, out), (1, "ran\n"))
        self.assertEqual(sorted(err.splitlines()), sorted([
            f"slurmstepd-n2: error: task prolog {path}: exit code 3",
            "srun: error: n2: task 1: Exited with exit code 1"]))
        code, out, err = self.world.run("-N1", "-n1", "--task-prolog=/no/such", "echo", "ran")
        self.assertEqual((code, out), (1, ""))
        self.assertIn("slurmstepd-n1: error: task prolog /no/such: No such file or directory\n", err)

    def test_a_program_that_is_not_there_is_told_as_without_a_prolog(self):
        path = self.program("tp", "")
        told = self.world.run("-N1", "-n1", "/no/such")
        self.assertEqual(self.world.run("-N1", "-n1", f"--task-prolog={path}", "/no/such"), told)
        self.assertEqual(told[0], 2)

    def test_the_epilog_runs_after_each_task_whatever_it_ended_with(self):
        path = self.program("te", "echo after $SLURM_PROCID, $SLURM_TASK_PID\n")
        code, out, err = self.world.run("-N2", "-n2", f"--task-epilog={path}", "sh", "-c",
                                        "echo $SLURM_PROCID is $$; [ $SLURM_PROCID = 0 ] && kill -9 $$; exit 4")
        pids = dict(line.split(" is ") for line in out.splitlines() if " is " in line)
        self.assertEqual(sorted(line for line in out.splitlines() if line.startswith("after")),
                         [f"after 0, {pids['0']}", f"after 1, {pids['1']}"])
        self.assertIn("srun: error: n1: task 0: Killed\n", err)
        self.assertIn("srun: error: n2: task 1: Exited with exit code 4\n", err)
        self.assertEqual(code, 137)

    def test_an_epilog_that_does_not_end_is_killed(self):
        pid_file = os.path.join(self.world.work, "pid")
        path = self.program("te", f"echo $$ > {pid_file}.tmp; mv {pid_file}.tmp {pid_file}; sleep 1000\n")
        start = time.monotonic()
        self.assertEqual(self.world.run("-N1", "-n1", f"--task-epilog={path}", "true"), (0, "", ""))
        self.assertGreater(time.monotonic() - start, 4)
        with open(pid_file, encoding="ascii") as file:
            self.assertFalse(os.path.exists(f"/proc/{file.read().strip()}"))

    def test_an_epilog_that_cannot_be_started_is_told(self):
        code, _, err = self.world.run("-N1", "-n1", "--task-epilog=/no/such", "true")
        self.assertEqual((code, err), (0, "slurmstepd-n1: error: task epilog /no/such: No such file or directory\n"))

    def test_a_step_that_is_ended_leaves_no_epilog(self):
        pid_file = os.path.join(self.world.work, "pid")
        path = self.program("te", f"echo $$ > {pid_file}.tmp; mv {pid_file}.tmp {pid_file}; exec sleep 1000\n")
        process = self.world.start("-N1", "-n1", f"--task-epilog={path}", "true")
        wait_until(lambda: os.path.exists(pid_file), what="epilog")
        process.kill()
        process.communicate(timeout=60)
        with open(pid_file, encoding="ascii") as file:
            pid = file.read().strip()
        wait_until(lambda: not os.path.exists(f"/proc/{pid}"), what="end of the epilog")


AFFINITY = "import os; print(os.environ['SLURM_LOCALID'], sorted(os.sched_getaffinity(0)))"


@unittest.skipIf(len(os.sched_getaffinity(0)) < 2, "one CPU: nothing can be told apart")
class CpuBinding(unittest.TestCase):
    def setUp(self):
        self.world = World(BIN, hosts=("n1",), slots=2, config="launcher: local\ncpu_bind: cores\n")
        self.cpus = sorted(os.sched_getaffinity(0))

    def tearDown(self):
        self.world.close()

    def bound(self, *words, **kwargs):
        code, out, err = self.world.run(*words, sys.executable, "-c", AFFINITY, **kwargs)
        self.assertEqual((code, err), (0, ""))
        return dict(line.split(" ", 1) for line in out.splitlines())

    def test_a_step_with_all_slots_is_bound(self):
        self.assertEqual(self.bound("-n2"), {"0": f"[{self.cpus[0]}]", "1": f"[{self.cpus[1]}]"})
        self.assertEqual(self.bound("-n2", "--cpu-bind=none"), {"0": str(self.cpus), "1": str(self.cpus)})
        self.assertEqual(self.bound("-n2", "--cpu-bind=map_cpu:1,0"),
                         {"0": f"[{self.cpus[1]}]", "1": f"[{self.cpus[0]}]"})
        self.assertEqual(self.bound("-n2", "--cpu-bind=mask_cpu:3,0x2"),
                         {"0": str(self.cpus[:2]), "1": f"[{self.cpus[1]}]"})
        self.assertEqual(self.bound("-n1", "--cpu-bind=cores", env={"SLURM_CPU_BIND": "none"}), {"0": f"[{self.cpus[0]}]"})

    def test_only_cpus_that_the_job_may_use_count(self):
        last = self.cpus[-1]
        allow = {"preexec_fn": lambda: os.sched_setaffinity(0, {last})}
        self.assertEqual(self.bound("-n1", **allow), {"0": f"[{last}]"})
        self.assertEqual(self.bound("-n1", "--cpu-bind=map_cpu:0", **allow), {"0": f"[{last}]"})
        # Fewer than the tasks need: none is bound at all.
        self.assertEqual(self.bound("-n2", **allow), {"0": f"[{last}]", "1": f"[{last}]"})

    def test_a_step_that_shares_an_unlimited_host_is_not_bound(self):
        if len(self.cpus) < os.sysconf("SC_NPROCESSORS_ONLN"):
            self.assertEqual(self.bound("-n1"), {"0": f"[{self.cpus[0]}]"})
        else:
            self.assertEqual(self.bound("-n1"), {"0": str(self.cpus)})

    def test_verbose_tells(self):
        code, _, err = self.world.run("-n2", "--cpu-bind=verbose,cores", "true")
        self.assertEqual((code, err), (0, "srun: cpu-bind: task 0 on n1: CPUs 0-0\nsrun: cpu-bind: task 1 on n1: CPUs 1-1\n"))

    def test_bad_values_start_nothing(self):
        code, out, err = self.world.run("-n1", "--cpu-bind=map_cpu:x", "echo", "ran")
        self.assertEqual((code, out, err), (1, "", 'srun: error: unrecognized --cpu-bind argument "map_cpu:x"\n'
                                            "srun: fatal: Failed to parse --cpu-bind= values.\n"))


if __name__ == "__main__":
    unittest.main(verbosity=2)
