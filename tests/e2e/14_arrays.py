#!/usr/bin/env python3
"""Job arrays end to end: native and dense numbering, ids, patterns, throttle, one element by any name."""
from cluster import expect, expect_equal, run, wait_until

SHOW = ('echo "$SLURM_ARRAY_JOB_ID $SLURM_ARRAY_TASK_ID $SLURM_ARRAY_TASK_MIN $SLURM_ARRAY_TASK_MAX '
        '$SLURM_ARRAY_TASK_STEP $SLURM_ARRAY_TASK_COUNT $SLURM_JOB_ID $JOB_ID"\n')
STRIDE = 10000019  # between the ids of elements


def numbered(c, spec, indices, step, prefix):
    job = c.script(SHOW, f"--array={spec}", "-o", prefix + "-%A_%4a.out")
    c.wait_gone(job)
    for position, index in enumerate(indices):
        own = int(job) + (position + 1) * STRIDE
        expect_equal(c.read(f"{prefix}-{job}_{index:04}.out").split(),
                     [job, str(index), str(indices[0]), str(indices[-1]), str(step), str(len(indices)),
                      str(own), job], f"element {index} of {spec}")
    return job


def native_numbering(c):
    numbered(c, "2-6:2", [2, 4, 6], 2, "native")


def dense_numbering(c):
    numbered(c, "0-2,7", [0, 1, 2, 7], 1, "dense")


def default_names_and_own_ids(c):
    job = c.script("echo here\n", "--array=0-1")
    c.wait_gone(job)
    for index in (0, 1):
        expect_equal(c.read(f"slurm-{job}_{index}.out"), "here\n", "default name")
    job = c.script("echo here\n", "--array=3", "-o", "%j.own")
    c.wait_gone(job)
    expect_equal(c.read(f"{int(job) + STRIDE}.own"), "here\n", "%j of an element")


def throttle(c):
    # Each element tells how many run beside it.
    job = c.script("mkdir run.$SLURM_ARRAY_TASK_ID; ls -d run.* | wc -l; sleep 2; ls -d run.* | wc -l\n"
                   "rmdir run.$SLURM_ARRAY_TASK_ID\n", "--array=0-4%1", "-o", "t.%a")
    listing = c.ok("squeue", "-h", "-j", job, "-o", "%i")
    expect(f"{job}_[" in listing and "%1]" in listing, f"squeue shows {listing!r}")
    c.wait_gone(job)
    for index in range(5):
        expect_equal(c.read(f"t.{index}").split(), ["1", "1"], f"running beside element {index}")


def one_element_by_any_name(c):
    job = c.script("echo up; sleep 300\n", "--array=0-2", "-o", "e.%a")
    for index in range(3):
        c.wait_for_text(f"e.{index}", "up")
    rows = lambda: sorted(c.ok("squeue", "-h", "-j", job, "-o", "%i").split())  # noqa: E731
    expect_equal(rows(), [f"{job}_0", f"{job}_1", f"{job}_2"], "running elements")
    c.ok("scancel", f"{job}_0")
    wait_until(lambda: rows() == [f"{job}_1", f"{job}_2"], "element 0 cancelled", 60)
    c.ok("scancel", str(int(job) + 3 * STRIDE))  # SLURM_JOB_ID of element 2
    wait_until(lambda: rows() == [f"{job}_1"], "element 2 cancelled by its own id", 60)
    c.ok("scancel", job)
    c.wait_gone(job)


def bad_specifications_are_refused(c):
    for spec in ("5-1", "1-3:0", "a", "0-1001"):
        done = c.exec("sbatch", f"--array={spec}", "--wrap", "true")
        expect_equal((done.returncode, done.stdout), (1, ""), spec)
        expect("Invalid job array specification" in done.stderr, done.stderr)
    expect_equal(c.known_jobs(), [], "jobs")


run(native_numbering, dense_numbering, default_names_and_own_ids, throttle, one_element_by_any_name,
    bad_specifications_are_refused)
