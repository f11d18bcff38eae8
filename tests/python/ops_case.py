#!/usr/bin/env python3
"""One operator on one sample, as the tests of operators compute it: the command that repeats a failure.

    tests/python/ops_case.py --case "mode_product 3 float32 avx2 5"               # record, sample, type, instruction set, seed
    tests/python/ops_case.py --case "mode_product 3 float32 avx2 5" --guard after

checks results against the formula in float64, and prints the arguments. With --guard each tensor ends (after) or begins (before) at a
page that cannot be accessed (build/lib/libguard_pages.so): the results and gradients are computed, an access beyond a tensor ends the
process with SIGSEGV, and NaN, with which new memory is filled, is an error. The instruction set "reference" is the plain torch formulas
of the library.
"""

import argparse
import dataclasses
import os
import sys

import torch

from ops_records import BUILD, RECORDS, ops
from ops_samples import drawer, outputs

COMPOSITE = ("kronecker_attention", "mode_attention", "full_attention", "axis_attention", "tensor_attention")


@dataclasses.dataclass(frozen=True)
class Case:
    record: str
    sample: int
    dtype: str = "float32"
    isa: str = ops.active_isa()
    seed: int = 0

    def __str__(self):
        return f'tests/python/ops_case.py --case "{self.record} {self.sample} {self.dtype} {self.isa} {self.seed}"'

    @classmethod
    def parse(cls, text):
        record, sample, dtype, isa, seed = text.split()
        return cls(record, int(sample), dtype, isa, int(seed))


def widened(sample):
    def wide(value):
        if isinstance(value, torch.Tensor) and value.is_floating_point():
            return value.detach().double()
        return value

    args, kwargs = sample
    return [wide(a) for a in args], {k: wide(v) for k, v in kwargs.items()}


def is_narrow(value):
    """Whether it is a tensor of the dtype under test; other float64 tensors are angles, which have no gradient."""
    return isinstance(value, torch.Tensor) and value.dtype in (torch.float32, torch.bfloat16)


def largest(t):
    return t.abs().max().item() if t.numel() else 0.0


def check_values(record, sample, case):
    """Error at most twice that of the plain formula in the same dtype, plus a few roundings of the result."""
    args, kwargs = sample
    dtype = getattr(torch, case.dtype)
    exact = outputs(record.formula(*widened(sample)[0], **widened(sample)[1]))
    plain = outputs(record.formula(*args, **kwargs))
    got = outputs(record.call(*args, **kwargs))
    assert len(got) == len(exact)
    for g, p, e in zip(got, plain, exact):
        assert g.dtype == dtype and g.shape == e.shape and g.is_contiguous(), case
        # In float64 the formula is the oracle itself, so only the roundings remain as tolerance.
        # Sums of some hundred products in float32 are several roundings off; a bfloat16 result is rounded once, and
        # once more for each rounded intermediate result.
        roundings = {torch.float64: 1000, torch.float32: 8, torch.bfloat16: 2 if record.name in COMPOSITE else 1}[dtype]
        floor = roundings * torch.finfo(dtype).eps * largest(e)
        assert largest(g.double() - e) <= max(2 * largest(p.double() - e), floor), case


def unavoidable_errors(record, sample, exact, draws=8):
    """Root mean square change of each element of the results when every input changes by one rounding of its type."""
    generator = torch.Generator().manual_seed(1)

    def moved(value):
        if not is_narrow(value):
            return value
        signs = 2 * torch.randint(0, 2, value.shape, generator=generator) - 1
        return value.detach().double() * (1 + torch.finfo(value.dtype).eps * signs)

    args, kwargs = sample
    squares = [torch.zeros_like(e) for e in exact]
    for _ in range(draws):
        other = ([moved(a) for a in args], {k: moved(v) for k, v in kwargs.items()})
        for square, out, e in zip(squares, outputs(record.formula(*widened(other)[0], **widened(other)[1])), exact):
            square += (out - e) ** 2
    return [(square / draws).sqrt() for square in squares]


def check_elements(record, sample, case):
    """The error of each element, not only of the largest ones: at most record.roundings of the errors that its own inputs cause."""
    exact = outputs(record.formula(*widened(sample)[0], **widened(sample)[1]))
    got = outputs(record.call(*sample[0], **sample[1]))
    limits = torch.finfo(getattr(torch, case.dtype))
    for g, e, caused in zip(got, exact, unavoidable_errors(record, sample, exact)):
        bound = record.roundings * (caused + limits.eps * e.abs()) + 256 * limits.tiny  # exponentials below `tiny` are 0
        wrong = ~((g.double() - e).abs() <= bound) & e.isfinite()
        assert not wrong.any(), f"{case}: {int(wrong.sum())} elements, such as {g[wrong][0]} instead of {e[wrong][0]} ± {bound[wrong][0]}"


def results_and_gradients(record, sample):
    if not record.differentiable:
        return outputs(record.call(*sample[0], **sample[1]))
    args = [a.detach().requires_grad_() if is_narrow(a) else a for a in sample[0]]
    out = outputs(record.call(*args, **sample[1]))
    wanted = [a for a in args if isinstance(a, torch.Tensor) and a.requires_grad]
    if not wanted:  # float64, the type of angles
        return out
    total = sum((o * o.detach().sin()).sum() for o in out if o.requires_grad)
    return out + [g for g in torch.autograd.grad(total, wanted, allow_unused=True) if g is not None]


def guard_pages(where):
    """Tensors made from now on end (after) or begin (before) at a page that cannot be accessed."""
    os.environ["MODEWISE_GUARD"] = where
    torch.ops.load_library(str(BUILD / "lib" / "libguard_pages.so"))


def samples_of(record, dtype, seed):
    return record.samples(drawer(getattr(torch, dtype), seed=seed))


def cases():
    """All cases, each with its record and its sample."""
    for record in RECORDS:
        for dtype in ("float32", "float64", "bfloat16"):
            for i, sample in enumerate(samples_of(record, dtype, 0)):
                for isa in (*ops.available_isas(), "reference"):
                    yield Case(record.name, i, dtype, isa), record, sample


def named(case):
    record = next(record for record in RECORDS if record.name == case.record)
    return case, record, samples_of(record, case.dtype, case.seed)[case.sample]


def run(case, record, sample, guarded):
    ops.use_reference(case.isa == "reference")
    if case.isa != "reference":
        ops.use_isa(case.isa)
    if guarded:  # memory that nothing was written to is NaN
        assert not any(result.isnan().any() for result in results_and_gradients(record, sample)), case
    else:
        check_values(record, sample, case)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--case", type=Case.parse, help="record, sample, type, instruction set and seed (default: all samples)")
    parser.add_argument("--guard", choices=["after", "before"], help="where the page lies that cannot be accessed")
    options = parser.parse_args()
    if options.guard:
        guard_pages(options.guard)
    count = 0
    for case, record, sample in [named(options.case)] if options.case else cases():
        print(f"{case} --guard {options.guard}" if options.guard else case, flush=True)
        run(case, record, sample, options.guard)
        count += 1
        for name, value in [*enumerate(sample[0]), *sample[1].items()] if options.case else []:
            tensor = isinstance(value, torch.Tensor)
            print(f"{name}: {value.dtype} {list(value.shape)}, strides {value.stride()}" if tensor else f"{name}: {value}")
    print(f"{count} cases passed")
    return 0


if __name__ == "__main__":
    sys.exit(main())
