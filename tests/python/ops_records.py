"""One record an operator: how to call it, an independent formula, inputs that are hard for it, bad arguments.

test_ops.py drives every record through values, gradients, opcheck, repeats, threads, instruction sets, layouts and
errors. A sample is (args, kwargs); formulas (ops_formulas.py) are plain torch, run in float64 as the oracle and in the
sample's own type as the measure of what rounding costs anyway.
"""

import dataclasses
import os
import pathlib
from collections.abc import Callable

import torch

from ops_formulas import (adam_step, axis_attention, convolution, dot_product_attention, dropout_add, dropout_add_norm, full_attention, joined,
                          kronecker_attention, language_loss, layer_norm, linear, masked_moments, matmul, mode_attention, mode_contract,
                          mode_pool, mode_product, mode_scores, rms_norm, rotary, rotary_angles, sum_of_squares, summary_step, swiglu, synthesized_attention,
                          tensor_formula, token_losses, update_moments)

BUILD = pathlib.Path(os.environ.get("MODEWISE_BUILD", pathlib.Path(__file__).parents[2] / "build"))
torch.ops.load_library(str(BUILD / "lib" / "libmodewise_ops.so"))
ops = torch.ops.modewise


@dataclasses.dataclass
class Record:
    name: str
    formula: Callable
    samples: Callable  # (rand) -> list of (args, kwargs); rand(*shape) draws a tensor of the type under test
    small: Callable  # the same for finite differences: a few entries each
    errors: list = dataclasses.field(default_factory=list)  # ((rand) -> (args, kwargs), pattern of the message)
    kernels: dict = dataclasses.field(default_factory=dict)  # operator: kernel that must have run
    second_order: bool = False
    integers: bool = False  # exact on small integers
    differentiable: bool = True
    call: Callable = None

    def __post_init__(self):
        self.call = self.call or getattr(ops, self.name)


def drawer(dtype, seed=0, integers=False):
    generator = torch.Generator().manual_seed(seed)

    def rand(*shape, grad=False):
        if integers:
            t = torch.randint(-3, 4, shape, generator=generator).to(dtype)
        else:
            t = torch.randn(shape, generator=generator, dtype=torch.float64).to(dtype)
        return t.requires_grad_(grad)

    return rand


def bools(*shape, keep=0.7, seed=1):
    return torch.rand(shape, generator=torch.Generator().manual_seed(seed)) < keep


def outputs(result):
    return list(result) if isinstance(result, (tuple, list)) else [result]


# ---- samples ----


def softmaxed(t):
    return torch.softmax(t.float(), -1).to(t.dtype).requires_grad_(t.requires_grad)


def product_samples(rand):
    cases = []
    for shape, heads in [((2, 3, 5, 7, 12), 3), ((3, 33, 12), 2), ((1, 17, 31, 16), 1), ((2, 2, 65, 32), 2),
                         ((2, 7, 7, 7, 16), 1), ((1, 1, 1, 1), 1), ((3, 21, 24, 128), 8), ((1, 63, 5, 40), 5)]:
        for mode in range(len(shape) - 2):
            for m in (1, shape[mode + 1], 8):
                cases.append(((rand(*shape), rand(shape[0], heads, m, shape[mode + 1]), mode), {}))
            cases.append(((rand(*shape), rand(9, shape[mode + 1]), mode), {}))
    x = rand(2, 12, 7, 5)
    cases.append(((x.transpose(1, 3), rand(2, 4, 3, 5), 0), {}))  # channels are not dense
    cases.append(((rand(1, 5, 1, 8).expand(3, 5, 7, 8), rand(1, 2, 1, 5).expand(3, 2, 4, 5), 0), {}))
    cases.append(((rand(2, 5, 7, 8), rand(2, 2, 5, 6).transpose(-1, -2), 0), {}))
    cases.append(((rand(2, 9, 7, 8)[:, 1:8:2, :, ::2], rand(2, 2, 3, 4), 0), {}))
    for shape, factor in [((0, 5, 7, 8), (0, 2, 3, 5)), ((2, 0, 7, 8), (2, 2, 3, 0)), ((2, 5, 0, 8), (2, 2, 3, 5)),
                          ((2, 5, 7, 8), (2, 2, 0, 5)), ((2, 5, 7, 0), (2, 2, 3, 5))]:
        cases.append(((rand(*shape), rand(*factor), 0), {}))
    return cases


def linear_samples(rand):
    cases = []
    for shape, m in [((33, 17), 5), ((2, 5, 63), 65), ((7,), 3), ((300, 128), 128), ((1, 4096), 1300), ((9, 512), 1030),
                     ((0, 8), 4), ((2, 0), 3), ((2, 3), 0)]:
        cases += [((rand(*shape), rand(m, shape[-1])), {}), ((rand(*shape), rand(m, shape[-1]), rand(m)), {})]
    cases.append(((rand(8, 5, 3).transpose(0, 2), rand(8, 6).T, rand(6, 2)[:, 1]), {}))  # nothing is dense
    cases.append(((rand(1, 3, 1).expand(40, 3, 16), rand(1, 16).expand(5, 16)), {}))
    return cases


def matmul_samples(rand):
    cases = []
    for m, k, n in [(33, 17, 5), (1, 63, 65), (7, 1, 3), (300, 128, 96), (31, 600, 49), (2, 1, 1), (195, 257, 7)]:
        cases += [((rand(m, k), rand(k, n)), {}), ((rand(2, 3, m, k), rand(2, 3, k, n)), {}),
                  ((rand(2, 3, m, k), rand(3, n, k).transpose(-1, -2)), {}),
                  ((rand(k, m).T, rand(5, k, n)), {}), ((rand(3, m, 2 * k)[:, :, ::2], rand(3, k, 2 * n)[..., 1::2]), {})]
    cases.append(((rand(2, 1, 5, 1).expand(2, 3, 5, 7), rand(1, 3, 1, 4).expand(2, 3, 7, 4)), {}))
    for a, b in [((0, 3, 4), (0, 4, 5)), ((2, 0, 4), (2, 4, 5)), ((2, 3, 0), (2, 0, 5)), ((2, 3, 4), (2, 4, 0))]:
        cases.append(((rand(*a), rand(*b)), {}))
    return cases


