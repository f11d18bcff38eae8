"""Exact error messages of the operators: (invalid arguments, message after the operator's name).

Numbers within one message differ where possible, so that swapped values are detected. test_ops.py checks each on the
CPU, without autograd, and on meta tensors.
"""

import torch

BOOL = torch.bool
KINDS = "must be float32, float64 or bfloat16, got Half"


def mask(*shape):
    return torch.ones(shape, dtype=BOOL)


def projections(r, shape, modes=None, **changed):
    """Arguments of kronecker_attention: x, value, query and key weights and biases, norms of query and key."""
    d = shape[-1]
    rows = d * (len(shape) - 2 if modes is None else modes)
    names = ["x", "value", "query_weight", "query_bias", "key_weight", "key_bias", "query_norm_weight", "query_norm_bias", "key_norm_weight",
             "key_norm_bias"]
    values = dict(zip(names, [r(*shape), r(*shape), r(rows, d), r(rows), r(rows, d), r(rows), None, None, None, None]))
    return tuple({**values, **changed}.values())


def tensor(r, q=(2, 6, 4, 8), k=(2, 6, 2, 8), v=(2, 6, 2, 5), latents=None, frequencies=None, positions=None, token_mask=None,
           **options):
    return (r(*q), r(*k), r(*v), latents, frequencies, positions, token_mask), {"form": "full", **options}


def doubles(*shape):
    return torch.ones(shape, dtype=torch.float64)


