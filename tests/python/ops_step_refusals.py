"""Exact error messages of the incremental decoding steps, like ops_refusals.py for the other operators."""

from ops_sequence_samples import in_schema_order, partial_blocks, step_case

Q, K, V, TURNED, RING_KEYS, RING_VALUES, FIRST_KEYS, FIRST_VALUES, SLOT_KEYS, SLOT_VALUES, PLACES, EXCESS = range(12)
LATENTS, HIGH, TOTAL, SUM_KEYS, SUM_VALUES, FREQUENCIES = range(12, 18)


def step(r, changed, **options):
    """Three tokens of 4 heads in 2 groups after 7 others, of widths 6 and 5; changed: arguments by index."""
    settings = {"first": 7, "window": 9, "sinks": 1, "slots": (4,), "r": 8, "codes": 1, **options}
    args, _ = in_schema_order(step_case(r, 2, 3, 4, 2, 6, 5, **settings))
    return tuple(changed.get(at, a) for at, a in enumerate(args)), {}


def refused(sentence, *cases):
    """Cases of {index: shape or a function of the drawer}; {got} in the message is the shape."""
    def build(case):
        return lambda r: step(r, {at: value(r) if callable(value) else r(*value) for at, value in case.items()})
    return [(build(case), sentence.replace("{got}", str([list(v) for v in case.values() if not callable(v)][:1])[1:-1])) for case in cases]


def wide(*shape):
    return lambda r: r(*shape).double()


def loose(*shape):
    return lambda r: r(*shape).transpose(1, 2).contiguous().transpose(1, 2)


def joined(r, changed, keys=(2, 3, 4, 6), values=(2, 3, 4, 5)):
    args = [r(*keys), r(*values), *partial_blocks(r, 2, 4, 8, 6, 5)]
    return tuple(changed[at](r) if at in changed else a for at, a in enumerate(args)), {}


SIZES = "q, k, turned and v must be [B, t, H, d], [B, t, G, d], [B, t, G, d] and [B, t, G, e], G a divisor of H; got "

