"""docs/your-table.md says what `modewise data show` prints about its tables."""

import json
import re

import pytest

from cli_helpers import ROOT, ok

PAGE = (ROOT / "docs/your-table.md").read_text()
EXAMPLES = re.findall(r"```csv\n(.*?)```\n\n```\n(.*?)```", PAGE, re.S)


def test_every_form_has_an_example():
    assert len(EXAMPLES) == PAGE.count("\n## ") == PAGE.count("```csv")


@pytest.mark.parametrize("table, said", EXAMPLES, ids=[table.split("\n")[0] for table, _ in EXAMPLES])
def test_the_page_says_what_is_read(tmp_path, table, said):
    (tmp_path / "table.csv").write_text(table)
    text = ok("data", "show", tmp_path / "table.csv").stdout
    shown = json.loads(ok("data", "show", tmp_path / "table.csv", "--json").stdout)
    size, every = re.search(r": (.*), \d+ of \d+ cells missing\n.*, (every .*)\n", text).groups()
    assert [f"{size}, one {every}", *shown["notes"]] == said.strip().split("\n")
