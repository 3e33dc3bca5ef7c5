#!/usr/bin/env python3
"""sbatch's requests on the real engine: memory, GPUs, whole hosts, named hosts, reservations, --wait, explain."""
import json
import re

from cluster import NODES, expect, expect_equal, run

CONFIG = "/opt/ge/slurm-shim/etc/config.yaml"


def resources(c, job):
    """The job's hard -l as qstat shows it."""
    text = c.ok("qstat", "-j", job)
    found = re.search(r"^hard resource_list:\s*(\S+)", text, re.M)
    return dict(item.partition("=")[::2] for item in found[1].split(",")) if found else {}


def with_config(c, more):
    """A configuration of the test's own: the installed one and some lines."""
    c.write("config.yaml", c.ok("cat", CONFIG) + more)
    return "export SLURM_SHIM_CONFIG=$PWD/config.yaml; "


def submit(c, setting, *words):
    done = c.shell(setting + "sbatch " + " ".join(words))
    expect_equal(done.returncode, 0, f"sbatch {words}: {done.stderr}")
    job = done.stdout.split()[-1]
    c.jobs.append(job)
    return job, done.stderr


def memory_is_per_slot_and_limits_the_script(c):
    job = c.script('ulimit -v; echo "$SLURM_MEM_PER_NODE"\n', "--mem=600M", "-n1", "-c2", "-o", "mem.out", "--hold")
    expect_equal(resources(c, job).get("h_vmem"), "300M", "h_vmem of each slot")
    c.ok("qrls", job)
    c.wait_gone(job)
    limit, asked = c.read("mem.out").split()
    expect_equal((limit, asked), (str(600 * 1024), "600"), "limit of the script in KiB, SLURM_MEM_PER_NODE")
    job = c.sbatch("--mem-per-cpu=200M", "-n2", "--hold", "--wrap", "true")
    expect_equal(resources(c, job).get("h_vmem"), "200M", "--mem-per-cpu")


def gpus_are_booked_on_each_host(c):
    # The cluster's complex counts per slot: 2 GPUs for 2 slots on each of 2 hosts.
    job = c.script("sleep 100\n", "-N2", "--ntasks-per-node=2", "--gpus-per-node=2", "-o", "/dev/null")
    c.wait_running(job)
    expect_equal(resources(c, job).get("gpu"), "1", "gpu of each slot")
    left = re.findall(r"hc:gpu=([0-9.]+)", c.ok("qhost", "-F", "gpu"))
    expect_equal(sorted(map(float, left)), [0, 0, 2], "GPUs that are left on the hosts")
    parts = c.script("sleep 100\n", "-n1", "-c3", "--gres=gpu:1", "-o", "/dev/null")
    c.wait_running(parts)
    expect_equal(resources(c, parts).get("gpu"), "0.333333", "gpu of each slot: one for three slots")
    c.ok("scancel", parts)
    done = c.exec("sbatch", "--gpus-per-node=3", "--wrap", "true")
    expect_equal(done.returncode, 1, "more GPUs than a host has")
    expect("Requested node configuration is not available" in done.stderr, done.stderr)


def exclusive_by_complex(c):
    c.ok("bash", "-c", "qconf -sc > sc; grep -v '^excl ' sc > new; echo 'excl excl BOOL EXCL YES YES 0 1000' >> new; qconf -Mc new",
         user="root")
    for node in NODES:
        c.ok("qconf", "-aattr", "exechost", "complex_values", "excl=true", node, user="root")
    setting = with_config(c, "exclusive_complex: excl\n")
    job, said = submit(c, setting, "--exclusive", "-N1", "-w", NODES[1], "-o", "/dev/null", "--wrap", "'sleep 100'")
    expect_equal(said, "", "warnings")
    c.wait_running(job)
    # The engine's own check calls the host unsuitable; the job waits all the same.
    other, said = submit(c, setting, "-w", NODES[1], "-o", "/dev/null", "--wrap", "true")
    expect("exclusive use" in said, said)
    free, _ = submit(c, setting, "-x", NODES[1], "-o", "/dev/null", "--wrap", "true")
    c.wait_gone(free)
    expect(other in c.known_jobs() and not c.running(other), "a job shares an exclusive host")
    c.ok("qdel", job)
    c.wait_gone(other)


def exclusive_by_all_slots(c):
    job = c.script('echo "$NHOSTS $NSLOTS $SLURM_TASKS_PER_NODE"\n', "--exclusive", "-N2", "-n2", "-o", "whole.out")
    c.wait_gone(job)
    expect_equal(c.read("whole.out").split(), ["2", "8", "1(x2)"], "hosts, slots, tasks")


def named_and_excluded_hosts(c):
    for words, first, hosts in ((("-w", NODES[2]), NODES[2], {NODES[2]}),
                                (("-N2", "-w", f"{NODES[1]},{NODES[2]}"), None, set(NODES[1:])),
                                (("-N2", "-w", NODES[1]), NODES[1], None),
                                (("-N2", "-x", NODES[0]), None, set(NODES[1:]))):
        job = c.script('hostname; scontrol show hostnames\n', *words, "-o", "where.%j")
        c.wait_gone(job)
        lines = c.read(f"where.{job}").split()
        expect(first in (None, lines[0]), f"{words}: runs on {lines[0]}")
        expect(hosts is None or set(lines[1:]) == hosts, f"{words}: {lines}")


