#!/usr/bin/env python3
"""slurm-shim doctor on a live cell: clean after installation, and what it says when things are broken, with its advice
followed where that is one command."""
import contextlib
import json
import re

from cluster import NODES, SHIM, expect, expect_equal, run, wait_until

CONFIG = "/opt/ge/slurm-shim/etc/config.yaml"


def doctor(c, *words, env=(), user="user1"):
    """The exit code, and the checks by their ids."""
    done = c.exec("env", *env, SHIM, "doctor", "--json", *words, user=user, cwd="/" if user == "root" else None,
                  timeout=300)
    try:
        report = json.loads(done.stdout)
    except ValueError:
        expect(False, f"no report: exit {done.returncode}: {done.stdout}{done.stderr}")
    return done.returncode, {check["id"]: check for check in report["checks"]}


def expect_check(c, name, status, text, *words, env=()):
    code, checks = doctor(c, "--check", name, *words, env=env)
    check = checks[name]
    expect_equal(check["status"], status, f"{name} ({check['message']})")
    expect(re.search(text, check["message"]), f"{name}: {text!r} is not in {check['message']!r}")
    expect_equal(code, 1 if status == "fail" else 0, "exit code")
    return check


def root(c, script):
    return c.ok("bash", "-c", script, user="root", cwd="/")


@contextlib.contextmanager
def broken(c, what, back):
    root(c, what)
    try:
        yield
    finally:
        root(c, back)


def follow(c, check):
    """Runs the check's advice that is one command of qconf or qmod or the shim."""
    for advice in check["advice"]:
        command = re.split(r", then: |; needed on ", advice)[0]
        if re.match(r"qconf -|qmod -|chmod |slurm-shim install --apply", command):
            root(c, command)
            return
    expect(False, f"no command in {check['advice']}")


def installation_is_clean(c):
    for user in ("user1", "root"):
        code, checks = doctor(c, user=user)
        bad = {name: check["message"] for name, check in checks.items() if check["status"] in ("warn", "fail")}
        # Everybody can walk to the spool folder of a default installation: true, and not the shim's to change.
        expect_equal(sorted(bad), ["C17"], f"what is wrong for {user}: {bad}")
        expect_equal(code, 0, "exit code")


def hosts_are_looked_at(c):
    code, checks = doctor(c, "--hosts", "all", "--check", "C12,C17,C19,C22")
    expect_equal(code, 0, f"exit code ({checks})")
    for name in ("C12", "C19"):
        expect_equal(checks[name]["status"], "pass", f"{name}: {checks[name]['message']}")
        expect("3 hosts" in checks[name]["message"], checks[name]["message"])
    for node in NODES:
        expect(node in checks["C22"]["message"], checks["C22"]["message"])
        expect(node in checks["C17"]["message"], checks["C17"]["message"])


def root_looks_at_hosts_as_the_admin_user(c):
    _, checks = doctor(c, "--hosts", "all", "--check", "C12", user="root")
    expect_equal(checks["C12"]["status"], "pass", checks["C12"]["message"])


def probe_job_is_as_it_should_be(c):
    code, checks = doctor(c, "--probe", "--check", "P01,P02,P03,P04,P05,P06")
    seen = {name: (check["status"], check["message"]) for name, check in checks.items()}
    expect_equal([check["status"] for check in checks.values()], ["pass"] * 5 + ["skip"], f"probe: {seen}")
    expect_equal(code, 0, "exit code")
    left = c.shell("ls -d ~/.local/state/slurm-shim/default/doctor.* 2>/dev/null").stdout
    expect_equal(left, "", "left behind")


def probe_that_cannot_start(c):
    done = c.exec(SHIM, "doctor", "--probe", "--check", "P01,P02", "--partition", "none-such")
    expect_equal(done.returncode, 1, f"exit code ({done.stdout})")
    expect("[FAIL] P01" in done.stdout and "none-such" in done.stdout, done.stdout)
    expect("[skip] P02" in done.stdout, done.stdout)
    with broken(c, "qmod -d batch.q gpu.q", "qmod -e batch.q gpu.q"):
        before = c.known_jobs()
        done = c.exec(SHIM, "doctor", "--probe", "--check", "P01", "--timeout", "3")
        expect("[FAIL] P01" in done.stdout, done.stdout)
        wait_until(lambda: c.known_jobs() == before, "the probe's job is deleted", 30)


def control_slaves(c):
    with broken(c, "qconf -mattr pe control_slaves FALSE slurm-shim", "qconf -mattr pe control_slaves TRUE slurm-shim"):
        check = expect_check(c, "C05", "fail", "PE slurm-shim: control_slaves is FALSE")
        follow(c, check)
        expect_check(c, "C05", "pass", "control_slaves TRUE")


