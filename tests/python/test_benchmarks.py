"""Every benchmark in Python finds what it imports and says what it takes."""

import subprocess
import sys
from pathlib import Path

import pytest

FOLDER = Path(__file__).resolve().parents[2] / "benchmarks"
PROGRAMS = sorted(path.name for path in FOLDER.glob("*.py") if "__main__" in path.read_text())


@pytest.mark.parametrize("name", PROGRAMS)
def test_help(name):
    result = subprocess.run([sys.executable, FOLDER / name, "--help"], capture_output=True, text=True, check=False)
    assert result.returncode == 0, result.stderr
    assert result.stdout.startswith("usage: ") and result.stderr == ""
