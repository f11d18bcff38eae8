"""What modewise does on a CUDA device: operators and tasks against the CPU, the demo, and times beside torch's attention.

    MODEWISE_PYTHON=/path/of/a/python/with/a/CUDA/torch ./dev gpu

Writes a report in Markdown, to attach to a bug report. The exit status is 1 if a comparison failed.
"""

import argparse
import math
import os
import pathlib
import re
import statistics
import subprocess
import sys
import tempfile
import time

import torch

ROOT = pathlib.Path(__file__).resolve().parent.parent


def machine():
    """Name, memory, driver and compute capability of each device; versions."""
    lines = [f"torch {torch.__version__}, CUDA {torch.version.cuda}, Python {sys.version.split()[0]}"]
    for index in range(torch.cuda.device_count()):
        found = torch.cuda.get_device_properties(index)
        lines.append(f"cuda:{index}: {found.name}, {found.total_memory / 2**30:.0f} GiB, compute capability {found.major}.{found.minor}")
    smi = subprocess.run(["nvidia-smi", "--query-gpu=driver_version", "--format=csv,noheader"], capture_output=True, text=True, check=False)
    return [*lines, f"driver {smi.stdout.split()[0] if smi.stdout.split() else 'unknown'}"]


def tests(name, build):
    """Summary and failures of a test file on the device."""
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "--tb=short", str(ROOT / "tests" / "python" / name)]
    done = subprocess.run(command, capture_output=True, text=True, check=False,
                          env={**os.environ, "MODEWISE_TEST_DEVICE": "cuda", "MODEWISE_BUILD": str(build)})
    summary = done.stdout.strip().splitlines()[-1] if done.stdout.strip() else done.stderr.strip()
    return done.returncode == 0, summary, re.findall(r"^(?:FAILED|ERROR) .*", done.stdout, re.MULTILINE), done.stdout


def demo(build):
    began = time.perf_counter()
    with tempfile.TemporaryDirectory() as folder:
        command = [str(build / "bin" / "modewise"), "demo", "--device", "cuda", "--out", folder + "/demo"]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
    return done.returncode == 0, f"exit {done.returncode} after {time.perf_counter() - began:.0f} s", done.stderr.strip().splitlines()[-5:]


def milliseconds(call):
    """Median of 10 calls after 3 warm-up calls."""
    for _ in range(3):
        call()
    times = []
    for _ in range(10):
        torch.cuda.synchronize()
        began = time.perf_counter()
        call()
        torch.cuda.synchronize()
        times.append(1000 * (time.perf_counter() - began))
    return statistics.median(times)


def times(build, heads=16, width=64):
    """Rows (tokens, kind, forward ms, forward and backward ms) in bfloat16."""
    torch.ops.load_library(str(build / "lib" / "libmodewise_ops.so"))
    attention = torch.ops.modewise.tensor_attention
    compiled = torch.compile(lambda q, k, v: torch.nn.functional.scaled_dot_product_attention(q, k, v, is_causal=True))
    for tokens in (1024, 4096, 32768):
        fold = [0, *[32] * max(1, math.ceil(math.log(tokens, 32)) - 1)]
        q, k, v = (torch.randn(1, tokens, heads, width, device="cuda", dtype=torch.bfloat16, requires_grad=True) for _ in range(3))
        latents = torch.zeros(len(fold) - 1, heads, 1, width, device="cuda", dtype=torch.bfloat16, requires_grad=True)
        turned = [x.transpose(1, 2) for x in (q, k, v)]
        calls = {
            "torch, scaled_dot_product_attention": lambda: torch.nn.functional.scaled_dot_product_attention(*turned, is_causal=True),
            "torch.compile of it": lambda: compiled(*turned),
            "modewise, axial": lambda: attention(q, k, v, None, None, form="axial", fold=fold),
            "modewise, summary": lambda: attention(q, k, v, latents, None, form="summary", fold=fold, window=64),
        }
        for name, call in calls.items():
            with torch.no_grad():
                forward = milliseconds(call)
            yield tokens, name, forward, milliseconds(lambda call=call: call().sum().backward())


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--build", type=pathlib.Path, default=ROOT / "build")
    parser.add_argument("--out", type=pathlib.Path, default=ROOT / "build" / "gpu-report.md")
    options = parser.parse_args()
    if not torch.cuda.is_available():
        sys.exit(f"gpu_check: torch {torch.__version__} finds no CUDA device; give a Python with a CUDA build of torch in MODEWISE_PYTHON")
    lines, passed = ["# modewise on a GPU", "", *machine(), ""], True
    for name in ("on_a_device.py", "test_device_option.py"):
        good, summary, failures, output = tests(name, options.build)
        passed = passed and good
        lines += [f"## {name}: {summary}", "", *failures, ""]
        if not good:
            lines += ["```", output[-8000:], "```", ""]
    good, summary, last = demo(options.build)
    passed = passed and good
    lines += [f"## Demo: {summary}", "", *([] if good else last), "", "## Times, bfloat16, 16 heads of 64", "", "| tokens | | forward ms | forward and backward ms |", "|---|---|---|---|"]
    lines += [f"| {tokens:,} | {name} | {forward:.2f} | {both:.2f} |" for tokens, name, forward, both in times(options.build)]
    options.out.write_text("\n".join(lines) + "\n")
    print("\n".join(lines))
    print(f"\nreport: {options.out}", file=sys.stderr)
    sys.exit(0 if passed else 1)


if __name__ == "__main__":
    main()
