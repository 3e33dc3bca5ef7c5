#!/usr/bin/env python3
"""Runs a test of the binary on a copy of it that was built with sanitizers, and fails when any process of the copy
wrote a report, also one whose stderr and exit code nobody looks at.

usage: sanitized.py [--reports-only] BIN_DIR NAME COMMAND...

With --reports-only it is a matter of reports alone: what the test asserts about limits of time does not hold for a
binary that is several times slower on a machine that does something else as well. The same test of the released
binary asserts it.

The copy (a hard link, with links to it) is BIN_DIR/../sanitized/NAME/bin; COMMAND gets it wherever it says BIN_DIR.
Reports come into reports/ beside it (sanitizer_options.cpp), share/ is the build's. What still runs the copy when the
test is over gets a moment to end and write its report, then SIGKILL, and counts as a failure as well.
SHIM_TEST_SLOWER tells the test by how much its limits of time are to be stretched (pace.py).
"""
import os
import pathlib
import shutil
import signal
import subprocess
import sys
import time

SLOWER = "4"
# A stepper whose srun is gone finds that out by the silence, and gives its ranks the time of kill_wait.
GRACE_S = float(os.environ.get("SHIM_TEST_GRACE_S", "60"))


def processes_of(folder):
    """{pid: command line} of what runs a binary of the folder, also a deleted one."""
    found = {}
    for entry in os.scandir("/proc"):
        if not entry.name.isdigit():
            continue
        try:
            if os.readlink(f"/proc/{entry.name}/exe").startswith(f"{folder}/"):
                words = pathlib.Path(f"/proc/{entry.name}/cmdline").read_bytes().split(b"\0")
                found[int(entry.name)] = b" ".join(words).decode(errors="replace")
        except OSError:  # it has ended, or is a thread of the kernel
            continue
    return found


def end(pids):
    for pid in pids:
        try:
            os.kill(pid, signal.SIGKILL)
        except ProcessLookupError:
            pass


def lay_out(bin_dir, folder):
    end(processes_of(folder))  # of a run that ctest ended
    shutil.rmtree(folder, ignore_errors=True)
    (folder / "bin").mkdir(parents=True)
    reports = folder / "reports"
    reports.mkdir()
    reports.chmod(0o1777)  # some tests have other users
    for name in os.listdir(bin_dir):
        if os.path.islink(bin_dir / name):
            os.symlink(os.readlink(bin_dir / name), folder / "bin" / name)
        else:
            os.link(bin_dir / name, folder / "bin" / name)
    os.symlink(bin_dir.parent / "share", folder / "share")
    return reports


def leftovers(folder):
    give_up = time.monotonic() + GRACE_S
    while (left := processes_of(folder)) and time.monotonic() < give_up:
        time.sleep(0.1)
    end(left)
    return left


def main():
    os.nice(10)  # the tests beside it, on a cluster for instance, keep their pace
    words = sys.argv[1:]
    reports_only = words[0] == "--reports-only"
    bin_dir, name, *command = words[reports_only:]
    folder = pathlib.Path(bin_dir).resolve().parent / "sanitized" / name
    reports = lay_out(pathlib.Path(bin_dir).resolve(), folder)
    shim = folder / "bin" / "slurm-shim"
    if shim.exists():  # a copy that cannot even start would write no report
        subprocess.run([shim, "--version"], check=True, stdout=subprocess.DEVNULL)
    words = [str(folder / "bin") if word == bin_dir else word for word in command]
    code = subprocess.run(words, env={**os.environ, "SHIM_TEST_SLOWER": SLOWER}, check=False).returncode
    left = leftovers(folder)
    if code and reports_only:
        print("sanitized: the test did not pass; what counts here is whether there is a report", file=sys.stderr)
        # Of a test that was cut off nothing can be said.
        code, left = (code if code < 0 else 0), {}
    for pid, line in left.items():
        print(f"sanitized: process {pid} was left running: {line}", file=sys.stderr)
    found = sorted(reports.iterdir())
    for path in found:
        print(f"sanitized: {path.name}:\n{path.read_text(errors='replace')}", file=sys.stderr)
    sys.exit(code or (1 if left or found else 0))


if __name__ == "__main__":
    main()
