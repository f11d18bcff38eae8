"""Difficult inputs of the operators over sequences, like ops_samples.py for the others: arguments of tensor attention,
of the language loss, of the decoding steps and partial blocks of summary attention."""

import torch


def frequency_rows(levels, d):
    base = 10000.0 ** (-torch.arange(0, d, 2, dtype=torch.float64) / d)
    return torch.stack([base / (level + 1) for level in range(levels)])


def tokens_kept(*lengths, n, hole=()):
    """Padding mask [B, n] bool: the first tokens of each sample except those in the hole."""
    mask = torch.arange(n) < torch.tensor(lengths)[:, None]
    mask[:, list(hole)] = False
    return mask


def sequences(rand, b, n, heads, groups, d, e=0, *, fold=(), slots=0, codes=0, positions=None, mask=None, **options):
    """Arguments of tensor_attention, with latents per level, rows of frequencies and the token mask."""
    latents = rand(len(fold) - 1, groups, slots, d) if slots else None
    return ((rand(b, n, heads, d), rand(b, n, groups, d), rand(b, n, groups, e or d), latents,
             frequency_rows(codes, d) if codes else None, positions, mask), {"form": "summary", "fold": list(fold), **options})


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
        sequences(rand, 2, 17, 2, 1, 4, 3, form="window", window=5, causal=False, codes=1),
        sequences(rand, 2, 31, 2, 2, 4, form="window", density=0.2, causal=False, mask=tokens_kept(31, 12, n=31, hole=[4])),
        sequences(rand, 2, 17, 4, 2, 5, form="full", causal=False, mask=tokens_kept(17, 6, n=17)),
        sequences(rand, 2, 17, 2, 2, 5, form="full", mask=tokens_kept(9, 0, n=17, hole=[0])),
        sequences(rand, 2, 17, 2, 2, 5, form="full", causal=False, dropout=0.3, seed=3, step=2, site=17, mask=tokens_kept(17, 6, n=17)),
        sequences(rand, 1, 9, 4, 2, 5, 3, form="full", dropout=0.5, seed=1, codes=0),
        sequences(rand, 2, 31, 2, 1, 4, form="random", causal=False, dropout=0.2, mask=tokens_kept(31, 12, n=31)),
        sequences(rand, 2, 17, 2, 1, 4, form="random", density=0.3, mask=tokens_kept(17, 8, n=17, hole=[1])),
        sequences(rand, 2, 31, 2, 1, 4, form="topk", density=0.2, causal=False, mask=tokens_kept(31, 12, n=31, hole=[3, 4])),
        sequences(rand, 2, 17, 2, 1, 4, form="axial", fold=(0, 2, 3), causal=False, codes=1, mask=tokens_kept(17, 5, n=17, hole=[2])),
        sequences(rand, 2, 17, 2, 2, 4, form="axial", fold=(0, 5), mask=tokens_kept(17, 5, n=17, hole=[0, 2])),
        sequences(rand, 1, 17, 2, 1, 4, form="axial", fold=(0, 5), modes=1, causal=False),
        sequences(rand, 2, 23, 2, 1, 4, form="axial", fold=(2, 3, 4), modes=2, causal=False, mask=tokens_kept(23, 9, n=23)),
        sequences(rand, 2, 11, 2, 2, 4, form="pooled", fold=(3, 4), causal=False, mask=tokens_kept(11, 6, n=11, hole=[1])),
        sequences(rand, 2, 17, 2, 2, 4, 3, fold=(0, 2, 2), slots=2, mask=tokens_kept(17, 11, n=17, hole=[5])),
        sequences(rand, 2, 11, 2, 1, 4, form="lambda", window=3, sinks=2, mask=tokens_kept(11, 11, n=11, hole=[4])),
        sequences(rand, 2, 11, 2, 1, 4, form="window", window=3, mask=tokens_kept(11, 11, n=11, hole=[4])),
        sequences(rand, 1, 1, 1, 1, 2, fold=(0, 1, 1), slots=1, codes=1),
    ]


def nystroem_samples(rand):
    q = lambda b, n, h, d: (rand(b, n, h, d), rand(b, n, h, d))
    return [
        ((*q(2, 17, 2, 5), rand(2, 17, 2, 3)), dict(landmarks=4)),
        ((*q(1, 33, 3, 4), rand(1, 33, 3, 4), rand(3, 5)), dict(landmarks=7)),
        ((*q(2, 31, 2, 8), rand(2, 31, 2, 8), rand(2, 33), tokens_kept(31, 13, n=31)), dict(landmarks=5, scale=0.5)),
        ((*q(3, 17, 1, 4), rand(3, 17, 1, 5), None, tokens_kept(17, 3, 0, n=17, hole=[1])), dict(landmarks=4)),
        ((*q(2, 7, 2, 4), rand(2, 7, 2, 4), rand(2, 1)), dict(landmarks=7)),
        ((*q(1, 5, 2, 4), rand(1, 5, 2, 4)), dict()),
        ((*q(1, 65, 1, 2), rand(1, 65, 1, 2)), dict(landmarks=1)),
        ((*q(0, 5, 2, 4), rand(0, 5, 2, 4), rand(2, 3)), dict(landmarks=2)),
    ]


def hashed_samples(rand):
    return [
        ((rand(2, 17, 2, 5), rand(2, 17, 2, 3), rand(1, 2, 5, 2)), dict(chunk=4)),
        ((rand(1, 33, 2, 8), rand(1, 33, 2, 8), rand(3, 2, 8, 4)), dict(chunk=5)),
        ((rand(2, 31, 1, 4), rand(2, 31, 1, 4), rand(4, 1, 4, 3), tokens_kept(31, 11, n=31, hole=[2])), dict(chunk=6)),
        ((rand(3, 7, 2, 4), rand(3, 7, 2, 4), rand(2, 2, 4, 1), tokens_kept(7, 1, 0, n=7)), dict(chunk=2)),
        ((rand(1, 5, 2, 4), rand(1, 5, 2, 4), rand(2, 2, 4, 2)), dict()),
        ((rand(1, 9, 1, 3), rand(1, 9, 1, 2), rand(1, 1, 3, 31)), dict(chunk=1)),
        ((rand(0, 5, 2, 4), rand(0, 5, 2, 4), rand(1, 2, 4, 2)), dict(chunk=2)),
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


def wide_state(t):
    return None if t is None else t.float() if t.dtype == torch.bfloat16 else t


def partial_blocks(rand, b, groups, r, d, e):
    """Latents, and non-empty sums of partial blocks."""
    return [wide_state(t) for t in (rand(groups, r, d), rand(b, groups, r, 1), rand(b, groups, r, 1).square() + 1, rand(b, groups, r, d), rand(b, groups, r, e))]


def step_case(rand, b, n, heads, groups, d, e, *, first, window, sinks=0, slots=(), r=0, codes=0, gains=(), attends=True):
    rows = lambda count, width: rand(b, count, groups, width)
    ring, kept = min(window, first + n), min(sinks, first + n)
    state = partial_blocks(rand, b, groups, r, d, e) if r else [None] * 5
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
    return [((rand(b, n, g, d), rand(b, n, g, e), *partial_blocks(rand, b, g, r, d, e)), {})
            for b, n, g, r, d, e in [(2, 3, 2, 1, 4, 5), (1, 17, 1, 3, 7, 2), (3, 1, 5, 2, 1, 1), (1, 33, 2, 4, 16, 16)]]
