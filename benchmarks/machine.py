"""Machine description of the benchmarks, from `modewise info`."""

import json
import subprocess


def build_info(build, *options):
    """JSON of `modewise info` of a build."""
    command = [str(build / "bin" / "modewise"), "info", "--json", *options]
    return json.loads(subprocess.run(command, check=True, capture_output=True, text=True).stdout)


def family():
    """CPU family and model: names of EPYC processors are ambiguous."""
    with open("/proc/cpuinfo") as lines:
        fields = {key.strip(): value.strip() for key, _, value in (line.partition(":") for line in lines)}
    return f" (family {fields['cpu family']}, model {fields['model']})" if "cpu family" in fields and "model" in fields else ""


def line(info):
    """Processor, instruction set, and measured rates of one core if present."""
    parts = [info["machine"]["processor"] + family(), f"loops for {info['instruction_set']}"]
    if "rates" in info:
        rates = info["rates"]
        parts.append(f"one core: {rates['float32_peak_gflops']:.0f} GF/s of float32")
        for kind in ("pairs", "tiles"):
            if rates[f"bf16_{kind}_peak_gflops"]:
                parts.append(f"{rates[f'bf16_{kind}_peak_gflops']:.0f} of bf16 {kind}")
        parts.append(f"GEMM micro-kernel {rates['float32_tile_gflops']:.0f} and {rates['bf16_tile_gflops']:.0f}")
        parts.append(f"copies {rates['copy_gigabytes']:.0f} GB/s")
    return ", ".join(parts)


def peak(info, precision):
    """Peak GF/s of one core; for bf16 that of pairs or tiles if the loops use them."""
    kind = {"avx512bf16": "bf16_pairs", "amx": "bf16_tiles"}.get(info["instruction_set"]) if precision == "bf16" else None
    return info["rates"][f"{kind or 'float32'}_peak_gflops"]
