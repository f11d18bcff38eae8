"""Difficult inputs of the operators: random tensors and the samples of each record of ops_records.py. A sample is
(args, kwargs). Operators over sequences are in ops_sequence_samples.py."""

import torch


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


def product_samples(rand):
    cases = []
    for shape, heads in [((2, 3, 5, 7, 12), 3), ((3, 33, 12), 2), ((1, 17, 31, 16), 1), ((2, 2, 65, 32), 2),
                         ((2, 7, 7, 7, 16), 1), ((1, 1, 1, 1), 1), ((3, 21, 24, 128), 8), ((1, 63, 5, 40), 5)]:
        for mode in range(len(shape) - 2):
            for m in (1, shape[mode + 1], 8):
                cases.append(((rand(*shape), rand(shape[0], heads, m, shape[mode + 1]), mode), {}))
            cases.append(((rand(*shape), rand(9, shape[mode + 1]), mode), {}))
    x = rand(2, 12, 7, 5)
    cases.append(((x.transpose(1, 3), rand(2, 4, 3, 5), 0), {}))  # channels are not contiguous
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
    cases.append(((rand(8, 5, 3).transpose(0, 2), rand(8, 6).T, rand(6, 2)[:, 1]), {}))  # nothing is contiguous
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
            # Read in place: lines of at least four cells, runs of at least sixteen channels.
            ((2, 6, 5, 7, 16), (64, 16, 3, 3, 3), [1, 1, 1], [1, 1, 1], [1, 1, 1]), ((3, 9, 33, 24), (20, 24, 3, 3), [1, 1], [3, 3], [1, 1]),
            ((2, 8, 7, 9, 32), (17, 32, 3, 3, 3), [2, 2, 2], [1, 1, 1], [1, 1, 1]), ((1, 6, 14, 48), (33, 48, 5, 3), [1, 2], [4, 2], [2, 2]),
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
    # b, n, m, heads, e, c, outer, inner: grids such as 3 x 5 x 7 and prime sizes; blocks within and across rows of outer.
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
    kept = torch.tensor([[True] * 9, [False] * 9])  # a fully masked sample
    cases.append(((rand(2, 9, 2, 4), rand(2, 9, 2, 3), rand(1, 9, 2, 3), None, None, 9, kept), {}))
    cases.append(((rand(2, 2, 6, 3).transpose(1, 2), rand(5, 6, 2, 2).permute(3, 1, 2, 0), rand(2, 6, 5, 2).transpose(2, 3),
                   rand(3, 2, 2).transpose(0, 2), rand(2, 3, 6)[..., ::3], 6), {}))
    return cases


