"""Gradients in bfloat16 against float64: products may lose one rounding of the result, and no more."""

import pytest
import torch

from ops_records import ops
from ops_samples import drawer


def gradients(call, leaves, weights):
    out = call(*leaves)
    return torch.autograd.grad((out.double() * weights.double()).sum(), leaves)


def check_one_rounding(call, exact_call, leaves, sums):
    """Each gradient is the exact one rounded once to its dtype: half a unit of the result, and the error of a float32
    sum of at most `sums` terms."""
    exact_leaves = [t.detach().double().requires_grad_() for t in leaves]
    weights = drawer(torch.bfloat16, seed=11)(*call(*leaves).shape)
    ours = gradients(call, leaves, weights)
    exact = gradients(exact_call, exact_leaves, weights)
    magnitudes = gradients(exact_call, [t.detach().abs().requires_grad_() for t in exact_leaves], weights.abs())
    for leaf, got, wanted, size in zip(leaves, ours, exact, magnitudes):
        assert got.dtype == leaf.dtype
        rounding = torch.finfo(leaf.dtype).eps / 2
        bound = rounding * wanted.abs() + sums * torch.finfo(torch.float32).eps * size
        assert ((got.double() - wanted).abs() <= bound).all()


@pytest.mark.parametrize("weight_type", [torch.bfloat16, torch.float32], ids=str)
@pytest.mark.parametrize("rows", [1, 33, 5000, 40000])
def test_linear(rows, weight_type):
    rand = drawer(torch.bfloat16, seed=rows)
    leaves = [rand(rows, 17, grad=True), rand(5, 17).to(weight_type).requires_grad_(),
              rand(5).to(weight_type).requires_grad_()]
    check_one_rounding(ops.linear, torch.nn.functional.linear, leaves, sums=64)


@pytest.mark.parametrize("shape", [(3, 1, 5), (31, 700, 33), (2, 17, 65)])
def test_matmul(shape):
    m, k, n = shape
    rand = drawer(torch.bfloat16, seed=k)
    check_one_rounding(ops.matmul, torch.matmul, [rand(2, m, k, grad=True), rand(2, k, n, grad=True)], sums=64)


@pytest.mark.parametrize("stride", [1, 2])
def test_convolution(stride):
    rand = drawer(torch.bfloat16, seed=stride)
    leaves = [rand(5, 33, 17, 3, grad=True), rand(7, 3, 3, 3, grad=True), rand(7, grad=True)]
    steps = [stride, stride], [1, 1], [1, 1]

    def exact(x, weight, bias):
        return torch.nn.functional.conv2d(x.movedim(-1, 1), weight, bias, *steps).movedim(1, -1)

    check_one_rounding(lambda *a: ops.convolution(*a, *steps), exact, leaves, sums=64)
