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
import sys
import tempfile

import pytest

ROOT = pathlib.Path(__file__).resolve().parents[2]

# The tests of each kernel file (arguments of pytest), and the operators whose self-test runs it.
FILES = {
    "short_attention": (["on_triton_attention.py"], ["dot_product_attention", "dot_product_attention_backward"]),
    "mode_product": (["on_triton_modes.py"], ["mode_product", "mode_contract"]),
    "mode_scores": (["on_triton_modes.py"], ["mode_scores", "mode_scores_backward"]),
    "summary_attention": (["on_triton_summary.py"], ["summary_attention"]),
    "summary_tokens": (["on_triton_summary.py"], ["summary_attention", "summary_attention_backward"]),
    "summary_gradients": (["on_triton_summary.py"], ["summary_attention_backward"]),
    "summary_step": (["on_triton_step.py"], ["summary_step", "summary_join"]),
}

LOGITS = 'logits = tl.dot(q, tl.trans(k), input_precision="ieee", out_dtype=ACC) * scale'
KEYS, VALUES = "at, inside = _rows(K, sample, head // R, kb, kn, kh, 0, m, HEAD", "at, inside = _rows(V, sample, head // P, vb, vn, vh, 0, m, VALUE"

# Kernel file, what is wrong, text, replacement. The first occurrence is replaced.
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
    ("short_attention", "weights divided by sums of columns", "tl.sum(weights, 1)\n    return weights / tl.where(total == 0, 1.0, total)[:, None]", "tl.sum(weights, 0)\n    return weights / tl.where(total == 0, 1.0, total)[None, :]"),
    ("short_attention", "rows without keys are NaN", "tl.where(total == 0, 1.0, total)", "total"),
    ("short_attention", "hidden keys are NaN in rows without keys", "tl.where(seen, tl.exp(logits - tl.max(logits, 1)[:, None]), 0.0)", "tl.exp(logits - tl.max(logits, 1)[:, None])"),
    ("short_attention", "keys of the wrong head of the group", KEYS, KEYS.replace("head // R", "head % (H // R)")),
    ("short_attention", "values of the wrong head of the group", VALUES, VALUES.replace("head // P", "head % (H // P)")),
    ("short_attention", "rows of keys bounded by those of queries", KEYS, KEYS.replace(" m, HEAD", " n, HEAD")),
    ("short_attention", "keys without a value in masked lanes", "k = tl.load(at, mask=inside, other=0.0)", "k = tl.load(at, mask=inside)"),
    ("short_attention", "values without a value in masked lanes", "v = tl.load(at, mask=inside, other=0.0)", "v = tl.load(at, mask=inside)"),
    ("short_attention", "queries without bounds", "q = tl.load(at, mask=inside, other=0.0)", "q = tl.load(at)"),
    ("short_attention", "strides of the result exchanged", "_rows(Out, sample, head, ob, on, oh", "_rows(Out, sample, head, ob, oh, on"),
    ("short_attention", "all programs write one head", "_rows(Out, sample, head, ob, on, oh", "_rows(Out, sample, 0, ob, on, oh"),
    ("short_attention", "float64 computed in float32", "    ACC: tl.constexpr = tl.float64 if WIDE else tl.float32\n    groups", "    ACC: tl.constexpr = tl.float32\n    groups"),
    ("short_attention", "gradient: sum of slopes left out", "slope - p * tl.sum(slope, 1)[:, None]", "slope"),
    ("short_attention", "gradient: slopes scaled twice", "[:, None]) * scale, q.dtype)", "[:, None]) * scale * scale, q.dtype)"),
    ("short_attention", "gradient: last head of a group left out", "range(group * R, group * R + R)", "range(group * R, group * R + R - 1)"),
    ("short_attention", "gradient: v of the last head alone", "g, of_v, input_precision", "g, input_precision"),
    ("short_attention", "gradient: k of the last head alone", "q, of_k, input_precision", "q, input_precision"),
    ("short_attention", "gradient: k added up in the type of q", "of_k = tl.dot(tl.trans(slope), q, of_k,", "of_k = tl.dot(tl.trans(slope), q, tl.cast(tl.cast(of_k, q.dtype), ACC),"),
    ("short_attention", "gradient: q of two heads at one place", "_rows(OfQ, sample, head,", "_rows(OfQ, sample, group,"),
    ("short_attention", "gradient: q stored with the mask of k", "OfQ.dtype.element_ty), mask=in_q)", "OfQ.dtype.element_ty), mask=in_k)"),
    ("short_attention", "gradient: upstream without a value in masked lanes", "g = tl.load(at_g, mask=in_g, other=0.0)", "g = tl.load(at_g, mask=in_g)"),
    ("short_attention", "gradient: widths of k and v exchanged", "at_v, in_v = _rows(V, sample, group, vb, vn, vh, 0, m, VALUE", "at_v, in_v = _rows(V, sample, group, vb, vn, vh, 0, m, HEAD"),
    ("short_attention", "gradient: first tile of queries alone", "range(0, n, ROWS)", "range(0, 1, ROWS)"),
    ("short_attention", "gradient: mask of the first tile of queries", "i = first + tl.arange(0, ROWS)[:, None]", "i = tl.arange(0, ROWS)[:, None]"),
    ("mode_product", "fibres before and after the mode exchanged", "o = fibre // after\n    i = fibre % after", "o = fibre % after\n    i = fibre // after"),
    ("mode_product", "x without a value in masked lanes", "x = tl.load(at, mask=(n < N)[:, None] & exist[None, :], other=0.0)", "x = tl.load(at, mask=(n < N)[:, None] & exist[None, :])"),
    ("mode_product", "factor without a value in masked lanes", "mask=(m < M)[:, None] & (n < N)[None, :], other=0.0)", "mask=(m < M)[:, None] & (n < N)[None, :])"),
    ("mode_product", "columns without bounds", "exist = first + tl.arange(0, COLS) < columns", "exist = first + tl.arange(0, COLS) <= columns"),
    ("mode_product", "a float32 factor rounded to bfloat16", "factor -= tl.cast(rounded, factor.dtype)", "factor = factor * 0.0"),
    ("mode_product", "factor transposed", "m[:, None] * fm + n[None, :] * fn", "m[:, None] * fn + n[None, :] * fm"),
    ("mode_product", "strides of x for the result", "_columns(first, xo, xi, oo, oi, after", "_columns(first, xo, xi, xo, xi, after"),
    ("mode_product", "int32 offset of the sample", "sample = tl.cast(place // tl.cdiv(columns, COLS), tl.int64)", "sample = place // tl.cdiv(columns, COLS)"),
    ("mode_product", "int32 offset of the factor's head", "tl.cast(head, tl.int64) * fh", "head * fh"),
    ("mode_product", "a tile of depth left out", "for start in range(0, N, DEPTH):", "for start in range(0, N - 1, DEPTH):"),
    ("mode_product", "contraction: splits overlap", "last = tl.minimum(first + share, columns)", "last = tl.minimum(first + share + COLS, columns)"),
    ("mode_product", "contraction: columns of the last split left out", "share = tl.cdiv(tl.cdiv(columns, COLS), SPLITS) * COLS", "share = tl.cdiv(columns, COLS) // SPLITS * COLS"),
    ("mode_product", "contraction: splits at one place", "tl.cast(group, tl.int64) * M * N", "tl.cast(group // SPLITS, tl.int64) * M * N"),
    ("mode_product", "contraction: strides of a and x exchanged", "_columns(start, ao, ai, xo, xi, after", "_columns(start, xo, xi, ao, ai, after"),
    ("mode_scores", "keys beyond m are seen", "kept = j < m", "kept = j <= m"),
    ("mode_scores", "mask loaded without bounds", "tl.load(at, mask=kept, other=0) != 0", "tl.load(at) != 0"),
    ("mode_scores", "strides of the mask of pairs exchanged", "0, 0, 0, 0, cn, cm", "0, 0, 0, 0, cm, cn"),
    ("mode_scores", "sum not scaled to a new maximum", "total = total * tl.exp(high - base)", "total = total"),
    ("mode_scores", "a tile without keys is NaN", 'base = tl.where(above == float("-inf"), 0.0, above)', "base = above"),
    ("mode_scores", "rows without keys are NaN", "(some > 0)[:, None]", "(some >= 0)[:, None]"),
    ("mode_scores", "no scale", "out_dtype=ACC) * scale\n    return", "out_dtype=ACC)\n    return"),
    ("mode_scores", "int32 offset of the row of scores", "tl.cast(i, tl.int64)[:, None] * row + tl.cast(j", "i[:, None] * row + tl.cast(j"),
    ("mode_scores", "int32 offset of the mask's sample", "tl.cast(sample, tl.int64) * ab", "sample * ab"),
    ("mode_scores", "gradient: mean left out", "s * (grad - tl.sum(grad * s, 1)[:, None]) * scale", "s * grad * scale"),
    ("mode_scores", "gradient: no scale in tiles of queries", "(grad - mean[:, None]) * scale, k.dtype)", "(grad - mean[:, None]), k.dtype)"),
    ("mode_scores", "gradient: means at the wrong place", "tl.store(Means + tl.cast(group, tl.int64) * n + i", "tl.store(Means + tl.cast(group, tl.int64) * m + i"),
    ("mode_scores", "gradient: all tiles of queries at one place", "_rows(OfQ, sample, head, rb, rn, top,", "_rows(OfQ, sample, head, rb, rn, 0,"),
    ("mode_scores", "gradient: only the last tile of queries", "of_k = tl.dot(tl.trans(slope), q, of_k, input", "of_k = tl.dot(tl.trans(slope), q, input"),
    ("summary_attention", "a window one token wider", "(distance < window)", "(distance <= window)"),
    ("summary_attention", "a token sees the next one", "(distance >= 0)", "(distance >= -1)"),
    ("summary_attention", "first tokens seen twice", "s[None, :] >= window)", "s[None, :] >= window - 1)"),
    ("summary_attention", "an unfinished block is seen", "end = own * summaries", "end = (own + 1) * summaries"),
    ("summary_attention", "first block of a group not seen", "low = (own - place) * summaries", "low = (own - place + 1) * summaries"),
    ("summary_attention", "blocks start at the own one", "begin // tokens // siblings * siblings * summaries", "begin // tokens * summaries"),
    ("summary_attention", "blocks end at the first token's", "stop = last // tokens * summaries", "stop = begin // tokens * summaries"),
    ("summary_attention", "excess left out", "ACC) * scale2 - taken[:, None]", "ACC) * scale2 - 0 * taken[:, None]"),
    ("summary_attention", "queries rotated from the start of the text", "Cos, Sin, t - origin, D", "Cos, Sin, t, D"),
    ("summary_attention", "given positions counted from the window", "origin = 0 if GIVEN else near", "origin = near"),
    ("summary_attention", "first tokens at their own distance", "far + t * 0, D", "t - origin, D"),
    ("summary_attention", "output not scaled to a new maximum", "v, out * shrink[:, None], input", "v, out, input"),
    ("summary_attention", "rows without keys are NaN", 'zero = tl.where(above == float("-inf"), 0.0, above)', "zero = above"),
    ("summary_attention", "logsumexp without its sum", "sums = (high + tl.log2(total))", "sums = high"),
    ("summary_attention", "summary tokens of the wrong head", "(sample * (H // R) + group) * length", "(sample * H + group) * length"),
    ("summary_attention", "second half of an odd head too wide", "b = tl.load(at + FIRST, mask=inside[:, None] & (c < D - FIRST)[None, :], other=0.0)", "b = tl.load(at + FIRST, mask=inside[:, None] & (c < FIRST)[None, :], other=0.0)"),
    ("summary_attention", "int32 offset of the token", "queries = tl.cast(t, tl.int64) * qn", "queries = t * qn"),
    ("summary_attention", "gradient: rotation not transposed", "sin = -sin", "sin = sin + 0.0"),
    ("summary_tokens", "keys of the next block", "(s // children)[None, :]) & exists[None, :]\n", "((s + 1) // children)[None, :]) & exists[None, :]\n"),
    ("summary_tokens", "every program describes the level", "if tl.program_id(0) == 0:", "if tl.program_id(0) >= 0:"),
    ("summary_tokens", "blocks of other groups not counted from 0", "rotations + block % siblings", "rotations + block"),
    ("summary_tokens", "latents of the wrong head", "group * zg", "sample * zg"),
    ("summary_tokens", "levels at one place", "* length + first + i\n    key1 = key1", "* length + i\n    key1 = key1"),
    ("summary_tokens", "a program too many tokens", "end = tl.minimum(begin + per, count)", "end = tl.minimum(begin + per + 1, count)"),
    ("summary_tokens", "gradient: values left out of the mean", "delta += tl.sum(of_value * tl.cast(value, ACC), 1)", "delta += 0.0"),
    ("summary_tokens", "gradient: keys without the latents' part", 'of_k1 = tl.dot(tl.trans(slope), z1, of_k1, input_precision="ieee", out_dtype=ACC)', "of_k1 = of_k1 + 0.0"),
    ("summary_tokens", "gradient: not added to what is there", "of_v += tl.cast(whole(OfV", "of_v += 0.0 * tl.cast(whole(OfV"),
    ("summary_gradients", "the last query of a window left out", "stop = last + window\n", "stop = last + window - 1\n"),
    ("summary_gradients", "a query too many sees a key", "s[:, None] < window)", "s[:, None] <= window)"),
    ("summary_gradients", "former gradients beyond those added", "halves(OfK, row * D, s < added", "halves(OfK, row * D, exists"),
    ("summary_gradients", "keys without the scale", "of_k1 *= scale", "of_k1 *= 1.0"),
    ("summary_gradients", "query heads of the wrong group", "group * R + step // steps", "group + step // steps"),
    ("summary_gradients", "splits overlap", "first += split * chunk", "first += split * (chunk - 1)"),
    ("summary_gradients", "excess left out", "high += excess(own, known, ACC)", "high += 0.0"),
    ("summary_gradients", "the last queries left out", "tl.cdiv(tl.maximum(stop - first, 0), BLOCK_M)", "tl.maximum(stop - first, 0) // BLOCK_M"),
    ("summary_gradients", "queries of the wrong siblings", "stop = (last // summaries // siblings + 1) * siblings * tokens", "stop = (last // summaries + 1) * tokens"),
    ("summary_gradients", "mean left out", "- delta[:, None])", "- 0 * delta[:, None])"),
    ("summary_step", "no barrier before the ring is written", "    tl.debug_barrier()  # every", "    # every"),
    ("summary_step", "ring read one row off", "(newest - j) % window", "(newest - j + 1) % window"),
    ("summary_step", "ring seen one token too long", "= window - 1, -1, first - 1", "= window, -1, first - 1"),
    ("summary_step", "a token does not see itself", "growth, newest = 1, 1, -1", "growth, newest = 0, 1, -1"),
    ("summary_step", "ring written beyond its end", "place = tl.cast((first + i) % window, tl.int64)", "place = tl.cast(first + i, tl.int64)"),
    ("summary_step", "a first token too many", "(first + i < sinks)", "(first + i <= sinks)"),
    ("summary_step", "first tokens seen too early", "factor = first + 1 - window", "factor = first + 2 - window"),
    ("summary_step", "gain of the wrong level", "0, 1, scale1, excess1", "0, 1, scale2, excess1"),
    ("summary_step", "frequencies of the wrong level", "tl.minimum(row_of_level, levels - 1)", "tl.minimum(row_of_level, 1)"),
    ("summary_step", "excess of the wrong sign", "- binary(excess, ACC)", "+ binary(excess, ACC)"),
    ("summary_step", "sum not scaled to a new maximum", "total = total * shrink + tl.sum(p, 1)", "total = total + tl.sum(p, 1)"),
    ("summary_step", "query heads of the wrong group", "group * R + m % R", "group + m % R"),
    ("summary_step", "a coefficient of the sine", "1 / 120, ACC", "1 / 121, ACC"),
    ("summary_step", "values of a block at the wrong place", "SumV + state * E, r,", "SumV + state * D, r,"),
]  # fmt: skip


