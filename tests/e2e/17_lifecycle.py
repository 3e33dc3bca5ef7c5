#!/usr/bin/env python3
"""The life cycle cases of real Slurm (tests/vectors/13_lifecycle.json) on the real cluster: all jobs at the same time,
each in a folder of its own. Compared are what the file's context names: the actions' exit codes and answers, the final
state, sacct's rows and the lines that script and ranks wrote; where a case is about something else, its whole output."""
import json
import re
import threading
import time

from cluster import ROOT, expect, run, slots, wait_until

TOPIC = json.loads((ROOT / "tests/vectors/13_lifecycle.json").read_text(encoding="utf-8"))
CASES = {case["id"]: case for case in TOPIC["cases"]}
# The captured cluster killed 5 s after TERM.
CONFIG = "kill_wait: 5s\n"
# Longer limits are not needed to see the same: a signal 70 s before 2 minutes is one 20 s before one.
SHORTER = (("-t 2 ", "-t 1 "), ("@70 ", "@20 "))
# Scripts that would be over too early on a slow machine wait for a file that is written after the actions.
GATE = "until [ -e go ]; do sleep 0.2; done"
GATED = {"life.hold_running": ("sleep 6", GATE), "life.timelimit_update": ("sleep 6", GATE),
         "life.norequeue": ("sleep 8", GATE), "life.suspend": ("done\n", "done; " + GATE + "\n")}
SETTLED_S = 15
# What an action ends lasts until then, however slow the machine is.
LONGER = (("sleep 60", "sleep 900"), ("sleep 20", "sleep 900"), ("rank.sh 100", "rank.sh 4500"))
WHOLE_OUTPUT = ("args", "stdin", "umask", "exit_trap", "exit_trap_b", "suspend", "bg_step_killed", "requeue")
# What is different here, and why: (case, field or second word of the action) -> what is seen instead.
NEVER = "CANCELLED DependencyNeverSatisfied after{}:{{JOBID}}(failed)"
DIFFERENT = {
    # $0 is the engine's copy of the script, which has the job's number for a name.
    ("life.args", "output"): "BASE:{JOBID}\n0::\n",
    ("life.umask", "output"): "0022\nunlimited\n1\n{JOBID}\n",
    # A job whose dependency cannot be fulfilled ends and says so, with and without --kill-on-invalid-dep.
    ("life.dep.ok_fail_never", "second_state_reason_dependency"): NEVER.format("ok"),
    ("life.dep.notok_ok_never", "second_state_reason_dependency"): NEVER.format("notok"),
    # What held a job is not kept beyond its end.
    ("life.hold_running", "final"): [{"JobState": "COMPLETED", "Reason": "None", "Restarts": "0", "ExitCode": "0:0"}],
    ("life.requeuehold", "final"): [{"JobState": "CANCELLED", "Reason": "None", "Restarts": "1", "ExitCode": "0:0"}],
    # Ranks of a step get TERM before KILL, so that they can end by themselves.
    ("life.scancel_step0", "output"): ["batch:end", "batch:start", "batch:wait=137", "rank0:TERM", "rank0:start",
                                       "rank1:TERM", "rank1:start"],
    # The engine does not change the limit of a job that runs.
    ("life.timelimit_update", "update"): (1, "", "Requested operation is presently disabled for job {JOBID}\n"),
    ("life.timelimit_update", "-h"): (0, "5:00\n", ""),
}
# Not run: where the engine keeps its copy of the script, and with which mode, is the engine's business.
LEFT_OUT = ("life.execflag",)


def text_of(case, name, text):
    # The batch step alone cannot be cancelled here: that script ends by itself.
    for old, new in LONGER if case.get("actions") and case["id"] != "life.scancel_batchstep" else ():
        text = text.replace(old, new)
    old, new = GATED.get(case["id"], ("", ""))
    return text.replace(old, new) if old else text.replace("{TMP}/rank.sh", "./rank.sh")


def command_of(case):
    words = case["cmd"] + " "
    for old, new in SHORTER:
        words = words.replace(old, new)
    return words.strip()


def submit_all(c, cases):
    """One call for all: id -> numbers in order of submission."""
    # A shell that only starts sbatch puts itself in its place and does not count.
    script = "export SLURM_SHIM_CONFIG=$PWD/config.yaml SHLVL=0\n"
    for case in cases:
        script += f"mkdir {case['id']}; cd {case['id']}\n"
        for name, text in {**case.get("files", {}), "rank.sh": TOPIC["context"]["rank.sh"]}.items():
            script += f"cat > {name} <<'END-OF-FILE'\n{text_of(case, name, text)}END-OF-FILE\nchmod 755 {name}\n"
        if case["id"].startswith("life.dep."):
            first, second = command_of(case).split("; ", 1)
            script += f"{first}; echo \"{case['id']} $J\"\n" + "set -- $(" + second.replace(":J", ":${J}") + ")\n"
            script += f"echo \"{case['id']} $4\"\n"
        else:
            script += f"echo \"{case['id']} $({command_of(case)} 2>&1)\"\n"
        script += "cd ..\n"
    jobs = {}
    for line in c.ok("bash", "-c", script).splitlines():
        name, *words = line.split()
        number = words[-1] if words and words[-1].isdigit() else None
        expect(number and (len(words) == 1 or words[:-1] == ["Submitted", "batch", "job"]), f"submission: {line!r}")
        jobs.setdefault(name, []).append(number)
        c.jobs.append(number)
    return jobs


def printed(text):
    """What the job itself printed: messages about it differ."""
    return "".join(line for line in text.splitlines(True) if not re.match("slurmstepd|srun: |Terminated|Killed", line))


