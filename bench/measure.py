"""CPU time and memory of process trees, from the kernel's own books (rusage, /proc)."""
import os
import re
import resource
import statistics
import time


def cpu_of(usage):
    return usage.ru_utime + usage.ru_stime


class Failed(Exception):
    """A measured command did not do what it was to do."""


class Runner:
    """Starts programs in one environment with /dev/null on stdin and stderr to a file."""

    def __init__(self, env, errors):
        self.env = env
        self.errors = errors  # path of a file that takes stderr

    def start(self, argv, stdout="/dev/null", stdin="/dev/null"):
        actions = [
            (os.POSIX_SPAWN_OPEN, 0, stdin, os.O_RDONLY, 0),
            (os.POSIX_SPAWN_OPEN, 1, stdout, os.O_WRONLY, 0),
            (os.POSIX_SPAWN_OPEN, 2, self.errors, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600),
        ]
        return os.posix_spawn(argv[0], argv, self.env, file_actions=actions)

    def wait(self, pid, argv):
        """CPU seconds of the child and everything that it waited for."""
        _, status, usage = os.wait4(pid, 0)
        code = os.waitstatus_to_exitcode(status)
        if code != 0:
            with open(self.errors, encoding="utf-8", errors="replace") as file:
                raise Failed(f"{' '.join(argv[:4])}: exit {code}: {file.read(300).strip()}")
        return cpu_of(usage)

    def cpu(self, argv, **redirections):
        return self.wait(self.start(argv, **redirections), argv)

    def spawn_loop(self, argv, count):
        """CPU of `count` plain spawns: the children and the caller's part of starting them."""
        before = cpu_of(resource.getrusage(resource.RUSAGE_SELF))
        pids = [self.start(argv) for _ in range(count)]
        children = sum(self.wait(pid, argv) for pid in pids)
        return children + cpu_of(resource.getrusage(resource.RUSAGE_SELF)) - before

    def pipeline_cpu(self, first, second):
        """CPU of `first | second > /dev/null`."""
        read_end, write_end = os.pipe()
        null = os.open("/dev/null", os.O_RDWR)
        spawn = lambda argv, source, target: os.posix_spawn(
            argv[0], argv, self.env,
            file_actions=[(os.POSIX_SPAWN_DUP2, source, 0), (os.POSIX_SPAWN_DUP2, target, 1)])
        pids = [spawn(first, null, write_end), spawn(second, read_end, null)]
        for fd in (read_end, write_end, null):
            os.close(fd)
        return sum(self.wait(pid, first) for pid in pids)


def medians(rounds, **cases):
    """The median of each case, the cases taken in turn so that all see the same machine."""
    seen = {name: [] for name in cases}
    for _ in range(rounds):
        for name, case in cases.items():
            seen[name].append(case())
    return {name: statistics.median(values) for name, values in seen.items()}


def children(pid):
    try:
        with open(f"/proc/{pid}/task/{pid}/children", encoding="ascii") as file:
            return [int(word) for word in file.read().split()]
    except OSError:
        return []


def status(pid):
    """VmHWM and VmPeak in MiB, and the argument list."""
    with open(f"/proc/{pid}/status", encoding="utf-8", errors="replace") as file:
        text = file.read()
    with open(f"/proc/{pid}/cmdline", "rb") as file:
        words = file.read().decode(errors="replace").split("\0")
    value = lambda key: int(re.search(rf"^{key}:\s+(\d+) kB", text, re.M)[1]) / 1024
    return value("VmHWM"), value("VmPeak"), words


def wait_until(probe, what, seconds=60):
    deadline = time.monotonic() + seconds
    while not probe():
        if time.monotonic() > deadline:
            raise Failed(f"not within {seconds} s: {what}")
        time.sleep(0.01)
