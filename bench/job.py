"""A job as the PE hook and sbatch leave it, by hand: one host with many slots, so that srun and
batch-exec run without a cluster, and so that another build sees exactly the same."""
import json
import os

SLOTS = 64
TOK = "9f3c21d07be84a55"


def write(path, text, mode=0o600):
    with open(path, "wb") as file:
        file.write(text if isinstance(text, bytes) else text.encode())
    os.chmod(path, mode)
    return path


class Job:
    """`hosts`: this host with SLOTS slots, or that many pretended ones with a slot each."""

    def __init__(self, root, hosts=0):
        self.root = root
        self.tmp = os.path.join(root, "tmp")
        self.folder = os.path.join(self.tmp, "slurm_shim")
        self.state = os.path.join(root, "state")
        for folder in (self.tmp, self.folder, self.state, os.path.join(self.state, "submit"),
                       os.path.join(self.state, "jobs")):
            os.mkdir(folder, 0o700)
        host = os.uname().nodename
        names = [f"node{i:04}" for i in range(hosts)] or [host]
        slots = 1 if hosts else SLOTS
        nodes = [{"index": i, "host": name, "fqdn": name, "ip": "127.0.0.1", "slots": slots,
                  "processor_range": "", "gpus": None, "is_master": i == 0}
                 for i, name in enumerate(names)]
        ntasks = slots * len(nodes)
        write(os.path.join(self.folder, "layout.json"), json.dumps({
            "schema_version": 1, "shim_version": "bench", "created_unix": 0,
            "job": {"job_id": 4711, "array_task_id": None, "name": "bench", "user": "bench",
                    "uid": os.getuid(), "gid": os.getgid(), "queue": "batch.q",
                    "partition": "batch", "account": "", "submit_dir": root, "submit_host": host,
                    "pe_name": "slurm-shim", "task_policy": "slot", "mem_per_node_mb": 0},
            "nodes": nodes,
            "tasks": {"ntasks": ntasks, "cpus_per_task": 0, "per_node": [slots] * len(nodes),
                      "rank_map": []},
            "rendezvous": {"master_addr": host, "master_port": 20000}, "launcher": "local"}))
        write(os.path.join(self.folder, "stepctr"), "0\n")
        config = write(os.path.join(root, "config.yaml"), "launcher: local\n")
        self.env = {"PATH": "/usr/bin:/bin", "HOME": root, "USER": "bench", "TMPDIR": self.tmp,
                    "JOB_ID": "4711", "SGE_TASK_ID": "undefined", "NSLOTS": str(ntasks),
                    "SLURM_JOB_ID": "4711", "SLURM_SHIM_CONFIG": config}

    def batch(self):
        """What batch-exec reads; its environment."""
        write(os.path.join(self.folder, "batch.json"), json.dumps({
            "v": 1, "tok": TOK, "job": 4711, "task": None, "slurm_id": 4711, "index": None,
            "dir": self.state, "env": True, "name": "bench", "user": "bench", "host": "n1",
            "out": "batch-%j.out", "err": None, "in": "/dev/null", "open_append": False,
            "wd": self.root, "signal": None, "limit_s": None, "kill_wait_ms": 2000,
            "records": True, "requeue": True, "restart": 0, "afterok": []}) + "\n")
        write(os.path.join(self.state, "submit", TOK + ".env"), b"slurm-shim-env 1 1\0A=b\0")
        return dict(self.env, SLURM_SHIM_REQ=f"v1;tok={TOK};dir={self.state}",
                    SLURM_SHIM_DIR=self.folder)

    def end_batch(self):
        os.unlink(os.path.join(self.folder, "batch.json"))
