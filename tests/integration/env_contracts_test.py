#!/usr/bin/env python3
"""The variables that programs under srun, and scripts of sbatch, read: each as its reader requires it. The job goes
through the PE hook as sbatch and the engine make it, its hosts are pretended.
"""
import fcntl
import os
import re
import subprocess
import sys
import unittest

from srun_world import World

BIN = sys.argv.pop(1) if len(sys.argv) > 1 else "build/dev/bin"


def number(text):
    return re.fullmatch(r"\d+", text) is not None


def hostlist(text):
    """Groups end with their bracket, and one host never has any: simple parsers know no more."""
    groups = re.findall(r"[^,\[]+(?:\[[^\]]*\])?", text)
    return bool(groups) and all(re.fullmatch(r"[a-z]+(\d+|\[\d+[-,][\d,-]*\])", group) for group in groups)


def counts(text):
    return re.fullmatch(r"\d+(\(x\d+\))?(,\d+(\(x\d+\))?)*", text) is not None


def words(text):
    return text != ""


def is_unset_or(check):
    return lambda text: text is None or check(text)


# Reader -> variable -> what it requires; None stands for a variable that is not set.
RANK = {
    "Lightning": {"SLURM_NTASKS": number, "SLURM_NTASKS_PER_NODE": number, "SLURM_NNODES": number, "SLURM_PROCID": number,
                  "SLURM_LOCALID": number, "SLURM_NODEID": number, "SLURM_NODELIST": hostlist, "SLURM_JOB_ID": number,
                  "SLURM_JOB_NAME": lambda text: text not in (None, "bash", "interactive")},
    "JAX": {"SLURM_JOB_ID": number, "SLURM_STEP_NODELIST": hostlist, "SLURM_NTASKS": number, "SLURM_PROCID": number,
            "SLURM_LOCALID": number},
    "submitit": {"SLURM_JOB_ID": number, "SLURM_JOB_NODELIST": hostlist, "SLURM_NTASKS": number,
                 "SLURM_JOB_NUM_NODES": number, "SLURM_NODEID": number, "SLURM_PROCID": number, "SLURM_LOCALID": number},
    "TensorFlow": {"SLURM_PROCID": number, "SLURM_STEP_NUM_TASKS": number, "SLURM_STEP_NODELIST": hostlist,
                   "SLURM_STEP_TASKS_PER_NODE": counts, "CUDA_VISIBLE_DEVICES": lambda text: text == "0,1"},
    "idr_torch": {"SLURM_STEP_ID": number, "SLURM_STEP_NUM_TASKS": number, "SLURM_STEP_TASKS_PER_NODE": counts,
                  "SLURM_STEP_NUM_NODES": number, "SLURM_STEP_NODELIST": hostlist, "SLURM_STEP_GPUS": words,
                  "SLURM_CPUS_PER_TASK": number, "SLURM_JOB_ID": number},
    "Megatron-LM": {"SLURM_NTASKS": number, "SLURM_PROCID": number, "SLURM_LOCALID": number,
                    "SLURM_JOB_START_TIME": is_unset_or(number), "SLURM_RESTART_COUNT": is_unset_or(number)},
    "dask-jobqueue": {"SLURM_PROCID": number, "SLURM_NTASKS": number, "SLURM_JOB_ID": number},
    "Accelerate": {"SLURM_NNODES": number, "SLURM_GPUS": number, "SLURM_PROCID": number},
    "NeMo-Run": {"SLURM_NTASKS_PER_NODE": number, "SLURM_NNODES": number, "SLURM_NODEID": number,
                 "SLURM_JOB_ACCOUNT": words, "SLURM_JOB_PARTITION": words},
    "Determined": {"SLURM_PROCID": number, "SLURM_NPROCS": number},
}
SCRIPT = {
    "Parsl": {"SLURM_CPUS_ON_NODE": number, "SLURM_JOB_NUM_NODES": number,
              "SLURM_JOB_NAME": lambda text: re.fullmatch(r"[^/\s]+", text) is not None},
    "Ray": {"SLURM_CPUS_PER_TASK": number, "SLURM_GPUS_PER_TASK": number},
    "Accelerate": {"SLURM_NNODES": number, "SLURM_GPUS": number, "SLURM_PROCID": number},
    "TorchX": {"SLURM_RESTART_COUNT": is_unset_or(number)},
    "NeMo-Run": RANK["NeMo-Run"],
    "TACC launcher": {"SLURM_NPROCS": number, "SLURM_NNODES": number, "SLURM_NODELIST": hostlist},
    "Snakemake": {"SLURM_JOB_ID": number, "SLURM_GPUS": is_unset_or(number)},
}
QSTAT = """#!/bin/sh
cat <<'END'
job_number:                      4711
resource_map                1:   gpu=n1=(0 1),gpu=n2=(0 1)
END
[ "$1" != -xml ]
"""


