"""The sources, the help, the messages and the pages use the words of tests/vocabulary.toml, a task has one name on every
layer, and folders stay small. Reads sources only: nothing needs to be built.

    python tests/python/test_vocabulary.py [--scope comments] [--summary] [PATH ...]

prints every finding, by file, of all files or of those whose path begins with PATH.
"""

import argparse
import collections
import dataclasses
import fnmatch
import functools
import itertools
import pathlib
import re
import signal
import tomllib

import pytest

from source_texts import SCOPES, Text, texts_of, tree

ROOT = pathlib.Path(__file__).resolve().parents[2]
GROUPS = {"prose": ("comments", "help", "messages", "docs"), "code": ("docs_code", "settings")}
SHOWN = 40
SOURCES = {".h", ".cpp", ".cu", ".py"}


@dataclasses.dataclass(frozen=True)
class Finding:
    path: str
    line: int
    scope: str
    found: str
    write: str

    def __str__(self):
        return f"{self.path}:{self.line}: {self.scope}: '{self.found}': write {self.write}"


def path_pattern(globs):
    return re.compile("|".join(map(fnmatch.translate, globs)) or r"(?!)")


def lower(text):
    """In lower case, at the same offsets."""
    plain = text.lower()
    return plain if len(plain) == len(text) else "".join(one.lower()[:1] for one in text)


class Word:
    """A [[word]] or a [[limit]]."""

    def __init__(self, entry):
        self.source = f"(?:{entry['pattern']})"
        self.pattern = re.compile(self.source + r"(?!\w)", re.M)
        self.cased = re.search("[A-Z]", re.sub(r"\\.", "", self.source)) is not None
        self.scopes = [scope for name in entry["scope"] for scope in GROUPS.get(name, (name,))]
        self.only, self.excepted = path_pattern(entry.get("only", ["*"])), path_pattern(entry.get("except", []))
        self.allowed = [re.compile(phrase, re.I) for phrase in entry.get("allow", [])]
        self.name, self.at_most = entry.get("name"), entry.get("at_most", 0)
        self.write = entry["write"] + (f" ({entry['reason']})" if "reason" in entry else "")

    def applies(self, path):
        return self.only.match(path) and not self.excepted.match(path)

    def allows(self, text, start, end):
        line = slice(text.rfind("\n", 0, start) + 1, end + 60)
        first, last = start - line.start, end - line.start
        return any(m.start() <= first and last <= m.end() for phrase in self.allowed for m in phrase.finditer(text[line]))


class Vocabulary:
    """The entries of a TOML file. Those of a scope are sought together, as one expression, which is what takes the time."""

    def __init__(self, file):
        self.data = tomllib.loads(file.read_text())
        self.exempt = path_pattern(self.data.get("exempt", []))
        self.words = [Word(entry) for entry in self.data.get("word", [])]
        self.limits = [Word(entry) for entry in self.data.get("limit", [])]
        self.by_scope = {}
        for scope in SCOPES:
            for cased in (False, True):
                words = [w for w in self.words + self.limits if scope in w.scopes and w.cased == cased]
                if words:
                    together = re.compile(r"(?<!\w)(?:" + "|".join(w.source for w in words) + r")(?!\w)", re.M)
                    self.by_scope.setdefault(scope, []).append((cased, together, words))

    def findings_of(self, text):
        for cased, together, words in self.by_scope.get(text.scope, []):
            plain = text.text if cased else lower(text.text)
            for match in together.finditer(plain):
                for word in words:
                    if (m := word.pattern.match(plain, match.start())) and word.applies(text.path) and not word.allows(plain, *m.span()):
                        if finding := self.finding(text, word, m):
                            yield finding
                        break

    def finding(self, text, word, match):
        """None for a string of one word, which is no sentence: a key, a value or a name."""
        block = text.text[text.text.rfind("\n", 0, match.start()) + 1:match.end()]
        if text.scope in ("help", "messages") and " " not in block + text.text[match.end():].split("\n", 1)[0]:
            return None
        found = text.text[slice(*match.span())].replace("\n", " ")
        if text.scope == "identifiers":
            found = text.name(match.start())
        return Finding(text.path, text.line(match.start()), word.name or text.scope, found, word.write)


@functools.cache
def findings(root, file):
    """Every finding below the root by the vocabulary of `file`, by path and line; one of a text that has two scopes once."""
    vocabulary, found = Vocabulary(file), {}
    for path in tree(root):
        if not vocabulary.exempt.match(path):
            for text in texts_below(root, path):
                for one in vocabulary.findings_of(text):
                    found.setdefault((one.path, one.line, one.found, one.write), one)
    return sorted(found.values(), key=lambda one: (one.path, one.line))


