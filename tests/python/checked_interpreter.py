"""Triton's interpreter with what it lacks: errors where a GPU would compute something else, and bfloat16 numbers that are right.

`start()` installs the checks and makes the operators launch their Triton kernels on CPU tensors, in a process that has
TRITON_INTERPRET=1. A kernel that breaks a rule ends with a `KernelFault`, which names the kernel, the program and the tensor:

- bfloat16 (`dot`, `cast`, `no_bfloat16`): dots multiply the numbers, casts round to nearest even, arithmetic is an error;
- dots of float32 without `ieee`, of too small a depth (`start`), or into a sum that is narrower than float32 (`dot`);
- lanes that a mask leaves undefined (`load`): NaN, the largest integer or True, instead of 0;
- bounds (`Tensor.outside`): an address must be an element of the tensor whose pointer it was computed from;
- races (`Launch.find_races`): no address is written twice, and none is read by another program, after it was written, or by another
  lane without a barrier before it is written;
- the grid (`Launch.run`): at most 65,535 programs in y and z.

Private functions of Triton are replaced, so its version is pinned; on_triton_canaries.py shows that each check works.
Not seen: the compiler (layouts, pipelining, fast exponentials) and the hardware.
"""

import contextlib
import dataclasses
import inspect
import os

import numpy as np

from triton_version import VERSION, missing

SHIFT = 48  # user addresses of x86-64 and AArch64 have fewer bits; the rest holds the number of the tensor

if os.environ.get("TRITON_INTERPRET") != "1" or missing():
    raise ImportError(f"needs TRITON_INTERPRET=1 and Triton {VERSION}: {missing() or 'TRITON_INTERPRET is not 1'}")

import triton.language as tl  # noqa: E402
from triton._C.libtriton import ir  # noqa: E402
from triton.backends.nvidia.compiler import min_dot_size  # noqa: E402
from triton.runtime import interpreter  # noqa: E402
from triton.runtime.interpreter import InterpreterBuilder, TensorHandle  # noqa: E402

stock = {name: getattr(InterpreterBuilder, name)
         for name in ("create_dot", "cast_impl", "create_fp_to_fp", "binary_op", "unary_op", "create_fma", "create_masked_load", "create_masked_store")}


class KernelFault(Exception):
    """A kernel does what a GPU leaves undefined, or what the rules of this project forbid."""


