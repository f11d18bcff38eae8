"""tests/same_results.py compares two recordings: equal ones, different ones, and ones between which names changed."""

import json
import sys

import pytest

from cli_helpers import ROOT

sys.path.append(str(ROOT / "tests"))
import same_results

BEFORE = {
    "000-inputs/files/a.npy": b"\x93NUMPY sort",
    "001-train-sort/command": b"train sort --set model.steps=2\n",
    "001-train-sort/stdout": b'{"seconds": 1.25, "steps": 2}\n',
    "001-train-sort/files/sort/config.toml": b"task = 'sort'\n[model]\nsteps = 2\nname = 'hot'\n[data]\nsteps = 3\n",
    "001-train-sort/files/sort/log.jsonl": b'{"step": 1, "loss": 2.5}\n{"step": 2, "loss": 2.0}\n',
    "001-train-sort/files/sort/manifest.json": b'{"identity": "abc", "path": "WORK/sort"}\n',
    "002-predict/stderr": b"no \xff text\n",
}
AFTER = {
    "000-inputs/files/a.npy": b"\x93NUMPY sort",
    "001-train/command": b"train sort-volumes --set model.layers=2\n",
    "001-train/stdout": b'{"seconds": 7.5, "steps": 2}\n',
    "001-train/files/sort-volumes/config.toml": b"task = 'sort-volumes'\n[data]\nsteps = 3\n[model]\nname = 'hot'\nlayers = 2\n",
    "001-train/files/sort-volumes/log.jsonl": b'{"loss": 2.5, "step": 1}\n{"loss": 2.0, "step": 2}\n',
    "001-train/files/sort-volumes/manifest.json": b'{"identity": "def", "path": "WORK/sort-volumes"}\n',
    "002-predict/stderr": b"no \xff text\n",
}
TABLE = r"""
parsed = '/config\.toml$|\.jsonl$'
[[rename]]
pattern = '\bsort\b(?!-)'
replace = 'sort-volumes'
[[rename]]
pattern = 'model\.steps='
replace = 'model.layers='
[[key]]
pattern = '(?m)^model\.steps = '
replace = 'model.layers = '
[[mask]]
files = '/manifest\.json$'
pattern = '("identity": ")\w+'
replace = '\1~'
"""


def recording(folder, files):
    work = str(folder / "work")
    for path, content in {**files, "recording.json": json.dumps({"FOLDER": work}).encode()}.items():
        (folder / path).parent.mkdir(parents=True, exist_ok=True)
        (folder / path).write_bytes(content.replace(b"WORK", work.encode()))
    return folder


@pytest.fixture
def differences(tmp_path, capsys):
    def compared(before, after, table=None):
        if table:
            (tmp_path / "table.toml").write_text(table)
        count = same_results.compare(recording(tmp_path / "before", before), recording(tmp_path / "after", after),
                                     same_results.Table(tmp_path / "table.toml" if table else None))
        lines = capsys.readouterr().out.splitlines()
        assert len([line for line in lines[:-1] if not line.startswith("replaced ")]) == count
        return [line for line in lines[:-1] if not line.startswith("replaced ")]

    return compared


def test_equal_recordings_differ_in_times_alone(differences):
    slower = {path: content.replace(b"1.25", b"31.5") for path, content in BEFORE.items()}
    assert slower != BEFORE and differences(BEFORE, slower) == []


def test_renamed_recordings_are_equal(differences):
    assert differences(BEFORE, AFTER, TABLE) == []


def test_without_a_table_names_differ(differences):
    lines = differences(BEFORE, AFTER)
    assert "001-train/command:1: train sort --set model.steps=2 | train sort-volumes --set model.layers=2" in lines
    assert any(line.startswith("001-train-sort/files/sort/config.toml is not in ") for line in lines)
    assert len(lines) == 7


@pytest.mark.parametrize("path, old, new, line", [
    ("001-train/files/sort-volumes/config.toml", b"layers = 2", b"layers = 3", ":2: model.layers = 2 | model.layers = 3"),
    ("001-train/files/sort-volumes/config.toml", b"steps = 3", b"layers = 3", ":1: data.steps = 3 | data.layers = 3"),
    ("001-train/files/sort-volumes/log.jsonl", b"2.0", b"2.1", ":3: 001.loss = 2.0 | 001.loss = 2.1"),
    ("001-train/stdout", b'"steps": 2', b'"steps": 4', ':1: {"seconds": "~", "steps": 2} | {"seconds": "~", "steps": 4}'),
    ("000-inputs/files/a.npy", b"sort", b"sort-volumes", ": byte 11 of 11 and 19:  | 2d 76 6f 6c 75 6d 65 73"),
    ("002-predict/stderr", b"\xff", b"\xfe", ":1: no \ufffd text | no \ufffd text"),
])
def test_what_no_rule_explains_is_a_difference(path, old, new, line, differences):
    assert old in AFTER[path]
    assert differences(BEFORE, {**AFTER, path: AFTER[path].replace(old, new)}, TABLE) == [path + line]


def test_a_missing_file_is_a_difference(differences):
    fewer = {path: content for path, content in AFTER.items() if path != "002-predict/stderr"}
    line, = differences(BEFORE, fewer, TABLE)
    assert line.startswith("002-predict/stderr is not in ") and line.endswith("/after")


def test_rules_that_make_two_files_one_are_an_error(differences):
    with pytest.raises(SystemExit, match="two files of .* are 001-train-sort/files/x once renamed"):
        differences({"001-train-sort/files/x": b"", "001-train-sort/files/y": b""}, {}, "[[rename]]\npattern = 'y$'\nreplace = 'x'\n")


def test_an_unknown_table_is_an_error(differences):
    with pytest.raises(SystemExit, match="unknown: renames"):
        differences(BEFORE, AFTER, TABLE.replace("[[rename]]", "[[renames]]"))