def own_lines(text):
    return sorted({line for line in text.splitlines() if re.match(r"(batch|rank\d+):", line)})


def output(c, case):
    return c.exec("cat", case["id"] + "/out").stdout


def nameless(text, job):
    """With {JOBID} for the job's number, where it is no part of another one (a user's id, say)."""
    return re.sub(rf"(?<!\d){job}(?!\d)", "{JOBID}", text)


def await_lines(c, case, pattern):
    """Until all lines of the case's output that match are there."""
    wanted = {line for line in case["parsed"].get("output", "").splitlines() if re.search(pattern, line)}
    wait_until(lambda: wanted <= set(output(c, case).splitlines()), f"{sorted(wanted)} in {case['id']}", 120, 0.5)


def act(c, case, job, faults):
    """The case's actions, each when what it needs is there."""
    try:
        wait_until(lambda: c.exec("squeue", "-h", "-j", job, "-o", "%t").stdout.strip() == "R", "running", 240, 0.5)
        await_lines(c, case, r"^(batch|rank\d+):start$")
        for action in case["actions"]:
            time.sleep(min(action["after_s"], 3))
            words = action["cmd"].replace("JOB", job)
            user = "root" if action["user"] == "root" else "user1"

            def answer(words=words, user=user):
                done = c.shell(words, user=user, cwd="/")
                return done.returncode, done.stdout, nameless(done.stderr, job)
            wanted = DIFFERENT.get((case["id"], words.split()[1]), (action["rc"], action["stdout"], action["stderr"]))
            if words.startswith("squeue"):
                seen = [None]

                def shown(seen=seen, wanted=wanted):
                    seen[0] = answer()
                    return seen[0] == wanted
                try:
                    wait_until(shown, "", 40, 0.5)
                except Exception:
                    raise AssertionError(f"{words}: wanted {wanted}, saw {seen[0]}") from None
            else:
                seen = answer()
                if seen != wanted:
                    raise AssertionError(f"{words}: wanted {wanted}, saw {seen}")
            sent = re.search(r"-s (\w+) ", words)
            if sent:
                await_lines(c, case, f":{sent[1]}$")
        c.write(case["id"] + "/go", "")
    except Exception as error:  # told with the other faults of the case
        faults.setdefault(case["id"], []).append(str(error))
        c.exec("scancel", job)


def shown_by(c, number):
    done = c.exec("scontrol", "-o", "show", "job", number)
    return [dict(word.partition("=")[::2] for word in line.split()) for line in done.stdout.splitlines()]


def compare(case, field, seen, faults):
    wanted = DIFFERENT.get((case["id"], field))
    if wanted is None:
        wanted = case["parsed"].get(field)
        if field == "output":
            wanted = printed(wanted) if case["id"].split(".")[1] in WHOLE_OUTPUT else own_lines(wanted)
    if seen != wanted:
        faults.setdefault(case["id"], []).append(f"{field}: wanted {wanted!r}, saw {seen!r}")


def judge(c, case, numbers, faults):
    if case["id"].startswith("life.dep."):
        first, second = (shown_by(c, number) for number in numbers)
        compare(case, "first", sorted((job["JobState"] for job in first), reverse=True), faults)
        compare(case, "second_state_reason_dependency", nameless(" ".join(
            second[0][key] for key in ("JobState", "Reason", "Dependency")), numbers[0]), faults)
        return
    number = numbers[0]
    compare(case, "final", [{key: job[key] for key in ("JobState", "Reason", "Restarts", "ExitCode")}
                            for job in shown_by(c, number)], faults)
    rows = c.ok("sacct", "-n", "-P", "-o", "JobID,State,ExitCode", "-j", number)
    compare(case, "sacct", nameless(rows, number).replace("by 1500", "by 1001"), faults)
    text = nameless(output(c, case), number)
    if "output" in case["parsed"]:
        compare(case, "output", printed(text) if case["id"].split(".")[1] in WHOLE_OUTPUT else own_lines(text), faults)


def captured_cases(c):
    config = c.ok("cat", "/opt/ge/slurm-shim/etc/config.yaml")
    c.write("config.yaml", "".join(line for line in config.splitlines(True) if "kill_wait" not in line) + CONFIG)
    cases = [case for case in CASES.values() if case["robust"] and case["id"] not in LEFT_OUT]
    with slots(c, 20):
        faults = course(c, cases)
    expect(not faults, "\n     ".join([f"{len(faults)} of {len(cases)} cases"] +
                                      [f"{name}: {'; '.join(texts)}" for name, texts in sorted(faults.items())]))


def course(c, cases):
    # Those that take longest first.
    cases.sort(key=lambda case: not re.search("timeout|signal_|batchstep", case["id"]))
    jobs = submit_all(c, cases)
    faults = {}
    threads = {case["id"]: threading.Thread(target=act, args=(c, case, jobs[case["id"]][0], faults)) for case in cases
               if case.get("actions")}
    for thread in threads.values():
        thread.start()
    gone = {}

    def all_judged():
        """Each case when it has ended for a while (a job that is requeued may be out of sight for a moment), not at the
        end of all: Slurm knows a job for five minutes only."""
        live = set(c.known_jobs())
        for case in cases:
            name = case["id"]
            if (name in threads and threads[name].is_alive()) or not live.isdisjoint(jobs[name]):
                gone.pop(name, None)
            elif name not in gone:
                gone[name] = time.monotonic()
            elif gone[name] and time.monotonic() - gone[name] > SETTLED_S:
                gone[name] = 0  # judged
                judge(c, case, jobs[name], faults)
        return len(gone) == len(cases) and not any(gone.values())
    wait_until(all_judged, "all jobs have ended", 600, 1)
    return faults


run(captured_cases)