def pe_without_slots(c):
    with broken(c, "qconf -mattr pe slots 0 slurm-shim", "qconf -mattr pe slots 999999 slurm-shim"):
        follow(c, expect_check(c, "C07", "fail", "PE slurm-shim has no slots"))
        expect_check(c, "C07", "pass", "as installed")


def foreign_hook(c):
    with broken(c, "qconf -mattr pe start_proc_args /bin/site-hook slurm-shim",
                "qconf -mattr pe start_proc_args /opt/ge/slurm-shim/bin/slurm-shim-env slurm-shim"):
        expect_check(c, "C06", "fail", "/bin/site-hook")


def pe_that_no_queue_offers(c):
    with broken(c, "qconf -dattr queue pe_list slurm-shim batch.q",
                "qconf -sq batch.q | grep -q 'slurm-shim ' || qconf -aattr queue pe_list slurm-shim batch.q"):
        check = expect_check(c, "C08", "fail", "queue batch.q does not offer PE slurm-shim$")
        follow(c, check)
        expect_check(c, "C08", "pass", "batch.q")


def starters(c):
    ours = "/opt/ge/slurm-shim/libexec/starter_method.sh"
    back = f"qconf -mattr queue starter_method {ours} gpu.q"
    with broken(c, "qconf -mattr queue starter_method NONE gpu.q", back):
        expect_check(c, "C09", "fail", "queue gpu.q has no starter_method")
    with broken(c, "qconf -mattr queue starter_method /no/such/starter gpu.q", back):
        expect_check(c, "C09", "fail", "/no/such/starter is not an executable file")
    with broken(c, f"cp -p {ours} /opt/ge/keep && sed -i 's/SGE_PE_TASK_ID/SGE_PE_TASK_OFF/' {ours}",
                f"mv /opt/ge/keep {ours}"):
        expect_check(c, "C10", "fail", "does not pass a foreign task's start")


def starter_of_another_version(c):
    """The advice of C09 and C10, followed to the letter: an edited starter, and one that cannot be executed."""
    ours = "/opt/ge/slurm-shim/libexec/starter_method.sh"
    as_installed = c.ok("stat", "-c", "%a %s", ours, cwd="/")
    with broken(c, f"cp -p {ours} /opt/ge/keep", f"mv /opt/ge/keep {ours}"):
        for name, script, status, text in (
                ("C09", f"echo '# 1.0' >> {ours}", "warn", "starter_method.sh is not that of slurm-shim"),
                ("C09", f": > {ours}", "fail", "is no starter of slurm-shim any more"),
                ("C09", f"chmod 644 {ours}", "fail", "is not an executable file"),
                ("C09", f"chmod 750 {ours}", "fail", "is not an executable file"),
                ("C10", f"sed -i 's/SGE_PE_TASK_ID/SGE_PE_TASK_OFF/' {ours}", "fail", "does not pass")):
            root(c, script)
            follow(c, expect_check(c, name, status, text))
            expect_equal(c.ok("stat", "-c", "%a %s", ours, cwd="/"), as_installed, f"after the advice on {script!r}")
            expect_check(c, name, "pass", "")


def missing_link(c):
    with broken(c, "rm /opt/ge/slurm-shim/bin/scancel",
                f"{SHIM} links --create /opt/ge/slurm-shim/bin"):
        expect_check(c, "C11", "fail", "missing in /opt/ge/slurm-shim/bin: scancel")


def shadowing_slurm(c):
    c.write("srun", "#!/bin/sh\n", "755")
    expect_check(c, "C11", "warn", "srun", env=[f"PATH={c.folder}:/opt/ge/slurm-shim/bin:/usr/bin:/bin"])


def configuration(c):
    text = c.read(CONFIG)
    c.write("bad.yaml", text + "launch_ramp: many\n")
    env = [f"SLURM_SHIM_CONFIG={c.folder}/bad.yaml"]
    line = text.count("\n") + 1
    expect_check(c, "C13", "fail", f"bad.yaml:{line}:14: launch_ramp", env=env)
    c.write("bad.yaml", text.replace('queue: "gpu.q"', 'queue: "tpu.q"'))
    expect_check(c, "C14", "fail", "there is no queue tpu.q", env=env)
    # Nor does its neighbour advise to give hosts to a queue that is not there.
    advice = expect_check(c, "C25", "fail", "there is no queue tpu.q", env=env)["advice"]
    expect(not any("qconf" in text for text in advice), advice)
    c.write("bad.yaml", text + "control_address: 127.0.0.1\n")
    # A host that is busy at this moment is told as such: asked again until it answers.
    asked = wait_until(lambda: (seen := doctor(c, "--check", "C19", "--hosts", NODES[1], env=env)[1]["C19"])
                       and seen["status"] != "skip" and seen, "a host answers", 60)
    expect_equal(asked["status"], "fail", f"C19 ({asked['message']})")
    expect("could not reach" in asked["message"], asked["message"])


