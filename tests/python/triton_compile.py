#!/usr/bin/env python3
"""Compiles the Triton kernels for NVIDIA GPUs, without one, and lists what ptxas says of them.

    tests/python/triton_compile.py [--write] [--quick] [--arch 90] [KERNEL …]

Prints registers, bytes of spilled registers, bytes of shared memory and of the widest load of global memory for each kernel, type,
sample and architecture, and compares them with triton_compiled.toml: the exit status is 1 if a kernel needs more than there. --write
rewrites the file. The kernels get the arguments with which the operators launch them: SAMPLES calls the operators on CPU tensors of
typical sizes, and each launch is compiled instead of run.
"""

import argparse
import contextlib
import io
import os
import pathlib
import re
import sys
import tempfile
import tomllib

ROOT = pathlib.Path(__file__).resolve().parents[2]
TABLE = pathlib.Path(__file__).with_name("triton_compiled.toml")
MEASURES = ("registers", "spilled", "shared", "load")
# Shared memory of a program at most, and instructions of tensor cores, by compute capability.
SHARED = {80: 166_912, 90: 232_448, 100: 232_448}
TENSOR_CORES = re.compile(r"mma\.sync|wgmma\.mma_async|tcgen05\.mma")

if __name__ == "__main__":
    os.environ.setdefault("MODEWISE_BUILD", str(ROOT / "build"))
    sys.path.insert(0, str(ROOT / "python"))
assert os.environ.get("TRITON_INTERPRET") != "1", "an interpreted kernel cannot be compiled"

import torch  # noqa: E402
import triton  # noqa: E402
from triton.backends.compiler import GPUTarget  # noqa: E402
from triton.compiler import ASTSource, make_backend  # noqa: E402
from triton.runtime.jit import create_function_from_signature  # noqa: E402

from modewise.triton import launcher  # noqa: E402
from ops_records import step_call  # noqa: E402
from ops_sequence_samples import partial_blocks, step_case  # noqa: E402

ops = torch.ops.modewise
TYPES = (torch.bfloat16, torch.float32)


def attention(dtype, n, d, heads=4, groups=4, causal=False, mask=False, m=0, e=0):
    """dot_product_attention and its gradients, as axial attention calls it."""
    make = lambda *shape: torch.zeros(shape, dtype=dtype, requires_grad=True)
    keys = torch.ones(2, heads, 1, m or n, dtype=torch.bool) if mask else None
    out = ops.dot_product_attention(make(2, n, heads, d), make(2, m or n, groups, d), make(2, m or n, groups, e or d), keys, causal, d**-0.5)
    out.sum().backward()


def product(dtype, heads, d, *sizes):
    """mode_product and its gradients along each mode, as Kronecker attention calls it."""
    x = torch.zeros(2, *sizes, heads * d, dtype=dtype, requires_grad=True)
    for mode, n in enumerate(sizes):
        ops.mode_product(x, torch.zeros(2, heads, n, n, dtype=dtype, requires_grad=True), mode).sum().backward()


def scores(dtype, heads, d, n, m=0, masked=False):
    """mode_scores and its gradients."""
    q, k = (torch.zeros(2, size, heads * d, dtype=dtype, requires_grad=True) for size in (n, m or n))
    keys = torch.ones(2, m or n, dtype=torch.bool) if masked else None
    ops.mode_scores(q, k, heads, keys).sum().backward()


def pool(dtype, channels, *sizes, masked=False):
    """mode_pool and its gradient."""
    pooled = ops.mode_pool(torch.zeros(2, *sizes, channels, dtype=dtype, requires_grad=True), "mean", torch.ones(2, *sizes, dtype=torch.bool) if masked else None)
    torch.autograd.backward(pooled, [torch.zeros_like(t) for t in pooled])


