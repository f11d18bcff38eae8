"""Extracts the texts of a source tree that people read: comments, help, messages, documentation, settings and identifiers.

A file is cut into blocks: the consecutive lines of a comment, the adjacent literals of one string, a paragraph of Markdown.
A block has no line breaks, so that a phrase is found although the source wraps it.
"""

import bisect
import functools
import os
import pathlib
import re

SCOPES = {
    "comments": "comments and docstrings",
    "help": "strings that describe options, commands and config keys",
    "messages": "other strings with a space, of modewise/, cli/ and python/",
    "settings": "all strings and the text of TOML files: config keys, values, CLI words",
    "docs": "Markdown without its code",
    "docs_code": "code in Markdown, in blocks and within lines",
    "identifiers": "names in C++ and Python, once a file, split into words: kMaxRows is `k Max Rows`",
    "files": "paths",
}
PRODUCT = ("modewise/", "cli/", "python/")
SKIPPED_FOLDERS = re.compile(r"\.(?!ci$)|build|runs$|__pycache__$")
# Calls whose strings are help, by the end of their names; and those whose strings are messages although they are within the others.
HELP_CALLS = ("add_argument", "add_flag", "add_option", "add_parser", "add_positive", "add_preset", "add_subcommand",
              "add_subparsers", "ArgumentParser", "description", "footer")  # fmt: skip
HELP_CALLS_OF_PRODUCT = (*HELP_CALLS, ".add", ">add")
MESSAGE_CALLS = ("require", "require_call", "fail", "Error")

# A comment begins with # or /, a string with " ' or R. A search is fast where every alternative begins with a letter of its own.
STRING = r'"(?:\\.|[^"\\\n])*"'
BRACKETS = r"\(|\)|\[|\]|\{|\}"
CPP = re.compile(
    r'//[^\n]*|/\*.*?\*/|#[ \t]*include[^\n]*|R"(?P<mark>[^(\s]*)\(.*?\)(?P=mark)"|' + STRING
    + r"|'(?:\\.[^'\n]*|[^'\\\n])'|" + BRACKETS, re.S)  # fmt: skip
PYTHON = re.compile(
    r'#[^\n]*|"""(?:\\.|[^\\])*?"""|' + r"'''(?:\\.|[^\\])*?'''|" + STRING + r"|'(?:\\.|[^'\\\n])*'|" + BRACKETS,
    re.S)  # fmt: skip
SHELL = re.compile(r"(?<!\S)#[^\n]*|" + STRING)  # not in $# and ${name#start}
TOML = re.compile(r'#[^\n]*|""".*?"""|' + r"'''.*?'''|" + STRING + r"|'[^'\n]*'", re.S)
NAME = re.compile(r"[^\W\d]\w*")
BETWEEN_WORDS = re.compile(r"_+|(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])")


class Text:
    """The blocks of one scope of one file, each a line of `text`."""

    def __init__(self, path, scope):
        self.path, self.scope, self.text = path, scope, ""
        self.starts, self.lines = [], []  # where in `text` each line of the file begins, and its number

    def line(self, offset):
        return self.lines[bisect.bisect_right(self.starts, offset) - 1]

    def add(self, lines, joint="\n"):
        """Lines, as pairs of a text and its number, which become a block, or continue the last one after another joint."""
        for piece, number in lines:
            self.starts.append(len(self.text))
            self.lines.append(number)
            self.text += joint + piece
            joint = " "


@functools.cache
def words(name):
    return " ".join(filter(None, BETWEEN_WORDS.split(name)))


class Identifiers(Text):
    """The names of a file, each once. The line of its first occurrence is searched only when it is asked for."""

    def __init__(self, path, code):
        super().__init__(path, "identifiers")
        self.code, self.names = code, list(dict.fromkeys(NAME.findall(code)))
        self.text = "\n".join(map(words, self.names))

    def name(self, offset):
        return self.names[self.text.count("\n", 0, offset)]

    def line(self, offset):
        return self.code.count("\n", 0, re.search(rf"\b{self.name(offset)}\b", self.code).start()) + 1


class File:
    """One file; an extraction fills its `texts`, by scope."""

    def __init__(self, path, content):
        self.path, self.content, self.texts = path, content, {}
        self.breaks = [m.start() for m in re.finditer("\n", content)]

    def text(self, scope):
        return self.texts.get(scope) or self.texts.setdefault(scope, Text(self.path, scope))

    def place(self, offset):
        """Line, column, and whether the line is blank before it."""
        line = bisect.bisect_left(self.breaks, offset)
        begin = self.breaks[line - 1] + 1 if line else 0
        return line + 1, offset - begin, not self.content[begin:offset].strip()


def comment_lines(comment, line):
    """The lines of a comment or docstring without marks and indentation, each with its number."""
    return [(one.strip().lstrip("/#*!<").rstrip("*/").strip(), line + i) for i, one in enumerate(comment.split("\n"))]


