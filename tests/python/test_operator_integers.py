"""Every integer that an operator takes, driven through the ends of 64 bits: refused in a sentence that names it, or right.

The operators and their integer arguments come from the dispatcher, so a new operator without a sample fails. The calls run in
a process of their own, which writes the name of each call before it makes it: a crash is reported by name.
"""

import functools
import json
import os
import pathlib
import resource
import subprocess
import sys

import torch

from ops_formulas import dropout_add
from ops_records import ops
from ops_samples import attention_arguments, drawer
from ops_sequence_samples import frequency_rows, in_schema_order, step_case

VALUES = sorted({sign * value + near for value in (2**31, 2**32, 2**62) for sign in (1, -1) for near in (-1, 0, 1)} - {2**31 - 1}
                | {2**63 - 1, 2**63 - 2, -2**63, -2**63 + 1, -1})
SEEDS = ("seed", "feature_seed")  # all 64 bits are legitimate
WORDS = ("step", "site")  # 32 bits of a random stream's counter


def summary(r, **changed):
    return dict(q=r(1, 5, 2, 4), k=r(1, 5, 1, 4), v=r(1, 5, 1, 3), latents=r(1, 1, 2, 4), frequencies=frequency_rows(2, 4),
                positions=torch.arange(5), fold=[2, 2], window=3, sinks=1, scale=0.5, gains=[], **changed)


def sequence(r, **options):
    return dict(q=r(1, 5, 2, 4), k=r(1, 5, 1, 4), v=r(1, 5, 1, 3), **options)


def positional(op, args):
    return dict(zip((a.name for a in schema_of(op).arguments), args))


DROP = dict(p=0.5, seed=3, step=2, site=17)
CONVOLUTION = dict(stride=[2, 1], padding=[1, 1], dilation=[1, 2])
ATTENTION_NAMES = ("x", "value", "query_weight", "query_bias", "key_weight", "key_bias")


def kronecker(r):
    return {**dict(zip(ATTENTION_NAMES, attention_arguments(r, (1, 3, 2, 4), 2))), "heads": 2, "attend_modes": [0, 1], "rope_modes": [0],
            "features": 5, "feature_seed": 3}


def feed_forward(r):
    return dict(x=r(2, 3), first=r(4, 3), second=r(5, 4), gate=r(4, 3), first_bias=r(4), **DROP)


def synthesized(r):
    return dict(v=r(1, 4, 1, 3), left=r(1, 4, 1, 2), right=r(1, 4, 1, 2), outer=r(1, 2, 2), inner=r(1, 2, 2), rows=4)


def loss(r):
    return dict(hidden=r(3, 4), head=r(5, 4), targets=torch.tensor([0, 4, 2]), chunk=2)


