"""Benchmark of the synthesizer types against plain PyTorch versions, eager and compiled, in one run.

Feature maps H x W x C, one head; a step is forward, or forward and backward with all gradients. Ours and the peers alternate;
Markdown tables of medians and of ratios (above 1: ours is faster). With --memory each case runs in a separate process, whose peak
memory beyond the inputs is printed.

    python benchmarks/synthesizers.py [--build build] [--threads N] [--rounds R] [--maps 8x8x64 ...] [--memory]
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

MAPS = {"8x8x64": 128, "16x16x64": 32, "32x32x64": 4, "7x17x63": 33}  # map: batch size


def balanced(n):
    root = next(d for d in range(math.isqrt(n), 0, -1) if n % d == 0)
    return n // root, root


def make(form, size, batch):
    """(tensors, ours, plain): two functions of the tensors."""
    import torch

    ops = torch.ops.modewise
    h, w, c = size
    n = h * w
    torch.manual_seed(0)
    x, v = torch.randn(batch, h, w, c), torch.randn(batch, n, c)
    n1, n2 = balanced(n)
    matrix = lambda rows, columns: torch.randn(rows, columns) / math.sqrt(columns)
    heads = lambda t: t.unsqueeze(2)
    if form == "dense":
        tensors = x, v, matrix(c, c), torch.randn(c), matrix(n, c), torch.randn(n)

        def ours(x, v, w1, b1, w2, b2):
            hidden = torch.relu(ops.linear(x.flatten(1, 2), w1, b1))
            left = torch.cat([hidden, torch.ones_like(hidden[..., :1])], -1)
            right = torch.cat([w2, b2[:, None]], -1)[None]
            return ops.synthesized_attention(heads(v), heads(left), heads(right), None, None, n)

        def plain(x, v, w1, b1, w2, b2):
            hidden = torch.relu(torch.nn.functional.linear(x.flatten(1, 2), w1, b1))
            return torch.softmax(torch.nn.functional.linear(hidden, w2, b2), -1) @ v
    elif form == "tensor":
        tensors = x, v, matrix(n, h), matrix(n, w), torch.randn(c) / math.sqrt(c)

        def ours(x, v, ah, aw, ac):
            left = ops.matmul(ah, ops.matmul(x, ac[:, None]).squeeze(-1))
            return ops.synthesized_attention(heads(v), heads(left), heads(aw[None]), None, None, n)

        def plain(x, v, ah, aw, ac):
            return torch.softmax(ah @ (x @ ac) @ aw.T, -1) @ v
    elif form == "random":
        tensors = v, torch.randn(n, n)
        ours = lambda v, r: ops.synthesized_attention(heads(v), None, None, r[None], torch.ones(1, 1, 1), n)
        plain = lambda v, r: torch.softmax(r, -1) @ v
    elif form == "factorized-random":
        tensors = v, torch.randn(n1, n1), torch.randn(n2, n2)
        ours = lambda v, a, b: ops.synthesized_attention(heads(v), None, None, a[None], b[None], n)
        plain = lambda v, a, b: torch.softmax(torch.kron(a, b), -1) @ v
    elif form == "product-random":
        tensors = v, torch.randn(n1, n1), torch.randn(n2, n2)

        def ours(v, a, b):
            folded = ops.mode_product(v.view(batch, n1, n2, c), torch.softmax(a, -1), 0)
            return ops.mode_product(folded, torch.softmax(b, -1), 1).view(batch, n, c)

        plain = lambda v, a, b: torch.kron(torch.softmax(a, -1), torch.softmax(b, -1)) @ v
    else:  # mixture
        tensors = x, v, matrix(n, h), matrix(n, w), torch.randn(c) / math.sqrt(c), torch.randn(n1, n1), torch.randn(n2, n2), torch.zeros(2)

        def ours(x, v, ah, aw, ac, a, b, theta):
            share = torch.softmax(theta, 0)
            left = ops.matmul(ah, ops.matmul(x, ac[:, None]).squeeze(-1)) * share[0]
            return ops.synthesized_attention(heads(v), heads(left), heads(aw[None]), (a * share[1])[None], b[None], n)

        def plain(x, v, ah, aw, ac, a, b, theta):
            share = torch.softmax(theta, 0)
            return torch.softmax(share[0] * (ah @ (x @ ac) @ aw.T) + share[1] * torch.kron(a, b), -1) @ v
    return tensors, ours, plain


FORMS = ["dense", "tensor", "random", "factorized-random", "product-random", "mixture"]


def step_of(call, tensors, train):
    import torch

    tensors = [t.clone().requires_grad_(train) for t in tensors]

    def step():
        if not train:
            with torch.no_grad():
                return call(*tensors)
        out = call(*tensors)
        out.backward(torch.ones_like(out))
        for t in tensors:
            t.grad = None
        return out

    return step


def load(options):
    import torch

    torch.set_num_threads(options.threads)
    torch.ones(16).exp()  # libtorch selects its kernels now, before our library switches it to AVX2
    torch.ops.load_library(str(options.build / "lib" / "libmodewise_ops.so"))
    return torch


def time_form(options, form, name, train):
    torch = load(options)
    tensors, ours, plain = make(form, tuple(map(int, name.split("x"))), MAPS[name])
    torch._dynamo.reset()
    steps = {"ours": step_of(ours, tensors, train), "eager": step_of(plain, tensors, train),
             "compile": step_of(torch.compile(plain), tensors, train)}
    results = {kind: step() for kind, step in steps.items()}
    torch.testing.assert_close(results["ours"].squeeze(2).reshape_as(results["eager"]), results["eager"], rtol=2e-4, atol=2e-4)
    repeats = {}
    for kind, step in steps.items():
        start = time.perf_counter()
        step()
        repeats[kind] = max(1, int(0.02 / (time.perf_counter() - start)))
    times = {kind: [] for kind in steps}
    for _ in range(options.rounds):
        for kind, step in steps.items():
            start = time.perf_counter()
            for _ in range(repeats[kind]):
                step()
            times[kind].append((time.perf_counter() - start) / repeats[kind])
    return {kind: 1e3 * statistics.median(t) for kind, t in times.items()}


def memory_case(options):
    """Child process: bytes beyond the inputs of one training step, after a small map as warm-up of threads and libraries."""
    load(options)
    form, name, kind = options.case

    def step_at(size):
        tensors, ours, plain = make(form, size, 1)
        return step_of(ours if kind == "ours" else plain, tensors, True)

    step_at((4, 4, 64))()
    step = step_at(tuple(map(int, name.split("x"))))
    peak = lambda: next(int(line.split()[1]) << 10 for line in open("/proc/self/status") if line.startswith("VmHWM"))
    with open("/proc/self/clear_refs", "w") as file:
        file.write("5")
    before = peak()
    step()
    print(json.dumps(peak() - before))


def memory(options):
    print("| type | map | ours MiB | eager MiB | ratio |\n|---|---|---|---|---|")
    for form in ("factorized-random", "product-random", "mixture"):
        for name in ("16x16x64", "32x32x64", "64x64x64"):
            taken = [json.loads(subprocess.run([sys.executable, __file__, "--build", options.build, "--threads", str(options.threads),
                                                "--case", form, name, kind], capture_output=True, text=True, check=True).stdout) / 2**20
                     for kind in ("ours", "eager")]
            print(f"| {form} | {name} | {taken[0]:.1f} | {taken[1]:.1f} | {taken[1] / max(taken[0], 0.1):.1f} |", flush=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--build", type=pathlib.Path, default=pathlib.Path(__file__).resolve().parents[1] / "build")
    parser.add_argument("--threads", type=int, default=os.cpu_count())
    parser.add_argument("--rounds", type=int, default=15)
    parser.add_argument("--maps", nargs="+", default=list(MAPS), choices=list(MAPS))
    parser.add_argument("--forms", nargs="+", default=FORMS, choices=FORMS)
    parser.add_argument("--memory", action="store_true")
    parser.add_argument("--case", nargs=3, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.case:
        return memory_case(options)
    if options.memory:
        return memory(options)
    print("| type | map, batch | step | ours ms | eager ms | compile ms | eager / ours | compile / ours |\n|---|---|---|---|---|---|---|---|")
    for form in options.forms:
        for name in options.maps:
            for train in (False, True):
                t = time_form(options, form, name, train)
                print(f"| {form} | {name}, {MAPS[name]} | {'training' if train else 'inference'} | {t['ours']:.2f} | {t['eager']:.2f} | "
                      f"{t['compile']:.2f} | {t['eager'] / t['ours']:.2f} | {t['compile'] / t['ours']:.2f} |", flush=True)


if __name__ == "__main__":
    main()
