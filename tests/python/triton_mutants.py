#!/usr/bin/env python3
"""Plants bugs in the Triton kernels and lists which ones the tests find.

    tests/python/triton_mutants.py [--file short_attention] [--list] [--log FILE]

Each plant replaces one text in a copy of python/modewise/triton and runs the tests of that file (on_triton_*.py under the checked
interpreter) until the first failure. Two columns: whether the self-test (self_test.py), which decides on a user's machine, finds the
plant, and which test finds it without the self-test. The exit status is the number of survivors. Takes minutes; docs/gpu.md has the
figures.
"""

import argparse
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[2]

# The tests of each kernel file.
TESTS = {
    "short_attention": "on_triton_attention.py",
}

LOGITS = 'logits = tl.dot(q, tl.trans(k), input_precision="ieee", out_dtype=ACC) * scale'
KEYS, VALUES = "at, inside = _rows(K, sample, head // R, kb, kn, kh, m, d", "at, inside = _rows(V, sample, head // R, vb, vn, vh, m, e"

# Kernel file, what is wrong, text, replacement. The text occurs once.
MUTANTS = [
    ("short_attention", "a row too many", "(i < size)[:, None]", "(i <= size)[:, None]"),
    ("short_attention", "a channel too many", "(c < width)[None, :]", "(c <= width)[None, :]"),
    ("short_attention", "a channel too few", "(c < width)[None, :]", "(c < width - 1)[None, :]"),
    ("short_attention", "int32 offset of the sample", "tl.cast(sample, tl.int64) * batch", "sample * batch"),
    ("short_attention", "int32 offset of the head", "tl.cast(head, tl.int64) * across", "head * across"),
    ("short_attention", "int32 offset of the row", "tl.cast(i, tl.int64)[:, None] * row", "i[:, None] * row"),
    ("short_attention", "int32 offset of the mask's sample", "tl.cast(sample, tl.int64) * mb", "sample * mb"),
    ("short_attention", "int32 offset of the mask's row", "tl.cast(i, tl.int64) * mn", "i * mn"),
    ("short_attention", "int32 offset of the mask's column", "tl.cast(j, tl.int64) * mm", "j * mm"),
    ("short_attention", "strides of the mask exchanged", "tl.cast(i, tl.int64) * mn + tl.cast(j, tl.int64) * mm", "tl.cast(i, tl.int64) * mm + tl.cast(j, tl.int64) * mn"),
    ("short_attention", "mask of the wrong head", "tl.cast(head, tl.int64) * mh", "tl.cast(sample, tl.int64) * mh"),
    ("short_attention", "mask loaded without bounds", "mm, mask=inside, other=0)", "mm)"),
    ("short_attention", "mask reversed", "(allowed != 0)", "(allowed == 0)"),
    ("short_attention", "a query sees the next key", "(j <= i)", "(j <= i + 1)"),
    ("short_attention", "a query does not see its own key", "(j <= i)", "(j < i)"),
    ("short_attention", "no causal mask", "    if CAUSAL:\n", "    if CAUSAL and MASKED:\n"),
    ("short_attention", "keys beyond m are seen", "inside = (i < n) & (j < m)", "inside = (i < n) & (j < m + 1)"),
    ("short_attention", "scale applied twice", LOGITS, LOGITS + " * scale"),
    ("short_attention", "TF32", LOGITS, LOGITS.replace("ieee", "tf32")),
    ("short_attention", "logits rounded to the type of q", LOGITS, LOGITS.replace("tl.dot", "tl.cast(tl.cast(tl.dot").replace("ACC)", "ACC), q.dtype), ACC)")),
    ("short_attention", "weights without the largest logit", "tl.exp(logits - tl.max(logits, 1)[:, None])", "tl.exp(logits)"),
    ("short_attention", "weights divided by sums of columns", "weights / tl.sum(weights, 1)[:, None]", "weights / tl.sum(weights, 0)[None, :]"),
    ("short_attention", "rows beyond n are NaN", "return tl.where(inside, weights, 0.0)", "return weights"),
    ("short_attention", "keys of the wrong head of the group", KEYS, KEYS.replace("head // R", "head % (H // R)")),
    ("short_attention", "values of the wrong head of the group", VALUES, VALUES.replace("head // R", "head % (H // R)")),
    ("short_attention", "rows of keys bounded by those of queries", KEYS, KEYS.replace(" m, d", " n, d")),
    ("short_attention", "keys without a value in masked lanes", "k = tl.load(at, mask=inside, other=0.0)", "k = tl.load(at, mask=inside)"),
    ("short_attention", "values without a value in masked lanes", "v = tl.load(at, mask=inside, other=0.0)", "v = tl.load(at, mask=inside)"),
    ("short_attention", "queries without bounds", "q = tl.load(at, mask=inside, other=0.0)", "q = tl.load(at)"),
    ("short_attention", "strides of the result exchanged", "_rows(Out, sample, head, ob, on, oh", "_rows(Out, sample, head, ob, oh, on"),
    ("short_attention", "all programs write one head", "_rows(Out, sample, head, ob, on, oh", "_rows(Out, sample, 0, ob, on, oh"),
    ("short_attention", "float64 computed in float32", "    ACC: tl.constexpr = tl.float64 if WIDE else tl.float32\n    sample", "    ACC: tl.constexpr = tl.float32\n    sample"),
    ("short_attention", "gradient: sum of slopes left out", "slope - p * tl.sum(slope, 1)[:, None]", "slope"),
    ("short_attention", "gradient: slopes scaled twice", "[:, None]) * scale, q.dtype)", "[:, None]) * scale * scale, q.dtype)"),
    ("short_attention", "gradient: last head of a group left out", "range(group * R, group * R + R)", "range(group * R, group * R + R - 1)"),
    ("short_attention", "gradient: v of the last head alone", "g, of_v, input_precision", "g, input_precision"),
    ("short_attention", "gradient: k of the last head alone", "q, of_k, input_precision", "q, input_precision"),
    ("short_attention", "gradient: k added up in the type of q", "of_k = tl.dot(tl.trans(slope), q, of_k,", "of_k = tl.dot(tl.trans(slope), q, tl.cast(tl.cast(of_k, q.dtype), ACC),"),
    ("short_attention", "gradient: q of two heads at one place", "_rows(OfQ, sample, head,", "_rows(OfQ, sample, group,"),
    ("short_attention", "gradient: q stored with the mask of k", "OfQ.dtype.element_ty), mask=in_q)", "OfQ.dtype.element_ty), mask=in_k)"),
    ("short_attention", "gradient: upstream without a value in masked lanes", "g = tl.load(at_g, mask=in_g, other=0.0)", "g = tl.load(at_g, mask=in_g)"),
    ("short_attention", "gradient: widths of k and v exchanged", "_rows(OfV, sample, group, tb, tn, th, m, e", "_rows(OfV, sample, group, tb, tn, th, m, d"),
]  # fmt: skip

