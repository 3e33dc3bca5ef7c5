#!/usr/bin/env python3
"""Devices of jobs and steps over three hosts. This engine counts devices and names none, so that a qstat of our own
adds to the real answer what a file says was granted; hook, starter, srun and steppers are the real ones.
"""
import json

from cluster import NODES, expect, expect_equal, run

TOOLS = "/opt/ge/bin/lx-amd64"
MASKS = ("CUDA_VISIBLE_DEVICES", "ROCR_VISIBLE_DEVICES", "HIP_VISIBLE_DEVICES", "GPU_DEVICE_ORDINAL", "ZE_AFFINITY_MASK")
# Rank, host, what the step has there, and every mask that is set.
SHOW = ("#!/bin/sh\necho $SLURM_PROCID $SLURMD_NODENAME on=${SLURM_GPUS_ON_NODE-none} step=${SLURM_STEP_GPUS-none} "
        + " ".join("${%s+%s=$%s}" % (name, name, name) for name in MASKS) + "\n")
QSTAT = f"""#!/usr/bin/env python3
import json, os, subprocess, sys
done = subprocess.run(["{TOOLS}/qstat", *sys.argv[1:]], capture_output=True, text=True)
answer = done.stdout
if sys.argv[1:3] == ["-xml", "-j"]:
    grant = json.load(open(os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "grant.json")))
    granted = "".join(
        "<element><GRU_type>2</GRU_type><GRU_name>gpu</GRU_name><GRU_resource_map_list>"
        + "".join(f"<element><RESL_value>{{id}}</RESL_value><RESL_amount>1</RESL_amount></element>" for id in ids)
        + f"</GRU_resource_map_list><GRU_host>{{host}}</GRU_host></element>" for host, ids in grant.items())
    mark = "<JAT_task_number>1</JAT_task_number>"
    answer = answer.replace(mark, mark + f"<JAT_granted_resources_list>{{granted}}</JAT_granted_resources_list>")
sys.stdout.write(answer)
sys.stderr.write(done.stderr)
sys.exit(done.returncode)
"""
# Ids differ from host to host, as on hosts whose devices are partly taken.
GRANT = {NODES[0]: ["0", "1"], NODES[1]: ["2", "3"], NODES[2]: ["GPU-8932f937", "5"]}


def job(c, body, grant=None, config="gpu: {gres_complex: gpu, vendor: nvidia}\n", words=()):
    """Runs a script in a job of three hosts that was granted that; returns what it printed, as lines."""
    c.ok("bash", "-c", f"mkdir -p bin && ln -sf {TOOLS}/q* bin/ && rm -f bin/qstat")
    c.write("bin/qstat", QSTAT, "755")
    c.write("grant.json", json.dumps(grant or GRANT))
    c.write("show", SHOW, "755")
    c.ok("bash", "-c", "grep -vE '^(gpu:|  gres_complex:)' /opt/ge/slurm-shim/etc/config.yaml > gpu.yaml || true")
    c.write("gpu.yaml", c.read("gpu.yaml") + config)
    c.write("job.sh", "#!/bin/bash\n" + body, "755")
    where = "SLURM_SHIM_GE_BIN=$PWD/bin SLURM_SHIM_CONFIG=$PWD/gpu.yaml"
    number = c.ok("bash", "-c", f"{where} sbatch --parsable -N3 -n6 --ntasks-per-node=2 --gpus-per-node=2 -o job.out -e job.err "
                  f"{' '.join(words)} job.sh").strip()
    c.jobs.append(number)
    c.wait_gone(number)
    return c.read("job.out").splitlines()


def devices(lines, grant=None):
    """rank -> (host, its devices); each rank has exactly one variable, and it agrees with the step's."""
    out = {}
    for line in lines:
        rank, host, _, step, *masks = line.split()
        expect_equal(masks, ["CUDA_VISIBLE_DEVICES=" + step.removeprefix("step=")], f"masks in {line!r}")
        out[int(rank)] = (host, step.removeprefix("step=").split(","))
    for host, seen in out.values():
        expect(set(seen) <= set((grant or GRANT)[host]), f"{host} was not granted {seen}")
    return out


def each_host_and_task_has_its_own(c):
    lines = job(c, "srun ./show\necho --\nsrun --gpus-per-task=1 ./show\necho --\nsrun --gpu-bind=single:2 ./show\necho --\n"
                "srun --gpu-bind=map_gpu:1,0 ./show\necho --\nsrun -N3 -n3 --ntasks-per-node=1 --gpus-per-node=1 ./show\n")
    plain, each, single, mapped, node = [devices(part.split("\n")) for part in "\n".join(lines).split("\n--\n")]
    for rank, (host, seen) in plain.items():
        expect_equal(seen, GRANT[host], f"rank {rank} without a request")
    for rank in range(6):
        host, first, second = plain[rank][0], *GRANT[plain[rank][0]]
        expect_equal(each[rank], (host, [first, second][rank % 2:][:1]), f"--gpus-per-task, rank {rank}")
        expect_equal(single[rank], (host, [first]), f"single:2, rank {rank}")
        expect_equal(mapped[rank], (host, [second, first][rank % 2:][:1]), f"map_gpu, rank {rank}")
    expect_equal({host: seen for host, seen in node.values()}, {host: ids[:1] for host, ids in GRANT.items()}, "--gpus-per-node")
    expect_equal(c.read("job.err"), "", "messages")