@dataclasses.dataclass
class Tensor:
    """A tensor argument of a launch."""

    name: str
    start: int
    itemsize: int
    steps: list  # (stride, size) of each dimension, largest stride first
    empty: bool

    @classmethod
    def of(cls, name, tensor):
        steps = sorted(((stride, size) for stride, size in zip(tensor.stride(), tensor.shape) if stride > 0 and size > 1), reverse=True)
        return cls(name, tensor.data_ptr(), tensor.element_size(), steps, tensor.numel() == 0)

    def outside(self, addresses):
        """How many addresses are not of an element. Gaps between the elements of a view do not belong to it."""
        if self.empty:
            return addresses.size
        rest, misplaced = np.divmod(addresses.astype(np.int64) - self.start, self.itemsize)
        misplaced = (misplaced != 0) | (rest < 0)
        for stride, size in self.steps:
            rest = rest - np.clip(rest // stride, 0, size - 1) * stride
        return int((misplaced | (rest != 0)).sum())


@dataclasses.dataclass
class Access:
    """A load or store of a program: the addresses of the lanes that its mask keeps."""

    tensor: str
    program: int
    order: int
    barriers: int  # of the program, before this access
    addresses: np.ndarray
    lanes: np.ndarray  # of each address; −1 if several lanes have it

    def once(self):
        """The access with each address once."""
        addresses, first, lanes = np.unique(self.addresses, return_index=True, return_counts=True)
        return dataclasses.replace(self, addresses=addresses, lanes=np.where(lanes == 1, self.lanes[first], -1))


def joined(accesses):
    """All addresses and lanes, and the index of the access of each."""
    index = np.repeat(np.arange(len(accesses)), [a.addresses.size for a in accesses])
    return np.concatenate([a.addresses for a in accesses]), np.concatenate([a.lanes for a in accesses]), index


class Launch:
    """A launch of a kernel: its tensors, and every access to them in order."""

    current = None

    def __init__(self, kernel):
        self.kernel, self.program, self.order, self.barriers = kernel, 0, 0, 0
        self.tensors, self.reads, self.writes = [None], [], []

    def fault(self, what):
        return KernelFault(f"{self.kernel}, program {self.program}: {what}")

    def convert(self, name, argument):
        """An argument as the kernel gets it. The upper bits of a pointer are the number of its tensor."""
        handle = interpreter._implicit_cvt(argument)
        if hasattr(argument, "data_ptr"):
            handle.handle.data = handle.handle.data | np.uint64(len(self.tensors) << SHIFT)
            self.tensors.append(Tensor.of(name, argument))
        return handle

    def access(self, what, pointers, mask):
        """Checks the bounds of a load or store. -> its Access, the pointers without the numbers of their tensors."""
        addresses = (pointers.data & np.uint64((1 << SHIFT) - 1)).astype(np.uint64)
        kept = np.broadcast_to(mask.data, pointers.data.shape)
        numbers, lanes = (pointers.data >> np.uint64(SHIFT))[kept], addresses[kept]
        name = ""
        for number in np.unique(numbers):
            if not 0 < number < len(self.tensors):
                raise self.fault(f"{what} of an address that no tensor is near")
            tensor = self.tensors[number]
            name = tensor.name
            outside = tensor.outside(lanes[numbers == number])
            if outside:
                raise self.fault(f"{what} of {tensor.name}: {outside} of {lanes.size} lanes are outside it")
        self.order += 1
        return Access(name, self.program, self.order, self.barriers, lanes, np.flatnonzero(kept)), TensorHandle(addresses, pointers.dtype)

    def find_races(self):
        """A launch writes an address once. A program reads only what no other program writes, and before it writes it. The lane that
        writes must be the one that has read, or there must be a barrier."""
        if not self.writes:
            return
        written, writing, by = joined(self.writes)
        order = np.argsort(written, kind="stable")
        written, writing, by = written[order], writing[order], by[order]
        twice = np.flatnonzero(written[1:] == written[:-1])
        if twice.size:
            first, second = self.writes[by[twice[0]]], self.writes[by[twice[0] + 1]]
            raise KernelFault(f"{self.kernel}: programs {first.program} and {second.program} write one element of {second.tensor}")
        if not self.reads:
            return
        read, reading, reader = joined(self.reads)
        at = np.minimum(np.searchsorted(written, read), written.size - 1)
        pairs = np.stack([by[at], reader, writing[at] == reading])[:, written[at] == read]
        for i, j, same_lane in np.unique(pairs, axis=1).T:
            write, seen = self.writes[i], self.reads[j]
            if write.program == seen.program and write.order > seen.order and write.barriers == seen.barriers and not same_lane:
                raise KernelFault(f"{self.kernel}: program {seen.program} writes an element of {seen.tensor} that another lane reads: no barrier is between")
            if write.program != seen.program or write.order < seen.order:
                raise KernelFault(f"{self.kernel}: program {seen.program} reads an element of {seen.tensor} that program {write.program} writes")

    def run(self, function, arguments, grid):
        """Runs every program of the grid, then looks for races."""
        if any(size > 65535 for size in grid[1:]):
            raise self.fault(f"grid {grid} has more than 65,535 programs in y or z")
        interpreter.interpreter_builder.set_grid_dim(*grid)
        for place in np.ndindex(*grid):
            interpreter.interpreter_builder.set_grid_idx(*place)
            self.barriers = 0
            function(**arguments)
            self.program += 1
        self.find_races()


def run_grid(executor, *tensors, **options):
    """Replaces GridExecutor.__call__: one launch, on CPU tensors, which are not copied."""
    if Launch.current is not None:
        raise KernelFault("a launch within a launch")
    options = {name: value for name, value in options.items() if name in executor.arg_names}
    arguments = inspect.getcallargs(executor.fn, *tensors, **options)
    grid = executor.grid(arguments) if callable(executor.grid) else executor.grid
    Launch.current = launch = Launch(executor.fn.__name__)
    with contextlib.ExitStack() as stack, np.errstate(all="ignore"):
        stack.callback(setattr, Launch, "current", None)
        for function in (executor.fn, tl.standard.max.fn):  # tl of the kernel, tl.core of the standard functions
            stack.callback(interpreter._patch_lang(function).restore)
        converted = {name: value if name in executor.constexprs else launch.convert(name, value) for name, value in arguments.items()}
        launch.run(executor.fn, converted, (*grid, 1, 1)[:3])


def call_inlined(function, *arguments, **options):
    """Replaces InterpretedFunction.__call__: a function called by a kernel. run_grid has prepared the language."""
    return function.rewrite()(*arguments, **options)


def numbers_of(bits):
    """float32 of bfloat16, which the interpreter keeps as uint16."""
    return (np.asarray(bits).astype(np.uint32) << 16).view(np.float32)


def rounded(numbers):
    """bfloat16 of float32, to nearest even."""
    bits = np.ascontiguousarray(numbers, np.float32).view(np.uint32).reshape(np.shape(numbers))
    nearest = ((bits + np.uint32(0x7FFF) + ((bits >> np.uint32(16)) & np.uint32(1))) >> np.uint32(16)).astype(np.uint16)
    return np.where(np.isnan(numbers), np.uint16(0x7FC0), nearest)


def widened(handle):
    """A bfloat16 handle as float32; others as they are."""
    return TensorHandle(numbers_of(handle.data), tl.float32) if handle.dtype.scalar == tl.bfloat16 else handle


def dot(builder, a, b, total, precision, imprecise):
    """bfloat16 operands are multiplied as float32. The sum is float32 or float64; float32 operands need `ieee`."""
    if total.dtype.scalar not in (tl.float32, tl.float64):
        raise Launch.current.fault(f"a dot adds in {total.dtype.scalar}, which must be fp32 or fp64")
    if a.dtype.scalar == tl.float32 and precision != ir.INPUT_PRECISION.IEEE:
        raise Launch.current.fault("a dot of float32 needs input_precision='ieee': TF32 keeps 10 bits")
    return stock["create_dot"](builder, widened(a), widened(b), total, precision, imprecise)


def cast(builder, source, target):
    """To and from bfloat16 through float32, rounding to nearest even."""
    if target.scalar != tl.bfloat16:
        wide = widened(source)
        return wide if wide.dtype.scalar == target.scalar else stock["cast_impl"](builder, wide, target)
    if source.dtype.scalar == tl.bfloat16:
        return source
    return TensorHandle(rounded(source.data.astype(np.float32)), tl.bfloat16)


def cast_floats(builder, source, target, rounding):
    """`cast` for bfloat16, of which only rounding to nearest is known."""
    if tl.bfloat16 not in (source.dtype.scalar, target.scalar):
        return stock["create_fp_to_fp"](builder, source, target, rounding)
    if rounding == ir.ROUNDING_MODE.RTZ:
        raise Launch.current.fault("a cast to bfloat16 towards zero")
    return cast(builder, source, target)


def no_bfloat16(name):
    """Arithmetic of the interpreter, which would take the bits of bfloat16 for integers."""
    def call(builder, first, *rest):
        if tl.bfloat16 in [x.dtype.scalar for x in (first, *rest) if isinstance(x, TensorHandle)]:
            raise Launch.current.fault("arithmetic in bfloat16: cast to float32 first")
        return stock[name](builder, first, *rest)

    return call


def load(builder, pointers, mask, other, *policies):
    """Bounds, races; lanes without a value are NaN, which no sum hides, the largest integer or True."""
    access, pointers = Launch.current.access("load", pointers, mask)
    if access.addresses.size:
        Launch.current.reads.append(access.once())
    if other is None and not mask.data.all():
        kind = pointers.get_element_ty()
        array = interpreter._get_np_dtype(kind)
        undefined = 0x7FC0 if kind == tl.bfloat16 else np.nan if kind.is_floating() else True if kind == tl.int1 else np.iinfo(array).max
        other = TensorHandle(np.full(pointers.data.shape, undefined, array), kind)
    return stock["create_masked_load"](builder, pointers, mask, other, *policies)


def store(builder, pointers, value, mask, *policies):
    """Bounds, races; two lanes of a store have two addresses."""
    access, pointers = Launch.current.access("store", pointers, mask)
    if np.unique(access.addresses).size != access.addresses.size:
        raise Launch.current.fault(f"two lanes of a store write one element of {access.tensor}")
    if access.addresses.size:
        Launch.current.writes.append(access)
    return stock["create_masked_store"](builder, pointers, value, mask, *policies)


def barrier(builder):
    """All threads of a program have done what comes before."""
    Launch.current.barriers += 1


REPLACED = {
    "create_barrier": barrier,
    "create_dot": dot, "create_fp_to_fp": cast_floats, "create_masked_load": load, "create_masked_store": store,
    **{name: no_bfloat16(name) for name in ("binary_op", "unary_op", "create_fma")},
    **dict.fromkeys(("cast_impl", "create_si_to_fp", "create_ui_to_fp", "create_fp_to_si", "create_fp_to_ui", "create_fp_ext", "create_fp_trunc"), cast),
}  # fmt: skip


def start():
    """Installs the checks, with the smallest dots that the compiler accepts. Operators on CPU tensors launch their Triton kernels from now on."""
    from modewise.triton.launcher import register

    for name, function in REPLACED.items():
        setattr(InterpreterBuilder, name, function)
    interpreter.GridExecutor.__call__ = run_grid
    interpreter.InterpretedFunction.__call__ = call_inlined
    interpreter.interpreter_builder.codegen_fns["min_dot_size"] = min_dot_size(None)
    register("CPU")
