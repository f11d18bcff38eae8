"""bfloat16: sums are rounded to the nearest, ties to even, under the loops of every instruction set, as torch rounds them,
and NaN stays NaN; and a training in bf16 says where the CPU has no instructions for it."""

import pytest
import torch

from cli_helpers import PROGRAM, SMALL, ok, write_csv
from ops_records import ops

BY_INSTRUCTION = ("avx512bf16", "amx", "amx_vectors")  # its NaN keep their sign, and its denormal numbers become 0


@pytest.fixture(autouse=True)
def restored():
    isa = ops.active_isa()
    yield
    ops.use_isa(isa)


def pairs():
    """All bfloat16 numbers, and beside each what brings it to a tie, just beyond, just below, or not near one."""
    one = torch.arange(-2**15, 2**15, dtype=torch.int32).to(torch.int16).view(torch.bfloat16)
    half = (one.float() * 2.0**-8).bfloat16()  # half a unit of the last place where the mantissa is 0, less beyond
    power = (2.0 ** (torch.frexp(one.float())[1] - 9).float()).nan_to_num(1.0).bfloat16()  # half a unit
    others = [half, power, power * 0.99, power * 1.01, -power, torch.zeros_like(one), power * 3]
    return torch.cat([one] * len(others)), torch.cat(others)


def by_linear(a, b):
    return ops.linear(torch.stack([a, b], -1), torch.ones(1, 2, dtype=a.dtype)).squeeze(-1)


def by_sum(a, b):
    return ops.dropout_add(b, a, 0.0, 0, 0, 16)


def by_dropout(a, b):
    return ops.dropout_add(b, a, 2.0**-32, 1, 1, 16)  # none of the words is 0: nothing is dropped, and 1 / (1 − p) is 1


@pytest.mark.parametrize("add", [by_linear, by_sum, by_dropout])
@pytest.mark.parametrize("isa", ops.available_isas())
def test_sums_are_rounded_as_torch_rounds_them(isa, add):
    ops.use_isa(isa)
    a, b = pairs()
    exact = a.float() + b.float()
    expected, got = exact.bfloat16(), add(a, b)
    assert torch.equal(got.isnan(), expected.isnan())
    if isa not in BY_INSTRUCTION:
        assert (got.view(torch.int16)[got.isnan()] == 0x7fc0).all()
    normal = ~got.isnan()
    if isa in BY_INSTRUCTION:
        normal &= (exact.abs() >= 2.0**-126) & (a.abs() >= 2.0**-126) & ((b == 0) | (b.abs() >= 2.0**-126))
    assert torch.equal(got[normal].float(), expected[normal].float())


@pytest.mark.skipif(not PROGRAM.exists(), reason=f"{PROGRAM} is not built")
@pytest.mark.parametrize("isa", ops.available_isas())
@pytest.mark.parametrize("precision", ["float32", "bf16"])
def test_a_training_in_bf16_warns_where_the_cpu_has_no_instructions_for_it(tmp_path, monkeypatch, precision, isa):
    monkeypatch.setenv("MODEWISE_ISA", isa)
    result = ok("train", "forecast", "--data", write_csv(tmp_path / "d.csv"), "--out", tmp_path / "run", *SMALL, "--model", "tide",
                "--set", "train.epochs=1", "--threads", "1", "--set", f"model.precision={precision}")
    lines = [line for line in result.stderr.splitlines() if "no bf16 instructions" in line]
    sentence = "model.precision = bf16: this CPU has no bf16 instructions; float32 is faster here, bf16 needs less memory"
    warned = precision == "bf16" and isa in ("scalar", "avx2", "avx512")
    assert len(lines) == warned and all(line.endswith(sentence) for line in lines)
