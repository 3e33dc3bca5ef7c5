#!/usr/bin/env python3
"""Every public job script of tests/corpus against sbatch and explain, with stand-ins for Grid Engine's tools.

usage: corpus_test.py BIN_DIR

What a script asks for is read here a second time, by a small reader of its own, and compared with what qsub got: name,
partition, time, slots, memory, GPUs, account, mail, output. A script is submitted, or refused in words of Slurm for a
reason that is known here. Nothing is dropped silently: explain tells a fate for each directive, and what was not
translated is warned of.
"""
import collections
import concurrent.futures
import datetime
import json
import os
import pathlib
import re
import subprocess
import sys
import tempfile
import unittest
import urllib.parse

import replayed_engine

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "support"))
import pace  # noqa: E402

BIN = os.path.abspath(sys.argv.pop(1))
CORPUS = pathlib.Path(__file__).resolve().parent.parent / "corpus" / "scripts.jsonl"

HELP = """OCS 9.1.5
   [-N name]                                specify job name
   [-par allocation_rule]                   overwrite the allocation rule
"""
COMPLEXES = """#name shortcut type relop requestable consumable default urgency
gpu gpu INT <= YES HOST 0 0
h_rt h_rt TIME <= YES NO 0:0:0 0
h_vmem h_vmem MEMORY <= YES YES 0 0
"""
# Options with a value, and their letters, as far as the corpus has them.
VALUED = {"A": "account", "C": "constraint", "D": "chdir", "G": "gpus", "J": "job-name", "N": "nodes", "a": "array",
          "c": "cpus-per-task", "d": "dependency", "e": "error", "m": "distribution", "n": "ntasks", "o": "output",
          "p": "partition", "q": "qos", "t": "time", "w": "nodelist", "x": "exclude", "L": "licenses", "M": "clusters",
          "b": "begin", "i": "input", "F": "nodefile", "B": "extra-node-info", "S": "core-spec"}
FLAGS = {"exclusive", "overcommit", "requeue", "no-requeue", "parsable", "hold", "contiguous", "verbose", "wait",
         "spread-job", "use-min-nodes", "reboot", "nice", "get-user-env", "no-kill", "propagate"}
# --tasks is an abbreviation of --tasks-per-node, as getopt_long sees it.
ALIASES = {"tasks-per-node": "ntasks-per-node", "tasks": "ntasks-per-node", "license": "licenses", "out": "output",
           "err": "error"}

# Reasons for which a script of the corpus is refused, in Slurm's words, and how often.
REFUSALS = {
    "This does not look like a batch script": "no interpreter line",
    "Invalid directive found in batch script": "a stray word",
    "Requested reservation is invalid": "a reservation that does not exist",
    "Invalid generic resource \\(gres\\) specification": "a gres that is not configured",
    "Invalid license specification": "a licence that is not configured",
    "unrecognized option|ambiguous|doesn't allow an argument|requires an argument": "an option that Slurm does not have",
    "unrecognized --hint argument|Invalid numeric value|Invalid --|is not a valid node count|Invalid job array": "a value that Slurm refuses",
    "Requested time limit is invalid": "a limit",
    "Requested node configuration is not available": "a geometry that cannot be had",
    "Invalid node name specified": "a host that does not exist",
    "Batch script contains DOS line breaks": "DOS line ends",
    "Unmatched": "an unmatched quote",
}


def words_of(line):
    """The words of one directive line: quotes, backslashes, a comment at the beginning of a word."""
    out, word, quote, at = [], None, "", 0
    while at < len(line):
        c = line[at]
        if quote:
            if c == quote:
                quote = ""
            else:
                word += c
        elif c in "'\"":
            quote, word = c, word or ""
        elif c == "\\" and at + 1 < len(line):
            at += 1
            word = (word or "") + line[at]
        elif c in " \t":
            if word is not None:
                out.append(word)
            word = None
        elif c == "#" and word is None:
            return out
        else:
            word = (word or "") + c
        at += 1
    return out + ([word] if word is not None else [])