def texts_below(root, path):
    name = Text(path, "files")
    name.add([(re.sub("[_-]", " ", path), 1)])
    try:
        return [name, *texts_of(path, (root / path).read_text())]
    except UnicodeDecodeError:
        return [name]


def faults_of_layout(root, layout):
    """Folders that are not named as a task is, and folders with too many sources. A task is a folder of the tasks with a spec.h."""
    tasks = {path.parent.name for path in (root / layout["tasks"]).glob("*/spec.h")}
    faults = []
    for folder, others in layout["folders"].items():
        names = sorted(path.name for path in (root / folder).iterdir() if path.is_dir() and not path.name.startswith(("_", ".")))
        faults += [f"{folder}/{name}: not the name of a task{''.join(f' or {one}' for one in others)}"
                   for name in names if name not in tasks.union(others)]  # fmt: skip
    sources = collections.Counter(str(pathlib.PurePath(path).parent) for path in tree(root) if pathlib.PurePath(path).suffix in SOURCES)
    limit = layout["files_in_a_folder"]
    return faults + [f"{folder}: {count} sources, more than {limit}" for folder, count in sorted(sources.items())
                     if count > limit and folder not in layout["large_folders"]]  # fmt: skip


def first(lines):
    """Lines as a message of assert: the first ones, and how to get all."""
    more = [f"… and {len(lines) - SHOWN} more: python tests/python/test_vocabulary.py"] if len(lines) > SHOWN else []
    return "\n".join(["", *map(str, lines[:SHOWN]), *more])


def broken(root, file):
    """What of a tree must change: findings of words, and those of limits that are above their number."""
    found, limits = findings(root, file), Vocabulary(file).limits
    counts = collections.Counter(one.scope for one in found)
    within = {limit.name for limit in limits if counts[limit.name] <= limit.at_most}
    return [one for one in found if one.scope not in within]


VOCABULARY = ROOT / "tests" / "vocabulary.toml"
LIMITS = [limit.name for limit in Vocabulary(VOCABULARY).limits]


@pytest.mark.parametrize("scope", [*SCOPES, *LIMITS])
def test_the_words_of_the_vocabulary_are_used(scope):
    found = [one for one in broken(ROOT, VOCABULARY) if one.scope == scope]
    assert not found, first(found)


def test_a_task_has_one_name_and_folders_are_small():
    faults = faults_of_layout(ROOT, Vocabulary(VOCABULARY).data["layout"])
    assert not faults, first(faults)


def test_the_vocabulary_keeps_its_own_rules():
    """Known keys and scopes, and no word to write is itself one that is not written."""
    vocabulary = Vocabulary(VOCABULARY)
    keys = {"pattern", "write", "scope", "only", "except", "allow", "reason"}
    wrong = [entry["pattern"] for entry in vocabulary.data["word"] if not {"pattern", "write", "scope"} <= set(entry) <= keys]
    wrong += [word.write for word in vocabulary.words if not set(word.scopes) <= set(SCOPES)]
    for word in vocabulary.words:
        for scope in word.scopes:
            text = Text("modewise/x.h", scope)
            text.add([(word.write.split(" (")[0], 1)])
            if scope != "identifiers":
                wrong += [f"{word.write}: {one}" for one in vocabulary.findings_of(text)]
    assert not wrong, first(wrong)


PLANTED = {
    "modewise/core/x.h": ("""\
#include "modewise/core/twice.h"
/// What two words
/// are: 'a' stands there
/// twice.
struct Verdict {};  // plain, as
                    // anew as this
int a = 1;  // anew
int newer = renewed;
""", ["openings:2", "comments:3", "identifiers:5", "comments:6", "comments:7"]),
    "modewise/core/x.cpp": ("""\
void fields(Fields& f) {
  f.add("anew", anew, "starts "
        "anew", {.min = 1});
  require(count[1] > 1, "{} is no "
                        "number", R"(of
what is anew)");  // a room for
  f.add("key", [&] { fail("told {}"); });
  char quote = '"'; int million = 1'000'000;
  /* made
     anew */
}
""", ["identifiers:2", "help:3", "messages:4", "messages:6", "messages:7", "comments:10"]),
    "modewise/core/kept.cpp": ("", ["files:1"]),
    "tests/core/x_test.cpp": ("""const char* text = "made anew";  // --lease\nconst char* option = "--lease";\n""", ["comments:1", "settings:2"]),
    "python/modewise/x.py": ('''\
"""Judges,
and tells."""
VERDICT = f"told {1}" "x"  # anew
def f(): return ('a' 'lone anew', f"{told} is {anew} it")
''', ["comments:1", "identifiers:3", "messages:3", "comments:3", "messages:4"]),
    "docs/x.md": ("""\
# Told apart

A page [that is no page](told.md) and stands
twice in `--lease` and `anew`.

```
told --lease
```
- anew
""", ["docs:1", "docs:3", "docs:3", "docs_code:4", "docs_code:7", "docs:9"]),
    "experiments/x.toml": ("""\
# made anew
task = "series"  # told
text = "# not a comment: anew"
""", ["comments:1", "settings:2", "comments:2"]),
    "x.sh": ("""echo $# "told"  # anew\n""", ["comments:1"]),
    "CMakeLists.txt": ("""add(x)  # told\n""", ["comments:1"]),
    "CHANGELOG.md": ("told --lease anew\n", []),
    "modewise/core/aliases.cpp": ("// told\nstruct Verdict {};\n", []),
    "modewise/core/plain.h": ("// There is no number of cars; a hash slot has room for it, standard deviation.\nstruct Verdicts_of_none;\n",
                              ["identifiers:2"]),
    "build/x.h": ("// told anew\n", []),
}


