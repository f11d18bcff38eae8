"""Seconds of each test file, at the end of a pytest process: which files the time of `./dev test` goes to."""

import collections

SHOWN = 15


def seconds_by_file(reports):
    """(file, seconds) of the test reports, with setup and teardown, the slowest first."""
    seconds = collections.Counter()
    for report in reports:
        if hasattr(report, "duration") and hasattr(report, "nodeid"):
            seconds[report.nodeid.split("::")[0]] += report.duration
    return sorted(seconds.items(), key=lambda one: -one[1])


def pytest_terminal_summary(terminalreporter):
    found = seconds_by_file(report for reports in terminalreporter.stats.values() for report in reports)
    if len(found) > 1:
        text = ", ".join(f"{file.rsplit('/', 1)[-1].removesuffix('.py')} {seconds:.0f}" for file, seconds in found[:SHOWN])
        terminalreporter.write_line(f"seconds: {sum(seconds for _, seconds in found):.0f} in {len(found)} files: {text}")
