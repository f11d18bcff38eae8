"""Benchmark of causal attention on long sequences: summary attention against torch's scaled_dot_product_attention, in one run.

8 heads of width 64, with a rotary embedding in ours and without in the peer. Each case runs in a separate process, so that
its peak memory can be read; ours and the peer alternate. Prints a Markdown table of medians, the memory beyond the
inputs, ratios, and the exponents with which our time and memory grow in the number of tokens.

    python benchmarks/long_attention.py [--build build] [--threads N] [--lengths 1024 4096 ...]
    python benchmarks/long_attention.py --reference --type axial   # the formulas of devices without kernels of their own
    python benchmarks/long_attention.py --masked --dropout 0.1 --type axial   # a sixth of the tokens masked, in the peer, too
"""

import argparse
import json
import math
import os
import pathlib
import statistics
import subprocess
import sys
import time

import machine

HEADS, WIDTH = 8, 64
CHUNK = 32  # tokens per innermost block, blocks per block of the next level, and so on


def fold_of(tokens):
    """Fold of modes of 32, so many that the first one is at most 32."""
    fold = [CHUNK]
    while math.prod(fold) * CHUNK < tokens:
        fold.append(CHUNK)
    return [0] + fold


def peak_bytes():
    with open("/proc/self/status") as lines:
        return next(int(line.split()[1]) * 1024 for line in lines if line.startswith("VmHWM"))


def case(options):
    """Child process: one kernel, length and precision."""
    import torch

    torch.set_num_threads(options.threads)
    dtype = torch.bfloat16 if options.precision == "bf16" else torch.float32
    torch.manual_seed(0)
    q, k, v = (torch.randn(1, options.tokens, HEADS, WIDTH, dtype=dtype).requires_grad_(options.work == "train")
               for _ in range(3))
    kept = torch.arange(options.tokens) % 6 != 5
    if options.kernel == "sdpa":
        heads_first = [t.transpose(1, 2) for t in (q, k, v)]
        seen = torch.ones(options.tokens, options.tokens, dtype=torch.bool).tril() & kept if options.masked else None
        call = lambda: torch.nn.functional.scaled_dot_product_attention(*heads_first, seen, dropout_p=options.dropout, is_causal=seen is None)
    else:
        torch.ops.load_library(str(options.build / "lib" / "libmodewise_ops.so"))
        fold = fold_of(options.tokens)
        latents = torch.zeros(len(fold) - 1, HEADS, options.summary_tokens, WIDTH, dtype=dtype, requires_grad=options.work == "train")
        frequencies = 10000.0 ** (-torch.arange(0, WIDTH, 2, dtype=torch.float64) / WIDTH)[None]
        torch.ops.modewise.use_reference(options.reference)
        mask = kept[None] if options.masked else None
        if options.type == "axial":
            frequencies = frequencies.expand(len(fold), -1).contiguous()
            call = lambda: torch.ops.modewise.tensor_attention(q, k, v, None, frequencies, None, mask, form="axial", fold=fold, dropout=options.dropout)
        else:
            frequencies = None if options.masked else frequencies  # it takes one of both
            call = lambda: torch.ops.modewise.tensor_attention(q, k, v, latents, frequencies, None, mask, fold=fold, window=options.window)

    def step():
        if options.work == "train":
            call().sum().backward()
            for t in (q, k, v):
                t.grad = None
        else:
            with torch.no_grad():
                call()

    with open("/proc/self/clear_refs", "w") as peak:
        peak.write("5")  # resets the peak
    before = peak_bytes()
    step()
    taken = peak_bytes() - before
    step()  # glibc cannot reuse a freed block of equal size for an aligned one: the heap grows once more
    times = []
    for _ in range(options.repeats):
        start = time.perf_counter()
        step()
        times.append(time.perf_counter() - start)
    print(json.dumps({"seconds": statistics.median(times), "bytes": taken}))


def run(options, kernel, tokens, precision, work, summary_tokens=1):
    repeats = 1 if kernel == "sdpa" and tokens > 16384 else options.repeats
    command = [sys.executable, __file__, "--case", "--build", str(options.build), "--threads", str(options.threads),
               "--kernel", kernel, "--tokens", str(tokens), "--precision", precision, "--work", work, "--summary-tokens", str(summary_tokens),
               "--window", str(options.window), "--repeats", str(repeats), "--type", options.type]
    command += ["--dropout", str(options.dropout), *["--reference"] * options.reference, *["--masked"] * options.masked]
    # Both retain freed memory for the next step, like the program (core/allocator.h): otherwise page faults dominate.
    kept = {"MALLOC_MMAP_MAX_": "0", "MALLOC_TRIM_THRESHOLD_": str(2**40), "MALLOC_TOP_PAD_": str(2**26)}
    return json.loads(subprocess.run(command, check=True, capture_output=True, text=True, env={**os.environ, **kept}).stdout)


