#!/usr/bin/env python3
"""The engine's and the user's signals during a step over three hosts, and hosts that fall silent."""
import re
import subprocess
import time

from cluster import NAME, NODES, expect, expect_equal, run, wait_until

PE = "slurm-shim"
# Each rank counts in a file of its own, so that standing still and going on can be seen.
COUNTER = """#!/bin/bash
trap 'echo "$SLURM_PROCID USR2" >> notified' USR2
(setsid sleep 77801 &)
i=0
while :; do i=$((i + 1)); echo $i > count.$SLURM_PROCID.tmp; mv count.$SLURM_PROCID.tmp count.$SLURM_PROCID; sleep 0.2; done
"""
QUICK = "ping_interval: 1s\nping_deadline: 5s\n"
STEP = r"sleep 7780|bash \./rank$|stepper --envelope|(^|/)srun |qrsh -inherit"


def start(c, options="", after="", words=("-N3", "--ntasks-per-node=1")):
    c.write("rank", COUNTER, "755")
    job = c.script(f"srun {options} ./rank > step.out 2> step.err\necho \"srun $?\" >> result\n{after}", *words,
                   "-o", "job.out", "-t", "20")
    wait_until(lambda: len(counts(c)) == 3, "three ranks that count", 90)
    return job


def counts(c):
    names = c.ok("bash", "-c", "ls count.? 2>/dev/null || true").split()
    return {name: c.read(name) for name in names}


def host_of_job(c, job):
    listing = c.ok("qstat", "-g", "t", "-u", "*")
    return next(word.split("@")[1] for line in listing.splitlines() if line.split()[:1] == [job] and "MASTER" in line
                for word in line.split() if "@" in word)


def ranks(c):
    """Every process below the ranks' program, on all nodes."""
    return [p for node in NODES for p in c.processes(node) if re.search(r"bash \./rank$|sleep 77801", p.args)]


def wait_ranks(c, stopped, seconds=30):
    def probe():
        seen = ranks(c)
        return len(seen) >= 6 and all(p.state.startswith("T") == stopped for p in seen)
    wait_until(probe, f"ranks {'stopped' if stopped else 'running'}", seconds)


def quick_config(c):
    c.ok("bash", "-c", "grep -v '^ping_' /opt/ge/slurm-shim/etc/config.yaml > quick.yaml || true")
    c.write("quick.yaml", c.read("quick.yaml") + QUICK)
    return "env SLURM_SHIM_CONFIG=$PWD/quick.yaml"


def ask(c, job, verb):
    """A request in the job's mailbox, answered in its record."""
    state = "$HOME/.local/state/slurm-shim/default/jobs/" + job
    number = c.ok("bash", "-c", "head -c8 /dev/urandom | od -An -tx1 | tr -d ' \\n'")
    c.ok("bash", "-c", f"echo 'v1 {number} {verb}' >> {state}.mbox")
    wait_until(lambda: number in c.ok("bash", "-c", f"cat {state}.jsonl"), f"the answer to {verb}", 20)


def check_resumed(c, before):
    wait_ranks(c, stopped=False)
    wait_until(lambda: all(counts(c)[name] != text for name, text in before.items()), "all ranks count again", 20)
    expect(not c.exists("result"), "the step ended by its suspension")


def suspension_asked_for_reaches_all_hosts(c):
    job = start(c)
    ask(c, job, "suspend")
    wait_ranks(c, stopped=True)
    c.ok("qmod", "-sj", job)
    before = counts(c)
    time.sleep(1.5)  # standing still shows only over some time
    expect_equal(counts(c), before, "counters of a suspended job")
    c.ok("qmod", "-usj", job)
    ask(c, job, "resume")
    check_resumed(c, before)
    c.ok("qdel", job)
    c.wait_gone(job)
    c.wait_no_processes(5)


def suspension_by_the_engine(c):
    job = start(c)
    node = host_of_job(c, job)
    before = counts(c)
    c.ok("qmod", "-sj", job)
    # This engine stops every process of the job on the master host, who is to tell the others, too.
    wait_until(lambda: all(p.state.startswith("T") for p in c.processes(node) if re.search(STEP, p.args)),
               f"all of the step on {node} stopped", 20)
    c.ok("qmod", "-usj", job)
    check_resumed(c, before)
    c.ok("qdel", job)
    c.wait_gone(job)
    c.wait_no_processes(5)


