"""Kernels, instruction sets and recomputation. For tests and benchmarks, not for use inside a model."""

import torch

_ops = torch.ops.modewise


def kernel_summary() -> str:
    """A line per operator: "mode_product: triton strided reference", its kernels in the order they are tried."""
    out: str = _ops.kernel_summary()
    return out


def available_isas() -> list[str]:
    """Instruction sets of the build that this CPU supports, slowest first: "scalar", "avx2", "avx512", …"""
    out: list[str] = _ops.available_isas()
    return out


def active_isa() -> str:
    """The instruction set in use: the last of `available_isas`, or the value of MODEWISE_ISA."""
    out: str = _ops.active_isa()
    return out


def use_isa(isa: str) -> None:
    """Selects `isa` for the whole process. ValueError if this CPU or build lacks it."""
    _ops.use_isa(isa)


def bits_promise() -> str:
    """One sentence: the CPUs on which results have the same bits as in this process. `import modewise` selects torch's AVX2
    kernels unless torch kernels ran before; ATEN_CPU_CAPABILITY=avx512 in the environment keeps the AVX-512 ones."""
    out: str = _ops.bits_promise()
    return out


def last_kernel(op: str) -> str:
    """The last kernel that operator `op` ran in this process, "" for none."""
    out: str = _ops.last_kernel(op)
    return out


def use_reference(on: bool) -> None:
    """Makes every operator run its ATen reference while `on`, in the whole process."""
    _ops.use_reference(on)


def set_recompute_mode(on: bool) -> bool:
    """Sets, in this thread, whether operators save few activations (`on`) and recompute the others in the backward pass; returns
    the previous mode. `modewise.nn.recompute` sets it for a block of code."""
    before: bool = _ops.set_recompute_mode(on)
    return before
