"""A job's two folders (state folder S, job folder J) made by hand, as sbatch and the PE hook make
them, and the engine's way of starting a batch script. For the contract tests."""
import json
import os
import shutil
import subprocess
import sys
import tempfile

sys.path.insert(0, os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))), "support"))
import pace  # noqa: E402

REPO = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
STARTER = os.path.join(REPO, "scripts", "starter_method.sh")
TOK = "9f3c21d07be84a55"

# What the engine gives a batch job (as captured on 9.1.5), shortened.
ENGINE_ENV = {
    "ARC": "lx-amd64", "ENVIRONMENT": "BATCH", "HOME": "/root", "HOSTNAME": "n1",
    "JOB_ID": "4711", "JOB_NAME": "job", "JOB_SCRIPT": "/spool/job_scripts/4711",
    "LOGNAME": "root", "NHOSTS": "1", "NQUEUES": "1", "NSLOTS": "2", "PATH": "/usr/bin:/bin",
    "PE": "slurm-shim", "QUEUE": "batch.q", "REQUEST": "job", "RESTARTED": "0",
    "SGE_CELL": "default", "SGE_O_HOST": "login", "SGE_STARTER_SHELL_PATH": "/bin/sh",
    "SGE_STARTER_SHELL_START_MODE": "unix_behavior", "SGE_STARTER_USE_LOGIN_SHELL": "true",
    "SGE_TASK_ID": "undefined", "SHELL": "/bin/bash", "USER": "root",
    "LD_LIBRARY_PATH": "/engine/lib",
}


def write(path, data, mode=0o600):
    if isinstance(data, str):
        data = data.encode()
    with open(path, "wb") as file:
        file.write(data)
    os.chmod(path, mode)
    return path


def encode_env(entries):
    """The .env format; entries are bytes NAME=VALUE."""
    return b"slurm-shim-env 1 %d\0" % len(entries) + b"".join(e + b"\0" for e in entries)


class World:
    def __init__(self, shim):
        self.shim = shim
        self.root = tempfile.mkdtemp(prefix="shim-world-")
        self.tmp = os.path.join(self.root, "tmp")
        self.j = os.path.join(self.tmp, "slurm_shim")
        self.s = os.path.join(self.root, "state")
        self.wd = os.path.join(self.root, "work dir")
        for folder in (self.tmp, self.j, self.s, self.wd, self.state("submit"),
                       self.state("jobs")):
            os.mkdir(folder, 0o700)
        self.env = dict(ENGINE_ENV, TMPDIR=self.tmp, SGE_O_WORKDIR=self.wd)

    def close(self):
        shutil.rmtree(self.root, ignore_errors=True)

    def state(self, *parts):
        return os.path.join(self.s, *parts)

    def job_file(self, *parts):
        return os.path.join(self.j, *parts)

    def path(self, *parts):
        return os.path.join(self.wd, *parts)

    def hook(self, environment="export SLURM_JOB_ID='4711'\nexport SLURM_JOB_NODELIST='n1'\n"):
        """What the PE hook leaves without a record."""
        os.symlink(self.shim, self.job_file("shim"))
        write(self.job_file("environment"), environment)

    def batch(self, env=(), **changes):
        """What sbatch and the hook leave for a job of sbatch's."""
        self.job = {
            "v": 1, "tok": TOK, "job": 4711, "task": None, "slurm_id": 4711, "index": None,
            "dir": self.s, "env": True, "name": "job", "user": "root", "host": "n1",
            "out": "slurm-%j.out", "err": None, "in": "/dev/null", "open_append": False,
            "wd": self.wd, "signal": None, "limit_s": None, "kill_wait_ms": 2000, "records": True,
            "requeue": True, "restart": 0, "start_s": 0,
            "never": None}
        self.job.update(changes)
        write(self.job_file("batch.json"), json.dumps(self.job) + "\n")
        if env is not None:
            write(self.state("submit", TOK + ".env"), encode_env(list(env)))
        self.env["SLURM_SHIM_REQ"] = f"v1;tok={TOK};dir={self.s}"

    def script(self, text, name="script", mode=0o755):
        return write(os.path.join(self.root, name), text, mode)

    def start(self, words, env=None, stdin=subprocess.DEVNULL, starter=STARTER, **kwargs):
        """As the engine: its own log on 1 and 2, the job's directory, a process group."""
        log = open(self.state("submit", TOK + ".log"), "ab")
        with log:
            return subprocess.Popen([starter, *words], env=env or self.env, stdin=stdin,
                                    stdout=log, stderr=log, cwd=self.wd, start_new_session=True,
                                    **kwargs)

    def run(self, words, **kwargs):
        return self.start(words, **kwargs).wait(timeout=60)

    def log(self):
        path = self.state("submit", TOK + ".log")
        if not os.path.exists(path):
            return None
        with open(path, encoding="utf-8", errors="replace") as file:
            return file.read()

    def text(self, *parts):
        with open(self.path(*parts), "rb") as file:
            return file.read().decode(errors="surrogateescape")

    def records(self, stem="4711"):
        path = self.state("jobs", stem + ".jsonl")
        if not os.path.exists(path):
            return []
        with open(path, encoding="utf-8") as file:
            return [json.loads(line) for line in file]
