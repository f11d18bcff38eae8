"""The checks of checked_interpreter.py: each has a kernel that breaks its rule, and one that keeps it."""

import numpy as np
import pytest
import torch
import triton
import triton.language as tl

import checked_interpreter
from checked_interpreter import KernelFault

checked_interpreter.start()


@triton.jit
def copy(X, Y, size, step, WIDTH: tl.constexpr, SHIFT: tl.constexpr, SAFE: tl.constexpr):
    i = tl.program_id(0) * step + tl.arange(0, WIDTH)
    if SAFE:
        x = tl.load(X + i + SHIFT, mask=i < size, other=0)
    else:
        x = tl.load(X + i + SHIFT, mask=i < size)
    tl.store(Y + i, x, mask=i < tl.cast(size, tl.int32) + (0 if SAFE else WIDTH))


@triton.jit
def product(A, B, C, M: tl.constexpr, K: tl.constexpr, PRECISION: tl.constexpr, NARROW: tl.constexpr):
    i = tl.arange(0, M)
    k = tl.arange(0, K)
    a = tl.load(A + i[:, None] * K + k[None, :])
    b = tl.load(B + k[:, None] * M + i[None, :])
    c = tl.dot(a, b, input_precision=PRECISION, out_dtype=tl.float16 if NARROW else tl.float32)
    tl.store(C + i[:, None] * M + i[None, :], tl.cast(c, C.dtype.element_ty))


@triton.jit
def scaled(X, Y, WIDTH: tl.constexpr, HOW: tl.constexpr):
    i = tl.arange(0, WIDTH)
    x = tl.load(X + i)
    if HOW == "multiplied":
        x = x * x
    elif HOW == "negated":
        x = -x
    elif HOW == "in float32":
        x = tl.cast(x, tl.float32)
        x = tl.cast(x * x, tl.bfloat16)
    elif HOW == "towards zero":
        x = tl.cast(tl.cast(x, tl.float32), tl.bfloat16, fp_downcast_rounding="rtz")
    tl.store(Y + i, x)