def qdel_of_a_suspended_job(c):
    job = start(c)
    ask(c, job, "suspend")
    wait_ranks(c, stopped=True)
    c.ok("qmod", "-sj", job)
    c.ok("qdel", job)
    c.wait_gone(job, 60)
    c.wait_no_processes(5)


def qdel_with_notify_tells_the_ranks_first(c):
    c.write("rank", COUNTER, "755")
    c.write("job.sh", "#!/bin/bash\ntrap : USR2\nsrun -N3 -n3 ./rank\n", "755")
    pe = c.ok("bash", "-c", f"qconf -spl | grep -x {PE}-1 || echo {PE}").strip()
    job = c.qsub("-notify", "-cwd", "-pe", pe, "3", "-o", "job.out", "-j", "y", "job.sh")
    wait_until(lambda: len(counts(c)) == 3, "three ranks that count", 90)
    c.ok("qdel", job)
    c.wait_for_text("notified", "USR2", 20)
    c.wait_gone(job, 60)
    c.wait_no_processes(5)
    # This engine notifies twice.
    expect_equal(sorted(set(c.read("notified").splitlines())), [f"{rank} USR2" for rank in range(3)], "ranks told")


def six_signals_reach_the_ranks_of_all_hosts(c):
    body = ""
    for name in ("INT", "TERM", "HUP", "QUIT", "USR1", "USR2"):
        body += (f"rm -f up.*\nset -m\nsrun bash -c 'trap \"echo {name} $SLURM_PROCID; exit 0\" {name}; touch up.$SLURM_PROCID; "
                 "while :; do sleep 0.1; done' 2>> err & pid=$!\n"
                 "until [ $(ls up.* 2>/dev/null | wc -l) = 3 ]; do sleep 0.1; done\n"
                 f"kill -{name} $pid; wait $pid; echo code $?\n")
    job = c.script(body, "-N3", "-n3", "-o", "job.out", "-e", "job.err")
    c.wait_gone(job, 180)
    want = [f"{name} {rank}" for name in ("INT", "TERM", "HUP", "QUIT", "USR1", "USR2") for rank in range(3)]
    expect_equal(sorted(c.read("job.out").splitlines()), sorted(want + ["code 0"] * 6), f"signals (err: {c.read('err')!r})")


def kill_on_bad_exit_and_wait_over_hosts(c):
    job = c.script("ulimit -c 0\nsrun -K bash -c '[ $SLURM_PROCID = 2 ] && exit 9; exec sleep 77802' 2> k.err; echo $?\n"
                   "srun -W 2 bash -c '[ $SLURM_PROCID = 1 ] && exit 0; exec sleep 77802' 2> w.err; echo $?\n"
                   "srun hostname | sort\n", "-N3", "-n3", "-o", "job.out")
    c.wait_gone(job)
    expect_equal(c.read("job.out").split(), ["9", "137"] + NODES, "codes and the next step")
    expect("Exited with exit code 9" in c.read("k.err"), c.read("k.err"))
    expect("First task exited 2s ago" in c.read("w.err"), c.read("w.err"))
    c.wait_no_processes(5)


def step_time_limit(c):
    job = start(c, options="-t 1 --signal=USR2@50", after="srun -N3 -n3 hostname | sort > next.out\n")
    c.wait_gone(job, 180)
    expect("DUE TO TIME LIMIT" in c.read("step.err"), c.read("step.err"))
    expect_equal(c.read("result"), "srun 143\n", "srun's code")
    expect_equal(sorted(c.read("notified").splitlines()), [f"{rank} USR2" for rank in range(3)], "--signal")
    expect_equal(c.read("next.out").split(), NODES, "the next step")


def set_link(node, state):
    port = f"port{NODES.index(node)}"
    subprocess.run(["ip", "-n", f"{NAME}-switch", "link", "set", port, state], check=True, capture_output=True)


