"""The Triton kernels under the checked interpreter: on_triton_*.py in processes of their own, since Triton reads TRITON_INTERPRET
when it is imported. They share one, which saves its start, but those that compile or replace kernels."""

import os
import pathlib
import subprocess
import sys

import pytest

from triton_version import missing

HERE = pathlib.Path(__file__).parent
APART = [[HERE / f"on_triton_{name}.py"] for name in ("compiled", "wrong_kernels")]
TOGETHER = sorted({*HERE.glob("on_triton_*.py")} - {file for files in APART for file in files}, key=lambda file: (file.stem != "on_triton_canaries", file.stem))


@pytest.mark.skipif(bool(missing()), reason=missing())
@pytest.mark.parametrize("marks", ["not long", pytest.param("long", marks=pytest.mark.long)])
@pytest.mark.parametrize("files", [TOGETHER, *APART], ids=["together", *(files[0].stem for files in APART)])
def test_triton(files, marks):
    """A warning that kernels are not used is an error."""
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "-W", "error:modewise", "-m", marks, *files]
    result = subprocess.run(command, env={**os.environ, "TRITON_INTERPRET": "1"}, capture_output=True, text=True, check=False)
    assert result.returncode == 0 or (result.returncode == 5 and marks == "long"), result.stdout[-20_000:] + result.stderr


def test_each_planted_bug_changes_its_kernel():
    import triton_mutants

    kernels = {file: (HERE.parents[1] / "python" / "modewise" / "triton" / f"{file}.py").read_text() for file in triton_mutants.FILES}
    assert [what for file, what, text, replacement in triton_mutants.MUTANTS if text == replacement or text not in kernels[file]] == []
