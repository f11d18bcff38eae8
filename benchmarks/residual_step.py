"""Benchmark of a training step and inference of ResNet-18 on volumes: modewise against plain PyTorch, in one run.

The network of MedMNIST's baselines in three dimensions (a first convolution of kernel 3 and stride 1, no pooling before the
last mean), float32. PyTorch runs eagerly with both memory formats, channels first and channels last, modewise as the program
bin/residual_step, alternating. A training step is forward, cross entropy, backward and AdamW. Medians and ratios, as
Markdown.

    python benchmarks/residual_step.py [--build build] [--threads N] [--batch 8] [--size 28] [--width 64] [--processor-time]
"""

import argparse
import json
import os
import pathlib
import statistics
import subprocess
import time

import machine

LAYOUTS = ("first", "last")


def residual_network(width):
    import torch
    from torch import nn

    class Block(nn.Module):
        def __init__(self, inputs, outputs, stride):
            super().__init__()
            self.branch = nn.Sequential(
                nn.Conv3d(inputs, outputs, 3, stride, 1, bias=False), nn.BatchNorm3d(outputs), nn.ReLU(inplace=True),
                nn.Conv3d(outputs, outputs, 3, 1, 1, bias=False), nn.BatchNorm3d(outputs))  # fmt: skip
            same = stride == 1 and inputs == outputs
            self.shortcut = nn.Identity() if same else nn.Sequential(nn.Conv3d(inputs, outputs, 1, stride, bias=False), nn.BatchNorm3d(outputs))

        def forward(self, x):
            return torch.relu_(self.branch(x) + self.shortcut(x))

    blocks = [Block(width * 2 ** max(stage - (place == 0), 0), width * 2**stage, 2 if stage > 0 and place == 0 else 1)
              for stage in range(4) for place in range(2)]  # fmt: skip
    return nn.Sequential(nn.Conv3d(1, width, 3, 1, 1, bias=False), nn.BatchNorm3d(width), nn.ReLU(inplace=True), *blocks,
                         nn.AdaptiveAvgPool3d(1), nn.Flatten(), nn.Linear(8 * width, 2))  # fmt: skip


def plain_steps(options, layout):
    """{work: action}"""
    import torch

    torch.manual_seed(0)
    memory = torch.channels_last_3d if layout == "last" else torch.contiguous_format
    model = residual_network(options.width).to(memory_format=memory)
    x = torch.randn(options.batch, 1, *[options.size] * 3).to(memory_format=memory)
    classes = torch.randint(2, (options.batch,))
    optimizer = torch.optim.AdamW(model.parameters(), 1e-3, fused=True)

    def train():
        model.train()
        torch.nn.functional.cross_entropy(model(x), classes).backward()
        optimizer.step()
        optimizer.zero_grad()

    def infer():
        model.eval()
        with torch.no_grad():
            model(x)

    return {"train": train, "inference": infer}


def modewise_step(options):
    command = [options.build / "bin" / "residual_step", *(["--processor-time"] if options.processor_time else [])]
    for name in ("batch", "size", "width", "threads", "repeats"):
        command += [f"--{name}", str(getattr(options, name))]
    return json.loads(subprocess.run(command, check=True, capture_output=True, text=True).stdout)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--build", type=pathlib.Path, default=pathlib.Path(__file__).resolve().parents[1] / "build")
    parser.add_argument("--threads", type=int, default=os.cpu_count())
    parser.add_argument("--batch", type=int, default=8)
    parser.add_argument("--size", type=int, default=28, help="voxels per axis")
    parser.add_argument("--width", type=int, default=64, help="channels of the first stage")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--repeats", type=int, default=1, help="timed steps per round")
    parser.add_argument("--processor-time", action="store_true", help="measure the CPU time of one thread, for a busy machine")
    options = parser.parse_args()
    if options.processor_time and options.threads != 1:
        parser.error("--processor-time is that of one thread: --threads 1")
    import torch

    torch.set_num_threads(options.threads)
    clock = time.thread_time if options.processor_time else time.perf_counter
    plain = {layout: plain_steps(options, layout) for layout in LAYOUTS}
    times = {}
    for turn in range(options.rounds + 1):
        for layout, actions in plain.items():
            for work, action in actions.items():
                start = clock()
                action()
                if turn > 0:  # the first is a warm-up
                    times.setdefault((work, layout), []).append(clock() - start)
        if turn > 0:
            for work, seconds in modewise_step(options).items():
                times.setdefault((work, "modewise"), []).extend(seconds)
    print(f"{machine.line(machine.build_info(options.build))}; torch {torch.__version__}, {options.threads} threads, batch {options.batch}, "
          f"{options.size}³ voxels, width {options.width}, medians of {options.rounds * options.repeats} steps\n")  # fmt: skip
    print("| work | channels first s | channels last s | modewise s | speedup over the faster |\n|---|---|---|---|---|")
    for work in ("train", "inference"):
        first, last, ours = (statistics.median(times[work, who]) for who in (*LAYOUTS, "modewise"))
        print(f"| {work} | {first:.2f} | {last:.2f} | {ours:.2f} | {min(first, last) / ours:.2f}× |")


if __name__ == "__main__":
    main()
