"""./dev fuzz (tests/fuzz/run_fuzz.py) with stand-ins for the libFuzzer programs."""

import subprocess
import sys

import pytest
from programs import ROOT

sys.path.append(str(ROOT / "tests" / "fuzz"))
import run_fuzz

SCRIPT = ROOT / "tests" / "fuzz" / "run_fuzz.py"
LOG = """INFO: Running with entropic power schedule (0xFF, 100).
#2\tINITED cov: 12 ft: 13 corp: 1/1b exec/s: 0 rss: 30Mb
#4096\tNEW    cov: 31 ft: 40 corp: 3/9b lim: 4 exec/s: 2048 rss: 30Mb L: 3/4 MS: 1 ChangeByte-
"""
DONE = "#9000\tDONE   cov: 33 ft: 44 corp: 4/12b lim: 4 exec/s: 3000 rss: 31Mb\nDone 9000 runs in 3 second(s)\n"


def stand_in(folder, name, log, status=0, artifact=None, again=1):
    """A program that behaves as libFuzzer: it adds an input, prints a log, and stores a finding; `again` is its status for that."""
    program = folder / "build" / "bin" / f"{name}_fuzz"
    program.parent.mkdir(parents=True, exist_ok=True)
    (folder / "corpus" / name).mkdir(parents=True, exist_ok=True)
    (folder / "corpus" / name / "seed").write_bytes(b"seed")
    program.write_text(f"""#!{sys.executable}
import pathlib, shutil, sys
folders = [pathlib.Path(one) for one in sys.argv[1:] if not one.startswith("-")]
if folders[0].is_file():
    raise SystemExit({again})
if "-merge=1" in sys.argv:
    shutil.copy(folders[1] / "new", folders[0] / "new")
    raise SystemExit(0)
(folders[0] / "new").write_bytes(b"new")
(folders[0] / "same").write_bytes(b"same")
prefix = [one.split("=")[1] for one in sys.argv if one.startswith("-artifact_prefix=")][0]
if {artifact!r}:
    pathlib.Path(prefix + {artifact!r}).write_bytes(b"bad")
print({log!r})
print(sys.argv[1:])
raise SystemExit({status})
""")
    program.chmod(0o755)


def run(folder, *arguments):
    return subprocess.run([sys.executable, SCRIPT, "--build", folder / "build", "--corpus", folder / "corpus", *arguments],
                          capture_output=True, text=True)


def test_a_log_is_read():
    assert run_fuzz.read_log(LOG + DONE) == (9000, 3.0, 33)
    assert run_fuzz.read_log(LOG + "==12==ERROR: AddressSanitizer") == (4096, 0.0, 31)
    assert run_fuzz.read_log("") == (0, 0.0, 0)


def test_the_table_counts_and_inputs_are_minimised(tmp_path):
    stand_in(tmp_path, "csv", LOG + DONE)
    stand_in(tmp_path, "npy", LOG + DONE)
    done = run(tmp_path, "--minutes", "0.5")
    assert done.returncode == 0, done.stderr
    lines = done.stdout.splitlines()
    assert lines[0].split() == ["target", "seeds", "executions", "per", "second", "branches", "new", "inputs", "findings"]
    assert lines[1].split() == ["csv", "1", "9,000", "3,000", "33", "1", "0"]
    assert lines[-1] == "2 targets, 18,000 executions"
    assert [path.name for path in (tmp_path / "build" / "inputs" / "csv").iterdir()] == ["new"]  # `same` reached nothing new
    assert "'-max_total_time=30'" in (tmp_path / "build" / "findings" / "csv.log").read_text()


@pytest.mark.parametrize("again", [0, 70])
def test_a_timeout_is_a_finding_only_if_it_is_one_again(tmp_path, again):
    stand_in(tmp_path, "csv", LOG, status=70, artifact="timeout-1", again=again)
    done = run(tmp_path, "csv", "--executions", "100")
    assert done.returncode == (1 if again else 0)
    assert (tmp_path / "build" / "findings" / "csv" / "timeout-1").exists() == bool(again)
    assert ("csv_fuzz: stopped early; timeout-1 takes less time when it is run again" in done.stderr) == (not again)


def test_a_finding_is_kept_and_the_line_that_repeats_it_is_printed(tmp_path):
    stand_in(tmp_path, "csv", LOG, status=1, artifact="crash-1")
    done = run(tmp_path, "csv", "--executions", "100")
    finding = tmp_path / "build" / "findings" / "csv" / "crash-1"
    assert done.returncode == 1
    assert finding.read_bytes() == b"bad"
    assert done.stdout.splitlines()[-1] == f"repeat: {tmp_path / 'build' / 'bin' / 'csv_fuzz'} {finding}"
    assert run(tmp_path, "csv", "--executions", "100").stdout.splitlines()[-1] == done.stdout.splitlines()[-1]
    assert "'-runs=100'" in (tmp_path / "build" / "findings" / "csv.log").read_text()


@pytest.mark.parametrize("arguments, sentence", [(["cvs"], "no target cvs; there are csv"),
                                                 (["--minutes", "1", "--executions", "5"], "--minutes or --executions, not both")])  # fmt: skip
def test_bad_arguments(tmp_path, arguments, sentence):
    stand_in(tmp_path, "csv", LOG + DONE)
    done = run(tmp_path, *arguments)
    assert done.returncode == 2
    assert sentence in done.stderr


def test_a_program_that_does_not_start_is_an_error(tmp_path):
    stand_in(tmp_path, "csv", "no such library", status=127)
    done = run(tmp_path)
    assert done.returncode == 1
    assert "csv ended with exit status 127" in done.stderr