class Copy:
    """A copy of the package and of its tests, in which plants are made. This process imports it, and forks for each plant: kernels are
    imported when they are launched."""

    def __init__(self, folder):
        self.folder = pathlib.Path(folder)
        self.tests = self.folder / "tests" / "python"
        for part in ("python", "tests/python"):
            shutil.copytree(ROOT / part, self.folder / part, ignore=shutil.ignore_patterns("__pycache__"))
        shutil.copy(ROOT / "tests" / "allowed_skips.py", self.folder / "tests")
        os.environ.update(TRITON_INTERPRET="1", MODEWISE_SELF_TEST="0")
        os.environ.setdefault("MODEWISE_BUILD", str(ROOT / "build"))
        sys.dont_write_bytecode = True
        sys.path[:0] = [str(self.folder / "python"), str(self.folder / "tests"), str(self.tests)]
        os.chdir(self.tests)
        import checked_interpreter  # noqa: F401 — what every child needs
        import ops_records  # noqa: F401

    def run(self, function, *arguments):
        """The exit status and the output of function(*arguments) in a child process."""
        with tempfile.TemporaryFile("w+") as log:
            child = os.fork()
            if child == 0:
                os.dup2(log.fileno(), 1)
                os.dup2(log.fileno(), 2)
                status = 3
                try:
                    status = int(function(*arguments))
                finally:
                    sys.stdout.flush()
                    os._exit(status)
            status = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
            log.seek(0)
            return status, log.read()

    def self_test(self, file):
        """Whether the self-test of the file's operators finds a plant."""
        def test():
            import torch

            import triton_helpers  # noqa: F401 — the checked interpreter
            from modewise.triton.self_test import fault

            return any(fault(op, torch.device("cpu")) for op in FILES[file][1])

        return self.run(test)[0] != 0

    def first_failure(self, file):
        """The test that fails first and its error, or "". An error while tests are collected does not count."""
        status, output = self.run(pytest.main, ["-x", "-q", "-p", "no:cacheprovider", "-o", "addopts=", "-m", "not long", *FILES[file][0]])
        if status not in (0, 1):
            raise SystemExit(f"the tests did not run: {output[-3000:]}")
        if status == 0:
            return ""
        test = re.search(r"^(?:FAILED|ERROR) [^:]+::(.+?)(?: - .*)?$", output, re.MULTILINE)
        errors = re.findall(r"^E +(?:\S+\.)?(\w+(?:Error|Fault)\b.*|assert .*)", output, re.MULTILINE)
        return f"{test.group(1)}: {errors[-1][:110] if errors else '?'}"

    def plant(self, file, text, replacement):
        """Applies a plant. -> the path and its former text."""
        path = self.folder / "python" / "modewise" / "triton" / f"{file}.py"
        source = path.read_text()
        if text not in source:
            raise SystemExit(f"{file}.py has no {text!r}: correct MUTANTS")
        path.write_text(source.replace(text, replacement, 1))
        return path, source


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--file", nargs="+", default=list(FILES), choices=FILES, help="kernel files (default: all)")
    parser.add_argument("--list", action="store_true", help="print the plants and run nothing")
    options = parser.parse_args()
    chosen = [mutant for mutant in MUTANTS if mutant[0] in options.file]
    if options.list:
        print(*(f"{file}: {what}" for file, what, _, _ in chosen), sep="\n")
        return 0
    survivors, seen = [], 0
    with tempfile.TemporaryDirectory() as folder:
        copy = Copy(folder)
        for file in {FILES[file][0][0]: file for file in options.file}.values():  # each test file once
            failure = copy.first_failure(file)
            if failure:
                raise SystemExit(f"without a plant: {failure}")
        for file, what, text, replacement in chosen:
            path, source = copy.plant(file, text, replacement)
            said, failure = copy.self_test(file), copy.first_failure(file)
            path.write_text(source)
            seen += bool(said)
            survivors += [] if failure else [f"{file}: {what}"]
            print(f"{file:18} {what:48} self-test: {'found' if said else '-':6} tests: {failure or 'SURVIVES'}", flush=True)
    print(f"{len(chosen)} plants: {len(chosen) - len(survivors)} found by the tests, {seen} by the self-test", *survivors, sep="\n")
    return len(survivors)


if __name__ == "__main__":
    sys.exit(main())