def disabled_queue(c):
    with broken(c, "qmod -d gpu.q", "qmod -e gpu.q"):
        expect_check(c, "C25", "fail", "no instance of queue gpu.q")
    with broken(c, f"qmod -d batch.q@{NODES[1]}", "qmod -e batch.q"):
        expect_check(c, "C25", "warn", f"batch.q@{NODES[1]} .d")


def dead_qmaster(c):
    master = "$(pgrep -o -x sge_qmaster)"
    with broken(c, f"kill -STOP {master}", f"kill -CONT {master}"):
        done = c.exec(SHIM, "doctor", timeout=100)
        expect_equal(done.returncode, 1, f"exit code ({done.stdout})")
        expect("[FAIL] C03" in done.stdout and "[skip] C05" in done.stdout, done.stdout)
    wait_until(lambda: c.exec("qconf", "-sss").returncode == 0, "the qmaster answers again", 30)
    expect_check(c, "C03", "fail", "qmaster", env=["SGE_QMASTER_PORT=1"])


def complexes(c):
    edit = 'qconf -sc > /tmp/complexes && sed -i "{}" /tmp/complexes && qconf -Mc /tmp/complexes && rm /tmp/complexes'
    with broken(c, edit.format("/^h_vmem/s/2G/0/"), edit.format("/^h_vmem/s/ 0  *0 *$/ 2G 0/")):
        expect_check(c, "C16", "fail", "killed at once")
    with broken(c, edit.format("/^gpu /s/YES *0/NO 0/"), edit.format("/^gpu /s/NO *0/YES 0/")):
        expect_check(c, "C15", "fail", "not consumable")


def scheduler_without_reservations(c):
    edit = ("qconf -ssconf > /tmp/s && sed -i 's/^max_reservation .*/max_reservation {}/' /tmp/s && qconf -Msconf /tmp/s "
            "&& rm /tmp/s")
    with broken(c, edit.format(0), edit.format(32)):
        expect_check(c, "C31", "warn", "max_reservation is 0")


def scheduler_with_and_without_priorities(c):
    edit = ("qconf -ssconf > /tmp/s && sed -i 's/^weight_priority .*/weight_priority {}/' /tmp/s && qconf -Msconf /tmp/s "
            "&& rm /tmp/s")
    was = re.search(r"^weight_priority +(\S+)", root(c, "qconf -ssconf"), re.MULTILINE).group(1)
    with broken(c, edit.format(0), edit.format(was)):
        expect_check(c, "C32", "info", "weight_priority is 0")
        root(c, edit.format(1))
        expect_check(c, "C32", "pass", "weight_priority 1")


def request_file_and_accounting(c):
    common = "/opt/ge/default/common"
    with broken(c, f"echo '-notify -q gpu.q' > {common}/sge_request", f"rm {common}/sge_request"):
        expect_check(c, "C24", "warn", "adds -notify, -q")
    c.ok("qsub", "-sync", "y", "-b", "y", "-o", "/dev/null", "-j", "y", "true")
    with broken(c, f"chmod 600 {common}/accounting", f"chmod 644 {common}/accounting"):
        check = expect_check(c, "C27", "warn", "cannot be read")
        follow(c, check)
        expect_check(c, "C27", "pass", "accounting")


def closed_spool_folder(c):
    """C17's advice, followed on every host: the token is out of reach, and steps still run."""
    spool = "/var/spool/gridengine/execd"
    try:
        for node in NODES:
            c.ok("bash", "-c", f"chgrp user1 {spool} && chmod 0750 {spool}", user="root", cwd="/", node=node)
        expect_check(c, "C17", "pass", "mode 0750", "--hosts", "all")
        job = c.script("srun -l hostname\n", "-N2", "-n2", "-o", "out")
        c.wait_gone(job)
        expect_equal(len(c.read("out").split()), 4, c.read("out"))
    finally:
        for node in NODES:
            c.ok("bash", "-c", f"chmod 0755 {spool} && chgrp sgeadmin {spool}", user="root", cwd="/", node=node)


run(installation_is_clean, hosts_are_looked_at, root_looks_at_hosts_as_the_admin_user, probe_job_is_as_it_should_be,
    probe_that_cannot_start, control_slaves, pe_without_slots, foreign_hook, pe_that_no_queue_offers, starters,
    starter_of_another_version, missing_link, shadowing_slurm, configuration, disabled_queue, dead_qmaster, complexes,
    scheduler_without_reservations, scheduler_with_and_without_priorities, request_file_and_accounting, closed_spool_folder)
