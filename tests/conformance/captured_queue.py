"""The queue of vectors/07 and 11 as Grid Engine would have it, with qdel and supervisors that act on it.

    captured_queue.py FOLDER NOW ID...    what the stand-in for qdel does: deletes jobs or tasks, says so, prints anew"""
import json
import pathlib
import re
import sys
import threading
import time
from xml.sax.saxutils import escape

import sinfo_vectors
from query_world import Job, World

NUMBERS = {"J%02d" % n: 70000 + n for n in range(1, 24)}
YEAR = 525600  # minutes
LONG = "1,3,5,7-20,30-40:2,50,52,54,56,58,60,62,64,66,68,70,72,74"


def elements(spec):
    """Indices of an array specification."""
    out = []
    for part in spec.split("%")[0].split(","):
        span, _, step = part.partition(":")
        first, _, last = span.partition("-")
        out += range(int(first), int(last or first) + 1, int(step or 1))
    return out


class Queue:
    """Jobs that run and wait; what is in `gone` ("70001", "70005.3") was deleted."""

    def __init__(self, world, gone):
        self.world = world
        self.gone = gone
        self.spread = []

    def has(self, job, task=None):
        return str(job.number) not in self.gone and "%d.%s" % (job.number, task) not in self.gone

    def deleted(self, job):
        self.world.accounted(job, failed=100, exit_status=137, deleted_by="alice@login")

    def facts(self, job, array=None, hold="", begin=0):
        escaped = escape(self.world.record(job, array))
        fields = [("job_number", job.number), ("job_name", job.name), ("owner", job.user),
                  ("uid", {"alice": 1001, "bob": 1002}[job.user]), ("group", job.user),
                  ("gid", {"alice": 1001, "bob": 1002}[job.user]), ("account", job.account),
                  ("cwd", self.world.folder / "cwd"), ("execution_time", begin)]
        text = "".join("<JB_%s>%s</JB_%s>" % (k, v, k) for k, v in fields)
        text += ("<JB_env_list><element><VA_variable>SLURM_SHIM_REQ</VA_variable><VA_value>%s</VA_value></element>"
                 "</JB_env_list>") % escaped
        if hold:
            text += "<JB_ja_%s_h_ids><task_id_range/></JB_ja_%s_h_ids>" % (hold, hold)
        self.world.facts[job.number] = "<element>%s</element>" % text

    def line(self, job, state, pending, tasks="", priority=0.5, predecessors=()):
        moment = time.strftime("%Y-%m-%dT%H:%M:%S", time.gmtime(self.world.now + job.start))
        tag = "JB_submission_time" if pending else "JAT_start_time"
        name = re.sub(r"[^A-Za-z0-9.-]", "_", job.name)
        text = '<job_list state="%s">' % ("pending" if pending else "running")
        for key, value in (("JB_job_number", job.number), ("JAT_prio", priority), ("JB_name", name),
                           ("JB_owner", job.user), ("state", state), (tag, moment),
                           ("queue_name", "" if pending else "%s.q@%s" % (job.partition, job.hosts[0])),
                           ("slots", job.cpus), ("tasks", tasks), ("full_job_name", name)):
            if value != "" or key == "queue_name":
                text += "<%s>%s</%s>" % (key, value, key)
        for partition in job.partition.split(","):
            text += "<hard_req_queue>%s.q</hard_req_queue>" % partition
        for number in predecessors:
            text += "<predecessor_jobs>%d</predecessor_jobs>" % number
        self.world.rows.append((pending, text + "</job_list>\n"))

    def runs(self, job, state="r", task=None, array=None):
        if not self.has(job, task):
            return self.deleted(job)
        self.world.submitted(job, array, str(self.world.folder / "cwd"))
        self.world.recorded(job, task)
        self.facts(job, array)
        self.line(job, state, False, str(task or ""))
        mailbox = self.world.state / "jobs" / ("%d%s.mbox" % (job.number, ".%d" % task if task else ""))
        if job.user == "alice":
            mailbox.write_text("")
            mailbox.chmod(0o600)
        for rank, host in enumerate(job.hosts):
            self.spread.append((job, host, rank == 0))

    def waits(self, job, state="qw", array=None, hold="", begin=0, after=(), priority=0.5, from_task=1):
        self.world.submitted(job, array, str(self.world.folder / "cwd"))
        self.facts(job, array, hold, begin)
        tasks = ""
        if array:
            left = [t for t in range(from_task, len(elements(array)) + 1) if self.has(job, t)]
            tasks = ",".join(map(str, left))
            if not left:
                return
        if self.has(job):
            self.line(job, state, True, tasks, priority, after)

    def write(self):
        self.world.write()
        rows = "".join(
            '<job_list state="running"><JB_job_number>%d</JB_job_number><queue_name>%s.q@%s</queue_name>'
            "<master>%s</master><slots>1</slots></job_list>\n"
            % (job.number, job.partition, host, "MASTER" if master else "SLAVE") for job, host, master in self.spread)
        self.world.answer("qstat -xml -r -g t", "<?xml version='1.0'?>\n<job_info><queue_info>%s</queue_info></job_info>\n"
                          % rows)
        summary = "".join(
            "<cluster_queue_summary><name>%s</name><used>0</used><total>%d</total><temp_disabled>0</temp_disabled>"
            "<manual_intervention>%d</manual_intervention></cluster_queue_summary>\n"
            % (queue, 8 * len(hosts), 8 * len(hosts) if queue == "spare.q" else 0)
            for queue, hosts in sinfo_vectors.QUEUES.items())
        self.world.answer("qstat -g c", "<?xml version='1.0'?>\n<job_info>\n%s</job_info>\n" % summary)
        sinfo_vectors.build(self.world)


