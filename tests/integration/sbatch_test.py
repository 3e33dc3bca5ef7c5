#!/usr/bin/env python3
"""sbatch with stand-ins for Grid Engine's tools: files of the state folder, what qsub gets, refusals.

usage: sbatch_test.py BIN_DIR
"""
import json
import os
import re
import time
import unittest

from sbatch_world import CONFIG, SbatchCase

POST = """#!/bin/bash
#SBATCH --partition=gpu
#SBATCH --nodes=4
#SBATCH --ntasks-per-node=1
#SBATCH --gpus-per-node=8

head=$(scontrol show hostnames | head -n1)
srun --ntasks-per-node=1 true
"""


class Sbatch(SbatchCase):
    def test_environment_travels_by_file_and_not_through_qsub(self):
        odd = "a\\nb\nc'\"\xe9"
        _, got = self.accepted("--wrap", "true", ODD=odd, LD_LIBRARY_PATH="/x", JOB_ID="7",
                               SLURM_JOB_ID="7", SLURM_NTASKS="9", **{"BASH_FUNC_f%%": "() { :; }"})
        self.assertNotIn("-V", got["argv"])
        path = next((self.state / "submit").glob("*.env"))
        head, *entries = path.read_bytes().split(b"\0")[:-1]
        self.assertEqual(head, b"slurm-shim-env 1 %d" % len(entries))
        entries = dict(e.decode("utf-8", "surrogateescape").split("=", 1) for e in entries)
        self.assertEqual(entries["ODD"], odd)
        self.assertEqual(entries["LD_LIBRARY_PATH"], "/x")
        self.assertEqual(entries["BASH_FUNC_f%%"], "() { :; }")
        for name in ("JOB_ID", "SLURM_JOB_ID", "SLURM_NTASKS", "SLURM_SHIM_CONFIG"):
            self.assertNotIn(name, entries)
        self.assertEqual(path.stat().st_mode & 0o7777, 0o600)
        for folder in (self.state, self.state / "submit", self.state / "jobs"):
            self.assertEqual(folder.stat().st_mode & 0o7777, 0o700)

    def test_export_chooses_the_variables(self):
        for words, expected in ((["--export=NONE"], set()),
                                (["--export=A,UNSET,C=3"], {"A=1", "C=3"})):
            self.accepted("--wrap", "true", *words, A="1", B="2")
            path = max((self.state / "submit").glob("*.env"), key=lambda p: p.stat().st_mtime_ns)
            entries = path.read_bytes().split(b"\0")[1:-1]
            self.assertEqual({e.decode() for e in entries}, expected)

    def test_a_missing_directory_is_left_to_the_supervisor(self):
        _, got = self.accepted("--wrap", "true", "-D", "/no/such/dir")
        self.assertEqual(got["argv"][got["argv"].index("-wd") + 1], str(self.root / "cwd"))
        self.assertIn(";wd=/no/such/dir", got["env"]["SLURM_SHIM_REQ"])
        _, got = self.accepted("--wrap", "true", "-D", "/tmp")
        self.assertEqual(got["argv"][got["argv"].index("-wd") + 1], "/tmp")
        self.assertNotIn(";wd=", got["env"]["SLURM_SHIM_REQ"])

    def test_the_record_is_in_qsubs_environment_only(self):
        _, got = self.accepted("-J", "7b train", "--wrap", "true")
        record = got["env"]["SLURM_SHIM_REQ"]
        self.assertTrue(record.startswith("v1;tok="), record)
        self.assertIn(";name=7b%20train;", record + ";")
        argv = got["argv"]
        self.assertEqual(argv[argv.index("-v") + 1], "SLURM_SHIM_REQ,SLURM_SHIM_CONFIG,SLURM_SHIM_GE_BIN")
        self.assertFalse([word for word in argv if "tok=" in word])
        submit = json.loads((self.state / "jobs/4711.submit").read_text(encoding="utf-8"))
        self.assertEqual(submit["req"], record)
        self.assertEqual(submit["qsub"], ["qsub", *argv])
        self.assertEqual(submit["cmd"], ["sbatch", "-J", "7b train", "--wrap", "true"])
        self.assertEqual((submit["job"], submit["tasks"], submit["native"]), (4711, None, True))

    def test_a_long_record_goes_by_file(self):
        _, got = self.accepted("--comment", "x" * 9000, "--wrap", "true")
        record = got["env"]["SLURM_SHIM_REQ"]
        self.assertLess(len(record), 8000)
        self.assertIn(";file=1", record)
        text = next((self.state / "submit").glob("*.req")).read_text(encoding="utf-8")
        self.assertIn("comment=" + "x" * 9000, text)
        self.assertTrue(text.endswith("\n"))

    def test_arrays_are_numbered_by_the_engine_where_it_can(self):
        for spec, tasks, native in (("1-9:2", "1-9:2", True), ("0-3", "1-4", False)):
            _, got = self.accepted("-a", spec, "--wrap", "true")
            argv = got["argv"]
            self.assertEqual(argv[argv.index("-t") + 1], tasks)
            newest = max((self.state / "jobs").glob("*.submit"), key=lambda p: p.stat().st_mtime_ns)
            self.assertEqual(json.loads(newest.read_text(encoding="utf-8"))["native"], native)

    def test_script_arguments_stay_as_they_are(self):
        (self.root / "cwd/job.sh").write_text("#!/bin/sh\ntrue\n", encoding="ascii")
        words = ["job.sh", "-V", "--help", "a b", "", "$X*"]
        _, got = self.accepted(*words)
        self.assertEqual(got["argv"][-6:], [str(self.root / "cwd/job.sh"), *words[1:]])
        self.assertEqual([n for n in self.left_behind() if n.endswith(".script")], [], "it is a file")

    def test_spooled_scripts_are_gone_afterwards(self):
        for stdin, words in (("", ["--wrap", "echo hi"]), ("#!/bin/sh\necho hi\n", [])):
            _, got = self.accepted(*words, stdin=stdin)
            self.assertTrue(got["script"].endswith("echo hi\n"), got["script"])
            kept = max((self.state / "jobs").glob("*.script"), key=lambda p: p.stat().st_mtime_ns)
            self.assertEqual(kept.read_text(encoding="utf-8"), got["script"])
            self.assertEqual(kept.stat().st_mode & 0o7777, 0o600)
        self.assertEqual([n for n in self.left_behind() if n.endswith(".sh")], [])

    def test_a_refused_job_leaves_nothing(self):
        done = self.sbatch("-N4", "--wrap", "true", FAKE_GE_SLOTS="2")
        self.assertEqual((done.returncode, done.stdout, done.stderr),
                         (1, "", "sbatch: error: Batch job submission failed: "
                                 "Requested node configuration is not available\n"))
        self.assertEqual(self.left_behind(), [])

    def test_published_scripts_are_refused_at_once(self):
        self.config.write_text(CONFIG.replace("batch:\n", "gpu:\n").replace("batch", "gpu"), encoding="utf-8")
        (self.root / "cwd/post.sh").write_text(POST, encoding="ascii")
        done = self.sbatch("post.sh", FAKE_GE_SLOTS="2")
        self.assertEqual((done.returncode, done.stdout, done.stderr),
                         (1, "", "sbatch: error: Batch job submission failed: "
                                 "Requested node configuration is not available\n"))
        done = self.sbatch("-p", "training", "post.sh")
        self.assertEqual((done.returncode, done.stderr),
                         (1, "sbatch: error: invalid partition specified: training\nsbatch: error: "
                             "Batch job submission failed: Invalid partition name specified\n"))

    def test_a_fixed_rule_without_a_pe_names_both(self):
        done = self.sbatch("-N2", "--ntasks-per-node=3", "--wrap", "true")
        self.assertEqual((done.returncode, done.stdout), (1, ""))
        self.assertIn("allocation_rule 3", done.stderr)
        self.assertIn("slurm-shim-3", done.stderr)

    def test_without_a_configuration_queues_are_partitions(self):
        self.config.unlink()
        _, got = self.accepted("-p", "gpu", "--wrap", "true")
        argv = got["argv"]
        self.assertEqual(argv[argv.index("-q") + 1], "gpu.q")
        done = self.sbatch("-p", "training", "--wrap", "true")
        self.assertIn("invalid partition specified: training", done.stderr)

    def test_a_queue_that_serves_as_partition_must_have_the_pe(self):
        self.config.unlink()
        done = self.sbatch("-p", "gpu", "--wrap", "true", FAKE_GE_QUEUE_PES="mpi smp")
        self.assertEqual((done.returncode, done.stdout), (1, ""))
        self.assertIn("queue gpu.q does not have the parallel environment slurm-shim-smp", done.stderr)
        # The family is found by its names where nothing is configured.
        _, got = self.accepted("-p", "gpu", "-N2", "--ntasks-per-node=2", "--wrap", "true",
                               FAKE_GE_QUEUE_PES="mpi slurm-shim-2")
        argv = got["argv"]
        self.assertEqual(argv[argv.index("-pe") + 1:][:2], ["slurm-shim-2", "4"])

    def test_partition_lists_and_aliases(self):
        self.config.write_text(CONFIG + "  fast: {queue: fast.q, pe: other}\n"
                               "partition_aliases: {gpu.q: cards}\n", encoding="utf-8")
        for asked, queues, warned in (("batch,cards", "batch.q,gpu.q", False), ("batch,batch", "batch.q", False),
                                      ("batch,fast", "batch.q", True)):
            done, got = self.accepted("-p", asked, "--wrap", "true", FAKE_GE_QUEUES="batch.q gpu.q fast.q")
            self.assertEqual(got["argv"][got["argv"].index("-q") + 1], queues)
            self.assertEqual("--partition: fast is left out" in done.stderr, warned)

    def test_one_named_host_of_several_is_the_first(self):
        _, got = self.accepted("-N2", "--ntasks-per-node=1", "-w", "n2", "--wrap", "true")
        argv = got["argv"]
        self.assertEqual(argv[argv.index("-q") + 1], "batch.q")
        self.assertEqual(argv[argv.index("-masterq") + 1], "batch.q@n2")
        done = self.sbatch("-N3", "-w", "n[1-2]", "--wrap", "true")
        self.assertEqual(done.returncode, 1)
        self.assertIn("2 hosts are named for 3 nodes", done.stderr)

    def test_what_is_dropped_is_refused_under_strict_flags(self):
        self.config.write_text("strict_flags: true\n" + CONFIG, encoding="utf-8")
        for words, text in ((["--exclusive"], "--exclusive: hosts may be shared"), (["-C", "x"], "--constraint: "),
                            (["--tmp=1G"], "--tmp: "), (["--gres=gpu:a100:1"], "--gres: GPUs of type \"a100\""),
                            (["--qos=high"], "--qos: ")):
            done = self.sbatch(*words, "--wrap", "true")
            self.assertEqual((done.returncode, done.stdout), (1, ""), done.stderr)
            self.assertTrue(done.stderr.startswith("sbatch: error: " + text), done.stderr)
        self.assertEqual(self.left_behind(), [])

    def test_reservations_by_number_and_by_name(self):
        _, got = self.accepted("--reservation=7", "--wrap", "true")
        self.assertEqual(got["argv"][got["argv"].index("-ar") + 1], "7")
        _, got = self.accepted("--reservation=course", "--wrap", "true", FAKE_GE_RESERVATIONS="3:other 12:course")
        self.assertEqual(got["argv"][got["argv"].index("-ar") + 1], "12")
        done = self.sbatch("--reservation=nosuch", "--wrap", "true", FAKE_GE_RESERVATIONS="12:course")
        self.assertEqual((done.returncode, done.stderr),
                         (1, "sbatch: error: Batch job submission failed: Requested reservation is invalid\n"))

    def test_a_host_in_exclusive_use_is_waited_for(self):
        done, got = self.accepted("-N1", "-n3", "--wrap", "true", FAKE_GE_SLOTS="2", FAKE_GE_EXCLUSIVE="1")
        self.assertEqual(got["argv"][got["argv"].index("-w") + 1], "n")
        self.assertIn("hosts are in exclusive use", done.stderr)

    def test_gpus_of_each_task(self):
        _, got = self.accepted("-N2", "--ntasks-per-node=2", "--gpus-per-task=1", "--wrap", "true")
        self.assertEqual(got["argv"][got["argv"].index("-l") + 1], "gpu=2")
        # Beside a number on each host it says how many tasks a host can have.
        _, got = self.accepted("-n4", "--gpus-per-task=1", "--gres=gpu:2", "--wrap", "true")
        argv = got["argv"]
        self.assertEqual((argv[argv.index("-pe") + 1:][:2], argv[argv.index("-l") + 1]), (["slurm-shim-2", "4"], "gpu=2"))
        for words, tasks in ((["-N1", "-n4", "--gpus-per-task=1"], 4), (["-n1", "--gpus-per-task=3"], 1)):
            done = self.sbatch(*words, "--gres=gpu:2", "--wrap", "true")
            self.assertEqual((done.returncode, done.stdout), (1, ""))
            self.assertIn(f"--gpus-per-task: {tasks} tasks on a host need more GPUs than --gres asks for", done.stderr)
        done = self.sbatch("--gpus-per-task=1", "--wrap", "true")
        self.assertEqual(done.returncode, 1)
        self.assertIn("--gpus-per-task used without either --gpus or -n/--ntasks is not allowed", done.stderr)

    def test_request_files_of_the_engine_are_told(self):
        (self.root / "home/.sge_request").write_text("-cwd -j y -o /tmp -N other -r y -notify # mine\n-l h_rt=60\n",
                                                     encoding="ascii")
        done, got = self.accepted("-J", "mine", "-e", "err", "-t", "5", "--wrap", "true")
        self.assertEqual(done.stderr, "sbatch: warning: %s/home/.sge_request adds -notify to the job\n" % self.root)
        argv = got["argv"]
        for option, value in (("-N", "mine"), ("-j", "y"), ("-l", "h_rt=300"), ("-r", "y"),
                              ("-wd", str(self.root / "cwd"))):
            self.assertEqual(argv[argv.index(option) + 1], value)

    def test_variables_of_a_file_are_exported(self):
        (self.root / "cwd/vars").write_bytes(b"A=1,2\nx\0B=\0")
        for words in ((), ("--export=NONE",)):
            self.accepted("--export-file=vars", *words, "--wrap", "true", C="3")
            path = max((self.state / "submit").glob("*.env"), key=lambda p: p.stat().st_mtime_ns)
            entries = path.read_bytes().split(b"\0")[1:-1]
            self.assertIn(b"A=1,2\nx", entries)
            self.assertIn(b"B=", entries)
            self.assertEqual(b"C=3" in entries, not words)
        for content, text in ((b"A=1\0nonsense\0", '"nonsense" is no NAME=value'), (None, "No such file")):
            if content is None:
                (self.root / "cwd/vars").unlink()
            else:
                (self.root / "cwd/vars").write_bytes(content)
            done = self.sbatch("--export-file=vars", "--wrap", "true")
            self.assertEqual((done.returncode, done.stdout), (1, ""))
            self.assertIn(text, done.stderr)

    def test_hosts_of_a_file(self):
        (self.root / "cwd/hosts").write_text("n2 # fast\nn3,\n", encoding="ascii")
        _, got = self.accepted("-F", "hosts", "--wrap", "true")
        argv = got["argv"]
        self.assertEqual(argv[argv.index("-q") + 1], "batch.q@n2,batch.q@n3")
        self.assertEqual(argv[argv.index("-pe") + 1:][:2], ["slurm-shim-1", "2"])
        done = self.sbatch("-F", "nosuch", "--wrap", "true")
        self.assertEqual((done.returncode, done.stderr), (1, "sbatch: error: Unable to open file nosuch\n"))

    def test_umask_and_login_environment_are_recorded(self):
        old = os.umask(0o027)
        try:
            _, got = self.accepted("--wrap", "true")
        finally:
            os.umask(old)
        self.assertIn(";umask=27;", got["env"]["SLURM_SHIM_REQ"] + ";")
        self.assertNotIn(";login=", got["env"]["SLURM_SHIM_REQ"])
        for words, seconds in ((["--get-user-env"], 120), (["--get-user-env=30L"], 30), (["--export=NONE"], 120),
                               (["--export=HOME"], 120), (["--export=NIL"], None), (["--export=ALL,A=1"], None)):
            _, got = self.accepted(*words, "--wrap", "true")
            login = re.search(r";login=(\d+)", got["env"]["SLURM_SHIM_REQ"])
            self.assertEqual(int(login[1]) if login else None, seconds, words)

    def test_hosts_must_exist(self):
        for words in (["-x", "n[2,9]"], ["-w", "n9"], ["-w", "n2", "-x", "n2"]):
            done = self.sbatch(*words, "--wrap", "true")
            self.assertEqual((done.returncode, done.stderr),
                             (1, "sbatch: error: Batch job submission failed: Invalid node name specified\n"))
        _, got = self.accepted("-N2", "-w", "n2.example,n3", "-x", "n1", "--wrap", "true",
                               FAKE_GE_HOSTS="n1 n2.example n3")
        argv = got["argv"]
        self.assertEqual(argv[argv.index("-q") + 1], "batch.q@n2.example,batch.q@n3")
        self.assertEqual(argv[argv.index("-l") + 1], "h=!(n1)")

    def test_an_unreachable_engine(self):
        done = self.sbatch("--wrap", "true", FAKE_GE_DOWN="1")
        self.assertEqual(done.returncode, 1)
        self.assertEqual(done.stderr.splitlines()[-1], "sbatch: error: Batch job submission failed: "
                                                       "Unable to contact slurm controller (connect failure)")
        done = self.sbatch("--wrap", "true", SLURM_SHIM_GE_BIN="/nonexistent")
        self.assertEqual((done.returncode, done.stderr),
                         (1, "sbatch: error: qsub: not found in /nonexistent\n"))
        self.assertEqual(self.left_behind(), [])

    def test_a_tool_that_says_nothing_is_given_up(self):
        silent = self.root / "silent"
        silent.mkdir()
        (silent / "qsub").write_text("#!/bin/sh\nexec sleep 1000\n", encoding="ascii")
        (silent / "qsub").chmod(0o755)
        self.config.write_text(CONFIG.replace("60s", "500ms"), encoding="utf-8")
        start = time.monotonic()
        done = self.sbatch("--wrap", "true", SLURM_SHIM_GE_BIN=str(silent))
        self.assertLess(time.monotonic() - start, 30)
        self.assertEqual(done.returncode, 1)
        self.assertIn("qsub", done.stderr)
        self.assertEqual(done.stderr.count("\n"), 1)

    def test_a_deadline_must_leave_the_time_that_is_asked_for(self):
        refusal = "sbatch: error: Batch job submission failed: Requested time limit is invalid (missing or exceeds some limit)\n"
        for words in (["--deadline=2020-01-01"], ["--deadline=now+59minutes", "-t", "60"],
                      ["--deadline=now+29minutes", "-t", "60", "--time-min=30"]):
            done = self.sbatch(*words, "--wrap", "true")
            self.assertEqual((done.returncode, done.stdout, done.stderr), (1, "", refusal), words)
        for words in (["-t", "60"], ["-t", "90", "--time-min=60"], ["-t", "0"], []):
            self.accepted("--deadline=now+61minutes", *words, "--wrap", "true")

    def test_a_broken_configuration_is_named(self):
        self.config.write_text("partitions: [\n", encoding="utf-8")
        done = self.sbatch("--wrap", "true")
        self.assertEqual((done.returncode, done.stdout), (1, ""))
        self.assertIn(str(self.config), done.stderr)

    def test_warnings_come_with_acceptance_and_name_the_option(self):
        done, _ = self.accepted("--contiguous", "--exclusive", "--wrap", "true", FAKE_GE_SAY="warning: odd\n")
        lines = done.stderr.splitlines()
        self.assertTrue(all(line.startswith("sbatch: warning: ") for line in lines), lines)
        for words in ("contiguous", "--exclusive", "qsub: odd"):
            self.assertEqual(sum(words in line for line in lines), 1, (words, lines))
        done, _ = self.accepted("-Q", "--contiguous", "--wrap", "true")
        self.assertEqual((done.stdout, done.stderr), ("", ""))

    def test_environment_by_the_engine(self):
        self.config.write_text("env_transport: qsub\n" + CONFIG, encoding="utf-8")
        done, got = self.accepted("-o", "%j.out", "--wrap", "true", LD_PRELOAD="/x.so", SLURM_JOB_ID="7", A="1")
        self.assertIn("-V", got["argv"])
        self.assertEqual(got["argv"][got["argv"].index("-o") + 1], ":%s/cwd/$JOB_ID.out" % self.root)
        self.assertEqual((got["env"].get("A"), got["env"].get("SLURM_JOB_ID")), ("1", None))
        self.assertIn("LD_PRELOAD", done.stderr)
        self.assertEqual(list((self.state / "submit").glob("*.env")), [])

    def test_a_backslash_in_a_passed_variable_is_refused(self):
        done = self.sbatch("--wrap", "true", SLURM_SHIM_TASK_POLICY="a\\nb")
        self.assertEqual(done.returncode, 1)
        self.assertIn("SLURM_SHIM_TASK_POLICY", done.stderr)


if __name__ == "__main__":
    unittest.main()