# Samples of each operator with an integer argument, which contain all its integer arguments.
SAMPLES = {
    "axis_attention": lambda r: [dict(q=r(1, 3, 2, 4), k=r(1, 3, 2, 4), v=r(1, 3, 2, 4), heads=2, mode=1, dropout=0.5, seed=1, step=1, site=16)],
    "convolution": lambda r: [dict(x=r(1, 5, 6, 2), weight=r(3, 2, 3, 2), bias=r(3), **CONVOLUTION),
                              dict(x=r(1, 5, 2), weight=r(3, 2, 1), bias=None, stride=[1], padding=[0], dilation=[1]),
                              dict(x=r(0, 5, 2), weight=r(3, 2, 3), bias=None, stride=[1], padding=[1], dilation=[1])],
    "convolution_backward": lambda r: [dict(grad=r(1, 3, 6, 3), x=r(1, 5, 6, 2), weight=r(3, 2, 3, 2), **CONVOLUTION)],
    "dropout_add": lambda r: [dict(residual=r(3, 5), x=r(3, 5), **DROP), dict(residual=None, x=r(3, 5), **{**DROP, "p": 0.0})],
    "dropout_add_norm": lambda r: [dict(residual=r(3, 5), x=r(3, 5), **DROP)],
    "dropout_add_norm_stats": lambda r: [dict(residual=r(3, 5), x=r(3, 5), **DROP, weight=None, bias=None, eps=1e-5)],
    "feed_forward": lambda r: [feed_forward(r)],
    "feed_forward_kept": lambda r: [dict(feed_forward(r), second_bias=None)],
    "feed_forward_backward": lambda r: [dict(feed_forward(r), grad=r(2, 5), kept=None, wanted=[True] * 5 + [False])],
    "full_attention": lambda r: [dict(q=r(1, 3, 4), k=r(1, 3, 4), v=r(1, 3, 4), heads=2, dropout=0.5, seed=1, step=1, site=16)],
    "hashed_attention": lambda r: [dict(q=r(1, 5, 2, 4), v=r(1, 5, 2, 3), rotations=r(1, 2, 4, 2), chunk=2)],
    "kronecker_attention": lambda r: [dict(kronecker(r), kernel="linear"), dict(kronecker(r), dropout=0.5, seed=1, step=1, site=16)],
    "language_loss": lambda r: [loss(r)],
    "language_loss_gradients": lambda r: [dict(loss(r), hidden_wanted=True, head_wanted=True)],
    "mode_attention": lambda r: [{k: v for k, v in dict(kronecker(r), kernel="linear").items() if k != "value"}],
    "mode_contract": lambda r: [dict(a=r(1, 3, 4), x=r(1, 2, 4), mode=0, heads=2), dict(a=r(1, 3, 0), x=r(1, 2, 0), mode=0, heads=2)],
    "mode_pool_backward": lambda r: [dict(grads=[r(1, 3, 4), r(1, 2, 4)], sizes=[1, 3, 2, 4], pooling="sum")],
    "mode_product": lambda r: [dict(x=r(1, 3, 2, 4), factor=r(1, 2, 5, 2), mode=1)],
    "mode_scores": lambda r: [dict(q=r(1, 3, 4), k=r(1, 2, 4), heads=2)],
    "mode_scores_backward": lambda r: [dict(grad=r(1, 2, 3, 2), scores=r(1, 2, 3, 2), q=r(1, 3, 4), k=r(1, 2, 4), heads=2)],
    "nystroem_attention": lambda r: [dict(q=r(1, 5, 2, 4), k=r(1, 5, 2, 4), v=r(1, 5, 2, 3), landmarks=2)],
    "orthogonal_projection": lambda r: [dict(like=r(1), width=3, features=5, seed=1, mode=0)],
    "summary_attention": lambda r: [summary(r)],
    "summary_attention_backward": lambda r: [summary(r, grad=r(1, 5, 2, 3), out=r(1, 5, 2, 3), logsumexp=r(1, 2, 5))],
    "summary_step": lambda r: [positional("summary_step", in_schema_order(step_case(
        r, 1, 2, 2, 1, 4, 3, first=4, window=3, sinks=1, slots=(2,), r=2, codes=2))[0])],
    "synthesized_attention": lambda r: [synthesized(r)],
    "synthesized_attention_backward": lambda r: [dict(synthesized(r), grad=r(1, 4, 1, 3), key_mask=None, causal=False)],
    "tensor_attention": lambda r: [
        sequence(r, latents=r(1, 1, 2, 4), frequencies=frequency_rows(2, 4), positions=torch.arange(5), fold=[2, 2], window=3),
        sequence(r, latents=r(1, 1, 2, 4), fold=[0, 2]),  # the window is made of the fold
        sequence(r, form="lambda", window=3, sinks=1), sequence(r, form="window", window=3, causal=False),
        sequence(r, form="full", frequencies=frequency_rows(1, 4), positions=torch.arange(5)),
        sequence(r, form="axial", fold=[0, 3], modes=1, causal=False), sequence(r, form="pooled", fold=[2, 3], modes=2, causal=False),
        sequence(r, form="full", dropout=0.5, seed=1, step=1, site=16)],
    "token_losses": lambda r: [loss(r)],
}


def schema_of(op):
    return torch._C._get_schema(f"modewise::{op}", "")


def operators():
    return {name.removeprefix("modewise::") for name in torch._C._dispatch_get_all_op_names() if name.startswith("modewise::")}


@functools.cache
def registered():
    """Operators with an integer argument, and the names of those, but `launch`, which passes a kernel's own."""
    found = {name: integers_of(schema_of(name)) for name in operators() - {"launch"}}
    return {name: integers for name, integers in found.items() if integers}


def integers_of(schema):
    def elements(type_of):
        while type_of.kind() in ("OptionalType", "ListType"):
            type_of = type_of.getElementType()
        return type_of.kind()
    return {a.name for a in schema.arguments if elements(a.real_type) in ("IntType", "SymIntType")}


def test_every_operator_with_integers_has_a_sample_of_each():
    found = registered()
    assert set(found) == set(SAMPLES)
    for op, integers in found.items():
        samples = SAMPLES[op](drawer(torch.float32))
        given = {name for sample in samples for name in integers if sample.get(name) not in (None, [])}
        assert given == integers, f"modewise::{op}"


