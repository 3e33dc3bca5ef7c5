"""How long and how large tests are: as written for the released binary; under sanitizers limits of time are stretched
and crowds are smaller, by SHIM_TEST_SLOWER in the environment (sanitized.py sets it).
"""
import os
import unittest

SLOWER = float(os.environ.get("SHIM_TEST_SLOWER", "1"))


def limit(seconds):
    """The longest that something may take."""
    return seconds * SLOWER


def crowd(count, under_sanitizers):
    """How many hosts or ranks a test of sizes has."""
    return count if SLOWER == 1 else under_sanitizers


def released_only(why):
    """For a test of what is promised of the released binary only."""
    return unittest.skipIf(SLOWER != 1, why)
