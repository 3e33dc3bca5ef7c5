"""The task of a job: waits for what it is to do, does it, and leaves the result."""
import importlib
import os
import pathlib
import pickle
import sys
import time
import traceback

for name in ("NTASKS", "JOB_NUM_NODES", "NODEID", "PROCID", "LOCALID", "JOB_NODELIST"):
    os.environ["SLURM_" + name]  # the real one stops without any of these
job = os.environ["SLURM_JOB_ID"]
if "SLURM_ARRAY_JOB_ID" in os.environ:
    job = f"{os.environ['SLURM_ARRAY_JOB_ID']}_{os.environ['SLURM_ARRAY_TASK_ID']}"
folder = pathlib.Path(sys.argv[1]) / job
submitted = folder / f"{job}_submitted.pkl"
deadline = time.monotonic() + 60
while not submitted.exists():
    if time.monotonic() > deadline:
        sys.exit(f"waited for {submitted} for 60 seconds")
    time.sleep(0.1)
where, module, function, value = pickle.loads(submitted.read_bytes())
sys.path.insert(0, where)
try:
    outcome = ("success", getattr(importlib.import_module(module), function)(value))
except Exception:
    outcome = ("error", traceback.format_exc())
result = folder / f"{job}_{os.environ['SLURM_PROCID']}_result.pkl"
new = result.with_suffix(".new")
new.write_bytes(pickle.dumps(outcome))
new.rename(result)
sys.exit(outcome[0] == "error")
