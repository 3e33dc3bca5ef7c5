#!/usr/bin/env python3
"""srun over a stand-in qrsh: many hosts, refusals, and everything that can go wrong at the door.

usage: srun_launch_test.py BIN_DIR
"""
import os
import resource
import signal
import socket
import subprocess
import sys
import time
import unittest

from srun_world import OUT, PING, PONG, RANK_EXIT, Stepper, World, frame, pace, wait_until

BIN = os.path.abspath(sys.argv.pop(1))
REMOTE = "launcher: qrsh-inherit\ncontrol_address: 127.0.0.1\n"


def limit_this():
    """What the user of srun has set; the stand-in for qrsh sets other values."""
    resource.setrlimit(resource.RLIMIT_CORE, (0, resource.getrlimit(resource.RLIMIT_CORE)[1]))
    resource.setrlimit(resource.RLIMIT_NOFILE, (321, resource.getrlimit(resource.RLIMIT_NOFILE)[1]))


class Launch(unittest.TestCase):
    def world(self, hosts, config=REMOTE, **kwargs):
        world = World(BIN, hosts, config, **kwargs)
        self.addCleanup(world.close)
        return world

    def test_200_hosts(self):
        count = pace.crowd(200, under_sanitizers=20)
        hosts = [f"n{i:03}" for i in range(count)]
        world = self.world(hosts, slots=1)
        code, out, err = world.run("-n", str(count), "sh", "-c", "echo $SLURMD_NODENAME $SLURM_PROCID",
                                   timeout=400)
        self.assertEqual((code, err), (0, ""))
        self.assertEqual(sorted(out.splitlines()), [f"n{i:03} {i}" for i in range(count)])
        self.assertEqual(len(world.calls()), count - 1)

    def test_arguments_and_environment_of_qrsh(self):
        world = self.world(["node001", "node002"], slots=2)
        code, out, err = world.run("-N2", "-n2", "sh", "-c", "echo ${SLURM_SHIM_TOKEN-none}",
                                   env={"QRSH_WRAPPER": "/bin/false",
                                        "SGE_RSH_COMMAND": "/bin/false"})
        self.assertEqual((code, out, err), (0, "none\nnone\n", ""))
        call, = world.calls()
        self.assertEqual(call[:6], ["-inherit", "-nostdin", "-noshell", "-v", "SLURM_SHIM_TOKEN",
                                    "node002.example"])
        self.assertEqual(call[7:9], ["stepper", "--envelope"])
        self.assertTrue(os.path.isabs(call[6]))
        port = int(world.envelope("node002")["dial"].rsplit(":", 1)[1])
        self.assertTrue(61000 <= port <= 61439, port)

    def test_umask_and_soft_limits_travel(self):
        world = self.world(["node001", "node002"], slots=2)
        words = ("-N2", "-n2", "-o", "out.%t", "sh", "-c", "umask; ulimit -c; ulimit -n")
        for more, want in (((), "0027\n0\n321\n"), (("--propagate=NOFILE",), None)):
            code, _, err = world.run(*more, *words, preexec_fn=limit_this, umask=0o027)
            self.assertEqual((code, err), (0, ""))
            for rank in (0, 1):
                path = os.path.join(world.work, f"out.{rank}")
                with open(path, encoding="utf-8") as file:
                    text = file.read()
                self.assertEqual(os.stat(path).st_mode & 0o777, 0o640)
                if want:
                    self.assertEqual(text, want)
                self.assertTrue(text.startswith("0027\n") and text.endswith("\n321\n"), text)
        code, _, err = world.run("--propagate=bogus", "true")
        self.assertEqual((code, err), (1, "srun: error: Bad rlimit name: bogus\n"
                                          "srun: error: --propagate=bogus is not valid.\n"))

    def attach_world(self):
        """A running job 4711 on node001, and the environment of a login node."""
        world = self.world(["node001", "node002"], slots=2)
        row = ("<job_list state='running'><JB_job_number>4711</JB_job_number><JAT_prio>0.5</JAT_prio><JB_name>j</JB_name>"
               "<JB_owner>alice</JB_owner><state>r</state><JAT_start_time>2026-11-30T10:00:00</JAT_start_time>"
               "<queue_name>batch.q@node001.example</queue_name><master>MASTER</master><slots>1</slots>"
               "<granted_pe name='mpi'>4</granted_pe></job_list>")
        waiting = ("<job_list state='pending'><JB_job_number>4712</JB_job_number><JAT_prio>0.5</JAT_prio><JB_name>k</JB_name>"
                   "<JB_owner>alice</JB_owner><state>qw</state><JB_submission_time>2026-11-30T10:00:00</JB_submission_time>"
                   "<queue_name></queue_name><slots>1</slots></job_list>")
        for name, pending in (("qstat.xml", waiting), ("running.xml", "")):
            world.write(os.path.join(world.fake, name),
                        f"<?xml version='1.0'?><job_info><queue_info>{row}</queue_info><job_info>{pending}</job_info></job_info>")
        world.write(os.path.join(world.fake, "node001.example.env"),
                    f"TMPDIR={world.tmpdir} JOB_ID=4711 SGE_TASK_ID=undefined")
        world.write(os.path.join(world.job_dir, "environment"),
                    "unset SLURM_STEP_ID SLURM_JOB_ID\nexport SLURM_JOB_ID='4711'\nexport SLURM_JOB_NUM_NODES='2'\n"
                    "export SLURM_NTASKS='4'\nexport INSIDE='yes'\n")
        for name in ("TMPDIR", "JOB_ID", "SLURM_JOB_ID"):
            del world.env[name]
        world.env["USER"] = "alice"
        return world

    def test_a_step_in_a_job_from_outside(self):
        world = self.attach_world()
        code, out, err = world.run("--jobid=4711", "-N2", "-n3", "-l", "sh", "-c",
                                   "echo $SLURMD_NODENAME $SLURM_STEP_ID $SLURM_JOB_ID $SLURM_NTASKS $INSIDE $OUTSIDE",
                                   env={"OUTSIDE": "too"})
        self.assertEqual((code, err), (0, ""))
        self.assertEqual(sorted(out.splitlines()), ["0: node001 0 4711 3 yes too", "1: node001 0 4711 3 yes too",
                                                    "2: node002 0 4711 3 yes too"])
        self.assertEqual([call[5] for call in world.calls()], ["node001.example", "node002.example"])
        # One task a host when nobody says how many; the job's next step number; the exit code of the tasks.
        code, out, err = world.run("--jobid", "4711", "sh", "-c", "echo $SLURM_NTASKS $SLURM_STEP_ID; exit 5")
        self.assertEqual((code, out), (5, "2 1\n2 1\n"))
        self.assertEqual(err.count("Exited with exit code 5"), 2)

    def test_a_step_in_a_job_from_outside_is_signalled(self):
        world = self.attach_world()
        step = world.start("--jobid=4711", "-N2", "-n2", "sh", "-c",
                           "trap 'echo got; exit 3' USR1; echo up; while :; do sleep 0.1; done")
        self.assertEqual(step.stdout.readline() + step.stdout.readline(), b"up\nup\n")
        step.send_signal(signal.SIGUSR1)
        out, _ = step.communicate(timeout=60)
        self.assertEqual((step.returncode, out), (3, b"got\ngot\n"))

    def test_a_directory_that_is_removed(self):
        world = self.world(["node001", "node002"], slots=2)
        def run(*words):
            script = 'mkdir gone && cd gone && rmdir ../gone && exec "$0" "$@"'
            done = subprocess.run(["sh", "-c", script, os.path.join(BIN, "srun"), *words], cwd=world.work, env=world.env,
                                  capture_output=True, text=True, timeout=60, check=False)
            return done.returncode, done.stdout, done.stderr
        self.assertEqual(run("-N2", "-n2", "pwd"), (1, "", "srun: error: getcwd failed: No such file or directory\n"))
        self.assertEqual(world.calls(), [])
        self.assertEqual(run("-N2", "-n2", "-D", "/usr", "pwd"), (0, "/usr\n" * 2, ""))

    def test_jobs_that_are_not_there(self):
        world = self.attach_world()
        self.assertEqual(world.run("--jobid=99", "true"), (1, "", (
            "srun: error: Unable to confirm allocation for job 99: Invalid job id specified\n"
            "srun: error: Check SLURM_JOB_ID environment variable. Expired or invalid job 99\n")))
        self.assertEqual(world.run("--jobid=4712", "true"), (1, "", (
            "srun: error: Unable to confirm allocation for job 4712: Job is pending execution\n")))
        self.assertEqual(world.run("--jobid=x", "true"), (1, "", (
            "srun: error: Invalid numeric value \"x\" for --jobid.\n")))
        self.assertEqual(world.calls(), [])

    def test_a_host_that_is_not_the_master_is_remote_when_alone(self):
        world = self.world(["node001", "node002"])
        code, out, _ = world.run("-N1", "-n1", "-w", "node002", "sh", "-c", "echo $SLURMD_NODENAME")
        self.assertEqual((code, out), (0, "node002\n"))
        self.assertEqual(len(world.calls()), 1)

    def test_a_race_is_tried_again_without_a_word(self):
        world = self.world(["node001", "node002"])
        refusal = 'fail executing task of job 4711 failed: execution daemon didn\'t accept task'
        world.script("node002", refusal, refusal)
        code, out, err = world.run("-N2", "-n2", "echo", "x")
        self.assertEqual((code, out, err), (0, "x\nx\n", ""))
        self.assertEqual(len(world.calls()), 3)

    def test_a_race_has_an_end(self):
        world = self.world(["node001", "node002"])
        world.script("node002", *["fail can't find job"] * 100)
        begin = time.monotonic()
        code, _, err = world.run("-N2", "-n2", "true")
        self.assertEqual(code, 8)
        self.assertEqual(err, "srun: error: qrsh launch on node002 kept failing (job not yet known "
                              "to execd): error: can't find job\n")
        self.assertGreater(time.monotonic() - begin, 9)

    def test_fatal_refusals_are_not_tried_again(self):
        world = self.world(["node001", "node002"])
        world.script("node002", 'fail "qrsh" called with "-inherit", but "JOB_ID" not set in '
                                'environment')
        code, _, err = world.run("-N2", "-n2", "true")
        self.assertEqual(code, 8)
        self.assertIn("qrsh launch on node002 failed: ", err)
        self.assertIn("(command: qrsh -inherit ", err)
        self.assertEqual(len(world.calls()), 1)

    def test_full_slots_are_told_once_and_waited_for(self):
        world = self.world(["node001", "node002"])
        world.script("node002", "fail no suitable queues", "fail no suitable queues")
        code, out, err = world.run("-N2", "-n2", "echo", "x")
        self.assertEqual((code, out), (0, "x\nx\n"))
        self.assertEqual(err, "srun: Job 4711 step creation temporarily disabled, retrying "
                              "(Requested nodes are busy)\nsrun: Step created for job 4711\n")

    def test_a_refusal_beside_another_step_means_full_slots(self):
        world = self.world(["node001", "node002"])
        first = world.start("--overlap", "-N2", "-n2", "sh", "-c", "echo up; while [ ! -e end ]; do sleep 0.1; done")
        self.assertEqual(first.stdout.readline(), b"up\n")
        refusal = "fail executing task of job 4711 failed: execution daemon didn't accept task"
        world.script("node002", refusal)
        code, out, err = world.run("--overlap", "-N2", "-n2", "echo", "x")
        self.assertEqual((code, out), (0, "x\nx\n"))
        self.assertEqual(err, "srun: Job 4711 step creation temporarily disabled, retrying "
                              "(Requested nodes are busy)\nsrun: Step created for job 4711\n")
        world.write(os.path.join(world.work, "end"), "")
        first.communicate(timeout=60)
        self.assertEqual(first.returncode, 0)

    def test_no_free_port_is_one_clear_line(self):
        with socket.socket() as taken:
            taken.bind(("0.0.0.0", 0))
            taken.listen()
            port = taken.getsockname()[1]
            world = self.world(["node001", "node002"], REMOTE + f"control_port: {port}-{port}\n")
            code, out, err = world.run("-N2", "-n2", "true")
            self.assertEqual((code, out, err), (8, "", f"srun: error: no free control port in {port}-{port}\n"))
            self.assertEqual(world.calls(), [])
            # A step of the master host alone needs none of them.
            self.assertEqual(world.run("-N1", "-n1", "echo", "x"), (0, "x\n", ""))

    def test_a_client_that_dies_after_the_watch_is_noticed(self):
        world = self.world(["node001", "node002"])
        world.script("node002", 'die missing "JOB_ID" in environment')
        code, _, err = world.run("-N2", "-n2", "true", timeout=30)
        self.assertEqual(code, 8)
        self.assertIn('missing "JOB_ID"', err)

    def test_launch_timeout_names_the_missing_hosts(self):
        seconds = f"{pace.limit(3):g}"
        world = self.world(["node001", "node002", "node003"], REMOTE + f"launch_timeout: {seconds}s\n")
        world.script("node002", "hang")
        world.script("node003", "hang")
        code, out, err = world.run("-N3", "-n3", "echo", "x", timeout=60)
        self.assertEqual((code, out), (8, ""))
        self.assertEqual(err, f"srun: error: stepper did not connect within launch_timeout ({seconds} s): "
                              "node[002-003]\n")

    def test_launch_can_be_interrupted(self):
        for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
            world = self.world(["node001", "node002"])
            world.script("node002", "hang")
            process = world.start("-N2", "-n2", "echo", "x")
            world.envelope("node002")
            process.send_signal(number)
            _, err = process.communicate(timeout=60)
            self.assertEqual(process.returncode, 128 + number, err)

    def test_preflight(self):
        world = self.world(["node001", "node002"])
        world.write(os.path.join(world.fake, "control_slaves"), "FALSE\n")
        code, _, err = world.run("-N2", "-n2", "true")
        self.assertEqual(code, 8)
        self.assertIn('parallel environment "mpi" has control_slaves FALSE', err)
        self.assertEqual(world.calls(), [])
        # The job keeps the answer; a step on the master host alone needs none.
        os.remove(os.path.join(world.fake, "qconf.log"))
        self.assertEqual(world.run("-N2", "-n2", "true")[0], 8)
        self.assertEqual(world.run("-N1", "-n1", "true")[0], 0)
        self.assertFalse(os.path.exists(os.path.join(world.fake, "qconf.log")))

    def test_preflight_without_an_answer_warns_once_a_job(self):
        world = self.world(["node001", "node002"])
        world.write(os.path.join(world.fake, "qconf.fail"), "denied: not a host\n")
        code, _, err = world.run("-N2", "-n2", "true")
        self.assertEqual(code, 0)
        self.assertEqual(err, 'srun: warning: cannot check parallel environment "mpi": '
                              "qconf -sp mpi: denied: not a host\n")
        self.assertEqual(world.run("-N2", "-n2", "true")[::2], (0, ""))

    def test_no_qrsh_is_one_clear_line(self):
        world = self.world(["node001", "node002"])
        os.remove(os.path.join(world.dir, "ge", "qrsh"))
        code, _, err = world.run("-N2", "-n2", "true")
        self.assertEqual(code, 8)
        self.assertRegex(err, r"\Asrun: error: qrsh: not found in .*\n\Z")