def convolution_samples(rand):
    cases = []
    for x, weight, stride, padding, dilation in [
            ((3, 17, 5), (7, 5, 3), [2], [1], [1]), ((1, 33, 31, 13), (17, 13, 7, 7), [2, 2], [3, 3], [1, 1]),
            ((5, 9, 7, 16), (33, 16, 3, 3), [1, 1], [1, 1], [1, 1]), ((17, 5, 3, 7), (2, 7, 1, 1), [2, 2], [0, 0], [1, 1]),
            ((3, 7, 5, 9, 3), (5, 3, 3, 3, 3), [1, 1, 1], [1, 1, 1], [1, 1, 1]), ((2, 8, 9, 7, 1), (3, 1, 5, 3, 2), [3, 2, 1], [2, 0, 1], [1, 2, 3]),
            ((5, 31, 3), (7, 3, 3), [1], [4], [5]), ((3, 9, 7, 5), (2, 5, 3, 3), [2, 2], [1, 1], [2, 2]),
            ((2, 65, 33), (31, 33, 1), [1], [0], [1]), ((1, 2, 63, 17), (3, 17, 2, 1), [5, 4], [0, 0], [1, 1]),
            ((0, 7, 3), (2, 3, 3), [1], [1], [1])]:
        cases += [((rand(*x), rand(*weight), None, stride, padding, dilation), {}),
                  ((rand(*x), rand(*weight), rand(weight[0]), stride, padding, dilation), {})]
    cases.append(((rand(5, 9, 2, 4).transpose(0, 3), rand(3, 3, 5, 6).permute(3, 2, 1, 0), rand(6, 2)[:, 1], [1, 2], [1, 1], [1, 1]), {}))
    cases.append(((rand(1, 9, 1).expand(3, 9, 4), rand(2, 1, 3).expand(2, 4, 3), None, [1], [0], [1]), {}))
    return cases


def dot_product_samples(rand):
    cases = []
    for b, n, m, h, g, d, e in [(2, 17, 17, 2, 2, 8, 8), (1, 33, 33, 1, 1, 16, 16), (3, 1, 65, 6, 2, 5, 7), (2, 63, 31, 4, 1, 3, 2),
                                (1, 300, 300, 2, 2, 32, 17), (1, 1, 1, 1, 1, 1, 1), (0, 5, 5, 2, 2, 4, 4), (2, 0, 3, 2, 1, 4, 4)]:
        q, k, v = rand(b, n, h, d), rand(b, m, g, d), rand(b, m, g, e)
        kept = bools(b, 1, 1, m)
        kept[..., :1] = True
        cases += [((q, k, v, None, False, 0.3), {}), ((q, k, v, kept, False, 1.0), {})]
        if n == m:
            cases.append(((q, k, v, None, True, 0.5), {}))
    rows = torch.arange(5)
    cases.append(((rand(2, 3, 5, 4).transpose(1, 2), rand(2, 4, 5, 3).permute(0, 2, 3, 1), rand(1, 5, 1, 6).expand(2, 5, 3, 6),
                   rows[:, None] >= rows, False, 0.5), {}))
    cases.append(((rand(2, 7, 6, 3), rand(2, 7, 2, 3), rand(2, 7, 3, 5), None, True, 1.0), {}))
    cases.append(((rand(8, 700, 2, 4), rand(8, 700, 2, 4), rand(8, 700, 2, 4), None, True, 0.5), {}))  # several blocks
    return cases


def contract_samples(rand):
    cases = []
    for shape, heads in [((2, 3, 5, 7, 12), 3), ((3, 33, 12), 2), ((1, 17, 31, 16), 1), ((3, 21, 24, 128), 8),
                         ((2, 2, 65, 6), 0), ((2, 65, 3, 8), 0), ((5, 7, 33, 40), 5), ((1, 1, 1, 1), 1)]:
        for mode in range(len(shape) - 2):
            other = list(shape)
            other[mode + 1] = 5
            cases.append(((rand(*other), rand(*shape), mode, heads), {}))
    cases.append(((rand(2, 12, 3, 4).transpose(1, 3), rand(1, 5, 1, 1).expand(2, 5, 3, 12)[:, :, :, :], 0, 2), {}))
    for a, x in [((0, 3, 4, 8), (0, 5, 4, 8)), ((2, 0, 4, 8), (2, 5, 4, 8)), ((2, 3, 0, 8), (2, 5, 0, 8))]:
        cases.append(((rand(*a), rand(*x), 0, 2), {}))
    return cases


def pool_samples(rand):
    cases = []
    for shape in [(2, 3, 5, 7, 12), (3, 33, 12), (1, 17, 31, 65), (2, 2, 65, 128), (3, 21, 24, 128), (1, 1, 1, 1),
                  (2, 2, 3, 2, 2, 5), (0, 3, 4, 8), (2, 0, 4, 8), (2, 3, 4, 0)]:
        for pooling in ("sum", "mean"):
            cases.append(((rand(*shape), pooling), {}))
            cases.append(((rand(*shape), pooling, bools(*shape[:-1])), {}))
    cases.append(((rand(2, 8, 5, 3).transpose(1, 3), "sum"), {}))
    cases.append(((rand(2, 1, 5, 64).expand(2, 4, 5, 64), "mean", bools(2, 5, 4).transpose(1, 2)), {}))
    cases.append(((rand(2, 3, 4, 8), "mean", torch.zeros(2, 3, 4, dtype=torch.bool)), {}))
    return cases