def a_host_cut_off_from_the_network(c):
    prefix = quick_config(c)
    c.write("rank", COUNTER, "755")
    job = c.script(f"{prefix} srun -K ./rank > step.out 2> step.err\necho \"srun $?\" >> result\nsleep 300\n",
                   "-N3", "--ntasks-per-node=1", "-o", "job.out", "-t", "20")
    wait_until(lambda: len(counts(c)) == 3, "three ranks that count", 90)
    lost = next(node for node in NODES if node != host_of_job(c, job))
    cut_at = time.monotonic()
    set_link(lost, "down")
    try:
        c.wait_for_text("result", "^srun ", 60)
        took = time.monotonic() - cut_at
        expect(took < 45, f"srun ended after {took:.0f} s")
        expect(re.search(rf"stepper on {lost} exited without reporting a rank .*no sign of life", c.read("step.err")),
               c.read("step.err"))
        # The cut-off host cleans up by itself: 5 s of silence, then TERM, 5 s, KILL.
        wait_until(lambda: not [p for p in c.processes(lost) if re.search(STEP, p.args)], f"{lost} clean", 40)
    finally:
        set_link(lost, "up")
    expect_equal(c.read("result"), "srun 1\n", "srun's code")
    c.ok("qdel", job)
    c.wait_gone(job, 120)
    c.wait_no_processes(10)


def a_stopped_stepper_is_given_up(c):
    prefix = quick_config(c)
    c.write("rank", COUNTER, "755")
    job = c.script(f"{prefix} srun -K ./rank > step.out 2> step.err\necho \"srun $?\" >> result\n",
                   "-N3", "--ntasks-per-node=1", "-o", "job.out", "-t", "20")
    wait_until(lambda: len(counts(c)) == 3, "three ranks that count", 90)
    other = next(node for node in NODES if node != host_of_job(c, job))
    here = {p.pid: p for p in c.processes(other)}
    rank = next(p for p in here.values() if p.args.endswith("./rank") and "stepper" in here[p.ppid].args)
    front = here[here[rank.ppid].ppid]
    c.kill(other, "STOP", front.pid)
    c.wait_for_text("result", "^srun 1$", 60)
    expect("no sign of life" in c.read("step.err"), c.read("step.err"))
    c.wait_gone(job, 60)  # the engine ends the stopped front with its job
    c.wait_no_processes(5)


def an_unkillable_child_holds_nobody(c):
    # A program that becomes root: user1's guardian may not kill it.
    for node in NODES:
        c.ok("bash", "-c", "cp /usr/bin/setpriv /tmp/become-root && chmod 4755 /tmp/become-root", node=node, user="root",
             cwd="/")
    job = c.script("begin=$SECONDS\nsrun -n3 -N3 bash -c '[ $SLURM_PROCID = 1 ] && { /tmp/become-root --reuid=0 --regid=0 "
                   "--clear-groups sleep 77803 > /dev/null 2>&1 < /dev/null & "
                   "until grep -qx sleep /proc/$!/comm; do sleep 0.1; done; }; exit 3' 2> step.err\n"
                   "echo \"srun $? $((SECONDS - begin < 30))\" >> result\n", "-N3", "-n3", "-o", "job.out")
    try:
        c.wait_for_text("result", "^srun", 90)
        expect_equal(c.read("result"), "srun 3 1\n", f"srun's code and time ({c.read('step.err')!r})")
        c.wait_gone(job, 60)
        left = [p for node in NODES for p in c.processes(node, "root") if p.args == "sleep 77803"]
        expect_equal(len(left), 1, "the process of root was really there")
    finally:
        for node in NODES:
            for p in c.processes(node, "root"):
                if p.args == "sleep 77803":
                    c.kill(node, "KILL", p.pid)
            c.exec("rm", "-f", "/tmp/become-root", node=node, user="root", cwd="/")
    c.wait_no_processes(10)


run(suspension_asked_for_reaches_all_hosts, suspension_by_the_engine, qdel_of_a_suspended_job, qdel_with_notify_tells_the_ranks_first,
    six_signals_reach_the_ranks_of_all_hosts, kill_on_bad_exit_and_wait_over_hosts, step_time_limit,
    a_host_cut_off_from_the_network, a_stopped_stepper_is_given_up, an_unkillable_child_holds_nobody)
