#!/usr/bin/env python3
"""A whole batch job of two hosts without an engine: starter, batch-exec, srun, and the launcher's
exact argv handed to the starter again by a stand-in for qrsh, then the real stepper.

usage: launch_test.py BIN_DIR
"""
import json
import os
import re
import sys
import unittest

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from job_world import STARTER, TOK, World, write  # noqa: E402

BIN = os.path.abspath(sys.argv.pop(1))
SHIM = os.path.join(BIN, "slurm-shim")

# As `qrsh -inherit`: takes its own words, then the other host's execd gives the command to the
# starter with a fresh environment; of the variables only those named by -v come along.
QRSH = """#!/bin/bash
printf '%s\\0' "$@" >>{root}/qrsh.args; printf '\\n' >>{root}/qrsh.args
[[ $1 == -inherit && $2 == -nostdin && $3 == -noshell && $4 == -v ]] || exit 7
name=$5 host=$6; shift 6
exec env -i PATH=/usr/bin:/bin JOB_ID=4711 SGE_TASK_ID=undefined HOSTNAME="$host" \\
  TMPDIR={tmp} SGE_STARTER_SHELL_PATH= SGE_STARTER_SHELL_START_MODE=unix_behavior \\
  {extra} "$name=${{!name}}" {starter} "$@" </dev/null
"""
QCONF = "#!/bin/sh\necho 'pe_name slurm-shim'\necho 'control_slaves TRUE'\n"


class Launch(unittest.TestCase):
    def setUp(self):
        self.world = World(SHIM)
        self.addCleanup(self.world.close)
        self.world.hook("export SLURM_JOB_ID='4711' SLURM_JOB_NODELIST='n[1-2]' "
                        "SLURM_JOB_NUM_NODES='2' SLURM_NNODES='2' SLURM_TASKS_PER_NODE='1(x2)' "
                        "SLURM_JOB_CPUS_PER_NODE='1(x2)'\n")
        nodes = [{"index": i, "host": f"n{i + 1}", "fqdn": f"n{i + 1}", "ip": "127.0.0.1",
                  "slots": 1, "processor_range": "", "gpus": None, "is_master": i == 0}
                 for i in range(2)]
        write(self.world.job_file("layout.json"), json.dumps({
            "schema_version": 1, "job": {"job_id": 4711, "array_task_id": None,
                                         "pe_name": "slurm-shim"},
            "nodes": nodes, "tasks": {"ntasks": 2, "cpus_per_task": 1, "per_node": [1, 1]}}))
        write(self.world.job_file("stepctr"), "-1\n")
        self.tools = os.path.join(self.world.root, "tools")
        os.mkdir(self.tools)
        config = write(os.path.join(self.world.root, "config.yaml"),
                       "control_address: 127.0.0.1\nkill_wait: 2s\nlaunch_timeout: 20s\n")
        self.world.env.update(SLURM_SHIM_CONFIG=config, SLURM_SHIM_GE_BIN=self.tools)
        self.fake(extra="SGE_PE_TASK_ID=1.n2", tmp="/nonexistent")

    def fake(self, extra, tmp):
        write(os.path.join(self.tools, "qrsh"),
              QRSH.format(root=self.world.root, tmp=tmp, extra=extra, starter=STARTER), 0o755)
        write(os.path.join(self.tools, "qconf"), QCONF, 0o755)

    def job(self, text, env=(b"PATH=/usr/bin:/bin", b"MINE=1")):
        self.world.batch(env)
        code = self.world.run([self.world.script(text)])
        path = self.world.path("slurm-4711.out")
        return code, self.world.text("slurm-4711.out") if os.path.exists(path) else None

    def qrsh_words(self):
        with open(os.path.join(self.world.root, "qrsh.args"), encoding="utf-8") as file:
            return [line.split("\0")[:-1] for line in file.read().splitlines()]

    SHOW = "#!/bin/bash\nsrun -l bash -c 'echo $SLURM_PROCID $SLURM_NODEID $SLURMD_NODENAME " \
           "$MINE $SLURM_STEP_ID ${SLURM_SHIM_TOKEN-none} ${SLURM_SHIM_REQ-none} $PWD' | sort\n"

    def expected(self):
        return "".join(f"{i}: {i} {i} n{i + 1} 1 0 none none {self.world.wd}\n" for i in range(2))

    def test_a_job_of_two_hosts(self):
        self.assertEqual(self.job(self.SHOW), (0, self.expected()))
        words = self.qrsh_words()
        self.assertEqual(len(words), 1)
        self.assertEqual(words[0][:9], ["-inherit", "-nostdin", "-noshell", "-v",
                                        "SLURM_SHIM_TOKEN", "n2", SHIM, "stepper", "--envelope"])
        self.assertEqual(len(words[0]), 10)
        self.assertRegex(words[0][9], r"\A[A-Za-z0-9+/]+=*\Z")
        self.assertIsNone(self.world.log())

    def test_the_stepper_is_known_by_its_argv_alone(self):
        # An engine that does not set SGE_PE_TASK_ID, on a host where a job folder is visible whose
        # environment would end the task.
        self.fake(extra="", tmp=self.world.tmp)
        self.world.env["POISON"] = "1"
        environment = self.world.job_file("environment")
        with open(environment, "a", encoding="utf-8") as file:
            file.write("[ -n \"$POISON\" ] || exit 66\n")
        self.assertEqual(self.job(self.SHOW), (0, self.expected()))

    def test_exit_codes_and_records(self):
        code, text = self.job("#!/bin/bash\nsrun bash -c 'exit $((SLURM_PROCID * 3))'\n"
                              "echo $?\nsrun -n1 true; exit 4\n")
        self.assertEqual(code, 4)
        self.assertRegex(text, r"(?m)^3$")
        records = self.world.records()
        self.assertEqual([r["ev"] for r in records],
                         ["start", "step_start", "step_end", "step_start", "step_end", "end"])
        self.assertEqual({r["tok"] for r in records}, {TOK})
        first = records[1]
        self.assertEqual((first["step"], first["hosts"], first["nodes"], first["ntasks"]),
                         (0, "n[1-2]", 2, 2))
        self.assertEqual((records[2]["step"], records[2]["code"], records[2]["max_code"],
                          records[2]["reason"]), (0, 3, 3, "exit"))
        self.assertEqual(records[3]["step"], 1)
        self.assertEqual(records[-1]["code"], 4)
        self.assertEqual(os.listdir(self.world.job_file("steps")), [])
        with open(self.world.job_file("preflight"), encoding="utf-8") as file:
            self.assertTrue(re.match(r"TRUE\n\Z", file.read()))


if __name__ == "__main__":
    unittest.main()