@pytest.fixture
def planted(tmp_path):
    for path, (content, _) in PLANTED.items():
        (tmp_path / path).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / path).write_text(content)
    (tmp_path / "modewise/core/x.npy").write_bytes(b"\x93NUMPY\xff told")
    return tmp_path


@pytest.mark.parametrize("path", PLANTED)
def test_planted_words_are_found(planted, path):
    found = [f"{one.scope}:{one.line}" for one in findings(planted, VOCABULARY) if one.path == path]
    assert sorted(found) == sorted(PLANTED[path][1])


def test_a_finding_says_what_to_write(planted):
    line, = (str(one) for one in findings(planted, VOCABULARY) if one.path == "modewise/core/x.h" and one.scope == "identifiers")
    assert line == "modewise/core/x.h:5: identifiers: 'Verdict': write result"


def test_a_limit_holds_until_it_is_passed(tmp_path):
    at_most = Vocabulary(VOCABULARY).limits[0].at_most
    for count in (at_most, at_most + 1):
        root = tmp_path / str(count)
        root.mkdir()
        (root / "x.py").write_text("x = 1\n\n# Of none\n\n" * count)
        assert len(broken(root, VOCABULARY)) == (count if count > at_most else 0)


def test_planted_folders_are_found(tmp_path):
    layout = {"tasks": "modewise/tasks", "folders": {"modewise/data": ["shared"]}, "files_in_a_folder": 2, "large_folders": {"tests": "why"}}
    for path in ("modewise/tasks/text/spec.h", "modewise/data/text/a.h", "modewise/data/shared/a.h", "modewise/data/words/a.h", "tests/a.h", "tests/b.h", "tests/c.h"):
        (tmp_path / path).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / path).touch()
    assert faults_of_layout(tmp_path, layout) == ["modewise/data/words: not the name of a task or shared"]
    for name in ("a.h", "b.cpp", "c.py"):
        (tmp_path / "modewise/data/text" / name).touch()
    assert faults_of_layout(tmp_path, layout)[1:] == ["modewise/data/text: 3 sources, more than 2"]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    scopes = "".join(f"{name}: {what}; " for name, what in SCOPES.items())
    parser.add_argument("paths", nargs="*", metavar="PATH", help="beginnings of paths, relative to the root")
    parser.add_argument("--scope", action="append", choices=[*SCOPES, *LIMITS], help=scopes + "may be repeated")
    parser.add_argument("--word", help="regular expression: findings of words that match it, or that are replaced by what matches it")
    parser.add_argument("--root", type=pathlib.Path, default=ROOT, help="another checkout")
    parser.add_argument("--summary", action="store_true", help="counts by scope and top folder")
    options = parser.parse_args()
    found = [one for one in findings(options.root.resolve(), VOCABULARY)
             if one.path.startswith(tuple(options.paths) or "") and one.scope in (options.scope or [*SCOPES, *LIMITS])
             and re.search(options.word or "", f"{one.found} {one.write}", re.I)]  # fmt: skip
    if options.summary:
        tops = collections.Counter((one.scope, one.path.split("/")[0]) for one in found)
        print("\n".join(f"{count:6} {scope:12} {top}" for (scope, top), count in sorted(tops.items())))
    else:
        for path, group in itertools.groupby(found, key=lambda one: one.path):
            print(path, *(f"  {one.line}: {one.scope}: '{one.found}': write {one.write}" for one in group), sep="\n")
        if not (options.paths or options.scope or options.word):
            print(*faults_of_layout(options.root, Vocabulary(VOCABULARY).data["layout"]), sep="\n")
    print(f"{len(found)} findings")


if __name__ == "__main__":
    signal.signal(signal.SIGPIPE, signal.SIG_DFL)  # quiet before head
    main()
