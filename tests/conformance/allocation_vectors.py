#!/usr/bin/env python3
"""salloc, and srun outside of a job, against captured cases of Slurm: a stand-in qrsh grants the captured hosts.

    allocation_vectors.py FOLDER-OF-LINKS VECTORS.json [--only REGEX]

The hosts are pretended: all run here, each rank with the name that its step gave it. What differs on purpose is
listed in deviations.json."""
import argparse
import json
import os
import pathlib
import re
import subprocess
import sys
import tempfile

import run_vectors

HERE = pathlib.Path(__file__).resolve().parent
REPO = HERE.parents[1]
FIRST = 80001
# What is granted, host:slots: what the captured cluster granted, or what we ask for. Cases without get nothing: all
# hosts are busy.
GRANTS = {"salloc.cmd": "node001:2", "salloc.env": "node001:2 node002:1", "salloc.srun": "node001:2 node002:1",
          "srun.outside": "node002:2", "srun.outside.exit": "node002:2", "srun.outside.l": "node001:2 node002:2"}


def make_world(root, case):
    for name in ("home", "cwd", "qrsh", "tools", "engine"):
        (root / name).mkdir()
    for kind in ("ge-bin", "allocate"):
        for tool in (REPO / "tests/fakes" / kind).iterdir():
            (root / "tools" / tool.name).symlink_to(tool)
    if case["id"] not in GRANTS:
        (root / "qrsh/busy").touch()
    text = (HERE / "sbatch.yaml").read_text(encoding="utf-8")
    (root / "config.yaml").write_text("launcher: local\nstandalone: allocate\n" + text, encoding="utf-8")


def environment(root, case, links):
    return {"PATH": f"{links}:{REPO}/tests/fakes/step-bin:/usr/bin:/bin", "HOME": str(root / "home"), "USER": "alice",
            "LOGNAME": "alice", "SHELL": "/bin/sh", "LC_ALL": "C.UTF-8", "SGE_ROOT": "/nonexistent", "SGE_CELL": "oracle",
            "SLURM_SHIM_GE_BIN": str(root / "tools"), "SLURM_SHIM_CONFIG": str(root / "config.yaml"),
            "FAKE_GE_DIR": str(root / "engine"), "FAKE_GE_PAR": "1", "FAKE_GE_QUEUES": "batch.q gpu.q debug.q spare.q",
            "FAKE_GE_HOSTS": "node001 node002 node003 node004 node005 node006", "FAKE_QRSH": str(root / "qrsh"),
            "FAKE_QRSH_FIRST": str(FIRST), "FAKE_QRSH_HOSTS": GRANTS.get(case["id"], "node001:1"), "SHIM_BIN": links,
            "STARTER": str(REPO / "scripts/starter_method.sh")}


def execute(case, links):
    with tempfile.TemporaryDirectory(prefix="allocation-", dir="/tmp") as folder:
        root = pathlib.Path(folder)
        make_world(root, case)
        done = subprocess.run(["bash", "-c", case["cmd"]], stdin=subprocess.DEVNULL, capture_output=True, text=True,
                              cwd=root / "cwd", env=environment(root, case, links), timeout=120, check=False)
        texts = [text.replace(str(root / "cwd"), "{CWD}").replace(str(FIRST), "{JOBID}") for text in (done.stdout, done.stderr)]
        return {"rc": done.returncode, "stdout": re.sub(r"(?m)^(SLURM_SUBMIT_HOST)=.*", r"\1=login", texts[0]), "stderr": texts[1]}


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("links")
    parser.add_argument("vectors")
    parser.add_argument("--only", default="")
    options = parser.parse_args()
    topic = json.loads(pathlib.Path(options.vectors).read_text(encoding="utf-8"))
    listed = json.loads((HERE / "deviations.json").read_text(encoding="utf-8")).get(topic["topic"], {})
    failed = deviate = passed = 0
    for case in topic["cases"]:
        if not case["robust"] or not re.match(r"(salloc|srun)\.", case["id"]) or not re.search(options.only, case["id"]):
            continue
        found = run_vectors.differences(case, execute(case, os.path.abspath(options.links)), ("rc", "stdout", "stderr"))
        if run_vectors.agrees(found, listed.get(case["id"])):
            deviate, passed = deviate + bool(found), passed + (not found)
            continue
        failed += 1
        print("FAIL %s: %s" % (case["id"], case["cmd"]))
        print("\n".join(found.values()) if found else "    listed as a deviation, but it does not differ")
    print("allocations: %d passed, %d deviate as listed, %d failed" % (passed, deviate, failed))
    return 0 if failed == 0 and passed else 1


if __name__ == "__main__":
    sys.exit(main())
