#!/usr/bin/env python3
"""slurm-shim install on a live cell: what it made, a second run, a foreign starter."""
from cluster import SHIM, expect, expect_equal, run

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
    for node in ("n1", "n2", "n3"):
        for name in ("srun", "sbatch", "squeue", "scancel", "scontrol"):
            expect_equal(c.ok(name, "--version", node=node), "slurm 24.05.0\n", f"{name} on {node}")


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


run(queues_and_environments_are_wired, commands_are_on_every_host, second_apply_changes_nothing,
    plan_alone_changes_nothing, foreign_starter_is_refused, foreign_hook_is_refused)
