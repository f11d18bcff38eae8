#!/usr/bin/env python3
"""Prints the least times of attention on two GPUs, from bytes and floating-point operations: estimates, no measurements.

The shape is a text or field of 32 × 32 × 32 tokens with 32 heads of 128 channels, bfloat16. A time is the larger of bytes /
bandwidth and operations / peak: each tensor is read or written once by each kernel. Full attention, causal, takes its operations
by the rates that the authors of FlashAttention give.
"""

import argparse

TOKENS, SIDE, HEADS, CHANNELS, WINDOW, SUMMARIES = 32**3, 32, 32, 128, 64, 4
# Bytes and bfloat16 operations per second of the SXM models, in NVIDIA's data sheets; FlashAttention: operations per second, forward.
# FlashAttention-2 reaches up to 73 % of an A100 (arXiv 2307.08691, abstract) and 35 % of an H100, FlashAttention-3 740 TFLOP/s
# (arXiv 2407.08608, abstract).
DEVICES = {
    "A100": dict(bandwidth=2.039e12, peak=312e12, flash={"FlashAttention-2": 0.73 * 312e12}),
    "H100": dict(bandwidth=3.35e12, peak=989e12, flash={"FlashAttention-2": 0.35 * 989e12, "FlashAttention-3": 740e12}),
}


def work():
    """{kernels: (operations, bytes)}."""
    values = TOKENS * HEADS * CHANNELS
    tensor = 2 * values  # bytes
    keys = WINDOW + 2 * SUMMARIES * (SIDE - 1) / 2  # of a token, on average: its window, and blocks of two levels
    return {
        "axial attention": (3 * 4 * values * SIDE, 3 * 4 * tensor),
        "axial attention, backward": (3 * 10 * values * SIDE, 3 * 7 * tensor),
        "Kronecker attention, products": (3 * 2 * values * SIDE, 3 * 2 * tensor),
        "summary attention": (4 * values * keys + 6 * values * SUMMARIES, 6 * tensor),
        "summary attention, backward": (14 * values * keys, 12 * tensor),  # queries and keys compute the weights again
    }


def rows():
    full = 4 * TOKENS**2 * HEADS * CHANNELS / 2
    yield ["", "TFLOP", "GB", *(f"{device}, ms" for device in DEVICES)]
    for name, (operations, size) in work().items():
        times = [1e3 * max(size / device["bandwidth"], operations / device["peak"]) for device in DEVICES.values()]
        yield [name, f"{operations / 1e12:.3f}", f"{size / 1e9:.2f}", *(f"{time:.2f}" for time in times)]
    for flash in ("FlashAttention-2", "FlashAttention-3"):
        times = [f"{1e3 * full / device['flash'][flash]:.1f}" if flash in device["flash"] else "" for device in DEVICES.values()]
        yield [f"full causal attention, {flash}", f"{full / 1e12:.2f}", f"{4 * 2 * TOKENS * HEADS * CHANNELS / 1e9:.2f}", *times]


def main():
    argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter).parse_args()
    for number, row in enumerate(rows()):
        print("| " + " | ".join(row) + " |")
        if number == 0:
            print("|" + "---|" * len(row))


if __name__ == "__main__":
    main()