def the_script_has_the_batch_hosts_and_inherits_none(c):
    shown = " ".join("${%s+%s=$%s}" % (name, name, name) for name in MASKS)
    lines = job(c, f"echo $SLURMD_NODENAME $SLURM_GPUS_ON_NODE $SLURM_JOB_GPUS {shown}\n"
                + "".join(f"export {name}=7\n" for name in MASKS) + "srun ./show\n",
                words=[f"--export=ALL,{','.join(f'{name}=7' for name in MASKS)}"])
    host, count, ids, *masks = lines[0].split()
    wanted = ",".join(GRANT[host])
    expect_equal((count, ids, masks), ("2", wanted, [f"CUDA_VISIBLE_DEVICES={wanted}"]), "the script's")
    expect_equal(len(devices(lines[1:])), 6, "ranks")


def amd_and_hosts_without_a_grant(c):
    grant = {NODES[0]: ["0"], NODES[1]: ["1"]}
    lines = job(c, "export CUDA_VISIBLE_DEVICES=7 ROCR_VISIBLE_DEVICES=7\nsrun -n3 -N3 ./show\n", grant,
                "gpu: {gres_complex: gpu, vendor: amd}\n")
    seen = {line.split()[1]: line.split()[2:] for line in lines}
    expect_equal(seen, {NODES[0]: ["on=1", "step=0", "ROCR_VISIBLE_DEVICES=0"],
                        NODES[1]: ["on=1", "step=1", "ROCR_VISIBLE_DEVICES=1"], NODES[2]: ["on=none", "step=none"]}, "masks")


def steps_side_by_side_share_nothing(c):
    hold = "sh -c './show >> held; until [ -e end ]; do sleep 0.1; done'"
    lines = job(c, f"srun -N3 -n3 --gpus-per-task=1 {hold} &\nsrun -N3 -n3 --gpus-per-task=1 {hold} &\n"
                "until [ \"$(grep -c . held 2>/dev/null)\" = 6 ]; do sleep 0.1; done\n"
                # Slots are free where only devices are asked for; the devices are all taken.
                "srun --overcommit -I -N1 -n1 --gpus=1 touch never 2>> refused; echo code $?\n"
                "srun --overcommit -N1 -n1 --gpus-per-node=0 ./show\nsrun --overlap -N3 -n3 --gpus-per-task=1 true; echo code $?\n"
                "touch end; wait; cat held\n")
    expect_equal([line for line in lines if line.startswith("code")], ["code 1", "code 0"], f"codes ({c.read('job.err')})")
    expect("on=none step=none" in lines[1] and "VISIBLE" not in lines[1], f"--gpus-per-node=0: {lines[1]!r}")
    expect("Requested nodes are busy" in c.read("refused"), "the refusal")
    expect(not c.exists("never"), "the refused step ran")
    held = [line.split() for line in lines[3:]]
    for host in NODES:
        seen = [words[4] for words in held if words[1] == host]
        expect_equal(sorted(seen), sorted(f"CUDA_VISIBLE_DEVICES={id}" for id in GRANT[host]), f"devices of {host}")


def more_than_was_granted_starts_nothing(c):
    cases = {"-N3 -n6 --gpus-per-task=2": "--gpus-per-task=2 exceeds the 2 GPUs granted on ",
             "-N3 --gpus-per-node=3": "--gpus-per-node=3 exceeds the 2 GPUs granted on ",
             "-N3 -G7": "--gpus=7 exceeds the 6 GPUs granted on the hosts of the step",
             "-N1 -n1 --gpu-bind=map_gpu:5": "--gpu-bind=map_gpu: task 0 of "}
    lines = job(c, "".join(f"srun {words} touch started\necho $?\n" for words in cases) + "srun -n1 -N1 sh -c 'echo $SLURM_STEP_ID'\n")
    expect_equal(lines, ["1"] * len(cases) + ["0"], "codes, and the number of the next step")
    told = c.read("job.err")
    for message in cases.values():
        expect(message in told, f"no {message!r} in {told!r}")
    expect(not c.exists("started"), "a refused step ran")


def devices_that_are_only_counted(c):
    """What this engine really does: each way of asking works, and no mask is invented."""
    c.write("show", SHOW, "755")
    for asked in ("--gpus-per-node=1", "--gres=gpu:1"):
        c.wait_gone(c.script(f"srun {asked} ./show\n", "-N2", "-n2", asked, "-o", "job.out", "-e", "job.err"))
        expect_equal(sorted(line.split()[2:] for line in c.read("job.out").splitlines()), [["on=none", "step=none"]] * 2,
                     f"{asked} ({c.read('job.err')})")
        expect_equal(c.read("job.err"), f"srun: warning: {asked} has no effect: the engine does not tell which GPUs the job has\n",
                     "messages")
    done = c.exec("srun", "-N1", "-n1", "--gpus-per-node=1", "./show")
    expect_equal((done.returncode, done.stdout.split()[2:]), (0, ["on=none", "step=none"]), f"a job of its own: {done.stderr}")


run(each_host_and_task_has_its_own, the_script_has_the_batch_hosts_and_inherits_none, amd_and_hosts_without_a_grant,
    steps_side_by_side_share_nothing, more_than_was_granted_starts_nothing, devices_that_are_only_counted)
