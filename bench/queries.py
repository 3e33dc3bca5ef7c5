"""What query commands cost on large answers of Grid Engine, beside a bare parse of the same text."""
import json
import os
import random
import statistics
import subprocess
import time

from job import write
from measure import Failed

JOBS = 50000
RECORDS, HOSTS = 10000, 2000
ROW = """    <job_list state="{kind}">
      <JB_job_number>{number}</JB_job_number>
      <JAT_prio>0.{priority:05d}</JAT_prio>
      <JB_name>train-{index}</JB_name>
      <JB_owner>user{user}</JB_owner>
      <state>{state}</state>
      <{tag}>2026-11-{day:02d}T{hour:02d}:{minute:02d}:{second:02d}</{tag}>
      <queue_name>{place}</queue_name>
      <slots>1</slots>
      <full_job_name>train-{index}</full_job_name>
      <requested_pe name="mpi">1</requested_pe>
      <hard_request name="h_rt" resource_contribution="0.000000">3600</hard_request>
      <hard_request name="h_vmem" resource_contribution="0.000000">4G</hard_request>
      <hard_req_queue>batch.q</hard_req_queue>
      <binding>NONE</binding>
    </job_list>
"""


def rows(kind, first, last, draw):
    runs = kind == "running"
    for index in range(first, last):
        yield ROW.format(kind=kind, number=100000 + index, priority=1 + draw.randrange(99998), index=index,
                         user=index % 200, state="r" if runs else "qw", day=1 + draw.randrange(29),
                         hour=draw.randrange(24), minute=draw.randrange(60), second=draw.randrange(60),
                         tag="JAT_start_time" if runs else "JB_submission_time",
                         place="batch.q@node%03d" % (index % 500) if runs else "")


