#!/usr/bin/env python3
"""The borders between the modules: the tree keeps them, and the checker sees what does not.

usage: layers_test.py BIN_DIR   (the folder is not used)
"""
import os
import shutil
import subprocess
import sys
import tempfile
import unittest

REPO = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
sys.argv[1:2] = []


class Layers(unittest.TestCase):
    def test_the_tree_keeps_the_borders(self):
        done = subprocess.run([os.path.join(REPO, "scripts", "check_layers")], text=True,
                              capture_output=True, timeout=120)
        self.assertEqual((done.returncode, done.stdout + done.stderr), (0, ""))

    def offences(self, path, text):
        """What the checker says of a tree with this one file."""
        with tempfile.TemporaryDirectory() as root:
            for name in ("scripts/check_layers", "cmake/layers.txt"):
                os.makedirs(os.path.join(root, os.path.dirname(name)), exist_ok=True)
                shutil.copy(os.path.join(REPO, name), os.path.join(root, name))
            for folder in ("src", "include/slurm_shim", "tests/unit"):
                os.makedirs(os.path.join(root, folder), exist_ok=True)
            target = os.path.join(root, path)
            os.makedirs(os.path.dirname(target), exist_ok=True)
            with open(target, "w", encoding="utf-8") as file:
                file.write(text)
            done = subprocess.run([os.path.join(root, "scripts", "check_layers")], text=True,
                                  capture_output=True, timeout=120)
        self.assertEqual(done.returncode, 1 if done.stderr else 0)
        return done.stderr

    def test_a_supervisor_that_loads_the_config_is_seen(self):
        for module, other in (("stepper", "config/config"), ("batchexec", "config/config"),
                              ("batchexec", "ge/tools"), ("batchexec", "layout/layout"),
                              ("stepper", "ge/tools"), ("base", "posix/fd"),
                              ("plan", "posix/files"), ("rankenv", "posix/files"),
                              ("cli", "posix/files"), ("commands/srun", "commands/sbatch")):
            path = f"src/{module}/x.cpp"
            self.assertIn(path + ":1", self.offences(path, f'#include "slurm_shim/{other}.h"\n'))

    def test_what_is_allowed_is_not(self):
        self.assertEqual(self.offences("src/batchexec/x.cpp",
                                       '#include "slurm_shim/records/steps.h"\n'
                                       '#include "slurm_shim/mux/pattern.h"\n'), "")

    def test_library_headers_in_doors_and_stray_output_are_seen(self):
        self.assertIn("x.h:1", self.offences("include/slurm_shim/records/x.h",
                                             "#include <nlohmann/json.hpp>\n"))
        self.assertIn("x.cpp:1", self.offences("src/records/x.cpp", 'void f() { printf("x"); }\n'))
        self.assertIn("x.cpp:1", self.offences("src/records/x.cpp", "int f() { return fork(); }\n"))


if __name__ == "__main__":
    unittest.main()
