#!/usr/bin/env python3
"""Steps fail in every way that can be arranged; the job goes on, and its next step works.

A failing launch is arranged with a folder of tools (SLURM_SHIM_GE_BIN) whose qrsh misbehaves for
this one srun.
"""
from cluster import NODES, expect, expect_equal, run

TOOLS = "/opt/ge/bin/lx-amd64"
NEXT = "srun -N3 -n3 hostname | sort > next.out\n"


def with_qrsh(c, text):
    """A folder of the engine's tools with a qrsh of our own; $real and $host are set for it."""
    c.ok("bash", "-c", f"mkdir -p bin && ln -sf {TOOLS}/q* bin/ && rm bin/qrsh")
    c.write("bin/qrsh", f'#!/bin/bash\nreal={TOOLS}/qrsh host=\nfor word; do case $word in '
            f'{"|".join(NODES)}) host=$word ;; esac; done\n' + text, "755")


def survives(c, body, wanted):
    """Runs body in a job of three hosts; result must hold the wanted lines and the next step work."""
    job = c.script("ulimit -c 0\n" + body + NEXT, "-N3", "-n6", "-o", "job.out", "-t", "10")
    c.wait_gone(job, 180)
    expect_equal(c.read("result").splitlines(), wanted, f"codes (job.out: {c.read('job.out')!r})")
    expect_equal(c.read("next.out").split(), NODES, f"the next step (job.out: {c.read('job.out')!r})")
    expect_equal(c.exit_status(job), 0, "exit status of the job")
    c.wait_no_processes(10)


def last_host(c):
    """Names a host in the job that is not the batch host, for qrsh scripts: $SLURM_JOB_NODELIST's last."""
    return "$(scontrol show hostnames | tail -n1)"


def failed_launch(c):
    with_qrsh(c, '[ "$host" = "$BAD" ] && { echo "error: no way to $host" >&2; exit 1; }\nexec $real "$@"\n')
    survives(c, f"BAD={last_host(c)} SLURM_SHIM_GE_BIN=$PWD/bin srun hostname 2> err; echo $? >> result\n", ["8"])
    expect("srun: error:" in c.read("err"), "no word about the failed launch")


def interrupted_launch(c):
    # One host is not there yet when Ctrl-C comes; its stepper finds nobody later and leaves.
    with_qrsh(c, 'touch asked.$host\n[ "$host" = "$BAD" ] && sleep 6\nexec $real "$@"\n')
    survives(c, f"set -m\nBAD={last_host(c)} SLURM_SHIM_GE_BIN=$PWD/bin srun touch ran 2> err & pid=$!\n"
             f"until [ -e asked.{last_host(c)} ]; do sleep 0.1; done\n"
             "kill -INT $pid; wait $pid; echo $? >> result\nsleep 8\n", ["130"])
    expect_equal(c.read("err"), "srun: Cancelled pending job step with signal 2\n", "srun's words")
    expect(not c.exists("ran"), "a rank ran")


def wrong_token(c):
    with_qrsh(c, "[ \"$host\" = \"$BAD\" ] && export SLURM_SHIM_TOKEN=$(printf '0%.0s' {1..64})\nexec $real \"$@\"\n")
    survives(c, f"BAD={last_host(c)} SLURM_SHIM_GE_BIN=$PWD/bin srun hostname 2> err; echo $? >> result\n", ["8"])


def launch_timeout(c):
    with_qrsh(c, '[ "$host" = "$BAD" ] && exec sleep 20\nexec $real "$@"\n')
    c.ok("bash", "-c", "cp /opt/ge/slurm-shim/etc/config.yaml . && grep -v '^launch_timeout' config.yaml > c && "
         "echo 'launch_timeout: 3s' >> c && mv c config.yaml")
    survives(c, f"start=$SECONDS\nSLURM_SHIM_CONFIG=$PWD/config.yaml BAD={last_host(c)} SLURM_SHIM_GE_BIN=$PWD/bin "
             "srun hostname 2> err; echo $? >> result\n"
             "[ $((SECONDS - start)) -lt 15 ] && echo soon >> result\nsleep 15\n", ["8", "soon"])


def unopenable_output_file(c):
    survives(c, "srun -o /proc/nothing/here hostname 2> err; [ $? != 0 ] && echo refused >> result\n", ["refused"])
    expect_equal(c.read("err"), "srun: error: Could not open stdout file: No such file or directory\n", "srun's answer")


def rank_killed_by_any_signal(c):
    # All but those that stop or are ignored by default (sh: bash never dies by QUIT).
    signals = [n for n in range(1, 32) if n not in (17, 18, 19, 20, 21, 22, 23, 28)]
    body = "".join(f"srun -N3 -n3 sh -c '[ $SLURM_NODEID = 2 ] && kill -{n} $$; exit 0' 2>> err; echo $? >> result\n"
                   for n in signals)
    survives(c, body, [str(128 + n) for n in signals])


def missing_program(c):
    survives(c, "srun /no/such/program 2> err; echo $? >> result\n", ["2"])


def term_and_kill_to_srun(c):
    body = ""
    for signal in ("TERM", "KILL"):
        body += ("rm -f up.*\nsrun bash -c 'touch up.$SLURM_PROCID; exec sleep 300' 2>> err & pid=$!\n"
                 "until [ $(ls up.* 2>/dev/null | wc -l) = 6 ]; do sleep 0.1; done\n"
                 f"kill -{signal} $pid; wait $pid; [ $? -gt 0 ] && echo {signal} >> result\n")
    # The orphaned steppers of the KILL have their grace before the next step needs the slots.
    survives(c, body + "sleep 8\n", ["TERM", "KILL"])


def interrupt_ends_the_step(c):
    # set -m: a plain shell starts background commands with INT ignored.
    body = ("set -m\nsrun bash -c 'touch up.$SLURM_PROCID; exec sleep 300' 2>> err & pid=$!\n"
            "until [ $(ls up.* 2>/dev/null | wc -l) = 6 ]; do sleep 0.1; done\n"
            "kill -INT $pid; sleep 0.3; kill -INT $pid; wait $pid; [ $? -gt 0 ] && echo ended >> result\n")
    survives(c, body, ["ended"])


run(failed_launch, interrupted_launch, wrong_token, launch_timeout, unopenable_output_file, rank_killed_by_any_signal,
    missing_program, term_and_kill_to_srun, interrupt_ends_the_step)