def inner(literal):
    """The text of a string literal; an escaped line break or tab becomes two spaces."""
    if literal.startswith("R"):
        return literal[literal.index("(") + 1:literal.rindex(")")]
    cut = 3 if literal[:3] in ('"""', "'''") else 1
    return re.sub(r"\\[ntr]", "  ", literal[cut:-cut]) if "\\" in literal else literal[cut:-cut]


class Code(File):
    """Source code: its comments, its strings by the call that they are given to, and its identifiers."""

    def extract(self, pattern, identifiers=True):
        self.end_of_comment, self.end_of_string = (0, 0), 0  # line and column of the last one; offset
        self.brackets, code, end = [], [], 0  # the offsets of open ones; what is neither comment nor string
        for token in pattern.finditer(self.content):
            start, text = token.start(), token[0]
            if text in "([{":
                self.brackets.append(start)
            elif text in ")]}":
                del self.brackets[-1:]
            else:
                code += [self.content[end:start], "\n" * text.count("\n") or " "]
                end = token.end()
                if text[0] in "/#" and not (text[0] == "#" and pattern is CPP):
                    self.add_comment(start, text)
                elif text[0] in "\"'R":
                    self.add_string(start, text)
        code.append(self.content[end:])
        if identifiers:
            self.texts["identifiers"] = Identifiers(self.path, "".join(code))

    def add_comment(self, start, comment):
        """A comment alone in its line continues one that ended in the line above and in the same column."""
        line, column, alone = self.place(start)
        block, text = comment_lines(comment, line), self.text("comments")
        if alone and self.end_of_comment == (line - 1, column):
            text.add(block, joint=" ")
        else:
            text.add(block)
        self.end_of_comment = line + len(block) - 1, column

    def scope_of_string(self):
        """By the innermost call that is known."""
        product = self.path.startswith(PRODUCT)
        for bracket in reversed(self.brackets):
            if self.content.endswith(MESSAGE_CALLS, 0, bracket):
                break
            if self.content.endswith(HELP_CALLS_OF_PRODUCT if product else HELP_CALLS, 0, bracket):
                return "help"
        return "messages" if product else None

    def add_string(self, start, literal):
        line, _, alone = self.place(start)
        if literal.startswith('"""') and alone and not self.brackets:
            self.text("comments").add(comment_lines(inner(literal), line))
            return
        text = inner(literal)
        if self.content.endswith(("f", "F"), 0, start):  # what an f-string computes is code
            text = re.sub(r"\{[^{}\n]*\}", "{}", text)
        block = [(one, line + i) for i, one in enumerate(text.split("\n"))]
        adjacent = self.end_of_string and not self.content[self.end_of_string:start].strip()
        if not adjacent:
            self.scopes = [scope for scope in ("settings", self.scope_of_string()) if scope]
        for scope in self.scopes:
            self.text(scope).add(block, joint="" if adjacent else "\n")
        self.end_of_string = start + len(literal)


class Toml(Code):
    def extract(self, pattern):
        super().extract(pattern, identifiers=False)
        code = pattern.sub(lambda token: "" if token[0][0] == "#" else token[0], self.content)
        self.texts["settings"] = Text(self.path, "settings")
        self.text("settings").add((line.strip(), i) for i, line in enumerate(code.split("\n"), 1))


class Markdown(File):
    def extract(self):
        paragraph, fenced = [], False
        for i, line in enumerate([*self.content.split("\n"), ""], 1):
            if line.lstrip().startswith("```"):
                fenced, line = not fenced, ""
            elif fenced:
                self.text("docs_code").add([(line.strip(), i)])
                continue
            self.text("docs_code").add((code, i) for code in re.findall(r"`([^`]+)`", line))
            prose = re.sub(r"\]\([^)\s]*\)|https?://\S+", "]", re.sub(r"`[^`]*`", "`", line)).strip()
            if not prose or re.match(r"[#|]|[-*] |\d+\. ", prose):
                self.text("docs").add(paragraph)
                paragraph = []
            if prose:
                paragraph.append((prose.lstrip("#> "), i))


def texts_of(path, content):
    """The texts of one file, by the kind of its name, or by its first line where the name has no suffix."""
    suffix = pathlib.PurePath(path).suffix
    if suffix in (".h", ".cpp", ".cu", ".cuh"):
        (file := Code(path, content)).extract(CPP)
    elif suffix == ".py":
        (file := Code(path, content)).extract(PYTHON)
    elif suffix == ".toml":
        (file := Toml(path, content)).extract(TOML)
    elif suffix == ".md":
        (file := Markdown(path, content)).extract()
    elif suffix in (".cmake", ".sh") or path.endswith("CMakeLists.txt") or content.startswith("#!"):
        (file := Code(path, content)).extract(SHELL, identifiers=False)
    else:
        return []
    return list(file.texts.values())


def tree(root):
    """Every file below the root, relative to it, but for builds, runs and hidden folders."""
    for folder, below, names in os.walk(root):
        below[:] = sorted(name for name in below if not SKIPPED_FOLDERS.match(name))
        for name in sorted(names):
            yield (pathlib.Path(folder) / name).relative_to(root).as_posix()
