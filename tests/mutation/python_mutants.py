"""Mutation operators for Python: the kinds of cpp_mutants.py, found in the syntax tree of a file. Only functions are changed."""

import ast
import itertools
import re

BINARY = {ast.Add: ("sign", "+", "-"), ast.Sub: ("sign", "-", "+"), ast.Mult: ("product", "*", "/"), ast.Div: ("product", "/", "*"),
          ast.FloorDiv: ("product", "//", "*")}  # fmt: skip
COMPARED = {ast.Lt: ("bound", "<", "<="), ast.LtE: ("bound", "<=", "<"), ast.Gt: ("bound", ">", ">="), ast.GtE: ("bound", ">=", ">"),
            ast.Eq: ("equality", "==", "!="), ast.NotEq: ("equality", "!=", "=="), ast.In: ("equality", "in", "not in"),
            ast.NotIn: ("equality", "not in", "in"), ast.Is: ("equality", "is", "is not"), ast.IsNot: ("equality", "is not", "is")}  # fmt: skip
LOGIC = {ast.And: ("logic", "and", "or"), ast.Or: ("logic", "or", "and")}
EXTREMES = {"min": "max", "max": "min", "any": "all", "all": "any"}
SKIPPED = re.compile(r"progress|warn\(|lru_cache|stacklevel|typing|cast\(")  # lines without effect on results


class File:
    """The text of a file and the indices in it of the nodes of its syntax tree."""

    def __init__(self, text):
        self.text = text
        self.lines = list(itertools.accumulate((len(line) for line in text.splitlines(keepends=True)), initial=0))
        self.encoded = [line.encode() for line in text.splitlines(keepends=True)]

    def index(self, line, column):
        return self.lines[line - 1] + len(self.encoded[line - 1][:column].decode())

    def start(self, node):
        return self.index(node.lineno, node.col_offset)

    def end(self, node):
        return self.index(node.end_lineno, node.end_col_offset)

    def of(self, node):
        return self.text[self.start(node) : self.end(node)]

    def operator(self, left, right, change):
        """The change of the operator between two nodes."""
        kind, old, new = change
        start = self.end(left)
        if found := re.search(rf"(?<!\w){re.escape(old)}(?!\w)", self.text[start : self.start(right)]):
            yield kind, start + found.start(), start + found.end(), new

    def whole(self, kind, node, replacement):
        yield kind, self.start(node), self.end(node), replacement

    def changes(self, node):
        match node:
            case ast.BinOp():
                if type(node.op) in BINARY:
                    yield from self.operator(node.left, node.right, BINARY[type(node.op)])
                yield from self.whole("term", node, self.of(node.left))
            case ast.BoolOp():
                for left, right in itertools.pairwise(node.values):
                    yield from self.operator(left, right, LOGIC[type(node.op)])
                yield from self.whole("term", node, self.of(node.values[0]))
            case ast.Compare():
                for left, right, operator in zip([node.left, *node.comparators], node.comparators, node.ops, strict=False):
                    yield from self.operator(left, right, COMPARED[type(operator)])
            case ast.Constant(value=bool()):
                yield from self.whole("truth", node, str(not node.value))
            case ast.Constant(value=int() | float()):
                for step in (1, -1):
                    if node.value + step >= 0:
                        yield from self.whole("constant", node, str(node.value + step))
            case ast.UnaryOp(op=ast.Not() | ast.USub()):
                yield from self.whole("negation", node, self.of(node.operand))
            case ast.Name(ctx=ast.Load()) if node.id in EXTREMES:
                yield from self.whole("extreme", node, EXTREMES[node.id])
            case ast.IfExp():
                yield from self.whole("choice", node, f"{self.of(node.orelse)} if {self.of(node.test)} else {self.of(node.body)}")
            case ast.If():
                yield from self.whole("check" if isinstance(node.body[0], ast.Raise) else "branch", node.test, f"False and ({self.of(node.test)})")
            case ast.Call():
                for left, right in itertools.pairwise(node.args):
                    if isinstance(left, ast.Name | ast.Attribute) and isinstance(right, ast.Name | ast.Attribute) and self.of(left) != self.of(right):
                        yield "arguments", self.start(left), self.end(right), f"{self.of(right)}, {self.of(left)}"
            case ast.Expr(value=ast.Call()) | ast.AugAssign() | ast.Assign(targets=[ast.Attribute() | ast.Subscript()]):
                yield from self.whole("statement", node, "pass")


def places(text):
    """(kind, start, end, replacement) of all changes of a file's text."""
    file = File(text)
    functions = [node for node in ast.walk(ast.parse(text)) if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)]
    inside = {node: None for function in functions for line in function.body for node in ast.walk(line)}
    formatted = {part for node in inside if isinstance(node, ast.JoinedStr) for part in ast.walk(node)}  # Python 3.11: no places
    for node in inside:
        if node in formatted:
            continue
        for kind, start, end, replacement in file.changes(node):
            if not SKIPPED.search(text[text.rfind("\n", 0, start) + 1 : end]):
                yield kind, start, end, replacement
