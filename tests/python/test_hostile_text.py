"""Names in users' files, folders and command lines hold anything: what leaves the program holds no control, C1 or bidirectional
characters, runs no command and reads no file that nobody named; a user's mistake is a sentence with its exit code, never an
internal error; work and memory follow the size of what is read. Time limits only end a command that would run for minutes."""
import csv
import io
import json
import os
import pathlib
import pty
import re
import subprocess

import numpy as np
import pytest

from cli_helpers import PROGRAM, QUICK, fails, modewise, ok, write_csv

pytestmark = pytest.mark.skipif(not PROGRAM.exists(), reason=f"{PROGRAM} is not built")

LIMIT = 120  # seconds
NASTY = "x\x1b]0;owned\x07\u009b31m\u202egpj\u2066\x7f"
FORMULA = '=HYPERLINK("http://x","y")'
UNSAFE = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069\ufffe\uffff]")


def run_bytes(*arguments, **options):
    """Arguments and output as bytes."""
    return subprocess.run([PROGRAM, *(a if isinstance(a, bytes) else str(a).encode() for a in arguments)], capture_output=True, timeout=LIMIT, **options)


def clean(result):
    """The output, which must be UTF-8 without unsafe characters."""
    for stream in (result.stdout, result.stderr):
        text = stream.decode() if isinstance(stream, bytes) else stream
        assert not UNSAFE.search(text), UNSAFE.search(text)
    return result


@pytest.fixture(scope="module")
def nasty(tmp_path_factory):
    """A folder with a nasty name, in it a table with nasty columns and a run on it."""
    folder = tmp_path_factory.mktemp("hostile") / f"a\nerror: forged {NASTY}"
    folder.mkdir()
    data = write_csv(folder / f"{NASTY}.csv", columns=(NASTY, '"' + FORMULA.replace('"', '""') + '"', "-1"))
    clean(ok("train", "forecast", "--data", data, "--out", folder / "run", *QUICK))
    return folder


def data_of(folder):
    return folder / f"{NASTY}.csv"


def test_no_command_prints_control_characters(nasty):
    run = nasty / "run"
    for arguments in (["data", "show", data_of(nasty)], ["evaluate", run], ["evaluate", run, "--detail"], ["predict", run], ["compare", run],
                      ["compare", run, "--format", "csv"], ["compare", run, "--format", "markdown"], ["config", "show", "--run", run], ["explain", run]):
        clean(ok(*arguments))
    assert not UNSAFE.search((run / "log.txt").read_text())
    last = fails(2, "\\x1b]0;owned\\x07\\u009b31m\\u202egpj\\u2066\\x7f", arguments=["train", "forecast", "--set", f"{NASTY}=1"])
    assert not UNSAFE.search(last)
    assert clean(modewise("evaluate", nasty / "none")).stderr.count("\n") == 1  # the line break of the folder's name forges no line


def test_a_terminal_gets_no_control_characters(nasty):
    for arguments in (["data", "show", data_of(nasty)], ["train", "forecast", "--data", data_of(nasty), "--out", nasty / "again", "--overwrite", *QUICK]):
        leader, follower = pty.openpty()
        with subprocess.Popen([PROGRAM, *map(str, arguments), "--color", "never"], stdout=follower, stderr=follower) as process:
            os.close(follower)
            shown = b""
            while True:
                try:
                    part = os.read(leader, 65536)
                except OSError:  # the follower's end is closed
                    break
                if not part:
                    break
                shown += part
        os.close(leader)
        assert process.returncode == 0
        assert "owned" in shown.decode()
        # The terminal makes \r\n of \n; the bar clears its own line.
        assert not UNSAFE.search(shown.decode().replace("\r\x1b[K", "").replace("\r\n", "\n"))


def test_json_keeps_the_names_in_its_own_escapes(nasty):
    for arguments in (["predict", nasty / "run", "--json"], ["data", "show", data_of(nasty), "--json"]):
        assert NASTY in names_in(json.loads(clean(ok(*arguments)).stdout))


def names_in(document):
    """All texts of a JSON document."""
    if isinstance(document, dict):
        return {text for key, value in document.items() for text in {key} | names_in(value)}
    if isinstance(document, list):
        return {text for value in document for text in names_in(value)}
    return {document} if isinstance(document, str) else set()


def header_of(text):
    return next(csv.reader(io.StringIO(text)))


