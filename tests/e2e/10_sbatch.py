#!/usr/bin/env python3
"""sbatch end to end: output whole, directives, environment, exit codes, refusals."""
import pathlib

from cluster import NODES, ROOT, expect, expect_equal, run


def default_output_file(c):
    job = c.script("echo out; echo err >&2\n")
    c.wait_gone(job)
    expect_equal(c.read(f"slurm-{job}.out"), "out\nerr\n", "output")


def large_output_is_whole(c):
    job = c.script("seq 300000; seq 300000 >&2\n", "-o", "o.%j", "-e", "e.%x")
    c.wait_gone(job)
    c.ok("bash", "-c", f"seq 300000 | cmp - o.{job} && seq 300000 | cmp - e.job.sh")


def directives_and_script_arguments(c):
    job = c.script("#SBATCH --job-name=named\n#SBATCH -o %x-%j.txt\n#SBATCH --comment='not us'\n"
                   'printf "%s|" "$SLURM_JOB_NAME" "$@"\n')
    c.wait_gone(job)
    expect_equal(c.read(f"named-{job}.txt"), "named|", "without arguments")
    job = c.sbatch("-J", "cli", "job.sh", "a b", "--nodes=9", "$HOME")
    c.wait_gone(job)
    expect_equal(c.read(f"cli-{job}.txt"), "cli|a b|--nodes=9|$HOME|", "with arguments")


def late_output_folder(c):
    job = c.script("echo here\n", "-o", "made/late/%j.out")
    c.wait_gone(job)
    expect_equal(c.read(f"made/late/{job}.out"), "here\n", "output")


def stdin_wrap_and_chdir(c):
    job = c.sbatch("-o", "stdin.out", stdin="#!/bin/bash\necho from stdin\n")
    c.wait_gone(job)
    expect_equal(c.read("stdin.out"), "from stdin\n", "script from stdin")
    c.ok("mkdir", "sub")
    job = c.sbatch("--chdir=sub", "-o", "w.out", "--wrap", "pwd")
    c.wait_gone(job)
    expect_equal(c.read("sub/w.out"), f"{c.folder}/sub\n", "working directory")


def parsable(c):
    done = c.exec("sbatch", "--parsable", "-o", "/dev/null", "--wrap", "true")
    expect(done.stdout.strip().isdigit(), f"--parsable printed {done.stdout!r}")
    c.jobs.append(done.stdout.strip())


def users_environment_travels(c):
    c.write("submit", '#!/bin/bash\nexport ODD=$\'line 1\\nline 2 \\\\ "q"\'\nexport LD_LIBRARY_PATH=/opt/x\n'
            'hello() { echo "hello $1"; }\nexport -f hello\nexec sbatch "$@"\n', "755")
    c.write("job.sh", '#!/bin/bash\nprintf "%s|%s|" "$ODD" "$LD_LIBRARY_PATH"; hello world\n')
    done = c.exec("./submit", "-o", "all.out", "job.sh")
    expect(done.returncode == 0, done.stderr)
    c.jobs.append(done.stdout.split()[-1])
    c.wait_gone(c.jobs[-1])
    expect_equal(c.read("all.out"), 'line 1\nline 2 \\ "q"|/opt/x|hello world\n', "environment")
    job = c.sbatch("--export=ONLY=this", "-o", "only.out", "--wrap", 'echo "$ONLY,$ODD,$SLURM_JOB_ID"')
    c.wait_gone(job)
    expect_equal(c.read("only.out"), f"this,,{job}\n", "--export=ONLY=this")


def exit_codes_reach_accounting(c):
    for code, wanted in (("exit 3", 3), ("exit 99", 1), ("exit 100", 1), ("kill -TERM $$", 143)):
        job = c.script(code + "\n", "-o", "/dev/null")
        c.wait_gone(job)
        expect_equal(c.exit_status(job), wanted, f"exit_status after '{code}'")


def geometry_is_exact(c):
    job = c.script('echo "$NHOSTS $NSLOTS $SLURM_JOB_NUM_NODES $SLURM_NTASKS $SLURM_TASKS_PER_NODE"\n',
                   "--nodes=3", "--ntasks-per-node=2", "-o", "geo.out")
    c.wait_gone(job)
    expect_equal(c.read("geo.out").split(), ["3", "6", "3", "6", "2(x3)"], "geometry")


def write_published_scripts(c):
    for name in ("post.sh", "textbook.sh"):
        c.write(name, pathlib.Path(ROOT / "demo" / name).read_text())


def published_scripts_are_refused_unscaled(c):
    write_published_scripts(c)
    for name, words in (("post.sh", "Requested node configuration is not available"),
                        ("textbook.sh", "invalid partition specified: training")):
        done = c.exec("sbatch", name)
        expect_equal(done.returncode, 1, f"exit code of sbatch {name}")
        expect(words in done.stderr, f"sbatch {name}: {done.stderr!r}")
        expect_equal(done.stdout, "", f"stdout of sbatch {name}")
    expect_equal(c.known_jobs(), [], "jobs")


def published_scripts_are_accepted_scaled(c):
    write_published_scripts(c)
    for words in (("--nodes=3", "--gpus-per-node=2", "post.sh"),
                  ("-p", "batch", "--nodes=3", "--ntasks-per-node=2", "--gpus-per-node=2", "--time=5", "textbook.sh")):
        c.ok("scancel", c.sbatch("--hold", *words))


def job_environment_of_three_nodes(c):
    job = c.script('echo "$SLURM_JOB_NODELIST"; scontrol show hostnames; hostname; echo "$SLURM_SUBMIT_DIR"\n',
                   "--nodes=3", "--ntasks-per-node=1", "-o", "env.out")
    c.wait_gone(job)
    lines = c.read("env.out").splitlines()
    expect_equal(sorted(lines[1:4]), NODES, "hosts")
    expect_equal(lines[1], lines[4], "first host is the batch host")
    expect_equal(lines[5], c.folder, "SLURM_SUBMIT_DIR")


def own_remote_tasks_are_left_alone(c):
    # What an MPI launcher does inside the job: one foreign task per host, the master host included.
    job = c.script('while read -r host _; do\n'
                   '  qrsh -inherit -nostdin -noshell "$host" /bin/bash -c '
                   "'printf \"%s|\" \"$(hostname)\" \"${SLURM_JOB_ID-none}\" \"$@\"; echo; exit 3' - \"a b\" \"*\"\n"
                   '  echo "code $?"\ndone < "$PE_HOSTFILE"\n',
                   "--nodes=3", "--ntasks-per-node=1", "-o", "tasks.out")
    c.wait_gone(job)
    lines = c.read("tasks.out").splitlines()
    expect_equal(sorted(lines[0::2]), [f"{node}|none|a b|*|" for node in NODES], "tasks")
    expect_equal(lines[1::2], ["code 3"] * 3, "exit codes")


run(default_output_file, large_output_is_whole, directives_and_script_arguments, late_output_folder,
    stdin_wrap_and_chdir, parsable, users_environment_travels, exit_codes_reach_accounting,
    geometry_is_exact, own_remote_tasks_are_left_alone, published_scripts_are_refused_unscaled,
    published_scripts_are_accepted_scaled, job_environment_of_three_nodes)
