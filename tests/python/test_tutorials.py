"""The tutorials print what they say: the blocks of a page run one after another in one folder.

A block ```sh runs in bash, with the program as `modewise`; ```python in Python; ```LANGUAGE file=NAME is saved. A block ``` without a language
after one of the first two is what it prints. The page about C++ has the files of the wheel. `python tests/python/test_tutorials.py [PAGE…]` writes the
outputs into the pages.
"""

import os
import pathlib
import re
import subprocess
import sys
import tempfile

import pytest

from cli_helpers import PROGRAM, ROOT
from installed_package import install_package

PAGES = sorted((ROOT / "docs").glob("tutorial-*.md"))
BLOCK = re.compile(r"^```(sh|python|\w+ file=(\S+))\n(.*?)^```\n(?:\n```\n(.*?)^```\n)?", re.S | re.M)


def output_of(language, code, folder, package):
    command = ["bash", "-euo", "pipefail", "-c", code] if language == "sh" else [sys.executable, "-c", code]
    environment = {**os.environ, "PYTHONPATH": str(package), "PATH": f"{PROGRAM.parent}:{pathlib.Path(sys.executable).parent}:{os.environ['PATH']}"}
    run = subprocess.run(command, capture_output=True, text=True, cwd=folder, env=environment, timeout=600)
    assert run.returncode == 0, run.stderr
    return run.stdout.replace(f"{folder}/", "")


def blocks_with_output(page, folder):
    """Runs the page: (code, what the page says, what it prints)."""
    folder.mkdir()
    package = install_package(folder.parent / "site-packages") if "--cmake-dir" in page.read_text() else ROOT / "python"
    for language, name, code, said in BLOCK.findall(page.read_text()):
        if name:
            (folder / name).write_text(code)
        else:
            yield code, said, output_of(language, code, folder, package)


@pytest.mark.parametrize("page", PAGES, ids=[page.stem for page in PAGES])
def test_a_tutorial_prints_what_it_says(page, tmp_path):
    count = 0
    for code, said, printed in blocks_with_output(page, tmp_path / "tutorial"):
        assert printed == said, code
        count += 1
    assert count >= 3


def write_pages(names):
    for page in [page for page in PAGES if not names or page.stem in names]:
        with tempfile.TemporaryDirectory() as name:
            outputs = iter([printed for _, _, printed in blocks_with_output(page, pathlib.Path(name) / "tutorial")])

        def filled(match):
            if match[2]:
                return match[0]
            output = next(outputs)
            return f"```{match[1]}\n{match[3]}```\n" + (f"\n```\n{output}```\n" if output else "")

        page.write_text(BLOCK.sub(filled, page.read_text()))


if __name__ == "__main__":
    sys.exit(write_pages(sys.argv[1:]))
