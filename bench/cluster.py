"""Three hosts of a real cluster: a step on all of them beside one bare `qrsh -inherit`, measured in
wall time within one job, in turn. The cluster has to be up (make cluster-up)."""
import os
import re
import statistics
import subprocess
import time

from measure import Failed

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
NAME = os.environ.get("CLUSTER", "shim")
ROUNDS = 7

# EPOCHREALTIME is bash's own: nothing is started to read the clock.
SCRIPT = """#!/bin/bash
timed() {
    local name=$1 begin=$EPOCHREALTIME; shift
    "$@" </dev/null || { echo "failed $name $?"; exit 1; }
    local end=$EPOCHREALTIME
    echo "took $name $((${end/./} - ${begin/./}))"
}
hosts=($(scontrol show hostnames))
arch=$(ls "$SGE_ROOT/bin" | head -1)
qrsh=$(PATH=$PATH:$SGE_ROOT/bin/$arch command -v qrsh)
for round in $(seq %d); do
    timed qrsh "$qrsh" -inherit -nostdin -noshell "${hosts[1]}" /bin/true
    timed step srun -N 3 -n 3 true
done
echo finished
""" % ROUNDS


def on_master(command, stdin=""):
    where = [os.path.join(ROOT, "docker", "cluster"), "exec", "n1", "--user", "user1",
             "--dir", "/", "--", *command]
    return subprocess.run(where, input=stdin, capture_output=True, text=True, timeout=300,
                          check=False)


def is_up():
    try:
        return on_master(["true"]).returncode == 0
    except (OSError, subprocess.TimeoutExpired):
        return False


def run_job():
    """The job's output once it has ended."""
    folder = on_master(["sh", "-c", 'd=$(mktemp -d "$HOME/bench-XXXXXX") && cd "$d" && '
                        'cat > job.sh && pwd'], SCRIPT).stdout.strip()
    if not folder:
        raise Failed("no folder in user1's home on the cluster")
    # By plain qsub: the engine's own tasks then start exactly as they would without a shim.
    submitted = on_master(["sh", "-c", 'cd "$0" && pe=$(qconf -spl | grep -x slurm-shim-1); '
                           'qsub -terse -cwd -pe "${pe:-slurm-shim}" 3 -o out -j y job.sh', folder])
    if submitted.returncode != 0:
        raise Failed(f"qsub: {submitted.stderr.strip() or submitted.stdout.strip()}")
    deadline = time.monotonic() + 240
    text = ""
    while not re.search(r"^(finished|failed)", text, re.M):
        if time.monotonic() > deadline:
            raise Failed(f"the job said nothing final within 240 s: {text[-300:]!r}")
        time.sleep(0.5)
        text = on_master(["cat", folder + "/out"]).stdout
    on_master(["rm", "-r", folder])
    return text


def measure():
    """Median seconds of one qrsh and of one three-host step."""
    text = run_job()
    if "finished" not in text:
        raise Failed(f"the job failed: {text[-300:].strip()}")
    took = {"qrsh": [], "step": []}
    for name, micros in re.findall(r"^took (\w+) (\d+)", text, re.M):
        took[name].append(int(micros) / 1e6)
    return statistics.median(took["qrsh"]), statistics.median(took["step"])
