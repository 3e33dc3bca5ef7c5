"""What a query command needs around it: the files and tools that a captured cluster of Slurm would have had if it had
been Grid Engine. A world is a folder: SGE_ROOT with an accounting file, HOME with the state folder of sbatch and its
job records, and stand-ins for qstat, qhost, qconf, qmod, qalter and the rest that print what `answers` holds.

    world = World(folder, now)
    world.ended(Job(...)); world.waiting(...); world.running(...); world.write()

The stand-ins print the answer whose key is the longest beginning of their call, and note each call in `calls`."""
import dataclasses
import json
import os
import pathlib
import time

CONFIG = """default_partition: batch
partitions:
  batch: {queue: batch.q, slots_per_node: 8}
  gpu: {queue: gpu.q, slots_per_node: 8, default_time: "1:00:00", max_time: "1-00:00:00"}
  debug: {queue: debug.q, slots_per_node: 8, default_time: "5", max_time: "30"}
  spare: {queue: spare.q, slots_per_node: 8, max_time: "7-0"}
array_job_ids: unique
qstat_timeout: 60s
"""

STAND_IN = """#!/bin/bash
# Prints the answer to the longest beginning of its call that one was prepared for.
call="${0##*/}${*:+ $*}"
printf '%%s\\n' "$call" >> "%(folder)s/calls"
for ((n = ${#call}; n > 0; n--)); do
    key=${call:0:n}
    file="%(folder)s/answers/${key//\\//,}"
    if [ -f "$file.out" ]; then
        cat "$file.out"
        [ -f "$file.err" ] && cat "$file.err" >&2
        exit "$(cat "$file.rc")"
    fi
done
echo "$call: no answer" >&2
exit 99
"""
TOOLS = ("qsub", "qstat", "qhost", "qconf", "qacct", "qmod", "qalter", "qhold", "qrls", "qdel", "qping")
USERS = {"alice": 1001, "bob": 1002, "root": 0}


@dataclasses.dataclass
class Job:
    number: int
    name: str
    partition: str = "batch"
    user: str = "alice"
    account: str = "acct1"
    hosts: tuple = ("node001",)
    cpus: int = 1
    ntasks: int = None
    limit: int = 5
    start: int = -300  # seconds from now
    seconds: int = 5
    failed: int = 0
    status: int = 0
    deleted_by: str = ""
    end: dict = None  # of the script: {"code": 0, "sig": 0}; None: killed
    steps: tuple = ()  # {"name":, "ntasks":, "cpus":, "code":, "sig":, "reason":, "hosts":}; "live": runs
    index: int = None
    extra: dict = dataclasses.field(default_factory=dict)  # of the submit record


def compressed(hosts):
    """node001,node002 as node[001-002]; neighbours only, which is all that is needed here."""
    if len(hosts) == 1:
        return hosts[0]
    return "node[%s-%s]" % (hosts[0][4:], hosts[-1][4:])