class Contracts(unittest.TestCase):
    def setUp(self):
        self.world = World(BIN, config="launcher: local\ngpu: {vendor: nvidia}\n")
        os.unlink(os.path.join(self.world.job_dir, "layout.json"))
        self.env = dict(self.world.env, QUEUE="batch.q", PE="slurm-shim", USER="alice", SGE_TASK_ID="undefined")
        del self.env["SLURM_JOB_ID"]

    def tearDown(self):
        self.world.close()

    def start_job(self, record, hosts=("n1", "n2"), slots=4, **engine):
        self.env["PE_HOSTFILE"] = World.write(
            os.path.join(self.world.dir, "pe_hostfile"),
            "".join(f"{host} {slots} batch.q@{host} UNDEFINED\n" for host in hosts))
        qstat = World.write(os.path.join(self.world.dir, "ge", "qstat"), QSTAT)
        os.chmod(qstat, 0o700)
        fields = dict({"tok": "9f3c21d07be84a55", "dir": self.world.dir, "name": "train", "part": "batch",
                       "acct": "acct1", "sdir": self.world.work, "shost": "login"}, **record)
        self.env.update(NHOSTS=str(len(hosts)), NSLOTS=str(slots * len(hosts)),
                        SLURM_SHIM_REQ="v1;" + ";".join(f"{key}={value}" for key, value in fields.items()), **engine)
        done = subprocess.run([os.path.join(BIN, "slurm-shim-env")], env=self.env, capture_output=True, text=True,
                              timeout=60, check=False)
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        # As the supervisor of the script does for its life: without it steps take the job for killed.
        lock = open(os.path.join(self.world.job_dir, "lock"), "rb")
        self.addCleanup(lock.close)
        fcntl.flock(lock, fcntl.LOCK_EX)

    def environments(self, command):
        """What `env -0` shows, once for each time that the command runs it."""
        done = subprocess.run(["sh", "-c", f". {self.world.job_dir}/environment; {command}"], env=self.env,
                              cwd=self.world.work, capture_output=True, text=True, timeout=120, check=False)
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        texts = done.stdout.split("\0\n")[:-1]
        return [dict(entry.split("=", 1) for entry in text.split("\0") if "=" in entry) for text in texts]

    def check(self, contracts, env, where):
        for reader, variables in contracts.items():
            for name, required in variables.items():
                value = env.get(name)
                good = required(value) if value is not None or required.__name__ == "<lambda>" else False
                self.assertTrue(good, f"{reader} in {where}: {name}={value!r}")

    def test_a_job_of_two_hosts_with_devices(self):
        self.start_job({"nodes": "2", "tpn": "2", "ntasks": "4", "npn": "2", "cpt": "2", "gpus": "4", "gpt": "1"})
        script, = self.environments("env -0; echo")
        self.check(SCRIPT, script, "the script")
        ranks = self.environments("srun --gpu-bind=none sh -c 'x=$(env -0 | base64 -w0); echo $x' | "
                                  "while read x; do echo $x | base64 -d; echo; done")
        self.assertEqual(len(ranks), 4)
        for rank in ranks:
            self.check(RANK, rank, "rank " + rank["SLURM_PROCID"])
            self.assertLess(int(rank["SLURM_LOCALID"]), len(rank["CUDA_VISIBLE_DEVICES"].split(",")))
            self.assertNotIn("SLURM_ARRAY_JOB_ID", rank)
        self.assertEqual(sorted(rank["SLURM_PROCID"] for rank in ranks), ["0", "1", "2", "3"])
        self.assertEqual({rank["SLURM_STEP_NODELIST"] for rank in ranks}, {"n[1-2]"})
        # Readers that sort host names, or take the first one, find rank 0 there.
        first = next(rank for rank in ranks if rank["SLURM_PROCID"] == "0")
        self.assertEqual(first["SLURMD_NODENAME"], "n1")

    def test_a_step_of_one_host_has_no_brackets(self):
        self.start_job({"nodes": "2", "tpn": "2", "ntasks": "4"})
        rank, = self.environments("srun -N1 -n1 sh -c 'env -0; echo'")
        self.assertEqual((rank["SLURM_STEP_NODELIST"], rank["SLURM_NTASKS"]), ("n1", "1"))

    def test_elements_of_an_array_count_from_where_they_were_told(self):
        self.start_job({"nodes": "1", "tpn": "1", "array": "0-3"}, hosts=("n1",), SGE_TASK_ID="3",
                       SGE_TASK_FIRST="1", SGE_TASK_LAST="4", SGE_TASK_STEPSIZE="1")
        script, = self.environments("env -0; echo")
        for name, value in {"SLURM_ARRAY_JOB_ID": "4711", "SLURM_ARRAY_TASK_ID": "2", "SLURM_ARRAY_TASK_MIN": "0"}.items():
            self.assertEqual(script.get(name), value, name)
        self.assertTrue(number(script["SLURM_JOB_ID"]))


if __name__ == "__main__":
    unittest.main(verbosity=2)
