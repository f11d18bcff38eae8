"""Hooks of mkdocs (mkdocs.yml): reference pages written from the program, pages of the repository's root, links to sources.

Reference pages are made at each build, from `modewise help` and `modewise config show`, and are not committed. Without
mkdocs this is a plain module, which tests/python/test_docs_site.py imports.
"""

import json
import os
import pathlib
import posixpath
import re
import subprocess

ROOT = pathlib.Path(__file__).resolve().parents[1]
ROOT_PAGES = {"CONTRIBUTING.md": "contributing.md", "SECURITY.md": "security.md", "CHANGELOG.md": "changelog.md"}
API = {  # page: the objects whose docstrings it shows
    "estimators": ["Forecaster", "VolumeClassifier", "SeriesClassifier", "Segmenter", "LanguageModel"],
    "runs": ["load", *(f"tasks.{name}" for name in ("train", "search", "resume", "evaluate", "predict", "explain", "backtest", "show")), "models", "errors"],
    "modules": ["nn"],
    "operators": ["ops"],
    "transformers": ["transformers"],
}
FENCED = re.compile(r"^```.*?^```", re.S | re.M)
LINK = re.compile(r"(\]\()([^()\s]+)(\))")


def program(*arguments):
    path = pathlib.Path(os.environ.get("MODEWISE_BUILD", ROOT / "build")) / "bin" / "modewise"
    return subprocess.run([path, *arguments], capture_output=True, text=True, check=True, env={**os.environ, "COLUMNS": "100"}).stdout


def tasks():
    return re.search(r"task TEXT:\{([\w,-]+)\}", program("help", "config", "show"))[1].split(",")


def subcommands(help_text):
    listed = re.search(r"^Subcommands:\n((?:  .*\n)+)", help_text, re.M)
    return re.findall(r"^  (\S+)", listed[1], re.M) if listed else []


def range_text(text):
    """The range of an option, without the largest integer and with a name for the empty text."""
    return text.replace("one of , ", 'one of "", ').replace(" to 9.223372036854776e+18", "")


def cell(text):
    return text.replace("|", "\\|").replace("<", "&lt;").replace("*", "\\*").replace("\n", " ")


def options_page(task):
    """Every setting of a task: a table for each section."""
    sections = {}
    for key, option in json.loads(program("config", "show", task, "--help-text", "--json")).items():
        sections.setdefault(key.rpartition(".")[0], []).append((key, option))
    lines = [f"# Options of {task}", "", f"Written from `modewise config show {task} --help-text`. Set one with `--set KEY=VALUE`, or in a file",
             f"for `--config`. The defaults are those of the default model: `modewise config show {task} --model NAME` prints others."]  # fmt: skip
    for section, options in sections.items():
        lines += ["", f"## {section or 'general'}", "", "| key | default | range | meaning |", "|---|---|---|---|"]
        for key, option in options:
            value = json.dumps(option["value"], ensure_ascii=False).replace("|", "\\|")
            lines.append(f"| `{key}` | `{value}` | {cell(range_text(option['range']))} | {cell(option['help'])} |")
    return "\n".join(lines) + "\n"


def commands_of(*words):
    """(words, help) of a command and of all below it."""
    text = program("help", *words)
    yield words, text
    for name in subcommands(text):
        yield from commands_of(*words, name)


def command_line_page():
    lines = ["# Command line", "", "The output of `modewise help COMMAND`. [Commands](../commands.md) explains settings, run folders and signals."]
    for words, text in commands_of():
        text = text.replace(str(ROOT), "…")
        lines += ["", f"## {' '.join(('modewise', *words))}", "", "```text", text.rstrip("\n"), "```"]
    return "\n".join(lines) + "\n"


def api_page(name):
    lines = [f"# Python API: {name}", "", "Written from the docstrings. [Python](../python.md) has examples."]
    for target in API[name]:
        lines += ["", f"::: modewise.{target}"]
    return "\n".join(lines) + "\n"


def reference_pages():
    """Path in the site and a function that writes the page: all that is generated."""
    pages = {f"reference/options-{task}.md": lambda task=task: options_page(task) for task in tasks()}
    pages |= {f"reference/python-{name}.md": lambda name=name: api_page(name) for name in API}
    return {**pages, "reference/command-line.md": command_line_page}


def slug(heading, separator="-"):
    """The anchor of a heading, as GitHub makes it."""
    return re.sub(r"[^\w\- ]", "", heading.strip().lower()).replace(" ", separator)


def site_path(path):
    """The path in the site of a file of the repository."""
    if path.startswith("docs/"):
        return path.removeprefix("docs/")
    return ROOT_PAGES.get(path, f"source/{path}")


def links(markdown):
    """The targets of all links outside code."""
    return [match[2] for match in LINK.finditer(re.sub(r"``?[^`\n]+``?", "", FENCED.sub("", markdown)))]


def repository_path(link, page):
    """The file that a relative link on a page of the repository names, or None for other links."""
    target = link.partition("#")[0]
    return None if not target or "://" in link or link.startswith("mailto:") else posixpath.normpath(posixpath.join(posixpath.dirname(page), target))


def relink(markdown, page):
    """The page with its links to files outside docs/ replaced by those to their copies in the site."""
    here = posixpath.dirname(site_path(page))

    def replace(match):
        path = repository_path(match[2], page)
        if path is None or (page.startswith("docs/") and path.startswith("docs/")):
            return match[0]
        _, mark, anchor = match[2].partition("#")
        return f"{match[1]}{posixpath.relpath(site_path(path), here or '.')}{mark}{anchor}{match[3]}"

    return LINK.sub(replace, markdown)


def on_config(config):
    config.mdx_configs.setdefault("toc", {})["slugify"] = slug
    return config


def on_files(files, config):
    from mkdocs.structure.files import File

    for path, make in reference_pages().items():
        files.append(File.generated(config, path, content=make()))
    pages = {name: (ROOT / name).read_text() for name in ROOT_PAGES}
    for name, text in pages.items():
        files.append(File.generated(config, ROOT_PAGES[name], content=relink(text, name)))
    pages |= {f"docs/{path.name}": path.read_text() for path in (ROOT / "docs").glob("*.md")}
    linked = {repository_path(link, page) for page, text in pages.items() for link in links(text)} - {None} - set(ROOT_PAGES)
    for path in sorted(linked):
        if not path.startswith("docs/"):
            files.append(File.generated(config, site_path(path), abs_src_path=str(ROOT / path)))
    return files


def on_page_markdown(markdown, page, config, files):
    weight = {"results": 0.3, "changelog": 0.2, "renames": 0.2, "contributing": 0.3}  # of a page in searches; others 1
    page.meta["search"] = {"boost": weight.get(page.file.src_uri.partition(".")[0].partition("-")[0], 1)}
    generated = page.file.generated_by is not None
    return markdown if generated else relink(markdown, f"docs/{page.file.src_uri}")