class World:
    def __init__(self, folder, now=None):
        self.folder = pathlib.Path(folder)
        self.now = int(now or time.time())
        self.home = self.folder / "home"
        self.state = self.home / ".local/state/slurm-shim/oracle"
        self.common = self.folder / "ge/oracle/common"
        self.bin = self.folder / "bin"
        for path in (self.state / "jobs", self.state / "submit", self.common, self.bin, self.folder / "answers"):
            path.mkdir(parents=True, exist_ok=True)
        for path in (self.home, self.home / ".local", self.home / ".local/state", self.home / ".local/state/slurm-shim",
                     self.state, self.state / "jobs"):
            path.chmod(0o700)
        (self.folder / "config.yaml").write_text(CONFIG)
        (self.common / "accounting.jsonl").write_text("")
        self.cwd = "/tmp"  # of submissions
        self.rows = []
        self.facts = {}
        for tool in TOOLS:
            self.script(tool, STAND_IN % {"folder": self.folder})
        self.script("getent", "#!/bin/sh\ncase $2 in\n%s*) exit 2 ;; esac\n" % "".join(
            "%s|%d) echo '%s:x:%d:%d::/home/%s:/bin/sh' ;;\n" % (u, n, u, n, n, u) for u, n in USERS.items()))
        self.answer("qconf -sel", "".join("node%03d\n" % n for n in range(1, 7)))
        self.answer("qconf -sss", "login\n")

    def script(self, name, text):
        path = self.bin / name
        path.write_text(text)
        path.chmod(0o755)

    def answer(self, call, out="", rc=0, err=""):
        base = str(self.folder / "answers" / call.replace("/", ","))
        for suffix, text in ((".out", out), (".rc", str(rc)), (".err", err)):
            pathlib.Path(base + suffix).write_text(text)

    def calls(self):
        path = self.folder / "calls"
        return path.read_text().splitlines() if path.exists() else []

    def environment(self, links):
        env = {k: v for k, v in os.environ.items() if not k.startswith(("SLURM", "SGE", "SACCT", "SINFO", "SQUEUE"))}
        env.update(HOME=str(self.home), USER="alice", LOGNAME="alice", LC_ALL="C.UTF-8", TZ="UTC", SGE_CELL="oracle",
                   SGE_ROOT=str(self.folder / "ge"), SLURM_SHIM_GE_BIN=str(self.bin),
                   SLURM_SHIM_CONFIG=str(self.folder / "config.yaml"), TMPDIR=str(self.folder),
                   PATH="%s:%s:/usr/bin:/bin" % (links, self.bin))
        return env

    # The parts of a job

    def record(self, job, array=None):
        keys = {"tok": self.tok(job), "dir": str(self.state), "name": job.name, "part": job.partition,
                "acct": job.account, "out": "/dev/null", "in": "/dev/null", "openmode": "t", "requeue": "1",
                "sdir": "{CWD}"}
        if job.limit:
            keys["time"] = job.limit
        if job.ntasks:
            keys["ntasks"] = job.ntasks
        if array:
            keys["array"] = array
        keys.update(job.extra)
        quote = lambda v: "".join(c if c.isalnum() or c in "._:/+-" else "%%%02X" % b for c in str(v) for b in c.encode())
        return "v1;" + ";".join("%s=%s" % (k, quote(v)) for k, v in keys.items())

    @staticmethod
    def tok(job):
        return "%016x" % job.number

    def submitted(self, job, array=None, cwd=None):
        cwd = cwd or self.cwd
        if job.user != "alice":
            return
        line = {"v": 1, "tok": self.tok(job), "job": job.number, "tasks": array, "native": False,
                "sub": self.now + job.start - 1, "host": "login", "cmd": ["sbatch", "-J", job.name],
                "qsub": ["qsub", "-wd", cwd], "req": self.record(job, array).replace("%7BCWD%7D", cwd)}
        path = self.state / "jobs" / ("%d.submit" % job.number)
        if path.exists():
            return  # what scontrol has changed stays
        path.write_text(json.dumps(line))
        path.chmod(0o600)
        script = path.with_suffix(".script")
        script.write_text("#!/bin/sh\n# This script was created by sbatch --wrap.\n\nsleep 900\n")
        script.chmod(0o600)

    def recorded(self, job, task=None):
        if job.user != "alice":
            return
        begin = self.now + job.start
        base = {"v": 1, "tok": self.tok(job), "run": 0}
        lines = [dict(base, t=begin, ev="start", job=job.number, task=task, slurm_id=job.number, host=job.hosts[0],
                      hosts=compressed(job.hosts), nodes=len(job.hosts), ntasks=job.ntasks or 1, cpus=job.cpus, pid=1,
                      out="/dev/null", err="/dev/null")]
        for number, step in enumerate(job.steps):
            hosts = step.get("hosts", job.hosts)
            lines.append(dict(base, t=begin + 1, ev="step_start", step=number, name=step["name"], cmd=step["name"],
                              hosts=compressed(hosts), nodes=len(hosts), ntasks=step.get("ntasks", 1),
                              cpus=step.get("cpus", step.get("ntasks", 1))))
            if "code" in step:
                lines.append(dict(base, t=begin + 2, ev="step_end", step=number, code=step["code"],
                                  sig=step.get("sig", 0), max_code=step["code"], reason=step.get("reason", "exit")))
        if job.end is not None:
            lines.append(dict(base, t=begin + job.seconds, ev="end", reason="exit", **job.end))
        stem = "%d%s" % (job.number, "" if task is None else ".%d" % task)
        path = self.state / "jobs" / (stem + ".jsonl")
        path.write_text("".join(json.dumps(line) + "\n" for line in lines))
        path.chmod(0o600)

    def accounted(self, job, task=0, **changes):
        micro = 1000000
        start = self.now + job.start
        line = {"job_number": job.number, "task_number": task, "start_time": start * micro,
                "end_time": (start + job.seconds) * micro, "owner": job.user, "group": job.user, "account": "sge",
                "qname": job.partition + ".q", "hostname": job.hosts[0], "department": "defaultdepartment",
                "granted_pe": "slurm-shim", "slots": job.cpus, "job_name": job.name, "priority": 0,
                "submission_time": (start - 1) * micro, "submit_cmd_line": "qsub", "pe_taskid": "NONE", "category": "-",
                "failed": job.failed, "exit_status": job.status,
                "usage": {"rusage": {"ru_wallclock": job.seconds, "ru_utime": 0.096, "ru_stime": 0.139,
                                     "ru_maxrss": 4040},
                          "eusage": {"wallclock": job.seconds, "cpu": 0.235, "maxvmem": 7659520.0,
                                     "maxrss": 4136960.0}}}
        if job.limit and job.failed:
            line["category"] = "-l h_rt=%d" % (job.limit * 60)
        if job.deleted_by:
            line["deleted_by"] = job.deleted_by
        line.update(changes)
        with open(self.common / "accounting.jsonl", "a") as file:
            file.write(json.dumps(line, separators=(",", ":")) + "\n")

    def ended(self, job, **changes):
        self.submitted(job)
        if job.seconds:
            self.recorded(job)
        self.accounted(job, **changes)

    # The queue

    def row(self, job, state, tasks="", pending=False, hold="", start=None, after=()):
        moment = time.strftime("%Y-%m-%dT%H:%M:%S", time.gmtime(self.now + (job.start if start is None else start)))
        tag = "JB_submission_time" if pending else "JAT_start_time"
        place = "" if pending else "<queue_name>%s.q@%s</queue_name>" % (job.partition, job.hosts[0])
        self.rows.append((pending, (
            '<job_list state="%s"><JB_job_number>%d</JB_job_number><JAT_prio>0.5</JAT_prio><JB_name>%s</JB_name>'
            '<JB_owner>%s</JB_owner><state>%s</state><%s>%s</%s>%s<slots>%d</slots>%s<full_job_name>%s</full_job_name>'
            '<hard_req_queue>%s.q</hard_req_queue>%s</job_list>\n') % (
                "pending" if pending else "running", job.number, job.name, job.user, state, tag, moment, tag, place,
                job.cpus, "<tasks>%s</tasks>" % tasks if tasks else "", job.name, job.partition,
                "".join("<predecessor_jobs>%s</predecessor_jobs>" % number for number in after))))
        self.facts[job.number] = (
            "<element><JB_job_number>%d</JB_job_number><JB_job_name>%s</JB_job_name><JB_owner>%s</JB_owner>"
            "<JB_uid>%d</JB_uid><JB_group>%s</JB_group><JB_gid>%d</JB_gid>%s</element>" % (
                job.number, job.name, job.user, USERS[job.user], job.user, USERS[job.user],
                "<JB_ja_%s_h_ids><task_id_range/></JB_ja_%s_h_ids>" % (hold, hold) if hold else ""))

    def write(self):
        lists = ["".join(text for waits, text in self.rows if waits is pending) for pending in (False, True)]
        listed = ("<?xml version='1.0'?>\n<job_info><queue_info>\n%s</queue_info><job_info>\n%s</job_info></job_info>\n"
                  % tuple(lists))
        self.answer("qstat -xml", listed)
        self.answer("qstat -xml -j", "<?xml version='1.0'?>\n<detailed_job_info><djob_info>%s</djob_info>"
                                     "</detailed_job_info>\n" % "".join(self.facts.values()))
