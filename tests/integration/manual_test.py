#!/usr/bin/env python3
"""What the build makes of the option tables: man pages, completion, docs/compatibility.md.

usage: manual_test.py BIN_DIR
"""
import os
import pty
import re
import select
import shlex
import shutil
import subprocess
import sys
import tempfile
import unittest

REPO = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
sys.path.insert(0, os.path.join(REPO, "tests", "conformance"))
import query_world  # noqa: E402
import sinfo_vectors  # noqa: E402

BIN = os.path.abspath(sys.argv.pop(1))
SHARE = os.path.join(os.path.dirname(BIN), "share")
BASH = os.path.join(SHARE, "bash-completion/completions/slurm-shim")


def run(words, **options):
    return subprocess.run(words, capture_output=True, text=True, timeout=60, check=False, **options)


def commands():
    """Names of slurm-shim's commands and their links, as the binary lists them."""
    listed = re.findall(r"(?m)^  (\S+) ", run([os.path.join(BIN, "slurm-shim"), "--help"]).stdout)
    links = run([os.path.join(BIN, "slurm-shim"), "links"]).stdout.split()
    return listed, links


def pages():
    return sorted(os.path.join(folder, name) for folder, _, names in os.walk(os.path.join(SHARE, "man"))
                  for name in names)


class Pages(unittest.TestCase):
    def test_every_command_has_one(self):
        listed, links = commands()
        self.assertGreater(len(listed), 15)
        wanted = {"slurm-shim.8"}
        for name in listed:
            if name in links:
                wanted.add(name + ".1")
            else:
                wanted.add("slurm-shim-" + name + ".8")
        self.assertEqual(wanted, {os.path.basename(page) for page in pages()})

    def test_none_makes_groff_or_mandoc_complain(self):
        for page in pages():
            done = run(["man", "--warnings", "-E", "UTF-8", "-l", "-Tutf8", "-Z", page], env={**os.environ, "LC_ALL": "C.UTF-8"})
            self.assertEqual((done.returncode, done.stderr), (0, ""), page)
            done = run(["mandoc", "-T", "lint", "-W", "error", page])
            self.assertEqual((done.returncode, done.stdout), (0, ""), page)

    def test_a_broken_page_would_be_seen(self):
        with tempfile.NamedTemporaryFile("w", suffix=".1") as page:
            page.write(".TH X 1\n.SH NAME\nx \\- y\n.NOSUCH macro\n")
            page.flush()
            done = run(["man", "--warnings", "-l", "-Tutf8", "-Z", page.name])
            self.assertIn("NOSUCH", done.stderr)

    def test_they_show_each_option_of_the_help_text(self):
        for page in pages():
            name = re.sub(r"\.\d$", "", os.path.basename(page))
            if name == "slurm-shim":
                continue
            words = [os.path.join(BIN, name)] if name in commands()[1] else [
                os.path.join(BIN, "slurm-shim"), name.removeprefix("slurm-shim-")]
            help_text = run(words + ["--help"]).stdout
            shown = run(["mandoc", "-T", "utf8", page]).stdout
            shown = re.sub(".\b", "", shown).replace("\u2212", "-").replace("\u2010", "-")
            for option in re.findall(r"(?m)^  +(?:-\w, ?)?(--[\w-]+)", help_text):
                self.assertIn(option, shown, page)


class Compatibility(unittest.TestCase):
    def test_the_page_in_the_tree_is_what_the_tables_say(self):
        with open(os.path.join(SHARE, "compatibility.md"), encoding="utf-8") as made, \
                open(os.path.join(REPO, "docs/compatibility.md"), encoding="utf-8") as kept:
            self.assertTrue(made.read() == kept.read(), "docs/compatibility.md is stale: run make docs")


