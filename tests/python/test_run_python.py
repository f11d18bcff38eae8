"""How ./dev test runs the Python tests: shared out over processes, without those marked long, with no skip that is not allowed."""

import os
import subprocess
import sys
import types

import pytest

import file_claims
import file_times
import programs
from programs import ROOT

ALLOW = 'import allowed_skips\nallowed_skips.ALLOWED.append(("test_skips.py::test_allowed*", "all", lambda: True))\n'
SKIPS = """
import pytest

@pytest.mark.parametrize("case", ["a b", "[*]"])
def test_allowed(case):
    pytest.skip("as usual")

@pytest.mark.skipif(True, reason="no program")
def test_marked():
    pass

@pytest.fixture
def absent():
    pytest.skip("no data")

def test_prepared(absent):
    pass

def test_called():
    pytest.skip("no tool")

@pytest.mark.xfail(reason="known", strict=True)
def test_known():
    assert False
"""
LONG = """
import pytest

def test_short():
    pass

@pytest.mark.long
def test_long():
    pass
"""


def run(folder, *words, plugins=("skip_rule",)):
    """run_python.py on the tests of a folder, with plugins of this folder in place of its conftest.py."""
    variables = {name: value for name, value in os.environ.items() if not name.startswith(("MODEWISE_TEST", "PYTEST"))}
    variables["PYTHONPATH"] = os.pathsep.join([str(ROOT / "tests" / "python"), str(folder)])
    options = [word for plugin in plugins for word in ("-p", plugin)]
    return subprocess.run([sys.executable, ROOT / "tests" / "run_python.py", *words, folder, "-q", "-c", ROOT / "pyproject.toml",
                           "-p", "no:cacheprovider", *options], env=variables, capture_output=True, text=True)  # fmt: skip


def test_skips_that_are_not_allowed_fail(tmp_path):
    (tmp_path / "allow.py").write_text(ALLOW)
    (tmp_path / "test_skips.py").write_text(SKIPS)
    done = run(tmp_path, "--processes=1", plugins=("skip_rule", "allow"))
    assert done.returncode == 1
    assert done.stdout.splitlines()[-1].startswith("1 failed, 2 skipped, 1 xfailed, 2 errors in ")
    for test, reason in {"test_marked": "no program", "test_prepared": "no data", "test_called": "no tool"}.items():
        assert (f"test_skips.py::{test} was skipped ({reason}), which tests/allowed_skips.py does not allow on this machine: build or "
                "install what is missing, or add the test and its condition there\n") in done.stdout  # fmt: skip


def test_a_file_that_skips_itself_fails(tmp_path):
    (tmp_path / "test_whole.py").write_text('import pytest\npytest.importorskip("no_such_package")\n')
    done = run(tmp_path, "--processes=1")
    assert done.returncode == 2
    assert "test_whole.py::* was skipped (could not import 'no_such_package'" in done.stdout


def test_a_missing_program_is_an_error(tmp_path, monkeypatch):
    monkeypatch.setattr(programs, "BUILD", tmp_path)
    with pytest.raises(FileNotFoundError, match=f"^{tmp_path}/bin/modewise is not built: ./dev test builds it$"):
        programs.built("modewise")


@pytest.mark.parametrize("words, summary", [([], "1 passed, 1 deselected in "), (["--long"], "2 passed in ")])
def test_what_is_marked_long_runs_when_it_is_asked_for(tmp_path, words, summary):
    (tmp_path / "test_sample.py").write_text(LONG)
    done = run(tmp_path, "--processes=1", *words)
    assert done.returncode == 0
    assert done.stdout.splitlines()[-1].startswith(summary)


@pytest.mark.parametrize("good", [True, False])
def test_each_file_runs_in_one_process_the_slowest_first(tmp_path, good):
    log = tmp_path / "log"
    for name in "abcd":
        (tmp_path / f"test_{name}.py").write_text(
            "import os, pathlib, pytest, time\n"
            '@pytest.mark.parametrize("number", range(3))\n'
            "def test(number):\n"
            f'    with open({str(log)!r}, "a") as log: log.write(f"{name} {{os.getpid()}}\\n")\n'
            f"    time.sleep(0.1)\n    assert {good} or {name!r} != 'c' or number != 1\n")  # fmt: skip
    (tmp_path / "slowest.py").write_text('import file_claims\nfile_claims.SLOWEST = ["test_d.py"]\n')
    done = run(tmp_path, "--processes=2", plugins=("file_claims", "slowest"))
    ran = [line.split() for line in log.read_text().splitlines()]
    assert sorted(name for name, _ in ran) == sorted(3 * "abcd")
    assert len({(name, process) for name, process in ran}) == 4
    assert ran[0][0] == "d"
    assert done.returncode == (0 if good else 1)
    heads = [line for line in done.stdout.splitlines() if line.startswith("Python tests, process")]
    assert heads == ["Python tests, process 1 of 2:", "Python tests, process 2 of 2:"]
    assert ("FAILED" in done.stdout.split(heads[0])[1]) == (not good)


def test_the_slowest_files_exist():
    assert all((ROOT / "tests" / "python" / name).is_file() for name in file_claims.SLOWEST)


def test_files_are_listed_by_their_seconds():
    reports = [types.SimpleNamespace(nodeid=f"a/test_{name}.py::test_{i}", duration=seconds) for i, (name, seconds) in enumerate([("x", 1), ("y", 3), ("x", 4)])]
    assert file_times.seconds_by_file([*reports, "a warning"]) == [("a/test_x.py", 5), ("a/test_y.py", 3)]
