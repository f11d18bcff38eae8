"""What the tests of Triton kernels (on_triton_*.py) share. They run under the checked interpreter, by test_triton.py."""

import contextlib
import mmap
import os

import pytest
import torch

import checked_interpreter
from ops_records import ops
from modewise.triton import launcher

if os.environ.get("MODEWISE_SELF_TEST") == "0":  # triton_mutants.py: what the tests find by themselves
    launcher.check_kernels = lambda op, like: True
checked_interpreter.start()

# Largest norm of the difference, relative to the norm of the wanted tensor.
TOLERANCES = {torch.float64: 1e-12, torch.float32: 1e-5, torch.bfloat16: 1e-2}
NO_RESERVE = 0x4000  # MAP_NORESERVE of Linux: untouched pages take no memory
ALL_TYPES = pytest.mark.parametrize("dtype", TOLERANCES, ids=lambda dtype: str(dtype).removeprefix("torch."))


def in_turn(names, cases, ids=str):
    """Parametrizes by the cases and `dtype`: each case in one of the types, in turn; in the others with --long."""
    cases = [case if "," in names else (case,) for case in cases]
    return pytest.mark.parametrize([name.strip() for name in f"{names}, dtype".split(",")], [
        pytest.param(*case, dtype, id=f"{'-'.join(ids(value) for value in case)} {str(dtype).removeprefix('torch.')}", marks=[pytest.mark.long] * (i % 3 != j))
        for i, case in enumerate(cases) for j, dtype in enumerate(TOLERANCES)])  # fmt: skip


def assert_close(got, wanted, dtype, what="result"):
    """`wanted` is float64. Infinities and NaN must be at the same places, zeros of a whole tensor exact."""
    assert got.shape == wanted.shape, f"{what}: {tuple(got.shape)} instead of {tuple(wanted.shape)}"
    got, wanted = got.detach().double(), wanted.detach()
    assert torch.equal(got.isnan(), wanted.isnan()), f"{what}: {int(got.isnan().sum())} NaN instead of {int(wanted.isnan().sum())}"
    difference, norm = (got - wanted).nan_to_num().norm().item(), wanted.nan_to_num().norm().item()
    assert difference <= TOLERANCES[dtype] * norm, f"{what}: differs by {difference / norm if norm else difference:.1e} of its norm"


@contextlib.contextmanager
def kernels_replaced(replacement):
    """Launches call replacement(name, kernel, grid, arguments, constants) instead of the kernel."""
    original = launcher.kernel

    class Kernel:
        def __init__(self, name):
            self.name = name

        def __getitem__(self, grid):
            return lambda *arguments, **constants: replacement(self.name, original(self.name), grid, arguments, constants)

    launcher.kernel = Kernel
    try:
        yield
    finally:
        launcher.kernel = original


@contextlib.contextmanager
def launches():
    """A list of the launches: the arguments by the names of the kernel's parameters, `kernel` and `programs`."""
    recorded = []

    def record(name, kernel, grid, arguments, constants):
        recorded.append({"kernel": name, "programs": grid[0], **dict(zip(kernel.arg_names, arguments)), **constants})
        kernel[grid](*arguments, **constants)

    with kernels_replaced(record):
        yield recorded


def launch_again(launch, **changed):
    """Repeats a recorded launch with other arguments."""
    names = launcher.kernel(launch["kernel"]).arg_names
    launcher.kernel(launch["kernel"])[(launch["programs"],)](**{name: {**launch, **changed}[name] for name in names})


def ran(op):
    """Whether the last call of an operator ran its Triton kernel."""
    return ops.last_kernel(op) == "triton"


def far_apart(tensor, strides):
    """A copy with these strides, in memory that the system provides only where it is written: offsets beyond 2³¹ elements."""
    elements = sum((size - 1) * stride for size, stride in zip(tensor.shape, strides)) + 1
    memory = mmap.mmap(-1, elements * tensor.element_size(), mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS | NO_RESERVE)
    return torch.frombuffer(memory, dtype=tensor.dtype).as_strided(tensor.shape, strides).copy_(tensor)
