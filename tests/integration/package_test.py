#!/usr/bin/env python3
"""The packages that scripts/dist makes of a build: the same bytes each time, what is in them, what is refused.

usage: package_test.py BIN_DIR
"""
import hashlib
import os
import re
import subprocess
import sys
import tarfile
import tempfile
import unittest

REPO = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
BIN = os.path.abspath(sys.argv.pop(1))
BUILD = os.path.dirname(BIN)
EPOCH = 1700000000


def run(words, **options):
    return subprocess.run(words, capture_output=True, text=True, timeout=300, check=False, **options)


def dist(output, *words, umask="022", **env):
    return run(["bash", "-c", 'umask "$1"; shift; exec "$@"', "-", umask, os.path.join(REPO, "scripts/dist"), "--output",
                output, *(words or [BUILD])], env={**os.environ, "SOURCE_DATE_EPOCH": str(EPOCH), **env}, cwd="/")


def hashes(folder):
    found = {}
    for name in sorted(os.listdir(folder)):
        with open(os.path.join(folder, name), "rb") as file:
            found[name] = hashlib.sha256(file.read()).hexdigest()
    return found


class Packages(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.keep = tempfile.TemporaryDirectory()
        cls.folder = cls.keep.name
        done = dist(cls.folder)
        assert done.returncode == 0, done.stderr
        cls.printed = done.stdout

    @classmethod
    def tearDownClass(cls):
        cls.keep.cleanup()

    def one(self, ending):
        name, = (name for name in os.listdir(self.folder) if name.endswith(ending))
        return os.path.join(self.folder, name)

    def unpacked(self, target):
        with tarfile.open(self.one(".tar.gz")) as archive:
            archive.extractall(target)
        root, = os.listdir(target)
        return os.path.join(target, root)

    def test_a_second_run_in_other_circumstances_gives_the_same_bytes(self):
        with tempfile.TemporaryDirectory() as other, tempfile.TemporaryDirectory() as home:
            done = dist(other, umask="077", TZ="Asia/Tokyo", LC_ALL="C.UTF-8", TMPDIR=home, HOME=home)
            self.assertEqual(done.returncode, 0, done.stderr)
            self.assertEqual(hashes(other), hashes(self.folder))
            self.assertEqual(os.listdir(home), [])

    def test_another_time_gives_other_bytes(self):
        with tempfile.TemporaryDirectory() as other:
            self.assertEqual(dist(other, SOURCE_DATE_EPOCH=str(EPOCH + 1)).returncode, 0)
            changed = [name for name, text in hashes(other).items() if text != hashes(self.folder)[name]]
            self.assertEqual(sorted(changed), sorted(os.listdir(other)))

    def test_all_three_kinds_are_there_and_summed_up(self):
        with open(self.one("SHA256SUMS"), encoding="utf-8") as file:
            sums = file.read()
        self.assertEqual(sums, self.printed)
        listed = dict(reversed(line.split("  ")) for line in sums.splitlines())
        found = hashes(self.folder)
        del found["SHA256SUMS"]
        self.assertEqual(listed, found)
        self.assertEqual(sorted(re.search(r"\.[a-z]+(\.gz)?$", name)[0] for name in found),
                         [".deb", ".rpm", ".tar.gz"])

    def test_the_archive_holds_what_a_site_needs(self):
        with tarfile.open(self.one(".tar.gz")) as archive:
            members = archive.getmembers()
        top = members[0].name.split("/")[0]
        self.assertRegex(top, r"\Aslurm-shim-\d+\.\d+\.\d+-linux-\w+\Z")
        names = {member.name.removeprefix(top).lstrip("/"): member for member in members}
        links = run([os.path.join(BIN, "slurm-shim"), "links"]).stdout.split()
        for link in links:
            self.assertEqual(names["bin/" + link].linkname, "slurm-shim")
        for name in ("bin/slurm-shim", "libexec/starter_method.sh"):
            self.assertEqual(names[name].mode, 0o755, name)
        for name in ("share/man/man1/sbatch.1", "share/man/man8/slurm-shim.8", "share/man/man8/slurm-shim-install.8",
                     "share/bash-completion/completions/slurm-shim", "share/zsh/vendor-completions/_slurm_shim",
                     "share/fish/vendor_completions.d/srun.fish", "share/doc/slurm-shim/examples/config.yaml",
                     "share/doc/slurm-shim/CHANGELOG.md", "share/doc/slurm-shim/LICENSE"):
            self.assertEqual(names[name].mode, 0o644, name)
        for member in members:
            self.assertEqual((member.uid, member.gid, member.mtime), (0, 0, EPOCH), member.name)
            self.assertTrue(member.issym() or not member.mode & 0o6022, f"{member.name}: {member.mode:o}")

    def test_the_binary_says_nothing_about_where_it_was_built(self):
        with tempfile.TemporaryDirectory() as target:
            with open(os.path.join(self.unpacked(target), "bin/slurm-shim"), "rb") as file:
                binary = file.read()
        for text in (REPO, BUILD, "../src", "src/base", "starter_text.cpp"):
            self.assertNotIn(text.encode(), binary)
        with open(os.path.join(BIN, "slurm-shim"), "rb") as file:
            self.assertIn(b"starter_text.cpp", file.read())  # the check sees such a thing where it is

    def test_it_works_from_wherever_it_is_unpacked(self):
        with tempfile.TemporaryDirectory() as target:
            root = self.unpacked(target)
            env = {"PATH": f"{root}/bin:/usr/bin:/bin", "HOME": target}
            done = run(["srun", "-n", "2", "-l", "echo", "here"], env=env, cwd=target)
            self.assertEqual((done.returncode, sorted(done.stdout.splitlines())), (0, ["0: here", "1: here"]), done.stderr)
            # Found beside a folder of PATH, without MANPATH.
            done = run(["man", "-w", "sbatch"], env=env)
            self.assertEqual(done.stdout, f"{root}/share/man/man1/sbatch.1\n")
            os.mkdir(f"{root}/etc")
            with open(f"{root}/etc/config.yaml", "w", encoding="utf-8") as file:
                file.write("compat_version: '1.2.3'\n")
            self.assertEqual(run(["sinfo", "--version"], env=env).stdout, "slurm 1.2.3\n")

    def test_the_sample_configuration_is_one_without_a_warning(self):
        with tempfile.TemporaryDirectory() as target:
            sample = f"{self.unpacked(target)}/share/doc/slurm-shim/examples/config.yaml"
            env = {"PATH": "/usr/bin:/bin", "HOME": target, "SLURM_SHIM_CONFIG": sample}
            done = run([os.path.join(BIN, "scontrol"), "show", "hostnames", "n[1-2]"], env=env)
            self.assertEqual((done.returncode, done.stdout, done.stderr), (0, "n1\nn2\n", ""))
            done = run([os.path.join(BIN, "srun"), "-n1", "echo", "fine"], env=env)
            self.assertEqual((done.returncode, done.stdout, done.stderr), (0, "fine\n", ""))
            with open(sample, "a", encoding="utf-8") as file:
                file.write("strict_flag: true\n")
            done = run([os.path.join(BIN, "srun"), "-n1", "echo", "fine"], env=env)
            self.assertIn("strict_flag", done.stderr)

    def test_deb_and_rpm_stay_out_of_slurms_way(self):
        deb = [line.split()[5].removeprefix("./") for line in
               run(["dpkg-deb", "-c", self.one(".deb")]).stdout.splitlines()]
        rpm = [line.lstrip("/") for line in run(["rpm", "-qlp", self.one(".rpm")]).stdout.splitlines()]
        for files in (deb, rpm):
            self.assertGreater(len(files), 60)
            for name in filter(None, files):
                self.assertTrue(name.startswith("usr/"), name)
                outside = not name.startswith("usr/lib/slurm-shim") and not name.endswith("/")
                if outside:
                    self.assertIn("slurm-shim", os.path.basename(name) if "/doc/" not in name else name, name)
            for wanted in ("usr/bin/slurm-shim", "usr/lib/slurm-shim/bin/sbatch",
                           "usr/lib/slurm-shim/share/man/man1/sbatch.1", "usr/share/man/man8/slurm-shim-install.8.gz",
                           "usr/share/bash-completion/completions/slurm-shim"):
                self.assertIn(wanted, files)
        version = run([os.path.join(BIN, "slurm-shim"), "--version"]).stdout.split()[1]
        fields = run(["dpkg-deb", "-f", self.one(".deb"), "Package", "Version", "Depends"]).stdout
        self.assertEqual(fields, f"Package: slurm-shim\nVersion: {version}\nDepends: bash\n")
        self.assertEqual(run(["rpm", "-qp", "--qf", "%{NAME} %{VERSION}", self.one(".rpm")]).stdout,
                         f"slurm-shim {version}")


class Refusals(unittest.TestCase):
    def test_what_cannot_be_packed(self):
        with tempfile.TemporaryDirectory() as other:
            target = os.path.join(other, "out")
            for words, env, text in ((["/nonexistent"], {}, "no /nonexistent/bin/slurm-shim: run make first"),
                                     ([BUILD, "x"], {}, "usage: scripts/dist"),
                                     ([], {"SOURCE_DATE_EPOCH": "today"}, 'SOURCE_DATE_EPOCH: "today" is no number')):
                done = dist(target, *words, **env)
                self.assertEqual((done.returncode, done.stdout), (1, ""))
                self.assertIn("dist: error: " + text, done.stderr)
                self.assertFalse(os.path.exists(target))


if __name__ == "__main__":
    unittest.main()