class BashCompletion(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = tempfile.mkdtemp()
        cls.world = query_world.World(cls.folder)
        sinfo_vectors.build(cls.world)
        cls.world.row(query_world.Job(4711, "train"), "r", start=-5)
        cls.world.row(query_world.Job(4712, "next"), "qw", pending=True)
        cls.world.write()
        with open(os.path.join(cls.folder, "job.sh"), "w", encoding="utf-8") as file:
            file.write("#!/bin/bash\n")

    @classmethod
    def tearDownClass(cls):
        shutil.rmtree(cls.folder)

    def complete(self, line, breaks=None):
        """What bash is told for a line that ends at the cursor, cut into words as readline does."""
        script = f"source {shlex.quote(BASH)}\n"
        if breaks is not None:
            script += f"COMP_WORDBREAKS={shlex.quote(breaks)}\n"
        pieces = []
        for word in line.split(" "):
            pieces += [p for p in re.split("([=:])", word) if p] or [""] if breaks is None else [word]
        # readline's word is empty behind a "=", and bash passes the "=" itself.
        script += "COMP_WORDS=(" + " ".join(map(shlex.quote, pieces)) + ")\n"
        script += f"COMP_CWORD={len(pieces) - 1}\n"
        script += ('spec=$(complete -p -- "${COMP_WORDS[0]}") || exit 9\n'
                   'function=${spec#*-F }; function=${function%% *}\n'
                   '"$function" "${COMP_WORDS[0]}" "${COMP_WORDS[COMP_CWORD]}" "${COMP_WORDS[COMP_CWORD-1]}"\n'
                   'printf "%s\\n" "${COMPREPLY[@]}"\n')
        done = run(["bash", "--norc", "-c", script], env=self.world.environment(BIN), cwd=self.folder)
        self.assertEqual((done.returncode, done.stderr), (0, ""), line)
        return [word for word in done.stdout.split("\n") if word]

    def test_options(self):
        self.assertEqual(self.complete("sbatch --part"), ["--partition="])
        self.assertEqual(self.complete("sbatch --parsa"), ["--parsable"])
        self.assertIn("--me", self.complete("squeue --"))
        self.assertEqual(self.complete("srun -n 4 -l --kill-on"), ["--kill-on-bad-exit"])
        self.assertEqual(self.complete("sbatch --no-such"), [])
        # Other spellings complete nothing, but are taken.
        self.assertEqual(self.complete("sbatch --tasks-per-n"), [])

    def test_values_that_the_table_knows(self):
        self.assertEqual(self.complete("sbatch --open-mode="), ["append", "truncate"])
        self.assertEqual(self.complete("sbatch --open-mode=t"), ["truncate"])
        self.assertEqual(self.complete("sbatch --open-mode t"), ["truncate"])
        self.assertEqual(self.complete("sbatch --open-mode=t", breaks=" "), ["--open-mode=truncate"])
        self.assertEqual(self.complete("squeue -t PEND"), ["PENDING"])
        self.assertEqual(self.complete("squeue -tPEND"), ["-tPENDING"])
        self.assertEqual(self.complete("squeue --states=RUNNING,PEND"), ["RUNNING,PENDING"])
        self.assertEqual(self.complete("scancel -s US"), ["USR1", "USR2"])
        self.assertEqual(self.complete("sinfo -t idl"), ["idle"])
        self.assertEqual(self.complete("sacct --format=JobI"), ["JobID", "JobIDRaw"])
        self.assertEqual(self.complete("sbatch --time="), [])

    def test_values_that_the_cluster_knows(self):
        self.assertEqual(self.complete("sbatch --partition="), ["batch", "gpu", "debug", "spare"])
        self.assertEqual(self.complete("sbatch -p g"), ["gpu"])
        self.assertEqual(self.complete("sbatch -hp g"), ["gpu"])
        self.assertEqual(self.complete("sbatch --partition=batch,d"), ["batch,debug"])
        self.assertEqual(self.complete("srun -w node00"), [f"node00{n}" for n in range(1, 7)])
        self.assertEqual(sorted(self.complete("scancel 47")), ["4711", "4712"])
        self.assertEqual(self.complete("scontrol hold 4712"), ["4712"])

    def test_words_behind_options(self):
        self.assertEqual(self.complete("scontrol sh"), ["show"])
        self.assertEqual(self.complete("scontrol show host"), ["hostnames", "hostlist", "hostlistsorted"])
        self.assertEqual(self.complete("scontrol show partition sp"), ["spare"])
        self.assertEqual(self.complete("slurm-shim inst"), ["install"])
        self.assertEqual(self.complete("slurm-shim install --pe-f"), ["--pe-family="])
        self.assertEqual(self.complete("slurm-shim sbatch --parsa"), ["--parsable"])
        self.assertEqual(self.complete("sbatch jo"), ["job.sh"])
        self.assertIn("hostname", self.complete("srun -n 2 hostna"))

    def test_what_follows_a_program_is_its_own(self):
        self.assertEqual(self.complete("srun -n 2 hostname --partition="), [])
        self.assertEqual(self.complete("sbatch job.sh --open-m"), [])
        self.assertEqual(self.complete("srun -- --parti"), [])

    def test_with_the_keys_of_a_terminal(self):
        """readline's own idea of words: Tab in an interactive shell, then what the command was given."""
        main, side = pty.openpty()
        with subprocess.Popen(["bash", "--norc", "--noprofile", "-i"], stdin=side, stdout=side, stderr=side, cwd=self.folder,
                              env={**self.world.environment(BIN), "TERM": "dumb"}, start_new_session=True) as shell:
            os.close(side)
            seen = ""

            def expect(text):
                nonlocal seen
                while text not in seen:
                    ready, _, _ = select.select([main], [], [], 30)
                    self.assertTrue(ready, f"{text!r} did not come: {seen!r}")
                    seen += os.read(main, 65536).decode()
                seen = seen.split(text, 1)[1]

            def keys(text):
                os.write(main, text.encode())

            keys(f"source {shlex.quote(BASH)}; sbatch() {{ printf 'got<%s>' \"$*\"; }}; echo $((40 + 2)) ready\n")
            expect("42 ready")
            for typed, given in (("--parsab\t", "--parsable"), ("--open-mode=tr\t", "--open-mode=truncate"),
                                 ("--part\tgp\t", "--partition=gpu"), ("-p batch,d\t", "-p batch,debug"),
                                 ("jo\t", "job.sh")):
                keys(f"sbatch {typed}\n")
                expect(f"got<{given}>")
            keys("exit\n")
            shell.wait(30)
        os.close(main)

    def test_every_command_is_found_by_its_own_file(self):
        folder = os.path.dirname(BASH)
        for name in commands()[1]:
            if name != "slurm-shim-stepper":
                self.assertEqual(os.readlink(os.path.join(folder, name)), "slurm-shim")


class OtherShells(unittest.TestCase):
    def test_fish(self):
        with tempfile.TemporaryDirectory() as home:
            env = {"PATH": f"{BIN}:/usr/bin:/bin", "HOME": home, "XDG_DATA_DIRS": SHARE, "LC_ALL": "C.UTF-8"}
            def complete(line):
                done = run(["fish", "--no-config", "-c",
                            f"source {SHARE}/fish/vendor_completions.d/{line.split()[0]}.fish; "
                            f"complete -C {shlex.quote(line)}"], env=env)
                self.assertEqual((done.returncode, done.stderr), (0, ""), line)
                return [row.split("\t") for row in done.stdout.splitlines()]
            self.assertEqual(complete("sbatch --parsab")[0][0], "--parsable")
            self.assertEqual([row[0] for row in complete("sbatch --open-mode=t")], ["--open-mode=truncate"])
            for name in os.listdir(os.path.join(SHARE, "fish/vendor_completions.d")):
                path = os.path.join(SHARE, "fish/vendor_completions.d", name)
                done = run(["fish", "--no-config", "-c", f"source {path}"], env=env)
                self.assertEqual((done.returncode, done.stderr), (0, ""), name)

    def test_zsh(self):
        """A shell in a terminal of zsh's own, with Tab pressed."""
        script = r"""
zmodload zsh/zpty
zpty shell zsh -f -i
expect() { local all='' part; while zpty -r shell part "*$1*" 2>/dev/null; do all+=$part; [[ $all == *$1* ]] && return 0; done; print -r -- "$all"; return 1 }
zpty -w shell "PS1='rea''dy> '; fpath=($SHARE/zsh/vendor-completions \$fpath); autoload -U compinit; compinit -u -D; unsetopt beep; setopt no_list_beep"
expect 'ready> ' || exit 1
zpty -w -n shell $'sbatch --parsab\t'
expect '--parsable' || exit 2
zpty -w -n shell $'\C-usbatch --open-mode=trun\t'
expect '--open-mode=truncate' || exit 3
zpty -d shell
"""
        with tempfile.TemporaryDirectory() as home:
            env = {"PATH": f"{BIN}:/usr/bin:/bin", "HOME": home, "SHARE": SHARE, "TERM": "xterm", "LC_ALL": "C.UTF-8"}
            done = run(["zsh", "-f", "-c", script], env=env)
            self.assertEqual((done.returncode, done.stderr), (0, ""), done.stdout)


if __name__ == "__main__":
    unittest.main()
