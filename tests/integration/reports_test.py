#!/usr/bin/env python3
"""What users of such tools have reported (shared reports R01 ...): sbatch's side of each, with stand-ins for Grid Engine.

usage: reports_test.py BIN_DIR

Reports whose course needs a running job are tested with the real cluster (tests/e2e) or where the parts meet
(tests/contract); the numbers stand at those tests that were written for them.
"""
import os
import pathlib
import subprocess
import sys
import tempfile
import unittest
import urllib.parse

import replayed_engine

BIN = os.path.abspath(sys.argv.pop(1))
FIXTURES = pathlib.Path(__file__).resolve().parent.parent / "fixtures" / "9.1.5"
CONFIG = "default_partition: batch\npartitions: {batch: {queue: all.q}, gpu: {queue: gpu.q}}\n"
ANSWERS = {"-help": "qsub-help", "-sc": "qconf-sc", "-spl": "qconf-spl", "-sql": "qconf-sql", "-sel": "qconf-sel"}


class Reports(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory(prefix="reports-")
        self.addCleanup(folder.cleanup)
        self.root = pathlib.Path(folder.name)
        replayed_engine.make(self.root / "tools", {words: (FIXTURES / (name + ".stdout")).read_text(encoding="utf-8")
                                                   for words, name in ANSWERS.items()})
        self.home = self.root / "home"
        self.home.mkdir()
        self.config = self.root / "config.yaml"
        self.config.write_text(CONFIG, encoding="utf-8")

    def sbatch(self, *words, cwd=None, **env):
        for name in ("argv", "req"):
            (self.home / name).unlink(missing_ok=True)
        env = {**replayed_engine.environment(self.root / "tools", self.home, self.config), **env}
        return subprocess.run([BIN + "/sbatch", *words], stdin=subprocess.DEVNULL, capture_output=True, text=True,
                              timeout=120, env=env, cwd=cwd or self.home, check=False)

    def script(self, *lines, name="job.sh"):
        (self.home / name).write_text("#!/bin/bash\n" + "".join(line + "\n" for line in lines), encoding="utf-8")
        return name

    def accepted(self, *words, **more):
        done = self.sbatch(*words, **more)
        self.assertEqual(done.returncode, 0, done.stderr)
        record = (self.home / "req").read_text(encoding="utf-8")
        pairs = (item.partition("=") for item in record.split(";")[1:])
        return done, replayed_engine.submitted(self.home), {k: urllib.parse.unquote(v) for k, _, v in pairs}

    def refused(self, *words, code, **more):
        done = self.sbatch(*words, **more)
        self.assertEqual((done.returncode, done.stdout), (code, ""), done.stderr)
        self.assertIsNone(replayed_engine.submitted(self.home))
        return done.stderr

    @staticmethod
    def after(argv, option):
        return argv[argv.index(option) + 1] if option in argv else None

    def test_r01_a_directive_behind_a_command_is_a_comment(self):
        job = self.script("set -e", "#SBATCH --ntasks=3", "hostname")
        done, argv, record = self.accepted(job)
        self.assertEqual(argv[argv.index("-pe") + 2], "1")
        self.assertNotIn("ntasks", record)
        self.assertIn("job.sh", done.stderr)
        self.assertIn("line 3", done.stderr)

    def test_r02_text_behind_a_directive(self):
        job = self.script("#SBATCH -N 1  # number of nodes", "#SBATCH --ntasks=3 # tasks, --mem=77", "true")
        _, argv, record = self.accepted(job)
        self.assertEqual((record["nodes"], record["ntasks"]), ("1", "3"))
        self.assertIsNone(self.after(argv, "-l"))
        self.assertEqual(pathlib.Path(argv[-1]).name, "job.sh")
        told = self.refused(self.script("#SBATCH --job-name=abc   (sets the name)", "true"), code=255)
        self.assertIn("(sets", told)

    def test_r03_quoted_values_stay_whole(self):
        work = self.home / "my work"
        work.mkdir()
        job = self.script(f'#SBATCH -D "{work}"', f'#SBATCH -o "{work}/out %j.log"', '#SBATCH --job-name="a b"', "true")
        _, argv, record = self.accepted(job)
        self.assertEqual(self.after(argv, "-wd"), str(work))
        self.assertEqual((record["out"], record["name"]), (f"{work}/out %j.log", "a b"))

    def test_r07_stdout_is_the_id_alone(self):
        done, _, _ = self.accepted("--contiguous", "--exclusive", "--wrap", "true")
        self.assertEqual(done.stdout, "Submitted batch job 4711\n")
        self.assertIn("warning", done.stderr)
        done, _, _ = self.accepted("--parsable", "--contiguous", "--wrap", "true")
        self.assertEqual(done.stdout, "4711\n")

    def test_r08_the_id_of_an_array(self):
        tool = self.root / "tools/qsub"
        plain = tool.read_text(encoding="ascii")
        for said in ("123.1-4:1", "123", "123.5-5:1"):
            tool.write_text(plain.replace("echo 4711", "echo " + said), encoding="ascii")
            done, _, _ = self.accepted("-a", "1-4", "--wrap", "true")
            self.assertEqual(done.stdout, "Submitted batch job 123\n")

    def test_r12_the_last_directive_and_the_command_line_win(self):
        job = self.script("#SBATCH --nodes=1 --job-name=a --ntasks=3", "#SBATCH --ntasks=2", "true")
        _, argv, record = self.accepted("--job-name=cli", job)
        self.assertEqual((self.after(argv, "-N"), record["name"], record["ntasks"]), ("cli", "cli", "2"))

    def test_r14_arguments_of_the_script(self):
        done, argv, _ = self.accepted("--parsable", self.script("true"), "a b", "c")
        self.assertEqual((done.stdout, argv[-2:]), ("4711\n", ["a b", "c"]))

    def test_r15_values_that_stand_apart(self):
        job = self.script("#SBATCH -A proj1", "#SBATCH --qos high", "#SBATCH --mail-type END", "#SBATCH -x ocs-worker1",
                          "#SBATCH --exclusive", "true")
        _, argv, record = self.accepted(job)
        self.assertEqual(pathlib.Path(argv[-1]).name, "job.sh")
        self.assertEqual((self.after(argv, "-A"), record["qos"], self.after(argv, "-m")), ("proj1", "high", "e"))
        self.assertEqual((self.after(argv, "-l"), record["excl"]), ("h=!(ocs-worker1)", "1"))

    def test_r16_old_and_short_spellings(self):
        _, argv, _ = self.accepted(self.script("#SBATCH --tasks-per-node=2", "#SBATCH --cpus-per-t=2", "true"))
        self.assertEqual(argv[argv.index("-pe") + 2], "4")
        self.assertIn("ambiguous", self.refused(self.script("#SBATCH --nod=1", "true"), code=255))
        # As in Slurm today, which lost this spelling.
        self.assertIn("--workdir", self.sbatch("--workdir=/tmp", "--wrap", "true").stderr)

    def test_r19_times(self):
        for text, seconds in (("90", 5400), ("0:30", 60), ("1:2:3", 3780), ("1-25", 176400), ("2-", 172800),
                              ("1-0:0", 86400), ("0", None), ("-1", None), ("UNLIMITED", None)):
            _, argv, _ = self.accepted("--time=" + text, "--wrap", "true")
            self.assertEqual(self.after(argv, "-l"), f"h_rt={seconds}" if seconds else None, text)
        for text in ("1:2:3:4", "abc"):
            self.assertIn("Invalid --time specification", self.refused("--time=" + text, "--wrap", "true", code=255))
        done = self.sbatch("--time=99999999999", "--wrap", "true")
        limit = self.after(replayed_engine.submitted(self.home) or ["-l", "h_rt=0"], "-l")
        if done.returncode == 0 and limit:
            self.assertGreater(int(limit.partition("=")[2]), 10 ** 9, "it wrapped to a small value")

    def test_r21_signals(self):
        for text, kept in (("B:USR1@60", "USR1@60B"), ("USR1@60", "USR1@60"), ("SIGUSR1@60", "USR1@60"),
                           ("10@60", "USR1@60"), ("B:SIGUSR1", "USR1@60B")):
            _, argv, record = self.accepted("--signal=" + text, "-t", "5", "--wrap", "true")
            self.assertEqual(record["sig"], kept)
            self.assertNotIn("-notify", argv)  # R23: the engine has no signals of its own
        self.assertIn("Invalid --signal specification", self.refused("--signal=FOO@10", "--wrap", "true", code=255))

    def test_r30_contradicting_counts(self):
        done, argv, record = self.accepted("-n1", "-N1", "--ntasks-per-node=2", "--wrap", "true")
        self.assertEqual((record["ntasks"], argv[argv.index("-pe") + 2]), ("1", "1"))
        self.assertIn("--ntasks-per-node", done.stderr)

    def test_r31_default_counts(self):
        for words, tasks, nodes, slots in ((["-N2", "--ntasks-per-node=4"], "4", "2", "8"), (["-N3"], "1", "3", "3"),
                                           (["--ntasks=4"], None, None, "4"), ([], "1", "1", "1")):
            _, argv, record = self.accepted(*words, "--wrap", "true")
            self.assertEqual((record.get("tpn"), record.get("nodes"), argv[argv.index("-pe") + 2]), (tasks, nodes, slots))

    def test_r54_defaults_of_the_site(self):
        (self.home / ".sge_request").write_text("-cwd -j y -o /tmp -N other -r y -l h_rt=60\n", encoding="ascii")
        _, argv, record = self.accepted("-J", "mine", "-e", "err", "-o", "out", "-t", "5", "--no-requeue", "--wrap", "true")
        self.assertEqual([self.after(argv, o) for o in ("-N", "-l", "-r", "-wd")], ["mine", "h_rt=300", "n", str(self.home)])
        self.assertEqual((record["out"], record["err"]), ("out", "err"))
        self.assertIn("/submit/", self.after(argv, "-o"))

    def test_r56_names_that_the_engine_refuses(self):
        for name in ("99_snap", "a/b", "x:y@z", "w*?", "a b", "$FOO", "n" * 300, "J\u00e4n"):
            _, argv, record = self.accepted("-J", name, "--wrap", "true")
            self.assertEqual(record["name"], name)
            given = self.after(argv, "-N")
            self.assertRegex(given, r"^[^0-9/:@\\*? \n][^/:@\\*? \n]*$")
            # Names that the engine shows alike are told apart by what squeue and sacct read.
            kept = (self.after(argv, "-ac") or "SLURM_NAME=" + given).partition("=")[2]
            self.assertEqual(urllib.parse.unquote(kept), name)
        _, argv, record = self.accepted("-J", "", "--wrap", "true")
        self.assertTrue(self.after(argv, "-N"))

    def test_r60_foreign_locales(self):
        done, _, _ = self.accepted("--wrap", "true", LC_ALL="de_DE.UTF-8", LANGUAGE="de", LANG="de_DE.UTF-8")
        self.assertEqual(done.stdout, "Submitted batch job 4711\n")
        env = next((self.home / ".local/state/slurm-shim/default/submit").glob("*.env")).read_bytes().split(b"\0")
        self.assertIn(b"LC_ALL=de_DE.UTF-8", env)

    def test_r77_r79_environments(self):
        large = "x" * 130000
        self.accepted("--wrap", "true", ML="a\nb", E="x,y=z", Q="a'b\"c\\", LARGE=large, **{"BASH_FUNC_f%%": "() { echo hi; }"})
        files = (self.home / ".local/state/slurm-shim/default/submit").glob("*.env")
        env = max(files, key=lambda path: path.stat().st_mtime_ns).read_bytes().split(b"\0")
        for entry in (b"ML=a\nb", b"E=x,y=z", b"Q=a'b\"c\\", b"LARGE=" + large.encode(), b"BASH_FUNC_f%%=() { echo hi; }"):
            self.assertIn(entry, env)
        many = {f"V{i}": "y" * 100000 for i in range(15)}
        done = self.sbatch("--wrap", "true", **many)
        self.assertIn(done.returncode, (0, 1))
        self.assertTrue(done.returncode == 0 or "nvironment" in done.stderr, done.stderr)

    def test_r83_paths_with_marks_of_the_shell(self):
        folder = self.home / "t&st dir"
        folder.mkdir()
        done, argv, _ = self.accepted("--wrap", 'echo "a & b"', cwd=folder)
        self.assertEqual((done.stderr, self.after(argv, "-wd")), ("", str(folder)))
        (folder / "j&b.sh").write_text("#!/bin/sh\ntrue\n", encoding="ascii")
        _, argv, _ = self.accepted("j&b.sh", "x & y", cwd=folder)
        self.assertEqual(argv[-2:], [str(folder / "j&b.sh"), "x & y"])
        self.assertEqual([path.name for path in folder.iterdir()], ["j&b.sh"])


if __name__ == "__main__":
    unittest.main()