SELF_TEST = """
import sys, torch, modewise, checked_interpreter
from modewise.triton import launcher, self_test
launcher.check_kernels = lambda op, like: True
checked_interpreter.start()
found = [f"{op}: {fault}" for op in self_test.SAMPLES for fault in [self_test.fault(op, torch.device("cpu"))] if fault]
print(*found, sep="\\n")
sys.exit(bool(found))
"""


class Copy:
    """A copy of the package and of its tests, in which plants are made."""

    def __init__(self, folder):
        self.folder = pathlib.Path(folder)
        shutil.copytree(ROOT / "python", self.folder / "python", ignore=shutil.ignore_patterns("__pycache__"))
        shutil.copytree(ROOT / "tests" / "python", self.folder / "tests" / "python", ignore=shutil.ignore_patterns("__pycache__"))
        shutil.copy(ROOT / "tests" / "allowed_skips.py", self.folder / "tests")
        build = os.environ.get("MODEWISE_BUILD", str(ROOT / "build"))
        self.environment = {**os.environ, "TRITON_INTERPRET": "1", "MODEWISE_BUILD": build, "PYTHONDONTWRITEBYTECODE": "1",
                            "PYTHONPATH": os.pathsep.join(str(self.folder / part) for part in ("python", "tests", "tests/python"))}

    def run(self, *arguments, **environment):
        return subprocess.run([sys.executable, *arguments], env={**self.environment, **environment}, cwd=self.folder, capture_output=True, text=True, check=False)

    def self_test(self):
        """What the self-test says, or ""."""
        result = self.run("-c", SELF_TEST)
        return result.stdout.strip() if result.returncode == 1 and result.stdout.strip() else "" if result.returncode == 0 else result.stderr[-300:]

    def first_failure(self, file):
        """The test that fails first and its error, or "". An error while tests are collected is no finding."""
        result = self.run("-m", "pytest", "-x", "-q", "-p", "no:cacheprovider", str(self.folder / "tests" / "python" / TESTS[file]), MODEWISE_SELF_TEST="0")
        if result.returncode not in (0, 1):
            raise SystemExit(f"the tests did not run: {result.stdout[-3000:]}{result.stderr[-3000:]}")
        if result.returncode == 0:
            return ""
        test = re.search(r"^FAILED \S+?::(\S+)", result.stdout, re.MULTILINE)
        errors = re.findall(r"^E +(?:\S+\.)?(\w+(?:Error|Fault).*)", result.stdout, re.MULTILINE)
        return f"{test.group(1)}: {errors[-1][:110] if errors else '?'}"

    def plant(self, file, text, replacement):
        """Applies a plant. -> the path and its former text."""
        path = self.folder / "python" / "modewise" / "triton" / f"{file}.py"
        source = path.read_text()
        if source.count(text) != 1:
            raise SystemExit(f"{file}.py has {source.count(text)} times {text!r}, expected once")
        path.write_text(source.replace(text, replacement))
        return path, source


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--file", nargs="+", default=list(TESTS), choices=TESTS, help="kernel files (default: all)")
    parser.add_argument("--list", action="store_true", help="print the plants and run nothing")
    options = parser.parse_args()
    chosen = [mutant for mutant in MUTANTS if mutant[0] in options.file]
    if options.list:
        print(*(f"{file}: {what}" for file, what, _, _ in chosen), sep="\n")
        return 0
    survivors, seen = [], 0
    with tempfile.TemporaryDirectory() as folder:
        copy = Copy(folder)
        for file in options.file:
            failure = copy.first_failure(file)
            if failure:
                raise SystemExit(f"without a plant: {failure}")
        for file, what, text, replacement in chosen:
            path, source = copy.plant(file, text, replacement)
            said, failure = copy.self_test(), copy.first_failure(file)
            path.write_text(source)
            seen += bool(said)
            survivors += [] if failure else [f"{file}: {what}"]
            print(f"{file:18} {what:48} self-test: {'found' if said else '-':6} tests: {failure or 'SURVIVES'}", flush=True)
    print(f"{len(chosen)} plants: {len(chosen) - len(survivors)} found by the tests, {seen} by the self-test", *survivors, sep="\n")
    return len(survivors)


if __name__ == "__main__":
    sys.exit(main())
