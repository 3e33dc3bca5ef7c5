#!/usr/bin/env python3
"""Steps side by side in one job: they share its hosts up to their slots, wait for each other as in
Slurm, and what is registered of them is true. Pretended hosts.
"""
import glob
import json
import os
import re
import signal
import subprocess
import sys
import unittest

from srun_world import World, wait_until

BIN = sys.argv.pop(1) if len(sys.argv) > 1 else "build/dev/bin"
BUSY = "srun: Job 4711 step creation temporarily disabled, retrying (Requested nodes are busy)\n"
CREATED = "srun: Step created for job 4711\n"


class Steps(unittest.TestCase):
    def setUp(self):
        self.world = World(BIN, hosts=("node001", "node002"), slots=[3, 1])
        self.processes = []

    def tearDown(self):
        for process in self.processes:
            if process.poll() is None:
                process.terminate()
            process.communicate(timeout=60)
        self.world.close()

    def start(self, *words, **kwargs):
        kwargs.setdefault("bufsize", 0)  # what readline() has read on, communicate() would not see
        process = self.world.start(*words, **kwargs)
        self.processes.append(process)
        return process

    def registered(self):
        """What is in the registry, by step number."""
        steps = {}
        for path in glob.glob(os.path.join(self.world.job_dir, "steps", "*.json")):
            try:
                with open(path, encoding="utf-8") as file:
                    step = json.load(file)
                steps[step["step"]] = step
            except FileNotFoundError:
                pass  # it has just ended
        return steps

    def hold(self, *words):
        """A step that runs until its file is there; returns when all its ranks run."""
        name = f"hold{len(self.processes)}"
        end = os.path.join(self.world.work, name + ".end")
        process = self.start(*words, "sh", "-c", f"echo up; while [ ! -e {end} ]; do sleep 0.05; done")
        self.assertEqual(process.stdout.readline(), b"up\n")
        return process, lambda: World.write(end, "")

    def ended(self, process, timeout=60):
        out, err = process.communicate(timeout=timeout)
        return process.returncode, out.decode(), err.decode()

    def waiting(self, process):
        """Reads the one line that says so."""
        self.assertEqual(process.stderr.readline().decode(), BUSY)

    def test_steps_share_hosts_up_to_their_slots(self):
        _, end = self.hold("-N1", "-n2", "-w", "node001")
        self.assertEqual(self.world.run("-N1", "-n1", "sh", "-c", "echo $SLURMD_NODENAME"), (0, "node001\n", ""))
        _, end2 = self.hold("-N1", "-n1")
        # node001 is full now: the next one goes to node002.
        self.assertEqual(self.world.run("-N1", "-n1", "sh", "-c", "echo $SLURMD_NODENAME"), (0, "node002\n", ""))
        end()
        end2()

    def test_a_step_waits_for_slots_and_says_so_once(self):
        holder, end = self.hold("-N2", "-n4")
        second = self.start("-N2", "-n4", "echo", "second")
        self.waiting(second)
        self.assertEqual(list(self.registered()), [0])  # who waits holds nothing and has no number
        end()
        self.assertEqual(self.ended(second), (0, "second\n" * 4, CREATED))
        self.assertEqual(holder.wait(60), 0)
        self.assertEqual(self.registered(), {})

    def test_a_named_host_is_waited_for(self):
        _, end = self.hold("-N1", "-n1", "-w", "node002")
        named = self.start("-N1", "-n1", "-w", "node002", "true")
        self.waiting(named)
        end()
        self.assertEqual(self.ended(named), (0, "", CREATED))

    def test_what_never_fits_is_refused_at_once(self):
        _, end = self.hold("-N2", "-n4")
        code, out, err = self.world.run("-N2", "-n5", "true")
        self.assertEqual((code, out, err), (1, "", "srun: error: Unable to create step for job 4711: "
                                            "More processors requested than permitted\n"))
        end()

    def test_immediate_does_not_wait(self):
        _, end = self.hold("-N2", "-n4")
        busy = (1, "", "srun: error: Unable to create step for job 4711: Requested nodes are busy\n")
        for words in (["-I"], ["-I1"], ["--immediate=0"]):
            self.assertEqual(self.world.run(*words, "-n1", "-N1", "echo", "second"), busy)
        self.assertEqual(self.world.run("-n1", "-N1", "true", env={"SLURM_IMMEDIATE": "0"}), busy)
        end()

    def test_overlap_and_overcommit_do_not_wait(self):
        holder, end = self.hold("-N2", "-n4")
        self.assertEqual(self.world.run("--overlap", "-N2", "-n4", "echo", "x"), (0, "x\n" * 4, ""))
        self.assertEqual(self.world.run("-N1", "-n1", "echo", "x", env={"SLURM_OVERLAP": "1"}), (0, "x\n", ""))
        self.assertEqual(self.world.run("-O", "-N1", "-n9", "true"), (0, "", ""))
        end()
        self.assertEqual(holder.wait(60), 0)
        # And an overlapping step is in nobody's way.
        _, end = self.hold("--overlap", "-N2", "-n4")
        self.assertEqual(self.registered().popitem()[1]["cpus"], [0, 0])
        self.assertEqual(self.world.run("-N2", "-n4", "echo", "x"), (0, "x\n" * 4, ""))
        end()

    def test_a_signal_ends_the_wait(self):
        _, end = self.hold("-N2", "-n4")
        for number in (signal.SIGINT, signal.SIGTERM):
            second = self.start("-N2", "-n4", "true")
            self.waiting(second)
            second.send_signal(number)
            self.assertEqual(self.ended(second),
                             (1, "", f"srun: Cancelled pending job step with signal {int(number)}\n"
                              "srun: error: Unable to create step for job 4711: "
                              "Job/step already completing or completed\n"))
        end()

    def test_a_killed_srun_holds_nothing(self):
        holder, _ = self.hold("-N2", "-n4")
        holder.kill()
        holder.wait(60)
        self.assertEqual(self.world.run("-N2", "-n4", "echo", "x"), (0, "x\n" * 4, ""))
        self.assertEqual(self.registered(), {})

    def become_batch_job(self):
        """What the hook of a job from sbatch leaves; returns the path of the job record."""
        batch = {"v": 1, "tok": "0" * 16, "job": 4711, "slurm_id": 4711, "dir": self.world.dir,
                 "wd": self.world.work, "records": True}
        World.write(os.path.join(self.world.job_dir, "batch.json"), json.dumps(batch))
        os.mkdir(os.path.join(self.world.dir, "jobs"), mode=0o700)
        return os.path.join(self.world.dir, "jobs", "4711.jsonl")

    def test_the_job_record_has_start_and_end_of_steps(self):
        path = self.become_batch_job()
        self.assertEqual(self.world.run("-N2", "-n3", "-J", "mine", "true"), (0, "", ""))
        self.world.run("-N1", "-n2", "-c1", "sh", "-c", "exit $((SLURM_PROCID + 3))")
        self.world.run("-N9", "true")  # refused: no step
        with open(path, encoding="utf-8") as file:
            events = [json.loads(line) for line in file]
        keys = {"step_start": ("step", "name", "cmd", "hosts", "nodes", "ntasks", "cpus"),
                "step_end": ("step", "code", "sig", "max_code", "reason")}
        self.assertEqual([(e["ev"], *(e[k] for k in keys[e["ev"]])) for e in events],
                         [("step_start", 0, "mine", "true", "node[001-002]", 2, 3, 3),
                          ("step_end", 0, 0, 0, 0, "exit"),
                          ("step_start", 1, "sh", "sh", "node001", 1, 2, 2),
                          ("step_end", 1, 4, 0, 4, "exit")])
        for event in events:
            self.assertEqual((event["v"], event["tok"], event["run"]), (1, "0" * 16, 0))

    def test_a_dry_run_shows_what_ranks_get(self):
        words = ("-m", "cyclic", "-N2", "-n3", "-c1", "-J", "mine", "-o", "out.%t")
        env = {"FOO": "two\nlines", "SLURM_NTASKS": "9"}
        code, report, err = self.world.run(*words, "--test-only", "/usr/bin/env", "-0", env=env)
        self.assertEqual((code, err), (0, ""))
        self.assertEqual(os.listdir(self.world.job_dir), ["layout.json"])  # no step was numbered
        self.assertEqual(self.registered(), {})
        head, *tasks = re.split(r"^(?=task )", report, flags=re.M)
        self.assertIn("job 4711: a step of 3 tasks on 2 hosts (node[001-002]), 1 CPUs each; nothing was started\n", head)
        self.assertIn("program: /usr/bin/env -0\n", head)
        self.assertEqual([t.split("\n")[0] for t in tasks],
                         ["task 0 on node001:", "task 1 on node002:", "task 2 on node001:"])
        step = dict(line.strip().split("=", 1) for line in head.splitlines() if line.startswith("  "))
        self.assertEqual(self.world.run(*words, "/usr/bin/env", "-0", env=env)[0], 0)
        for number, task in enumerate(tasks):
            shown = {**step, **dict(line.strip().split("=", 1) for line in task.splitlines() if "=" in line)}
            with open(os.path.join(self.world.work, f"out.{number}"), encoding="utf-8") as file:
                real = dict(entry.split("=", 1) for entry in file.read().split("\0") if entry)
            self.assertIn(f"  output: {self.world.work}/out.{number}, errors: {self.world.work}/out.{number}\n", task)
            # All that is shown is so, and all that the step changed is shown.
            own = {**self.world.env, **env}
            changed = {k: v for k, v in real.items() if own.get(k) != v}
            for name in ("SLURM_TASK_PID", "SLURM_SRUN_COMM_HOST", "SLURM_SRUN_COMM_PORT", "SLURM_STEP_LAUNCHER_PORT"):
                changed.pop(name)  # known only when it runs
            self.assertEqual(shown, changed)

    def test_a_dry_run_refuses_what_a_run_would(self):
        self.assertEqual(self.world.run("--test-only", "-n9", "true"),
                         (1, "", "srun: error: Unable to create step for job 4711: "
                          "More processors requested than permitted\n"))
        code, report, _ = self.world.run("--test-only", "--export=NONE", "-n1", "-N1", "true")
        self.assertEqual(code, 0)
        self.assertRegex(report, r"variables that the tasks do not get: .*\bPATH\b")

    def test_programs_from_a_file(self):
        World.write(os.path.join(self.world.work, "mp.conf"),
                    "0 sh -c 'echo zero $SLURM_PROCID'\n1-2 echo range %t %o\n* printenv SLURMD_NODENAME\n")
        code, out, err = self.world.run("-N2", "-n4", "-l", "--multi-prog", "mp.conf")
        self.assertEqual((code, sorted(out.splitlines()), err),
                         (0, ["0: zero 0", "1: range 1 0", "2: range 2 1", "3: node002"], ""))
        code, report, _ = self.world.run("-N2", "-n4", "--test-only", "--multi-prog", "mp.conf")
        self.assertEqual(code, 0)
        self.assertEqual(re.findall(r"^  program: (.*)$", report, re.M)[1:3], ["echo range 1 0", "echo range 2 1"])

    def test_mpi_is_refused_with_advice(self):
        for kind in ("pmix", "pmi2", "openmpi", "pmix_v4"):
            code, out, err = self.world.run(f"--mpi={kind}", "-N2", "-n2", "true")
            self.assertEqual((code, out), (1, ""))
            self.assertIn(f"srun: error: Invalid MPI type '{kind}', --mpi=list for acceptable types\n", err)
            self.assertIn("mpirun", err)
        # What a profile says comes along with every job and must not end its steps.
        self.assertEqual(self.world.run("-N2", "-n2", "echo", "x", env={"SLURM_MPI_TYPE": "pmix"}),
                         (0, "x\nx\n", "srun: warning: SLURM_MPI_TYPE=pmix is ignored: only none is supported\n"))
        self.assertEqual(self.world.run("--mpi=none", "-N2", "-n2", "echo", "x"), (0, "x\nx\n", ""))
        self.assertEqual(self.world.run("--mpi=list"), (0, "MPI plugin types are...\n\tnone\n", ""))
        self.assertEqual(self.registered(), {})

    def test_heterogeneous_steps_are_refused(self):
        for words in (("-n1", "echo", "a", ":", "-n1", "echo", "b"), ("-n1", ":", "echo", "b")):
            self.assertEqual(self.world.run(*words),
                             (255, "", 'srun: error: heterogeneous steps (":") are not supported: see --multi-prog\n'))

    def test_a_killed_job_ends_steps_and_waits(self):
        self.become_batch_job()
        lock = World.write(os.path.join(self.world.job_dir, "lock"), "")
        supervisor = subprocess.Popen(["flock", lock, "cat"], stdin=subprocess.PIPE)
        self.addCleanup(supervisor.wait)
        self.addCleanup(supervisor.stdin.close)
        wait_until(lambda: subprocess.run(["flock", "-n", lock, "true"], check=False).returncode == 1, what="lock")
        holder, _ = self.hold("-N2", "-n4")
        second = self.start("-N2", "-n4", "true")
        self.waiting(second)
        supervisor.stdin.close()
        supervisor.wait(60)
        self.assertEqual(self.ended(second)[0], 137)
        self.assertEqual(self.ended(holder)[0], 137)

    def test_a_step_inside_of_a_step_uses_its_slots(self):
        srun = os.path.join(BIN, "srun")
        code, out, err = self.world.run("-N2", "-n4", "sh", "-c", "[ $SLURM_PROCID = 0 ] || exit 0; unset SLURM_NTASKS "
                                        f"SLURM_NPROCS; {srun} -N1 -n2 sh -c 'echo in; [ $SLURM_PROCID = 0 ] || exit 0; "
                                        f"{srun} -N1 -n1 echo deeper'")
        self.assertEqual((code, sorted(out.split()), err), (0, ["deeper", "in", "in"], ""))

    def test_the_registry_says_what_runs(self):
        holder, end = self.hold("-J", "mine", "-N2", "-n2")
        step = self.registered()[0]
        self.assertEqual({k: step[k] for k in ("step", "name", "hosts", "ntasks", "cpus", "pid")},
                         {"step": 0, "name": "mine", "hosts": ["node001", "node002"], "ntasks": 2, "cpus": [1, 1],
                          "pid": holder.pid})
        end()
        self.assertEqual(self.ended(holder), (0, "up\n", ""))
        self.assertEqual(self.registered(), {})

    def test_claims_never_take_the_same_slots(self):
        # A rank counts those that run with it: never more than there are slots.
        folder = os.path.join(self.world.work, "count")
        os.mkdir(folder)
        rank = f"cd {folder}; : > $$; ls | wc -l; sleep 0.1; rm $$"
        steps = [self.start("-N1", "-n1", "-Q", "sh", "-c", rank) for _ in range(16)]
        counts = []
        for step in steps:
            code, out, err = self.ended(step, timeout=120)
            self.assertEqual((code, err), (0, ""))
            counts.append(int(out))
        self.assertLessEqual(max(counts), 4)
        self.assertGreater(max(counts), 1)


if __name__ == "__main__":
    unittest.main(verbosity=2)
