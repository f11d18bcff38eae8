"""Files that commands write: what they replace, what they follow, what they say when the system refuses; and programs
started without stdin, stdout or stderr. The tests that make system calls fail need strace and the right to trace."""

import json
import os
import pathlib
import stat
import subprocess
import threading

import pytest

from cli_helpers import PROGRAM, QUICK, fails, ok, write_csv
from faults.inject import needs_strace

SHORT = [*QUICK, "--set", "train.epochs=1"]


def train(data, out, *more):
    return ["train", "forecast", "--data", data, "--out", out, *SHORT, *more]


def texts(path, *more):
    """The quickest command that writes a file."""
    return ["data", "passkeys", path, "--count", "3", "--length", "256", *more]


def test_texts_are_not_overwritten(tmp_path):
    out = tmp_path / "a.jsonl"
    out.write_text("mine")
    fails(73, "a.jsonl", "--overwrite", arguments=texts(out))
    assert out.read_text() == "mine"
    ok(*texts(out, "--overwrite"))
    assert len(out.read_text().splitlines()) == 3


def test_a_replaced_file_keeps_its_permissions(tmp_path):
    out = tmp_path / "a.jsonl"
    for mode in (0o600, 0o640, 0o444):
        out.write_text("mine")
        out.chmod(mode)
        ok(*texts(out, "--overwrite"))
        assert len(out.read_text().splitlines()) == 3
        assert stat.S_IMODE(out.stat().st_mode) == mode
        out.unlink()


def test_planted_links_are_not_followed(tmp_path):
    """Links under every name that a temporary named after the process could have."""
    victim = tmp_path / "victim"
    victim.write_text("mine")
    out = tmp_path / "a.jsonl"
    last = int(pathlib.Path("/proc/sys/kernel/ns_last_pid").read_text())
    for number in range(last, last + 5000):
        os.symlink(victim, f"{out}.tmp-{number}")
    ok(*texts(out))
    assert victim.read_text() == "mine"
    assert len(out.read_text().splitlines()) == 3


def test_a_pipe_is_written_to(tmp_path):
    ok(*texts(tmp_path / "wanted.jsonl"))
    pipe, got = tmp_path / "pipe", []
    os.mkfifo(pipe)
    descriptor = os.open(pipe, os.O_RDWR)  # so that nothing waits
    reader = threading.Thread(target=lambda: got.append(os.read(descriptor, 1 << 16)))
    reader.start()
    ok(*texts(pipe))
    if stat.S_ISFIFO(pipe.stat().st_mode):
        reader.join(timeout=10)
    os.write(descriptor, b".")  # ends a reader that got nothing
    reader.join()
    os.close(descriptor)
    assert stat.S_ISFIFO(pipe.stat().st_mode)
    assert got[0] == (tmp_path / "wanted.jsonl").read_bytes()


def test_a_device_stays_one(tmp_path):
    device = tmp_path / "null"
    try:
        os.mknod(device, 0o666 | stat.S_IFCHR, os.makedev(1, 3))
        device.open("w").close()
    except OSError:
        pytest.skip("this user may make no devices")
    ok(*texts(device))
    assert stat.S_ISCHR(device.stat().st_mode)


def test_results_can_go_to_stdout(tmp_path):
    if not os.path.islink("/dev/stdout"):
        pytest.skip("/dev/stdout is no link here")
    ok(*texts(tmp_path / "wanted.jsonl"))
    wanted = (tmp_path / "wanted.jsonl").read_text()
    assert ok(*texts("/dev/stdout")).stdout.startswith(wanted)
    with (tmp_path / "got").open("w") as got:  # a plain file behind the descriptor
        subprocess.run([PROGRAM, *texts("/dev/stdout")], stdout=got, check=True)
    assert (tmp_path / "got").read_text().startswith(wanted)
    assert os.path.islink("/dev/stdout")


REASONS = {"EIO": "Input/output error", "ENOSPC": "No space left on device", "EROFS": "Read-only file system"}


@needs_strace
@pytest.mark.parametrize("call, when, error", [("fsync", 1, "EIO"), ("rename", 1, "EIO"), ("rename", 1, "EROFS"),
                                               ("fsync", 2, "EIO"), ("fsync", 1, "ENOSPC")])
def test_the_reason_is_the_failed_calls_own(tmp_path, call, when, error):
    out = tmp_path / "a.jsonl"
    command = ["strace", "-f", "-o", "/dev/null", "-e", f"trace={call}", "-e", f"inject={call}:error={error}:when={when}",
               str(PROGRAM), *map(str, texts(out))]
    done = subprocess.run(command, capture_output=True, text=True)
    assert done.returncode == 74, done.stderr
    assert done.stderr.strip().splitlines()[-1].endswith(": " + REASONS[error])
    assert [p.name for p in tmp_path.iterdir()] == ([] if when == 1 else ["a.jsonl"])


def test_the_reason_of_a_full_stdout():
    with open("/dev/full", "w") as full:
        done = subprocess.run([PROGRAM, "info"], stdout=full, stderr=subprocess.PIPE, text=True)
    assert done.returncode == 74
    assert done.stderr.strip().endswith("cannot write to stdout: No space left on device")


# Without some of stdin, stdout and stderr.


@pytest.mark.parametrize("closed", [(0,), (1,), (2,), (0, 1), (0, 2), (1, 2), (0, 1, 2)])
def test_closed_streams_end_in_no_file(tmp_path, closed):
    run = tmp_path / "out"
    data = write_csv(tmp_path / "d.csv")

    def close():
        for number in closed:
            os.close(number)

    done = subprocess.run([PROGRAM, *map(str, train(data, run, "-v"))], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                          stderr=subprocess.PIPE, text=True, preexec_fn=close)
    assert done.returncode == (74 if 1 in closed else 0)  # the result could not be said
    if 2 not in closed:
        assert ("cannot write to stdout: Bad file descriptor" in done.stderr) == (1 in closed)
    lines = (run / "metrics.jsonl").read_text().splitlines()
    assert [sorted(json.loads(line))[0] for line in lines] == ["best"]
    ok(*train(data, tmp_path / "whole"))
    for name in ("metrics.jsonl", "metrics.json", "data.json", "calibration.npz"):
        assert (run / name).read_bytes() == (tmp_path / "whole" / name).read_bytes(), name
    ok("evaluate", run)


def test_an_output_that_cannot_be_created_is_named_as_it_was_given(tmp_path):
    closed = tmp_path / "closed"
    closed.mkdir(mode=0o500)
    for out, why in ((tmp_path / "none" / "a.jsonl", "No such file or directory"), (tmp_path / ("x" * 300), "File name too long")):
        fails(73, f"cannot create {out}: {why}", arguments=texts(out))
    if os.geteuid() != 0:
        fails(73, f"cannot create {closed / 'a.jsonl'}: Permission denied", arguments=texts(closed / "a.jsonl"))
    longest = tmp_path / ("y" * 249 + ".jsonl")
    ok(*texts(longest))
    assert [one.name for one in tmp_path.iterdir() if one.is_file()] == [longest.name]
