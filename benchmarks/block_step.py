"""Benchmark of a training step and inference of stacked HOT layers: modewise against plain PyTorch, in one run.

The plain model (plain_hot.py) runs eagerly and under torch.compile, modewise as the program bin/block_step, alternating,
so that other load affects all alike. A training step is forward, mean of squares, backward and AdamW. Prints a Markdown
table of medians and of ratios against the plain model, with the rate of the matrix products, its fraction of the CPU's
peak (all threads), and `bound`: the time of the products alone at the rate of the GEMM micro-kernel. Memory is the peak
of two training steps in a separate process, minus the memory before them. With --against, another build of modewise is
the peer instead. With --recompute, modewise trains with train.recompute = true and that peer without.

    python benchmarks/block_step.py [--build build] [--threads N] [--rounds R] [--shapes 21x24 ...] [--processor-time]
                                    [--against OTHER/build] [--recompute]
"""

import argparse
import json
import math
import multiprocessing
import os
import pathlib
import statistics
import subprocess
import sys
import time

import machine

SHAPES = {  # name: (batch, sizes, blocks, rotary modes)
    "21x24": (32, (21, 24), 2, (1,)),
    "7x7x7": (32, (7, 7, 7), 6, (0, 1, 2)),
    "321x24": (8, (321, 24), 2, (1,)),
    "862x24": (4, (862, 24), 2, (1,)),
}
WIDTH, HIDDEN, HEADS, DROPOUT = 128, 512, 8, 0.1


def products(name, work):
    """FLOPs of the matrix products of a step: linear layers, also on pooled queries and keys, scores, mode products and
    feed-forward; a training step has two more of each."""
    batch, sizes, blocks, _ = SHAPES[name]
    tokens = batch * math.prod(sizes)
    attention = 2 * tokens * WIDTH**2 + sum(2 * batch * n * WIDTH**2 + batch * n * n * WIDTH + tokens * n * WIDTH for n in sizes)
    return 2 * blocks * (attention + 3 * tokens * WIDTH * HIDDEN) * (3 if work == "train" else 1)


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


def plain_bytes(name, precision, threads):
    """Peak memory of two eager training steps beyond the memory before them. Run in a separate process."""
    import torch

    torch.set_num_threads(threads)
    train = plain_steps(name, precision, False)["train"]
    status = lambda line: next(int(text.split()[1]) << 10 for text in open("/proc/self/status") if text.startswith(line))
    with open("/proc/self/clear_refs", "w") as peak:
        peak.write("5")  # resets the peak
    before = status("VmRSS")
    seconds(train, 2)
    return status("VmHWM") - before


def modewise_step(build, name, precision, options, recompute):
    batch, sizes, blocks, rotary = SHAPES[name]
    command = [
        str(build / "bin" / "block_step"), "--batch", str(batch), "--sizes", *map(str, sizes), "--blocks", str(blocks),
        "--rotary", *map(str, rotary), "--width", str(WIDTH), "--hidden", str(HIDDEN), "--heads", str(HEADS),
        "--dropout", str(DROPOUT), "--precision", precision, "--threads", str(options.threads), "--repeats", str(options.repeats),
        *(["--processor-time"] if options.processor_time else []), *(["--recompute"] if recompute else []),
    ]
    return json.loads(subprocess.run(command, check=True, capture_output=True, text=True).stdout)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--build", type=pathlib.Path, default=pathlib.Path(__file__).parent.parent / "build")
    parser.add_argument("--threads", type=int, default=os.cpu_count())
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--repeats", type=int, default=3, help="timed steps per round")
    parser.add_argument("--shapes", nargs="+", default=list(SHAPES), choices=list(SHAPES))
    parser.add_argument("--precisions", nargs="+", default=["float32", "bf16"])
    parser.add_argument("--no-compile", action="store_true", help="skip torch.compile")
    parser.add_argument("--against", type=pathlib.Path, help="build folder of modewise to compare with instead of PyTorch")
    parser.add_argument("--processor-time", action="store_true", help="measure the CPU time of one thread, for a busy machine")
    parser.add_argument("--recompute", action="store_true", help="recompute activations in modewise")
    options = parser.parse_args()
    if options.processor_time and options.threads != 1:
        parser.error("--processor-time needs --threads 1")

    info = machine.build_info(options.build, "--rates")
    measured = f"{options.threads} threads, medians of {options.rounds * options.repeats} steps"
    if options.against:
        print(f"{machine.line(info)}; {measured}; before: {options.against}\n")
        columns = ["before ms", "after ms", "before / after", "before MiB", "after MiB"]
    else:
        import torch

        torch.set_num_threads(options.threads)
        print(f"{machine.line(info)}; torch {torch.__version__}, {measured}\n")
        columns = ["eager ms", "compile ms", "modewise ms", "speedup over eager", "over compile", "eager MiB", "modewise MiB"]
    columns = ["shape", "precision", "work", *columns, "GF/s", "fraction of peak", "bound ms"]
    print(f"| {' | '.join(columns)} |\n{'|---' * len(columns)}|")
    for name in options.shapes:
        for precision in options.precisions:
            rows(name, precision, options, info)


def plain_peers(name, precision, options):
    """{"eager" …: {work: action}}, warm and compiled."""
    import torch

    torch._dynamo.reset()  # beyond the recompilation limit it silently runs eagerly
    peers = {"eager": plain_steps(name, precision, False)}
    if not options.no_compile:
        peers["compile"] = plain_steps(name, precision, True)
    for actions in peers.values():
        for action in actions.values():
            seconds(action, 2)
    return peers


def measured_in_turns(name, precision, options):
    """({(who, work): seconds}, {who: training bytes}), measured in alternation."""
    clock = time.thread_time if options.processor_time else time.perf_counter
    peers = {} if options.against else plain_peers(name, precision, options)
    builds = {"before": options.against, "modewise": options.build} if options.against else {"modewise": options.build}
    times, memory = {}, {}
    if not options.against:
        with multiprocessing.get_context("spawn").Pool(1) as process:
            memory["eager"] = process.apply(plain_bytes, (name, precision, options.threads))
    for _ in range(options.rounds):
        for peer, actions in peers.items():
            for work, action in actions.items():
                action()
                times.setdefault((peer, work), []).extend(seconds(action, options.repeats, clock))
        for who, build in builds.items():
            result = modewise_step(build, name, precision, options, options.recompute and who == "modewise")
            memory[who] = result["resident_bytes"]
            for work in ("train", "inference"):
                times.setdefault((who, work), []).extend(result[work])
    return times, memory


def rows(name, precision, options, info):
    times, memory = measured_in_turns(name, precision, options)
    tile = info["rates"]["bf16_tile_gflops" if precision == "bf16" else "float32_tile_gflops"]
    for work in ("train", "inference"):
        median = {who: 1e3 * statistics.median(values) for (who, w), values in times.items() if w == work}
        ours, peers = median.pop("modewise"), list(median.values())
        if not options.against and options.no_compile:
            peers.append(math.nan)
        gflop = products(name, work) / 1e9
        rate = 1e3 * gflop / ours
        cells = [name, precision, work, *(f"{ms:.0f}" for ms in (*peers, ours)), *(f"{ms / ours:.2f}×" for ms in peers),
                 *(f"{taken / 2**20:.0f}" if work == "train" else "" for taken in memory.values()), f"{rate:.0f}",
                 f"{100 * rate / machine.peak(info, precision) / options.threads:.0f} %", f"{1e3 * gflop / tile / options.threads:.0f}"]
        print(f"| {' | '.join(cells)} |", flush=True)


if __name__ == "__main__":
    sys.exit(main())