def large_synthesized(rand):
    """Several blocks of rows, with and without weights per sample; then several parts of up to 24 samples, the last of 11."""
    v, left, right = rand(2, 1200, 1, 3), rand(2, 1200, 1, 4), rand(1, 1200, 1, 4)
    many, rows, columns, factors = rand(59, 33, 2, 3), rand(59, 40, 2, 2), rand(59, 33, 2, 2), (rand(2, 5, 3), rand(2, 8, 11))
    return [((many, rows, columns[:1], None, None, 40), {}), ((many, rows, columns, *factors, 40, bools(59, 33)), {}),
            ((many, None, None, *factors, 40, bools(59, 33, keep=0.5)), {}), ((many, rows, columns[:1], *factors, 40), {}),
            ((v, None, None, rand(1, 30, 40), rand(1, 40, 30), 1200), {}), ((v, None, None, rand(1, 1, 40), rand(1, 1200, 30), 1200), {}),
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


def batch_samples(rand):
    """One row, one channel, chunk boundaries (16,384 elements in whole pieces of 16 rows), non-contiguous rows."""
    cases = []
    for shape in [(2, 3, 5, 128), (33, 16), (1, 5), (700, 1), (5, 63), (129, 130), (257, 65), (4100, 9), (3, 4, 512), (1, 3, 17000)]:
        cases += [((rand(*shape) + 2, rand(shape[-1]), rand(shape[-1])), {}), ((rand(*shape), rand(shape[-1]), rand(shape[-1]), 1e-2), {})]
    cases.append(((rand(8, 5, 6).transpose(0, 2), rand(8), rand(16)[::2]), {}))
    cases.append(((rand(5, 1).expand(5, 16), rand(16), rand(16)), {}))
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
            cases.append(((rand(*shape), rand(*shape), p, 2**63 - 3, 2**32 - 2, 2**32 - 1), {}))
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


ELEMENTARY = ("exp", "log", "sqrt", "sin", "cos", "tanh", "gelu")


def in_domain(x, function):
    """x itself, or for functions of positive numbers its distance from −0.1."""
    return (x.detach().abs() + 0.1).requires_grad_(x.requires_grad) if function in ("log", "sqrt") else x


def elementary_samples(rand):
    cases = [((in_domain(rand(*shape), function), function), {}) for function in ELEMENTARY for shape in [(3, 5, 7), (1025,), (0, 4), ()]]
    cases += [((in_domain(rand(10, 7, 5).transpose(0, 2), function), function), {}) for function in ("exp", "sqrt", "gelu")]
    return cases + [((rand(3, 17) * 30, function), {}) for function in ("sin", "cos", "tanh")]


def swiglu_samples(rand):
    cases = [((rand(*shape),), {}) for shape in
             [(2, 3, 34), (33, 64), (5, 1024), (65, 2), (7, 62), (4,), (0, 8), (3, 0)]]
    cases.append(((rand(10, 7, 5).transpose(0, 2),), {}))
    cases.append(((rand(3, 34) * 40,), {}))
    return cases


def feed_forward_arguments(rand, shape, hidden, out, *, gate, bias, scale=1.0):
    """x, first, second, gate, first_bias, second_bias; activations of about unit size."""
    width = shape[-1]
    weight = lambda *sizes: (rand(*sizes).detach() * (scale * max(sizes[1], 1) ** -0.5)).requires_grad_(rand(1, 1).requires_grad)
    return (rand(*shape), weight(hidden, width), weight(out, hidden), weight(hidden, width) if gate else None,
            rand(hidden) if bias else None, rand(out) if bias else None)


def feed_forward_samples(rand):
    cases = []
    for shape, hidden, out in [((33, 17), 5, 17), ((2, 5, 63), 65, 63), ((7,), 3, 2), ((1, 512), 130, 31), ((300, 31), 65, 33),
                               ((2, 129, 7), 33, 3), ((193, 1), 1, 1), ((600, 5), 300, 260), ((0, 8), 4, 3), ((2, 0), 3, 5), ((3, 2), 0, 4),
                               ((3, 2), 4, 0)]:
        for gate in (False, True):
            for bias in (False, True):
                cases.append((feed_forward_arguments(rand, shape, hidden, out, gate=gate, bias=bias), {}))
    for shape, hidden in [((5, 7), 9), ((197, 3), 7), ((260, 2), 3)]:
        for gate in (False, True):
            cases.append(((*feed_forward_arguments(rand, shape, hidden, 5, gate=gate, bias=not gate), 0.3, 7, 3, 16), {}))
    x, first, second, gate, *biases = feed_forward_arguments(rand, (200, 6), 10, 12, gate=True, bias=True)
    # Rows and columns of any strides, weights too.
    cases.append(((rand(6, 200).t(), rand(6, 10).t(), rand(12, 20)[:, ::2], gate, rand(10, 2)[:, 1], biases[1]), {}))
    cases.append(((rand(5, 41, 12)[:, :40, ::2].transpose(0, 1), first, second, rand(1, 6).expand(10, 6), *biases), {}))
    cases.append((feed_forward_arguments(rand, (210, 9), 31, 7, gate=False, bias=True, scale=8.0), {}))
    cases.append((feed_forward_arguments(rand, (210, 9), 31, 7, gate=True, bias=False, scale=8.0), {}))
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
        # Cross-attention.
        ((rand(2, 5, 12), rand(2, 3, 7, 12), rand(2, 3, 7, 12), 3), {}),
        ((rand(2, 3, 5, 8), rand(2, 9, 8), rand(2, 9, 8), 2, bools(2, 9)), {}),
        ((rand(2, 3, 5, 8), rand(2, 9, 8), rand(2, 9, 8), 2, bools(2, 9), 0.25, 3, 4, 20), {}),
        # Causal; the second sample of the third case begins with tokens without any key.
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
