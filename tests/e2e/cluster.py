"""What the tests on a real cluster share: commands on nodes, jobs, processes, PASS and FAIL.

A test is a file NN_name.py that calls run(...) with its checks. Each check is a function that
gets a Cluster; it raises Failed (or uses expect) when something is wrong. Every check works in a
folder of its own in user1's home and starts without processes of user1 on any node; afterwards
its jobs are deleted and the folder is removed. CLUSTER names the cluster, which is up with the
shim installed (ctest's fixture does that; by hand: docker/cluster up and install).
"""
import contextlib
import os
import pathlib
import re
import shlex
import subprocess
import sys
import time
import traceback

ROOT = pathlib.Path(__file__).resolve().parents[2]
NAME = os.environ.get("CLUSTER", "shim")
NODES = [f"{NAME}-n{i}" for i in (1, 2, 3)]
MASTER = NODES[0]
SHIM = "/opt/ge/slurm-shim/bin/slurm-shim"


class Failed(Exception):
    """A check did not hold; the text says what was seen."""


def expect(condition, text):
    if not condition:
        raise Failed(text)


def expect_equal(seen, wanted, what):
    if seen != wanted:
        raise Failed(f"{what}: wanted {wanted!r}, saw {seen!r}")


def wait_until(probe, what, seconds=60, pause=0.2):
    """Polls until probe() is true and returns that value."""
    deadline = time.monotonic() + seconds
    while True:
        value = probe()
        if value:
            return value
        if time.monotonic() > deadline:
            raise Failed(f"not within {seconds} s: {what}")
        time.sleep(pause)


class Process:
    """One line of ps on a node."""

    def __init__(self, line):
        pid, ppid, pgid, sid, state, self.args = line.split(None, 5)
        self.pid, self.ppid, self.pgid, self.sid = int(pid), int(ppid), int(pgid), int(sid)
        self.state = state

    def __repr__(self):
        return f"[{self.pid} < {self.ppid} {self.state} {self.args[:70]}]"


