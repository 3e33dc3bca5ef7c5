#!/usr/bin/env python3
"""sbcast in a job of pretended hosts, which share this machine's files; what its receivers accept.

usage: sbcast_test.py BIN_DIR
"""
import os
import subprocess
import sys
import unittest

from srun_world import World

BIN = os.path.abspath(sys.argv.pop(1))


class Sbcast(unittest.TestCase):
    def world(self, *hosts):
        world = World(BIN, hosts=hosts)
        world.env["SLURM_JOB_NUM_NODES"] = str(len(hosts))
        self.source = os.path.join(world.work, "source")
        with open(self.source, "wb") as file:
            file.write(bytes(range(256)) * 2000)
        os.chmod(self.source, 0o750)
        os.utime(self.source, ns=(1700000000_123456789, 1700000000_123456789))
        self.dest = os.path.join(world.dir, "dest")
        os.mkdir(self.dest)
        return world

    def sbcast(self, world, *words, stdin=b"", **env):
        return subprocess.run([os.path.join(BIN, "sbcast"), *words], env={**world.env, **env}, cwd=world.work,
                              input=stdin, capture_output=True, timeout=60)

    def copied(self, name="copy"):
        with open(os.path.join(self.dest, name), "rb") as file, open(self.source, "rb") as source:
            self.assertEqual(file.read(), source.read())
        return os.stat(os.path.join(self.dest, name))

    def test_a_copy_is_whole_and_executable(self):
        world = self.world("node001")
        os.umask(0o022)
        done = self.sbcast(world, "source", os.path.join(self.dest, "copy"))
        self.assertEqual((done.returncode, done.stdout, done.stderr), (0, b"", b""))
        facts = self.copied()
        self.assertEqual(facts.st_mode & 0o7777, 0o750)
        self.assertNotEqual(facts.st_mtime_ns, os.stat(self.source).st_mtime_ns)
        self.assertEqual(os.listdir(self.dest), ["copy"])

    def test_every_host_gets_it(self):
        world = self.world("node001", "node002", "node003")
        # They share the folder: all write, the last one stays. What the job's steps are like does not matter.
        done = self.sbcast(world, "-fp", "source", os.path.join(self.dest, "copy"), SLURM_NTASKS="24",
                           SLURM_CPUS_PER_TASK="2", SLURM_STDINMODE="none", SLURM_LABELIO="1")
        self.assertEqual((done.returncode, done.stdout, done.stderr), (0, b"", b""))
        facts, source = self.copied(), os.stat(self.source)
        self.assertEqual((facts.st_mode, facts.st_mtime_ns), (source.st_mode, source.st_mtime_ns))
        self.assertEqual(os.listdir(self.dest), ["copy"])

    def test_a_file_that_is_there_stays(self):
        world = self.world("node001")
        path = os.path.join(self.dest, "copy")
        with open(path, "w", encoding="ascii") as file:
            file.write("mine")
        done = self.sbcast(world, "source", path)
        self.assertEqual((done.returncode, done.stdout), (1, b""))
        self.assertIn(f": {path}: File exists\n".encode(), done.stderr)
        with open(path, encoding="ascii") as file:
            self.assertEqual(file.read(), "mine")
        for words, env in ((["--force"], {}), ([], {"SBCAST_FORCE": "1"})):
            self.assertEqual(self.sbcast(world, *words, "source", path, **env).returncode, 0)
            self.copied()

    def test_a_folder_takes_the_name_of_the_source(self):
        world = self.world("node001")
        self.assertEqual(self.sbcast(world, self.source, self.dest).returncode, 0)
        self.copied("source")

    def test_what_cannot_be_read_or_written_is_named(self):
        world = self.world("node001")
        for words, text in ((["nosuch", "/x"], "sbcast: error: Can't open `nosuch`: No such file or directory\n"),
                            ([self.dest, "/x"], f"sbcast: error: Can't open `{self.dest}`: not a regular file\n"),
                            (["-j", "x", "source", "/x"], "sbcast: error: Invalid job id specified: x\n"),
                            (["-j", "7.0", "source", "/x"], "sbcast: error: Invalid job id specified: 7.0\n")):
            done = self.sbcast(world, *words)
            self.assertEqual((done.returncode, done.stderr.decode()), (1, text))
        done = self.sbcast(world, "source", os.path.join(self.dest, "no/such/copy"))
        self.assertEqual(done.returncode, 1)
        self.assertIn(b"No such file or directory", done.stderr)

    def test_a_receiver_takes_all_or_nothing(self):
        world = self.world("node001")
        target = os.path.join(self.dest, "copy")
        done = self.sbcast(world, "--receive=5,384,0,0,0,0", "--", target, "source", stdin=b"1234")
        self.assertEqual(done.returncode, 1)
        self.assertIn(b"only 4 of 5 bytes came", done.stderr)
        self.assertEqual(os.listdir(self.dest), [])
        for parcel in ("", "5", "x,384,0,0,0,0", "5,99999,0,0,0,0", "-1,384,0,0,0,0"):
            done = self.sbcast(world, "--receive=" + parcel, "--", target, "source", stdin=b"12345")
            self.assertEqual(done.returncode, 1, parcel)
            self.assertEqual(os.listdir(self.dest), [], parcel)
        done = self.sbcast(world, "--receive=5,384,0,0,0,0", "--", target, "source", stdin=b"12345")
        self.assertEqual((done.returncode, done.stderr), (0, b""))
        self.assertEqual(os.stat(target).st_size, 5)


if __name__ == "__main__":
    unittest.main()
