"""Stand-in for ClearML's SDK: of all ranks the first one reports."""
import os


class Task:
    @staticmethod
    def init(project_name, task_name):
        rank = int(os.environ.get("RANK") or os.environ.get("SLURM_PROCID") or 0)
        if rank == 0:
            print(f"ClearML Task: created new task {project_name}/{task_name}", flush=True)
        return Task()