class Cluster:
    def __init__(self, folder):
        self.folder = folder  # absolute, on the nodes
        self.jobs = []

    # --- commands ---------------------------------------------------------------------------

    def exec(self, *command, node=MASTER, user="user1", stdin="", timeout=120, cwd=None):
        """Runs a command on a node and returns the completed process (text)."""
        where = [str(ROOT / "docker/cluster"), "exec", node, "--user", user,
                 "--dir", cwd or self.folder, "--", *map(str, command)]
        return subprocess.run(where, input=stdin, capture_output=True, text=True, timeout=timeout,
                              errors="surrogateescape", check=False)

    def shell(self, script, **options):
        return self.exec("bash", "-c", script, **options)

    def ok(self, *command, **options):
        """stdout of a command that must succeed."""
        done = self.exec(*command, **options)
        expect(done.returncode == 0,
               f"{shlex.join(map(str, command))}: exit {done.returncode}: {done.stdout}{done.stderr}")
        return done.stdout

    def start(self, *command, node=MASTER, user="user1"):
        """Starts a command on a node and returns the running process."""
        where = [str(ROOT / "docker/cluster"), "exec", node, "--user", user,
                 "--dir", self.folder, "--", *map(str, command)]
        return subprocess.Popen(where, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                                stderr=subprocess.PIPE, text=True)

    # --- files ------------------------------------------------------------------------------

    def write(self, name, text, mode="644"):
        done = self.shell(f"cat > {shlex.quote(name)} && chmod {mode} {shlex.quote(name)}", stdin=text)
        expect(done.returncode == 0, f"writing {name}: {done.stderr}")

    def read(self, name, node=MASTER):
        return self.ok("cat", name, node=node)

    def exists(self, name):
        return self.exec("test", "-e", name).returncode == 0

    def wait_for_text(self, name, text, seconds=60):
        """Waits until a file holds a text (a regular expression); returns the whole content."""
        def probe():
            done = self.exec("cat", name)
            return done.stdout if re.search(text, done.stdout, re.M) else None
        return wait_until(probe, f"{text!r} in {name}", seconds)

    # --- jobs -------------------------------------------------------------------------------

    def sbatch(self, *words, stdin=""):
        """Submits and returns the job number as text."""
        done = self.exec("sbatch", *words, stdin=stdin)
        expect(done.returncode == 0, f"sbatch {words}: exit {done.returncode}: {done.stdout}{done.stderr}")
        found = re.match(r"(?:Submitted batch job )?(\d+)", done.stdout)
        expect(found, f"sbatch {words}: no job number in {done.stdout!r}")
        self.jobs.append(found[1])
        return found[1]

    def script(self, body, *words, name="job.sh"):
        """Writes a bash script and submits it."""
        self.write(name, "#!/bin/bash\n" + body, "755")
        return self.sbatch(*words, name)

    def qsub(self, *words):
        answer = self.ok("qsub", "-terse", *words).strip()
        self.jobs.append(answer.split(".")[0])
        return answer

    def known_jobs(self):
        """Numbers of the engine's jobs, running and pending."""
        listing = self.ok("qstat", "-u", "*")
        return [line.split()[0] for line in listing.splitlines()[2:] if line.strip()]

    def running(self, job):
        listing = self.ok("qstat", "-u", "*")
        return any(line.split()[0] == job and line.split()[4] in ("r", "hr")
                   for line in listing.splitlines()[2:] if line.strip())

    def wait_running(self, job, seconds=60):
        wait_until(lambda: self.running(job), f"job {job} running", seconds)

    def wait_gone(self, job, seconds=120):
        wait_until(lambda: job not in self.known_jobs(), f"job {job} gone from qstat", seconds)

    def accounting(self, job):
        """The master task's accounting record as a dict (the last one of the job)."""
        def probe():
            done = self.exec("qacct", "-j", job)
            return done.stdout if done.returncode == 0 else None
        text = wait_until(probe, f"accounting of job {job}", 60)
        record = {}
        for line in text.split("=" * 62)[-1].splitlines():
            key, _, value = line.partition(" ")
            record[key] = value.strip()
        return record

    def exit_status(self, job):
        return int(self.accounting(job)["exit_status"].split()[0])

    # --- processes --------------------------------------------------------------------------

    def processes(self, node, user="user1"):
        """Processes of a user on a node, seen by root."""
        done = self.exec("ps", "-u", user, "-o", "pid=,ppid=,pgid=,sid=,stat=,args=", "-ww",
                         node=node, user="root", cwd="/")
        return [Process(line) for line in done.stdout.splitlines()]

    def alive(self, pattern=""):
        """node -> processes whose arguments match, zombies left out; empty nodes are left out."""
        found = {}
        for node in NODES:
            here = [p for p in self.processes(node)
                    if re.search(pattern, p.args) and not p.state.startswith("Z")]
            if here:
                found[node] = here
        return found

    def kill(self, node, signal, *pids):
        done = self.exec("kill", f"-{signal}", *pids, node=node, user="root", cwd="/")
        expect(done.returncode == 0, f"kill -{signal} {pids} on {node}: {done.stderr}")

    def wait_no_processes(self, seconds, pattern=""):
        """Fails when processes of user1 that match are left after that many seconds."""
        deadline = time.monotonic() + seconds
        while True:
            left = self.alive(pattern)
            if not left:
                return
            if time.monotonic() > deadline:
                raise Failed(f"left after {seconds} s: {left}")
            time.sleep(0.1)

    # --- around a check ---------------------------------------------------------------------

    def prepare(self):
        self.exec("rm", "-rf", self.folder, cwd="/")
        self.ok("mkdir", "-p", self.folder, cwd="/home/user1")

    def clean_up(self):
        mine = [job for job in self.jobs if job in self.known_jobs()]
        if mine:
            self.exec("qdel", *mine)
            for job in mine:
                self.wait_gone(job)
        self.exec("qmod", "-c", "*", user="root")
        self.exec("rm", "-rf", self.folder, cwd="/")
        # What is left fails this check and no later one.
        try:
            self.wait_no_processes(20)
        finally:
            for node, left in self.alive().items():
                self.exec("kill", "-KILL", *(p.pid for p in left), node=node, user="root", cwd="/")


@contextlib.contextmanager
def slots(c, number):
    """So many slots on every host, in batch.q, for the time of a check."""
    def root(script):
        return c.ok("bash", "-c", "set -e\n" + script, user="root", cwd="/")

    queue = re.search(r"(?m)^slots +(\S+)", root("qconf -sq batch.q"))[1]
    before = {host: re.search(r"slots=([\d.]+)", root(f"qconf -se {host}"))[1] for host in NODES}

    def give(to_queue, to_hosts):
        root(f"qconf -mattr queue slots {to_queue} batch.q\n" + "".join(
            f"qconf -mattr exechost complex_values slots={n} {host}\n" for host, n in to_hosts.items()))
    give(number, dict.fromkeys(NODES, number))
    try:
        yield
    finally:
        give(queue, before)


def run(*checks):
    """Runs the checks one after the other; exit code 1 when any failed."""
    wanted = sys.argv[1:]
    failures = 0
    test = pathlib.Path(sys.argv[0]).stem
    unknown = set(wanted) - {check.__name__ for check in checks}
    if unknown:
        sys.exit(f"{test}: no check is called {', '.join(sorted(unknown))}")
    for check in checks:
        if wanted and check.__name__ not in wanted:
            continue
        cluster = Cluster(f"/home/user1/e2e-{test}-{check.__name__}")
        started = time.monotonic()
        problem = ""
        try:
            cluster.prepare()
            check(cluster)
        except Failed as failed:
            problem = str(failed)
        except Exception:  # a broken check is a failed check
            problem = traceback.format_exc()
        try:
            cluster.clean_up()
        except Exception as error:
            problem = problem or f"cleaning up: {error}"
        failures += bool(problem)
        took = time.monotonic() - started
        print(f"{'FAIL' if problem else 'PASS'} {check.__name__} ({took:.1f} s)"
              + (f"\n     {problem}" if problem else ""), flush=True)
    sys.exit(1 if failures else 0)
