#!/usr/bin/env python3
"""Jobs that know nothing of the shim run in its queues as they would without it."""
from cluster import NODES, expect, expect_equal, run


def sync(c, *words):
    """qsub that waits; the job's exit code."""
    done = c.exec("qsub", "-cwd", "-sync", "y", "-terse", *words)
    expect(done.stdout.split(), f"qsub {words}: exit {done.returncode}: {done.stderr}")
    c.jobs.append(done.stdout.split()[0].split(".")[0])
    return done.returncode


def script_keeps_arguments_and_exit_code(c):
    c.write("plain.sh", '#!/bin/bash\nprintf "[%s]" "$@"; echo; env | grep -c ^SLURM_; exit 7\n')
    code = sync(c, "-q", "batch.q", "-o", "out", "-j", "y", "plain.sh", "a b", "*", "", "$HOME", "c'd")
    expect_equal(code, 7, "exit code")
    expect_equal(c.read("out"), "[a b][*][][$HOME][c'd]\n0\n", "output")


def command_without_script(c):
    expect_equal(sync(c, "-q", "gpu.q", "-b", "y", "-o", "out", "-j", "y", "echo", "two  blanks"), 0, "code")
    expect_equal(c.read("out").split(), ["two", "blanks"], "output")


def queue_whose_shell_runs_scripts(c):
    # Grid Engine's default: the shell gets a script whatever its first line says. Commands are none.
    mode = "qconf -mattr queue shell_start_mode"
    c.ok("bash", "-c", f"{mode} posix_compliant gpu.q", user="root", cwd="/")
    try:
        c.write("script.sh", "#!/bin/false\necho script $1\n")
        expect_equal(sync(c, "-q", "gpu.q", "-o", "out", "-j", "y", "script.sh", "one"), 0, "code of a script")
        expect_equal(sync(c, "-q", "gpu.q", "-b", "y", "-o", "out", "-j", "y", "echo", "two"), 0, "code of a command")
    finally:
        c.ok("bash", "-c", f"{mode} unix_behavior gpu.q", user="root", cwd="/")
    expect_equal(c.read("out").split(), ["script", "one", "two"], "output")


def scripts_of_other_languages(c):
    c.write("other.py", "#!/usr/bin/python3\nimport sys\nprint('python', sys.version_info[0])\n")
    expect_equal(sync(c, "-o", "out", "-j", "y", "other.py"), 0, "code")
    expect_equal(c.read("out"), "python 3\n", "output")


def many_lines_come_out_whole(c):
    c.write("lines.sh", "#!/bin/bash\nseq 200000\n")
    expect_equal(sync(c, "-o", "out", "-j", "y", "lines.sh"), 0, "code")
    expect_equal(c.ok("bash", "-c", "seq 200000 | cmp - out && echo same").strip(), "same", "output")


def mpi_style_tasks_reach_every_host(c):
    # What a tightly integrated MPI does: one foreign command per host, its words untouched.
    c.write("mpi.sh", '#!/bin/bash\nwhile read -r host _; do\n'
            '  qrsh -inherit -nostdin -noshell "$host" /bin/bash -c \'printf "%s|" "$(hostname)" "$@"; echo; exit 3\' - '
            '"a b" "*" "\\$x"\n  echo "code $?"\ndone < "$PE_HOSTFILE"\n')
    expect_equal(sync(c, "-o", "out", "-j", "y", "-pe", "mpi", "3", "mpi.sh"), 0, "code")
    lines = c.read("out").splitlines()
    expect_equal(sorted(lines[0::2]), [f"{node}|a b|*|$x|" for node in NODES], "words")
    expect_equal(lines[1::2], ["code 3"] * 3, "exit codes")


def array_tasks_each_run(c):
    c.write("array.sh", "#!/bin/bash\necho $SGE_TASK_ID > task.$SGE_TASK_ID\n")
    expect_equal(sync(c, "-t", "1-3", "-o", "/dev/null", "-j", "y", "array.sh"), 0, "code")
    expect_equal(c.ok("bash", "-c", "cat task.*").split(), ["1", "2", "3"], "tasks")


run(script_keeps_arguments_and_exit_code, command_without_script, queue_whose_shell_runs_scripts,
    scripts_of_other_languages, many_lines_come_out_whole, mpi_style_tasks_reach_every_host,
    array_tasks_each_run)
