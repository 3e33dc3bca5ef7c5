#!/usr/bin/env python3
"""sbatch --wait and `slurm-shim explain sbatch`, with stand-ins for Grid Engine's tools.

usage: sbatch_told_test.py BIN_DIR
"""
import json
import subprocess
import threading
import time
import unittest

from sbatch_world import BIN, CONFIG, SbatchCase


class Told(SbatchCase):
    def write_record(self, job, token, code, task=None):
        lines = [{"v": 1, "tok": token, "t": 1796002951.2, "run": 0, "ev": "start", "job": job, "task": task,
                  "slurm_id": job, "host": "n1", "hosts": "n1", "nodes": 1, "ntasks": 1, "cpus": 1, "pid": 7,
                  "out": "/o", "err": "/o"},
                 {"v": 1, "tok": token, "t": 1796002952.2, "run": 0, "ev": "end", "code": code, "sig": 0,
                  "reason": "exit"}]
        path = self.state / ("jobs/%d%s.jsonl" % (job, "" if task is None else ".%d" % task))
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text("".join(json.dumps(line) + "\n" for line in lines), encoding="ascii")
        path.chmod(0o600)
        for folder in (path.parent, path.parent.parent):
            folder.chmod(0o700)

    def wait_with(self, job, ends, *words):
        """sbatch --wait; when the job is submitted, its elements' records are written."""
        result = []
        thread = threading.Thread(target=lambda: result.append(self.sbatch("--wait", *words, "--wrap", "x")))
        thread.start()
        submit = self.state / ("jobs/%d.submit" % job)
        while thread.is_alive() and not (submit.exists() and submit.read_text(encoding="utf-8").endswith("\n")):
            time.sleep(0.05)
        token = json.loads(submit.read_text(encoding="utf-8"))["tok"]
        for task, code in ends:
            self.write_record(job, token, code, task)
        thread.join()
        return result[0]

    def test_wait_ends_with_the_jobs_exit_code(self):
        self.config.write_text("qacct_deadline: 1s\n" + CONFIG, encoding="utf-8")
        self.write_record(4711, "0123456789abcdef", 9)  # of an older job of that number
        done = self.wait_with(4711, [(None, 7)], "--parsable")
        self.assertEqual((done.returncode, done.stdout), (7, "4711\n"))
        done = self.wait_with(4712, [(1, 0), (2, 5), (3, 2)], "-a", "0-2")
        self.assertEqual((done.returncode, done.stdout), (5, "Submitted batch job 4712\n"))
        # The engine lists it for some more questions.
        listed = self.root / "engine/listed"
        listed.write_text("4713 4", encoding="ascii")
        done = self.wait_with(4713, [(None, 3)], "--parsable")
        self.assertEqual((done.returncode, listed.read_text(encoding="ascii")), (3, "4713 0"))
        # Nobody knows the job any more and no record tells its end.
        self.assertEqual(self.sbatch("-W", "--wrap", "x").returncode, 1)

    def explain(self, *words, **env):
        self.sbatch("--version")
        return subprocess.run([BIN + "/slurm-shim", "explain", *words], stdin=subprocess.DEVNULL, capture_output=True,
                              text=True, timeout=120, env={**self.env, **env}, cwd=self.root / "cwd")

    def test_explain_tells_where_values_come_from_and_submits_nothing(self):
        (self.root / "cwd/job.sh").write_text("#!/bin/sh\n#SBATCH -N2 --ntasks-per-node=2\n#SBATCH -t 7 --exclusive\n"
                                              "#SBATCH --contiguous --site-plugin=x\ntrue\n", encoding="ascii")
        done = self.explain("--json", "sbatch", "-t", "9", "job.sh", "--json", SBATCH_ACCOUNT="acc")
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        told = json.loads(done.stdout)
        options = {(o["name"], o["in_force"]): o for o in told["options"]}
        self.assertEqual(options["time", True]["origin"], {"kind": "command_line"})
        self.assertEqual(options["time", True]["becomes"], "-l h_rt=540")
        self.assertEqual(options["time", False]["origin"], {"kind": "directive", "name": "job.sh", "line": 3})
        self.assertEqual(options["account", True]["origin"], {"kind": "environment", "name": "SBATCH_ACCOUNT"})
        self.assertEqual(options["nodes", True]["becomes"], "-pe slurm-shim-2 4")
        self.assertEqual(options["contiguous", True]["fate"], "warned")
        self.assertEqual(options["site-plugin", True]["fate"], "ignored")
        self.assertEqual(options["site-plugin", True]["origin"], {"kind": "directive", "name": "job.sh", "line": 4})
        self.assertTrue(options["exclusive", True]["notes"][0].startswith("--exclusive: hosts may be shared"))
        self.assertEqual(told["partition"], {"name": "batch", "from": "config default_partition", "queues": ["batch.q"]})
        self.assertEqual((told["geometry"]["nodes"], told["geometry"]["slots"]), (2, 4))
        self.assertEqual(told["qsub"][-2:], [str(self.root / "cwd/job.sh"), "--json"])
        self.assertFalse((self.root / "engine/last").exists())
        self.assertEqual(self.left_behind(), [])
        text = self.explain("sbatch", "-t", "9", "job.sh").stdout
        for words in ("batch (config default_partition)", "job.sh:2", "command line", "4 of slurm-shim-2: 2 on each host",
                      "qsub -terse -C '' -b n"):
            self.assertIn(words, text)

    def test_explain_names_limits_of_the_partition_and_each_word_once(self):
        for key in ("default_time", "max_time"):
            self.config.write_text(CONFIG + f"    {key}: 0:30:00\n", encoding="utf-8")
            told = json.loads(self.explain("--json", "sbatch", "-N2", "--ntasks-per-node=2", "--wrap", "true",
                                           FAKE_GE_PAR="1").stdout)
            self.assertEqual(told["time_limit"], {"minutes": 30, "from": f"config {key} of the partition"})
            self.assertEqual([o["becomes"] for o in told["options"][:2]], ["-pe slurm-shim 4 -par 2"] * 2)

    def test_explain_gives_each_option_its_own_words(self):
        self.config.write_text(CONFIG + "memory_complex: h_vmem\nmemory_consumable: slot\ngpu: {gres_complex: gpu, "
                               "consumable: host}\n", encoding="utf-8")
        told = json.loads(self.explain("--json", "sbatch", "-t", "5", "--mem=1G", "--gres=gpu:2", "--array=1-4%2",
                                       "-d", "aftercorr:7", "--wrap", "true").stdout)
        self.assertEqual({o["name"]: o["becomes"] for o in told["options"][:-1]},
                         {"time": "-l h_rt=300", "mem": "-l h_vmem=1024M", "gres": "-l gpu=2", "array": "-t 1-4:1 -tc 2",
                          "dependency": "-hold_jid_ad 7"})
        told = json.loads(self.explain("--json", "sbatch", "-t", "5", "--gres=none", "-o", "x", "--wrap",
                                       "true").stdout)
        self.assertEqual([o["fate"] for o in told["options"][:3]], ["translated", "kept", "kept"])

    def test_explain_refuses_as_sbatch_does(self):
        done = self.explain("sbatch", "-p", "nosuch", "--wrap", "true", "--json")
        told = json.loads(done.stdout)
        self.assertEqual((done.returncode, told["accepted"], told["exit_code"]), (1, False, 1))
        self.assertEqual(told["error"] + "\n", done.stderr)
        self.assertIn("invalid partition specified: nosuch", done.stderr)
        self.assertEqual(self.explain("srun", "true").returncode, 255)
        # Without an engine it tells what one with all abilities would be asked.
        done = self.explain("sbatch", "-N2", "--json", SLURM_SHIM_GE_BIN="/nonexistent")
        self.assertEqual(done.returncode, 1, "an empty script")
        (self.root / "cwd/job.sh").write_text("#!/bin/sh\ntrue\n", encoding="ascii")
        told = json.loads(self.explain("sbatch", "--json", "-N2", "job.sh", SLURM_SHIM_GE_BIN="/nonexistent").stdout)
        self.assertEqual(told["engine"]["answered"], False)
        self.assertIn("-par", told["qsub"])


if __name__ == "__main__":
    unittest.main()