class Door(unittest.TestCase):
    """node002's place is taken by this test, which knows the token."""

    def setUp(self):
        self.make("4s", "node002")

    def make(self, ping_deadline, *played):
        self.played = played
        self.world = World(BIN, ["node001", *played], REMOTE + f"ping_interval: 1s\nping_deadline: {ping_deadline}\n")
        self.addCleanup(self.world.close)
        for host in played:
            self.world.script(host, "leak")

    def begin(self, *words):
        self.process = self.world.start(*(words or ("-N2", "-n2", "echo", "x")))
        self.envelope = self.world.envelope("node002")
        self.token = self.world.leaked_token("node002")

    def end(self):
        for host in self.played:
            self.world.end_leak(host)
        out, err = self.process.communicate(timeout=60)
        self.assertNotIn(self.token, out.decode() + err.decode())
        return self.process.returncode, out.decode(), err.decode()

    def test_intruders_do_not_disturb(self):
        self.make("60s", "node002", "node003")
        self.begin("-N3", "-n3", "echo", "x")
        other = Stepper(self.envelope, self.token, host="node003")
        self.assertEqual(other.receive()[0], PING)  # it is in
        other.send(frame(PONG))
        wrong = "0" * 64
        guests = [Stepper(self.envelope) for _ in range(64)]  # silent
        half = Stepper(self.envelope)
        half.send(frame(1, b"x" * 100)[:40])
        closed = [Stepper(self.envelope, wrong), Stepper(self.envelope, self.token[:-1]),
                  Stepper(self.envelope, self.token, host="stranger"),
                  Stepper(self.envelope, self.token, host="node003")]  # has connected already
        for data in (frame(OUT, b"x", 1), frame(1, b"y" * 513), b"\xff" * 100, frame(1, b"no nul"),
                     b"\x01\x00\x00\x00\x00\x00\xff\xff\xff\xff"):
            guest = Stepper(self.envelope)
            guest.send(data)
            closed.append(guest)
        for guest in closed:
            self.assertTrue(guest.is_closed())
        stepper = Stepper(self.envelope, self.token)
        spec = stepper.spec()
        self.assertEqual(spec["command"], ["echo", "x"])
        self.assertEqual([rank["rank"] for rank in spec["ranks"]], [1])
        with self.assertRaises(ConnectionRefusedError):  # everybody is in: the port is free
            Stepper(self.envelope)
        stepper.send(frame(OUT, b"from 1", 1, 2))
        stepper.exit(1)
        self.assertEqual([rank["rank"] for rank in other.spec()["ranks"]], [2])
        other.exit(2)
        code, out, err = self.end()
        self.assertEqual((code, sorted(out.splitlines())), (0, ["from 1", "x"]))
        self.assertRegex(err, r"\Asrun: warning: closed a connection to the control port: .*\n\Z")
        self.assertTrue(all(guest.is_closed() for guest in guests))

    def test_another_version_is_named_by_host(self):
        self.begin()
        self.assertTrue(Stepper(self.envelope, self.token, version=b"v=2").is_closed())
        code, _, err = self.end()
        self.assertEqual(code, 8)
        self.assertIn("srun: error: stepper on node002 speaks another protocol", err)

    def check_lost(self, bad, text):
        self.begin()
        stepper = Stepper(self.envelope, self.token)
        stepper.spec()
        bad(stepper)
        code, out, err = self.end()
        self.assertEqual((code, out), (1, "x\n"))
        self.assertIn("srun: error: stepper on node002 exited without reporting a rank (task 1)",
                      err)
        self.assertIn(text, err)

    def test_oversize_frame(self):
        self.check_lost(lambda s: s.send(frame(OUT, b"", 1)[:6] + b"\x00\x20\x00\x00"),
                        "frame of 2097152 bytes exceeds 1048576")

    def test_frame_of_the_wrong_side(self):
        self.check_lost(lambda s: s.send(frame(7, b"\0\0\0\x09")), "type 7 is not a stepper's")

    def test_exit_without_a_code(self):
        self.check_lost(lambda s: s.send(frame(RANK_EXIT, b"\0", 1)), "without an exit code")

    def test_connection_ends(self):
        self.check_lost(lambda s: s.close(), "")

    def test_connection_ends_within_a_frame(self):
        def half(stepper):
            stepper.send(frame(OUT, b"x" * 100, 1)[:50])
            stepper.close()
        self.check_lost(half, "connection ended within a frame")

    def test_silence_is_death_only_after_the_deadline(self):
        begin = time.monotonic()
        self.check_lost(lambda s: None, "no sign of life for 4 s")
        self.assertGreater(time.monotonic() - begin, 3.5)

    def test_pings_keep_a_quiet_host_alive(self):
        self.begin()
        stepper = Stepper(self.envelope, self.token)
        stepper.spec()
        end = time.monotonic() + 6  # longer than the deadline
        pings = 0
        while time.monotonic() < end:
            kind = stepper.receive()[0]
            self.assertEqual(kind, 8)
            pings += 1
            stepper.send(frame(9))
        stepper.exit(1, 5)
        code, _, err = self.end()
        self.assertEqual((code, err), (5, "srun: error: node002: task 1: Exited with exit code 5\n"))
        self.assertGreaterEqual(pings, 3)

    def test_a_suspended_srun_does_not_take_silence_for_death(self):
        self.begin("-N2", "-n2", "sleep", "1")
        stepper = Stepper(self.envelope, self.token)
        stepper.spec()
        os.kill(self.process.pid, signal.SIGSTOP)
        time.sleep(7)  # the time it is stopped is what is tested: deadline and more
        os.kill(self.process.pid, signal.SIGCONT)
        wait_until(lambda: stepper.receive()[0] == 8, what="PING")
        stepper.exit(1)
        code, _, err = self.end()
        self.assertEqual((code, err), (0, "srun: got SIGCONT\n"))

    def test_ranks_of_other_hosts_and_second_reports_do_not_count(self):
        self.begin("-N2", "-n2", "sleep", "2")
        stepper = Stepper(self.envelope, self.token)
        stepper.spec()
        stepper.exit(0, 9)
        stepper.exit(77, 9)
        stepper.send(frame(OUT, b"stray", 0, 2))
        stepper.send(frame(200, b"unknown types are ignored"))
        stepper.exit(1)
        stepper.exit(1, 9)
        code, out, err = self.end()
        self.assertEqual((code, out), (0, ""))
        self.assertEqual(err, "srun: warning: stepper on node002 spoke of task 0, which it does "
                              "not run\n")

    def test_a_large_environment_comes_in_pieces(self):
        big = {f"BIG{i}": "x" * 100000 for i in range(15)}
        self.process = self.world.start("-N2", "-n2", "sh", "-c", "echo ${#BIG14}", env=big)
        self.envelope = self.world.envelope("node002")
        self.token = self.world.leaked_token("node002")
        stepper = Stepper(self.envelope, self.token)
        self.assertIn("BIG14=" + "x" * 100000, stepper.spec()["env"])
        stepper.exit(1)
        self.assertEqual(self.end(), (0, "100000\n", ""))


if __name__ == "__main__":
    unittest.main(verbosity=2)
