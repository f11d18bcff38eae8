"""The pages: each is in the navigation of the site and in docs/README.md, links lead to files and headings that exist, and the
reference covers every task, command and public name. Needs no mkdocs and no network; `./dev docs --check` builds the site."""

import re
import sys
import tomllib

import pytest
import yaml

import modewise
from cli_helpers import ROOT, ok

sys.path.insert(0, str(ROOT / "docs"))

import build_reference as reference

DOCS = sorted(f"docs/{path.name}" for path in (ROOT / "docs").glob("*.md"))
PAGES = [*DOCS, "README.md", *reference.ROOT_PAGES]
SITE = yaml.safe_load((ROOT / "mkdocs.yml").read_text())


def pages_below(entry):
    if isinstance(entry, str):
        return [entry]
    return [page for below in (entry.values() if isinstance(entry, dict) else entry) for page in pages_below(below)]


def anchors(path):
    """As GitHub and the site number repeated headings."""
    found = []
    for heading in re.findall(r"^#+ (.+)$", reference.FENCED.sub("", (ROOT / path).read_text()), re.M):
        plain = re.sub(r"\[([^\]]*)\]\([^)]*\)", r"\1", heading)
        name = reference.slug(plain)
        repeated = sum(re.fullmatch(re.escape(name) + r"(-\d+)?", one) is not None for one in found)
        found.append(f"{name}-{repeated}" if repeated else name)
    return found


def broken_links(page):
    for link in reference.links((ROOT / page).read_text()):
        if "://" in link or link.startswith("mailto:"):
            continue
        path = reference.repository_path(link, page) or page
        anchor = link.partition("#")[2]
        if not (ROOT / path).is_file() or (anchor and anchor not in anchors(path)):
            yield link


@pytest.mark.parametrize("page", PAGES)
def test_every_link_and_anchor_resolves(page):
    assert list(broken_links(page)) == []


def test_a_broken_link_is_found(tmp_path, monkeypatch):
    monkeypatch.setattr(sys.modules[__name__], "ROOT", tmp_path)
    (tmp_path / "a.md").write_text("# A `b` c\n[1](#a-b-c) [2](#x) [3](b.md) `[4](c.md)` [5](https://x)\n\n```\n[6](d.md)\n```\n")
    assert list(broken_links("a.md")) == ["#x", "b.md"]


def test_the_navigation_has_four_parts_and_every_page():
    parts = [next(iter(entry)) for entry in SITE["nav"]]
    assert parts == ["Overview", "Tutorials", "How-to", "Reference", "Explanation"]
    listed = pages_below(SITE["nav"])
    there = [reference.site_path(page) for page in [*DOCS, *reference.ROOT_PAGES]] + list(reference.reference_pages())
    assert sorted(listed) == sorted(there)


def test_the_overview_links_every_page():
    linked = {reference.repository_path(link, "docs/README.md") for link in reference.links((ROOT / "docs/README.md").read_text())}
    assert linked == {*DOCS, *reference.ROOT_PAGES} - {"docs/README.md"}


def keys_below(table, prefix=""):
    for key, value in table.items():
        if isinstance(value, dict):
            yield from keys_below(value, f"{prefix}{key}.")
        else:
            yield prefix + key


def test_every_task_has_its_options():
    tasks = reference.tasks()
    assert sorted(tasks) == sorted(reference.subcommands(ok("help", "train").stdout))
    pages = reference.reference_pages()
    for task in tasks:
        page = pages[f"reference/options-{task}.md"]()
        keys = re.findall(r"^\| `([^`]+)` \|", page, re.M)
        assert sorted(keys) == sorted(keys_below(tomllib.loads(ok("config", "show", task).stdout)))
        assert all(len(re.findall(r"(?<!\\)\|", line)) == 5 for line in page.splitlines() if line.startswith("|"))


def test_every_command_has_its_help():
    page = reference.command_line_page()
    for name in reference.subcommands(ok("help").stdout):
        assert f"\n## modewise {name}\n" in page
    assert "\n## modewise data passkeys\n" in page and "--lookback" in page


def test_every_public_name_is_in_the_reference():
    shown = {name.split(".")[0] for names in reference.API.values() for name in names}
    assert shown == {*modewise.__all__, "transformers"} - {"__version__"}


def test_links_outside_the_pages_are_those_of_the_site():
    page = "[a](../CONTRIBUTING.md#layers) [b](../examples/a.py) [c](data.md#x) [d](https://x)"
    assert reference.relink(page, "docs/python.md") == "[a](contributing.md#layers) [b](source/examples/a.py) [c](data.md#x) [d](https://x)"
    assert reference.relink("[a](docs/data.md#x) [b](CHANGELOG.md)", "SECURITY.md") == "[a](data.md#x) [b](changelog.md)"