def synthesized_samples(rand):
    cases = []
    # b, n, m, heads, e, c, outer, inner: grids 3 x 5 x 7 and prime sizes among them; blocks inside and across rows of outer.
    for b, n, m, h, e, c, outer, inner in [(2, 15, 15, 2, 7, 5, (3, 5), (5, 3)), (3, 21, 21, 1, 4, 7, (21, 21), (1, 1)),
                                           (2, 17, 17, 3, 1, 1, (1, 1), (17, 17)), (1, 48, 48, 1, 8, 9, (6, 8), (8, 6)),
                                           (2, 13, 31, 2, 3, 4, (4, 8), (4, 4)), (1, 1, 1, 1, 1, 1, (1, 1), (1, 1)),
                                           (0, 6, 6, 1, 2, 2, (2, 3), (3, 2)), (2, 0, 3, 1, 2, 2, (1, 3), (1, 1))]:
        v, left, right = rand(b, m, h, e), rand(b, n, h, c), rand(b, m, h, c)
        factors = rand(h, *outer), rand(h, *inner)
        cases += [((v, left, right, None, None, n), {}), ((v, None, None, *factors, n), {}), ((v, left, right[:1], *factors, n), {})]
        cases += [((v, None, None, *factors, n, bools(b, m, keep=0.5)), {}), ((v, left, right, *factors, n, bools(b, m)), {})]
        if n <= m:
            cases += [((v, None, None, *factors, n, None, True), {}), ((v, left, right, *factors, n, bools(b, m), True), {})]
    kept = torch.tensor([[True] * 9, [False] * 9])  # a sample of which nothing is kept
    cases.append(((rand(2, 9, 2, 4), rand(2, 9, 2, 3), rand(1, 9, 2, 3), None, None, 9, kept), {}))
    cases.append(((rand(2, 2, 6, 3).transpose(1, 2), rand(5, 6, 2, 2).permute(3, 1, 2, 0), rand(2, 6, 5, 2).transpose(2, 3),
                   rand(3, 2, 2).transpose(0, 2), rand(2, 3, 6)[..., ::3], 6), {}))
    return cases


def large_synthesized(rand):  # several blocks of rows, with and without samples of their own
    v, left, right = rand(2, 1200, 1, 3), rand(2, 1200, 1, 4), rand(1, 1200, 1, 4)
    return [((v, None, None, rand(1, 30, 40), rand(1, 40, 30), 1200), {}), ((v, None, None, rand(1, 1, 40), rand(1, 1200, 30), 1200), {}),
            ((v, left, right, rand(1, 1200, 2), rand(1, 1, 600), 1200, None, True), {})]


def score_samples(rand):
    cases = []
    for b, n, heads, d in [(2, 5, 2, 3), (3, 33, 2, 16), (1, 65, 4, 8), (2, 1, 1, 1), (2, 24, 8, 16), (1, 17, 1, 63),
                           (0, 3, 2, 4), (2, 0, 2, 4)]:
        q, k = rand(b, n, heads * d), rand(b, n, heads * d)
        cases.append(((q, k, heads), {}))
        cases.append(((q, k, heads, bools(b, n)), {}))
        cases.append(((q, k, heads, bools(b, heads, n, keep=0.4), bools(n, n)), {}))
        cases.append(((q, k, heads, None, torch.tril(torch.ones(n, n, dtype=torch.bool), -1)), {}))
    for b, n, m, heads, d in [(2, 5, 9, 2, 3), (1, 33, 7, 2, 16), (2, 1, 65, 1, 8), (1, 17, 1, 3, 5), (2, 0, 3, 2, 4)]:
        q, k = rand(b, n, heads * d), rand(b, m, heads * d)
        cases.append(((q, k, heads), {}))
        cases.append(((q, k, heads, bools(b, heads, m, keep=0.4), bools(n, m)), {}))
    cases.append(((rand(5, 2, 8).transpose(0, 1), rand(2, 8, 5).transpose(1, 2), 2), {}))
    return cases


def norm_samples(rand):
    cases = []
    for shape in [(2, 3, 5, 128), (33, 16), (7, 1), (5, 63), (65, 33), (1, 2), (0, 8), (3, 4, 512), (1000, 17), (2, 5, 8, 3)]:
        d = shape[-1]
        cases += [((rand(*shape),), {}), ((rand(*shape), rand(d), rand(d)), {}), ((rand(*shape), rand(d), None, 1e-3), {}),
                  ((rand(*shape), None, rand(d)), {})]
    cases.append(((rand(8, 5, 6).transpose(0, 2), rand(8)), {}))
    cases.append(((rand(5, 1).expand(5, 16), rand(16)), {}))
    return cases


def rms_samples(rand):
    cases = []
    for shape in [(2, 3, 5, 128), (33, 16), (7, 1), (5, 63), (65, 33), (1, 2), (0, 8), (3, 4, 512), (1000, 17), (2, 5, 8, 3)]:
        cases += [((rand(*shape),), {}), ((rand(*shape), rand(shape[-1])), {}), ((rand(*shape), rand(shape[-1]), 1e-3), {})]
    cases.append(((rand(8, 5, 6).transpose(0, 2), rand(8)), {}))
    cases.append(((rand(5, 1).expand(5, 16), rand(16)), {}))
    return cases


def dropout_samples(rand):
    cases = []
    for shape in [(2, 3, 5, 16), (63,), (65,), (1,), (129, 3), (0, 4), ()]:
        for p in (0.0, 0.1, 0.5, 1.0):
            cases.append(((None, rand(*shape), p, 7, 3, 16), {}))
            cases.append(((rand(*shape), rand(*shape), p, 2**63 - 3, 2**33 + 1, 2**32 - 1), {}))
    cases.append(((rand(5, 7).t(), rand(7, 1).expand(7, 5), 0.3, -1, 3, 16), {}))
    return cases


