"""What the benchmarks say of the machine that they ran on, as `modewise info` tells it."""

import json
import subprocess


def told(build, *options):
    """The JSON of `modewise info` of a build."""
    command = [str(build / "bin" / "modewise"), "info", "--json", *options]
    return json.loads(subprocess.run(command, check=True, capture_output=True, text=True).stdout)


def family():
    """Family and model of the processor: the name alone does not tell one EPYC from another."""
    with open("/proc/cpuinfo") as lines:
        fields = {key.strip(): value.strip() for key, _, value in (line.partition(":") for line in lines)}
    return f" (family {fields['cpu family']}, model {fields['model']})" if "cpu family" in fields and "model" in fields else ""


def line(info):
    """Processor and instruction set, and what one core does where that was measured."""
    parts = [info["machine"]["processor"] + family(), f"loops for {info['instruction_set']}"]
    if "rates" in info:
        rates = info["rates"]
        parts.append(f"one core: {rates['float32_peak_gflops']:.0f} GF/s of float32")
        for kind in ("pairs", "tiles"):
            if rates[f"bf16_{kind}_peak_gflops"]:
                parts.append(f"{rates[f'bf16_{kind}_peak_gflops']:.0f} of bf16 {kind}")
        parts.append(f"our tile {rates['float32_tile_gflops']:.0f} and {rates['bf16_tile_gflops']:.0f}")
        parts.append(f"copies {rates['copy_gigabytes']:.0f} GB/s")
    return ", ".join(parts)


def peak(info, precision):
    """GF/s of one core: in bf16 of pairs or tiles where the loops use them."""
    kind = {"avx512bf16": "bf16_pairs", "amx": "bf16_tiles"}.get(info["instruction_set"]) if precision == "bf16" else None
    return info["rates"][f"{kind or 'float32'}_peak_gflops"]
