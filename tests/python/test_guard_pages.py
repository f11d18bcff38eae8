"""No kernel or formula reads or writes beyond a tensor: all samples of all operators, with gradients, between pages that cannot be
accessed (tests/ops/guard_pages.cpp), each in a process of its own."""

import signal
import subprocess
import sys

import pytest

from programs import ROOT

CASE = ROOT / "tests" / "python" / "ops_case.py"
BEYOND = """
import ctypes
import torch
from ops_case import guard_pages
guard_pages("{where}")
data = torch.empty(3)
assert data.isnan().all()
data.fill_(1)
print("filled", flush=True)
ctypes.string_at(data.data_ptr() + {offset}, 1)
"""


@pytest.mark.parametrize("where", ["after", pytest.param("before", marks=pytest.mark.long)])
def test_all_operators(where):
    done = subprocess.run([sys.executable, CASE, "--guard", where], capture_output=True, text=True, check=False)
    lines = done.stdout.splitlines()
    assert done.returncode == 0, (lines[-1:], done.stderr[-3000:])
    assert int(lines[-1].removesuffix(" cases passed")) == len(lines) - 1 > 1000


@pytest.mark.parametrize("where, offset", [("after", 12), ("before", -1)])
def test_a_byte_beyond_a_tensor_ends_the_process(where, offset):
    done = subprocess.run([sys.executable, "-c", BEYOND.format(where=where, offset=offset)], cwd=CASE.parent, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout) == (-signal.SIGSEGV, "filled\n"), done.stderr


def test_a_case_is_one_line():
    """The line that a failed test prints."""
    line = 'tests/python/ops_case.py --case "linear 0 float32 avx2 5"'
    done = subprocess.run(f"{sys.executable} {line}", shell=True, cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert done.stdout.splitlines()[0] == line and done.stdout.splitlines()[-1] == "1 cases passed"
    assert "0: torch.float32 [" in done.stdout
