"""One record per operator: how to call it, an independent formula, difficult inputs, invalid arguments. test_ops.py tests
values, gradients, opcheck, determinism, threads, instruction sets, layouts and errors of every record. A sample is
(args, kwargs), from ops_samples.py or ops_sequence_samples.py; formulas (ops_formulas.py, ops_sequence_formulas.py) are
plain torch, run in float64 as the oracle and in the sample's own dtype as a measure of the unavoidable rounding error.
"""

import dataclasses
import os
import pathlib
from collections.abc import Callable

import torch

from ops_formulas import (adam_step, axis_attention, batch_norm, convolution, dot_product_attention, dropout_add, dropout_add_norm,
                          elementary, feed_forward, full_attention, kronecker_attention, layer_norm, linear, masked_moments, matmul,
                          mode_attention, mode_contract, mode_pool, mode_product, mode_scores, rms_norm, rotary,
                          rotary_angles, sum_of_squares, swiglu, synthesized_attention, update_moments)
from ops_samples import (ELEMENTARY, adam_samples, add_norm_samples, attention_arguments, axis_samples, batch_samples, bools, contract_samples,
                         convolution_samples, dot_product_samples, dropout_samples, elementary_samples, feed_forward_arguments, feed_forward_samples, full_samples, in_domain, kronecker_samples,
                         large_synthesized, linear_samples, maps_samples, matmul_samples, moment_samples, moments_of,
                         norm_samples, pool_samples, product_samples, rms_samples, score_samples, swiglu_samples,
                         synthesized_samples)
from ops_sequence_formulas import (hashed_attention, joined, language_loss, nystroem_attention, summary_step,
                                   tensor_formula, token_losses)
from ops_sequence_samples import (hashed_samples, in_schema_order, join_samples, loss_samples, nystroem_samples,
                                  partial_blocks, sequences, step_case, step_samples, tensor_samples, tokens_kept)

BUILD = pathlib.Path(os.environ.get("MODEWISE_BUILD", pathlib.Path(__file__).parents[2] / "build"))
torch.ops.load_library(str(BUILD / "lib" / "libmodewise_ops.so"))
ops = torch.ops.modewise


@dataclasses.dataclass
class Record:
    name: str
    formula: Callable
    samples: Callable  # (rand) -> list of (args, kwargs); rand(*shape) draws a tensor of the dtype under test
    small: Callable  # the same for finite differences: a few elements each
    errors: list = dataclasses.field(default_factory=list)  # ((rand) -> (args, kwargs), regex of the message)
    kernels: dict = dataclasses.field(default_factory=dict)  # operator: kernel that must have run
    second_order: bool = False
    integers: bool = False  # exact on small integers
    roundings: int = 30  # error of an element, in errors that one rounding of each input causes there
    differentiable: bool = True
    call: Callable = None

    def __post_init__(self):
        self.call = self.call or getattr(ops, self.name)


def changed(op, places):
    """In-place `op` on its arguments at `places` as a function: its results, then the updated arguments."""
    def call(*args, **kwargs):
        type_of = args[0].dtype
        if op not in ("summary_step", "summary_join"):  # these accept bfloat16
            args = [a.float() if isinstance(a, torch.Tensor) and a.dtype == torch.bfloat16 else a for a in args]
        args = [a.clone() if i in places and a is not None else a for i, a in enumerate(args)]
        result = (step_call if op == "summary_step" else getattr(ops, op))(*args, **kwargs)
        states = [args[i].to(type_of) for i in places if args[i] is not None]
        return ([] if result is None or (op == "summary_step" and not kwargs.get("attends", True)) else [result]) + states
    return call


def step_call(q, k, v, turned, ring_keys, ring_values, first_keys, first_values, latents, high, total, sum_keys, sum_values, frequencies,
              *, slot_keys, slot_values, places, excess, gains, first, window, scale, attends=True):
    return ops.summary_step(q, k, v, turned, ring_keys, ring_values, first_keys, first_values, slot_keys, slot_values, places, excess,
                            latents, high, total, sum_keys, sum_values, frequencies, gains, first, window, scale, attends)


def small_of(build):
    """Samples of a record with inputs that require gradients."""
    return lambda rand: build(lambda *shape: rand(*shape, grad=True))


