"""Benchmark of an encoder layer on long sequences: axial attention over a fold against torch's full attention (SDPA), in one run.

Bidirectional, heads of width 64, one sequence, forward and backward with all gradients. "attention" is softmax(q kT) v alone; "step" the
whole layer with its four projections, a feed-forward network of four times the width and two norms, with the same operators for all kinds;
"free" is that layer with v in place of the attention, the lower bound. Kinds alternate; medians, as Markdown.

    python benchmarks/encoder_step.py [--build build] [--threads N] [--lengths 512 4096] [--widths 128 256 768]
"""

import argparse
import math
import os
import pathlib
import statistics
import time

HEAD = 64


def fold_of(tokens):
    rows = max(d for d in range(1, math.isqrt(tokens) + 1) if tokens % d == 0)
    return [tokens // rows, rows]


def attention_of(kind, tokens):
    import torch

    if kind == "sdpa":
        def attend(q, k, v):
            out = torch.nn.functional.scaled_dot_product_attention(*(t.transpose(1, 2) for t in (q, k, v)))
            return out.transpose(1, 2)
    elif kind == "tensor":
        attend = lambda q, k, v: torch.ops.modewise.tensor_attention(q, k, v, form="axial", fold=fold_of(tokens), causal=False)
    else:
        attend = lambda q, k, v: v
    return attend


def layer_of(kind, tokens, width):
    """(tensors, call): the layer's input and weights, and the layer function."""
    import torch

    ops, attend = torch.ops.modewise, attention_of(kind, tokens)
    draw = lambda *shape: (torch.randn(*shape) / math.sqrt(shape[-1])).requires_grad_()
    x = torch.randn(1, tokens, width).requires_grad_()
    maps = [draw(width, width) for _ in range(4)] + [draw(4 * width, width), draw(width, 4 * width)]
    scales = [torch.ones(width, requires_grad=True) for _ in range(2)]

    def call():
        q, k, v = (ops.linear(x, w, None).unflatten(-1, (-1, HEAD)) for w in maps[:3])
        y = ops.layer_norm(x + ops.linear(attend(q, k, v).flatten(-2), maps[3], None), scales[0], None)
        return ops.layer_norm(y + ops.linear(torch.nn.functional.gelu(ops.linear(y, maps[4], None)), maps[5], None), scales[1], None)

    return [x, *maps, *scales], call


def bare_of(kind, tokens, width):
    import torch

    tensors = [torch.randn(1, tokens, width // HEAD, HEAD).requires_grad_() for _ in range(3)]
    return tensors, lambda: attention_of(kind, tokens)(*tensors)


def medians(cases, rounds):
    """Median seconds of each case's step; cases alternate."""
    times = {name: [] for name in cases}
    for turn in range(rounds + 1):
        for name, (tensors, call) in cases.items():
            start = time.perf_counter()
            call().sum().backward()
            for tensor in tensors:
                tensor.grad = None
            if turn > 0:
                times[name].append(time.perf_counter() - start)
    return {name: statistics.median(values) for name, values in times.items()}


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--build", type=pathlib.Path, default=pathlib.Path(__file__).resolve().parents[1] / "build")
    parser.add_argument("--threads", type=int, default=os.cpu_count())
    parser.add_argument("--rounds", type=int, default=7)
    parser.add_argument("--lengths", nargs="+", type=int, default=[512, 4096])
    parser.add_argument("--widths", nargs="+", type=int, default=[128, 256, 768])
    options = parser.parse_args()
    import torch

    torch.set_num_threads(options.threads)
    torch.manual_seed(0)
    torch.ones(16).exp()  # libtorch selects its kernels now, before our library switches it to AVX2
    torch.ops.load_library(str(options.build / "lib" / "libmodewise_ops.so"))
    print("| tokens, fold | width | attention: SDPA ms | tensor ms | ratio | step: SDPA ms | tensor ms | ratio | ratio with free attention (bound) |")
    print("|---|---|---|---|---|---|---|---|---|")
    for tokens in options.lengths:
        for width in options.widths:
            bare = medians({kind: bare_of(kind, tokens, width) for kind in ("sdpa", "tensor")}, options.rounds)
            step = medians({kind: layer_of(kind, tokens, width) for kind in ("sdpa", "tensor", "free")}, options.rounds)
            fold = "·".join(map(str, fold_of(tokens)))
            print(f"| {tokens:,}, {fold} | {width} | {1e3 * bare['sdpa']:.1f} | {1e3 * bare['tensor']:.1f} | {bare['sdpa'] / bare['tensor']:.1f} | "
                  f"{1e3 * step['sdpa']:.1f} | {1e3 * step['tensor']:.1f} | {step['sdpa'] / step['tensor']:.2f} | "
                  f"{step['sdpa'] / step['free']:.2f} |", flush=True)


if __name__ == "__main__":
    main()
