"""summary_step and summary_join (python/modewise/triton/summary_step.py), and caches of attention that call them."""

import pytest
import torch

from ops_records import changed, ops
from ops_samples import drawer
from ops_sequence_formulas import joined, summary_step
from ops_sequence_samples import partial_blocks, step_case
from triton_helpers import assert_close, in_turn, launches, ran
from modewise.nn import AttentionCache

STEP, JOIN = changed("summary_step", (4, 5, 6, 7, 9, 10, 11, 12)), changed("summary_join", (3, 4, 5, 6))

# Samples, tokens, query heads, key heads, widths of keys and values; options.
CASES = {
    "one token": ((1, 1, 1, 1, 1, 1), dict(first=0, window=1)),
    "full ring": ((2, 1, 4, 2, 6, 5), dict(first=7, window=5, codes=1)),
    "ring not full": ((2, 1, 4, 2, 6, 5), dict(first=3, window=65, codes=1)),
    "first tokens": ((1, 2, 3, 1, 8, 3), dict(first=40, window=7, sinks=3, codes=1, gains=(1.25,))),
    "first tokens written": ((2, 3, 2, 2, 7, 9), dict(first=1, window=33, sinks=3)),
    "first tokens begin": ((1, 5, 2, 1, 4, 4), dict(first=4, window=6, sinks=9, codes=1)),
    "levels": ((3, 7, 3, 3, 2, 7), dict(first=1, window=17, slots=(2, 0, 3), r=2, codes=3, gains=(1.25, 1.5, 0.75))),
    "many rows": ((1, 1, 2, 2, 16, 24), dict(first=500, window=131, slots=(129, 63), r=3, codes=3)),
    "many queries": ((1, 33, 10, 5, 2, 1), dict(first=63, window=65, sinks=2, codes=1)),
    "wide": ((1, 3, 4, 1, 128, 127), dict(first=65, window=31, slots=(17,), r=17, codes=2)),
    "far": ((1, 1, 2, 1, 64, 64), dict(first=2**20 + 7, window=9, codes=1)),
    "written alone": ((2, 3, 2, 1, 4, 4), dict(first=9, window=3, sinks=1, attends=False, r=3)),
}


@in_turn("case", CASES)
def test_step(case, dtype):
    sizes, options = CASES[case]
    args, kwargs = step_case(drawer(dtype), *sizes, **options)
    got = STEP(*args, **kwargs)
    assert ran("summary_step")
    wide = [a.double() if isinstance(a, torch.Tensor) else a for a in args]
    wanted = summary_step(*wide, **{name: [t.double() for t in value] if name.startswith("slot") else value for name, value in kwargs.items()})
    assert len(got) == len(wanted)
    for i, (x, y) in enumerate(zip(got, wanted)):
        assert_close(x, y, dtype, f"result {i}")


@in_turn("sizes", [(2, 3, 2, 1, 4, 5), (1, 17, 1, 3, 7, 2), (3, 1, 5, 2, 1, 1), (1, 33, 2, 17, 16, 128), (1, 65, 1, 32, 127, 33)])
def test_join(sizes, dtype):
    b, n, g, r, d, e = sizes
    rand = drawer(dtype)
    args = (rand(b, n, g, d), rand(b, n, g, e), *partial_blocks(rand, b, g, r, d, e))
    got = JOIN(*args)
    assert ran("summary_join")
    for i, (x, y) in enumerate(zip(got, joined(*(a.double() for a in args)))):
        assert_close(x, y, dtype, f"state {i}")


def test_a_new_partial_block_has_no_maximum():
    rand = drawer(torch.float64)
    latents, high, total, sum_keys, sum_values = partial_blocks(rand, 1, 1, 2, 3, 2)
    args = (rand(1, 2, 1, 3), rand(1, 2, 1, 2), latents, torch.full_like(high, -torch.inf), total * 0, sum_keys * 0, sum_values * 0)
    for x, y in zip(JOIN(*args), joined(*args)):
        assert_close(x, y, torch.float64)


def test_rows_of_a_longer_memory():
    """Rows that lie in a larger tensor, whose other rows stay as they are."""
    args, kwargs = step_case(drawer(torch.float64), 2, 2, 4, 2, 6, 5, first=7, window=5, sinks=3, slots=(3,), codes=2)
    wanted = STEP(*args, **kwargs)
    memories = [torch.full((t.size(0), t.size(1) + 3, *t.shape[2:]), 7.0, dtype=t.dtype) for t in args[4:8]]
    rows = [memory[:, 1 : 1 + t.size(1)].copy_(t) for memory, t in zip(memories, args[4:8])]
    ops.summary_step(*args[:4], *rows, kwargs["slot_keys"], kwargs["slot_values"], kwargs["places"], kwargs["excess"], *args[8:13], args[13],
                     kwargs["gains"], kwargs["first"], kwargs["window"], kwargs["scale"], True)
    assert ran("summary_step")
    for x, y in zip(rows, wanted[1:]):
        assert torch.equal(x, y)
    assert all((memory[:, 0] == 7).all() and (memory[:, -2:] == 7).all() for memory in memories)


@pytest.mark.parametrize("options, reason", [
    (dict(first=0, window=3), "at most as many tokens as the window has"), (dict(first=1, window=17, slots=(1, 1, 1, 1)), "at most 3 levels"),
    (dict(first=1, window=17, r=33), "at most 32 summary tokens")], ids=str)
def test_other_calls_run_other_kernels(options, reason):
    args, kwargs = step_case(drawer(torch.float32), 1, 5, 2, 1, 4, 4, **options)
    STEP(*args, **kwargs)
    assert ops.last_kernel("summary_step") == "loops", reason


@pytest.mark.parametrize("form, fold", [("window", []), ("lambda", []), ("summary", [0, 3, 4])])
def test_decoding_equals_the_whole_sequence(form, fold):
    """Pieces of one and of several tokens, across the ends of blocks; float64."""
    rand = drawer(torch.float64)
    q, k, v, latents = rand(2, 53, 4, 8), rand(2, 53, 2, 8), rand(2, 53, 2, 8), rand(2, 2, 2, 8) if fold else None
    frequencies = torch.logspace(0, -2, 4, dtype=torch.float64).expand(3, 4)
    sinks = 3 if form == "lambda" else 0
    cache = AttentionCache(form, fold, 7, sinks, 0.1, latents, frequencies, [1.1])
    out, at = [], 0
    with launches() as launched:
        while at < 53:
            piece = slice(at, min(at + (1, 1, 5)[at % 3], 53))
            out.append(cache.step(q[:, piece], k[:, piece], v[:, piece]))
            at = piece.stop
    assert {call["kernel"] for call in launched} == ({"summary_step", "summary_join"} if fold else {"summary_step"})
    ops.use_reference(True)
    wanted = ops.tensor_attention(q, k, v, latents, frequencies, form=form, fold=fold, window=7, sinks=sinks, causal=True, gains=[1.1])
    ops.use_reference(False)
    assert_close(torch.cat(out, 1), wanted, torch.float64)