def add_norm_samples(rand):
    cases = []
    for shape in [(2, 3, 5, 16), (33, 128), (65, 7), (131, 3), (1, 1), (0, 8)]:
        d = shape[-1]
        for p in (0.0, 0.2):
            cases.append(((rand(*shape), rand(*shape), p, 7, 3, 16, rand(d), rand(d)), {}))
            cases.append(((rand(*shape), rand(*shape), p, 7, 3, 17), {}))
    return cases


def swiglu_samples(rand):
    cases = [((rand(*shape),), {}) for shape in
             [(2, 3, 34), (33, 64), (5, 1024), (65, 2), (7, 62), (4,), (0, 8), (3, 0)]]
    cases.append(((rand(10, 7, 5).transpose(0, 2),), {}))
    cases.append(((rand(3, 34) * 40,), {}))
    return cases


def attention_arguments(rand, shape, heads, *, bias=True, norm=True, shared=False):
    d, modes = shape[-1], 1 if shared else len(shape) - 2
    scale = d**-0.5
    weight = lambda: (rand(modes * d, d).detach() * scale).requires_grad_(rand(1, 1).requires_grad)
    per_head = (rand(d // heads), rand(d // heads)) if norm else (None, None)
    return (rand(*shape), rand(*shape), weight(), rand(modes * d) if bias else None, weight(),
            rand(modes * d) if bias else None, *per_head, *per_head)


def kronecker_samples(rand):
    def case(shape, heads, bias=True, norm=True, **options):
        args = attention_arguments(rand, shape, heads, bias=bias, norm=norm, shared=options.get("share_modes", False))
        return args, dict(heads=heads, **options)

    masks = [bools(5, 5), None, bools(3, 3, seed=4)]
    return [
        case((2, 5, 7, 12), 3),
        case((2, 5, 7, 12), 3, norm=False, bias=False, combine="sum"),
        case((2, 5, 7, 12), 3, combine="mean", pooling="mean", rope_modes=[1]),
        case((2, 5, 7, 16), 2, share_modes=True, rope_modes=[0, 1], rope_base=500.0),
        case((1, 5, 7, 3, 8), 2, attend_modes=[2, 0], combine="product"),
        case((2, 33, 16), 2),
        case((2, 21, 24, 128), 8, rope_modes=[1]),
        case((2, 5, 7, 3, 8), 4, token_mask=bools(2, 5, 7, 3, keep=0.5)),
        case((2, 5, 7, 12), 3, token_mask=bools(2, 5, 7, keep=0.2), pooling="mean", combine="sum"),
        case((2, 5, 7, 12), 3, token_mask=torch.zeros(2, 5, 7, dtype=torch.bool), combine="mean"),
        case((2, 5, 2, 3, 8), 2, mode_masks=masks, token_mask=bools(2, 5, 2, 3)),
        case((2, 5, 7, 12), 3, dropout=0.3, seed=11, step=5, site=18),
        case((2, 5, 7, 12), 3, dropout=0.3, seed=11, step=5, site=18, token_mask=bools(2, 5, 7), combine="sum"),
        case((2, 5, 7, 12), 3, kernel="linear", rope_modes=[1]),
        case((2, 5, 7, 12), 3, norm=False, bias=False, pooling="mean", combine="sum", kernel="linear", features=7,
             feature_map="regularised", feature_seed=5),
        case((2, 5, 7, 3, 8), 2, kernel="linear", feature_map="regularised", combine="mean", attend_modes=[2, 0],
             token_mask=bools(2, 5, 7, 3, keep=0.5)),
        case((2, 5, 7, 12), 3, kernel="linear", share_modes=True, token_mask=bools(2, 5, 7, keep=0.2)),
        case((2, 1, 1, 4), 1),
    ]


def maps_samples(rand):
    return [((args[0], *args[2:]), {k: v for k, v in options.items() if k not in
             ("combine", "dropout", "seed", "step", "site")}) for args, options in kronecker_samples(rand)]


def full_samples(rand):
    triple = lambda *shape: (rand(*shape), rand(*shape), rand(*shape))
    return [
        ((*triple(2, 5, 7, 12), 3), {}),
        ((*triple(1, 33, 16), 1), {}),
        ((*triple(2, 5, 7, 3, 8), 2, bools(2, 5, 7, 3)), {}),
        ((*triple(2, 5, 12), 3, torch.tensor([[True, False, True, True, False], [False] * 5])), {}),
        ((*triple(2, 3, 4, 12), 3, bools(2, 3, 4), 0.25, 3, 4, 20), {}),
        ((*triple(2, 3, 4, 12), 3, None, 0.25, 3, 4, 20), {}),
        # Keys and values from elsewhere.
        ((rand(2, 5, 12), rand(2, 3, 7, 12), rand(2, 3, 7, 12), 3), {}),
        ((rand(2, 3, 5, 8), rand(2, 9, 8), rand(2, 9, 8), 2, bools(2, 9)), {}),
        ((rand(2, 3, 5, 8), rand(2, 9, 8), rand(2, 9, 8), 2, bools(2, 9), 0.25, 3, 4, 20), {}),
        # Causal; the second sample of the third begins with tokens that see nothing.
        ((*triple(2, 17, 12), 3), dict(causal=True)),
        ((*triple(2, 3, 5, 8), 2), dict(causal=True)),
        ((*triple(2, 5, 12), 3, torch.tensor([[True, False, True, True, False], [False, False, True, True, True]])), dict(causal=True)),
        ((*triple(2, 7, 8), 2, bools(2, 7), 0.25, 3, 4, 20), dict(causal=True)),
    ]


def axis_samples(rand):
    triple = lambda *shape: (rand(*shape), rand(*shape), rand(*shape))
    cases = []
    for mode in (0, 1, 2):
        cases += [
            ((*triple(2, 5, 7, 3, 8), 2, mode), {}),
            ((*triple(2, 5, 7, 3, 8), 2, mode, bools(2, 5, 7, 3, keep=0.4)), {}),
            ((*triple(2, 5, 5, 5, 8), 4, mode, bools(2, 5, 5, 5), torch.tril(torch.ones(5, 5, dtype=torch.bool))), {}),
        ]
    cases.append(((*triple(2, 33, 16), 1, 0), {}))
    cases.append(((*triple(0, 3, 4, 8), 2, 1), {}))
    return cases


def frequency_rows(levels, d):
    base = 10000.0 ** (-torch.arange(0, d, 2, dtype=torch.float64) / d)
    return torch.stack([base / (level + 1) for level in range(levels)])


def sequences(rand, b, n, heads, groups, d, e=0, *, fold=(), slots=0, codes=0, positions=None, **options):
    """Arguments of tensor_attention: slots latents a level, codes rows of frequencies."""
    latents = rand(len(fold) - 1, groups, slots, d) if slots else None
    return ((rand(b, n, heads, d), rand(b, n, groups, d), rand(b, n, groups, e or d), latents,
             frequency_rows(codes, d) if codes else None, positions), dict(fold=list(fold), **options))


def tensor_samples(rand):
    return [
        sequences(rand, 2, 17, 3, 3, 5, fold=(4, 5), slots=1),
        sequences(rand, 1, 33, 4, 2, 8, 6, fold=(0, 4, 3), slots=2, codes=2),
        sequences(rand, 2, 31, 2, 1, 16, 33, fold=(0, 2, 3, 2), slots=3, codes=1, window=3, gains=[1.25, 0.75]),
        sequences(rand, 1, 65, 2, 2, 17, fold=(8, 9), slots=4, window=20, scale=0.5),
        sequences(rand, 1, 7, 2, 1, 4, fold=(2, 31), slots=1, codes=2, window=63),
        sequences(rand, 1, 33, 2, 1, 4, fold=(2, 4), slots=2, codes=2),
        sequences(rand, 2, 43, 4, 2, 8, 5, fold=(3, 3, 2), slots=1, codes=1),
        sequences(rand, 1, 9, 2, 1, 4, fold=(0,), codes=1),
        sequences(rand, 1, 33, 2, 1, 4, fold=(0, 4, 4), slots=1, codes=3, positions=torch.arange(33) * 2 + 5),
        sequences(rand, 2, 63, 2, 2, 8, form="window", window=7, codes=1),
        sequences(rand, 1, 65, 4, 1, 8, 3, form="lambda", window=5, sinks=3, codes=1),
        sequences(rand, 1, 5, 2, 1, 8, form="lambda", window=31, sinks=3, codes=1),
        sequences(rand, 2, 33, 4, 2, 8, form="full", codes=1),
        sequences(rand, 2, 17, 2, 2, 8, form="full", causal=False),
        sequences(rand, 1, 33, 4, 2, 8, 5, form="full", codes=1),
        sequences(rand, 1, 31, 2, 2, 3, 7, form="full"),
        sequences(rand, 2, 17, 4, 2, 8, 5, form="random", codes=1),
        sequences(rand, 1, 31, 2, 2, 3, form="random", density=0.4, causal=False, scale=0.7),
        sequences(rand, 2, 17, 4, 2, 8, 5, form="topk", density=0.3),
        sequences(rand, 1, 31, 2, 1, 3, form="topk", causal=False),
        sequences(rand, 1, 9, 2, 1, 3, form="topk", density=1.0),
        sequences(rand, 2, 24, 4, 2, 8, 5, form="axial", fold=(2, 3, 4), codes=3),
        sequences(rand, 1, 21, 2, 1, 8, form="axial", fold=(0, 2, 5)),
        sequences(rand, 2, 17, 2, 1, 8, form="axial", fold=(0, 2, 3), causal=False, codes=1),
        sequences(rand, 2, 12, 4, 2, 3, 5, form="pooled", fold=(3, 4), causal=False),
        sequences(rand, 1, 11, 2, 2, 4, form="pooled", fold=(3, 4), causal=False, codes=2),
        sequences(rand, 1, 7, 2, 2, 4, form="pooled", fold=(3, 4), causal=False),
        sequences(rand, 0, 7, 2, 2, 4, form="window", window=2),
        sequences(rand, 1, 1, 1, 1, 2, fold=(0, 1, 1), slots=1, codes=1),
    ]


def loss_samples(rand):
    cases = []
    for shape, d, v, chunk in [((33,), 17, 65, 0), ((2, 7), 5, 3, 1), ((3, 31), 63, 33, 7), ((1,), 1, 1, 0), ((0,), 4, 5, 0), ((17,), 2, 2, 64)]:
        targets = torch.arange(torch.Size(shape).numel()).mul(5).remainder(v).view(shape)
        targets[..., ::3] = -1
        cases += [((rand(*shape, d), rand(v, d), targets, chunk), {}), ((rand(*shape, d), rand(v, d), targets.clamp_min(0), chunk), {})]
    cases.append(((rand(5, 4), rand(3, 4), torch.full((5,), -100)), {}))
    cases.append(((rand(6, 3, 2).transpose(0, 1), rand(2, 9).T, torch.arange(18).remainder(9).view(6, 3).T), {}))
    return cases


def moment_samples(rand):
    cases = []
    for n, c in [(2, 3), (33, 17), (65, 1), (7, 63), (1, 5)]:
        cases += [((rand(n, c), bools(n)), {}), ((rand(n, c), torch.zeros(n, dtype=torch.bool)), {}), ((rand(n, c), torch.ones(n, dtype=torch.bool)), {})]
    cases.append(((rand(8, 33).t(), bools(33)), {}))
    return cases


def moments_of(rand, c, count):
    return (rand(c), rand(c).square(), rand(c), rand(c).square(), torch.tensor(float(count), dtype=torch.float64), 0.1)


def adam_samples(rand):
    cases = []
    for shape in [(2, 3, 5), (33,), (65, 17), (1,), (0,), (), (40000,)]:
        state = lambda: (rand(*shape), rand(*shape), rand(*shape), rand(*shape).square())
        cases += [((*state(), 0.9, 0.999, 1e-8, 0.01, 0.5), {}),
                  ((*state(), 0.8, 0.95, 1e-3, 0.1, 1.0), dict(gradient_scale=0.25, keep=0.99)), ((*state(), 0.0, 0.5, 1e-6, 0.1, 0.7), dict(added_decay=0.1))]
    cases.append(((rand(5, 7), rand(7, 5).t(), rand(5, 7), rand(5, 7).square(), 0.9, 0.99, 1e-8, 0.1, 1.0), {}))
    return cases


def changed(op, places):
    """`op`, which changes its arguments at `places`, as a function: what it returns, then those as they are after it."""
    def call(*args, **kwargs):
        type_of = args[0].dtype
        if op not in ("summary_step", "summary_join"):  # these take narrow tensors
            args = [a.float() if isinstance(a, torch.Tensor) and a.dtype == torch.bfloat16 else a for a in args]
        args = [a.clone() if i in places and a is not None else a for i, a in enumerate(args)]
        result = (step_call if op == "summary_step" else getattr(ops, op))(*args, **kwargs)
        states = [args[i].to(type_of) for i in places if args[i] is not None]
        return ([] if result is None or (op == "summary_step" and not kwargs.get("attends", True)) else [result]) + states
    return call


def wide_state(t):
    return None if t is None else t.float() if t.dtype == torch.bfloat16 else t


def step_call(q, k, v, turned, ring_keys, ring_values, first_keys, first_values, latents, high, total, sum_keys, sum_values, frequencies,
              *, slot_keys, slot_values, places, excess, gains, first, window, scale, attends=True):
    return ops.summary_step(q, k, v, turned, ring_keys, ring_values, first_keys, first_values, slot_keys, slot_values, places, excess,
                            latents, high, total, sum_keys, sum_values, frequencies, gains, first, window, scale, attends)


def open_blocks(rand, b, groups, r, d, e):
    """Latents, and sums that hold something already."""
    return [wide_state(t) for t in (rand(groups, r, d), rand(b, groups, r, 1), rand(b, groups, r, 1).square() + 1, rand(b, groups, r, d), rand(b, groups, r, e))]


def step_case(rand, b, n, heads, groups, d, e, *, first, window, sinks=0, slots=(), r=0, codes=0, gains=(), attends=True):
    rows = lambda count, width: rand(b, count, groups, width)
    ring, kept = min(window, first + n), min(sinks, first + n)
    state = open_blocks(rand, b, groups, r, d, e) if r else [None] * 5
    return ((rand(b, n, heads, d), rows(n, d), rows(n, e), rows(n, d), rows(ring, d), rows(ring, e), rows(kept, d), rows(kept, e), *state,
             frequency_rows(codes, d) if codes else None),
            dict(slot_keys=[rows(count, d) for count in slots], slot_values=[rows(count, e) for count in slots],
                 places=list(range(1, 1 + len(slots))), excess=[0.25 * i for i in range(len(slots))], gains=list(gains), first=first,
                 window=window, scale=0.5, attends=attends))


def in_schema_order(case):
    args, k = case
    return (*args[:8], k["slot_keys"], k["slot_values"], k["places"], k["excess"], *args[8:], k["gains"], k["first"], k["window"],
            k["scale"], k["attends"]), {}


def step_samples(rand):
    return [step_case(rand, 2, 1, 4, 2, 6, 5, first=7, window=5, sinks=3, codes=1),
            step_case(rand, 1, 5, 2, 1, 4, 4, first=0, window=3),
            step_case(rand, 3, 7, 3, 3, 2, 7, first=1, window=17, slots=(2, 0, 3), r=2, codes=2, gains=(1.25, 1.5)),
            step_case(rand, 1, 2, 2, 2, 8, 3, first=31, window=33, slots=(4,), r=1),
            step_case(rand, 2, 3, 2, 1, 4, 4, first=9, window=2, sinks=1, attends=False, r=3),
            step_case(rand, 1, 33, 5, 5, 2, 1, first=63, window=65, sinks=2, codes=1)]


def join_samples(rand):
    return [((rand(b, n, g, d), rand(b, n, g, e), *open_blocks(rand, b, g, r, d, e)), {})
            for b, n, g, r, d, e in [(2, 3, 2, 1, 4, 5), (1, 17, 1, 3, 7, 2), (3, 1, 5, 2, 1, 1), (1, 33, 2, 4, 16, 16)]]


def small_of(build):
    """Samples of a record made of inputs that need gradients."""
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
                (lambda r: ((r(2, 3), r(4, 5)), {}), r"matmul: b must be \[.., 3, N\] with leading sizes that fit a \[2, 3\], got \[4, 5\]"),
                (lambda r: ((r(2, 2, 3), r(5, 3, 4)), {}), r"matmul: b must be .* fit a \[2, 2, 3\], got \[5, 3, 4\]"),
                (lambda r: ((r(2, 3), r(3, 4).double()), {}), r"matmul: b must have the type of a, Float, got Double")],
        kernels={"matmul": "tiles"}, second_order=True, integers=True),
    Record(
        "convolution", convolution, convolution_samples,
        small_of(lambda r: [((r(2, 5, 2), r(3, 2, 3), r(3), [2], [1], [1]), {}), ((r(1, 4, 3, 1), r(2, 1, 2, 2), None, [1, 3], [0, 1], [2, 1]), {})]),
        errors=[(lambda r: ((r(2, 5, 3), r(4, 2, 3), None, [1], [0], [1]), {}), r"convolution: weight must be \[C', 3, K_1 … K_1\] for x \[2, 5, 3\], got \[4, 2, 3\]"),
                (lambda r: ((r(2, 3), r(4, 3), None, [], [], []), {}), r"x must be \[B, N_1 … N_k, C\] with one to three modes, got \[2, 3\]"),
                (lambda r: ((r(2, 5, 3), r(4, 3, 3), r(3), [1], [0], [1]), {}), r"bias must be \[4\] for weight \[4, 3, 3\], got \[3\]"),
                (lambda r: ((r(2, 5, 3), r(4, 3, 3), None, [0], [0], [1]), {}), r"stride must be 1 integers of at least 1, got \[0\]"),
                (lambda r: ((r(2, 5, 3), r(4, 3, 3), None, [1], [0, 1], [1]), {}), r"padding must be 1 integers of at least 0, got \[0, 1\]"),
                (lambda r: ((r(2, 5, 3), r(4, 3, 3), None, [1], [0], [3]), {}), r"the kernel must fit into mode 0 of x \[2, 5, 3\] with its padding")],
        kernels={"convolution": "tiles"}, integers=True),
    Record(
        "dot_product_attention", dot_product_attention, dot_product_samples,
        small_of(lambda r: [((r(1, 3, 2, 2), r(1, 3, 1, 2), r(1, 3, 1, 3), None, True, 0.7), {}),
                            ((r(2, 2, 1, 2), r(2, 3, 1, 2), r(2, 3, 1, 1), torch.tensor([True, False, True]), False, 1.0), {})]),
        errors=[(lambda r: ((r(2, 3, 4), r(2, 3, 4), r(2, 3, 4)), {}), r"dot_product_attention: q must be \[B, n, H, d\], got \[2, 3, 4\]"),
                (lambda r: ((r(2, 3, 4, 5), r(2, 3, 3, 5), r(2, 3, 3, 5)), {}), r"k must be \[2, m, G, 5\] with G a divisor of 4"),
                (lambda r: ((r(2, 3, 4, 5), r(2, 6, 2, 5), r(2, 7, 2, 5)), {}), r"v must be \[2, 6, G, e\] with G a divisor of 4 for k"),
                (lambda r: ((r(2, 3, 4, 5), r(2, 6, 2, 5), r(2, 6, 2, 5), None, True), {}), r"causal wants as many keys as queries, got 6 and 3"),
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
                (lambda r: ((r(2, 6, 2, 2), r(2, 6, 2, 3), None, None, None, 6), {}), r"left and right come together"),
                (lambda r: ((r(2, 6, 2, 2), None, None, r(2, 2, 3), None, 6), {}), r"outer and inner come together"),
                (lambda r: ((r(2, 6, 2, 2), r(2, 5, 2, 3), r(2, 6, 2, 3), None, None, 6), {}), r"left must be \[2, 6, 2, c\] for v \[2, 6, 2, 2\] and 6 rows, got \[2, 5, 2, 3\]"),
                (lambda r: ((r(2, 6, 2, 2), r(2, 6, 2, 3), r(3, 6, 2, 3), None, None, 6), {}), r"right must be \[2 or 1, 6, 2, 3\] .* got \[3, 6, 2, 3\]"),
                (lambda r: ((r(2, 6, 2, 2), None, None, r(1, 2, 3), r(2, 3, 2), 6), {}), r"outer must be \[2, rows, columns\] .* got \[1, 2, 3\]"),
                (lambda r: ((r(2, 6, 2, 2), None, None, r(2, 2, 3), r(2, 2, 2), 6), {}), r"outer and inner must have 6 rows and 6 columns in their product at least"),
                (lambda r: ((r(2, 6, 2, 2), None, None, r(2, 2, 3), r(2, 3, 2), -1), {}), r"rows must not be negative, got -1"),
                (lambda r: ((r(2, 6, 1, 2), None, None, r(1, 3, 3), r(1, 3, 2), 7, None, True), {}), r"causal wants as many keys as rows, got 6 and 7"),
                (lambda r: ((r(2, 6, 2, 2), None, None, r(2, 2, 3), r(2, 3, 2), 6, bools(2, 5)), {}), r"key_mask must be bool \[2, 6\] .* got Bool \[2, 5\]")],
        kernels={"synthesized_attention": "blocks"}),
    Record(
        "mode_contract", mode_contract, contract_samples,
        small_of(lambda r: [((r(2, 2, 2, 4), r(2, 3, 2, 4), 0, 2), {}), ((r(2, 2, 2, 3), r(2, 2, 1, 3), 1, 0), {})]),
        errors=[(lambda r: ((r(2, 3, 4), r(2, 3, 5), 0, 1), {}), r"a must be as x \[2, 3, 5\] in all but mode 0, got \[2, 3, 4\]"),
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
        ]),
        errors=[
            (lambda r: sequences(r, 1, 6, 2, 1, 4, form="pooled", fold=(2, 3)), r"form pooled cannot be causal: .* later ones too"),
            (lambda r: sequences(r, 1, 6, 2, 1, 4, form="tree"), r"form must be full, .* or topk, got tree"),
            (lambda r: sequences(r, 1, 6, 2, 1, 4, form="topk", density=0.0), r"density must be above 0 and at most 1, got 0"),
            (lambda r: sequences(r, 1, 6, 2, 1, 4), r"form causal needs a fold"),
            (lambda r: sequences(r, 1, 6, 2, 1, 4, fold=(2, 0), slots=1), r"sizes of a fold must be positive .* got 2 0"),
            (lambda r: sequences(r, 1, 6, 2, 1, 4, fold=(2, -3), slots=1), r"sizes of a fold must be positive"),
            (lambda r: sequences(r, 1, 6, 2, 1, 4, fold=(2**40, 2**40), slots=1, window=2**41), r"product of the fold .* is too large"),
            (lambda r: sequences(r, 1, 7, 2, 1, 4, fold=(2, 3), form="axial"), r"fold 2 3 holds 6 tokens, the sequence has 7"),
            (lambda r: sequences(r, 1, 6, 2, 1, 4, fold=(2, 3), slots=1, window=2), r"window must hold the finest mode, 3 tokens .* got 2"),
            (lambda r: sequences(r, 1, 6, 2, 1, 4, form="window"), r"form window needs a window of at least 1"),
            (lambda r: sequences(r, 1, 6, 2, 1, 4, fold=(2, 3), slots=1, window=-1), r"window and sinks must not be negative"),
            (lambda r: sequences(r, 1, 6, 2, 1, 4, fold=(2, 3)), r"needs latents \[1, 1, r, 4\]"),
            (lambda r: sequences(r, 1, 6, 3, 2, 4, fold=(2, 3), slots=1), r"heads of k 2 must divide those of q, 3"),
            (lambda r: sequences(r, 1, 6, 2, 1, 3, fold=(2, 3), slots=1, codes=1), r"rotary codes need heads of even width, got 3"),
            (lambda r: sequences(r, 1, 6, 2, 1, 4, fold=(2, 3), slots=1, codes=1, positions=torch.arange(5)), r"positions must be int64 \[6\]"),
            (lambda r: sequences(r, 1, 6, 2, 1, 4, form="axial", fold=(2, 3), codes=1, positions=torch.arange(6)), r"takes no positions of tokens"),
            (lambda r: ((r(1, 6, 2, 4), r(1, 5, 2, 4), r(1, 6, 2, 4)), dict(form="full")), r"k must be \[1, 6, G, d\] .* got \[1, 5, 2, 4\]"),
            (lambda r: ((r(1, 6, 2, 4), r(1, 6, 2, 5), r(1, 6, 2, 4)), dict(form="full")), r"k must have heads of width 4 as q, got 5"),
            (lambda r: ((r(6, 2, 4), r(6, 2, 4), r(6, 2, 4)), dict(form="full")), r"q must be \[B, n, H, d\], got \[6, 2, 4\]"),
        ]),
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
        "swiglu", swiglu, swiglu_samples, small_of(lambda r: [((r(3, 6),), {}), ((r(2, 2, 2),), {})]),
        errors=[(lambda r: ((r(3, 5),), {}), r"gate_and_up must be \[\.\.\., 2M\], got \[3, 5\]")],
        kernels={"swiglu": "fused"}),
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
            (lambda r: (attention_arguments(r, (2, 3, 4, 8), 2), dict(heads=2, attend_modes=[1, 1])), r"holds mode 1 twice"),
            (lambda r: (attention_arguments(r, (2, 3, 4, 8), 2), dict(heads=4)), r"query_norm_weight must be \[2\]"),
            (lambda r: (attention_arguments(r, (2, 3, 4, 8), 2), dict(heads=2, kernel="cosine")), r"kernel must be softmax or linear, got cosine"),
            (lambda r: (attention_arguments(r, (2, 3, 4, 8), 2), dict(heads=2, kernel="linear", feature_map="relu")),
             r"feature_map must be softmax or regularised, got relu"),
            (lambda r: (attention_arguments(r, (2, 3, 4, 8), 2), dict(heads=2, mode_masks=[bools(3, 3)])), r"mode_masks must be empty or one a mode, 2, got 1"),
            (lambda r: (attention_arguments(r, (2, 3, 4, 8), 2), dict(heads=2, mode_masks=[bools(4, 4), None])),
             r"the mask of mode 0 must be \[3, 3\]"),
            (lambda r: (attention_arguments(r, (2, 3, 4, 8), 2), dict(heads=2, kernel="linear", mode_masks=[bools(3, 3), None])),
             r"linear form never forms S_i, so it takes no mode_masks"),
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
        errors=[(lambda r: ((r(3).half(),), {}), r"sum_of_squares: x must be float32, float64 or bfloat16, got Half")],
        kernels={"sum_of_squares": "blocks"}, integers=True, call=lambda x: ops.sum_of_squares(x).to(x.dtype)),
    Record(
        "adam_step", adam_step, adam_samples, lambda r: [((r(2, 3), r(2, 3), r(2, 3), r(2, 3).square(), 0.9, 0.99, 1e-8, 0.1, 1.0), {})],
        errors=[(lambda r: ((r(3), r(2), r(3), r(3), 0.9, 0.99, 1e-8, 0.1, 1.0), {}), r"adam_step: gradient must have the shape of parameter \[3\], got \[2\]"),
                (lambda r: ((r(2, 3).t(), r(3, 2), r(3, 2), r(3, 2), 0.9, 0.99, 1e-8, 0.1, 1.0), {}), r"parameter and moments must be contiguous"),
                (lambda r: ((r(3), r(3), r(3).double(), r(3), 0.9, 0.99, 1e-8, 0.1, 1.0), {}), r"first_moment must have the type of parameter, Float")],
        kernels={"adam_step": "fused"}, differentiable=False, call=changed("adam_step", (0, 2, 3))),
    Record(
        "summary_step", summary_step, step_samples,
        lambda r: [in_schema_order(step_case(r, 1, 3, 2, 1, 4, 2, first=2, window=3, sinks=1, slots=(2,), r=2, codes=2)),
                   in_schema_order(step_case(r, 1, 2, 2, 2, 2, 2, first=0, window=2))],
        errors=[(lambda r: step_case(r, 1, 2, 3, 2, 4, 4, first=0, window=3), r"summary_step: wanted q .* G a divisor of H"),
                (lambda r: step_case(r, 1, 2, 2, 2, 4, 4, first=-1, window=3), r"first position of at least 0 and a window of at least 1, got -1 and 3")],
        kernels={"summary_step": "loops"}, differentiable=False, call=changed("summary_step", (4, 5, 6, 7, 9, 10, 11, 12))),
    Record(
        "summary_join", joined, join_samples, lambda r: [((r(1, 2, 1, 3), r(1, 2, 1, 2), *open_blocks(r, 1, 1, 2, 3, 2)), {})],
        errors=[(lambda r: ((r(1, 2, 1, 3), r(1, 2, 1, 2), *open_blocks(r, 1, 2, 2, 3, 2)), {}), r"summary_join: latents must be \[1, r, 3\], got \[2, 2, 3\]")],
        kernels={"summary_join": "loops"}, differentiable=False, call=changed("summary_join", (3, 4, 5, 6))),
]
