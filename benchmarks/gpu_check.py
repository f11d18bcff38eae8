"""What modewise does on a CUDA device: operators and tasks against the CPU, the demo, and times beside torch's attention.

    MODEWISE_PYTHON=/path/of/a/python/with/a/CUDA/torch ./dev gpu

Writes a report in Markdown, to attach to a bug report. The exit status is 1 if a comparison failed.
"""

import argparse
import os
import pathlib
import re
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


def times():
    """The tables of gpu_times.py, from a process of its own, whose compilers may fail without the report."""
    command = [sys.executable, str(ROOT / "benchmarks" / "gpu_times.py")]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    return done.stdout.splitlines() if done.returncode == 0 else ["```", *done.stderr.splitlines()[-20:], "```"]


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
    lines += [f"## Demo: {summary}", "", *([] if good else last), "", "## Times", "", *times()]
    options.out.write_text("\n".join(lines) + "\n")
    print("\n".join(lines))
    print(f"\nreport: {options.out}", file=sys.stderr)
    sys.exit(0 if passed else 1)


if __name__ == "__main__":
    main()
