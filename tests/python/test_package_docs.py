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


def test_the_lines_of_the_readme_run(tmp_path):
    text = (ROOT / "README.md").read_text()
    program = re.search(r"```python\n(.*?)```", text, re.S)[1]
    rows = "\n".join(f"2026-01-{1 + i // 24:02d} {i % 24:02d}:00,{i % 24},{(i * 7) % 24}" for i in range(24 * 30))
    (tmp_path / "your_file.csv").write_text(f"date,a,b\n{rows}\n")
    assert program.count("\n") <= 4
    quick = program.replace('Forecaster("hot")', 'Forecaster("dlinear", epochs=1, verbosity=-1)')
    assert quick != program
    run = subprocess.run([sys.executable, "-c", quick + "\nprint(forecast.shape)"], capture_output=True, text=True, cwd=tmp_path,
                         env={**os.environ, "PYTHONPATH": str(ROOT / "python")})  # fmt: skip
    assert run.stdout == "(72, 12)\n", run.stderr


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
