"""Compiles the Triton kernels ahead of time, for programs without Python (modewise/ops/cuda/cubin_launcher.h).

    python -m modewise.triton.compile FOLDER

writes a cubin for each of ARCHITECTURES and a PTX text, for other GPUs, of each variant, and `index.json`. The variants are
those that the operators launch in the calls of `variants.py`. The same sources give the same bytes.
"""

import argparse
import concurrent.futures
import dataclasses
import hashlib
import json
import multiprocessing
import os
import pathlib
from collections.abc import Sequence
from typing import Any

import torch

# PTX and cubins of a newer assembler need a newer driver. 12.9 is that of sm_80 in Triton 3.9.
ARCHITECTURES = (80, 90, 100)
PTX_VERSION = 80
TYPES = {torch.bfloat16: "bf16", torch.float16: "fp16", torch.float32: "fp32", torch.float64: "fp64", torch.bool: "i1",
         torch.uint8: "u8", torch.int32: "i32", torch.int64: "i64"}  # fmt: skip


@dataclasses.dataclass(frozen=True)
class Variant:
    """A kernel for types of tensors and constants. Parameters are tensors, 64-bit integers, 32-bit sizes and float32 numbers,
    in this order."""

    kernel: str
    tensors: tuple[str, ...]
    constants: tuple[tuple[str, int], ...]
    types: tuple[str, ...]
    aligned: tuple[bool, ...]  # multiple of 16

    @property
    def key(self) -> str:
        """As key_of in cubin_launcher.cpp."""
        return " ".join([self.kernel, *self.tensors, *(f"{name}={value}" for name, value in self.constants)])

    @property
    def file(self) -> str:
        return f"{self.kernel}-{hashlib.sha256(self.key.encode()).hexdigest()[:12]}"


def launched() -> list[Variant]:
    """The variants that the calls launch, once each. Nothing runs: an implementation of modewise::launch records them."""
    from modewise.triton import variants

    found: dict[str, Variant] = {}

    def launch(kernel: str, tensors: Sequence[torch.Tensor], integers: Sequence[int], sizes: Sequence[int], numbers: Sequence[float],
               names: Sequence[str], constants: Sequence[int], programs: int) -> None:  # fmt: skip
        types = tuple(TYPES[x.dtype] for x in tensors)
        aligned = (*(True for _ in tensors), *(value != 0 and value % 64 == 0 for value in integers), *(False for _ in [*sizes, *numbers]))
        parameters = (*("*" + name for name in types), *("i64" for _ in integers), *("i32" for _ in sizes), *("fp32" for _ in numbers))
        variant = Variant(kernel, types, tuple(zip(names, constants)), parameters, aligned)
        other = found.setdefault(variant.key, variant)
        if other.aligned != aligned:  # both calls must fit
            found[variant.key] = dataclasses.replace(variant, aligned=tuple(a and b for a, b in zip(aligned, other.aligned)))

    library = torch.library.Library("modewise", "IMPL")
    library.impl("launch", launch, "CPU")
    library.impl("check_kernels", lambda op, like: True, "CPU")
    variants.call_all()
    library._destroy()
    return list(found.values())


def compiled(variant: Variant, architecture: int) -> dict[str, Any]:
    """Shared memory, threads and symbol, and the bytes of the cubin; for sm_80 of the PTX, too."""
    import triton
    from triton.backends.compiler import GPUTarget
    from triton.compiler import ASTSource

    from modewise.triton.launcher import kernel

    function = kernel(variant.kernel)
    options = dict(variant.constants)
    constants = {name: options.pop(name) for name in function.arg_names if name in options}
    names = [name for name in function.arg_names if name not in constants]
    if len(names) != len(variant.types):
        raise ValueError(f"{variant.kernel} has {len(names)} parameters, and its operator passes {len(variant.types)}")
    signature = {**dict(zip(names, variant.types)), **dict.fromkeys(constants, "constexpr")}
    aligned = {(function.arg_names.index(name),): [["tt.divisibility", 16]] for name, is_aligned in zip(names, variant.aligned) if is_aligned}
    if architecture == ARCHITECTURES[0]:
        options["ptx_version"] = PTX_VERSION
    source = ASTSource(function, {name: signature[name] for name in function.arg_names}, constants, aligned)
    made = triton.compile(source, target=GPUTarget("cuda", architecture, 32), options=options)
    made_with = made.metadata
    if made_with.global_scratch_size or made_with.profile_scratch_size:
        raise ValueError(f"{variant.key}: needs scratch memory, which the launcher does not give")
    return {"symbol": made_with.name, "threads": 32 * made_with.num_warps, "shared": made_with.shared,
            "cubin": made.asm["cubin"], "ptx": made.asm["ptx"].encode()}  # fmt: skip


def images(variant: Variant, folder: pathlib.Path) -> dict[str, Any]:
    """Writes the files of a variant; its entry of the index."""
    entry: dict[str, Any] = {}
    for architecture in ARCHITECTURES:
        try:
            made = compiled(variant, architecture)
        except Exception as error:  # noqa: BLE001 — those of Triton cannot be sent to another process
            raise RuntimeError(f"{variant.key} for sm_{architecture}: {error}") from None
        files = {f"sm_{architecture}": (f"{variant.file}.sm_{architecture}.cubin", made["cubin"])}
        if architecture == ARCHITECTURES[0]:
            files["ptx"] = (f"{variant.file}.ptx", made["ptx"])
        for name, (file, content) in files.items():
            (folder / file).write_bytes(content)
            entry[name] = {"file": file, "symbol": made["symbol"], "threads": made["threads"], "shared": made["shared"]}
    parameters = [kind + (":16" if is_aligned else "") for kind, is_aligned in zip(variant.types, variant.aligned)]
    return {"key": variant.key, "parameters": parameters, "images": entry}


def prepare() -> None:
    """Settings of Triton that the bytes depend on; before it is imported."""
    os.environ.update(TRITON_DISABLE_LINE_INFO="1", TRITON_DEFAULT_FP_FUSION="1")
    os.environ.pop("TRITON_INTERPRET", None)
    from triton import knobs

    os.environ["TRITON_PTXAS_BLACKWELL_PATH"] = knobs.nvidia.ptxas.path


def main(arguments: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(prog="python -m modewise.triton.compile", description=__doc__.splitlines()[0])
    parser.add_argument("folder", type=pathlib.Path)
    parser.add_argument("--only", default="", help="compile variants whose key begins with this text (default: all)")
    parser.add_argument("--processes", type=int, default=os.cpu_count(), help="processes (default: one per CPU)")
    options = parser.parse_args(arguments)
    prepare()
    options.folder.mkdir(parents=True, exist_ok=True)
    variants = [variant for variant in launched() if variant.key.startswith(options.only)]
    for old in options.folder.glob("*-*.*"):
        old.unlink()
    spawn = multiprocessing.get_context("spawn")  # threads of torch do not survive a fork
    with concurrent.futures.ProcessPoolExecutor(options.processes, spawn, prepare) as pool:
        entries = list(pool.map(images, variants, [options.folder] * len(variants)))
    (options.folder / "index.json").write_text(json.dumps({"kernels": entries}, indent=1) + "\n")


if __name__ == "__main__":
    main()
