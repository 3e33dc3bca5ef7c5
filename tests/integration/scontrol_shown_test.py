#!/usr/bin/env python3
"""What scontrol shows of jobs, nodes and partitions, and which cluster the query commands are asked of.

    scontrol_shown_test.py FOLDER-OF-LINKS"""
import json
import os
import pathlib
import subprocess
import sys
import tempfile
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "conformance"))

import sinfo_vectors  # noqa: E402
from query_world import Job, World  # noqa: E402

LINKS = os.path.abspath(sys.argv.pop(1))


class Shown(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = tempfile.TemporaryDirectory(prefix="shown-", dir="/tmp")
        world = cls.world = World(cls.folder.name)
        sinfo_vectors.build(world)
        gpu = Job(70004, "gpu", partition="gpu", hosts=("node003",), limit=60,
                  extra={"gpn": 2, "gpus": 2, "mem": 1024, "memper": "node"})
        world.submitted(gpu)
        world.recorded(gpu)
        world.row(gpu, "r")
        lic = Job(70022, "c4", extra={"feat": "std", "lic": "matlab:2", "excl": 1})
        world.submitted(lic)
        world.row(lic, "hqw", pending=True, hold="u")
        begin = Job(70008, "begin", extra={"begin": world.now + 3600})
        world.submitted(begin)
        world.row(begin, "qw", pending=True)
        world.ended(Job(70019, "comp", start=-60, end={"code": 3, "sig": 0}, status=3,
                        steps=(dict(name="sh", code=3),)))
        world.write()
        for tool in ("qhold", "qrls", "qalter"):
            world.answer(tool, "modified\n")

    @classmethod
    def tearDownClass(cls):
        cls.folder.cleanup()

    def ask(self, *words, status=0, **env):
        environment = {**self.world.environment(LINKS), **env}
        done = subprocess.run(words, capture_output=True, text=True, env=environment, timeout=60, check=False)
        self.assertEqual(done.returncode, status, done.stdout + done.stderr)
        return done

    def test_shows_what_was_asked_for(self):
        text = self.ask("scontrol", "show", "job", "70022").stdout
        self.assertIn("\n   Features=std DelayBoot=", text)
        self.assertIn("\n   OverSubscribe=NO Contiguous=0 Licenses=matlab:2 ", text)
        text = self.ask("scontrol", "show", "job", "70004").stdout
        self.assertTrue(text.endswith("\n   Power=\n   TresPerJob=gres:gpu:2\n   TresPerNode=gres:gpu:2\n   \n\n"), text)
        self.assertNotIn("DerivedExitCode", text)

    def test_details(self):
        text = self.ask("scontrol", "-d", "show", "job", "70004").stdout
        self.assertIn(" ExitCode=0:0\n   DerivedExitCode=0:0\n   RunTime=", text)
        self.assertIn("CoreSpec=*\n   JOB_GRES=gpu:2\n     Nodes=node003 CPU_IDs=N/A Mem=1024 GRES=gpu:2\n   Min", text)
        self.assertIn("DerivedExitCode=3:0", self.ask("scontrol", "-d", "show", "job", "70019").stdout)

    def test_start_of_a_job_that_waits_for_it_in_the_time_format(self):
        when = self.world.now + 3600
        text = self.ask("scontrol", "show", "job", "70008", SLURM_TIME_FORMAT="%s").stdout
        self.assertIn("\n   StartTime=%d EndTime=Unknown " % when, text)
        step = self.ask("scontrol", "show", "step", "70004", SLURM_TIME_FORMAT="%s").stdout
        self.assertRegex(step, r" StartTime=\d+ TimeLimit=")

    def test_all_jobs_are_those_that_ended_lately_as_well(self):
        text = self.ask("scontrol", "show", "job").stdout
        self.assertEqual(text.count("JobId=70019 "), 1)
        self.assertEqual(text.count("JobId=70004 "), 1)
        document = json.loads(self.ask("scontrol", "show", "job", "--json").stdout)
        self.assertIn(70019, [job["job_id"] for job in document["jobs"]])

    def test_documents_of_the_named(self):
        for what, name in (("node", "node001"), ("partition", "gpu")):
            done = self.ask("scontrol", "show", what, name, "--json")
            self.assertEqual([row["name"] for row in json.loads(done.stdout)[what + "s"]], [name])
            done = self.ask("scontrol", "show", what, "nosuch", "--json", status=1)
            self.assertEqual(done.stdout, what.capitalize() + " nosuch not found\n")

    def test_one_cluster(self):
        for words in (("sinfo",), ("scontrol", "show", "job"), ("squeue",)):
            own = json.loads(self.ask(*words, "--json").stdout)
            if "meta" in own:
                self.assertEqual(own["meta"]["slurm"]["cluster"], "oracle")
            for name in ("oracle", "all"):
                self.ask(*words, "-M", name)
                self.ask(*words, SLURM_CLUSTERS=name)
            self.assertIn("'nosuch' can't be reached now", self.ask(*words, "-M", "nosuch", status=1).stderr)
            self.assertIn("'nosuch' can't be reached now", self.ask(*words, status=1, SLURM_CLUSTERS="nosuch").stderr)

    def test_hold_and_release_by_name(self):
        for verb, tool in (("hold", "qhold"), ("release", "qrls")):
            self.ask("scontrol", verb, "jobname=begin")
            self.assertIn(tool + " -h u 70008", self.world.calls())
        done = self.ask("scontrol", "hold", "jobname=nosuch", status=1)
        self.assertIn("Invalid job id specified for job jobname=nosuch", done.stderr)

    def test_update_of_the_start_is_read_again(self):
        self.ask("scontrol", "update", "JobId=70008", "StartTime=2035-01-01T00:00:00")
        self.assertEqual(self.ask("squeue", "-h", "-j", "70008", "-o", "%S").stdout, "2035-01-01T00:00:00\n")


if __name__ == "__main__":
    unittest.main()
