#!/usr/bin/env python3
"""The released binary: fully static, without name services, cheap to start (decision 30).

usage: static_check.py BIN_DIR
"""
import os
import re
import shutil
import subprocess
import sys
import tempfile
import unittest

BIN = os.path.abspath(sys.argv.pop(1))
SHIM = os.path.join(BIN, "slurm-shim")
SOURCE = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "src")

# Name services, and the marks of libcrypto's provider core (which loads libraries).
FORBIDDEN = {"getaddrinfo", "gethostbyname", "getpwnam", "getpwnam_r", "getpwuid", "getpwuid_r",
             "getgrnam", "getgrgid", "DSO_load", "ossl_provider_new", "OPENSSL_init_crypto"}
MAX_RELOCATIONS = 8000
# The section that docs/decisions/0004 tells of, and some of what has to be in it.
MAX_STEP_TEXT = 1_300_000
STEP = ["malloc", "__libc_start_main", "std::locale::_S_initialize()", "YAML::Scanner::ScanNextToken()",
        "shim::stepper::stepper_main(std::span<char* const, 18446744073709551615ul>)"]


def output_of(*words):
    return subprocess.run(words, check=True, capture_output=True, text=True, timeout=120,
                          env=dict(os.environ, LC_ALL="C")).stdout


def addresses():
    return {name: int(at, 16) for at, name in re.findall(r"(?m)^([0-9a-f]+) \w (.+)$", output_of("nm", "-C", SHIM))}


class StaticBinary(unittest.TestCase):
    def test_it_needs_no_loader_and_no_library(self):
        headers = output_of("readelf", "--wide", "--program-headers", "--dynamic", SHIM)
        self.assertNotIn("INTERP", headers)
        self.assertNotIn("(NEEDED)", headers)
        self.assertRegex(headers, r"Elf file type is DYN")  # static-pie

    def test_it_holds_no_name_service(self):
        symbols = {line.split()[-1].split("@")[0] for line in output_of("nm", SHIM).splitlines()}
        self.assertIn("main", symbols, "the binary is stripped: nothing can be said")
        self.assertEqual(symbols & FORBIDDEN, set())

    def test_nothing_calls_dlopen(self):
        # glibc puts the function itself into every static program, also an empty one.
        code = output_of("objdump", "--disassemble", "--no-show-raw-insn", SHIM)
        calls = re.findall(r"(?:call|jmp)\s+[0-9a-f]+ <([^>+]+)>", code)
        self.assertIn("main", code)
        self.assertGreater(len(calls), 1000)
        self.assertEqual([c for c in calls if c.lstrip("_") == "dlopen"], [])

    def test_it_has_few_relocations(self):
        text = output_of("readelf", "--wide", "--relocs", SHIM)
        counts = [int(n) for n in re.findall(r"contains (\d+) entr", text)]
        self.assertTrue(counts)
        self.assertLess(sum(counts), MAX_RELOCATIONS)

    def test_what_runs_before_constructors_needs_none(self):
        # stepper and rank-exec (docs/decisions/0002): Asio's channels and the log are not theirs.
        symbols = output_of("nm", SHIM)
        constructed = set(re.findall(r"_GLOBAL__sub_I_(\w+\.cpp)", symbols))
        self.assertIn("channel.cpp", constructed, "the names of constructors are not as thought")
        theirs = {name for module in ("base", "posix", "proto", "slurm", "stepper")
                  for name in os.listdir(os.path.join(SOURCE, module))}
        self.assertEqual(constructed & theirs, {"channel.cpp", "listener.cpp", "log.cpp"})

    def test_what_a_step_runs_lies_together(self):
        sections = output_of("readelf", "--wide", "--sections", SHIM)
        found = re.search(r"\] \.text\.step\s+PROGBITS\s+([0-9a-f]+)\s+[0-9a-f]+\s+([0-9a-f]+)", sections)
        self.assertTrue(found, sections)
        begin, size = int(found[1], 16), int(found[2], 16)
        self.assertLess(size, MAX_STEP_TEXT)
        symbols = addresses()
        far = [name for name in STEP if not begin <= symbols.get(name, 0) < begin + size]
        self.assertEqual(far, [])

    @unittest.skipUnless(os.uname().machine == "x86_64", "begins as the C library does elsewhere")
    def test_it_begins_where_its_data_is_touched(self):
        header = output_of("readelf", "--wide", "--file-header", SHIM)
        entry = int(re.search(r"Entry point address:\s+0x([0-9a-f]+)", header)[1], 16)
        self.assertEqual(addresses().get("shim_entry"), entry)
        # Without stack protector: the thread pointer is not there yet.
        code = output_of("objdump", "--disassemble=shim_touch_data", "--no-show-raw-insn", SHIM)
        self.assertIn("syscall", code)
        self.assertNotIn("%fs:", code)

    def test_it_runs_where_there_is_nothing_else(self):
        # An empty root: no loader, no library, no passwd, no locale, no /proc.
        with tempfile.TemporaryDirectory() as root:
            shutil.copy(SHIM, os.path.join(root, "srun"))
            words = ["chroot", root, "/srun", "--version"]
            if os.geteuid() != 0:
                words = ["unshare", "--map-root-user"] + words
            done = subprocess.run(words, capture_output=True, text=True, timeout=60,
                                  env={"PATH": "/usr/sbin:/usr/bin:/sbin:/bin"})
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        self.assertRegex(done.stdout, r"\Aslurm \d+\.\d+\.\d+\n\Z")


if __name__ == "__main__":
    unittest.main()
