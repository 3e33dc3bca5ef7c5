#!/usr/bin/env python3
"""Devices of steps: from a grant to the one variable that each rank sees, with pretended hosts. The grants of the
second half were captured from OCS 9.1.5 and go through the PE hook.
"""
import os
import subprocess
import sys
import unittest

from srun_world import World, wait_until

BIN = sys.argv.pop(1) if len(sys.argv) > 1 else "build/dev/bin"
FIXTURES = os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))), "fixtures", "9.1.5")
MASKS = ("CUDA_VISIBLE_DEVICES", "ROCR_VISIBLE_DEVICES", "HIP_VISIBLE_DEVICES", "GPU_DEVICE_ORDINAL", "ZE_AFFINITY_MASK")
SHOW = ("echo $SLURM_PROCID $SLURMD_NODENAME on=${SLURM_GPUS_ON_NODE-none} step=${SLURM_STEP_GPUS-none} "
        + " ".join("${%s+%s=$%s}" % (name, name, name) for name in MASKS))
BUSY = "srun: Job 4711 step creation temporarily disabled, retrying (Requested nodes are busy)\n"


def lines(result):
    """rank -> its line; the step must have succeeded without a word."""
    code, out, err = result
    if (code, err) != (0, ""):
        raise AssertionError(f"exit code {code}: {err}")
    return {int(line.split()[0]): " ".join(line.split()[1:]) for line in out.splitlines()}


