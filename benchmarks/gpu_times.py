"""Times of the attention operators on a CUDA device beside torch's fused attention, in bfloat16.

    python benchmarks/gpu_times.py [--tokens 4096 32768 131072] [--heads 32] [--width 128]

Prints Markdown tables of medians in milliseconds, each measured by CUDA events after a warm-up, and the ratio to
FlashAttention-2 as torch has it (SDPBackend.FLASH_ATTENTION). All run in one process on one device.
"""

import argparse
import math
import pathlib
import statistics
import sys

import torch
from torch.nn.attention import SDPBackend, sdpa_kernel
from torch.nn.attention.flex_attention import create_block_mask, flex_attention
from torch.nn.functional import scaled_dot_product_attention

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "python"))
from modewise import ops

WINDOW, MODE = 64, 32


def milliseconds(call, budget=400.0):
    """Median of as many calls as fit in `budget` milliseconds, 3 to 50."""
    call()
    torch.cuda.synchronize()
    times = []
    while len(times) < 3 or (sum(times) < budget and len(times) < 50):
        begin, end = (torch.cuda.Event(enable_timing=True) for _ in range(2))
        begin.record()
        call()
        end.record()
        torch.cuda.synchronize()
        times.append(begin.elapsed_time(end))
    return statistics.median(times)


def both(call, *inputs):
    """Milliseconds forward, and of the backward pass alone."""
    with torch.no_grad():
        forward = milliseconds(call)
    out = call()
    grad = torch.randn_like(out)
    return forward, milliseconds(lambda: torch.autograd.grad(out, inputs, grad, retain_graph=True))


def rows(tokens, heads, width):
    """(name, function) of each kind of attention on [1, tokens, heads, width]."""
    fold = [0] + [MODE] * max(1, math.ceil(math.log(tokens, MODE)) - 1)
    q, k, v = (torch.randn(1, tokens, heads, width, device="cuda", dtype=torch.bfloat16, requires_grad=True) for _ in range(3))
    first = [x.detach().transpose(1, 2).contiguous().requires_grad_() for x in (q, k, v)]  # [1, H, n, d], as torch's kernels prefer

    def by(backend):
        def call():
            with sdpa_kernel(backend):
                return scaled_dot_product_attention(*first, is_causal=True)
        return call, first

    yield "FlashAttention-2 (torch)", *by(SDPBackend.FLASH_ATTENTION)
    yield "cuDNN attention (torch)", *by(SDPBackend.CUDNN_ATTENTION)
    seen = create_block_mask(lambda b, h, i, j: (j <= i) & (i - j < WINDOW), None, None, tokens, tokens)
    flex = torch.compile(flex_attention)
    yield f"flex_attention, window {WINDOW}", lambda: flex(*first, block_mask=seen), first
    if tokens <= 4096:
        plain = torch.compile(lambda q, k, v: torch.softmax((q @ k.mT * width**-0.5).masked_fill(causal, -math.inf), -1) @ v)
        causal = torch.ones(tokens, tokens, dtype=torch.bool, device="cuda").triu(1)
        yield "torch.compile of the formula", lambda: plain(*first), first
    yield f"axial, {len(fold)} modes", lambda: ops.tensor_attention(q, k, v, form="axial", fold=fold), (q, k, v)
    for latents in (1, 4):
        z = torch.randn(len(fold) - 1, heads, latents, width, device="cuda", dtype=torch.bfloat16, requires_grad=True)
        name = f"summary, window {WINDOW}, {latents} a block"
        yield name, lambda z=z: ops.tensor_attention(q, k, v, z, form="summary", fold=fold, window=WINDOW), (q, k, v, z)


def attention_table(tokens, heads, width):
    """Its lines, each when it is measured."""
    yield from [f"{tokens:,} tokens, {heads} heads of {width}, causal:", "", "| | forward ms | ratio | backward ms | ratio |", "|---|---|---|---|---|"]
    flash = None
    for name, call, inputs in rows(tokens, heads, width):
        try:
            forward, backward = both(call, *inputs)
        except (RuntimeError, torch.OutOfMemoryError) as error:
            yield f"| {name} | {type(error).__name__}: {str(error).splitlines()[0][:80]} | | | |"
            continue
        flash = flash or (forward, backward)
        yield f"| {name} | {forward:.3f} | {flash[0] / forward:.1f} | {backward:.3f} | {flash[1] / backward:.1f} |"
    yield ""


def mode_table():
    """Mode products of a volume, 8 × 28³ × 128, against einsum."""
    x = torch.randn(8, 28, 28, 28, 128, device="cuda", dtype=torch.bfloat16)
    factor = torch.randn(8, 4, 28, 28, device="cuda", dtype=torch.bfloat16)
    yield from ["Mode products, x [8, 28, 28, 28, 128], factor [8, 4, 28, 28]:", "", "| mode | ms | einsum ms |", "|---|---|---|"]
    letters = "ijk"
    for mode in range(3):
        read, written = "b" + letters + "hc", "b" + letters.replace(letters[mode], "m") + "hc"
        einsum = lambda: torch.einsum(f"bhm{letters[mode]},{read}->{written}", factor, x.unflatten(-1, (4, 32)))
        yield f"| {mode} | {milliseconds(lambda: ops.mode_product(x, factor, mode)):.3f} | {milliseconds(einsum):.3f} |"


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--tokens", type=int, nargs="+", default=[4096, 32768, 131072])
    parser.add_argument("--heads", type=int, default=32)
    parser.add_argument("--width", type=int, default=128)
    options = parser.parse_args()
    print(f"{torch.cuda.get_device_name()}, torch {torch.__version__}, bfloat16, batch 1. Ratio: time of FlashAttention-2 divided by the time.\n")
    for table in (*(attention_table(tokens, options.heads, options.width) for tokens in options.tokens), mode_table()):
        for line in table:
            print(line, flush=True)


if __name__ == "__main__":
    main()
