"""Which kernels and instruction sets run here, and what they keep. For tests and comparisons, not for use inside a model."""

import torch

_ops = torch.ops.modewise


def kernel_summary() -> str:
    """A line an operator: "mode_product: strided reference", its kernels in the order in which they are tried."""
    out: str = _ops.kernel_summary()
    return out


def available_isas() -> list[str]:
    """Instruction sets that were built and that this CPU has, slowest first: "scalar", "avx2", "avx512", …"""
    out: list[str] = _ops.available_isas()
    return out


def active_isa() -> str:
    """The instruction set in use: the last of `available_isas`, or what the variable MODEWISE_ISA names."""
    out: str = _ops.active_isa()
    return out


def use_isa(isa: str) -> None:
    """Uses `isa` from now on, in the whole process. ValueError for one that this CPU or build lacks."""
    _ops.use_isa(isa)


def bits_promise() -> str:
    """One sentence: on which CPUs results have the bits that this process gives them. `import modewise` makes torch take
    its kernels for AVX2, where none of them ran before; ATEN_CPU_CAPABILITY=avx512 in the environment keeps those."""
    out: str = _ops.bits_promise()
    return out


def last_kernel(op: str) -> str:
    """The kernel that operator `op` ran last in this process, "" for none."""
    out: str = _ops.last_kernel(op)
    return out


def use_reference(on: bool) -> None:
    """Makes every operator run its formula in plain ATen while `on`, in the whole process."""
    _ops.use_reference(on)


def set_recompute_mode(on: bool) -> bool:
    """From now on, in this thread, whether operators keep little for the backward pass and compute the rest again there.
    The mode before. `modewise.nn.recompute` sets it for a block of code."""
    before: bool = _ops.set_recompute_mode(on)
    return before
