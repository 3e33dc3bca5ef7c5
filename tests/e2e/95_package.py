#!/usr/bin/env python3
"""The .deb from installation to removal: put into a clean Debian system that is an admin host of the cluster, a queue
of its own wired from it, a job through that queue, everything taken out again."""
import base64
import os
import pathlib
import subprocess
import tempfile

from cluster import ROOT, expect, expect_equal, run

PREFIX = "/opt/ge/pkg-shim"
WIRING = f"slurm-shim install --prefix {PREFIX} --pe pkg-shim --queue pkg.q"
OBJECTS = 'for q in $(qconf -sql); do qconf -sq "$q"; done; qconf -spl; qconf -sc'

# A system of its own on the node: the node's Debian tree, which nothing of ours was ever put into, with a layer to
# write to that ends with the call. The cluster's cell and name look-up come from the node.
SYSTEM = r"""
set -euo pipefail
mount -t tmpfs tmpfs /mnt
mkdir /mnt/upper /mnt/work /mnt/root
mount -t overlay overlay -o lowerdir=/,upperdir=/mnt/upper,workdir=/mnt/work /mnt/root
for folder in proc dev opt/ge home; do mount --rbind "/$folder" "/mnt/root/$folder"; done
mount --bind /etc/hosts /mnt/root/etc/hosts
cp "$package" /mnt/root/root/
exec chroot /mnt/root env PATH="${PATH//\/opt\/ge\/slurm-shim\/bin/}" bash -euo pipefail -c "$script"
"""

INSTALL = r"""
cd /root
! command -v slurm-shim
ours() { find / -xdev -name '*slurm-shim*' -not -path '/var/lib/dpkg/*' -not -path '/root/*' -print | sort; }
ours > before
dpkg -i slurm-shim_*.deb
slurm-shim --version
echo PLAN
WIRING
echo APPLY
WIRING --apply --yes
echo AGAIN
WIRING --apply --yes
echo REMOVE
prefix=PREFIX
cp -r /usr/lib/slurm-shim/share "$prefix/"
test -e "$prefix/share/man/man1/sbatch.1"
test -e "$prefix/share/bash-completion/completions/sbatch"
dpkg -r slurm-shim
ours | comm -13 before -
""".replace("WIRING", WIRING).replace("PREFIX", PREFIX)

UNWIRE = r"""
queue=pkg.q
qconf -mattr queue starter_method NONE "$queue"
for pe in $(qconf -spl | grep '^pkg-shim'); do
    qconf -dattr queue pe_list "$pe" "$queue"
    qconf -dp "$pe"
done
"""


def in_a_clean_system(c, package, script):
    return c.exec("env", f"package={package}", f"script={script}", "unshare", "-m", "bash", "-c", SYSTEM, user="root",
                  cwd="/", timeout=300)


def put_package(c, folder):
    """Makes the packages of the release build and puts the .deb where root on the node finds it."""
    subprocess.run([str(ROOT / "scripts/dist"), "--output", folder], check=True, stdout=subprocess.DEVNULL,
                   env={**os.environ, "SOURCE_DATE_EPOCH": "1700000000"})
    deb, = pathlib.Path(folder).glob("*.deb")
    text = base64.b64encode(deb.read_bytes()).decode()
    done = c.exec("bash", "-c", f"umask 022; base64 -d > /opt/ge/{deb.name}", user="root", cwd="/", stdin=text)
    expect_equal(done.returncode, 0, f"copying the package ({done.stderr})")
    return f"/opt/ge/{deb.name}"


def from_installation_to_removal(c):
    with tempfile.TemporaryDirectory() as folder:
        package = put_package(c, folder)
    before = c.ok("bash", "-c", OBJECTS, user="root", cwd="/")
    try:
        c.ok("bash", "-c", 'cd /tmp && qconf -sq batch.q | sed -e "s/^qname .*/qname pkg.q/" -e "/^pe_list/,/[^\\\\]$/d" '
             '-e "s/^starter_method .*/starter_method NONE/" > pkg.q && echo "pe_list NONE" >> pkg.q && qconf -Aq pkg.q',
             user="root", cwd="/")
        queue = c.ok("qconf", "-sq", "pkg.q")

        done = in_a_clean_system(c, package, INSTALL)
        expect_equal(done.returncode, 0, f"exit code ({done.stdout}{done.stderr})")
        plan, rest = done.stdout.split("PLAN\n")[1].split("APPLY\n")
        applied, rest = rest.split("AGAIN\n")
        again, removed = rest.split("REMOVE\n")
        expect("nothing has been changed" in plan, f"plan: {plan}")
        expect("starter_method" in applied, f"applied: {applied}")
        expect("0 to create, 0 to modify" in again, f"second run: {again}")
        expect_equal([line for line in removed.splitlines() if line.startswith("/")], [], "left after dpkg -r")

        path = f'PATH={PREFIX}/bin:$PATH; '
        done = c.shell(path + "sbatch --wait --nodes=2 --ntasks-per-node=2 --output=out --wrap 'srun -l hostname'")
        expect_equal(done.returncode, 0, f"sbatch ({done.stdout}{done.stderr})")
        ranks = sorted(c.read("out").split())
        expect_equal([rank for rank in ranks if rank.endswith(":")], ["0:", "1:", "2:", "3:"], "ranks")
        job = done.stdout.split()[-1]
        expect_equal(c.accounting(job)["qname"], "pkg.q", "queue of the job")

        c.ok("bash", "-euc", UNWIRE, user="root", cwd="/")
        expect_equal(c.ok("qconf", "-sq", "pkg.q"), queue, "the queue without the wiring")
    finally:
        c.exec("bash", "-c", f'{UNWIRE}qconf -dq pkg.q; rm -rf {PREFIX} {package} /tmp/pkg.q', user="root", cwd="/")
    expect_equal(c.ok("bash", "-c", OBJECTS, user="root", cwd="/"), before, "objects of the engine")


run(from_installation_to_removal)