def summary(dtype, n, heads, groups, d, fold, window, slots, rotary=True):
    """summary_attention and its gradients."""
    make = lambda *shape: torch.zeros(shape, dtype=dtype)
    q, k, v, latents = make(1, n, heads, d), make(1, n, groups, d), make(1, n, groups, d), make(len(fold) - 1, groups, slots, d)
    options = (torch.ones(len(fold), d // 2, dtype=torch.float64) if rotary else None, None, fold, window, 0, d**-0.5, [])
    out, sums = ops.summary_attention(q, k, v, latents, *options)
    ops.summary_attention_backward(out, q, k, v, latents, out, sums, *options)


def step(dtype, groups, d, summaries):
    """summary_step of one token, and summary_join."""
    rand = lambda *shape: torch.zeros(shape, dtype=dtype)
    arguments, options = step_case(rand, 2, 1, 2 * groups, groups, d, d, first=500, window=64, slots=(31, 31), r=summaries, codes=3)
    step_call(*arguments, **options)
    ops.summary_join(rand(2, 32, groups, d), rand(2, 32, groups, d), *partial_blocks(rand, 2, groups, summaries, d, d))


# Typical sizes. Those in QUICK are compiled in every run of the tests.
SAMPLES = {
    "attention 32 × 128, causal": lambda dtype: attention(dtype, 32, 128, causal=True),
    "attention 64 × 128": lambda dtype: attention(dtype, 64, 128),
    "attention 64 × 64, groups": lambda dtype: attention(dtype, 64, 64, groups=2),
    "attention 21 × 24, masked": lambda dtype: attention(dtype, 21, 24, mask=True, m=17),
    "product 28³, 4 × 32": lambda dtype: product(dtype, 4, 32, 28, 28, 28),
    "product 32³, 8 × 64": lambda dtype: product(dtype, 8, 64, 32, 32, 32),
    "product 21 × 130, 3 × 20": lambda dtype: product(dtype, 3, 20, 21, 130),
    "scores 28, 4 × 32": lambda dtype: scores(dtype, 4, 32, 28),
    "scores 256, 8 × 128, masked": lambda dtype: scores(dtype, 8, 128, 256, masked=True),
    "pool 28³ × 128": lambda dtype: pool(dtype, 128, 28, 28, 28),
    "pool 5 × 300 × 17, masked": lambda dtype: pool(dtype, 17, 5, 300, masked=True),
    "summary 32³, 64": lambda dtype: summary(dtype, 2048, 4, 4, 64, [2, 32, 32], 64, 4),
    "summary 32³, 128, groups": lambda dtype: summary(dtype, 2048, 4, 2, 128, [2, 32, 32], 64, 4),
    "summary 9 × 7, 24": lambda dtype: summary(dtype, 83, 2, 2, 24, [2, 9, 7], 11, 3, rotary=False),
    "step, 128": lambda dtype: step(dtype, 4, 128, 4),
    "step, 64": lambda dtype: step(dtype, 4, 64, 1),
}
QUICK = ["attention 32 × 128, causal", "product 28³, 4 × 32", "scores 28, 4 × 32", "pool 28³ × 128", "summary 32³, 64", "step, 128"]


def launches_of(sample, dtype):
    """[(kernel, arguments, constants)] with which the operators of a sample launch kernels."""
    recorded = []

    class Kernel:
        def __init__(self, name):
            self.name = name

        def __getitem__(self, grid):
            return lambda *arguments, **constants: recorded.append((self.name, arguments, constants))

    original, launcher.kernel = launcher.kernel, Kernel
    try:
        SAMPLES[sample](dtype)
    finally:
        launcher.kernel = original
    return recorded


def compiled(name, arguments, constants, capability):
    """The kernel as Triton compiles it when it is launched on a GPU: aligned pointers and integers are known to be."""
    function, target = launcher.kernel(name), GPUTarget("cuda", capability, 32)
    backend = make_backend(target)
    bound, types, _ = create_function_from_signature(function.signature, function.params, backend)(*arguments, **constants)
    options, signature, values, attributes = function._pack_args(backend, constants, bound, types, None)
    log = io.StringIO()
    with contextlib.redirect_stdout(log):
        kernel = triton.compile(ASTSource(function, signature, values, attributes), target=target, options=options.__dict__)
    return kernel, log.getvalue()


def measure(name, arguments, constants, capability, dtype):
    """{measure: number}; an AssertionError if the kernel cannot run well on any device of the capability."""
    kernel, log = compiled(name, arguments, constants, capability)
    code = kernel.asm["ptx"]
    assert kernel.metadata.shared <= SHARED[capability], f"{name}: {kernel.metadata.shared} bytes of shared memory, the device has {SHARED[capability]}"
    assert dtype != torch.float32 or "tf32" not in code, f"{name}: a product of float32 is rounded to TF32"
    if re.search(r"tt\.dot .*xbf16", kernel.asm["ttir"]):
        assert TENSOR_CORES.search(code), f"{name}: no tensor-core instruction in a product of bfloat16"
    stack, stores, loads = (int(n) for n in re.search(r"(\d+) bytes stack frame, (\d+) bytes spill stores, (\d+) bytes spill loads", log).groups())
    assert not kernel.metadata.global_scratch_size, f"{name}: needs {kernel.metadata.global_scratch_size} bytes of global memory"
    widths = [int(bits) * (int(lanes) if lanes else 1) // 8 for lanes, bits in re.findall(r"ld\.global[\w.:]*?(?:\.v(\d))?\.b(\d+)", code)]
    widths += [int(size, 0) for size in re.findall(r"cp\.async\.c[ag]\.shared\.global \[[^]]+\], \[[^]]+\], (\w+)", code)]
    return dict(registers=int(re.search(r"Used (\d+) registers", log).group(1)), spilled=max(stack, stores, loads), shared=kernel.metadata.shared, load=max(widths, default=0))


def register(cache):
    """Operators on CPU tensors launch kernels from now on; what is compiled goes to a folder of its own."""
    os.environ["TRITON_CACHE_DIR"] = cache
    os.environ["TRITON_DEFAULT_FP_FUSION"] = "1"  # the default until Triton 3.9, which else warns
    triton.knobs.nvidia.dump_ptxas_log = True
    launcher.check_kernels = lambda op, like: True
    launcher.register("CPU")
    torch.ops.load_library(str(pathlib.Path(os.environ["MODEWISE_BUILD"]) / "lib" / "libmodewise_ops.so"))


def rows(capabilities, samples, types, kernels=()):
    """Yields (kernel, "sample, type, sm_…", its measures or the reason why there are none) for each launch of a kernel with other constants."""
    for sample in samples:
        for dtype in types:
            seen = []
            for name, arguments, constants in launches_of(sample, dtype):
                if (name, constants) in seen or (kernels and name not in kernels):
                    continue
                seen.append((name, constants))
                number = sum(other == name for other, _ in seen)
                for capability in capabilities:
                    variant = f"{sample}{f' ({number})' if number > 1 else ''}, {str(dtype).removeprefix('torch.')}, sm_{capability}"
                    try:
                        yield name, variant, measure(name, arguments, constants, capability, dtype)
                    except Exception as error:  # noqa: BLE001 — whatever the compiler raises
                        yield name, variant, f"{type(error).__name__}: {error}"


def fault(row, recorded):
    """What is worse than in the table, or ""."""
    if isinstance(row, str):
        return row
    if recorded is None:
        return "is not in triton_compiled.toml: write it again"
    wanted = dict(zip(MEASURES, recorded))
    found = [f"{row[name]} instead of {wanted[name]} {unit}" for name, unit in
             [("registers", "registers"), ("spilled", "bytes of spilled registers"), ("shared", "bytes of shared memory")] if row[name] > wanted[name]]
    if row["load"] < wanted["load"]:
        found.append(f"loads of {row['load']} instead of {wanted['load']} bytes")
    return ", ".join(found)


def text_of(table):
    lines = ["# Written by tests/python/triton_compile.py --write: registers, bytes of spilled registers, bytes of shared memory, bytes of",
             f"# the widest load of global memory. Compiled by Triton {triton.__version__}."]
    for kernel in sorted(table):
        lines += ["", f"[{kernel}]"] + [f'"{variant}" = [{", ".join(str(row[m]) for m in MEASURES)}]' for variant, row in table[kernel].items()]
    return "\n".join(lines) + "\n"


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("kernels", nargs="*")
    parser.add_argument("--write", action="store_true", help="rewrite triton_compiled.toml, or the rows of what is chosen")
    parser.add_argument("--quick", action="store_true", help="a sample of each operator, in bfloat16")
    parser.add_argument("--arch", type=int, nargs="+", default=list(SHARED), help="compute capabilities (default 80 90 100)")
    options = parser.parse_args()
    recorded = tomllib.loads(TABLE.read_text()) if TABLE.exists() else {}
    table, faults = {}, []
    print(f"{'kernel':28} {'sample':60} registers spilled  shared load")
    with tempfile.TemporaryDirectory() as cache:
        register(cache)
        for kernel, variant, row in rows(options.arch, QUICK if options.quick else SAMPLES, TYPES[: 1 if options.quick else 2], options.kernels):
            if isinstance(row, dict):
                table.setdefault(kernel, {})[variant] = row
                print(f"{kernel:28} {variant:60} {row['registers']:9} {row['spilled']:7} {row['shared']:7} {row['load']:4}", flush=True)
            found = fault(row, recorded.get(kernel, {}).get(variant))
            if found:
                faults.append(f"{kernel}, {variant}: {found}")
    spilled = [(kernel, variant) for kernel, found in table.items() for variant, row in found.items() if row["spilled"]]
    print(f"{sum(map(len, table.values()))} variants, {len(spilled)} of them spill registers")
    if options.write:
        part = options.kernels or options.quick or options.arch != list(SHARED)
        for kernel, rows_before in recorded.items() if part else ():
            before = {variant: dict(zip(MEASURES, row)) for variant, row in rows_before.items()}
            table[kernel] = before | table.get(kernel, {})
        TABLE.write_text(text_of(table))
        faults = [line for line in faults if "Error: " in line]  # what does not compile is not in the table
    print("\n".join(faults))
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main())
