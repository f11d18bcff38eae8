"""docs/python.md quotes the programs of examples/ and what they print."""

import os
import re
import subprocess
import sys

import pytest

import modewise
from cli_helpers import ROOT
from modewise import errors

PAGE = (ROOT / "docs/python.md").read_text()
QUOTED = re.findall(r"```python\n(.*?)```\n\n\[(examples/\w+\.py)\]\(\.\./examples/\w+\.py\) prints\n\n```\n(.*?)```", PAGE, re.S)


def test_every_example_is_quoted():
    assert sorted(name for _, name, _ in QUOTED) == sorted(f"examples/{file.name}" for file in (ROOT / "examples").glob("*.py"))


@pytest.mark.parametrize("program, name, printed", QUOTED, ids=[name for _, name, _ in QUOTED])
def test_an_example_prints_what_the_page_says(program, name, printed):
    assert program == (ROOT / name).read_text()
    run = subprocess.run([sys.executable, ROOT / name], capture_output=True, text=True, cwd="/",
                         env={**os.environ, "PYTHONPATH": str(ROOT / "python")})  # fmt: skip
    assert run.stdout == printed, run.stderr


def test_the_lines_of_the_readme_print_what_it_says(tmp_path):
    program, printed = re.search(r"```python\n(.*?)```\n\n```\n(.*?)```", (ROOT / "README.md").read_text(), re.S).groups()
    assert program.count("\n") == 5
    run = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, cwd=tmp_path,
                         env={**os.environ, "PYTHONPATH": str(ROOT / "python")})  # fmt: skip
    assert [line.rstrip() for line in run.stdout.splitlines()] == printed.splitlines(), run.stderr


def test_the_page_lists_every_exception():
    rows = dict(re.findall(r"\| `errors\.(\w+)` \| `\w+` \| (\d+)", PAGE))
    wanted = {kind.__name__: str(kind.exit_code) for kind in errors.KINDS}
    assert rows == {**wanted, "Stopped": str(errors.Stopped(2, "").exit_code)}
    for name, parent in re.findall(r"\| `errors\.(\w+)` \| `(\w+)`", PAGE):
        assert parent in {base.__name__ for base in getattr(errors, name).__mro__[1:]}, name


def test_the_page_names_every_part():
    parts = {"ops", "nn", "load", "Forecaster", "VolumeClassifier", "SeriesClassifier", "Segmenter", "LanguageModel", "tasks"}
    assert set(re.findall(r"^\| `modewise\.(\w+)", PAGE, re.M)) == parts | {"transformers"}
    assert parts <= set(modewise.__all__)