def test_spreadsheet_safe_shields_formulas_and_leaves_numbers(nasty, tmp_path):
    plain = header_of(ok("predict", nasty / "run").stdout)
    assert plain[1].startswith("x\\x1b]0;owned") and FORMULA in plain and "-1" in plain
    out = tmp_path / "forecast.csv"
    ok("predict", nasty / "run", "--spreadsheet-safe", "--out", out)
    rows = list(csv.reader(io.StringIO(out.read_text())))
    assert "'" + FORMULA in rows[0] and FORMULA not in rows[0] and "-1" in rows[0]
    assert not [cell for cell in rows[0] if re.match("[=+@]", cell)]
    np.array([row[1:] for row in rows[1:]], dtype=float)  # numbers are numbers
    assert rows[1:] == list(csv.reader(io.StringIO(ok("predict", nasty / "run").stdout)))[1:]


@pytest.fixture
def sbatch(tmp_path):
    """In place of sbatch: runs the first task of the array."""
    folder = tmp_path / "bin"
    folder.mkdir()
    (folder / "sbatch").write_text('#!/bin/bash\nSLURM_ARRAY_TASK_ID=0 bash "$1" > /dev/null 2>&1\necho "Submitted batch job 1"\n')
    (folder / "sbatch").chmod(0o755)
    return {"PATH": f"{folder}:{os.environ['PATH']}"}


def test_a_slurm_script_runs_nothing_that_a_name_says(tmp_path, sbatch):
    data = write_csv(tmp_path / "a.csv")
    sweep = tmp_path / "s.toml"
    sweep.write_text("seeds = [1]\n[settings]\nmodel.name = \"dlinear\"\ntrain.epochs = 1\nforecast.lookback = 24\nforecast.horizon = 8\n")
    owned = tmp_path / "owned"  # what runs anything makes this file
    for name in ("a\ntouch owned #", 'a"b', "a\\b", f"a{NASTY}"):
        last = fails(2, "is not allowed in a Slurm script", arguments=[
            "sweep", sweep, "--data", data, "--out", tmp_path / "out" / name, "--launcher", "slurm"], env=sbatch, cwd=tmp_path)
        assert not UNSAFE.search(last)
    fails(2, "--sbatch expects one sbatch option", arguments=["sweep", sweep, "--data", data, "--out", tmp_path / "b", "--launcher", "slurm", "--sbatch=--comment=a\ntouch owned"],
          env=sbatch, cwd=tmp_path)
    quoted = tmp_path / "it's $(touch owned) `touch owned`; touch owned"
    quoted.mkdir()
    moved = quoted / "b\ntouch owned #.csv"
    data.rename(moved)
    ok("sweep", sweep, "--data", moved, "--out", quoted / "run", "--launcher", "slurm", env=sbatch, cwd=tmp_path)
    script = (quoted / "run" / "slurm.sh").read_text()
    assert not UNSAFE.search(script) and sum(line.startswith("#SBATCH ") for line in script.splitlines()) == 5
    assert (quoted / "run" / "done" / "run_s1.json").exists()
    assert not owned.exists()
    assert "'" in ok("sweep", sweep, "--data", moved, "--out", quoted / "run", "--dry-run").stdout


@pytest.mark.parametrize("name", [b"d\xff.csv", b"\xff"])
def test_names_that_are_not_utf8_are_refused_with_a_sentence(tmp_path, name):
    write_csv(tmp_path / "a.csv")
    os.rename(tmp_path / "a.csv", os.path.join(os.fsencode(tmp_path), name))
    path = os.path.join(os.fsencode(tmp_path), name)
    for arguments in ([b"data", b"show", path], [b"data", b"show", path, b"--json"], [b"train", b"forecast", b"--data", path], [b"predict", path],
                      [b"evaluate", b"run", b"--data", path], [b"train", b"forecast", b"--set", b"data.path=" + path], [b"sweep", path], [path]):
        result = clean(run_bytes(*arguments, cwd=tmp_path))
        assert result.returncode == 2, result
        assert b"\\xff" in result.stderr and result.stderr.startswith(b"error: ") and result.stderr.count(b"\n") == 1


def test_class_folders_that_are_not_utf8_are_a_data_error(tmp_path):
    image = pytest.importorskip("PIL.Image").new("RGB", (8, 8), (10, 200, 30))
    for name in (b"cat", b"\xff"):
        folder = pathlib.Path(os.fsdecode(os.path.join(os.fsencode(tmp_path), b"classes", name)))
        folder.mkdir(parents=True)
        for i in range(3):
            image.save(folder / f"{i}.png")
    for arguments in (["data", "show", "--task", "image_classification"], ["train", "classify-images"]):
        result = clean(modewise(*arguments, "--data", tmp_path / "classes", cwd=tmp_path))
        assert result.returncode == 65 and "classes/\\xff' is not UTF-8" in result.stderr, result


