"""The difficult inputs of ops_samples.py and ops_sequence_samples.py, and gradients, for the operators that launch Triton kernels.
Each input has one of the three types in turn, and large ones are left out: a program takes 5 to 50 ms in the interpreter. A third of
the inputs is tested, the others with --long."""

import itertools

import pytest
import torch

from modewise.triton.self_test import SAMPLES
from ops_records import RECORDS, ops
from ops_samples import drawer, outputs
from test_ops import widened
from triton_helpers import TOLERANCES, launches

# Operators that are made of others.
COMPOSED = {"kronecker_attention", "mode_attention", "tensor_attention"}  # axis_attention: on_triton_attention.py
LARGEST = 4000  # elements of all arguments
TESTED = [record for record in RECORDS if record.name in COMPOSED or record.name in SAMPLES]


def results(call, sample, dtype, differentiable):
    """The outputs, and the gradients of a sum of them, weighted by fixed numbers."""
    leaf = lambda x: x.detach().requires_grad_(differentiable) if isinstance(x, torch.Tensor) and x.dtype == dtype else x
    args, kwargs = [leaf(x) for x in sample[0]], {name: leaf(x) for name, x in sample[1].items()}
    out = outputs(call(*args, **kwargs))
    wanted = [x for x in [*args, *kwargs.values()] if isinstance(x, torch.Tensor) and x.requires_grad]
    recorded = [x for x in out if x.requires_grad]
    if not recorded or not wanted:
        return out, []
    weights = [drawer(torch.float64, 9)(*x.shape).to(x.dtype) for x in recorded]
    return out, list(torch.autograd.grad(recorded, wanted, weights, allow_unused=True, materialize_grads=True))


def elements(sample):
    return sum(x.numel() for x in [*sample[0], *sample[1].values()] if isinstance(x, torch.Tensor))


@pytest.mark.parametrize("third", [0, pytest.param(1, marks=pytest.mark.long), pytest.param(2, marks=pytest.mark.long)])
@pytest.mark.parametrize("record", TESTED, ids=lambda record: record.name)
def test_samples(record, third):
    """The error is at most twice that of the reference in the same type, or the tolerance of the type. A gradient may vanish, as that
    of a bias of the keys: the norm of the largest one counts."""
    ran = 0
    samples = {dtype: record.samples(drawer(dtype)) for dtype in TOLERANCES}
    for i, dtype in zip(range(len(samples[torch.float64])), itertools.cycle(TOLERANCES)):
        sample = samples[dtype][i]
        if i // 3 % 3 != third or elements(sample) > LARGEST:
            continue
        exact = results(record.formula, widened(sample), torch.float64, record.differentiable)
        ops.use_reference(True)
        plain = results(record.call, sample, dtype, record.differentiable)
        ops.use_reference(False)
        with launches() as launched:
            got = results(record.call, sample, dtype, record.differentiable)
        ran += len(launched)
        for kind, many, usual, wanted in zip(("output", "gradient"), got, plain, exact):
            norms = [x.detach().nan_to_num().norm().item() for x in wanted]
            for place, (g, p, e, norm) in enumerate(zip(many, usual, wanted, norms)):
                what = f"{record.name}, sample {i}, {dtype}, {kind} {place}"
                assert g.shape == e.shape, what
                assert torch.equal(g.isnan(), e.isnan()), what
                error, usual_error = ((x.detach().double() - e.detach()).nan_to_num().norm().item() for x in (g, p))
                assert error <= max(2 * usual_error, TOLERANCES[dtype] * (norm if kind == "output" else max(norms))), what
    assert ran or third
