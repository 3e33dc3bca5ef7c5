#!/usr/bin/env python3
"""Limits, signals and requeue end to end."""
import re
import time

from cluster import NODES, expect, expect_equal, run, wait_until

BATCH = ('for s in TERM USR1 USR2; do trap "echo batch:$s $(date +%s)" $s; done\n'.replace("$(date", "\\$(date")
         + 'echo "start $(date +%s)"\n')
WAIT = 'sleep 300 & p=$!; while kill -0 $p 2>/dev/null; do wait $p; done\n'
RANK = ('#!/bin/bash\nfor s in TERM USR1 USR2; do trap "echo rank$SLURM_PROCID:$s" $s; done\n'
        'echo "rank$SLURM_PROCID:start"\nfor i in $(seq 1500); do sleep 0.2; done\n')


def times(text, word):
    return [int(line.split()[-1]) for line in text.splitlines() if line.startswith(word)]


def records(c, job):
    return c.ok("bash", "-c", f"cat ~/.local/state/slurm-shim/*/jobs/{job}.jsonl")


def signal_to_the_script(c):
    """Report R23: this signal, once, and none of the engine's."""
    job = c.script(BATCH + WAIT, "-t", "1", "--signal=B:USR1@45", "-o", "out")
    text = c.wait_for_text("out", "batch:USR1")
    left = times(text, "start")[0] + 60 - times(text, "batch:USR1")[0]
    expect(40 <= left <= 50, f"USR1 came {left} s before the limit of 60 s")
    expect(not re.search("USR2|TERM", text), text)
    c.ok("scancel", job)


def signal_to_the_ranks_of_all_hosts(c):
    c.write("rank.sh", RANK, "755")
    job = c.script(BATCH + "srun ./rank.sh & p=$!; while kill -0 $p 2>/dev/null; do wait $p; done\n",
                   "-t", "1", "-N3", "--ntasks-per-node=1", "--signal=USR2@35", "-o", "out")
    started = time.monotonic()
    c.wait_for_text("out", "rank2:start")
    text = c.wait_for_text("out", r"rank0:USR2(.|\n)*rank|rank[12]:USR2(.|\n)*rank0:USR2")
    wait_until(lambda: len(re.findall("rank[0-2]:USR2", c.read("out"))) == 3, "USR2 at three ranks", 20)
    expect(time.monotonic() - started < 50, "before the limit")
    text = c.read("out")
    expect("batch:" not in text and "USR1" not in text, text)
    c.ok("scancel", job)


def the_limit_is_told_and_kept(c):
    job = c.script(BATCH + WAIT, "-t", "1", "-o", "out")
    c.wait_gone(job, 180)
    text = c.read("out")
    expect("USR" not in text, f"nobody asked for a signal: {text}")
    expect(f"slurmstepd: error: *** JOB {job} ON " in text and "DUE TO TIME LIMIT ***" in text, text)
    took = times(text, "batch:TERM")[0] - times(text, "start")[0]
    expect(50 <= took <= 60, f"TERM after {took} s of 60")
    expect('"ending"' in records(c, job) and '"timeout"' in records(c, job), records(c, job))
    job = c.script("trap 'exit 0' TERM\n" + WAIT, "-t", "1", "-o", "two")
    c.wait_gone(job, 180)
    expect_equal(c.exit_status(job), 0, "exit status of a script that ended in time")
    expect('"ev":"end","code":0,"sig":0,"reason":"timeout"' in records(c, job), records(c, job))


def begin_and_deadline(c):
    job = c.sbatch("--begin=now+20", "-o", "begin", "--wrap", "date +%s")
    asked = time.time()
    c.wait_gone(job, 180)
    expect(int(c.read("begin")) - asked > 17, "start after --begin")
    # Less time than it asks for is left when it may start.
    job = c.sbatch("--begin=now+15", "--deadline=now+70", "-t", "1", "-o", "late", "--wrap", "echo ran")
    c.wait_gone(job, 180)
    expect(f"slurm-shim: error: job {job} cannot start: DeadLine: " in c.read("late"), c.read("late"))
    job = c.sbatch("--deadline=now+600", "-t", "1", "-o", "intime", "--wrap", "echo ran")
    c.wait_gone(job)
    expect_equal(c.read("intime"), "ran\n", "in time")


def second_run(c, body, *words):
    """Requeues a job from outside in its first run and returns what it printed altogether."""
    job = c.script('echo "run ${SLURM_RESTART_COUNT-none}"\n' + body, "--requeue", "--open-mode=append",
                   "-o", "out", *words)
    c.wait_for_text("out", "^run none")
    c.ok("scontrol", "requeue", job)
    c.wait_for_text("out", "^run 1", 180)
    return job


def requeue_from_outside(c):
    job = second_run(c, "[ -n \"$SLURM_RESTART_COUNT\" ] && exit 0\nsleep 300\n")
    c.wait_gone(job)
    expect("DUE TO JOB REQUEUE" in c.read("out"), c.read("out"))
    expect_equal(c.exit_status(job), 0, "exit status")
    c.wait_no_processes(20)