class OnPaper(unittest.TestCase):
    gpus = [[0, 1], [2, 3, "GPU-8932f937-d72c-4106-c12f-20bd9faed9f6"]]

    def setUp(self):
        self.worlds, self.processes = [], []

    def tearDown(self):
        for process in self.processes:
            if process.poll() is None:
                process.terminate()
            process.communicate(timeout=60)
        for world in self.worlds:
            world.close()

    def world(self, gpus=None, gpu_config="vendor: nvidia", slots=8, hosts=("n1", "n2")):
        world = World(BIN, hosts=hosts, slots=slots, config="launcher: local\ngpu: {%s}\n" % gpu_config,
                      tasks_per_node=[2] * len(hosts), gpus=gpus or self.gpus)
        self.worlds.append(world)
        return world

    def show(self, world, *words, env=None):
        return lines(world.run(*words, "sh", "-c", SHOW, env=env))

    def hold(self, world, *words):
        """A step that runs until the returned function is called."""
        end = os.path.join(world.work, f"end{len(self.processes)}")
        process = world.start(*words, "sh", "-c", f"{SHOW}; while [ ! -e {end} ]; do sleep 0.05; done")
        self.processes.append(process)
        first = process.stdout.readline().decode().split()
        return " ".join(first[1:]), lambda: World.write(end, "")

    def test_without_a_request_all_ranks_see_the_hosts_grant(self):
        uuid = self.gpus[1][2]
        self.assertEqual(self.show(self.world(), "-N2", "-n3"), {
            0: "n1 on=2 step=0,1 CUDA_VISIBLE_DEVICES=0,1", 1: "n1 on=2 step=0,1 CUDA_VISIBLE_DEVICES=0,1",
            2: f"n2 on=3 step=2,3,{uuid} CUDA_VISIBLE_DEVICES=2,3,{uuid}"})

    def test_each_task_gets_its_own(self):
        world = self.world()
        want = {0: "n1 on=2 step=0 CUDA_VISIBLE_DEVICES=0", 1: "n1 on=2 step=1 CUDA_VISIBLE_DEVICES=1",
                2: "n2 on=1 step=2 CUDA_VISIBLE_DEVICES=2"}
        self.assertEqual(self.show(world, "-N2", "-n3", "--gpus-per-task=1"), want)
        self.assertEqual(self.show(world, "-N2", "-n3", env={"SLURM_GPUS_PER_TASK": "1"}), want)
        self.assertEqual(self.show(world, "-N1", "-n2", "-w", "n2", "--gpu-bind=map_gpu:2,0"), {
            0: f"n2 on=3 step={self.gpus[1][2]} CUDA_VISIBLE_DEVICES={self.gpus[1][2]}",
            1: "n2 on=3 step=2 CUDA_VISIBLE_DEVICES=2"})
        self.assertEqual(self.show(world, "-N1", "-n2", "-w", "n2", "--gpu-bind=mask_gpu:0x3,4")[0],
                         "n2 on=3 step=2,3 CUDA_VISIBLE_DEVICES=2,3")
        divided = self.show(self.world(gpu_config="vendor: nvidia, bind: per-task"), "-N1", "-n2")
        self.assertEqual([divided[0], divided[1]], [want[0], want[1]])

    def test_sockets_and_cpus_are_counted_by_devices(self):
        world = self.world()
        self.assertEqual(world.run("-N1", "-n1", "--gpus-per-socket=1", "--sockets-per-node=1", "sh", "-c", SHOW), (
            0, "0 n1 on=1 step=0 CUDA_VISIBLE_DEVICES=0\n",
            "srun: warning: option '--sockets-per-node' has no effect: hosts are not chosen by it\n"))
        self.assertEqual(world.run("-N1", "--gpus-per-socket=1", "true"), (1, "", (
            "srun: error: --gpus-per-socket option requires --sockets-per-node specification\n"
            "srun: error: Invalid generic resource (gres) specification\n")))
        cpus = "echo $SLURM_PROCID ${SLURM_CPUS_PER_TASK-none}"
        cases = {("-N1", "-n2", "--gpus-per-task=1", "--cpus-per-gpu=3"): {0: "3", 1: "3"},
                 ("-N1", "-n2", "--gpus-per-node=2", "--cpus-per-gpu=4"): {0: "4", 1: "4"},
                 ("-N1", "-n1", "-G2", "--cpus-per-gpu=4"): {0: "8"},
                 ("-N1", "-n1", "--gpus-per-task=1", "--cpus-per-gpu=3", "-c2"): {0: "2"}}
        for words, want in cases.items():
            self.assertEqual(lines(world.run(*words, "sh", "-c", cpus)), want, words)
        code, _, err = world.run("-N1", "-n3", "--gpus-per-task=1", "--cpus-per-gpu=4", "true")
        self.assertEqual((code, "More processors requested than permitted" in err), (1, True), err)
        code, _, err = world.run("-N1", "-n1", "--cpus-per-gpu=4", "true")
        self.assertEqual((code, err), (0, "srun: warning: --cpus-per-gpu=4 has no effect: the step's GPUs and tasks "
                                          "are not both told\n"))

    def test_the_vendor_decides_which_variable(self):
        inherited = {name: "7" for name in MASKS}
        amd = self.show(self.world(gpu_config="vendor: amd"), "-N1", "-n1", env=inherited)
        self.assertEqual(amd, {0: "n1 on=2 step=0,1 ROCR_VISIBLE_DEVICES=0,1"})
        nvidia = self.show(self.world(), "-N1", "-n1", env=inherited)
        self.assertEqual(nvidia, {0: "n1 on=2 step=0,1 CUDA_VISIBLE_DEVICES=0,1"})
        cgroup = self.show(self.world(gpu_config="isolation: cgroup"), "-N1", "-n1", env={"CUDA_VISIBLE_DEVICES": "7"})
        self.assertEqual(cgroup, {0: "n1 on=2 step=0,1 CUDA_VISIBLE_DEVICES=7"})

    def test_no_devices_no_variable(self):
        world = self.world()
        for word in ("--gres=none", "--gres=gpu:0", "--gpus-per-node=0"):
            self.assertEqual(self.show(world, "-N1", "-n1", word, env={"CUDA_VISIBLE_DEVICES": "7"}),
                             {0: "n1 on=none step=none"})
        empty = self.world(gpus=[[0], None])  # granted `()` on the second host
        self.assertEqual(self.show(empty, "-N2", "-n2", env={"CUDA_VISIBLE_DEVICES": "7"}),
                         {0: "n1 on=1 step=0 CUDA_VISIBLE_DEVICES=0", 1: "n2 on=none step=none"})
        never = self.world(gpus=[None, None])
        self.assertEqual(self.show(never, "-N1", "-n1", env={"CUDA_VISIBLE_DEVICES": "7", "SLURM_GPUS_PER_NODE": "2"}),
                         {0: "n1 on=none step=none CUDA_VISIBLE_DEVICES=7"})

    def test_devices_that_are_only_counted(self):
        world = self.world(gpus=[None, None])
        told = "srun: warning: --gpus-per-task=1 has no effect: the engine does not tell which GPUs the job has\n"
        for name in ("SLURM_GPUS", "SLURM_GPUS_PER_NODE", "SLURM_GPUS_PER_TASK"):
            self.assertEqual(world.run("-N1", "-n1", "--gpus-per-task=1", "sh", "-c", SHOW, env={name: "1"}),
                             (0, "0 n1 on=none step=none\n", told))
        # A job that asked for none is told that it has none.
        code, _, err = world.run("-N1", "-n1", "--gpus-per-task=1", "true")
        self.assertEqual((code, "Invalid generic resource (gres) specification" in err), (1, True), err)

    def test_more_than_was_granted_starts_nothing(self):
        world = self.world()
        mark = os.path.join(world.work, "started")
        cases = {
            ("-N2", "-n4", "--gpus-per-task=2"): "--gpus-per-task=2 exceeds the 2 GPUs granted on n1",
            ("-N2", "--gpus-per-node=3"): "--gpus-per-node=3 exceeds the 2 GPUs granted on n1",
            ("-N2", "--gres=gpu:4"): "--gres=gpu:4 exceeds the 2 GPUs granted on n1",
            ("-N1", "-G3"): "--gpus=3 exceeds the 2 GPUs granted on n1",
            ("-N2", "-G6"): "--gpus=6 exceeds the 5 GPUs granted on the hosts of the step",
            ("-N1", "-n3", "--gpu-bind=per_task:1"): "--gpu-bind=per_task:1 exceeds the 2 GPUs granted on n1",
            ("-N1", "--gpu-bind=map_gpu:5"): "--gpu-bind=map_gpu: task 0 of n1 is to get GPU 5, but the step has 2 "
                                             "GPUs there (counted from 0)",
        }
        for words, message in cases.items():
            self.assertEqual(world.run(*words, "touch", mark), (1, "", f"srun: error: {message}\n"))
        self.assertFalse(os.path.exists(mark))
        self.assertEqual(os.listdir(world.job_dir), ["layout.json"])  # no step was counted or registered

    def test_steps_side_by_side_get_different_devices(self):
        world = self.world(gpus=[[0, 1, 2], None])
        one, end_one = self.hold(world, "-N1", "-n1", "--gpus=1")
        two, end_two = self.hold(world, "-N1", "-n1", "--gpus-per-task=1")
        self.assertEqual((one, two), ("n1 on=1 step=0 CUDA_VISIBLE_DEVICES=0", "n1 on=1 step=1 CUDA_VISIBLE_DEVICES=1"))
        # Two more are not free: the step waits, or does not want to.
        refused = world.run("-N1", "-n1", "-w", "n1", "--immediate", "--gpus=2", "true")
        self.assertEqual(refused, (1, "", "srun: error: Unable to create step for job 4711: Requested nodes are busy\n"))
        third = world.start("-N1", "-n1", "-w", "n1", "--gpus=2", "sh", "-c", SHOW)
        self.processes.append(third)
        self.assertEqual(third.stderr.readline().decode(), BUSY)
        # Those without devices, and those that share, are in nobody's way; free devices go first.
        self.assertEqual(self.show(world, "-N1", "-n1", "--gres=none"), {0: "n1 on=none step=none"})
        self.assertEqual(self.show(world, "-N1", "-n1", "-w", "n1", "--overlap", "--gpus=2")[0],
                         "n1 on=2 step=2,0 CUDA_VISIBLE_DEVICES=2,0")
        end_one()
        out, err = third.communicate(timeout=60)
        self.assertEqual((third.returncode, out.decode().split()[3:], err.decode()),
                         (0, ["step=0,2", "CUDA_VISIBLE_DEVICES=0,2"], "srun: Step created for job 4711\n"))
        end_two()
        self.assertEqual(self.processes[1].wait(60), 0)
        wait_until(lambda: self.processes[0].poll() is not None, what="end of the first step")
        self.assertEqual(self.show(world, "-N1", "-n1", "-w", "n1", "--gpus=1")[0],
                         "n1 on=1 step=0 CUDA_VISIBLE_DEVICES=0")

    def test_a_step_inside_of_a_step_uses_its_devices(self):
        world = self.world(gpus=[[0, 1], None])
        inner = f"{os.path.join(BIN, 'srun')} -N1 -n1 --gpus=1 sh -c '{SHOW}'"
        self.assertEqual(self.show_inner(world, inner), "n1 on=1 step=0 CUDA_VISIBLE_DEVICES=0")

    def show_inner(self, world, command):
        return lines(world.run("-N1", "-n1", "sh", "-c", command))[0]

    def test_verbose_binding_is_told(self):
        code, _, err = self.world().run("-N1", "-n2", "--gpu-bind=verbose,single:1", "true")
        self.assertEqual((code, err), (0, "srun: gpu-bind: task 0 on n1: 0\nsrun: gpu-bind: task 1 on n1: 1\n"))

    def test_the_dry_run_tells_the_same(self):
        code, out, _ = self.world().run("--test-only", "-N1", "-n2", "--gpus-per-task=1", "true")
        self.assertEqual(code, 0)
        told = [line.strip() for line in out.splitlines() if "VISIBLE" in line or "STEP_GPUS" in line]
        self.assertEqual(told, ["SLURM_STEP_GPUS=0", "CUDA_VISIBLE_DEVICES=0",
                                "SLURM_STEP_GPUS=1", "CUDA_VISIBLE_DEVICES=1"])


