"""Stand-in for submitit's executor for Slurm: the same script, step, files, questions and answers."""
import os
import pathlib
import pickle
import re
import shlex
import shutil
import subprocess
import sys
import time

DONE_NOT = {"READY", "PENDING", "RUNNING", "UNKNOWN", "REQUEUED", "COMPLETING", "PREEMPTED"}


class FailedJobError(RuntimeError):
    pass


class Job:
    def __init__(self, folder, job_id):
        self.folder, self.job_id = folder, job_id

    def state(self):
        base = self.job_id.split("_")[0]
        shown = subprocess.run(["sacct", "-o", "JobID,State,NodeList", "--parsable2", "-j", base], capture_output=True,
                               text=True, check=True).stdout
        for row in shown.splitlines()[1:]:
            name, state = row.split("|")[:2]
            waiting = re.fullmatch(rf"{base}_\[(\d+)(?:-(\d+))?(?:%\d+)?\]", name)
            inside = waiting and int(waiting[1]) <= int(self.job_id.split("_")[1]) <= int(waiting[2] or waiting[1])
            if name == self.job_id or inside:
                return state.split()[0]
        return "UNKNOWN"

    def result(self, patience=180):
        path = self.folder / self.job_id / f"{self.job_id}_0_result.pkl"
        deadline = time.monotonic() + patience
        ended = None
        while not path.exists():
            if ended is None and self.state() not in DONE_NOT:
                ended = time.monotonic()
            if (ended and time.monotonic() > ended + 15) or time.monotonic() > deadline:
                raise FailedJobError(f"job {self.job_id} has not produced any output (state: {self.state()})")
            time.sleep(1)
        outcome, value = pickle.loads(path.read_bytes())
        if outcome == "error":
            raise FailedJobError(f"job (task=0) failed during processing with trace:\n{value}")
        return value


class AutoExecutor:
    def __init__(self, folder):
        if not shutil.which("srun"):
            raise RuntimeError("no srun: not a cluster of Slurm")
        self.folder, self.parameters = pathlib.Path(folder).absolute(), {}

    def update_parameters(self, **parameters):
        names = {"timeout_min": "time", "slurm_partition": "partition", "tasks_per_node": "ntasks-per-node",
                 "cpus_per_task": "cpus-per-task"}
        for name, value in parameters.items():
            self.parameters[names.get(name, name)] = value

    def map_array(self, function, values):
        values = list(values)
        parallel = self.parameters.pop("slurm_array_parallelism", len(values))
        pattern = self.folder / ("%A_%a" if len(values) > 1 else "%j")
        logs = f"{pattern}/{pattern.name}_0_log"
        options = {"nodes": 1, "time": 60, "ntasks-per-node": 1, "job-name": function.__name__, **self.parameters,
                   "output": logs + ".out", "error": logs + ".err", "open-mode": "append", "signal": "USR2@90",
                   "wckey": "submitit"}
        if len(values) > 1:
            options["array"] = f"0-{len(values) - 1}%{parallel}"
        lines = [f"#SBATCH --{name}={shlex.quote(str(value))}" for name, value in sorted(options.items())]
        task = f"{pattern}/{pattern.name}_%t_log"
        step = (f"srun --unbuffered --output {task}.out --error {task}.err {sys.executable} -u -m submitit.core._submit"
                f" {self.folder}")
        self.folder.mkdir(parents=True, exist_ok=True)
        script = self.folder / "submission_file.sh"
        script.write_text("\n".join(["#!/bin/bash", *lines, "export SUBMITIT_EXECUTOR=slurm", step, ""]))
        said = subprocess.run(["sbatch", script], capture_output=True, text=True, check=True).stdout
        base = re.search(r"job ([0-9]+)", said)[1]
        jobs = [Job(self.folder, f"{base}_{i}" if len(values) > 1 else base) for i in range(len(values))]
        # Only now, as submitit does: the jobs may have started before their folders are there.
        for job, value in zip(jobs, values):
            (self.folder / job.job_id).mkdir(exist_ok=True)
            target = self.folder / job.job_id / f"{job.job_id}_submitted.pkl"
            main = pathlib.Path(sys.modules["__main__"].__file__).stem
            name = main if function.__module__ == "__main__" else function.__module__
            new = target.with_suffix(".new")
            new.write_bytes(pickle.dumps((os.getcwd(), name, function.__name__, value)))
            new.rename(target)
        return jobs
