"""Errors of the operators and of plain PyTorch in the same dtype against float64, for results and gradients.

Tensors are rounded to the dtype first, so that the float64 reference (plain PyTorch) has the same inputs. An error is the RMS of the
differences over the RMS of the exact values, over all seeds; of several results or gradients the one with the highest ratio is
printed by name. Prints a Markdown table; * marks ratios above --limit.

    python benchmarks/operator_errors.py [--build build] [--seeds 5] [--only linear ...] [--limit 1.05] [--every]
"""

import argparse
import math
import os
import pathlib
import sys

import machine

TYPES = ("float32", "bf16")


def squares(values, exact):
    """Mean squares of the differences and of the exact values."""
    return (values.double() - exact).square().mean().item(), exact.square().mean().item()


def run(function, tensors, weights_of):
    """Results and gradients by name."""
    import torch

    leaves = {name: t.detach().clone().requires_grad_(weights_of is not None) for name, t in tensors.items()}
    out = function(*leaves.values())
    out = list(out) if isinstance(out, (tuple, list)) else [out]
    results = {f"result {i + 1}" if len(out) > 1 else "result": o.detach() for i, o in enumerate(out)}
    chosen = [o for o in out if o.requires_grad]
    if not chosen:
        return results, {}
    above = [weights_of(i, o).to(o.dtype) for i, o in enumerate(chosen)]
    grads = torch.autograd.grad(chosen, list(leaves.values()), above, allow_unused=True)
    return results, {name: g for name, g in zip(leaves, grads) if g is not None}


def measure(make, name, dtype, seeds):
    """{(kind, name of the value): [ours, plain, exact]}, sums of mean squares over the seeds."""
    import torch

    from operator_cases import STARTS, Draw

    sums = {}
    for seed in range(seeds):
        draw = Draw(seed)
        tensors, ours, plain = make(draw)
        tensors = {key: t.to(dtype) for key, t in tensors.items()}
        above = {}

        def weights_of(i, out):  # the same for each, rounded to the narrow dtype
            if i not in above:
                above[i] = (torch.ones(out.shape) if name in STARTS else draw(*out.shape)).to(dtype)
            return above[i]

        wanted = weights_of if differentiable(name) else None
        results = [run(f, {key: t.to(as_type) for key, t in tensors.items()}, wanted)
                   for f, as_type in ((ours, dtype), (plain, dtype), (plain, torch.float64))]
        for kind, (own, peer, exact) in zip(("result", "gradient"), zip(*results)):
            for key in exact:
                (a, size), (b, _) = squares(own[key], exact[key]), squares(peer[key], exact[key])
                total = sums.setdefault((kind, key), [0.0, 0.0, 0.0])
                sums[kind, key] = [total[0] + a, total[1] + b, total[2] + size]
    return sums


def differentiable(name):
    return name.split(",")[0] not in ("adam_step", "update_moments", "summary_step", "summary_join", "token_losses")


def ratio(errors):
    ours, plain, _ = errors
    return math.sqrt(ours / plain) if plain > 0 else 1.0 if ours == 0 else math.inf


def worst(sums, kind):
    """(name, errors) of the highest ratio; values that are 0 up to rounding have no relative error."""
    of_kind = {name: errors for (k, name), errors in sums.items() if k == kind}
    largest = max((errors[2] for errors in of_kind.values()), default=0)
    real = {name: errors for name, errors in of_kind.items() if errors[2] > 1e-20 * largest}
    return sorted(real.items(), key=lambda item: -ratio(item[1]))


def cells(errors, limit):
    ours, plain, exact = errors
    mark = " *" if ratio(errors) > limit else ""
    return f"{math.sqrt(ours / exact):.2e} | {math.sqrt(plain / exact):.2e} | {ratio(errors):.3f}{mark}"


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--build", type=pathlib.Path, default=pathlib.Path(__file__).resolve().parents[1] / "build")
    parser.add_argument("--threads", type=int, default=os.cpu_count())
    parser.add_argument("--seeds", type=int, default=5)
    parser.add_argument("--only", nargs="+", default=[""], help="prefixes of the operators to run")
    parser.add_argument("--limit", type=float, default=1.05)
    parser.add_argument("--every", action="store_true", help="print a row for each result and gradient")
    options = parser.parse_args()

    import torch

    os.environ["MODEWISE_BUILD"] = str(options.build)
    torch.ops.load_library(str(options.build / "lib" / "libmodewise_ops.so"))
    from operator_cases import CASES, FLOAT32_ONLY

    torch.set_num_threads(options.threads)
    print(f"{machine.line(machine.build_info(options.build))}; torch {torch.__version__}, {options.seeds} seeds\n")
    print("| operator | value | float32 modewise | torch | ratio | value | bf16 modewise | torch | ratio |\n" + "|---" * 9 + "|")
    above = []
    for name, make in CASES.items():
        if not any(name.startswith(start) for start in options.only):
            continue
        sums = {kind: measure(make, name, torch.float32 if kind == "float32" else torch.bfloat16, options.seeds)
                for kind in TYPES if kind == "float32" or name not in FLOAT32_ONLY}
        for kind in ("result", "gradient"):
            found = [worst(sums.get(t, {}), kind) for t in TYPES]
            if not found[0]:
                continue
            for row in range(len(found[0]) if options.every else 1):
                parts = [f"{f[row][0]} | {cells(f[row][1], options.limit)}" if row < len(f) else " | | | " for f in found]
                print(f"| {name} | {' | '.join(parts)} |", flush=True)
            above += [f"{name} ({t}, {kind}: {f[0][0]})" for t, f in zip(TYPES, found) if f and ratio(f[0][1]) > options.limit]
    print(f"\nabove {options.limit}: {', '.join(above) or 'none'}")


if __name__ == "__main__":
    sys.exit(main())
