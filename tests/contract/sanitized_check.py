#!/usr/bin/env python3
"""That support/sanitized.py sees what a process reported of which its test heard nothing, and what it left running.

usage: sanitized_check.py FOLDER, which holds the sanitizer-probe
"""
import os
import subprocess
import sys
import tempfile
import unittest

BIN = os.path.abspath(sys.argv.pop(1))
RUNNER = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "support", "sanitized.py")
RUN = 'exec "$0/sanitizer-probe" '


def sanitized(script, *rules, **env):
    return subprocess.run([sys.executable, RUNNER, *rules, BIN, "check", "sh", "-c", script, BIN], capture_output=True, text=True,
                          timeout=120, env={**os.environ, **env}, check=False)


class Reports(unittest.TestCase):
    def test_none_is_fine(self):
        done = sanitized(RUN + "none")
        self.assertEqual((done.returncode, done.stdout, done.stderr), (0, "", ""))

    def test_each_kind_is_seen(self):
        for fault, text in (("heap", "heap-buffer-overflow"), ("overflow", "signed integer overflow"),
                            ("assert", "ABRT")):
            done = sanitized(RUN + fault)
            self.assertEqual(done.returncode, 1, fault)
            self.assertIn(text, done.stderr)
            self.assertIn("misbehave", done.stderr)

    def test_the_tests_own_failure_stays_one(self):
        done = sanitized("exit 7")
        self.assertEqual((done.returncode, done.stderr), (7, ""))

    def test_only_reports_count_where_time_is_what_the_test_is_about(self):
        done = sanitized("exit 7", "--reports-only")
        self.assertEqual(done.returncode, 0)
        self.assertIn("did not pass", done.stderr)
        self.assertEqual(sanitized("kill -KILL $$", "--reports-only").returncode, 247)
        done = sanitized(RUN + "heap", "--reports-only")
        self.assertEqual(done.returncode, 1)
        self.assertIn("heap-buffer-overflow", done.stderr)

    def test_a_copy_elsewhere_ends_with_a_code_of_its_own(self):
        with tempfile.TemporaryDirectory() as folder:
            done = sanitized(f'cp "$0/sanitizer-probe" {folder}/copy && {folder}/copy overflow quiet')
        self.assertEqual(done.returncode, 86)
        self.assertIn("signed integer overflow", done.stderr)

    def test_what_is_left_running_is_told_and_ended(self):
        done = sanitized('"$0/sanitizer-probe" wait quiet & echo $!; '
                         'until [ "$(readlink /proc/$!/exe)" = "$0/sanitizer-probe" ]; do :; done', SHIM_TEST_GRACE_S="1")
        self.assertEqual(done.returncode, 1)
        pid = int(done.stdout)
        self.assertIn(f"process {pid} was left running: ", done.stderr)
        self.assertFalse(os.path.exists(f"/proc/{pid}/exe"))


if __name__ == "__main__":
    unittest.main()
