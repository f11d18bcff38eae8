"""Benchmark of a training step of stacked HOT layers from Python (modewise.nn, modewise.ops.adam_step) against the same step of
the program (bin/block_step), alternating.

Both retain freed memory. Prints a Markdown table of medians and of the overhead of Python.

    python benchmarks/python_step.py [--build build] [--threads N] [--rounds R] [--repeats N] [--shapes 21x24 ...] [--processor-time]
"""

import argparse
import json
import os
import pathlib
import statistics
import subprocess
import sys
import time

import machine
from block_step import DROPOUT, HEADS, HIDDEN, SHAPES, WIDTH, modewise_step, seconds

# glibc settings equivalent to modewise::keep_freed_memory of the program.
KEEPING = {"MALLOC_MMAP_MAX_": "0", "MALLOC_TRIM_THRESHOLD_": str(2**31 - 1), "MALLOC_TOP_PAD_": str(64 << 20)}


def child(options):
    """Seconds of the steps, as JSON."""
    import torch

    from modewise import nn, ops
    from modewise.nn.basic import number_dropouts

    torch.set_num_threads(options.threads)
    batch, sizes, blocks, rotary = SHAPES[options.shapes[0]]

    def block():
        attention = nn.KroneckerAttention(WIDTH, HEADS, len(sizes), rope_modes=rotary, dropout=DROPOUT)
        return nn.Block(WIDTH, attention, nn.SwiGLU(WIDTH, HIDDEN), dropout=DROPOUT)

    stack = torch.nn.Sequential(*(block() for _ in range(blocks)))
    number_dropouts(stack)
    x = torch.randn(batch, *sizes, WIDTH)
    moments = [(p, torch.zeros_like(p), torch.zeros_like(p)) for p in stack.parameters()]
    steps = 0

    def step():
        nonlocal steps
        nn.set_dropout_step(stack, 0, steps)
        steps += 1
        stack(x).square().mean().backward()
        with torch.no_grad():
            for parameter, first, second in moments:
                if parameter.grad is not None:
                    ops.adam_step(parameter, parameter.grad, first, second, 0.9, 0.999, 1e-8, 1e-3 / (1 - 0.9**steps),
                                  (1 - 0.999**steps) ** 0.5)  # fmt: skip
                    parameter.grad = None

    seconds(step, 2)
    print(json.dumps(seconds(step, options.repeats, time.thread_time if options.processor_time else time.perf_counter)))


def python_seconds(name, options):
    paths = [str(pathlib.Path(__file__).resolve().parent.parent / "python"), os.environ.get("PYTHONPATH", "")]
    environment = os.environ | KEEPING | {"MODEWISE_BUILD": str(options.build), "PYTHONPATH": os.pathsep.join(filter(None, paths))}
    command = [sys.executable, __file__, "--child", "--build", str(options.build), "--threads", str(options.threads), "--repeats",
               str(options.repeats), "--shapes", name, *(["--processor-time"] if options.processor_time else [])]  # fmt: skip
    return json.loads(subprocess.run(command, env=environment, check=True, stdout=subprocess.PIPE, text=True).stdout)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--build", type=pathlib.Path, default=pathlib.Path(__file__).parent.parent / "build")
    parser.add_argument("--threads", type=int, default=os.cpu_count())
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--repeats", type=int, default=5, help="timed steps per round")
    parser.add_argument("--shapes", nargs="+", default=list(SHAPES), choices=list(SHAPES))
    parser.add_argument("--processor-time", action="store_true", help="measure the CPU time of one thread, for a busy machine")
    parser.add_argument("--child", action="store_true", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.processor_time and options.threads != 1:
        parser.error("--processor-time needs --threads 1")
    if options.child:
        return child(options)
    description = machine.line(machine.build_info(options.build))
    print(f"{description}; {options.threads} threads, float32, medians of {options.rounds * options.repeats} steps\n")
    print("| shape | program ms | Python ms | overhead |\n|---|---|---|---|")
    for name in options.shapes:
        program, python = [], []
        for _ in range(options.rounds):
            program += modewise_step(options.build, name, "float32", options, recompute=False)["train"]
            python += python_seconds(name, options)
        ours, theirs = 1e3 * statistics.median(program), 1e3 * statistics.median(python)
        print(f"| {name} | {ours:.1f} | {theirs:.1f} | {100 * (theirs / ours - 1):+.1f} % |", flush=True)


if __name__ == "__main__":
    sys.exit(main())
