"""Stand-ins for Grid Engine's tools that answer with files: captured ones, or such as a test makes.

What `qconf -X ...` and `qsub -help` print is a file named after the words (`-sc`, `-sq all.q`, `-help`) in one folder;
a question without a file is answered as an engine answers that does not know. qhost prints `hosts`. qsub keeps its argv, NUL-separated, and
the job's record in the folder $FAKE_OUT and accepts every job as number 4711. The queue is empty.
"""

QSUB = """#!/bin/sh
[ "$1" = -help ] && exec cat "$FAKE_DIR/-help"
printf '%s\\0' "$@" > "$FAKE_OUT/argv"
printf '%s' "$SLURM_SHIM_REQ" > "$FAKE_OUT/req"
echo 4711
"""
QCONF = """#!/bin/sh
[ -e "$FAKE_DIR/$*" ] && exec cat "$FAKE_DIR/$*"
echo "no $*" >&2
exit 1
"""
QHOST = """#!/bin/sh
[ -e "$FAKE_DIR/hosts" ] && exec cat "$FAKE_DIR/hosts"
echo "error: no hosts" >&2
exit 1
"""
QSTAT = """#!/bin/sh
echo "<?xml version='1.0'?><job_info><queue_info></queue_info><job_info></job_info></job_info>"
"""


def make(folder, answers):
    """Writes the tools and their answers {words: text} into a new folder."""
    folder.mkdir()
    for name, text in (("qsub", QSUB), ("qconf", QCONF), ("qhost", QHOST), ("qstat", QSTAT)):
        (folder / name).write_text(text, encoding="ascii")
        (folder / name).chmod(0o755)
    for words, text in answers.items():
        (folder / words).write_text(text, encoding="utf-8")


def environment(folder, out, config):
    """Of a call of sbatch by user u at home in `out`, which also gets what qsub was given."""
    return {"PATH": "/usr/bin:/bin", "HOME": str(out), "USER": "u", "TZ": "UTC", "FAKE_DIR": str(folder),
            "FAKE_OUT": str(out), "SLURM_SHIM_GE_BIN": str(folder), "SLURM_SHIM_CONFIG": str(config)}


def submitted(out):
    """What qsub was given, or nothing when it was not asked to submit."""
    path = out / "argv"
    return path.read_text(encoding="utf-8", errors="surrogateescape").split("\0")[:-1] if path.exists() else None