STEP_REFUSALS = {
    "summary_step": [
        *refused(SIZES + "{got}, [2, 3, 2, 6], [2, 3, 2, 6] and [2, 3, 2, 5]", *[{Q: t} for t in [(1, 3, 4, 6), (2, 4, 4, 6), (2, 3, 3, 6), (2, 3, 4, 8), (2, 3, 24)]]),
        *refused(SIZES + "[2, 3, 4, 6], {got}, [2, 3, 2, 6] and [2, 3, 2, 5]", *[{K: t} for t in [(2, 3, 4, 6), (2, 3, 12)]]),
        *refused(SIZES + "[2, 3, 4, 6], [2, 3, 2, 6], {got} and [2, 3, 2, 5]", *[{TURNED: t} for t in [(2, 3, 2, 5), (2, 3, 12)]]),
        *refused(SIZES + "[2, 3, 4, 6], [2, 3, 2, 6], [2, 3, 2, 6] and {got}", *[{V: t} for t in [(2, 3, 1, 5), (2, 4, 2, 5), (1, 3, 2, 5), (2, 3, 10)]]),
        *refused("q, k, v and turned must be contiguous", {Q: loose(2, 3, 4, 6)}, {K: loose(2, 3, 2, 6)}, {V: loose(2, 3, 2, 5)}, {TURNED: loose(2, 3, 2, 6)}),
        *refused("k must have the type of q, Float, got Double", {K: wide(2, 3, 2, 6)}),
        *refused("v must have the type of q, Float, got Double", {V: wide(2, 3, 2, 5)}),
        *refused("turned must have the type of q, Float, got Double", {TURNED: wide(2, 3, 2, 6)}),
        *refused("q must be float32, float64 or bfloat16, got Half", {Q: lambda r: r(2, 3, 4, 6).half()}),
        *refused("ring_keys must have the type of k, Float, got Double", {RING_KEYS: wide(2, 9, 2, 6)}),
        *refused("ring_values must have the type of k, Float, got Double", {RING_VALUES: wide(2, 9, 2, 5)}),
        *refused("ring_keys must be [2, rows, 2, 6], got {got}", *[{RING_KEYS: t} for t in [(1, 9, 2, 6), (2, 9, 1, 6), (2, 9, 2, 5), (2, 9, 12)]]),
        *refused("ring_values must be [2, rows, 2, 5], got {got}", *[{RING_VALUES: t} for t in [(2, 8, 2, 5), (2, 9, 2, 6)]]),
        *refused("first_keys must be [2, rows, 2, 6], got {got}", {FIRST_KEYS: (2, 1, 4, 6)}),
        *refused("first_values must be [2, rows, 2, 5], got {got}", {FIRST_VALUES: (2, 3, 2, 5)}),
        *refused("slot_keys must be [2, rows, 2, 6], got [2, 4, 2, 7]", {SLOT_KEYS: lambda r: [r(2, 4, 2, 7)]}),
        *refused("slot_values must be [2, rows, 2, 5], got [2, 3, 2, 5]", {SLOT_VALUES: lambda r: [r(2, 3, 2, 5)]}),
        *refused("the rows of ring_keys must be contiguous", {RING_KEYS: loose(2, 9, 2, 6)}, {RING_KEYS: lambda r: r(2, 9, 2, 12)[..., :6]},
                 {RING_KEYS: lambda r: r(2, 9, 6, 2).transpose(2, 3)}, {RING_KEYS: lambda r: r(2, 18, 2, 6)[:, ::2]}),
        *refused("the rows of ring_values must be contiguous", {RING_VALUES: loose(2, 9, 2, 5)}),
        *refused("slot_values, places and excess must have one entry per level like slot_keys, 1, got 0, 1 and 1", {SLOT_VALUES: lambda r: []}),
        *refused("slot_values, places and excess must have one entry per level like slot_keys, 1, got 1, 2 and 1", {PLACES: lambda r: [1, 2]}),
        *refused("slot_values, places and excess must have one entry per level like slot_keys, 1, got 1, 1 and 3", {EXCESS: lambda r: [0.0, 0.5, 1.0]}),
        (lambda r: step(r, {}, first=-1), "first must be 0 … 2147483647, got -1"),
        (lambda r: step(r, {19: 5, 20: 0}), "window must be 1 … 2147483647, got 0"),
        (lambda r: step(r, {PLACES: [-2]}), "each of places must be 0 … 2147483647, got -2"),
        *refused("the ring must have a row for each of the last 9 of 10 tokens, got 8", {RING_KEYS: (2, 8, 2, 6), RING_VALUES: (2, 8, 2, 5)}),
        (lambda r: step(r, {19: 6, 20: 17, RING_KEYS: r(2, 8, 2, 6), RING_VALUES: r(2, 8, 2, 5)}),
         "the ring must have a row for each of the last 17 of 9 tokens, got 8"),
        *refused("latents must be [2, r, 6], got {got}", {LATENTS: (4, 8, 6)}),
        *refused("sum_values must be contiguous Float [2, 2, 8, 5], got Float {got}", {SUM_VALUES: (2, 2, 8, 6)}),
        *refused("frequencies must be float64 [levels, d/2] for q [2, 3, 4, 6], got Float {got}", {FREQUENCIES: (1, 3)}),
        *[(lambda r, t=t: step(r, {FREQUENCIES: r(*t).double()}),
           f"frequencies must be float64 [levels, d/2] for q [2, 3, 4, 6], got Double {list(t)}") for t in [(1, 6), (0, 3), (3,)]],
    ],
    "summary_join": [
        (lambda r: joined(r, {0: lambda r: r(2, 3, 4, 6).half()}), "keys must be float32, float64 or bfloat16, got Half"),
        (lambda r: joined(r, {1: wide(2, 3, 4, 5)}), "values must have the type of keys, Float, got Double"),
        *[(lambda r, k=k, v=v: joined(r, {}, k, v), f"keys and values must be contiguous [B, n, G, d] and [B, n, G, e], got {list(k)} and {list(v)}")
          for k, v in [((2, 3, 24), (2, 3, 4, 5)), ((2, 3, 4, 6), (2, 3, 20)), ((2, 3, 4, 6), (2, 3, 1, 5)), ((2, 3, 4, 6), (2, 7, 4, 5))]],
        *[(lambda r, c=c: joined(r, c), "keys and values must be contiguous [B, n, G, d] and [B, n, G, e], got [2, 3, 4, 6] and [2, 3, 4, 5]")
          for c in [{0: loose(2, 3, 4, 6)}, {1: loose(2, 3, 4, 5)}]],
        *[(lambda r, t=t: joined(r, {2: lambda r: r(*t)}), f"latents must be [4, r, 6], got {list(t)}") for t in [(3, 8, 6), (4, 8, 5), (4, 48)]],
        (lambda r: joined(r, {2: wide(4, 8, 6)}), "latents must be contiguous Float, got Double"),
        (lambda r: joined(r, {2: lambda r: r(8, 4, 6).transpose(0, 1)}), "latents must be contiguous Float, got Float"),
        *[(lambda r, c=c: joined(r, c), f"{name} must be contiguous Float [2, 4, 8, {width}], got {got}")
          for at, name, width in [(3, "high", 1), (4, "total", 1), (5, "sum_keys", 6), (6, "sum_values", 5)]
          for c, got in [({at: wide(2, 4, 8, width)}, f"Double [2, 4, 8, {width}]"),
                         ({at: lambda r, w=width: r(2, 4, 9, w)}, f"Float [2, 4, 9, {width}]"),
                         ({at: lambda r, w=width: r(2, 8, 4, w).transpose(1, 2)}, f"Float [2, 4, 8, {width}]")]],
    ],
}