@triton.jit
def neighbours(X, Y, WIDTH: tl.constexpr, HOW: tl.constexpr):
    i = tl.program_id(0) * WIDTH + tl.arange(0, WIDTH)
    x = tl.load(X + i)
    if HOW == "same place":
        tl.store(Y + i // 2, x)
    elif HOW == "other program's result":
        tl.store(Y + i, x)
        tl.load(Y + (i + WIDTH) % (2 * WIDTH))
    elif HOW == "own result":
        tl.store(Y + i, x)
        tl.load(Y + i)
    elif HOW == "in place":
        tl.store(Y + i, tl.load(Y + i) + x)
    elif HOW == "in place, turned":
        tl.store(Y + WIDTH - 1 - i + 2 * WIDTH * tl.program_id(0), tl.load(Y + i) + x)
    elif HOW == "in place, turned, barrier":
        y = tl.load(Y + i)
        tl.debug_barrier()
        tl.store(Y + WIDTH - 1 - i + 2 * WIDTH * tl.program_id(0), y + x)


def numbers(*shape, dtype=torch.float32):
    return torch.randn(shape, generator=torch.Generator().manual_seed(3), dtype=torch.float64).to(dtype)


def test_a_right_kernel_passes():
    x, y = numbers(20), torch.zeros(20)
    copy[(3,)](x, y, 20, 8, WIDTH=8, SHIFT=0, SAFE=True)
    assert torch.equal(x, y)


@pytest.mark.parametrize("size", [16, 32, 128])
def test_bfloat16_dots_multiply_numbers(size):
    a, b, c = numbers(size, size, dtype=torch.bfloat16), numbers(size, size, dtype=torch.bfloat16), torch.zeros(size, size)
    product[(1,)](a, b, c, M=size, K=size, PRECISION="ieee", NARROW=False)
    wanted = a.double() @ b.double()
    assert (c - wanted).norm() < 1e-6 * wanted.norm()


def test_casts_to_bfloat16_round_to_nearest_even():
    bits = torch.cat([torch.randint(0, 2**32, (4096,), generator=torch.Generator().manual_seed(5)),  # infinities and NaN among them
                      torch.tensor([0x3F808000, 0x3F818000, 0x3F808001, 0x7F7FFFFF, 0x7F800000, 0xFF800000, 0x7F800001, 0, 0x80000000, 1])])
    x = torch.from_numpy(bits.numpy().astype(np.uint32).view(np.float32))
    got = torch.from_numpy(checked_interpreter.rounded(x.numpy()).view(np.int16)).view(torch.bfloat16)
    assert torch.equal(got.float().nan_to_num(7e7), x.bfloat16().float().nan_to_num(7e7))
    x, y = numbers(64, dtype=torch.bfloat16), torch.zeros(64, dtype=torch.bfloat16)
    scaled[(1,)](x, y, WIDTH=64, HOW="in float32")
    assert torch.equal(y, x * x)


@pytest.mark.parametrize("how", ["multiplied", "negated", "towards zero"])
def test_bfloat16_arithmetic_is_a_fault(how):
    x = numbers(16, dtype=torch.bfloat16)
    with pytest.raises(KernelFault, match="scaled, program 0: (arithmetic in|a cast to) bfloat16"):
        scaled[(1,)](x, x.clone(), WIDTH=16, HOW=how)


@pytest.mark.parametrize("dtype, precision, match", [(torch.float32, "tf32", "needs input_precision='ieee'"), (torch.float16, "ieee", "adds in fp16")])
def test_dots_that_lose_digits_are_a_fault(dtype, precision, match):
    a = numbers(16, 16, dtype=dtype)
    with pytest.raises(KernelFault, match=match):
        product[(1,)](a, a.clone(), torch.zeros(16, 16), M=16, K=16, PRECISION=precision, NARROW=True)


def test_a_dot_of_small_depth_is_refused_as_by_the_compiler():
    a = numbers(16, 8, dtype=torch.bfloat16)
    with pytest.raises(Exception, match="K >= 16"):
        product[(1,)](a, a.clone(), torch.zeros(16, 16), M=16, K=8, PRECISION="ieee", NARROW=False)


@pytest.mark.parametrize("dtype, undefined", [(torch.float32, torch.nan), (torch.float64, torch.nan), (torch.bfloat16, torch.nan), (torch.int32, 2**31 - 1), (torch.bool, True)])
def test_lanes_without_a_value_are_undefined(dtype, undefined):
    x, y = torch.zeros(12, dtype=dtype), torch.zeros(16, dtype=dtype)
    copy[(1,)](x, y, 12, 0, WIDTH=16, SHIFT=0, SAFE=False)
    assert not y[:12].any()
    assert torch.equal(y[12:].double(), torch.full((4,), float(undefined), dtype=torch.float64)) or (undefined != undefined and y[12:].isnan().all())


@pytest.mark.parametrize("shift, places", [(1, "1 of 4"), (-1, "1 of 8"), (2**40, "8 of 8")])
def test_loads_outside_a_tensor_are_a_fault(shift, places):
    memory = numbers(64)  # the tensor's neighbours are the process's own memory
    with pytest.raises(KernelFault, match=f"copy, program .: load of X: {places} lanes are outside it"):
        copy[(3,)](memory[10:30], torch.zeros(20), 20, 8, WIDTH=8, SHIFT=shift, SAFE=True)


def test_stores_outside_a_tensor_are_a_fault():
    with pytest.raises(KernelFault, match="copy, program 0: store of Y: 4 of 16 lanes are outside it"):
        copy[(1,)](numbers(12), torch.zeros(12), 12, 0, WIDTH=16, SHIFT=0, SAFE=False)


def test_gaps_of_a_view_and_other_tensors_do_not_belong_to_it():
    fused = numbers(4, 32)
    with pytest.raises(KernelFault, match="load of X: 8 of 16 lanes are outside it"):
        copy[(1,)](fused[:, :8], torch.zeros(16), 16, 0, WIDTH=16, SHIFT=0, SAFE=True)
    both = numbers(32)
    with pytest.raises(KernelFault, match="load of X: 16 of 16 lanes are outside it"):
        copy[(1,)](both[:16], both[16:], 16, 0, WIDTH=16, SHIFT=16, SAFE=True)
    with pytest.raises(KernelFault, match="load of X: 16 of 16 lanes are outside it"):
        copy[(1,)](numbers(0), torch.zeros(16), 16, 0, WIDTH=16, SHIFT=0, SAFE=True)


@pytest.mark.parametrize("view", [lambda x: x, lambda x: x.mT, lambda x: x[:, ::3], lambda x: x[1::2, 2:5].permute(1, 0), lambda x: x[:1].expand(5, 11), lambda x: x[3, 4]],
                         ids=["whole", "transposed", "every third", "part", "expanded", "scalar"])
def test_a_view_has_exactly_its_elements(view):
    base = torch.arange(77, dtype=torch.float32).reshape(7, 11)
    x = view(base)
    tensor = checked_interpreter.Tensor.of("X", x)
    inside = {int(i) for i in x.flatten()}
    for i in range(-5, 90):
        assert tensor.outside(np.array([base.data_ptr() + 4 * i], np.uint64)) == (i not in inside)
    assert tensor.outside(np.array([x.data_ptr() + 1], np.uint64)) == 1


@pytest.mark.parametrize("how, match", [
    ("same place", "program 0: two lanes of a store write one element of Y"),
    ("other program's result", "program 1 reads an element of Y that program 0 writes|program 0 reads an element of Y that program 1 writes"),
    ("own result", "program 0 reads an element of Y that program 0 writes"), ("in place", ""),
    ("in place, turned", "program 0 writes an element of Y that another lane reads: no barrier"), ("in place, turned, barrier", "")])
def test_races(how, match):
    x, y = numbers(32), torch.zeros(32)
    if match:
        with pytest.raises(KernelFault, match=match):
            neighbours[(2,)](x, y, WIDTH=16, HOW=how)
    else:
        neighbours[(2,)](x, y, WIDTH=16, HOW=how)
        assert torch.equal(x.view(2, 16).flip(1).flatten() if "turned" in how else x, y)


def test_programs_that_write_one_element_are_a_fault():
    with pytest.raises(KernelFault, match="copy: programs 0 and 1 write one element of Y"):
        copy[(2,)](numbers(20), torch.zeros(20), 20, 4, WIDTH=8, SHIFT=0, SAFE=True)


def test_the_limits_of_a_grid():
    for grid in [(1, 65536), (1, 1, 65536)]:
        with pytest.raises(KernelFault, match="more than 65,535 programs in y or z"):
            copy[grid](numbers(8), torch.zeros(8), 8, 0, WIDTH=8, SHIFT=0, SAFE=True)


def test_a_fault_of_a_kernel_leaves_the_interpreter_usable():
    with pytest.raises(KernelFault):
        copy[(1,)](numbers(12), torch.zeros(12), 12, 0, WIDTH=16, SHIFT=0, SAFE=False)
    test_a_right_kernel_passes()