def changes(op, sample):
    """(argument, value, the sample with it) for every integer and for the last element of every int64 tensor."""
    for name in registered()[op]:
        if isinstance(sample.get(name), list):
            for at in range(len(sample[name])):
                for value in VALUES:
                    yield f"{name}[{at}]", value, {**sample, name: [*sample[name][:at], value, *sample[name][at + 1:]]}
        elif sample.get(name) is not None:
            for value in VALUES:
                yield name, value, {**sample, name: value}
    for name, tensor in sample.items():
        if isinstance(tensor, torch.Tensor) and tensor.dtype == torch.int64:
            for value in VALUES:
                yield name, value, {**sample, name: torch.cat([tensor[:-1], torch.tensor([value])])}


def right(name, value):
    """Whether the operator takes the value. Targets below 0 do not count."""
    if name in SEEDS:
        return True
    if name == "positions":
        return abs(value) < 2**31
    return value < 0 if name == "targets" else name in WORDS and 0 <= value < 2**32


def placed(value, key, mutable):
    if isinstance(value, list):
        return [placed(v, key, mutable) for v in value]
    if not isinstance(value, torch.Tensor):
        return value
    if key == "Meta":
        return value.to("meta")
    return value.clone().requires_grad_(key == "Autograd" and not mutable and value.dtype == torch.float32)


def attempt(op, key, arguments):
    """The message of the refusal, None without one."""
    mutable = schema_of(op).is_mutable
    try:
        with torch.set_grad_enabled(key == "Autograd"):
            result = getattr(ops, op)(**{name: placed(value, key, mutable) for name, value in arguments.items()})
        differentiable = key == "Autograd" and not op.endswith("_backward") and not mutable
        for out in result if isinstance(result, (list, tuple)) else [result]:
            if differentiable and out.requires_grad:
                try:
                    out.sum().backward(retain_graph=True)
                except RuntimeError as error:
                    assert "not implemented" in str(error), error
    except (ValueError, IndexError) as error:
        return str(error)
    return None


def complaint(op, key, name, value, arguments):
    """The fault in the answer to the value, None without one."""
    try:
        refusal = attempt(op, key, arguments)
    except Exception as error:  # noqa: BLE001 - anything but a refusal
        return f"{type(error).__name__}: {error}"
    if right(name.split("[")[0], value):
        return refusal and f"refused: {refusal}"
    if refusal is None:
        return "accepted"
    named = refusal.split(":")[0] in operators() and str(value) in refusal
    return None if named else f"refused without the value: {refusal}"


def drive(names):
    """In a process of its own: prints what is wrong as JSON, and each call before it is made to stderr."""
    if "libasan" not in os.environ.get("LD_PRELOAD", ""):  # what allocates gigabytes fails at once
        used = int(pathlib.Path("/proc/self/statm").read_text().split()[0]) * resource.getpagesize()
        resource.setrlimit(resource.RLIMIT_AS, (used + 2**32, used + 2**32))
    torch.set_num_threads(1)
    wrong = []
    for op in names:
        for number, sample in enumerate(SAMPLES[op](drawer(torch.float32))):
            for key in ("CPU", "Autograd", "Meta"):
                for name, value, arguments in changes(op, sample):
                    if key == "Meta" and isinstance(sample[name.split("[")[0]], torch.Tensor):
                        continue  # no values there
                    case = f"{op}, sample {number}, {key}, {name} = {value}"
                    os.write(2, f"{case}\n".encode())
                    said = complaint(op, key, name, value, arguments)
                    wrong += [f"{case}: {said}"] if said else []
    print(json.dumps(wrong))


def test_the_ends_of_64_bits_are_refused_or_right():
    program = f"import test_operator_integers as t; t.drive({sorted(SAMPLES)})"
    environment = {**os.environ, "PYTHONPATH": str(pathlib.Path(__file__).parent)}
    result = subprocess.run([sys.executable, "-c", program], env=environment, capture_output=True, text=True, timeout=300)
    assert result.returncode == 0, f"exit {result.returncode} in:\n{result.stderr[-1000:]}"
    wrong = json.loads(result.stdout)
    assert not wrong, "\n".join(wrong)


def test_dropout_draws_by_all_bits_that_it_takes():
    for seed, step, site in [(2**63 - 1, 2**32 - 1, 2**32 - 1), (-2**63, 2**31, 2**31), (2**62 + 1, 0, 16), (-1, 1, 17)]:
        x = torch.ones(3, 65, dtype=torch.float64)
        assert torch.equal(ops.dropout_add(None, x, 0.5, seed, step, site), dropout_add(None, x, 0.5, seed, step, site))