def fill(world, gone=frozenset()):
    queue = Queue(world, gone)

    def job(token, name, **facts):
        extra = dict({"out": "slurm-%j.out"}, **facts.pop("extra", {}))
        return Job(number=NUMBERS[token], name=name, extra=extra, **dict({"limit": 0, "hosts": ("node001",)}, **facts))

    queue.runs(job("J01", "run1", cpus=2, ntasks=2, limit=60, extra={"reqnodes": "node001"}))
    queue.runs(job("J02", "longjobname_xyz", user="bob", cpus=4, ntasks=4, hosts=("node002", "node003"),
                   extra={"nodes": 2}))
    queue.runs(job("J03", "steps", cpus=2, ntasks=2, limit=120, extra={"comment": "my comment"},
                   steps=({"name": "named"}, {"name": "sleep"})))
    queue.runs(job("J04", "name with spaces", partition="gpu", hosts=("node003",), limit=1440,
                   extra={"tres": "gres:gpu:2"}))
    for task in (1, 2):
        queue.runs(job("J05", "arr", hosts=("node004",), limit=30), task=task, array="0-5%2")
    queue.runs(job("J17", "susp", hosts=("node004",), limit=365 * 1440), state="s")
    queue.waits(job("J09", "res", cpus=4, limit=10, extra={"nodes": 4, "excl": 1}), priority=0.7)
    queue.waits(job("J10", "prio", cpus=4, limit=10, extra={"nodes": 4, "excl": 1, "nice": 50}), priority=0.3)
    queue.waits(job("J05", "arr", limit=30), array="0-5%2", from_task=3, priority=0)
    queue.waits(job("J06", "dep", extra={"dep": "afterok:70001"}), "hqw", after=(70001,), priority=0)
    queue.waits(job("J07", "held", cpus=3, ntasks=3), "hqw", hold="u", priority=0)
    later = world.now + 3600
    queue.waits(job("J08", "begin", extra={"begin": later}), begin=later, priority=0)
    queue.waits(job("J11", "arrheld"), "hqw", array="0,3,6,9", hold="u", priority=0)
    queue.waits(job("J12", "down", partition="spare", limit=7 * 1440))
    queue.waits(job("J13", "ptl", partition="debug", limit=31))
    queue.waits(job("J14", "pnl", partition="debug", cpus=3, limit=5, extra={"nodes": 3}))
    queue.waits(job("J16", "adminheld"), "hqw", hold="s", priority=0)
    queue.waits(job("J20", "depnever", extra={"dep": "afterok:70015"}), "hqw", after=(70015,), priority=0)
    queue.waits(job("J21", "multi", partition="batch,gpu"), "hqw", hold="u", priority=0)
    queue.waits(job("J22", "c4", cpus=8, ntasks=2, extra={"cpt": 4, "mem": 2048, "memper": "node", "feat": "std",
                                                          "excnodes": "node001"}), "hqw", hold="u", priority=0)
    queue.waits(job("J23", "longarr"), "hqw", array=LONG.replace("30-40:2", "30,32,34,36,38,40"), hold="u", priority=0)
    world.ended(job("J15", "fail", start=-60, end={"code": 3, "sig": 0}, status=3))
    world.ended(job("J18", "canc", start=-60, failed=100, status=137, deleted_by="alice@login"))
    world.ended(job("J19", "comp", start=-60, end={"code": 0, "sig": 0}))
    queue.write()
    world.script("qdel", '#!/bin/sh\nexec python3 "%s" "%s" %d "$@"\n' % (
        pathlib.Path(__file__).resolve(), world.folder, world.now))


def answer_mailboxes(world):
    """The supervisors of the running jobs, as long as the world is there."""
    seen = set()

    def look():
        for mailbox in world.state.glob("jobs/*.mbox"):
            for line in mailbox.read_text().splitlines():
                _, request, verb, *words = line.split()
                if request in seen:
                    continue
                seen.add(request)
                unknown = any(re.fullmatch(r"(step:)?99", word) for word in words)
                answer = {"v": 1, "tok": "%016x" % int(mailbox.name.split(".")[0]), "t": time.time(), "run": 0,
                          "ev": "req", "id": request, "verb": verb, "rc": int(unknown),
                          "text": "no step 99" if unknown else ""}
                with open(str(mailbox)[:-4] + "jsonl", "a", encoding="utf-8") as record:
                    record.write(json.dumps(answer) + "\n")

    def serve():
        while world.folder.exists():
            try:
                look()
            except OSError:
                return
            time.sleep(0.02)

    threading.Thread(target=serve, daemon=True).start()


def qdel(folder, now, ids):
    path = pathlib.Path(folder, "gone")
    gone = set(path.read_text().split()) if path.exists() else set()
    code = 0
    if len(ids) == 3 and ids[1] == "-t":  # "7 -t 3-5": a run of tasks
        first, last = map(int, ids[2].split("-"))
        ids = ["%s.%d" % (ids[0], task) for task in range(first, last + 1)]
    for name in ids:
        number = int(name.split(".")[0])
        if number == NUMBERS["J02"]:
            print('alice - you do not have the necessary privileges to delete the job "%d"' % number)
            code = 1
            continue
        gone.add(name)
        print("alice has deleted %s %s" % ("job-array task" if "." in name else "job", name))
    path.write_text("\n".join(sorted(gone)))
    notes = {note: note.read_text() for note in pathlib.Path(folder).glob("home/.local/state/*/*/jobs/*.cancel")}
    fill(World(folder, now), gone)
    for note, text in notes.items():
        note.write_text(text)
    return code


if __name__ == "__main__":
    sys.exit(qdel(sys.argv[1], int(sys.argv[2]), sys.argv[3:]))
