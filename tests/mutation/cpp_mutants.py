"""Mutation operators for C++: changes at one place that most likely still compile and change the meaning.

Works on the text: comments, strings and preprocessor lines are blanked, and only places inside functions count. Binary
operators have a space on both sides (clang-format), which distinguishes `a < b` from a template. Places that affect only speed
or logs are skipped.
"""

import re

KINDS = {}  # name -> function from a Source to (start, end, replacement)


class Source:
    """A file's text, the same with everything but code blanked, and for each character its enclosing brackets."""

    def __init__(self, text):
        self.text = text
        self.code = blanked(text)
        self.inside = bytearray(len(text))  # 1 inside a function
        self.innermost = [""] * len(text)
        stack, functions, head = [], 0, 0
        for i, c in enumerate(self.code):
            if c in "([{":
                is_function = c == "{" and not declares(self.code[head:i])
                stack.append((c, is_function))
                functions += is_function
            elif c in ")]}" and stack:
                functions -= stack.pop()[1]
            if c in ";{}":
                head = i + 1
            self.inside[i] = functions > 0
            self.innermost[i] = stack[-1][0] if stack else ""

    def line_at(self, start, end=None):
        end = start if end is None else end
        return self.text[self.text.rfind("\n", 0, start) + 1 : (self.text.find("\n", end) + 1 or len(self.text) + 1) - 1]

    def matches(self, pattern):
        return (m for m in re.finditer(pattern, self.code) if self.inside[m.start()])

    def closing(self, at):
        """The index of the bracket that closes the one at `at`, or -1."""
        depth = 0
        for i in range(at, len(self.code)):
            depth += (self.code[i] in "([{") - (self.code[i] in ")]}")
            if depth == 0:
                return i
        return -1

    def statements(self):
        """(start, end) of the statements that are calls or assignments, without their semicolons."""
        for m in self.matches(r"[;{}]"):
            if self.innermost[m.start()] != "{":  # semicolons of a for
                continue
            start = re.compile(r"\s*").match(self.code, m.end()).end()
            if (end := self.statement_end(start)) > 0 and is_expression(self.code[start:end]):
                yield start, end

    def statement_end(self, start):
        depth = 0
        for i in range(start, min(start + 800, len(self.code))):
            c = self.code[i]
            depth += (c in "([{") - (c in ")]}")
            if depth < 0:
                return -1
            if c == ";" and depth == 0:
                return i
        return -1


def blanked(text):
    """The text with comments, contents of literals and preprocessor lines replaced by spaces; indices are unchanged."""
    pattern = re.compile(r'//[^\n]*|/\*.*?\*/|R"(\w*)\(.*?\)\1"|"(?:\\.|[^"\\\n])*"|(?<![\w])\'(?:\\.|[^\'\\])+\'|(?<![^\n])[ \t]*#(?:\\\n|[^\n])*', re.S)

    def blank(m):
        inner = re.sub(r"[^\n]", " ", m[0])
        return '"' + inner[1:-1] + '"' if m[0][0] == '"' else inner

    return pattern.sub(blank, text)


def declares(head):
    """Whether a brace after this text opens a namespace or a type, not a function or an initializer."""
    return "(" not in head and re.search(r"\b(namespace|struct|class|union|enum)\b", re.sub(r"template\s*<[^{]*?>\s", "", head)) is not None


def is_expression(statement):
    if re.match(r"(return|break|continue|using|const|constexpr|static|auto|case|default|goto|throw|else|delete|if|for|while|do|switch|typedef|template|struct|co_\w+)\b", statement):
        return False
    if re.match(r"[\w:]+(<.*?>)?[&*]*\s+[&*]*[\w\[]", statement, re.S):  # Type name
        return False
    return re.search(r"[=(]|\+\+|--", statement) is not None


def kind(name):
    def keep(function):
        KINDS[name] = function
        return function

    return keep


def exchange(name, pairs, pattern):
    """A mutation kind that replaces one word of a pair by the other."""
    other = {a: b for pair in pairs for a, b in (pair, pair[::-1])}

    @kind(name)
    def places(source):
        for m in source.matches(pattern):
            yield m.start(), m.end(), other[m[0]]


