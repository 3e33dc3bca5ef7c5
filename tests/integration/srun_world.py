"""A job that exists only on paper: layout.json with pretended hosts, a configuration, stand-in
tools; and a stepper in Python for conversations that the real one never has. Used by srun_*_test.
"""
import base64
import json
import os
import shutil
import socket
import struct
import subprocess
import sys
import tempfile
import time

sys.path.insert(0, os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))), "support"))
import pace  # noqa: E402

FAKES = os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))), "fakes", "launch")
HELLO, SPEC, READY, OUT, RANK_EXIT, RANK_FAIL, SIG, PING, PONG = range(1, 10)


def wait_until(condition, seconds=60, what="condition"):
    """The value of condition() as soon as it is true."""
    end = time.monotonic() + pace.limit(seconds)
    while True:
        value = condition()
        if value:
            return value
        if time.monotonic() > end:
            raise AssertionError(f"{what}: not within {seconds} s")
        time.sleep(0.02)


class World:
    """slots: of every host, or a list; config: text of config.yaml; gpus: a list of ids for each host."""

    def __init__(self, bin_dir, hosts=("node001",), config="launcher: local\n", slots=8,
                 tasks_per_node=None, job=4711, cpus_per_task=0, gpus=None):
        self.bin = bin_dir
        self.dir = tempfile.mkdtemp(prefix="srun-test.")
        self.tmpdir = os.path.join(self.dir, "tmp")
        self.job_dir = os.path.join(self.tmpdir, "slurm_shim")
        self.work = os.path.join(self.dir, "work")
        self.fake = os.path.join(self.dir, "fake")
        for folder in (self.job_dir, self.work, self.fake):
            os.makedirs(folder, mode=0o700)
        each = slots if isinstance(slots, list) else [slots] * len(hosts)
        nodes = [{"index": i, "host": name, "fqdn": name + ".example", "ip": "127.0.0.1",
                  "slots": each[i], "gpus": gpus[i] if gpus else None, "is_master": i == 0}
                 for i, name in enumerate(hosts)]
        layout = {"schema_version": 1, "job": {"job_id": job, "name": "testjob", "user": "alice",
                                               "pe_name": "mpi"}, "nodes": nodes,
                  "tasks": {"per_node": tasks_per_node or each, "cpus_per_task": cpus_per_task}}
        self.write(os.path.join(self.job_dir, "layout.json"), json.dumps(layout))
        self.config = self.write(os.path.join(self.dir, "config.yaml"), config)
        shutil.copytree(FAKES, os.path.join(self.dir, "ge"))
        self.env = {"PATH": "/usr/bin:/bin", "HOME": self.dir, "TMPDIR": self.tmpdir,
                    "JOB_ID": str(job), "SLURM_JOB_ID": str(job), "SLURM_SHIM_CONFIG": self.config,
                    "SLURM_SHIM_GE_BIN": os.path.join(self.dir, "ge"), "FAKE_QRSH": self.fake,
                    "LC_ALL": "C"}

    @staticmethod
    def write(path, text):
        with open(path, "w", encoding="utf-8") as file:
            file.write(text)
        os.chmod(path, 0o600)
        return path

    def close(self):
        shutil.rmtree(self.dir, ignore_errors=True)

    def script(self, host, *lines):
        """What the stand-in qrsh does at its next calls for the host."""
        self.write(os.path.join(self.fake, host + ".example.script"), "\n".join(lines) + "\n")

    def start(self, *words, env=None, **kwargs):
        kwargs.setdefault("stdin", subprocess.DEVNULL)
        kwargs.setdefault("stdout", subprocess.PIPE)
        kwargs.setdefault("stderr", subprocess.PIPE)
        kwargs.setdefault("cwd", self.work)
        # SIGINT may be ignored where tests run in the background.
        return subprocess.Popen([os.path.join(self.bin, "srun"), *words],
                                env={**self.env, **(env or {})}, **kwargs)

    def run(self, *words, timeout=120, **kwargs):
        """(exit code, stdout, stderr) as text."""
        process = self.start(*words, **kwargs)
        try:
            out, err = process.communicate(timeout=pace.limit(timeout))
        except subprocess.TimeoutExpired:
            process.kill()
            process.communicate()
            raise
        return (process.returncode, (out or b"").decode(errors="replace"),
                (err or b"").decode(errors="replace"))

    def calls(self):
        """Argument vectors of the stand-in qrsh so far."""
        try:
            with open(os.path.join(self.fake, "log"), encoding="utf-8") as file:
                return [line.split() for line in file if line.endswith("\n")]
        except FileNotFoundError:
            return []

    def envelope(self, host):
        """The envelope of a host whose qrsh was called (waits for it)."""
        def find():
            for call in self.calls():
                envelope = json.loads(base64.b64decode(call[-1]))
                if envelope["host"] == host:
                    return envelope
            return None
        return wait_until(find, what=f"qrsh for {host}")

    def leaked_token(self, host):
        path = os.path.join(self.fake, host + ".example.token")
        wait_until(lambda: os.path.exists(path), what="token")
        with open(path, encoding="utf-8") as file:
            return file.read()

    def end_leak(self, host):
        self.write(os.path.join(self.fake, host + ".example.end"), "")


def frame(kind, payload=b"", rank=0, flags=0):
    return struct.pack(">BBII", kind, flags, rank, len(payload)) + payload


class Stepper:
    """The other end of the control channel, by hand."""

    def __init__(self, envelope, token=None, host=None, version=b"v=1"):
        address, port = envelope["dial"].rsplit(":", 1)
        self.socket = socket.create_connection((address, int(port)), timeout=60)
        self.buffer = b""
        if token is not None:
            name = (host or envelope["host"]).encode()
            payload = token.encode() + b"\0" + name + (b"\0" + version if version else b"")
            self.send(frame(HELLO, payload))

    def send(self, data):
        self.socket.sendall(data)

    def receive(self):
        """(type, flags, rank, payload), or None at the end."""
        while True:
            if len(self.buffer) >= 10:
                kind, flags, rank, length = struct.unpack(">BBII", self.buffer[:10])
                if len(self.buffer) >= 10 + length:
                    payload = self.buffer[10:10 + length]
                    self.buffer = self.buffer[10 + length:]
                    return kind, flags, rank, payload
            try:
                data = self.socket.recv(1 << 16)
            except ConnectionResetError:
                data = b""
            if not data:
                return None
            self.buffer += data

    def spec(self):
        """The step specification, put together from its pieces; answers PING meanwhile."""
        text = b""
        while True:
            kind, flags, _, payload = self.receive()
            if kind == PING:
                self.send(frame(PONG))
            elif kind == SPEC:
                text += payload
                if not flags & 1:
                    return json.loads(text)

    def exit(self, rank, code=0):
        self.send(frame(RANK_EXIT, struct.pack(">ii", code, code << 8), rank))

    def is_closed(self):
        return self.receive() is None

    def close(self):
        self.socket.close()

    def __del__(self):
        if hasattr(self, "socket"):
            self.socket.close()