QSTAT = """#!/bin/sh
case "$*" in
'-xml -j {job}') exec cat '{answer}' ;;
esac
echo "unexpected: $*" >&2
exit 1
"""


class FromGrants(unittest.TestCase):
    def setUp(self):
        self.world = World(BIN, config="")
        os.unlink(os.path.join(self.world.job_dir, "layout.json"))
        self.env = dict(self.world.env, QUEUE="cf_q", PE="cf_T", USER="alice", SGE_TASK_ID="undefined")
        del self.env["SLURM_JOB_ID"]

    def tearDown(self):
        self.world.close()

    def start_job(self, fixture, job, hosts, complex_name, task=None, hgr=None):
        """The PE hook in a job that was granted that; its hosts have two slots each."""
        text = "".join(f"{host} 2 cf_q@{host} UNDEFINED\n" for host in hosts)
        self.env["PE_HOSTFILE"] = World.write(os.path.join(self.world.dir, "pe_hostfile"), text)
        World.write(self.world.config, "launcher: local\ndefault_task_policy: slot\n"
                                       f"gpu: {{gres_complex: {complex_name}, vendor: nvidia}}\n")
        self.env.update(JOB_ID=str(job), NHOSTS=str(len(hosts)), NSLOTS=str(2 * len(hosts)))
        if task:
            self.env.update(SGE_TASK_ID=str(task), SGE_TASK_FIRST="5", SGE_TASK_LAST="6", SGE_TASK_STEPSIZE="1")
        if hgr:
            self.env["SGE_HGR_" + complex_name] = hgr
        qstat = World.write(os.path.join(self.world.dir, "ge", "qstat"),
                            QSTAT.format(job=job, answer=os.path.join(FIXTURES, fixture)))
        os.chmod(qstat, 0o700)
        done = subprocess.run([os.path.join(BIN, "slurm-shim-env")], env=self.env, capture_output=True, text=True,
                              timeout=60, check=False)
        self.assertEqual((done.returncode, done.stderr), (0, ""))

    def in_script(self, command, **more):
        """(exit code, stdout, stderr) of a command in the job's environment, as the starter makes it."""
        done = subprocess.run(["sh", "-c", f". {self.world.job_dir}/environment; {command}"], env={**self.env, **more},
                              cwd=self.world.work, capture_output=True, text=True, timeout=120, check=False)
        return done.returncode, done.stdout, done.stderr

    def masks(self, *words):
        return {rank: line.rpartition("step=")[2] for rank, line in
                lines(self.in_script(f"srun {' '.join(words)} sh -c '{SHOW}'")).items()}

    def test_two_hosts_with_four_devices_each(self):
        self.start_job("rsmap-pe-2x2.qstat-j.xml", 200, ("ocs-worker2", "ocs-master"), "gpu")
        self.assertEqual(self.masks("--gpus-per-task=2"), {
            0: "0,1 CUDA_VISIBLE_DEVICES=0,1", 1: "2,3 CUDA_VISIBLE_DEVICES=2,3",
            2: "0,1 CUDA_VISIBLE_DEVICES=0,1", 3: "2,3 CUDA_VISIBLE_DEVICES=2,3"})

    def test_three_hosts_with_a_different_device_each(self):
        # The engine's own variable shows the last host's on all of them.
        self.start_job("cf_rh_three_hosts.qstat-j.xml", 660, ("ocs-worker1", "ocs-master", "ocs-worker2"), "cf_rh",
                       hgr="4")
        want = {0: "3", 1: "3", 2: "1", 3: "1", 4: "4", 5: "4"}
        self.assertEqual(self.masks(), {rank: f"{id} CUDA_VISIBLE_DEVICES={id}" for rank, id in want.items()})

    def test_elements_of_an_array_get_their_own(self):
        self.start_job("cf_rh_arr2pe.qstat-j.xml", 536, ("ocs-master", "ocs-worker1"), "cf_rh", task=6)
        want = {0: "0", 1: "0", 2: "1", 3: "1"}
        self.assertEqual(self.masks(), {rank: f"{id} CUDA_VISIBLE_DEVICES={id}" for rank, id in want.items()})

    def test_named_devices_per_slot(self):
        self.start_job("cf_ry_pe4par2.qstat-j.xml", 485, ("ocs-master", "ocs-worker2"), "cf_ry")
        self.assertEqual(self.masks("--gpus-per-task=1"), {
            0: "0 CUDA_VISIBLE_DEVICES=0", 1: "1 CUDA_VISIBLE_DEVICES=1",
            2: "0 CUDA_VISIBLE_DEVICES=0", 3: "1 CUDA_VISIBLE_DEVICES=1"})

    def test_hosts_with_an_empty_grant_have_no_mask(self):
        self.start_job("cf_rh_slaveonly.qstat-j.xml", 540, ("ocs-worker2", "ocs-master", "ocs-worker1"), "cf_rh")
        both = "0,1 CUDA_VISIBLE_DEVICES=0,1"
        self.assertEqual(self.masks(), {0: "none", 1: "none", 2: both, 3: both, 4: both, 5: both})
        self.assertEqual(self.in_script("echo ${CUDA_VISIBLE_DEVICES-none}", CUDA_VISIBLE_DEVICES="7"), (0, "none\n", ""))

    def test_a_request_of_zero_is_no_grant(self):
        self.start_job("cf_ry_zero.qstat-j.xml", 678, ("ocs-worker2", "ocs-worker1"), "cf_ry")
        self.assertEqual(self.in_script("env | grep -c GPU"), (1, "0\n", ""))
        self.assertEqual(self.in_script("srun -N1 -n1 --gpus=1 true")[0:2], (1, ""))

    def test_the_script_has_one_mask_and_inherits_none(self):
        self.start_job("cf_rh_three_hosts.qstat-j.xml", 660, ("ocs-worker1", "ocs-master", "ocs-worker2"), "cf_rh")
        shown = " ".join("${%s+%s=$%s}" % (name, name, name) for name in MASKS)
        code, out, _ = self.in_script(f"echo $SLURM_JOB_GPUS $SLURM_GPUS_ON_NODE {shown}", **{name: "7" for name in MASKS})
        self.assertEqual((code, out.split()), (0, ["3", "1", "CUDA_VISIBLE_DEVICES=3"]))


if __name__ == "__main__":
    unittest.main(verbosity=2)
