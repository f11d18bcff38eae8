"""Times a training step and inference of stacked HOT blocks: modewise against plain PyTorch, in one run.

The plain model (plain_hot.py) runs eagerly and under torch.compile, modewise as the program bin/block_step, in
turns, so that a busy machine disturbs all alike. A training step is forward, mean of squares, backward and AdamW.
Prints a Markdown table of medians and of ratios against the plain model.

    python benchmarks/block_step.py [--build build] [--threads N] [--rounds R] [--shapes 21x24 ...] [--processor-time]
"""

import argparse
import json
import os
import pathlib
import statistics
import subprocess
import sys
import time

SHAPES = {  # name: (batch, sizes, blocks, rotary modes)
    "21x24": (32, (21, 24), 2, (1,)),
    "7x7x7": (32, (7, 7, 7), 6, (0, 1, 2)),
    "321x24": (8, (321, 24), 2, (1,)),
}
WIDTH, HIDDEN, HEADS, DROPOUT = 128, 512, 8, 0.1


def plain_steps(name, precision, compiled):
    """Two callables: a training step and an inference of the plain model."""
    import torch

    from plain_hot import Stack

    batch, sizes, blocks, rotary = SHAPES[name]
    torch.manual_seed(0)
    model = Stack(blocks, WIDTH, HIDDEN, len(sizes), HEADS, rotary, DROPOUT)
    x = torch.randn(batch, *sizes, WIDTH)
    optimizer = torch.optim.AdamW(model.parameters(), 1e-3, fused=True)
    run = torch.compile(model) if compiled else model

    def forward():
        with torch.autocast("cpu", torch.bfloat16, enabled=precision == "bf16"):
            return run(x)

    def train():
        model.train()
        forward().float().square().mean().backward()
        optimizer.step()
        optimizer.zero_grad()

    def infer():
        model.eval()
        with torch.no_grad():
            forward()

    return {"train": train, "inference": infer}


def seconds(action, repeats, clock=time.perf_counter):
    times = []
    for _ in range(repeats):
        start = clock()
        action()
        times.append(clock() - start)
    return times


def modewise_seconds(build, name, precision, threads, repeats, processor_time):
    batch, sizes, blocks, rotary = SHAPES[name]
    command = [
        str(build / "bin" / "block_step"), "--batch", str(batch), "--sizes", *map(str, sizes), "--blocks", str(blocks),
        "--rotary", *map(str, rotary), "--width", str(WIDTH), "--hidden", str(HIDDEN), "--heads", str(HEADS),
        "--dropout", str(DROPOUT), "--precision", precision, "--threads", str(threads), "--repeats", str(repeats),
        *(["--processor-time"] if processor_time else []),
    ]
    return json.loads(subprocess.run(command, check=True, capture_output=True, text=True).stdout)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--build", type=pathlib.Path, default=pathlib.Path(__file__).parent.parent / "build")
    parser.add_argument("--threads", type=int, default=os.cpu_count())
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--repeats", type=int, default=3, help="steps timed in each round")
    parser.add_argument("--shapes", nargs="+", default=list(SHAPES), choices=list(SHAPES))
    parser.add_argument("--precisions", nargs="+", default=["float32", "bf16"])
    parser.add_argument("--no-compile", action="store_true", help="leave torch.compile out")
    parser.add_argument("--processor-time", action="store_true", help="time of one thread on its processor, for a machine that does other work")
    options = parser.parse_args()
    if options.processor_time and options.threads != 1:
        parser.error("--processor-time is that of one thread: --threads 1")

    import torch

    torch.set_num_threads(options.threads)
    print(f"torch {torch.__version__}, {options.threads} threads, medians of {options.rounds * options.repeats} steps\n")
    print("| blocks on | precision | work | eager ms | compile ms | modewise ms | against eager | against compile |")
    print("|---|---|---|---|---|---|---|---|")
    for name in options.shapes:
        for precision in options.precisions:
            rows(name, precision, options)


def rows(name, precision, options):
    import torch

    clock = time.thread_time if options.processor_time else time.perf_counter
    torch._dynamo.reset()  # past its limit of recompilations it would quietly run eagerly
    peers = {"eager": plain_steps(name, precision, False)}
    if not options.no_compile:
        peers["compile"] = plain_steps(name, precision, True)
    for actions in peers.values():  # warm up, and compile
        for action in actions.values():
            seconds(action, 2)
    times = {}
    for _ in range(options.rounds):
        for peer, actions in peers.items():
            for work, action in actions.items():
                action()
                times.setdefault((peer, work), []).extend(seconds(action, options.repeats, clock))
        ours = modewise_seconds(options.build, name, precision, options.threads, options.repeats, options.processor_time)
        for work, values in ours.items():
            times.setdefault(("modewise", work), []).extend(values)
    for work in ("train", "inference"):
        median = {peer: 1e3 * statistics.median(times[peer, work]) for peer in (*peers, "modewise")}
        compiled = median.get("compile", float("nan"))
        print(
            f"| {name} | {precision} | {work} | {median['eager']:.0f} | {compiled:.0f} | {median['modewise']:.0f} "
            f"| {median['eager'] / median['modewise']:.2f}× | {compiled / median['modewise']:.2f}× |",
            flush=True,
        )


if __name__ == "__main__":
    sys.exit(main())
