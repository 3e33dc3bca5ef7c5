#!/usr/bin/env python3
"""The blocks of the documentation that need a cluster, page by page."""
import pathlib
import re
import subprocess
import sys

from cluster import ROOT, Failed, expect, run

sys.path.insert(0, str(ROOT / "tests/support"))
import doc_blocks  # noqa: E402


def torch():
    """Debian's PyTorch, made once for this machine, as SGE_ROOT/torch."""
    made = subprocess.run([ROOT / "docker/torch"], stdout=subprocess.PIPE, text=True, timeout=600, check=True)
    subprocess.run([ROOT / "docker/cluster", "put", made.stdout.strip(), "torch"], timeout=300, check=True)


def standins():
    """The stand-ins of tools that Debian does not have, as SGE_ROOT/standins."""
    subprocess.run([ROOT / "docker/cluster", "put", ROOT / "tests/recipes", "standins"], timeout=300, check=True)


NEEDS = {"torch/activate": torch, "standins/activate": standins}  # by what a block reads


def page(path):
    blocks, problems = doc_blocks.read(path)

    def check(c):
        expect(not problems, problems)
        for name, put in NEEDS.items():
            if any(name in block.text for block in blocks):
                put()
        for block, output in doc_blocks.groups(blocks):
            if block.kind == "file":
                c.write(block.value, block.text, "755")
            elif block.kind in ("cluster", "admin"):
                user = "root" if block.kind == "admin" else "user1"
                done = c.exec("bash", "-e", "-o", "pipefail", "-c", block.text, user=user, timeout=300)
                seen = f"{done.stdout}{done.stderr}"
                c.jobs += re.findall(r"(?m)^Submitted batch job (\d+)", done.stdout)
                expect(done.returncode == block.rc, f"{block.place}: exit {done.returncode}: {seen}")
                if output and not doc_blocks.matches(output.text, done.stdout):
                    raise Failed(f"{output.place}: saw\n{seen}")

    check.__name__ = re.sub(r"\W", "_", pathlib.Path(path).with_suffix("").as_posix())
    runs = any(block.kind in ("cluster", "admin") for block in blocks)
    return check if runs else None


run(*filter(None, map(page, doc_blocks.documents())))