def write_queue(path):
    draw = random.Random(1)
    with open(path, "w", encoding="ascii") as file:
        file.write("<?xml version='1.0'?>\n<job_info  xmlns:xsd=\"http://arc.liv.ac.uk/qstat.xsd\">\n  <queue_info>\n")
        file.writelines(rows("running", 0, JOBS // 10, draw))
        file.write("  </queue_info>\n  <job_info>\n")
        file.writelines(rows("pending", JOBS // 10, JOBS, draw))
        file.write("  </job_info>\n</job_info>\n")


def own_cost(argv, env, output):
    """CPU seconds of the process itself (what it waited for does not count), and its peak MiB."""
    with open(output, "wb") as out:
        child = subprocess.Popen(argv, env=env, stdin=subprocess.DEVNULL, stdout=out)
    os.waitid(os.P_PID, child.pid, os.WEXITED | os.WNOWAIT)
    with open(f"/proc/{child.pid}/schedstat", encoding="ascii") as file:
        seconds = int(file.read().split()[0]) / 1e9
    _, status, usage = os.wait4(child.pid, 0)
    child.returncode = os.waitstatus_to_exitcode(status)
    if child.returncode != 0:
        raise Failed(f"{' '.join(argv[:3])}: exit {child.returncode}")
    return seconds, usage.ru_maxrss / 1024


def squeue(folder, shim, parser, row):
    tools = os.path.join(folder, "ge")
    os.mkdir(tools)
    text = os.path.join(folder, "queue.xml")
    write_queue(text)
    # Nothing is left open by the list: qstat -j has nothing to tell.
    write(os.path.join(tools, "qstat"), "#!/bin/sh\ncase $* in\n*\"-g c\"*) echo \"<?xml version='1.0'?><job_info/>\" ;;\n"
          "*\" -j \"*) echo \"<?xml version='1.0'?>"
          f"<detailed_job_info><djob_info/></detailed_job_info>\" ;;\n*) exec cat {text} ;;\nesac\n", 0o755)
    env = {"PATH": "/usr/bin:/bin", "HOME": folder, "USER": "user1", "TZ": "UTC", "SLURM_SHIM_GE_BIN": tools}
    output = os.path.join(folder, "squeue.out")
    parse = statistics.median(int(subprocess.run([parser, text], check=True, capture_output=True).stdout)
                              for _ in range(7)) / 1e6
    costs = [own_cost([shim, "squeue"], env, output) for _ in range(7)]
    with open(output, "rb") as file:
        lines = sum(1 for _ in file)
    if lines != JOBS + 1:
        raise Failed(f"squeue: {lines} lines of {JOBS} jobs")
    own = statistics.median(cost for cost, _ in costs)
    peak = max(mib for _, mib in costs)
    size = os.path.getsize(text) / 2 ** 20
    row("squeue, 50,000 jobs / parse of the XML", own / parse, "x", 1.5,
        f"{own * 1e3:.0f} ms beside {parse * 1e3:.0f} ms")
    row("squeue, peak memory / the text", peak / size, "x", 6, f"{peak:.0f} MiB for {size:.0f} MiB")


def write_accounting(path):
    """As OCS writes it: one JSON object for each job that has ended."""
    start = 1796000000
    with open(path, "w", encoding="ascii") as file:
        for index in range(RECORDS):
            begin = (start + index) * 1000000
            rusage = {name: 0 for name in ("ixrss", "ismrss", "idrss", "isrss", "minflt", "majflt", "nswap", "inblock",
                                           "oublock", "msgsnd", "msgrcv", "nsignals", "nvcsw", "nivcsw")}
            usage = {"rusage": {"ru_wallclock": 60, "ru_utime": 50.5, "ru_stime": 1.25, "ru_maxrss": 4096,
                                **{"ru_" + name: value for name, value in rusage.items()}},
                     "eusage": {"wallclock": 60.5, "cpu": 51.75, "mem": 0.5, "io": 0.25, "ioops": 31.0, "iow": 0.0,
                                "maxvmem": 5214208.0, "maxrss": 3039232.0}}
            file.write(json.dumps({
                "job_number": 1000 + index, "task_number": 0, "start_time": begin, "end_time": begin + 60000000,
                "owner": "user1", "group": "users", "account": "sge", "qname": "batch.q",
                "hostname": "node%03d" % (index % 500), "department": "defaultdepartment", "granted_pe": "mpi",
                "slots": 8, "job_name": "train-%d" % index, "priority": 0, "submission_time": begin - 1000000,
                "submit_cmd_line": "qsub -terse -N train-%d -pe mpi 8 -l h_rt=3600,h_vmem=4G job.sh" % index,
                "pe_taskid": "NONE", "category": "-U cf -hard -l h_rt=3600,h_vmem=4294967296 -pe mpi 8",
                "failed": 0, "exit_status": index % 3, "usage": usage}, separators=(",", ":")) + "\n")


def write_hosts(path):
    with open(path, "w", encoding="ascii") as file:
        file.write("<?xml version='1.0'?>\n<qhost>\n")
        for index in range(HOSTS):
            file.write("<host name='node%04d'>\n" % index)
            for name, value in (("arch_string", "lx-amd64"), ("num_proc", 64), ("m_socket", 2), ("m_core", 64),
                                ("m_thread", 128), ("load_avg", 12.5), ("mem_total", "503.5G"), ("mem_used", "64.0G")):
                file.write("<hostvalue name='%s'>%s</hostvalue>\n" % (name, value))
            for name in ("load_avg", "load_short", "load_medium", "load_long", "num_proc", "mem_free", "virtual_free",
                         "swap_total", "np_load_avg", "cpu", "m_core", "m_socket"):
                file.write("<resourcevalue name='%s' dominance='hl'>12.500000</resourcevalue>\n" % name)
            file.write("<resourcevalue name='slots' dominance='hc'>%d.000000</resourcevalue>\n" % (index % 65))
            for queue in ("batch.q", "gpu.q"):
                value = lambda name, text: "<queuevalue qname='%s' name='%s'>%s</queuevalue>\n" % (queue, name, text)
                file.write("<queue name='%s'>%s%s%s</queue>\n" % (
                    queue, value("slots_used", 64 - index % 65 if queue == "batch.q" else 0), value("slots", 64),
                    value("state_string", "")))
            file.write("</host>\n")
        file.write("</qhost>\n")


def median_cost(argv, env, output, lines):
    costs = [own_cost(argv, env, output)[0] for _ in range(7)]
    with open(output, "rb") as file:
        seen = sum(1 for _ in file)
    if seen != lines:
        raise Failed(f"{' '.join(argv[1:3])}: {seen} lines, not {lines}")
    return statistics.median(costs)


def sacct(folder, shim, row):
    common = os.path.join(folder, "sge/default/common")
    os.makedirs(common)
    text = os.path.join(common, "accounting.jsonl")
    write_accounting(text)
    tools = os.path.join(folder, "idle")
    os.mkdir(tools)
    write(os.path.join(tools, "qstat"), "#!/bin/sh\necho \"<?xml version='1.0'?><job_info><queue_info/><job_info/>"
          "</job_info>\"\n", 0o755)
    env = {"PATH": "/usr/bin:/bin", "HOME": folder, "USER": "user1", "TZ": "UTC", "SLURM_SHIM_GE_BIN": tools,
           "SGE_ROOT": os.path.join(folder, "sge")}
    parses = []
    for _ in range(7):
        begin = time.process_time()
        with open(text, encoding="ascii") as file:
            for line in file:
                json.loads(line)
        parses.append(time.process_time() - begin)
    parse = statistics.median(parses)
    own = median_cost([shim, "sacct", "-a", "-X", "-P", "-S", "2020-01-01"], env, os.path.join(folder, "sacct.out"),
                      RECORDS + 1)
    row("sacct, 10,000 records / json.loads of them", own / parse, "x", 2,
        f"{own * 1e3:.0f} ms beside {parse * 1e3:.0f} ms")


def sinfo(folder, shim, parser, row):
    text = os.path.join(folder, "hosts.xml")
    write_hosts(text)
    tools = os.path.join(folder, "hosts")
    os.mkdir(tools)
    write(os.path.join(tools, "qhost"), f"#!/bin/sh\nexec cat {text}\n", 0o755)
    env = {"PATH": "/usr/bin:/bin", "HOME": folder, "USER": "user1", "TZ": "UTC", "SLURM_SHIM_GE_BIN": tools}
    parse = int(subprocess.run([parser, text], check=True, capture_output=True).stdout) / 1e6
    own = median_cost([shim, "sinfo", "-h", "-N", "-o", "%N %t %C"], env, os.path.join(folder, "sinfo.out"), 2 * HOSTS)
    row("sinfo, 2,000 hosts / parse of the XML", own / parse, "x", 4,
        f"{own * 1e3:.0f} ms beside {parse * 1e3:.0f} ms")
