"""Stand-in for Lightning's environment of Slurm: what it takes the ranks from, and what it refuses."""
import os
import re

import meeting


class Trainer:
    def __init__(self, devices, num_nodes, strategy):
        assert strategy == "ddp"
        self.global_rank, self.world_size, self.local_rank, self.node_rank = 0, 1, 0, 0
        if "SLURM_NTASKS" not in os.environ or os.environ.get("SLURM_JOB_NAME") in ("bash", "interactive"):
            return
        tasks, per_node = int(os.environ["SLURM_NTASKS"]), os.environ.get("SLURM_NTASKS_PER_NODE")
        if tasks > 1 and per_node is None:
            raise RuntimeError(f"You set `--ntasks={tasks}` in your SLURM bash script, but this variable is not"
                               f" supported. HINT: Use `--ntasks-per-node={tasks}` instead.")
        if int(per_node or 1) != devices:
            raise ValueError(f"You set `devices={devices}` in Lightning, but the number of tasks per node configured in"
                             f" SLURM `--ntasks-per-node={per_node}` does not match.")
        if int(os.environ["SLURM_NNODES"]) != num_nodes:
            raise ValueError(f"You set `num_nodes={num_nodes}` in Lightning, but the number of nodes configured in"
                             f" SLURM `--nodes={os.environ['SLURM_NNODES']}` does not match.")
        self.world_size = tasks
        self.global_rank, self.local_rank, self.node_rank = (
            int(os.environ[name]) for name in ("SLURM_PROCID", "SLURM_LOCALID", "SLURM_NODEID"))

    def fit(self, model):
        first = re.match(r"([^,\[]+)(?:\[(\d+))?", os.environ["SLURM_NODELIST"])
        address = os.environ.get("MASTER_ADDR", first[1] + (first[2] or ""))
        port = int(os.environ.get("MASTER_PORT", 15000 + int(os.environ["SLURM_JOB_ID"][-4:])))
        ranks = meeting.meet(meeting.address_of(address), port, self.global_rank == 0, self.world_size,
                             self.global_rank)
        assert sorted(ranks) == list(range(self.world_size)), ranks
        model.train()