REFUSALS = {
    "mode_product": [
        (lambda r: ((r(8, 21, 24, 16), r(8, 21, 21), 1), {}), "factor must be [.., M, 24] for mode 1 of x [8, 21, 24, 16], got [8, 21, 21]"),
        (lambda r: ((r(8, 21, 24, 16), r(8, 2, 5, 21), 1), {}), "factor must be [.., M, 24] for mode 1 of x [8, 21, 24, 16], got [8, 2, 5, 21]"),
        (lambda r: ((r(8, 21, 24, 16), r(24, 24), 2), {}), "mode must be 0 … 1 for x [8, 21, 24, 16], got 2"),
        (lambda r: ((r(8, 21, 24, 16), r(24, 24), -1), {}), "mode must be 0 … 1 for x [8, 21, 24, 16], got -1"),
        (lambda r: ((r(8, 16), r(24, 24), 0), {}), "x must be [B, N_1 … N_k, D] with at least one mode, got [8, 16]"),
        (lambda r: ((r(2, 3, 4), r(1, 2, 5, 3), 0), {}), "factor must be [2, H, M, N] for the batch of x [2, 3, 4], got [1, 2, 5, 3]"),
        (lambda r: ((r(2, 3, 4), r(2, 3, 5, 3), 0), {}), "the heads of factor [B, H, M, N] must divide the last size of x [2, 3, 4], got [2, 3, 5, 3]"),
        (lambda r: ((r(2, 3, 4), r(2, 0, 5, 3), 0), {}), "the heads of factor [B, H, M, N] must divide the last size of x [2, 3, 4], got [2, 0, 5, 3]"),
        (lambda r: ((r(2, 3, 4), r(3, 3).double(), 0), {}), "factor must have the type of x, Float, or be float32 for bfloat16, got Double"),
        (lambda r: ((r(2, 3, 4).double(), r(3, 3), 0), {}), "factor must have the type of x, Double, or be float32 for bfloat16, got Float"),
        (lambda r: ((r(2, 3, 4), r(3, 3).bfloat16(), 0), {}), "factor must have the type of x, Float, or be float32 for bfloat16, got BFloat16"),
        (lambda r: ((r(2, 3, 4).half(), r(3, 3).half(), 0), {}), "x " + KINDS),
        (lambda r: ((r(2, 3, 4), r(3, 3).half(), 0), {}), "factor " + KINDS),
    ],
    "mode_contract": [
        (lambda r: ((r(2, 3, 4), r(2, 7, 5), 0, 1), {}), "a must have the sizes of x [2, 7, 5] except in mode 0, got [2, 3, 4]"),
        (lambda r: ((r(2, 3, 4, 5), r(2, 6, 4, 5), 1, 1), {}), "a must have the sizes of x [2, 6, 4, 5] except in mode 1, got [2, 3, 4, 5]"),
        (lambda r: ((r(3, 3, 4), r(2, 7, 4), 0, 1), {}), "a must have the sizes of x [2, 7, 4] except in mode 0, got [3, 3, 4]"),
        (lambda r: ((r(2, 3), r(2, 7, 4), 0, 1), {}), "a must have the sizes of x [2, 7, 4] except in mode 0, got [2, 3]"),
        (lambda r: ((r(2, 7, 4), r(2, 7, 4), 0, 3), {}), "heads must divide the last size of x [2, 7, 4], got 3"),
        (lambda r: ((r(2, 7, 4), r(2, 7, 4), 0, -1), {}), "heads must divide the last size of x [2, 7, 4], got -1"),
        (lambda r: ((r(2, 7, 4), r(2, 7, 4), 1, 2), {}), "mode must be 0 … 0 for x [2, 7, 4], got 1"),
        (lambda r: ((r(2, 7, 4).double(), r(2, 7, 4), 0, 2), {}), "a must have the type of x, Float, got Double"),
        (lambda r: ((r(7, 4), r(7, 4), 0, 2), {}), "x must be [B, N_1 … N_k, D] with at least one mode, got [7, 4]"),
    ],
    "linear": [
        (lambda r: ((r(2, 3), r(4, 5)), {}), "weight must be [M, 3] for x [2, 3], got [4, 5]"),
        (lambda r: ((r(2, 3), r(3)), {}), "weight must be [M, 3] for x [2, 3], got [3]"),
        (lambda r: ((r(), r(4, 5)), {}), "x must be [..., N], got a scalar"),
        (lambda r: ((r(2, 3), r(4, 3), r(5)), {}), "bias must be [4] for weight [4, 3], got [5]"),
        (lambda r: ((r(2, 3), r(4, 3), r(4, 1)), {}), "bias must be [4] for weight [4, 3], got [4, 1]"),
        (lambda r: ((r(2, 3), r(4, 3), r(4).double()), {}), "bias must have the type of weight, Float, got Double"),
        (lambda r: ((r(2, 3).half(), r(4, 3)), {}), "x " + KINDS), (lambda r: ((r(2, 3), r(4, 3).half()), {}), "weight " + KINDS),
    ],
    "matmul": [
        (lambda r: ((r(3), r(3, 4)), {}), "a must be [.., M, K], got [3]"),
        (lambda r: ((r(2, 3), r(4, 5)), {}), "b must be [.., 3, N] with batch dimensions that broadcast with a [2, 3], got [4, 5]"),
        (lambda r: ((r(2, 3), r(3)), {}), "b must be [.., 3, N] with batch dimensions that broadcast with a [2, 3], got [3]"),
        (lambda r: ((r(2, 2, 3), r(5, 3, 4)), {}), "b must be [.., 3, N] with batch dimensions that broadcast with a [2, 2, 3], got [5, 3, 4]"),
        (lambda r: ((r(2, 3), r(3, 4).double()), {}), "b must have the type of a, Float, got Double"),
        (lambda r: ((r(2, 3).half(), r(3, 4).half()), {}), "a " + KINDS),
    ],
    "convolution": [
        (lambda r: ((r(2, 5, 3), r(4, 2, 6), None, [1], [0], [1]), {}), "weight must be [C', 3, K_1 … K_1] for x [2, 5, 3], got [4, 2, 6]"),
        (lambda r: ((r(2, 6, 5, 3), r(4, 3, 7), None, [1, 1], [0, 0], [1, 1]), {}), "weight must be [C', 3, K_1 … K_2] for x [2, 6, 5, 3], got [4, 3, 7]"),
        (lambda r: ((r(2, 3), r(4, 3), None, [], [], []), {}), "x must be [B, N_1 … N_k, C] with one to three modes, got [2, 3]"),
        (lambda r: ((r(2, 3, 4, 5, 6, 7), r(4, 7, 1, 1, 1, 1), None, [1] * 4, [0] * 4, [1] * 4), {}),
         "x must be [B, N_1 … N_k, C] with one to three modes, got [2, 3, 4, 5, 6, 7]"),
        (lambda r: ((r(1, 5, 0), r(2, 0, 3), None, [1], [1], [1]), {}), "weight must have at least one input and one output channel, got [2, 0, 3]"),
        (lambda r: ((r(2, 5, 3), r(0, 3, 3), None, [1], [1], [1]), {}), "weight must have at least one input and one output channel, got [0, 3, 3]"),
        (lambda r: ((r(2, 5, 3), r(4, 3, 2), r(5), [1], [0], [1]), {}), "bias must be [4] for weight [4, 3, 2], got [5]"),
        (lambda r: ((r(2, 5, 3), r(4, 3, 2), r(4, 1), [1], [0], [1]), {}), "bias must be [4] for weight [4, 3, 2], got [4, 1]"),
        (lambda r: ((r(2, 5, 3), r(4, 3, 2), r(4).double(), [1], [0], [1]), {}), "bias must have the type of weight, Float, got Double"),
        (lambda r: ((r(2, 5, 3), r(4, 3, 3), None, [0], [0], [1]), {}), "stride must be 1 integers of 1 … 2147483647, got [0]"),
        (lambda r: ((r(2, 5, 3), r(4, 3, 3), None, [1], [0, 1], [1]), {}), "padding must be 1 integers of 0 … 2147483647, got [0, 1]"),
        (lambda r: ((r(2, 5, 3), r(4, 3, 3), None, [1], [-1], [1]), {}), "padding must be 1 integers of 0 … 2147483647, got [-1]"),
        (lambda r: ((r(2, 5, 3), r(4, 3, 3), None, [1], [0], [0]), {}), "dilation must be 1 integers of 1 … 2147483647, got [0]"),
        (lambda r: ((r(2, 6, 5, 3), r(4, 3, 6, 3), None, [1, 1], [0, 0], [1, 3]), {}),
         "the kernel must fit into mode 1 of x [2, 6, 5, 3] with its padding, got weight [4, 3, 6, 3]"),
        (lambda r: ((r(2, 5, 3), r(4, 3, 6), None, [1], [0], [1]), {}), "the kernel must fit into mode 0 of x [2, 5, 3] with its padding, got weight [4, 3, 6]"),
        (lambda r: ((r(2, 5, 3), r(4, 3, 0), None, [1], [0], [1]), {}), "the kernel must fit into mode 0 of x [2, 5, 3] with its padding, got weight [4, 3, 0]"),
        (lambda r: ((r(2, 5, 3).half(), r(4, 3, 2), None, [1], [0], [1]), {}), "x " + KINDS),
        (lambda r: ((r(2, 5, 3), r(4, 3, 2).half(), None, [1], [0], [1]), {}), "weight " + KINDS),
    ],
    "dot_product_attention": [
        (lambda r: ((r(2, 3, 4), r(2, 3, 4), r(2, 3, 4)), {}), "q must be [B, n, H, d], got [2, 3, 4]"),
        *[(lambda r, k=k: ((r(2, 3, 4, 5), r(*k), r(2, 6, 2, 7)), {}), f"k must be [2, m, G, 5] with G a divisor of 4 for q [2, 3, 4, 5], got {list(k)}")
          for k in [(2, 6, 3, 5), (1, 6, 2, 5), (2, 6, 2, 6), (2, 6, 0, 5), (2, 6, 5)]],
        *[(lambda r, v=v: ((r(2, 3, 4, 5), r(2, 6, 2, 5), r(*v)), {}), f"v must be [2, 6, G, e] with G a divisor of 4 for k [2, 6, 2, 5], got {list(v)}")
          for v in [(2, 7, 2, 5), (1, 6, 2, 5), (2, 6, 3, 5), (2, 6, 0, 5), (2, 6, 5)]],
        (lambda r: ((r(2, 3, 4, 5), r(2, 6, 2, 5), r(2, 6, 2, 5), None, True), {}), "causal needs as many keys as queries, got 6 and 3"),
        *[(lambda r, m=m: ((r(2, 3, 4, 5), r(2, 6, 2, 5), r(2, 6, 2, 5), mask(*m)), {}), f"mask must be bool and broadcast to [2, 4, 3, 6], got Bool {list(m)}")
          for m in [(3, 5), (2, 6), (3, 3, 6), (3, 4, 3, 6), (1, 1, 1, 1, 6)]],
        (lambda r: ((r(2, 3, 4, 5), r(2, 6, 2, 5), r(2, 6, 2, 5), r(3, 6)), {}), "mask must be bool and broadcast to [2, 4, 3, 6], got Float [3, 6]"),
        (lambda r: ((r(2, 3, 4, 5).half(), r(2, 6, 2, 5), r(2, 6, 2, 5)), {}), "q " + KINDS),
        (lambda r: ((r(2, 3, 4, 5), r(2, 6, 2, 5).double(), r(2, 6, 2, 5)), {}), "k must have the type of q, Float, got Double"),
        (lambda r: ((r(2, 3, 4, 5), r(2, 6, 2, 5), r(2, 6, 2, 5).double()), {}), "v must have the type of q, Float, got Double"),
    ],
    "synthesized_attention": [
        (lambda r: ((r(2, 6, 4), None, None, r(2, 2, 3), r(2, 3, 2), 6), {}), "v must be [B, m, H, e], got [2, 6, 4]"),
        (lambda r: ((r(2, 6, 3, 4), None, None, None, None, 6), {}), "the logits need left and right, outer and inner, or all four, got none"),
        (lambda r: ((r(2, 6, 3, 4), r(2, 5, 3, 7), None, None, None, 5), {}), "left and right must be given together, got only one"),
        (lambda r: ((r(2, 6, 3, 4), None, None, None, r(3, 2, 3), 6), {}), "outer and inner must be given together, got only one"),
        *[(lambda r, t=t: ((r(2, 6, 3, 4), r(*t), r(2, 6, 3, 7), None, None, 5), {}), f"left must be [2, 5, 3, c] for v [2, 6, 3, 4] and 5 rows, got {list(t)}")
          for t in [(2, 6, 3, 7), (1, 5, 3, 7), (2, 5, 2, 7), (2, 5, 7)]],
        *[(lambda r, t=t: ((r(2, 6, 3, 4), r(2, 5, 3, 7), r(*t), None, None, 5), {}),
           f"right must be [2 or 1, 6, 3, 7] for v [2, 6, 3, 4] and left [2, 5, 3, 7], got {list(t)}")
          for t in [(3, 6, 3, 7), (2, 5, 3, 7), (2, 6, 2, 7), (2, 6, 3, 8), (2, 6, 7)]],
        (lambda r: ((r(2, 6, 3, 4), None, None, r(1, 2, 3), r(3, 3, 2), 6), {}), "outer must be [3, rows, columns] for v [2, 6, 3, 4], got [1, 2, 3]"),
        (lambda r: ((r(2, 6, 3, 4), None, None, r(3, 2, 3), r(3, 2), 6), {}), "inner must be [3, rows, columns] for v [2, 6, 3, 4], got [3, 2]"),
        (lambda r: ((r(2, 6, 3, 4), None, None, r(3, 2, 3), r(3, 2, 2), 5), {}),
         "outer and inner must have 5 rows and 6 columns in their product at least, got [3, 2, 3] and [3, 2, 2]"),
        (lambda r: ((r(2, 6, 3, 4), None, None, r(3, 5, 5), r(3, 2, 1), 5), {}),
         "outer and inner must have 5 rows and 6 columns in their product at least, got [3, 5, 5] and [3, 2, 1]"),
        (lambda r: ((r(2, 6, 3, 4), None, None, r(3, 2, 3), r(3, 3, 2), -1), {}), "rows must be 0 … 2147483647, got -1"),
        (lambda r: ((r(2, 6, 1, 2), None, None, r(1, 3, 3), r(1, 3, 2), 7, None, True), {}), "causal needs at least as many keys as rows, got 6 and 7"),
        *[(lambda r, m=m: ((r(2, 6, 3, 4), None, None, r(3, 2, 3), r(3, 3, 2), 6, mask(*m)), {}),
           f"key_mask must be bool [2, 6] for v [2, 6, 3, 4], got Bool {list(m)}") for m in [(2, 5), (3, 6), (2, 6, 1)]],
        (lambda r: ((r(2, 6, 3, 4), None, None, r(3, 2, 3), r(3, 3, 2), 6, r(2, 6)), {}), "key_mask must be bool [2, 6] for v [2, 6, 3, 4], got Float [2, 6]"),
        (lambda r: ((r(2, 6, 3, 4), r(2, 5, 3, 7).double(), r(2, 6, 3, 7), None, None, 5), {}), "left must have the type of v, Float, got Double"),
        (lambda r: ((r(2, 6, 3, 4), r(2, 5, 3, 7), r(2, 6, 3, 7).double(), None, None, 5), {}), "right must have the type of v, Float, got Double"),
        (lambda r: ((r(2, 6, 3, 4), None, None, r(3, 2, 3), r(3, 3, 2).double(), 6), {}), "inner must have the type of v, Float, got Double"),
    ],
    "mode_pool": [
        (lambda r: ((r(2, 3, 4), "max"), {}), "pooling must be sum or mean, got max"),
        (lambda r: ((r(2, 3, 4), "sum", mask(2, 4)), {}), "token_mask must be [2, 3] for x [2, 3, 4], got [2, 4]"),
        (lambda r: ((r(2, 3, 4), "sum", r(2, 3)), {}), "token_mask must be bool, got Float"),
        (lambda r: ((r(2, 3), "sum"), {}), "x must be [B, N_1 … N_k, D] with at least one mode, got [2, 3]"),
        (lambda r: ((r(2, 3, 4).half(), "sum"), {}), "x " + KINDS),
    ],
    "mode_scores": [
        *[(lambda r, k=k: ((r(2, 3, 4), r(*k), 2), {}), f"k must be [2, M, 4] for q [2, 3, 4], got {list(k)}") for k in [(2, 5, 6), (1, 5, 4), (2, 4)]],
        (lambda r: ((r(2, 3, 4), r(2, 3, 4), 3), {}), "heads must divide the last size of x [2, 3, 4], got 3"),
        (lambda r: ((r(2, 3, 4), r(2, 3, 4), 0), {}), "heads must divide the last size of x [2, 3, 4], got 0"),
        (lambda r: ((r(3, 4), r(3, 4), 2), {}), "q must be [B, N, H·d], got [3, 4]"),
        (lambda r: ((r(2, 3, 4).half(), r(2, 3, 4), 2), {}), "q " + KINDS),
        (lambda r: ((r(2, 3, 4), r(2, 3, 4).double(), 2), {}), "k must have the type of q, Float, got Double"),
        *[(lambda r, m=m: ((r(2, 3, 4), r(2, 5, 4), 1, mask(*m)), {}), f"key_mask must be [B, M] or [B, 1, M] for k [2, 5, 4], got {list(m)}")
          for m in [(2, 4), (3, 5), (2, 2, 5), (2, 1, 4), (3, 1, 5), (5,)]],
        (lambda r: ((r(2, 3, 4), r(2, 5, 4), 1, r(2, 5)), {}), "key_mask must be bool, got Float"),
        (lambda r: ((r(2, 3, 4), r(2, 5, 4), 1, None, r(3, 5)), {}), "mode_mask must be bool, got Float"),
        *[(lambda r, m=m: ((r(2, 3, 4), r(2, 5, 4), 1, None, mask(*m)), {}), f"mode_mask must be [3, 5] for q [2, 3, 4], got {list(m)}")
          for m in [(2, 5), (3, 4), (1, 3, 5)]],
    ],
    "rotary": [
        (lambda r: ((r(2, 5, 4, 3), doubles(5, 1)), {}), "the head width must be even, got 3 for x [2, 5, 4, 3]"),
        (lambda r: ((r(2, 3, 4), doubles(3, 2)), {}), "x must be [B, N, H, d], got [2, 3, 4]"),
        *[(lambda r, a=a: ((r(2, 3, 1, 4), doubles(*a)), {}), f"angles must be [3, 2] for x [2, 3, 1, 4], got {list(a)}") for a in [(4, 2), (3, 1), (3, 2, 1)]],
        (lambda r: ((r(2, 3, 1, 4), r(3, 2)), {}), "angles must be float64, got Float"),
    ],
    "tensor_attention": [
        (lambda r: tensor(r, form="pooled", fold=[2, 3]), "form pooled cannot be causal: its weights along a mode are made from all tokens at a position of "
         "that mode, later ones too; use form summary, or causal=False for an encoder"),
        (lambda r: tensor(r, form="tree"), "form must be full, window, lambda, axial, pooled, summary, random or topk, got tree"),
        (lambda r: tensor(r, form="topk", density=0.0), "density must be above 0 and at most 1, got 0"),
        (lambda r: tensor(r, form="topk", density=1.5), "density must be above 0 and at most 1, got 1.5"),
        (lambda r: tensor(r, form="summary"), "form summary needs a fold n_1 … n_m"),
        *[(lambda r, fold=fold: tensor(r, form="summary", fold=fold), "the sizes of a fold must be 1 … 2147483647 (the first may be 0: as large as the "
           f"sequence needs), got {' '.join(map(str, fold))}") for fold in ([2, 0], [2, -3], [-1, 2])],
        (lambda r: tensor(r, form="summary", fold=[2**30, 2**29, 2**28], window=2**30),
         f"the product of the fold {2**30} {2**29} {2**28} must be at most {2**63 - 1}"),
        (lambda r: tensor(r, form="axial", fold=[2**20, 2**19]), f"the product of the fold {2**20} {2**19} must be at most {2**31 - 1}"),
        (lambda r: tensor(r, (1, 7, 4, 8), (1, 7, 2, 8), (1, 7, 2, 5), form="axial", fold=[2, 3]),
         "the fold 2 3 holds 6 tokens, the sequence has 7; a first size of 0 grows with the sequence"),
        (lambda r: tensor(r, form="summary", fold=[2, 3], window=2),
         "the window must hold the finest mode, 3 tokens of fold 2 3, else a token of a partial block would not be visible; got 2"),
        (lambda r: tensor(r, form="window"), "form window needs a window of at least 1 token"),
        (lambda r: tensor(r, form="lambda", sinks=3), "form lambda needs a window of at least 1 token"),
        (lambda r: tensor(r, window=-1, sinks=2), "window must be 0 … 2147483647, got -1"),
        (lambda r: tensor(r, window=1, sinks=-2), "sinks must be 0 … 2147483647, got -2"),
        (lambda r: tensor(r, latents=r(1, 2, 3, 8)), "only form summary takes latents, got form full"),
        (lambda r: tensor(r, (2, 6, 3, 8)), "the heads of k, 2, must divide the heads of q, 3"),
        (lambda r: tensor(r, v=(2, 6, 4, 5)), "k and v must have equally many heads, got 2 and 4"),
        (lambda r: tensor(r, k=(2, 6, 2, 7)), "k must have the head width of q, 8, got 7"),
        *[(lambda r, k=k: tensor(r, k=k), f"k must be [2, 6, G, d] for q [2, 6, 4, 8], got {list(k)}") for k in [(2, 5, 2, 8), (1, 6, 2, 8), (2, 6, 8)]],
        *[(lambda r, v=v: tensor(r, v=v), f"v must be [2, 6, G, e] for q [2, 6, 4, 8], got {list(v)}") for v in [(2, 5, 2, 5), (1, 6, 2, 5), (2, 6, 5)]],
        (lambda r: tensor(r, (6, 2, 4)), "q must be [B, n, H, d], got [6, 2, 4]"),
        (lambda r: tensor(r, (2, 6, 4, 3), (2, 6, 2, 3), frequencies=doubles(1, 1)), "the rotary embedding needs an even head width, got 3"),
        *[(lambda r, f=f: tensor(r, frequencies=doubles(*f)), f"frequencies must be float64 [levels, 4] for q [2, 6, 4, 8], got Double {list(f)}")
          for f in [(1, 3), (0, 4), (4,)]],
        (lambda r: tensor(r, frequencies=r(1, 4)), "frequencies must be float64 [levels, 4] for q [2, 6, 4, 8], got Float [1, 4]"),
        (lambda r: tensor(r, frequencies=doubles(1, 4), positions=torch.arange(5)), "positions must be int64 [6] for q [2, 6, 4, 8], got Long [5]"),
        (lambda r: tensor(r, frequencies=doubles(1, 4), positions=torch.zeros(6, 1, dtype=torch.int64)),
         "positions must be int64 [6] for q [2, 6, 4, 8], got Long [6, 1]"),
        (lambda r: tensor(r, frequencies=doubles(1, 4), positions=r(6)), "positions must be int64 [6] for q [2, 6, 4, 8], got Float [6]"),
        (lambda r: tensor(r, form="axial", fold=[2, 3], frequencies=doubles(1, 4), positions=torch.arange(6)),
         "form axial counts positions along the modes and takes no token positions"),
        *[(lambda r, m=m: tensor(r, token_mask=m), f"token_mask must be bool [2, 6] for q [2, 6, 4, 8], got {kind} {list(m.shape)}")
          for m, kind in [(mask(2, 5), "Bool"), (mask(3, 6), "Bool"), (mask(2, 6, 1), "Bool"), (torch.ones(2, 6), "Float")]],
        *[(lambda r, o=o: tensor(r, frequencies=doubles(1, 4), token_mask=mask(2, 6), **o),
           f"form {o['form']} takes a token_mask or a rotary embedding, not both")
          for o in [dict(form="summary", fold=[0, 3]), dict(form="lambda", window=2), dict(form="window", window=2)]],
        (lambda r: tensor(r, form="axial", fold=[2, 3], modes=3), "modes must be 0, or for form axial or pooled at most the size of the fold 2 3, got 3 for form axial"),
        (lambda r: tensor(r, form="axial", fold=[2, 3], modes=-1), "modes must be 0, or for form axial or pooled at most the size of the fold 2 3, got -1 for form axial"),
        (lambda r: tensor(r, form="summary", fold=[2, 3], modes=1), "modes must be 0, or for form axial or pooled at most the size of the fold 2 3, got 1 for form summary"),
        (lambda r: tensor(r, dropout=1.5), "the dropout rate must be in [0, 1], got 1.5"),
    ],
    "nystroem_attention": [
        (lambda r: ((r(6, 2, 4), r(6, 2, 4), r(6, 2, 4)), {}), "q must be [B, n, H, d], got [6, 2, 4]"),
        (lambda r: ((r(2, 6, 3, 4).half(), r(2, 6, 3, 4), r(2, 6, 3, 4)), {}), "q " + KINDS),
        *[(lambda r, v=v: ((r(2, 6, 3, 4), r(2, 6, 3, 4), r(*v)), {}), f"v must be [2, 6, 3, e] for q [2, 6, 3, 4], got {list(v)}")
          for v in [(2, 5, 3, 4), (1, 6, 3, 4), (2, 6, 4, 4), (2, 6, 3)]],
        (lambda r: ((r(2, 6, 3, 4), r(2, 6, 3, 4), r(2, 6, 3, 4).double()), {}), "v must have the type of q, Float, got Double"),
        (lambda r: ((r(2, 6, 3, 4), r(2, 6, 3, 5), r(2, 6, 3, 4)), {}), "k must have the shape of q [2, 6, 3, 4], got [2, 6, 3, 5]"),
        (lambda r: ((r(2, 6, 3, 4), r(2, 6, 3, 4).double(), r(2, 6, 3, 4)), {}), "k must have the type of q, Float, got Double"),
        *[(lambda r, m=m: ((r(2, 6, 3, 4), r(2, 6, 3, 4), r(2, 6, 3, 4), None, m), {}),
           f"token_mask must be bool [2, 6] for q [2, 6, 3, 4], got {kind} {list(m.shape)}")
          for m, kind in [(mask(2, 5), "Bool"), (mask(2, 6, 1), "Bool"), (torch.ones(2, 6), "Float")]],
        *[(lambda r, w=w: ((r(2, 6, 3, 4), r(2, 6, 3, 4), r(2, 6, 3, 4), r(*w)), {}), f"kernel must be [3, w] with w odd, got {list(w)}")
          for w in [(3, 4), (2, 3), (3,)]],
        (lambda r: ((r(2, 6, 3, 4), r(2, 6, 3, 4), r(2, 6, 3, 4)), dict(landmarks=0)), "landmarks must be 1 … 46340, got 0"),
    ],
    "hashed_attention": [
        (lambda r: ((r(6, 2, 4), r(6, 2, 4), r(1, 2, 4, 3)), {}), "q must be [B, n, H, d], got [6, 2, 4]"),
        (lambda r: ((r(2, 6, 3, 4), r(2, 5, 3, 4), r(1, 3, 4, 2)), {}), "v must be [2, 6, 3, e] for q [2, 6, 3, 4], got [2, 5, 3, 4]"),
        *[(lambda r, w=w: ((r(2, 6, 3, 4), r(2, 6, 3, 5), r(*w)), {}), f"rotations must be [rounds, 3, 4, buckets / 2] for q [2, 6, 3, 4], got {list(w)}")
          for w in [(0, 3, 4, 2), (1, 2, 4, 2), (1, 3, 5, 2), (1, 3, 4, 0), (3, 4, 2)]],
        (lambda r: ((r(2, 6, 3, 4), r(2, 6, 3, 5), r(1, 3, 4, 2), mask(2, 7)), {}), "token_mask must be bool [2, 6] for q [2, 6, 3, 4], got Bool [2, 7]"),
        (lambda r: ((r(2, 6, 3, 4), r(2, 6, 3, 5), r(1, 3, 4, 2)), dict(chunk=0)), "chunk must be 1 … 46340, got 0"),
    ],
    "summary_attention": [
        (lambda r: tensor(r, form="summary", fold=[5, 2, 3]), "fold 5 2 3 needs latents [2, 2, r, 8]"),
        *[(lambda r, t=t: tensor(r, form="summary", fold=[5, 2, 3], latents=r(*t)),
           f"latents must be [at least 2, 2, r, 8] for fold 5 2 3 and k [2, 6, 2, 8], got {list(t)}")
          for t in [(1, 2, 4, 8), (2, 4, 4, 8), (2, 2, 0, 8), (2, 2, 4, 7), (2, 2, 8)]],
        (lambda r: tensor(r, form="summary", fold=[5, 2, 3], latents=r(2, 2, 4, 8).double()), "latents must have the type of q, Float, got Double"),
    ],
    "layer_norm": [
        (lambda r: ((r(3, 5, 6), r(4)), {}), "weight must be [6] for x [3, 5, 6], got [4]"),
        (lambda r: ((r(3, 5, 6), None, r(1, 6)), {}), "bias must be [6] for x [3, 5, 6], got [1, 6]"),
        (lambda r: ((r(3, 5), None, None, -1.0), {}), "eps must not be negative, got -1"),
        (lambda r: ((r(),), {}), "x must be [..., D], got a scalar"),
        (lambda r: ((r(3, 5).half(),), {}), "x " + KINDS), (lambda r: ((r(3, 5), r(5).half()), {}), "weight " + KINDS),
        (lambda r: ((r(3, 5), None, r(5).half()), {}), "bias " + KINDS),
    ],
    "rms_norm": [
        (lambda r: ((r(3, 5, 6), r(4)), {}), "weight must be [6] for x [3, 5, 6], got [4]"),
        (lambda r: ((r(3, 5, 6), r(1, 6)), {}), "weight must be [6] for x [3, 5, 6], got [1, 6]"),
        (lambda r: ((r(3, 5), None, -1.0), {}), "eps must not be negative, got -1"),
        (lambda r: ((r(),), {}), "x must be [..., D], got a scalar"),
        (lambda r: ((r(3, 5).half(),), {}), "x " + KINDS), (lambda r: ((r(3, 5), r(5).half()), {}), "weight " + KINDS),
    ],
    "dropout_add": [
        (lambda r: ((None, r(3), 1.5, 0, 0, 16), {}), "the dropout rate must be in [0, 1], got 1.5"),
        (lambda r: ((None, r(3), -0.5, 0, 0, 16), {}), "the dropout rate must be in [0, 1], got -0.5"),
        (lambda r: ((r(4), r(3), 0.5, 0, 0, 16), {}), "residual must have the shape of x [3], got [4]"),
        (lambda r: ((r(3).double(), r(3), 0.5, 0, 0, 16), {}), "residual must have the type of x, Float, got Double"),
        (lambda r: ((None, r(3).half(), 0.5, 0, 0, 16), {}), "x " + KINDS),
    ],
    "elementary": [
        (lambda r: ((r(3), "cosh"), {}), "function must be exp, log, sqrt, sin, cos, tanh, gelu or gelu_slope, got 'cosh'"),
        (lambda r: ((r(3).half(), "exp"), {}), "x " + KINDS),
    ],
    "swiglu": [
        (lambda r: ((r(3, 5),), {}), "gate_and_up must be [..., 2M], got [3, 5]"), (lambda r: ((r(),), {}), "gate_and_up must be [..., 2M], got []"),
        (lambda r: ((r(3, 4).half(),), {}), "gate_and_up " + KINDS),
    ],
    "feed_forward": [
        (lambda r: ((r(2, 3).half(), r(4, 3), r(5, 4)), {}), "x " + KINDS), (lambda r: ((r(2, 3), r(4, 3).half(), r(5, 4)), {}), "first " + KINDS),
        (lambda r: ((r(), r(4, 3), r(5, 4)), {}), "first must be [M, 1] for x [], got [4, 3]"),
        (lambda r: ((r(2, 3), r(4), r(5, 4)), {}), "first must be [M, 3] for x [2, 3], got [4]"),
        (lambda r: ((r(2, 3), r(4, 6), r(5, 4)), {}), "first must be [M, 3] for x [2, 3], got [4, 6]"),
        (lambda r: ((r(2, 3), r(4, 3), r(5, 4).double()), {}), "second must have the type of first, Float, got Double"),
        (lambda r: ((r(2, 3), r(4, 3), r(5)), {}), "second must be [N, 4] for first [4, 3], got [5]"),
        (lambda r: ((r(2, 3), r(4, 3), r(5, 6)), {}), "second must be [N, 4] for first [4, 3], got [5, 6]"),
        (lambda r: ((r(2, 3), r(4, 3), r(5, 4), r(5, 3)), {}), "gate must have the shape of first [4, 3], got [5, 3]"),
        (lambda r: ((r(2, 3), r(4, 3), r(5, 4), r(4, 3).double()), {}), "gate must have the type of first, Float, got Double"),
        (lambda r: ((r(2, 3), r(4, 3), r(5, 4), None, r(5)), {}), "first_bias must be [4] for first [4, 3], got [5]"),
        (lambda r: ((r(2, 3), r(4, 3), r(5, 4), None, r(4, 1)), {}), "first_bias must be [4] for first [4, 3], got [4, 1]"),
        (lambda r: ((r(2, 3), r(4, 3), r(5, 4), None, r(4).double()), {}), "first_bias must have the type of first, Float, got Double"),
        (lambda r: ((r(2, 3), r(4, 3), r(5, 4), None, None, r(4)), {}), "second_bias must be [5] for second [5, 4], got [4]"),
        (lambda r: ((r(2, 3), r(4, 3), r(5, 4), None, None, r(5).double()), {}), "second_bias must have the type of first, Float, got Double"),
        (lambda r: ((r(2, 3), r(4, 3), r(5, 4), None, None, None, 1.5), {}), "the dropout rate must be in [0, 1], got 1.5"),
    ],
    "kronecker_attention": [
        (lambda r: (projections(r, (2, 3, 8)[:2]), dict(heads=2)), "x must be [B, N_1 … N_k, D] with at least one mode, got [2, 3]"),
        (lambda r: (projections(r, (2, 3, 4, 8)), dict(heads=3)), "heads must divide the last size of x [2, 3, 4, 8], got 3"),
        (lambda r: (projections(r, (2, 3, 4, 8)), dict(heads=2, share_modes=True)),
         "query_weight must be [8, 8] for x [2, 3, 4, 8] and shared modes, got [16, 8]"),
        (lambda r: (projections(r, (2, 3, 4, 8), 1), dict(heads=2)), "query_weight must be [16, 8] for x [2, 3, 4, 8], got [8, 8]"),
        (lambda r: (projections(r, (2, 3, 4, 8), query_weight=r(16)), dict(heads=2)), "query_weight must be [16, 8] for x [2, 3, 4, 8], got [16]"),
        (lambda r: (projections(r, (2, 3, 4, 8), key_weight=r(16, 7)), dict(heads=2)), "key_weight must be [16, 8] for x [2, 3, 4, 8], got [16, 7]"),
        (lambda r: (projections(r, (2, 3, 4, 8), query_bias=r(8)), dict(heads=2)), "query_bias must be [16] for x [2, 3, 4, 8], got [8]"),
        (lambda r: (projections(r, (2, 3, 4, 8), key_bias=r(16, 1)), dict(heads=2)), "key_bias must be [16] for x [2, 3, 4, 8], got [16, 1]"),
        (lambda r: (projections(r, (2, 3, 4, 8), key_weight=r(16, 8).double()), dict(heads=2)), "key must have the type of x, Float, got Double"),
        (lambda r: (projections(r, (2, 3, 4, 8), query_bias=r(16).double()), dict(heads=2)), "query must have the type of x, Float, got Double"),
        (lambda r: (projections(r, (2, 3, 4, 8)), dict(heads=2, combine="max")), "combine must be product, sum or mean, got max"),
        (lambda r: (projections(r, (2, 3, 4, 8)), dict(heads=2, pooling="max")), "pooling must be sum or mean, got max"),
        *[(lambda r, name=name, mode=mode: (projections(r, (2, 3, 4, 8)), {"heads": 2, name: [mode]}),
           f"{name} must be in 0 … 1 for x [2, 3, 4, 8], got {mode}") for name in ("attend_modes", "rope_modes") for mode in (2, -1)],
        (lambda r: (projections(r, (2, 3, 4, 8)), dict(heads=2, attend_modes=[1, 1])), "attend_modes must not repeat a mode, got 1 twice"),
        (lambda r: (projections(r, (2, 3, 4, 8)), dict(heads=2, rope_modes=[0, 0])), "rope_modes must not repeat a mode, got 0 twice"),
        *[(lambda r, base=base: (projections(r, (2, 3, 4, 8)), dict(heads=2, rope_modes=[0], rope_base=base)),
           f"rope_base must be positive and finite, got {base:g}") for base in (0.0, -2.0, float("inf"), float("nan"))],
        *[(lambda r, name=name: (projections(r, (2, 3, 4, 8), **{name: r(4)}), dict(heads=4)),
           f"{name} must be [2] for x [2, 3, 4, 8] and 4 heads, got [4]") for name in ("query_norm_weight", "query_norm_bias", "key_norm_weight", "key_norm_bias")],
        (lambda r: (projections(r, (2, 3, 4, 8), key_norm_bias=r(2, 1)), dict(heads=4)), "key_norm_bias must be [2] for x [2, 3, 4, 8] and 4 heads, got [2, 1]"),
        (lambda r: (projections(r, (2, 3, 4, 8)), dict(heads=2, kernel="cosine")), "kernel must be softmax or linear, got cosine"),
        (lambda r: (projections(r, (2, 3, 4, 8)), dict(heads=2, feature_map="relu")), "feature_map must be softmax or regularised, got relu"),
        (lambda r: (projections(r, (2, 3, 4, 8)), dict(heads=2, features=-1)), "features must be 0 … 2147483647, got -1"),
        (lambda r: (projections(r, (2, 3, 4, 8)), dict(heads=2, dropout=1.5)), "the dropout rate must be in [0, 1], got 1.5"),
        (lambda r: (projections(r, (2, 3, 4, 8)), dict(heads=2, mode_masks=[mask(3, 3)])), "mode_masks must be empty or one per mode, 2, got 1"),
        (lambda r: (projections(r, (2, 3, 4, 8)), dict(heads=2, mode_masks=[r(3, 3), None])), "mode_masks must be bool, got Float"),
        *[(lambda r, m=m: (projections(r, (2, 3, 4, 8)), dict(heads=2, mode_masks=[None, mask(*m)])),
           f"the mask of mode 1 must be [4, 4] for x [2, 3, 4, 8], got {list(m)}") for m in [(3, 4), (4, 3), (4,)]],
        (lambda r: (projections(r, (2, 3, 4, 8)), dict(heads=2, kernel="linear", mode_masks=[mask(3, 3), None])),
         "mode_masks need kernel softmax, kernel linear never forms S_i"),
        (lambda r: (projections(r, (2, 3, 4, 8)), dict(heads=2, token_mask=mask(2, 3))), "token_mask must be [2, 3, 4] for x [2, 3, 4, 8], got [2, 3]"),
        (lambda r: (projections(r, (2, 3, 4, 8), value=r(2, 3, 5, 8)), dict(heads=2)), "value must have the shape of x [2, 3, 4, 8], got [2, 3, 5, 8]"),
    ],
    "full_attention": [
        (lambda r: ((r(2, 3, 4), r(2, 5, 4), r(2, 6, 4), 2), {}), "v must have the shape of k [2, 5, 4], got [2, 6, 4]"),
        (lambda r: ((r(2, 3, 4), r(2, 5, 6), r(2, 5, 6), 2), {}), "k must be [2, M_1 … M_j, 4] for q [2, 3, 4], got [2, 5, 6]"),
        (lambda r: ((r(2, 3, 4), r(1, 5, 4), r(1, 5, 4), 2), {}), "k must be [2, M_1 … M_j, 4] for q [2, 3, 4], got [1, 5, 4]"),
        (lambda r: ((r(2, 3, 4), r(2, 5, 4), r(2, 5, 4), 2, mask(2, 3)), {}), "token_mask must be [2, 5] for x [2, 5, 4], got [2, 3]"),
        (lambda r: ((r(2, 3, 4), r(2, 3, 4), r(2, 3, 4), 2, None, -0.25), {}), "the dropout rate must be in [0, 1], got -0.25"),
        (lambda r: ((r(2, 3, 4), r(2, 3, 4), r(2, 3, 4), 3), {}), "heads must divide the last size of x [2, 3, 4], got 3"),
        (lambda r: ((r(3, 4), r(2, 3, 4), r(2, 3, 4), 2), {}), "q must be [B, N_1 … N_k, D] with at least one mode, got [3, 4]"),
        (lambda r: ((r(2, 3, 4), r(3, 4), r(3, 4), 2), {}), "k must be [B, N_1 … N_k, D] with at least one mode, got [3, 4]"),
        (lambda r: ((r(2, 3, 4), r(2, 3, 4).double(), r(2, 3, 4), 2), {}), "k must have the type of q, Float, got Double"),
        (lambda r: ((r(2, 3, 4), r(2, 3, 4), r(2, 3, 4).double(), 2), {}), "v must have the type of q, Float, got Double"),
        (lambda r: ((r(2, 3, 4), r(2, 5, 4), r(2, 5, 4), 2), dict(causal=True)), "causal needs as many keys as queries, got k [2, 5, 4] for q [2, 3, 4]"),
    ],
    "axis_attention": [
        (lambda r: ((r(2, 3, 4), r(2, 3, 4), r(2, 3, 4), 2, 1), {}), "mode must be 0 … 0 for x [2, 3, 4], got 1"),
        (lambda r: ((r(2, 3, 4), r(2, 5, 4), r(2, 3, 4), 2, 0), {}), "k must have the shape of q [2, 3, 4], got [2, 5, 4]"),
        (lambda r: ((r(2, 3, 4), r(2, 3, 4), r(2, 5, 4), 2, 0), {}), "v must have the shape of q [2, 3, 4], got [2, 5, 4]"),
        (lambda r: ((r(2, 3, 4), r(2, 3, 4), r(2, 3, 4).double(), 2, 0), {}), "v must have the type of q, Float, got Double"),
        (lambda r: ((r(2, 3, 4), r(2, 3, 4), r(2, 3, 4), 3, 0), {}), "heads must divide the last size of x [2, 3, 4], got 3"),
        (lambda r: ((r(3, 4), r(3, 4), r(3, 4), 2, 0), {}), "q must be [B, N_1 … N_k, D] with at least one mode, got [3, 4]"),
        (lambda r: ((r(2, 3, 4), r(2, 3, 4), r(2, 3, 4), 2, 0, mask(2, 4)), {}), "token_mask must be [2, 3] for x [2, 3, 4], got [2, 4]"),
        (lambda r: ((r(2, 3, 4), r(2, 3, 4), r(2, 3, 4), 2, 0, None, None, 2.0), {}), "the dropout rate must be in [0, 1], got 2"),
        *[(lambda r, m=m: ((r(2, 3, 5, 4), r(2, 3, 5, 4), r(2, 3, 5, 4), 2, 1, None, mask(*m)), {}),
           f"axis_mask must be bool [5, 5] for mode 1 of q [2, 3, 5, 4], got Bool {list(m)}") for m in [(3, 5), (5, 3), (5,)]],
        (lambda r: ((r(2, 3, 5, 4), r(2, 3, 5, 4), r(2, 3, 5, 4), 2, 1, None, r(5, 5)), {}),
         "axis_mask must be bool [5, 5] for mode 1 of q [2, 3, 5, 4], got Float [5, 5]"),
    ],
    "language_loss": [
        (lambda r: ((r(2, 3), r(4, 5), torch.zeros(2, dtype=torch.int64)), {}), "head must be [V, D] for hidden [..., D], got [4, 5] and [2, 3]"),
        (lambda r: ((r(2, 3), r(3), torch.zeros(2, dtype=torch.int64)), {}), "head must be [V, D] for hidden [..., D], got [3] and [2, 3]"),
        (lambda r: ((r(), r(4, 3), torch.zeros(2, dtype=torch.int64)), {}), "head must be [V, D] for hidden [..., D], got [4, 3] and []"),
        (lambda r: ((r(2, 3), r(4, 3), torch.zeros(5, dtype=torch.int64)), {}), "targets must be int64 [2] for hidden [2, 3], got Long [5]"),
        (lambda r: ((r(2, 3), r(4, 3), torch.zeros(2)), {}), "targets must be int64 [2] for hidden [2, 3], got Float [2]"),
        (lambda r: ((r(2, 3), r(4, 3).half(), torch.zeros(2, dtype=torch.int64)), {}), "head " + KINDS),
        (lambda r: ((r(2, 3).half(), r(4, 3), torch.zeros(2, dtype=torch.int64)), {}), "hidden " + KINDS),
    ],
    "batch_norm": [
        (lambda r: ((r(2, 3), r(4), r(3)), {}), "weight must be [3] for x [2, 3], got [4]"),
        (lambda r: ((r(2, 3), r(3), r(2)), {}), "bias must be [3] for x [2, 3], got [2]"),
        (lambda r: ((r(0, 3), r(3), r(3)), {}), "x must have at least one row, got [0, 3]"),
        (lambda r: ((r(2, 3), r(3), r(3), -1e-5), {}), "eps must not be negative, got -1e-05"),
        (lambda r: ((r(2, 3).half(), r(3), r(3)), {}), "x " + KINDS),
    ],
    "masked_moments": [
        *[(lambda r, m=m: ((r(5, 3), mask(*m)), {}), f"mask must be bool [5] for rows [5, 3], got Bool {list(m)}") for m in [(4,), (5, 1)]],
        (lambda r: ((r(5, 3), r(5)), {}), "mask must be bool [5] for rows [5, 3], got Float [5]"),
        (lambda r: ((r(5), mask(5)), {}), "rows must be [n, C], got [5]"), (lambda r: ((r(5, 3).half(), mask(5)), {}), "rows " + KINDS),
    ],
    "update_moments": [
        *[(lambda r, at=at, name=name: ((*[r(3) if i != at else r(2) for i in range(4)], doubles(), 0.1), {}),
           f"{name} must be [3] for running_mean [3], got [2]") for at, name in ((1, "running_var"), (2, "mean"), (3, "var"))],
        (lambda r: ((r(3), r(3), r(3, 1), r(3), doubles(), 0.1), {}), "mean must be [3] for running_mean [3], got [3, 1]"),
        (lambda r: ((r(3, 1), r(3), r(3), r(3), doubles(), 0.1), {}), "running_mean must be [C], got [3, 1]"),
        (lambda r: ((r(3), r(3), r(3), r(3), torch.tensor(1.0), 0.1), {}), "count must be a float64 scalar, got Float []"),
        (lambda r: ((r(3), r(3), r(3), r(3), doubles(1), 0.1), {}), "count must be a float64 scalar, got Double [1]"),
    ],
    "adam_step": [
        *[(lambda r, at=at: ((*[r(3) if i != at else r(2) for i in range(4)], 0.9, 0.99, 1e-8, 0.1, 1.0), {}),
           f"{name} must have the shape of parameter [3], got [2]") for at, name in ((1, "gradient"), (2, "first_moment"), (3, "second_moment"))],
        *[(lambda r, at=at: ((*[r(3) if i != at else r(3).double() for i in range(4)], 0.9, 0.99, 1e-8, 0.1, 1.0), {}),
           f"{name} must have the type of parameter, Float, got Double") for at, name in ((1, "gradient"), (2, "first_moment"), (3, "second_moment"))],
        *[(lambda r, at=at: ((*[r(3, 2) if i != at else r(2, 3).t() for i in range(4)], 0.9, 0.99, 1e-8, 0.1, 1.0), {}),
           "parameter and moments must be contiguous, because they are updated in place") for at in (0, 2, 3)],
        (lambda r: ((*[r(3).bfloat16()] * 4, 0.9, 0.99, 1e-8, 0.1, 1.0), {}), "parameter must be float32 or float64, got BFloat16"),
    ],
    "linear_backward": [
        (lambda r: ((r(2, 5), r(2, 3), r(4, 3)), {}), "grad must be [2, 4] for x [2, 3], got [2, 5]"),
        (lambda r: ((r(2, 4).double(), r(2, 3), r(4, 3)), {}), "grad must have the type of x, Float, got Double"),
    ],
    "convolution_backward": [
        (lambda r: ((r(2, 5, 4), r(2, 6, 3), r(4, 3, 3), [1], [0], [1]), {}), "grad must be [2, 4, 4] for x [2, 6, 3], got [2, 5, 4]"),
        (lambda r: ((r(2, 4, 4).double(), r(2, 6, 3), r(4, 3, 3), [1], [0], [1]), {}), "grad must have the type of x, Float, got Double"),
    ],
    "swiglu_backward": [
        (lambda r: ((r(2, 3), r(2, 8)), {}), "grad must be [2, 4] for gate_and_up [2, 8], got [2, 3]"),
        (lambda r: ((r(2, 4).double(), r(2, 8)), {}), "grad must have the type of gate_and_up, Float, got Double"),
    ],
    "feed_forward_backward": [
        (lambda r: ((r(2, 6), r(2, 3), r(2, 4), r(4, 3), r(5, 4), None, None, 0.0, 0, 0, 0, [True] * 6), {}), "grad must be [2, 5] for x [2, 3], got [2, 6]"),
        (lambda r: ((r(2, 5), r(2, 3), r(2, 8), r(4, 3), r(5, 4), None, None, 0.0, 0, 0, 0, [True] * 6), {}), "kept must be [2, 4] for x [2, 3], got [2, 8]"),
        (lambda r: ((r(2, 5), r(2, 3), r(2, 4), r(4, 3), r(5, 4), r(4, 3), None, 0.0, 0, 0, 0, [True] * 6), {}), "kept must be [2, 8] for x [2, 3], got [2, 4]"),
        (lambda r: ((r(2, 5).double(), r(2, 3), r(2, 4), r(4, 3), r(5, 4), None, None, 0.0, 0, 0, 0, [True] * 6), {}),
         "grad must have the type of x, Float, got Double"),
        (lambda r: ((r(2, 5), r(2, 3), r(2, 4).double(), r(4, 3), r(5, 4), None, None, 0.0, 0, 0, 0, [True] * 6), {}),
         "kept must have the type of x, Float, got Double"),
    ],
    "layer_norm_backward": [
        (lambda r: ((r(2, 4), r(2, 3), r(2), r(2), None, None), {}), "grad must have the shape of x [2, 3], got [2, 4]"),
        (lambda r: ((r(2, 3), r(2, 3), r(4), r(4), None, None), {}), "mean must have the shape of x's rows, got [4]"),
        (lambda r: ((r(2, 3), r(2, 3), r(2), r(2), None, r(2, 4)), {}), "grad_sum must have the shape of x [2, 3]"),
        (lambda r: ((r(2, 3).double(), r(2, 3), r(2), r(2), None, None), {}), "grad must have the type of x, Float, got Double"),
    ],
    "batch_norm_backward": [
        (lambda r: ((r(2, 4), r(2, 3), r(3), r(3), r(3), 1e-5), {}), "grad must have the shape of x [2, 3], got [2, 4]"),
        *[(lambda r, at=at: ((r(2, 3), r(2, 3), *[r(3) if i != at else r(2) for i in range(3)], 1e-5), {}), f"{name} must be [3] for x [2, 3], got [2]")
          for at, name in enumerate(("mean", "var", "weight"))],
        (lambda r: ((r(2, 3), r(2, 3), r(3).double(), r(3), r(3), 1e-5), {}), "mean must be Float for x of Float, got Double"),
        (lambda r: ((r(2, 3).double(), r(2, 3), r(3), r(3), r(3), 1e-5), {}), "grad must have the type of x, Float, got Double"),
    ],
    "rms_norm_backward": [
        (lambda r: ((r(2, 4), r(2, 3), r(2), None), {}), "grad must have the shape of x [2, 3], got [2, 4]"),
        (lambda r: ((r(2, 3), r(2, 3), r(4), None), {}), "rstd must have the shape of x's rows, got [4]"),
        (lambda r: ((r(2, 3).double(), r(2, 3), r(2), None), {}), "grad must have the type of x, Float, got Double"),
    ],
    "mode_pool_backward": [
        (lambda r: (([r(2, 3, 5)], [2, 3, 4, 5], "sum"), {}), "grads must be one per mode of x [2, 3, 4, 5], got 1"),
        (lambda r: (([r(2, 5)], [2, 5], "sum"), {}), "grads must be one per mode of x [2, 5], got 1"),
        *[(lambda r, g=g: (([r(2, 3, 5), r(*g)], [2, 3, 4, 5], "sum"), {}), f"the gradient of mode 1 must be [B, N_i, D] of x [2, 3, 4, 5], got {list(g)}")
          for g in [(2, 3, 5), (1, 4, 5), (2, 4, 6), (4, 5)]],
    ],
}
REFUSALS["token_losses"] = REFUSALS["language_loss"]