RECORDS = [
    Record(
        "mode_product", mode_product, product_samples,
        small_of(lambda r: [((r(2, 3, 2, 4), r(2, 2, 2, 3), 0), {}), ((r(1, 3, 2, 4), r(3, 2), 1), {}),
                            ((r(2, 4, 3).transpose(1, 2), r(2, 1, 3, 2).transpose(2, 3), 0), {}),
                            ((r(1, 1, 1, 1), r(1, 1, 1, 1), 0), {}), ((r(0, 3, 2, 4), r(0, 2, 2, 3), 0), {})]),
        errors=[
            (lambda r: ((r(8, 21, 24, 16), r(8, 21, 21), 1), {}),
             r"mode_product: factor must be \[\.\., M, 24\] for mode 1 of x \[8, 21, 24, 16\], got \[8, 21, 21\]"),
            (lambda r: ((r(8, 21, 24, 16), r(24, 24), 2), {}), r"mode must be 0 … 1 for x \[8, 21, 24, 16\], got 2"),
            (lambda r: ((r(8, 21, 24, 16), r(24, 24), -1), {}), r"mode must be 0 … 1"),
            (lambda r: ((r(8, 16), r(24, 24), 0), {}), r"x must be \[B, N_1 … N_k, D\] .* got \[8, 16\]"),
            (lambda r: ((r(2, 3, 4), r(1, 2, 3, 3), 0), {}), r"factor must be \[2, H, M, N\] .* got \[1, 2, 3, 3\]"),
            (lambda r: ((r(2, 3, 4), r(2, 3, 3, 3), 0), {}), r"heads of factor .* must divide the last size of x \[2, 3, 4\]"),
            (lambda r: ((r(2, 3, 4), r(3, 3).double(), 0), {}), r"factor must have the type of x, Float"),
            (lambda r: ((r(2, 3, 4).half(), r(3, 3).half(), 0), {}), r"x must be float32, float64 or bfloat16, got Half"),
        ],
        kernels={"mode_product": "strided"}, second_order=True, integers=True),
    Record(
        "linear", linear, linear_samples,
        small_of(lambda r: [((r(3, 4), r(2, 4), r(2)), {}), ((r(2, 2, 3), r(3, 3)), {}), ((r(3), r(1, 3), r(1)), {})]),
        errors=[(lambda r: ((r(2, 3), r(4, 5)), {}), r"linear: weight must be \[M, 3\] for x \[2, 3\], got \[4, 5\]"),
                (lambda r: ((r(2, 3), r(4, 3), r(3)), {}), r"bias must be \[4\] for weight \[4, 3\], got \[3\]"),
                (lambda r: ((r(2, 3).half(), r(4, 3)), {}), r"x must be float32, float64 or bfloat16, got Half")],
        kernels={"linear": "tiles"}, integers=True),
    Record(
        "matmul", matmul, matmul_samples,
        small_of(lambda r: [((r(2, 3), r(3, 4)), {}), ((r(2, 1, 3, 5), r(3, 4, 5).transpose(-1, -2)), {})]),
        errors=[(lambda r: ((r(3), r(3, 4)), {}), r"matmul: a must be \[.., M, K\], got \[3\]"),
                (lambda r: ((r(2, 3), r(4, 5)), {}), r"matmul: b must be \[.., 3, N\] with batch dimensions that broadcast with a \[2, 3\], got \[4, 5\]"),
                (lambda r: ((r(2, 2, 3), r(5, 3, 4)), {}), r"matmul: b must be .* broadcast with a \[2, 2, 3\], got \[5, 3, 4\]"),
                (lambda r: ((r(2, 3), r(3, 4).double()), {}), r"matmul: b must have the type of a, Float, got Double")],
        kernels={"matmul": "tiles"}, second_order=True, integers=True),
    Record(
        "convolution", convolution, convolution_samples,
        small_of(lambda r: [((r(2, 5, 2), r(3, 2, 3), r(3), [2], [1], [1]), {}), ((r(1, 4, 3, 1), r(2, 1, 2, 2), None, [1, 3], [0, 1], [2, 1]), {})]),
        errors=[(lambda r: ((r(2, 5, 3), r(4, 2, 3), None, [1], [0], [1]), {}), r"convolution: weight must be \[C', 3, K_1 … K_1\] for x \[2, 5, 3\], got \[4, 2, 3\]"),
                (lambda r: ((r(2, 3), r(4, 3), None, [], [], []), {}), r"x must be \[B, N_1 … N_k, C\] with one to three modes, got \[2, 3\]"),
                (lambda r: ((r(2, 5, 3), r(4, 3, 3), r(3), [1], [0], [1]), {}), r"bias must be \[4\] for weight \[4, 3, 3\], got \[3\]"),
                (lambda r: ((r(2, 5, 3), r(4, 3, 3), None, [0], [0], [1]), {}), r"stride must be 1 integers of 1 … 2147483647, got \[0\]"),
                (lambda r: ((r(2, 5, 3), r(4, 3, 3), None, [1], [0, 1], [1]), {}), r"padding must be 1 integers of 0 … 2147483647, got \[0, 1\]"),
                (lambda r: ((r(2, 5, 3), r(4, 3, 3), None, [1], [0], [3]), {}), r"the kernel must fit into mode 0 of x \[2, 5, 3\] with its padding")],
        kernels={"convolution": "tiles"}, integers=True),
    Record(
        "dot_product_attention", dot_product_attention, dot_product_samples,
        small_of(lambda r: [((r(1, 3, 2, 2), r(1, 3, 1, 2), r(1, 3, 1, 3), None, True, 0.7), {}),
                            ((r(2, 2, 1, 2), r(2, 3, 1, 2), r(2, 3, 1, 1), torch.tensor([True, False, True]), False, 1.0), {})]),
        errors=[(lambda r: ((r(2, 3, 4), r(2, 3, 4), r(2, 3, 4)), {}), r"dot_product_attention: q must be \[B, n, H, d\], got \[2, 3, 4\]"),
                (lambda r: ((r(2, 3, 4, 5), r(2, 3, 3, 5), r(2, 3, 3, 5)), {}), r"k must be \[2, m, G, 5\] with G a divisor of 4"),
                (lambda r: ((r(2, 3, 4, 5), r(2, 6, 2, 5), r(2, 7, 2, 5)), {}), r"v must be \[2, 6, G, e\] with G a divisor of 4 for k"),
                (lambda r: ((r(2, 3, 4, 5), r(2, 6, 2, 5), r(2, 6, 2, 5), None, True), {}), r"causal needs as many keys as queries, got 6 and 3"),
                (lambda r: ((r(2, 3, 4, 5), r(2, 6, 2, 5), r(2, 6, 2, 5), bools(3, 5)), {}), r"mask must be bool and broadcast to \[2, 4, 3, 6\]")],
        kernels={"dot_product_attention": "blocks"}),
    Record(
        "synthesized_attention", synthesized_attention, lambda r: synthesized_samples(r) + large_synthesized(r),
        small_of(lambda r: [((r(2, 4, 1, 3), r(2, 4, 1, 2), r(2, 4, 1, 2), r(1, 2, 2), r(1, 2, 2), 4), {}),
                            ((r(2, 6, 2, 2), None, None, r(2, 2, 3), r(2, 3, 2), 6), {}),
                            ((r(1, 5, 1, 2), r(1, 3, 1, 2), r(1, 5, 1, 2), r(1, 2, 3), r(1, 2, 2), 3, bools(1, 5), True), {}),
                            ((r(2, 3, 1, 2), r(2, 3, 1, 1), r(1, 3, 1, 1), None, None, 3, None, True), {})]),
        errors=[(lambda r: ((r(2, 6, 4), None, None, r(2, 2, 3), r(2, 3, 2), 6), {}), r"synthesized_attention: v must be \[B, m, H, e\], got \[2, 6, 4\]"),
                (lambda r: ((r(2, 6, 2, 2), None, None, None, None, 6), {}), r"the logits need left and right, outer and inner, or all four, got none"),
                (lambda r: ((r(2, 6, 2, 2), r(2, 6, 2, 3), None, None, None, 6), {}), r"left and right must be given together"),
                (lambda r: ((r(2, 6, 2, 2), None, None, r(2, 2, 3), None, 6), {}), r"outer and inner must be given together"),
                (lambda r: ((r(2, 6, 2, 2), r(2, 5, 2, 3), r(2, 6, 2, 3), None, None, 6), {}), r"left must be \[2, 6, 2, c\] for v \[2, 6, 2, 2\] and 6 rows, got \[2, 5, 2, 3\]"),
                (lambda r: ((r(2, 6, 2, 2), r(2, 6, 2, 3), r(3, 6, 2, 3), None, None, 6), {}), r"right must be \[2 or 1, 6, 2, 3\] .* got \[3, 6, 2, 3\]"),
                (lambda r: ((r(2, 6, 2, 2), None, None, r(1, 2, 3), r(2, 3, 2), 6), {}), r"outer must be \[2, rows, columns\] .* got \[1, 2, 3\]"),
                (lambda r: ((r(2, 6, 2, 2), None, None, r(2, 2, 3), r(2, 2, 2), 6), {}), r"outer and inner must have 6 rows and 6 columns in their product at least"),
                (lambda r: ((r(2, 6, 2, 2), None, None, r(2, 2, 3), r(2, 3, 2), -1), {}), r"rows must be 0 … 2147483647, got -1"),
                (lambda r: ((r(2, 6, 1, 2), None, None, r(1, 3, 3), r(1, 3, 2), 7, None, True), {}), r"causal needs at least as many keys as rows, got 6 and 7"),
                (lambda r: ((r(2, 6, 2, 2), None, None, r(2, 2, 3), r(2, 3, 2), 6, bools(2, 5)), {}), r"key_mask must be bool \[2, 6\] .* got Bool \[2, 5\]")],
        kernels={"synthesized_attention": "blocks"}),
    Record(
        "mode_contract", mode_contract, contract_samples,
        small_of(lambda r: [((r(2, 2, 2, 4), r(2, 3, 2, 4), 0, 2), {}), ((r(2, 2, 2, 3), r(2, 2, 1, 3), 1, 0), {})]),
        errors=[(lambda r: ((r(2, 3, 4), r(2, 3, 5), 0, 1), {}), r"a must have the sizes of x \[2, 3, 5\] except in mode 0, got \[2, 3, 4\]"),
                (lambda r: ((r(2, 3, 4), r(2, 3, 4), 0, 3), {}), r"heads must divide")],
        kernels={"mode_contract": "strided"}, second_order=True, integers=True),
    Record(
        "mode_pool", mode_pool, pool_samples,
        small_of(lambda r: [((r(2, 3, 2, 4), "sum"), {}), ((r(2, 3, 2, 2, 3), "mean", bools(2, 3, 2, 2)), {}),
                            ((r(2, 3, 4), "mean"), {})]),
        errors=[(lambda r: ((r(2, 3, 4), "max"), {}), r"pooling must be sum or mean, got max"),
                (lambda r: ((r(2, 3, 4), "sum", bools(2, 4)), {}), r"token_mask must be \[2, 3\] for x \[2, 3, 4\], got \[2, 4\]"),
                (lambda r: ((r(2, 3, 4), "sum", r(2, 3)), {}), r"token_mask must be bool, got Float")],
        kernels={"mode_pool": "one_pass"}, second_order=True, integers=True),
    Record(
        "mode_scores", mode_scores, score_samples,
        small_of(lambda r: [((r(2, 3, 4), r(2, 3, 4), 2), {}), ((r(1, 4, 4), r(1, 4, 4), 2, bools(1, 4)), {}),
                            ((r(1, 4, 2), r(1, 4, 2), 1, None, bools(4, 4)), {}), ((r(1, 2, 4), r(1, 5, 4), 2, bools(1, 5)), {}),
                            ((r(1, 5, 3), r(1, 2, 3), 1), {})]),
        errors=[(lambda r: ((r(2, 3, 4), r(2, 4, 6), 2), {}), r"k must be \[2, M, 4\] for q \[2, 3, 4\], got \[2, 4, 6\]"),
                (lambda r: ((r(2, 3, 4), r(1, 4, 4), 2), {}), r"k must be \[2, M, 4\] for q \[2, 3, 4\], got \[1, 4, 4\]"),
                (lambda r: ((r(2, 3, 4), r(2, 3, 4), 3), {}), r"heads must divide the last size"),
                (lambda r: ((r(2, 3, 4), r(2, 3, 4), 2, bools(2, 4)), {}), r"key_mask must be \[B, M\] or \[B, 2, M\]"),
                (lambda r: ((r(2, 3, 4), r(2, 3, 4), 2, None, bools(2, 4)), {}), r"mode_mask must be \[3, 3\]")],
        kernels={"mode_scores": "fused"}),
    Record(
        "rotary", rotary,
        lambda r: [((r(2, 5, 3, 4), rotary_angles(5, 4)), {}), ((r(3, 33, 2, 16), rotary_angles(33, 16, 500.0), 1.25), {}),
                   ((r(2, 7, 1, 8), rotary_angles(7, 8), 1.0, True), {}), ((r(0, 7, 1, 8), rotary_angles(7, 8)), {}),
                   ((r(7, 2, 3, 8).transpose(0, 1), rotary_angles(7, 8)), {}),
                   ((r(2, 8, 3, 5).transpose(1, 3), rotary_angles(5, 8)[:, ::1].t().contiguous().t()), {})],
        small_of(lambda r: [((r(2, 3, 1, 4), rotary_angles(3, 4)), {}), ((r(1, 3, 2, 2), rotary_angles(3, 2, 100.0), 0.5, True), {})]),
        errors=[(lambda r: ((r(2, 3, 2, 3), rotary_angles(3, 2)), {}), r"the head width must be even, got 3"),
                (lambda r: ((r(2, 3, 4), rotary_angles(3, 4)), {}), r"x must be \[B, N, H, d\], got \[2, 3, 4\]"),
                (lambda r: ((r(2, 3, 1, 4), rotary_angles(4, 4)), {}), r"angles must be \[3, 2\] .* got \[4, 2\]"),
                (lambda r: ((r(2, 3, 1, 4), rotary_angles(3, 4).float()), {}), r"angles must be float64, got Float")],
        kernels={"rotary": "rows"}, second_order=True),
    Record(
        "tensor_attention", tensor_formula, tensor_samples,
        small_of(lambda r: [
            sequences(r, 1, 7, 2, 1, 4, 3, fold=(0, 2, 2), slots=2, codes=2, window=3, gains=[1.5]),
            sequences(r, 2, 5, 1, 1, 2, fold=(3, 2), slots=1),
            sequences(r, 1, 9, 2, 1, 2, fold=(1, 2, 2), slots=2, codes=1),
            sequences(r, 1, 6, 2, 1, 2, form="lambda", window=2, sinks=2, codes=1),
            sequences(r, 1, 5, 2, 1, 2, form="axial", fold=(2, 3), codes=1),
            sequences(r, 1, 5, 2, 1, 2, form="pooled", fold=(2, 3), causal=False),
            sequences(r, 1, 4, 2, 1, 2, form="full", codes=1),
            sequences(r, 1, 5, 2, 1, 2, form="random", density=0.5, codes=1),
            sequences(r, 1, 5, 2, 1, 2, form="topk", density=0.5),
            sequences(r, 1, 5, 2, 1, 2, form="window", window=3, causal=False),
            sequences(r, 2, 5, 2, 1, 2, form="full", causal=False, mask=tokens_kept(5, 3, n=5), dropout=0.3),
            sequences(r, 2, 5, 2, 1, 2, form="axial", fold=(0, 2), causal=False, mask=tokens_kept(5, 3, n=5)),
            sequences(r, 2, 5, 2, 1, 2, form="pooled", fold=(2, 3), causal=False, mask=tokens_kept(5, 3, n=5)),
            sequences(r, 2, 6, 1, 1, 2, fold=(3, 2), slots=1, mask=tokens_kept(6, 4, n=6, hole=[1])),
        ]),
        errors=[
            (lambda r: sequences(r, 1, 6, 2, 1, 4, form="pooled", fold=(2, 3)), r"form pooled cannot be causal: .* later ones too"),
            (lambda r: sequences(r, 1, 6, 2, 1, 4, form="tree"), r"form must be full, .* or topk, got tree"),
            (lambda r: sequences(r, 1, 6, 2, 1, 4, form="topk", density=0.0), r"density must be above 0 and at most 1, got 0"),
            (lambda r: sequences(r, 1, 6, 2, 1, 4), r"form summary needs a fold"),
            (lambda r: sequences(r, 1, 6, 2, 1, 4, fold=(2, 0), slots=1), r"sizes of a fold must be 1 … 2147483647 .* got 2 0"),
            (lambda r: sequences(r, 1, 6, 2, 1, 4, fold=(2, -3), slots=1), r"sizes of a fold must be 1 … 2147483647"),
            (lambda r: sequences(r, 1, 6, 2, 1, 4, fold=(2**30,) * 3, slots=1, window=2**30), r"product of the fold .* must be at most 9223372036854775807"),
            (lambda r: sequences(r, 1, 7, 2, 1, 4, fold=(2, 3), form="axial"), r"fold 2 3 holds 6 tokens, the sequence has 7"),
            (lambda r: sequences(r, 1, 6, 2, 1, 4, fold=(2, 3), slots=1, window=2), r"window must hold the finest mode, 3 tokens .* got 2"),
            (lambda r: sequences(r, 1, 6, 2, 1, 4, form="window"), r"form window needs a window of at least 1"),
            (lambda r: sequences(r, 1, 6, 2, 1, 4, fold=(2, 3), slots=1, window=-1), r"window must be 0 … 2147483647, got -1"),
            (lambda r: sequences(r, 1, 6, 2, 1, 4, fold=(2, 3)), r"needs latents \[1, 1, r, 4\]"),
            (lambda r: sequences(r, 1, 6, 3, 2, 4, fold=(2, 3), slots=1), r"heads of k, 2, must divide the heads of q, 3"),
            (lambda r: sequences(r, 1, 6, 2, 1, 3, fold=(2, 3), slots=1, codes=1), r"the rotary embedding needs an even head width, got 3"),
            (lambda r: sequences(r, 1, 6, 2, 1, 4, fold=(2, 3), slots=1, codes=1, positions=torch.arange(5)), r"positions must be int64 \[6\]"),
            (lambda r: sequences(r, 1, 6, 2, 1, 4, form="axial", fold=(2, 3), codes=1, positions=torch.arange(6)), r"takes no token positions"),
            (lambda r: ((r(1, 6, 2, 4), r(1, 5, 2, 4), r(1, 6, 2, 4)), dict(form="full")), r"k must be \[1, 6, G, d\] .* got \[1, 5, 2, 4\]"),
            (lambda r: ((r(1, 6, 2, 4), r(1, 6, 2, 5), r(1, 6, 2, 4)), dict(form="full")), r"k must have the head width of q, 4, got 5"),
            (lambda r: ((r(6, 2, 4), r(6, 2, 4), r(6, 2, 4)), dict(form="full")), r"q must be \[B, n, H, d\], got \[6, 2, 4\]"),
        ]),
    Record(
        "nystroem_attention", nystroem_attention, nystroem_samples,
        small_of(lambda r: [((r(1, 7, 2, 2), r(1, 7, 2, 2), r(1, 7, 2, 3), r(2, 3)), dict(landmarks=3)),
                            ((r(2, 5, 1, 2), r(2, 5, 1, 2), r(2, 5, 1, 2), None, tokens_kept(5, 2, n=5)), dict(landmarks=2)),
                            ((r(1, 3, 1, 2), r(1, 3, 1, 2), r(1, 3, 1, 2)), dict(landmarks=4))]),
        second_order=True,
        errors=[(lambda r: ((r(1, 5, 2, 4), r(1, 6, 2, 4), r(1, 5, 2, 4)), {}), r"k must have the shape of q \[1, 5, 2, 4\], got \[1, 6, 2, 4\]"),
                (lambda r: ((r(1, 5, 2, 4), r(1, 5, 2, 4), r(1, 5, 2, 4), r(2, 4)), {}), r"kernel must be \[2, w\] with w odd, got \[2, 4\]")]),
    Record(
        "hashed_attention", hashed_attention, hashed_samples,
        small_of(lambda r: [((r(1, 7, 2, 3), r(1, 7, 2, 2), r(2, 2, 3, 2).detach()), dict(chunk=2)),
                            ((r(2, 5, 1, 2), r(2, 5, 1, 2), r(1, 1, 2, 1).detach(), tokens_kept(5, 3, n=5)), dict(chunk=3))]),
        second_order=True,
        errors=[(lambda r: ((r(1, 5, 2, 4), r(1, 5, 2, 4), r(1, 2, 3, 2)), {}), r"rotations must be \[rounds, 2, 4, buckets / 2\] .* got \[1, 2, 3, 2\]"),
                (lambda r: ((r(1, 5, 2, 4), r(1, 5, 2, 4), r(1, 2, 4, 2)), dict(chunk=0)), r"chunk must be 1 … 46340, got 0")]),
    Record(
        "layer_norm", layer_norm, norm_samples,
        small_of(lambda r: [((r(3, 5), r(5), r(5)), {}), ((r(2, 2, 3),), {}), ((r(3, 4), r(4), None, 1e-2), {})]),
        errors=[(lambda r: ((r(3, 5), r(4)), {}), r"weight must be \[5\] for x \[3, 5\], got \[4\]"),
                (lambda r: ((r(3, 5), None, r(1, 5)), {}), r"bias must be \[5\]"),
                (lambda r: ((r(3, 5), None, None, -1.0), {}), r"eps must not be negative")],
        kernels={"layer_norm": "fused"}),
    Record(
        "rms_norm", rms_norm, rms_samples,
        small_of(lambda r: [((r(3, 5), r(5)), {}), ((r(2, 2, 3),), {}), ((r(3, 4), r(4), 1e-2), {})]),
        errors=[(lambda r: ((r(3, 5), r(4)), {}), r"rms_norm: weight must be \[5\] for x \[3, 5\], got \[4\]"),
                (lambda r: ((r(3, 5), None, -1.0), {}), r"eps must not be negative")],
        kernels={"rms_norm": "fused"}),
    Record(
        "dropout_add", dropout_add, dropout_samples,
        small_of(lambda r: [((r(3, 5), r(3, 5), 0.4, 1, 2, 16), {}), ((None, r(7), 0.4, 1, 2, 16), {})]),
        errors=[(lambda r: ((None, r(3), 1.5, 0, 0, 16), {}), r"dropout rate must be in \[0, 1\], got 1.5"),
                (lambda r: ((r(4), r(3), 0.5, 0, 0, 16), {}), r"residual must have the shape of x \[3\], got \[4\]")],
        kernels={"dropout_add": "philox"}, second_order=True),
    Record(
        "dropout_add_norm", dropout_add_norm, add_norm_samples,
        small_of(lambda r: [((r(3, 5), r(3, 5), 0.3, 1, 2, 16, r(5), r(5)), {}), ((r(3, 4), r(3, 4), 0.0, 1, 2, 16), {})]),
        errors=[(lambda r: ((r(3, 4), r(3, 5), 0.1, 0, 0, 16), {}), r"residual must have the shape of x")],
        kernels={"dropout_add_norm": "fused"}),
    Record(
        "elementary", elementary, elementary_samples,
        small_of(lambda r: [((in_domain(r(3, 4), function), function), {}) for function in ELEMENTARY]),
        errors=[(lambda r: ((r(3), "cosh"), {}), "function must be exp, log, sqrt, sin, cos, tanh, gelu or gelu_slope, got 'cosh'")],
        kernels={"elementary": "chunks"}),
    Record(
        "swiglu", swiglu, swiglu_samples, small_of(lambda r: [((r(3, 6),), {}), ((r(2, 2, 2),), {})]),
        errors=[(lambda r: ((r(3, 5),), {}), r"gate_and_up must be \[\.\.\., 2M\], got \[3, 5\]")],
        kernels={"swiglu": "fused"}),
    Record(
        "feed_forward", feed_forward, feed_forward_samples,
        small_of(lambda r: [(feed_forward_arguments(r, (3, 4), 5, 2, gate=True, bias=False), {}),
                            (feed_forward_arguments(r, (2, 2, 3), 3, 3, gate=False, bias=True), {}),
                            (feed_forward_arguments(r, (3,), 2, 1, gate=True, bias=True), {}),
                            ((*feed_forward_arguments(r, (4, 2), 3, 2, gate=False, bias=True), 0.4, 1, 2, 16), {}),
                            (feed_forward_arguments(r, (194, 1), 2, 1, gate=True, bias=True), {})]),
        errors=[(lambda r: ((r(2, 3), r(4, 5), r(3, 4)), {}), r"feed_forward: first must be \[M, 3\] for x \[2, 3\], got \[4, 5\]"),
                (lambda r: ((r(2, 3), r(4, 3), r(3, 5)), {}), r"feed_forward: second must be \[N, 4\] for first \[4, 3\], got \[3, 5\]")]),
    Record(
        "kronecker_attention", kronecker_attention, kronecker_samples,
        small_of(lambda r: [
            (attention_arguments(r, (1, 3, 2, 4), 2), dict(heads=2, rope_modes=[0])),
            (attention_arguments(r, (2, 2, 3, 2), 1, norm=False), dict(heads=1, combine="sum", token_mask=bools(2, 2, 3))),
            (attention_arguments(r, (1, 2, 3, 4), 2, norm=False, bias=False), dict(heads=2, kernel="linear", features=5)),
            (attention_arguments(r, (1, 2, 3, 4), 2), dict(heads=2, kernel="linear", features=5, feature_map="regularised")),
            (attention_arguments(r, (1, 2, 2, 2, 2), 1), dict(heads=1, combine="mean", dropout=0.3, seed=2, site=16,
                                                              token_mask=bools(1, 2, 2, 2))),
        ]),
        errors=[
            (lambda r: (attention_arguments(r, (2, 3, 4, 8), 2), dict(heads=3)), r"kronecker_attention: heads must divide"),
            (lambda r: (attention_arguments(r, (2, 3, 4, 8), 2), dict(heads=2, share_modes=True)),
             r"query_weight must be \[8, 8\] for x \[2, 3, 4, 8\] and shared modes, got \[16, 8\]"),
            (lambda r: (attention_arguments(r, (2, 3, 4, 8), 2), dict(heads=2, combine="max")), r"combine must be product, sum or mean"),
            (lambda r: (attention_arguments(r, (2, 3, 4, 8), 2), dict(heads=2, attend_modes=[2])), r"attend_modes must be in 0 … 1"),
            (lambda r: (attention_arguments(r, (2, 3, 4, 8), 2), dict(heads=2, attend_modes=[1, 1])), r"must not repeat a mode, got 1 twice"),
            (lambda r: (attention_arguments(r, (2, 3, 4, 8), 2), dict(heads=4)), r"query_norm_weight must be \[2\]"),
            (lambda r: (attention_arguments(r, (2, 3, 4, 8), 2), dict(heads=2, kernel="cosine")), r"kernel must be softmax or linear, got cosine"),
            (lambda r: (attention_arguments(r, (2, 3, 4, 8), 2), dict(heads=2, kernel="linear", feature_map="relu")),
             r"feature_map must be softmax or regularised, got relu"),
            (lambda r: (attention_arguments(r, (2, 3, 4, 8), 2), dict(heads=2, mode_masks=[bools(3, 3)])), r"mode_masks must be empty or one per mode, 2, got 1"),
            (lambda r: (attention_arguments(r, (2, 3, 4, 8), 2), dict(heads=2, mode_masks=[bools(4, 4), None])),
             r"the mask of mode 0 must be \[3, 3\]"),
            (lambda r: (attention_arguments(r, (2, 3, 4, 8), 2), dict(heads=2, kernel="linear", mode_masks=[bools(3, 3), None])),
             r"mode_masks need kernel softmax, kernel linear never forms S_i"),
            (lambda r: (attention_arguments(r, (2, 3, 4, 6), 2), dict(heads=2, rope_modes=[1])), r"head width must be even"),
        ],
        kernels={"mode_pool": "one_pass", "mode_scores": "fused", "mode_product": "strided"}),
    Record(
        "mode_attention", mode_attention, maps_samples,
        small_of(lambda r: [((lambda a: (a[0], *a[2:]))(attention_arguments(r, (1, 3, 2, 4), 2)), dict(heads=2))]),
        errors=[(lambda r: ((r(2, 3, 4), r(4, 3), None, r(4, 4), None), dict(heads=1)), r"mode_attention: query_weight must be \[4, 4\]")],
        kernels={"mode_pool": "one_pass", "mode_scores": "fused"}),
    Record(
        "full_attention", full_attention, full_samples,
        small_of(lambda r: [((r(1, 3, 2, 4), r(1, 3, 2, 4), r(1, 3, 2, 4), 2), {}),
                            ((r(2, 3, 4), r(2, 3, 4), r(2, 3, 4), 2, bools(2, 3), 0.2, 1, 1, 16), {}),
                            ((r(1, 2, 4), r(1, 3, 2, 4), r(1, 3, 2, 4), 2), {}), ((r(1, 2, 4), r(1, 5, 4), r(1, 5, 4), 2, None, 0.2, 1, 1, 16), {}),
                            ((r(1, 3, 4), r(1, 3, 4), r(1, 3, 4), 2), dict(causal=True)),
                            ((r(1, 3, 4), r(1, 3, 4), r(1, 3, 4), 2, torch.tensor([[False, True, True]])), dict(causal=True))]),
        errors=[(lambda r: ((r(2, 3, 4), r(2, 3, 4), r(2, 2, 4), 2), {}), r"full_attention: v must have the shape of k \[2, 3, 4\], got \[2, 2, 4\]"),
                (lambda r: ((r(2, 3, 4), r(2, 5, 6), r(2, 5, 6), 2), {}), r"full_attention: k must be \[2, M_1 … M_j, 4\] for q \[2, 3, 4\], got \[2, 5, 6\]"),
                (lambda r: ((r(2, 3, 4), r(2, 5, 4), r(2, 5, 4), 2, bools(2, 3)), {}), r"token_mask must be \[2, 5\]"),
                (lambda r: ((r(2, 3, 4), r(2, 3, 4), r(2, 3, 4), 2, None, -0.1), {}), r"dropout rate must be in")]),
    Record(
        "axis_attention", axis_attention, axis_samples,
        small_of(lambda r: [((r(1, 3, 2, 4), r(1, 3, 2, 4), r(1, 3, 2, 4), 2, 0), {}),
                            ((r(1, 3, 2, 4), r(1, 3, 2, 4), r(1, 3, 2, 4), 2, 1, bools(1, 3, 2)), {})]),
        errors=[(lambda r: ((r(2, 3, 4), r(2, 3, 4), r(2, 3, 4), 2, 1), {}), r"axis_attention: mode must be 0 … 0"),
                (lambda r: ((r(2, 3, 4), r(2, 3, 4), r(2, 3, 4), 2, 0, None, bools(2, 2)), {}), r"axis_mask must be bool \[3, 3\]")]),
    Record(
        "language_loss", language_loss, loss_samples,
        small_of(lambda r: [((r(2, 3, 4), r(5, 4), torch.tensor([[0, 4, -1], [2, -100, 3]])), {}), ((r(3, 2), r(4, 2), torch.tensor([1, 2, 3]), 2), {}),
                            ((r(2, 3), r(4, 3), torch.tensor([-1, -1])), {})]),
        errors=[(lambda r: ((r(2, 3), r(4, 5), torch.zeros(2, dtype=torch.int64)), {}), r"language_loss: head must be \[V, D\] for hidden \[..., D\], got \[4, 5\] and \[2, 3\]"),
                (lambda r: ((r(2, 3), r(4, 3), torch.zeros(3, dtype=torch.int64)), {}), r"targets must be int64 \[2\] for hidden \[2, 3\], got Long \[3\]"),
                (lambda r: ((r(2, 3), r(4, 3), torch.zeros(2)), {}), r"targets must be int64 \[2\] .* got Float \[2\]")],
        kernels={"language_loss": "chunks"}, call=lambda hidden, *rest: ops.language_loss(hidden, *rest).to(hidden.dtype)),
    Record(
        "token_losses", token_losses, loss_samples,
        lambda r: [((r(2, 3, 4), r(5, 4), torch.tensor([[0, 4, -1], [2, -100, 3]])), {})],
        errors=[(lambda r: ((r(2, 3), r(4, 5), torch.zeros(2, dtype=torch.int64)), {}), r"token_losses: head must be \[V, D\]")],
        kernels={"token_losses": "chunks"}, differentiable=False, call=lambda hidden, *rest: ops.token_losses(hidden, *rest).to(hidden.dtype)),
    Record(
        "batch_norm", lambda *args: batch_norm(*args)[0], batch_samples,
        small_of(lambda r: [((r(3, 5), r(5), r(5)), {}), ((r(2, 2, 3), r(3), r(3), 1e-2), {}), ((r(40, 2), r(2), r(2)), {})]),
        errors=[(lambda r: ((r(3, 5), r(4), r(5)), {}), r"batch_norm: weight must be \[5\] for x \[3, 5\], got \[4\]"),
                (lambda r: ((r(3, 5), r(5), r(1, 5)), {}), r"batch_norm: bias must be \[5\] for x \[3, 5\], got \[1, 5\]"),
                (lambda r: ((r(2, 0, 5), r(5), r(5)), {}), r"batch_norm: x must have at least one row, got \[2, 0, 5\]"),
                (lambda r: ((r(3, 5), r(5), r(5), -1.0), {}), r"eps must not be negative, got -1")],
        kernels={"batch_norm": "chunks"}, roundings=100, call=lambda *args: ops.batch_norm(*args)[0]),
    Record(
        "masked_moments", masked_moments, moment_samples,
        small_of(lambda r: [((r(5, 3), torch.tensor([True, False, True, True, False])), {}), ((r(3, 2), torch.zeros(3, dtype=torch.bool)), {})]),
        errors=[(lambda r: ((r(5, 3), bools(4)), {}), r"masked_moments: mask must be bool \[5\] for rows \[5, 3\], got Bool \[4\]"),
                (lambda r: ((r(5), bools(5)), {}), r"rows must be \[n, C\], got \[5\]")],
        kernels={"masked_moments": "gathered"}, call=lambda *args: ops.masked_moments(*args)[:2]),
    Record(
        "update_moments", update_moments,
        lambda r: [(moments_of(r, c, count), {}) for c, count in [(3, 7), (33, 1), (1, 2), (65, 100000)]],
        lambda r: [(moments_of(r, 3, 4), {})],
        errors=[(lambda r: ((r(3), r(3), r(3), r(2), torch.tensor(1.0, dtype=torch.float64), 0.1), {}), r"update_moments: var must be \[3\] for running_mean \[3\], got \[2\]"),
                (lambda r: ((r(3), r(3), r(3), r(3), torch.tensor(1.0), 0.1), {}), r"count must be a float64 scalar, got Float \[\]")],
        kernels={"update_moments": "exact"}, differentiable=False, call=changed("update_moments", (0, 1))),
    Record(
        "sum_of_squares", sum_of_squares,
        lambda r: [((r(*shape),), {}) for shape in [(2, 3, 5), (33,), (4095,), (4097,), (65, 129), (0,), (), (3, 17)]] + [((r(7, 5).t(),), {})],
        small_of(lambda r: [((r(2, 3),), {}), ((r(5),), {})]),
        second_order=True,
        errors=[(lambda r: ((r(3).half(),), {}), r"sum_of_squares: x must be float32, float64 or bfloat16, got Half")],
        kernels={"sum_of_squares": "blocks"}, integers=True, call=lambda x: ops.sum_of_squares(x).to(x.dtype)),
    Record(
        "adam_step", adam_step, adam_samples, lambda r: [((r(2, 3), r(2, 3), r(2, 3), r(2, 3).square(), 0.9, 0.99, 1e-8, 0.1, 1.0), {})],
        errors=[(lambda r: ((r(3), r(2), r(3), r(3), 0.9, 0.99, 1e-8, 0.1, 1.0), {}), r"adam_step: gradient must have the shape of parameter \[3\], got \[2\]"),
                (lambda r: ((r(2, 3).t(), r(3, 2), r(3, 2), r(3, 2), 0.9, 0.99, 1e-8, 0.1, 1.0), {}), r"parameter and moments must be contiguous"),
                (lambda r: ((r(3), r(3), r(3).double(), r(3), 0.9, 0.99, 1e-8, 0.1, 1.0), {}), r"first_moment must have the type of parameter, Float")],
        kernels={"adam_step": "fused"}, roundings=300, differentiable=False, call=changed("adam_step", (0, 2, 3))),
    Record(
        "summary_step", summary_step, step_samples,
        lambda r: [in_schema_order(step_case(r, 1, 3, 2, 1, 4, 2, first=2, window=3, sinks=1, slots=(2,), r=2, codes=2)),
                   in_schema_order(step_case(r, 1, 2, 2, 2, 2, 2, first=0, window=2))],
        errors=[(lambda r: step_case(r, 1, 2, 3, 2, 4, 4, first=0, window=3), r"summary_step: q, k, turned and v must be .* G a divisor of H"),
                (lambda r: step_case(r, 1, 2, 2, 2, 4, 4, first=-1, window=3), r"first must be 0 … 2147483647, got -1")],
        kernels={"summary_step": "loops"}, differentiable=False, call=changed("summary_step", (4, 5, 6, 7, 9, 10, 11, 12))),
    Record(
        "summary_join", joined, join_samples, lambda r: [((r(1, 2, 1, 3), r(1, 2, 1, 2), *partial_blocks(r, 1, 1, 2, 3, 2)), {})],
        errors=[(lambda r: ((r(1, 2, 1, 3), r(1, 2, 1, 2), *partial_blocks(r, 1, 2, 2, 3, 2)), {}), r"summary_join: latents must be \[1, r, 3\], got \[2, 2, 3\]")],
        kernels={"summary_join": "loops"}, differentiable=False, call=changed("summary_join", (3, 4, 5, 6))),
]
