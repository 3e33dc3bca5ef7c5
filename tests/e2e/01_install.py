#!/usr/bin/env python3
"""slurm-shim install on a live cell: what it made, a second run, a foreign starter."""
from cluster import NODES, SHIM, expect, expect_equal, run

STAGED = "/opt/ge/stage/bin/slurm-shim"
FAMILY = ["slurm-shim", "slurm-shim-1", "slurm-shim-2", "slurm-shim-3", "slurm-shim-4",
          "slurm-shim-8", "slurm-shim-fill", "slurm-shim-smp"]


def state(c):
    """Everything that install may touch: objects of the engine, files with their times."""
    script = ('for q in $(qconf -sql); do qconf -sq $q; done; for p in $(qconf -spl); do qconf -sp $p; done; '
              'qconf -sc; find /opt/ge/slurm-shim -printf "%p %l %m %T@ %s\\n" | sort')
    return c.ok("bash", "-c", script, user="root", cwd="/")


def attribute(text, name):
    joined = text.replace("\\\n", " ")
    for line in joined.splitlines():
        if line.split()[:1] == [name]:
            return line.split()[1:]
    return None


def queues_and_environments_are_wired(c):
    pes = c.ok("qconf", "-spl").split()
    for name in FAMILY:
        expect(name in pes, f"no PE {name} in {pes}")
        pe = c.ok("qconf", "-sp", name)
        expect_equal(attribute(pe, "control_slaves"), ["TRUE"], f"control_slaves of {name}")
        expect_equal(attribute(pe, "start_proc_args")[0], "/opt/ge/slurm-shim/bin/slurm-shim-env",
                     f"hook of {name}")
    rules = {name: attribute(c.ok("qconf", "-sp", name), "allocation_rule")[0] for name in FAMILY}
    expect_equal((rules["slurm-shim-2"], rules["slurm-shim-smp"], rules["slurm-shim-fill"]),
                 ("2", "$pe_slots", "$fill_up"), "allocation rules")
    for queue in ("batch.q", "gpu.q"):
        text = c.ok("qconf", "-sq", queue)
        expect_equal(attribute(text, "starter_method"),
                     ["/opt/ge/slurm-shim/libexec/starter_method.sh"], f"starter of {queue}")
        missing = set(FAMILY) - set(attribute(text, "pe_list"))
        expect(not missing, f"{queue} lacks {missing}")
        expect("mpi" in attribute(text, "pe_list"), f"{queue} lost the site's own PE")


def commands_are_on_every_host(c):
    names = c.ok(SHIM, "links").split()
    commands = [name for name in names if name not in ("slurm-shim-env", "slurm-shim-stepper")]
    expect({"sacct", "sacctmgr", "salloc", "sattach", "sbatch", "sbcast", "scancel", "scontrol", "sdiag", "sinfo",
            "sprio", "squeue", "sreport", "srun", "sshare", "sstat", "strigger"} <= set(commands), f"links: {names}")
    for node in ("n1", "n2", "n3"):
        script = f'for name in {" ".join(commands)}; do echo "$name $("$name" --version)"; done'
        seen = c.ok("bash", "-c", script, node=node).splitlines()
        expect_equal(seen, [f"{name} slurm 24.05.0" for name in commands], node)


def second_apply_changes_nothing(c):
    before = state(c)
    done = c.exec(STAGED, "install", "--apply", "--yes", user="root", cwd="/")
    expect_equal(done.returncode, 0, f"exit code ({done.stdout}{done.stderr})")
    expect_equal(state(c), before, "state after the second run")


def plan_alone_changes_nothing(c):
    before = state(c)
    done = c.exec(SHIM, "install", user="root", cwd="/")
    expect_equal(done.returncode, 0, f"exit code ({done.stdout}{done.stderr})")
    expect("nothing has been changed" in done.stdout, f"plan: {done.stdout!r}")
    expect_equal(state(c), before, "state after the plan")


def foreign_starter_is_refused(c):
    script = ('set -e; qconf -sq batch.q | sed -e "s/^qname .*/qname foreign.q/" '
              '-e "s,^starter_method .*,starter_method /bin/site-starter," > q; qconf -Aq q')
    c.exec("chmod", "777", c.folder)
    c.ok("bash", "-c", script, user="root")
    try:
        before = state(c)
        done = c.exec(SHIM, "install", "--queue", "foreign.q", "--apply", "--yes", user="root", cwd="/")
        expect_equal(done.returncode, 2, f"exit code ({done.stdout}{done.stderr})")
        expect("/bin/site-starter" in done.stdout + done.stderr, "the refusal does not name the starter")
        expect_equal(state(c), before, "state after the refusal")
    finally:
        c.ok("qconf", "-dq", "foreign.q", user="root", cwd="/")


def foreign_hook_is_refused(c):
    original = c.ok("qconf", "-sp", "slurm-shim-8")
    c.exec("chmod", "777", c.folder)
    c.ok("bash", "-c", 'qconf -sp slurm-shim-8 | sed "s,^start_proc_args .*,start_proc_args /bin/site-hook," > p '
         '&& qconf -Mp p', user="root")
    try:
        before = state(c)
        done = c.exec(SHIM, "install", "--apply", "--yes", user="root", cwd="/")
        expect_equal(done.returncode, 2, f"exit code ({done.stdout}{done.stderr})")
        expect("/bin/site-hook" in done.stdout + done.stderr, "the refusal does not name the hook")
        expect_equal(state(c), before, "state after the refusal")
    finally:
        c.exec("bash", "-c", "cat > p && qconf -Mp p", user="root", stdin=original)


