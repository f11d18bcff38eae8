"""A pytest plugin: a skipped test fails unless tests/allowed_skips.py allows the skip on this machine."""

import pathlib
import sys

import pytest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))
import allowed_skips


def check_skip(report, path, rest):
    """Turns the report of a skip that is not allowed into a failure."""
    if not report.skipped or hasattr(report, "wasxfail"):
        return report
    reason = report.longrepr[2] if isinstance(report.longrepr, tuple) else str(report.longrepr)
    test = f"{path.name}::{rest}"
    refusal = allowed_skips.refusal(test, reason.removeprefix("Skipped: "))
    if refusal:
        report.outcome, report.longrepr = "failed", f"{test} {refusal}"
    return report


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(item):
    return check_skip((yield), item.path, item.nodeid.partition("::")[2])


@pytest.hookimpl(wrapper=True)
def pytest_make_collect_report(collector):
    """A module that skips itself as a whole (pytest.importorskip)."""
    return check_skip((yield), collector.path, "*")