def reservation_by_name(c):
    c.exec("qconf", "-am", "user1", user="root")  # who may reserve
    try:
        number = re.search(r"\d+", c.ok("qrsub", "-N", "course", "-d", "0:10:0", "-pe", "slurm-shim-smp", "1", "-q", "batch.q"))[0]
    finally:
        c.ok("qconf", "-dm", "user1", user="root")
    try:
        job = c.script("true\n", "--reservation=course", "-p", "batch", "-t", "1", "-o", "/dev/null", "--hold")
        expect(re.search(r"^ar_id:\s*" + number, c.ok("qstat", "-j", job), re.M), "the job is in the reservation")
        c.ok("qrls", job)
        c.wait_gone(job)
        done = c.exec("sbatch", "--reservation=nosuch", "--wrap", "true")
        expect_equal((done.returncode, done.stderr),
                     (1, "sbatch: error: Batch job submission failed: Requested reservation is invalid\n"), "unknown name")
    finally:
        c.exec("qrdel", number)


def wait_ends_with_the_jobs_code(c):
    """Report R11."""
    for words, code in ((("--wrap", "true"), 0), (("--wrap", "exit 3"), 3), (("-a", "0-3", "--wrap", "exit $SLURM_ARRAY_TASK_ID"), 3),
                        (("--wrap", "kill -TERM $$"), 143)):
        done = c.exec("sbatch", "--wait", "-o", "/dev/null", *words)
        expect_equal(done.returncode, code, f"sbatch --wait {words}: {done.stderr}")
        expect(re.fullmatch(r"Submitted batch job \d+\n", done.stdout), done.stdout)
    waiting = c.start("sbatch", "--wait", "--parsable", "-o", "/dev/null", "--wrap", "sleep 300")
    job = waiting.stdout.readline().strip()
    c.jobs.append(job)
    c.wait_running(job)
    c.ok("qdel", job)
    waiting.communicate(timeout=120)
    expect_equal(waiting.returncode, 1, "exit code for a job that was cancelled")


def queues_are_partitions_without_configuration(c):
    setting = "export SLURM_SHIM_CONFIG=$PWD/none.yaml; "
    job, _ = submit(c, setting, "-p", "gpu", "-N2", "--ntasks-per-node=2", "-o", "q.out", "--wrap", "'echo $QUEUE $NSLOTS'")
    c.wait_gone(job)
    expect_equal(c.read("q.out").split(), ["gpu.q", "4"], "queue and slots")
    done = c.shell(setting + "sbatch -p nosuch --wrap true")
    expect("invalid partition specified: nosuch" in done.stderr, done.stderr)


def umask_and_login_environment(c):
    c.write("submit", "#!/bin/bash\numask 027\nexec sbatch \"$@\"\n", "755")
    done = c.exec("./submit", "-o", "mask.out", "--wrap", "umask; touch made")
    c.jobs.append(done.stdout.split()[-1])
    c.wait_gone(c.jobs[-1])
    expect_equal(c.read("mask.out"), "0027\n", "umask of the script")
    expect_equal(c.ok("stat", "-c", "%a", "made", "mask.out"), "640\n640\n", "modes of files")
    c.ok("bash", "-c", "echo 'export FROM_LOGIN=yes MINE=login; echo noise' >> ~/.profile")
    try:
        for words in ("--get-user-env", "--export=MINE"):
            job, _ = submit(c, "export MINE=submit; ", words, "-o", "login.out", "--wrap", "'echo $FROM_LOGIN $MINE'")
            c.wait_gone(job)
            expect_equal(c.read("login.out"), "yes submit\n", words)
    finally:
        c.ok("sed", "-i", "/FROM_LOGIN/d", "/home/user1/.profile")


def account_and_job_names_of_any_kind(c):
    job = c.script("true\n", "-A", "abc@v100", "-J", "7b: a/b", "-o", "/dev/null")
    c.wait_gone(job)
    record = c.accounting(job)
    expect_equal((record["account"], record["jobname"]), ("abc_v100", "_7b__a_b"), "account and name")


def explain_agrees_with_the_engine(c):
    told = json.loads(c.ok("slurm-shim", "explain", "--json", "sbatch", "-N3", "--ntasks-per-node=3", "--wrap", "true"))
    expect_equal((told["geometry"]["slots"], told["geometry"]["pe"]), (9, "slurm-shim-3"), "slots and environment")
    expect_equal(told["engine"], {"answered": True, "par": False, "trouble": ""}, "engine")
    expect_equal(c.known_jobs(), [], "jobs")


run(memory_is_per_slot_and_limits_the_script, gpus_are_booked_on_each_host, exclusive_by_complex, exclusive_by_all_slots,
    named_and_excluded_hosts, reservation_by_name, wait_ends_with_the_jobs_code, queues_are_partitions_without_configuration,
    umask_and_login_environment, account_and_job_names_of_any_kind, explain_agrees_with_the_engine)