def options_of(script):
    """Long name -> value of the directives that count, or nothing when a word is not understood here."""
    late = set(script["late"])
    words = [w for i, line in enumerate(script["directives"]) if i not in late and line.startswith("#SBATCH")
             for w in words_of(line[len("#SBATCH"):])]
    found, at = {}, 0
    while at < len(words):
        word = words[at]
        at += 1
        if word.startswith("--"):
            name, equals, value = word[2:].partition("=")
            name = ALIASES.get(name, name)
            if not equals and name not in FLAGS:
                if at == len(words):
                    return None
                value = words[at]
                at += 1
            found[name] = value
        elif word.startswith("-") and word[1:2] in VALUED:
            value = word[2:]
            if not value:
                if at == len(words):
                    return None
                value = words[at]
                at += 1
            found[VALUED[word[1]]] = value
        elif word in ("-H", "-O", "-W", "-v", "-k", "-s", "-Q"):
            found[word] = ""
        else:
            return None
    return found


def seconds(text):
    """Slurm's forms of a time limit, rounded up to minutes; None: no limit or not understood."""
    match = re.fullmatch(r"(?:(\d+)-)?(\d+)(?::(\d+))?(?::(\d+))?", text)
    if not match:
        return None
    days, a, b, c = match.groups()
    if days is not None:
        total = int(days) * 86400 + int(a) * 3600 + int(b or 0) * 60 + int(c or 0)
    elif c is not None:
        total = int(a) * 3600 + int(b) * 60 + int(c)
    else:
        total = int(a) * 60 + int(b or 0)
    return -(-total // 60) * 60 or None


def mebibytes(text):
    match = re.fullmatch(r"(\d+)([KMGT]?)B?", text, re.I)
    if not match:
        return None
    factor = {"K": 1 / 1024, "": 1, "M": 1, "G": 1024, "T": 1024 * 1024}[match[2].upper()]
    return -(-int(match[1]) * factor // 1)


class Geometry:
    """Nodes, tasks and slots by the rules of the translation; hosts' sizes are not known here."""

    def __init__(self, o):
        number = {k: int(o[k]) for k in ("ntasks", "ntasks-per-node", "cpus-per-task") if k in o}
        self.nodes = int(o["nodes"].split("-")[0]) if "nodes" in o else 0
        per_node, self.cpus = number.get("ntasks-per-node", 0), number.get("cpus-per-task", 1)
        self.tasks = number.get("ntasks", 0)
        if not self.tasks:
            self.nodes = self.nodes or 1
            self.tasks = self.nodes * max(per_node, 1)
        self.nodes = min(self.nodes, self.tasks)
        if per_node and not self.nodes:
            self.nodes = -(-self.tasks // per_node)
        if self.tasks == 1:
            self.nodes = 1
        self.even = not self.nodes or self.tasks % self.nodes == 0
        self.slots = self.tasks * self.cpus
        self.on_host = self.slots // self.nodes if self.nodes else 0


class Corpus(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = tempfile.TemporaryDirectory(prefix="corpus-")
        cls.root = pathlib.Path(cls.folder.name)
        lines = CORPUS.read_text(encoding="utf-8").splitlines()
        cls.scripts = [json.loads(line) for line in lines[::pace.crowd(1, 4)]]
        cls.read = [options_of(script) for script in cls.scripts]
        cls.write_tools()
        with concurrent.futures.ThreadPoolExecutor(4) as pool:
            cls.results = list(pool.map(cls.run_one, range(len(cls.scripts))))

    @classmethod
    def tearDownClass(cls):
        cls.folder.cleanup()

    @classmethod
    def write_tools(cls):
        queues = {name for o in cls.read if o for name in o.get("partition", "").split(",")}
        hosts = {h for o in cls.read if o for k in ("exclude", "nodelist") for h in o.get(k, "").split(",")}
        replayed_engine.make(cls.root / "tools", {
            "-help": HELP, "-sc": COMPLEXES, "-sql": "\n".join(sorted(queues)) + "\n", "-spl": "slurm-shim\n",
            "-sel": "\n".join(sorted(hosts)) + "\n"})

    @classmethod
    def call(cls, folder, *words):
        env = replayed_engine.environment(cls.root / "tools", folder, cls.root / "none.yaml")
        return subprocess.run([BIN + "/" + words[0], *words[1:]], stdin=subprocess.DEVNULL, capture_output=True,
                              text=True, errors="surrogateescape", timeout=300, env=env, cwd=folder, check=False)

    @classmethod
    def run_one(cls, index):
        script = cls.scripts[index]
        folder = cls.root / str(index)
        folder.mkdir()
        late = set(script["late"])
        lines = ["#!/bin/" + script["shebang"]] if script["shebang"] else []
        lines += [d for i, d in enumerate(script["directives"]) if i not in late] + ["true"]
        lines += [d for i, d in enumerate(script["directives"]) if i in late]
        (folder / "job.sh").write_text("\n".join(lines) + "\n", encoding="utf-8")
        done = cls.call(folder, "sbatch", "job.sh")
        told = cls.call(folder, "slurm-shim", "explain", "--json", "sbatch", "job.sh")
        argv = replayed_engine.submitted(folder)
        record = {}
        if argv is not None:
            for item in (folder / "req").read_text(encoding="utf-8").split(";")[1:]:
                key, _, value = item.partition("=")
                record[key] = urllib.parse.unquote(value)
        return {"done": done, "told": told, "argv": argv, "record": record}

    def for_each(self, check, accepted=True):
        for script, o, result in zip(self.scripts, self.read, self.results):
            if not accepted or result["argv"] is not None:
                with self.subTest(script["source"]):
                    check(script, o, result)

    @staticmethod
    def after(argv, option, count=1):
        return argv[argv.index(option) + 1:][:count] if option in argv else None

    def resources(self, result):
        listed = self.after(result["argv"], "-l")
        return dict(item.partition("=")[::2] for item in listed[0].split(",")) if listed else {}

    def test_every_script_is_submitted_or_refused_in_slurms_words(self):
        reasons = collections.Counter()

        def check(script, o, result):
            done = result["done"]
            self.assertIn(done.returncode, (0, 1, 255), done.stderr)
            if done.returncode == 0:
                self.assertEqual(done.stdout, "4711\n" if o and "parsable" in o else "Submitted batch job 4711\n")
                self.assertIsNotNone(result["argv"])
                reasons["submitted"] += 1
                return
            self.assertEqual(done.stdout, "")
            self.assertIsNone(result["argv"], "refused and submitted")
            known = [why for text, why in REFUSALS.items() if re.search(text, done.stderr)]
            self.assertTrue(known, done.stderr)
            reasons[known[0]] += 1
            self.assertEqual(known[0] == "no interpreter line", not script["shebang"])

        self.for_each(check, accepted=False)
        print("\n".join("%4d %s" % (n, why) for why, n in reasons.most_common()), file=sys.stderr)
        self.assertGreater(reasons["submitted"], 0.75 * len(self.scripts))
        self.assertLess(sum(reasons.values()) - reasons["submitted"] - reasons["no interpreter line"], 50)

    def test_explain_tells_the_same_and_a_fate_for_each_option(self):
        fates, warned = collections.Counter(), collections.Counter()

        def check(_, o, result):
            told, done = result["told"], result["done"]
            self.assertEqual(told.returncode, done.returncode, told.stderr)
            answer = json.loads(told.stdout)
            self.assertEqual(answer["accepted"], done.returncode == 0)
            if done.returncode != 0:
                self.assertEqual(answer["error"] + "\n", done.stderr)
                return
            token = re.compile(r"/submit/[0-9a-f]{16}\.")
            words, told_words = ([token.sub("/T.", w) for w in argv]
                                 for argv in (result["argv"], answer["qsub"][1:]))
            if begin := self.after(words, "-a"):  # now+7days, asked twice
                at = words.index("-a") + 1
                between = [datetime.datetime.strptime(w[at], "%Y%m%d%H%M.%S") for w in (words, told_words)]
                self.assertLess(abs(between[1] - between[0]), datetime.timedelta(minutes=2))
                told_words[at] = begin[0]
            self.assertEqual(told_words, words)
            named = {option["name"] for option in answer["options"]}
            for name in (o or {}):
                self.assertTrue(name.startswith("-") or any(n.startswith(name) for n in named), (name, named))
            for option in answer["options"]:
                self.check_fate(option, done.stderr, fates)
            lines = [line for line in done.stderr.splitlines() if line.startswith("sbatch: warning: ")]
            self.assertEqual({"sbatch: warning: " + w for w in answer["warnings"]}, set(lines))
            warned.update(re.sub(r'"[^"]*"|\d+', "X", line)[17:90] for line in lines)

        self.for_each(check, accepted=False)
        print("fates:", dict(fates), file=sys.stderr)
        print("\n".join("%4d %s" % (n, text) for text, n in warned.most_common()), file=sys.stderr)

    def check_fate(self, option, stderr, fates):
        fates[option["fate"] if option["in_force"] else "replaced"] += 1
        if not option["in_force"]:
            return
        self.assertIn(option["fate"], ("translated", "kept", "accepted", "warned", "ignored"))
        if option["fate"] == "translated":
            self.assertTrue(option["becomes"], option)
        if option["fate"] in ("warned", "ignored"):
            self.assertTrue(re.search("^sbatch: warning: .*" + re.escape(option["name"]), stderr, re.M), option)
        if option["fate"] != "ignored":
            self.assertEqual(option["origin"]["kind"], "directive")
            self.assertGreater(option["origin"]["line"], 1)

    def test_names_partitions_times_and_outputs(self):
        self.for_each(lambda _, o, result: o is None or self.check_names(o, result))

    def check_names(self, o, result):
        argv, record = result["argv"], result["record"]
        self.assertEqual(record["name"], o.get("job-name", "job.sh"))
        name = re.sub(r"[/:@\\*? ]", "_", record["name"])
        self.assertIn(self.after(argv, "-N")[0], (name, "_" + name))
        if "partition" in o:
            self.assertEqual(self.after(argv, "-q")[0].partition("@")[0], o["partition"])
        limit = seconds(o["time"]) if "time" in o else None
        self.assertEqual(self.resources(result).get("h_rt"), str(limit) if limit else None)
        self.assertEqual(record["out"], o.get("output", "slurm-%A_%a.out" if "array" in o else "slurm-%j.out"))
        self.assertEqual(record.get("err"), o.get("error"))
        if "account" in o:
            self.assertEqual(self.after(argv, "-A")[0], re.sub(r"[/:@\\*?]", "_", o["account"]))
        if "array" in o:
            self.assertIn("-t", argv)
            self.assertEqual(record["array"].partition("%")[2], o["array"].partition("%")[2])
        if o.get("dependency") == "singleton":
            self.assertEqual(record["dep"], "singleton")
        if "mail-type" in o:
            self.assertIn("-m", argv)
        if "requeue" in o or "no-requeue" in o:
            self.assertEqual(self.after(argv, "-r")[0], "y" if "requeue" in o else "n")

    def test_slots_memory_and_gpus(self):
        self.for_each(lambda _, o, result: o is None or self.check_shape(o, result))

    def check_shape(self, o, result):
        if "cpus-per-gpu" in o or "nodelist" in o:
            return
        g = Geometry(o)
        pe, slots = self.after(result["argv"], "-pe", 2)
        self.assertEqual(pe, "slurm-shim")
        gpus = {k: o[k] for k in ("gres", "gpus-per-node", "gpus", "gpus-per-task") if k in o}
        if not g.nodes and gpus or not g.even:
            return
        self.assertEqual(int(slots), g.slots)
        rule = self.after(result["argv"], "-par")[0]
        self.assertEqual(rule, "$fill_up" if not g.nodes else "$pe_slots" if g.nodes == 1 else str(g.on_host))
        asked = self.resources(result)
        if g.nodes and "mem" in o:
            memory = mebibytes(o["mem"])
            self.assertEqual(asked.get("h_vmem"), "%dM" % -(-memory // g.on_host) if memory else None)
        if "mem-per-cpu" in o and mebibytes(o["mem-per-cpu"]):
            self.assertEqual(asked["h_vmem"], "%dM" % mebibytes(o["mem-per-cpu"]))
        self.check_gpus(g, gpus, asked, result["done"].stderr)

    def check_gpus(self, g, gpus, asked, stderr):
        def count(text):
            last = text.split(":")[-1]
            return int(last) if last.isdigit() else 1

        per_node = count(gpus["gpus-per-node"]) if "gpus-per-node" in gpus else 0
        for item in gpus.get("gres", "").split(","):
            if not per_node and item.startswith("gpu"):
                per_node = count(item)
        if not per_node and "gpus" in gpus:
            per_node = count(gpus["gpus"]) // g.nodes
        if not per_node and "gpus-per-task" in gpus:
            per_node = count(gpus["gpus-per-task"]) * (g.tasks // g.nodes)
        self.assertEqual(asked.get("gpu"), str(per_node) if per_node else None)
        for text in gpus.values():
            kind = re.search(r"(?:^|:)([a-z][a-z0-9_]*[0-9][a-z0-9_]*):", text, re.I)
            if kind and per_node:
                self.assertIn('GPUs of type "%s" cannot be chosen' % kind[1], stderr)


if __name__ == "__main__":
    unittest.main()
