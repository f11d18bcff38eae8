"""Benchmark of a training step of a decoder: modewise's language model against transformers' Llama with SDPA, in one run.

Both have equal sizes (width 512, 8 layers, 8 heads, tied embedding, one sequence), run from Python and take one step of torch's fused
AdamW on the next-token loss. Kinds alternate, each in a separate process; medians of seconds, as Markdown.

    python benchmarks/language_step.py [--build build] [--threads N] [--tokens 2048] [--processor-time]
"""

import argparse
import json
import os
import pathlib
import statistics
import subprocess
import sys
import time

import decoders

SIZES = {"width": 512, "layers": 8, "heads": 8, "hidden": 1376, "vocabulary": 4096}
KINDS = ("llama", "full", "summary")


def peer(tokens):
    import torch

    model = decoders.llama(SIZES, max_position_embeddings=tokens, use_cache=False)
    optimizer = torch.optim.AdamW(model.parameters(), 1e-4, fused=True)

    def step(text):
        logits = model(text[:, :-1]).logits
        torch.nn.functional.cross_entropy(logits.flatten(0, 1), text[:, 1:].flatten()).backward()
        optimizer.step()
        optimizer.zero_grad()

    return step


def own(kind, tokens):
    import torch

    from modewise import ops

    model = decoders.modewise(SIZES, kind, tokens)
    optimizer = torch.optim.AdamW(model.parameters(), 1e-4, fused=True)

    def step(text):
        ops.language_loss(model.hidden(text[:, :-1]), model.head_weight, text[:, 1:]).backward()
        optimizer.step()
        optimizer.zero_grad()

    return step


def case(options):
    """Child process: one kind."""
    import torch

    torch.set_num_threads(options.threads)
    torch.manual_seed(0)
    step = peer(options.tokens) if options.case == "llama" else own(options.case, options.tokens)
    text = torch.randint(0, SIZES["vocabulary"], (1, options.tokens + 1))
    clock = time.thread_time if options.processor_time else time.perf_counter
    seconds = []
    for i in range(2 + options.repeats):
        start = clock()
        step(text)
        if i >= 2:
            seconds.append(clock() - start)
    print(json.dumps(seconds))


def run(options, kind):
    package = pathlib.Path(__file__).resolve().parents[1] / "python"
    command = [sys.executable, __file__, "--case", kind, "--threads", str(options.threads), "--tokens", str(options.tokens),
               "--repeats", str(options.repeats), *(["--processor-time"] if options.processor_time else [])]
    # Freed memory is kept for the next step by all, as the program does (core/allocator.h).
    settings = {"MALLOC_MMAP_MAX_": "0", "MALLOC_TRIM_THRESHOLD_": str(2**40), "MALLOC_TOP_PAD_": str(2**26),
                "PYTHONPATH": str(package), "MODEWISE_BUILD": str(options.build.resolve())}
    done = subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True, env={**os.environ, **settings})
    return json.loads(done.stdout)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--build", type=pathlib.Path, default=pathlib.Path(__file__).parent.parent / "build")
    parser.add_argument("--threads", type=int, default=os.cpu_count())
    parser.add_argument("--tokens", type=int, default=2048)
    parser.add_argument("--rounds", type=int, default=2)
    parser.add_argument("--repeats", type=int, default=3, help="timed steps per round")
    parser.add_argument("--processor-time", action="store_true", help="measure the CPU time of one thread, for a busy machine")
    parser.add_argument("--case", choices=KINDS, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.processor_time and options.threads != 1:
        parser.error("--processor-time needs --threads 1")
    if options.case:
        return case(options)
    times = {kind: [] for kind in KINDS}
    for _ in range(options.rounds):
        for kind in KINDS:
            times[kind] += run(options, kind)
    median = {kind: statistics.median(values) for kind, values in times.items()}
    print(f"{options.threads} threads, {options.tokens} tokens, medians of {options.rounds * options.repeats} steps\n")
    print("| decoder | step s | speed over Llama |\n|---|---|---|")
    names = {"llama": "transformers' Llama, SDPA", "full": "modewise, full", "summary": "modewise, summary " + "·".join(map(str, decoders.FOLD))}
    for kind, seconds in median.items():
        print(f"| {names[kind]} | {seconds:.3f} | {median['llama'] / seconds:.2f}× |")
    return 0


if __name__ == "__main__":
    sys.exit(main())
