"""sbatch with stand-ins for Grid Engine's tools: what the tests of it share. argv[1] is the folder of the links."""
import json
import os
import pathlib
import subprocess
import sys
import tempfile
import unittest

BIN = os.path.abspath(sys.argv.pop(1))
TOOLS = str(pathlib.Path(__file__).resolve().parent.parent / "fakes" / "ge-bin")
CONFIG = """
qstat_timeout: 60s
default_partition: batch
partitions:
  batch:
    queue: batch.q
    pe_by_layout: {pe_slots: slurm-shim-smp, fixed: {1: slurm-shim-1, 2: slurm-shim-2}}
"""


class SbatchCase(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory(prefix="sbatch-")
        self.addCleanup(self.folder.cleanup)
        self.root = pathlib.Path(self.folder.name)
        for name in ("home", "cwd", "engine"):
            (self.root / name).mkdir()
        self.state = self.root / "home/.local/state/slurm-shim/default"
        self.config = self.root / "config.yaml"
        self.config.write_text(CONFIG, encoding="utf-8")

    def sbatch(self, *words, stdin="", **env):
        self.env = {"PATH": "/usr/bin:/bin", "HOME": str(self.root / "home"), "USER": "u",
                    "SLURM_SHIM_GE_BIN": TOOLS, "SLURM_SHIM_CONFIG": str(self.config),
                    "FAKE_GE_DIR": str(self.root / "engine"),
                    "FAKE_GE_PES": "slurm-shim slurm-shim-1 slurm-shim-2 slurm-shim-smp"}
        self.env.update(env)
        return subprocess.run([BIN + "/sbatch", *words], input=stdin, capture_output=True, text=True,
                              timeout=120, env=self.env, cwd=self.root / "cwd")

    def accepted(self, *words, **more):
        done = self.sbatch(*words, **more)
        self.assertEqual(done.returncode, 0, done.stderr)
        job = (self.root / "engine/last").read_text(encoding="ascii")
        return done, json.loads((self.root / "engine" / (job + ".json")).read_text(encoding="utf-8"))

    def left_behind(self):
        return sorted(p.name for p in self.state.rglob("*") if p.is_file())