def test_a_folder_around_that_is_not_utf8_is_a_data_error(tmp_path):
    folder = os.path.join(os.fsencode(tmp_path), b"here\xff")
    os.mkdir(folder)
    write_csv(tmp_path / "a.csv")
    os.rename(tmp_path / "a.csv", os.path.join(folder, b"a.csv"))
    result = clean(run_bytes("train", "forecast", "--data", "a.csv", *QUICK, cwd=folder))
    assert result.returncode == 65 and b"here\\xff" in result.stderr, result


def test_wrong_instruction_sets_and_metrics_are_usage_errors(tmp_path):
    data = write_csv(tmp_path / "a.csv")
    fails(2, "MODEWISE_ISA", "scalar", "got 'foo\\x1b'", arguments=["train", "forecast", "--data", data, "--out", tmp_path / "out"], env={"MODEWISE_ISA": "foo\x1b"})
    assert not (tmp_path / "out").exists()
    fails(2, "MODEWISE_ISA", arguments=["info"], env={"MODEWISE_ISA": "AVX2"})
    sweep = tmp_path / "s.toml"
    sweep.write_text("seeds = [1]\n")
    for metric in ("a~b", "/a~", "a.~2", "best.99999999999999999999"):
        fails(2, "--metric", "JSON pointer", arguments=["sweep", sweep, "--data", data, "--out", tmp_path / "out", "--metric", metric])
    for decimals in (-1, 18, 2_000_000_000, 2**63 - 1):
        sweep.write_text(f'seeds = [1]\n[[metric]]\npath = "/best/val_mse"\ndecimals = {decimals}\n')
        fails(78, f"s.toml:2:1: decimals must be from 0 to 17, got {decimals}", arguments=["sweep", sweep, "--data", data, "--out", tmp_path / "out"], timeout=LIMIT)
    assert not (tmp_path / "out").exists()


def test_a_grid_of_ten_billion_runs_is_refused_at_once(tmp_path):
    sweep = tmp_path / "s.toml"
    sweep.write_text("".join(f"[[axis]]\nkey = \"k{i}\"\nvalues = {list(range(10))}\n" for i in range(10)))
    fails(78, "at most 100000 runs", "10 × 10", arguments=["sweep", sweep, "--out", tmp_path / "out"], timeout=LIMIT)


def test_many_labels_take_time_by_their_number(tmp_path):
    # 300,000 labels took a quarter of an hour when each was looked for among all.
    path = tmp_path / "many.csv"
    path.write_text("label,x\n" + "".join(f"class {i},{i}.5\n" for i in range(300_000)))
    result = ok("data", "show", path, "--task", "series_classification", "--json", timeout=LIMIT)
    assert len(json.loads(result.stdout)["classes"]) == 300_000
    other = tmp_path / "other_TRAIN.csv"
    other.write_text("label,x\n" + "".join(f"class {i},{i}.5\n" for i in range(200_000)))
    (tmp_path / "other_TEST.csv").write_text("label,x\n" + "".join(f"class {i},{i}.5\n" for i in range(200_000)) + "new,1\n")
    last = fails(65, "sample 200001 has class 'new'", "200000 in all", arguments=["data", "show", other, "--task", "series_classification"], timeout=LIMIT)
    assert len(last) < 1000


def test_many_columns_take_time_by_their_number(tmp_path):
    columns = [f"column number {i}" for i in range(60_000)]
    for part in ("a", "b"):
        (tmp_path / f"{part}.csv").write_text(",".join(columns) + "\n" + 5 * (",".join("1" for _ in columns) + "\n"))
    shown = ok("data", "show", tmp_path / "a.csv", "--set", "data.drop=" + json.dumps(columns[1::2][:2000]), "--json", timeout=LIMIT)
    assert json.loads(shown.stdout)


def test_json_lines_of_many_members_take_time_by_their_number(tmp_path):
    path = tmp_path / "texts.jsonl"
    rows = [{"text": f"a text {i}", "label": i % 2} for i in range(20)]
    rows[0] |= {f"member {i}": 0 for i in range(1_000_000)}
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    assert json.loads(ok("data", "show", path, "--task", "text", "--json", timeout=LIMIT).stdout)["classes"] == ["0", "1"]


def test_devices_end_in_a_sentence(tmp_path):
    data = write_csv(tmp_path / "a.csv")
    for arguments in (["train", "forecast", "--data", data, "--config", "/dev/zero"], ["train", "forecast", "--config", "/dev/full", "--data", data],
                      ["data", "show", "/dev/null"], ["data", "show", "/dev/zero"], ["score", "/dev/null", "/dev/zero"], ["sweep", "/dev/zero"]):
        result = modewise(*arguments, timeout=LIMIT, cwd=tmp_path)
        assert result.returncode in (65, 66, 78), (arguments, result)