def plain_user_changes_nothing(c):
    before = state(c)
    done = c.exec(SHIM, "install", "--prefix", f"{c.folder}/shim")
    expect("nothing has been changed" in done.stdout, f"plan: {done.stdout}{done.stderr}")
    for words in (["--queue", "batch.q", "--pe", "another"], ["--uninstall"]):
        done = c.exec(SHIM, "install", *words, "--apply", "--yes")
        expect_equal(done.returncode, 1, f"exit code of {words} ({done.stdout}{done.stderr})")
        expect("user user1 is not in" in done.stderr, done.stderr)
    expect_equal(state(c), before, "state after a plain user's tries")


def wiring(c):
    """What the engine has of the shim, without the order of pe_list."""
    text = c.ok("bash", "-c", "for q in $(qconf -sql); do SGE_SINGLE_LINE=1 qconf -sq $q; done; qconf -spl", user="root",
                cwd="/")
    return sorted(" ".join(sorted(line.replace(",", " ").split())) for line in text.splitlines())


def removed_and_installed_again(c):
    before = wiring(c)
    expect(any("slurm-shim" in line for line in before), "the shim is not wired")
    done = c.exec(SHIM, "install", "--uninstall", user="root", cwd="/")
    expect_equal(done.returncode, 0, f"plan ({done.stdout}{done.stderr})")
    expect_equal(wiring(c), before, "wiring after the plan")
    try:
        done = c.exec(SHIM, "install", "--uninstall", "--apply", "--yes", user="root", cwd="/")
        expect_equal(done.returncode, 0, f"uninstall ({done.stdout}{done.stderr})")
        now = wiring(c)
        expect(not [line for line in now if "slurm-shim" in line], f"left: {now}")
        expect(any("mpi" in line and "pe_list" in line for line in now), "the site's own PEs are gone")
        left = c.ok("find", "/opt/ge/slurm-shim", "-type", "f", cwd="/").split()
        expect_equal(left, ["/opt/ge/slurm-shim/etc/config.yaml"], "files left")
        plain = c.ok("qsub", "-sync", "y", "-b", "y", "-terse", "-cwd", "-q", "batch.q", "-o", "out", "-j", "y", "echo", "plain")
        c.jobs.append(plain.split()[0])
        expect_equal(c.read("out"), "plain\n", "a plain job without the shim")
        # One host does not see the folder: everything is taken back.
        bare = wiring(c)
        c.ok("mount", "-t", "tmpfs", "none", "/opt/ge/slurm-shim", node="n3", user="root", cwd="/")
        try:
            done = c.exec(STAGED, "install", "--apply", "--yes", user="root", cwd="/")
            expect_equal(done.returncode, 3, f"exit code ({done.stdout}{done.stderr})")
            expect("-n3: " in done.stderr and "Taken back" in done.stderr, done.stderr)
            expect_equal(wiring(c), bare, "wiring after a failure half way")
            left = c.ok("find", "/opt/ge/slurm-shim", "-type", "f", cwd="/").split()
            expect_equal(left, ["/opt/ge/slurm-shim/etc/config.yaml"], "files after a failure half way")
        finally:
            c.ok("umount", "/opt/ge/slurm-shim", node="n3", user="root", cwd="/")
    finally:
        done = c.exec(STAGED, "install", "--apply", "--yes", user="root", cwd="/", timeout=200)
    expect_equal(done.returncode, 0, f"install ({done.stdout}{done.stderr})")
    expect("verified on" in done.stdout, done.stdout)
    expect_equal(wiring(c), before, "wiring after the second installation")
    job = c.script("srun -l hostname\n", "-N2", "-n2", "-o", "out2")
    c.wait_gone(job)
    expect_equal(len(c.read("out2").split()), 4, c.read("out2"))


def parts_of_single_hosts_are_wired_and_unwired(c):
    host = NODES[1]
    c.exec("chmod", "777", c.folder)
    c.ok("bash", "-c", 'set -e; qconf -sq batch.q | sed "s/^qname .*/qname parts.q/" > q; qconf -Aq q; '
         f'for where in parts.q parts.q@{host}; do qconf -mattr queue starter_method NONE $where; '
         'qconf -rattr queue pe_list mpi $where; done; qconf -mattr queue pe_list smp parts.q@' + host, user="root")
    try:
        before = c.ok("qconf", "-sq", "parts.q")
        done = c.exec(SHIM, "install", "--queue", "parts.q", "--apply", "--yes", user="root", cwd="/")
        expect_equal(done.returncode, 0, f"install ({done.stdout}{done.stderr})")
        text = c.ok("env", "SGE_SINGLE_LINE=1", "qconf", "-sq", "parts.q")
        expect("NONE" not in " ".join(attribute(text, "starter_method")), text)
        expect_equal(text.count("slurm-shim-smp"), 2, f"parts of pe_list in {text}")
        done = c.exec(SHIM, "install", "--uninstall", "--queue", "parts.q", "--apply", "--yes", user="root", cwd="/")
        expect_equal(done.returncode, 0, f"uninstall ({done.stdout}{done.stderr})")
        expect_equal(c.ok("qconf", "-sq", "parts.q").split(), before.split(), "the queue")
    finally:
        c.ok("qconf", "-dq", "parts.q", user="root", cwd="/")


run(queues_and_environments_are_wired, commands_are_on_every_host, second_apply_changes_nothing,
    plan_alone_changes_nothing, foreign_starter_is_refused, foreign_hook_is_refused,
    plain_user_changes_nothing, parts_of_single_hosts_are_wired_and_unwired, removed_and_installed_again)