def power(points):
    """Slope of log(value) over log(tokens) by least squares."""
    xs, ys = zip(*((math.log(n), math.log(max(value, 1e-9))) for n, value in points))
    x, y = statistics.mean(xs), statistics.mean(ys)
    return sum((a - x) * (b - y) for a, b in zip(xs, ys)) / sum((a - x) ** 2 for a in xs)


def label(options, summary_tokens):
    return options.type if options.type != "summary" else f"{summary_tokens} summary token{'s' * (summary_tokens > 1)}"


def table(options, precision, work):
    print(f"\n{precision}, {'forward and backward' if work == 'train' else 'forward'}\n")
    print("| tokens | fold | SDPA s | MiB | " + " | ".join(f"{label(options, s)} s | MiB | × SDPA" for s in options.summary_tokens_list) + " |")
    print("|---" * (4 + 3 * len(options.summary_tokens_list)) + "|")
    grown = {summary_tokens: [] for summary_tokens in options.summary_tokens_list}
    for tokens in options.lengths:
        if work == "train" and tokens * HEADS * WIDTH * (36 if precision == "float32" else 26) > options.memory * 2**30:
            print(f"| {tokens:,} | | exceeds --memory {options.memory} GiB" + " | " * (1 + 3 * len(options.summary_tokens_list)) + "|")
            continue
        peer = run(options, "sdpa", tokens, precision, work) if tokens <= options.longest_peer else None
        cells = [f"{tokens:,}", "·".join(map(str, fold_of(tokens))).replace("0", "n", 1)]
        cells += [f"{peer['seconds']:.4g}", f"{peer['bytes'] / 2**20:.0f}"] if peer else ["", ""]
        for summary_tokens in options.summary_tokens_list:
            ours = run(options, "tensor", tokens, precision, work, summary_tokens)
            grown[summary_tokens].append((tokens, ours))
            cells += [f"{ours['seconds']:.4g}", f"{ours['bytes'] / 2**20:.0f}",
                      f"{peer['seconds'] / ours['seconds']:.1f}" if peer else ""]
        print("| " + " | ".join(cells) + " |", flush=True)
    for summary_tokens, points in grown.items():
        long = [p for p in points if p[0] >= 4096]
        if len(long) > 1:
            print(f"\n{label(options, summary_tokens)}, from {long[0][0]:,} tokens on: time grows as tokens to the power "
                  f"{power([(n, r['seconds']) for n, r in long]):.2f}, memory {power([(n, r['bytes']) for n, r in long]):.2f}")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--build", type=pathlib.Path, default=pathlib.Path(__file__).parent.parent / "build")
    parser.add_argument("--threads", type=int, default=os.cpu_count())
    parser.add_argument("--lengths", nargs="+", type=int, default=[512, 1024, 4096, 16384, 32768, 131072, 1048576])
    parser.add_argument("--longest-peer", type=int, default=32768, help="maximum number of tokens for SDPA")
    parser.add_argument("--window", type=int, default=64)
    parser.add_argument("--type", choices=["summary", "axial"], default="summary")
    parser.add_argument("--reference", action="store_true", help="force the reference kernels")
    parser.add_argument("--masked", action="store_true", help="mask every sixth token")
    parser.add_argument("--dropout", type=float, default=0.0, help="of the weights, with --type axial")
    parser.add_argument("--summary-tokens-list", nargs="+", type=int, default=[1, 4])
    parser.add_argument("--precisions", nargs="+", default=["float32", "bf16"])
    parser.add_argument("--works", nargs="+", default=["forward", "train"])
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument("--memory", type=int, default=12, help="memory limit of a training case in GiB")
    parser.add_argument("--case", action="store_true", help=argparse.SUPPRESS)
    for name in ("kernel", "precision", "work"):
        parser.add_argument(f"--{name}", help=argparse.SUPPRESS)
    for name in ("tokens", "summary-tokens"):
        parser.add_argument(f"--{name}", type=int, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.dropout and options.type != "axial":
        parser.error("--dropout needs --type axial: summary attention has no dropout of weights")
    if options.case:
        return case(options)
    print(f"{machine.line(machine.build_info(options.build))}; {options.type}{', reference' * options.reference}{', masked' * options.masked}{f', dropout {options.dropout}' if options.dropout else ''}, {HEADS} heads of {WIDTH}, "
          f"window {options.window}, {options.threads} threads, "
          f"medians of {options.repeats} runs")
    for precision in options.precisions:
        for work in options.works:
            table(options, precision, work)


if __name__ == "__main__":
    main()
