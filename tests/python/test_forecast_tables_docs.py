"""docs/your-table.md says what `modewise data show` prints about its tables."""

import json
import re

import pytest

from cli_helpers import ROOT, ok

PAGE = (ROOT / "docs/your-table.md").read_text()
PLURALS = {"variable": "variables", "unique_id": "unique_ids", "city": "cities"}
EXAMPLES = re.findall(r"```csv\n(.*?)```\n\n```\n(.*?)```", PAGE, re.S)


def test_every_form_has_an_example():
    assert len(EXAMPLES) == PAGE.count("\n## ") == PAGE.count("```csv")


@pytest.mark.parametrize("table, said", EXAMPLES, ids=[table.split("\n")[0] for table, _ in EXAMPLES])
def test_the_page_says_what_is_read(tmp_path, table, said):
    (tmp_path / "table.csv").write_text(table)
    shown = json.loads(ok("data", "show", tmp_path / "table.csv", "--json").stdout)
    modes = " × ".join(f"{len(mode['labels'])} {mode['name'] if len(mode['labels']) == 1 else PLURALS[mode['name']]}" for mode in shown["modes"])
    assert [f"{shown['rows']} rows × {modes}, one every {shown['frequency']}", *shown["notes"]] == said.strip().split("\n")