def requeue_as_the_last_command_of_a_failing_script(c):
    job = c.script('echo "run ${SLURM_RESTART_COUNT-none}"\n'
                   '[ "${SLURM_RESTART_COUNT:-0}" = 2 ] && exit 0\n'
                   'false || scontrol requeue "$SLURM_JOB_ID"\n', "--requeue", "--open-mode=append", "-o", "out")
    c.wait_gone(job, 240)
    runs = [line for line in c.read("out").splitlines() if line.startswith("run")]
    expect_equal(runs, ["run none", "run 1", "run 2"], "runs")
    expect_equal(c.exit_status(job), 0, "exit status")


def requeue_forbidden(c):
    job = c.script("echo up; sleep 300\n", "--no-requeue", "-o", "out")
    c.wait_for_text("out", "up")
    done = c.exec("scontrol", "requeue", job)
    expect_equal((done.returncode, done.stdout), (1, ""), "answer")
    expect("Requested operation is presently disabled for job " + job in done.stderr, done.stderr)
    expect(c.running(job), "runs on")
    c.ok("scancel", job)


def requeue_with_a_step_on_three_hosts(c):
    # 8.1.9 lets such a job wait for 10 minutes and more before its second run (docs/requeue.md): here it must come back to
    # the queue, and nothing of it be left on any host.
    job = c.script('echo "run ${SLURM_RESTART_COUNT-none}"\nsrun bash -c "echo up; sleep 300"\n', "--requeue",
                   "-N3", "--ntasks-per-node=1", "--open-mode=append", "-o", "out")
    wait_until(lambda: c.exists("out") and c.read("out").count("up\n") == 3, "three ranks")
    c.ok("scontrol", "requeue", job)
    wait_until(lambda: '"reason":"requeue"' in records(c, job), "end of the first run", 90)
    c.wait_no_processes(30, "sleep 300")

    def state():
        return c.ok("squeue", "-h", "-j", job, "-o", "%T").strip()
    wait_until(lambda: state() in ("PENDING", "RUNNING"), "back in the queue", 60)
    ended = [line for line in records(c, job).splitlines() if '"ev":"step_end"' in line]
    expect(ended and '"reason":"cancel"' in ended[0], records(c, job))
    c.ok("scancel", job)


def requeue_of_elements(c):
    """Report R72: an element requeues itself and no other; the number of the array means all."""
    job = c.script('echo "run ${SLURM_RESTART_COUNT-none}"\n'
                   '[ "$SLURM_ARRAY_TASK_ID:$SLURM_RESTART_COUNT" = 1: ] && '
                   'scontrol requeue "${SLURM_ARRAY_JOB_ID}_${SLURM_ARRAY_TASK_ID}"\nsleep 300\n',
                   "--array=0-1", "--requeue", "--open-mode=append", "-o", "out.%a")
    c.wait_for_text("out.0", "run none")
    c.wait_for_text("out.1", "^run 1", 180)
    expect_equal(c.read("out.0"), "run none\n", "the other element")
    c.ok("scontrol", "requeue", job)
    c.wait_for_text("out.0", "^run 1", 180)
    c.wait_for_text("out.1", "^run 2", 180)
    c.ok("scancel", job)


def checkpoint_and_resume(c):
    """As submitit does it: a signal before the limit, a checkpoint, requeue, resume from the checkpoint."""
    c.write("train.py", "import os, signal, subprocess, sys, time\n"
            "state = int(open('state').read()) if os.path.exists('state') else 0\n"
            "print('from', state, 'restart', os.environ.get('SLURM_RESTART_COUNT', '-'), flush=True)\n"
            "def checkpoint(*_):\n"
            "    open('state', 'w').write(str(state + 1))\n"
            "    print('checkpoint', flush=True)\n"
            "    subprocess.check_call(['scontrol', 'requeue', os.environ['SLURM_JOB_ID']])\n"
            "    sys.exit(-1)\n"
            "signal.signal(signal.SIGUSR2, checkpoint)\n"
            "signal.signal(signal.SIGTERM, signal.SIG_IGN)\n"
            "if state == 2: sys.exit(0)\n"
            "while True: time.sleep(0.2)\n")
    job = c.script("srun --unbuffered python3 train.py\n", "-t", "1", "--signal=USR2@40", "--requeue",
                   "--open-mode=append", "-o", "out")
    c.wait_gone(job, 400)
    lines = [line for line in c.read("out").splitlines() if line.startswith(("from", "check"))]
    expect_equal(lines, ["from 0 restart -", "checkpoint", "from 1 restart 1", "checkpoint",
                         "from 2 restart 2"], "course of the job")
    expect_equal(c.exit_status(job), 0, "exit status")


run(signal_to_the_script, signal_to_the_ranks_of_all_hosts, the_limit_is_told_and_kept, begin_and_deadline,
    requeue_from_outside, requeue_as_the_last_command_of_a_failing_script, requeue_forbidden,
    requeue_of_elements, checkpoint_and_resume, requeue_with_a_step_on_three_hosts)
