"""tests/run_shard.py on tests/shard_sample.cpp: what it prints of tests that fail, crash, exit, hang and skip."""

import os
import re
import subprocess
import sys

import allowed_skips
import pytest

from programs import ROOT, built

SAMPLE = built("shard_sample")


def run(shard=1, count=1, *options, only=None):
    """Exit status and lines of run_shard.py; `only` is GoogleTest's filter."""
    variables = {name: value for name, value in os.environ.items() if not name.startswith("GTEST_")}
    if only is not None:
        variables["GTEST_FILTER"] = only
    done = subprocess.run([sys.executable, ROOT / "tests" / "run_shard.py", SAMPLE, str(shard), str(count), "--timeout", "1", *options],
                          env=variables, capture_output=True, text=True)  # fmt: skip
    assert done.stderr == ""
    return done.returncode, done.stdout.splitlines()


def alone(test, reason):
    return f"FAILED shard_sample.{test} {reason}; alone: {SAMPLE} --gtest_filter={test}"


FAILURES = [
    alone("Sample.Fails", "failed"),
    alone("Sample.Crashes", "ended the program with signal 6"),
    alone("Sample.Exits", "ended the program with exit status 0"),
    alone("Sample.Hangs", "ran longer than 1 s"),
    alone("Sample/Value.IsA/1", "failed"),
    alone("Sample.Skips", "was skipped (no data), which tests/allowed_skips.py does not allow on this machine: "
          "build or install what is missing, or add the test and its condition there"),
]  # fmt: skip


def test_every_failure_is_named_and_the_tests_after_a_crash_run():
    code, lines = run()
    assert code == 1
    assert lines[-len(FAILURES) - 2 :] == [
        "SKIPPED shard_sample.Sample.Skips", "shard_sample, shard 1 of 1: 3 tests passed, 1 skipped, 6 failures", *FAILURES]  # fmt: skip
    assert "dropped" not in lines
    assert lines[lines.index("---- Sample.Fails: failed") + 1].startswith("no newline")
    assert lines.index("the reason") < lines.index("---- Sample.Crashes: ended the program with signal 6")
    assert lines[lines.index("---- Sample.Crashes: ended the program with signal 6") + 1] == "before the crash"


@pytest.mark.parametrize("count", [2, 3])
def test_shards_share_the_tests_out(count):
    failed = [line for shard in range(count) for line in run(shard + 1, count)[1] if line.startswith("FAILED")]
    assert sorted(failed) == sorted(FAILURES)


def test_tests_that_pass_exit_with_0():
    assert run(only="*.Passes:*IsA/0") == (0, ["shard_sample, shard 1 of 1: 3 tests passed, 0 skipped, 0 failures"])


def test_long_tests_run_when_they_are_asked_for():
    assert run(1, 1, "--long") == (0, ["shard_sample, shard 1 of 1: 1 tests passed, 0 skipped, 0 failures"])


def test_a_shard_without_a_test_fails():
    code, lines = run(10, 10)
    assert code == 1
    assert lines[-1] == "FAILED shard_sample, shard 10 of 10, has no test"
    assert run(only="None.*")[0] == 0  # the filter asks for no test


def test_allowed_skips_name_tests_that_exist():
    """A row for a test that was renamed fails `./dev test` on the machines that the row is for."""
    tests = ROOT / "tests"
    cpp = {f"{file.relative_to(tests).parts[0]}.{suite}.{name}" for file in tests.rglob("*_test.cpp")
           for suite, name in re.findall(r"^TEST(?:_[FP])?\((\w+), (\w+)\)", file.read_text(), re.M)}  # fmt: skip
    python = {f"{file.name}::{name}" for file in (tests / "python").glob("*.py") for name in re.findall(r"^def (test_\w+)", file.read_text(), re.M)}
    begins = [pattern.split("*")[0] for pattern, _, _ in allowed_skips.ALLOWED]
    assert [begin for begin in begins if not any(name.startswith(begin) for name in cpp | python)] == []