exchange("sign", [(" + ", " - "), (" += ", " -= ")], r" [+-]=? ")
exchange("product", [(" * ", " / "), (" *= ", " /= ")], r" [*/]=? ")
exchange("bound", [(" < ", " <= "), (" > ", " >= ")], r" [<>]=? ")
exchange("equality", [(" == ", " != ")], r" [!=]= ")
exchange("logic", [(" && ", " || ")], r" (?:&&|\|\|) ")
# `x == floor(x)` is skipped: it is equivalent to `x == ceil(x)`.
exchange("extreme", [("std::min", "std::max"), ("at::minimum", "at::maximum"), ("clamp_min", "clamp_max"), ("std::floor", "std::ceil"),
                     ("front()", "back()"), ("lower_bound", "upper_bound")],
         r"\b(?:std::(?:min|max)|(?<![!=]= )std::(?:floor|ceil)|at::(?:minimum|maximum)|clamp_(?:min|max)|(?:lower|upper)_bound|front\(\)|back\(\))(?!\w)")
exchange("truth", [("true", "false")], r"\b(?:true|false)\b(?![^(;]*>\()")  # not the flag of a faster variant


@kind("negation")
def negations(source):
    for m in source.matches(r"!(?=[\w(*])|(?<=[(,=] )-(?=[\w(])|(?<=return )-(?=[\w(])|(?<=\()-(?=[\w(])"):
        yield m.start(), m.end(), ""


@kind("constant")
def constants(source):
    for m in source.matches(r"(?<![\w.'])\d+(?:\.\d+)?(?![\w.'])"):
        if SPEED.search(source.line_at(m.start())):
            continue
        number = m[0]
        for step in (1, -1):
            if "." in number:
                yield m.start(), m.end(), str(float(number) + step)
            elif int(number) + step >= 0:
                yield m.start(), m.end(), str(int(number) + step)


@kind("term")
def terms(source):
    """`a + b` becomes `a`."""
    for m in source.matches(r" (?:[+*/-]|&&|\|\||%) (?=[\w(!])"):
        end = m.end()
        while end < len(source.code):
            if source.code[end] in "([":
                end = source.closing(end) + 1
            elif part := re.compile(r"[\w!]+|::|->|\.(?=\w)").match(source.code, end):
                end = part.end()
            else:
                break
        yield m.start(), end, ""


@kind("arguments")
def arguments(source):
    for m in source.matches(r"(?:(?<=[({])|(?<=, ))([\w.]+), ([\w.]+)(?=[,)}])"):
        if m[1] != m[2] and not re.search(r"std::(?:min|max)<u?int\d+_t>\($", source.code[: m.start()]):  # commutative
            yield m.start(), m.end(), f"{m[2]}, {m[1]}"


@kind("choice")
def choices(source):
    """`c ? a : b` becomes `c ? b : a`."""
    side = r"((?:[\w.]|::|->|\([\w.]*\)|\[\w+\])+)"
    for m in source.matches(rf" \? {side} : {side}(?=[;,)])"):
        yield m.start(), m.end(), f" ? {m[2]} : {m[1]}"


@kind("branch")
def branches(source):
    """A branch that is never taken."""
    for m in source.matches(r"\bif \("):
        end = source.closing(m.end() - 1)
        inner = source.text[m.end() : end]
        if ";" not in inner and not re.search(r"[\w\]&*] = ", source.code[m.end() : end]):
            yield m.start(), end + 1, f"if (false && ({inner}))"


@kind("check")
def checks(source):
    for start, end in source.statements():
        if re.match(CHECK, source.code[start:end]):
            yield start, end, ""


@kind("statement")
def dropped_statements(source):
    for start, end in source.statements():
        if not re.match(CHECK, source.code[start:end]):
            yield start, end, ""


CHECK = r"(?:require|fail|TORCH_CHECK\w*|check_\w+|expect_\w+)\("
SPEED = re.compile(r"grain|tile|chunk|ahead|buffer|capacity|kPiece|kRows|kLanes|kFew", re.I)  # sizes without effect on results
# Lines without effect on results: grain sizes and numbers of tasks, thresholds for threads (each task writes its own part of the
# result), cache sizes, reserved memory, logs, registrations.
SKIPPED = re.compile(r"(?:task|all)_work \+?= |= parts_wanted\(|int64_t grain = |budget|kept_bytes_|kFew|kAtOnce|kAhead|reserve\(|prefetch|log_\w+\(|spdlog|progress|static_assert|TORCH_LIBRARY|m\.impl|m\.def|__builtin_cpu|shrink_to_fit|assert\(")


def places(text):
    """(kind, start, end, replacement) of all changes of a file's text."""
    source = Source(text)
    for name, find in KINDS.items():
        for start, end, replacement in find(source):
            if not SKIPPED.search(source.line_at(start, end)):
                yield name, start, end, replacement
