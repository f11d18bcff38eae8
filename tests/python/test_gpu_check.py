"""./dev gpu (benchmarks/gpu_check.py) without a GPU: its sentence, and its report of stand-ins that pass, fail, hang and crash."""

import argparse
import importlib.metadata
import os
import subprocess
import sys
import time

from programs import ROOT

sys.path.append(str(ROOT / "benchmarks"))
import gpu_check

TESTS = """
import os, time, pytest
def test_good(): pass
@pytest.mark.parametrize("x", [1, 2], ids=["a b", "c"])
def test_bad(x): assert x == 2, "the number is not two"
def test_hangs(): time.sleep(600)
def test_crashes(): os.abort()
@pytest.mark.skip(reason="two GPUs")
def test_left_out(): pass
def test_last(): pass
"""


def options(folder, **changed):
    return argparse.Namespace(**{"out": folder / "report.md", "build": folder, "minutes": 2, "test_seconds": 5, **changed})


def test_each_test_is_reported_by_name(tmp_path):
    (tmp_path / "some_tests.py").write_text(TESTS)
    good, summary, lines = gpu_check.tests(tmp_path / "some_tests.py", 100, 6, {})
    text = "\n".join(lines)
    assert not good
    counts = dict(reversed(part.split(" ", 1)) for part in summary.split(", "))
    assert counts == {"passed": "3", "failed": "1", "did not end": "1", "ended its process": "1", "skipped": "1"}
    assert "- failed: `" in text and "some_tests.py::test_bad[a b]`" in text and "the number is not two" in text
    assert "- did not end in 6 s: `" in text and "some_tests.py::test_hangs`" in text
    assert "- ended its process (exit -6): `" in text and "some_tests.py::test_crashes`" in text
    assert "- skipped, 1: Skipped: two GPUs" in text
    assert "test_good" not in text and "test_last" not in text


def test_a_file_that_cannot_be_read_is_no_success(tmp_path):
    (tmp_path / "some_tests.py").write_text("import no_such_module\n")
    good, summary, lines = gpu_check.tests(tmp_path / "some_tests.py", 60, 30, {})
    assert not good and summary == "1 failed" and "no_such_module" in "\n".join(lines)


def test_a_part_that_fails_or_hangs_leaves_the_report(tmp_path):
    def hangs(chosen, seconds):
        status, out, _ = gpu_check.run([sys.executable, "-c", "import time; print('a table', flush=True); time.sleep(600)"], seconds)
        return status == 0, gpu_check.ended(status, seconds), out.splitlines()

    def raises(chosen, seconds):
        raise OSError("no space left on the device")

    parts = [("first", lambda *_: (True, "exit 0", ["a line"]), 1), ("fails", raises, 1), ("hangs", hangs, 3 / 60), ("last", lambda *_: (True, "exit 0", []), 1)]
    began = time.monotonic()
    assert not gpu_check.report(options(tmp_path), ["device, driver"], parts)
    assert time.monotonic() - began < 60
    text = (tmp_path / "report.md").read_text()
    assert "- device, driver" in text and "## first: exit 0\n\na line" in text and "## last: exit 0" in text
    assert "## fails: OSError: no space left on the device" in text and "## hangs: did not end in 3 s\n\na table" in text
    assert gpu_check.report(options(tmp_path), [], parts[:1])
    assert not gpu_check.report(options(tmp_path, minutes=0), [], parts[:1])
    assert "## first: not run: 0 minutes were over" in (tmp_path / "report.md").read_text()


def test_a_machine_without_cuda_is_a_sentence_and_builds_nothing(tmp_path):
    def gpu(python):
        env = {**os.environ, "MODEWISE_PYTHON": str(python), "CUDA_VISIBLE_DEVICES": ""}
        done = subprocess.run([str(ROOT / "dev"), "gpu"], capture_output=True, text=True, env=env)
        assert done.stdout == ""
        return done.returncode, done.stderr

    torch = importlib.metadata.version("torch")
    assert gpu(sys.executable) == (2, f"gpu_check: torch {torch} finds no CUDA device; give a Python with a CUDA build of torch in MODEWISE_PYTHON, "
                                      "on a machine with a GPU\n")  # fmt: skip
    assert gpu(tmp_path / "python") == (1, "dev: gpu needs a Python with a CUDA build of torch in MODEWISE_PYTHON (docs/gpu.md)\n")
