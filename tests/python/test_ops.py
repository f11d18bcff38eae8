"""Common tests of every operator record; run with MODEWISE_BUILD=<build folder> python -m pytest."""

import copy
import os
import pathlib
import re
import subprocess
import sys

import pytest
import torch
import torch.autograd.forward_ad as forward_ad

from ops_case import Case, check_elements, check_values, is_narrow, largest, results_and_gradients, widened
from ops_records import BUILD, RECORDS, ops
from ops_refusals import REFUSALS
from ops_samples import drawer, outputs
from ops_step_refusals import STEP_REFUSALS

ALL = pytest.mark.parametrize("record", RECORDS, ids=lambda record: record.name)
DIFFERENTIABLE = pytest.mark.parametrize("record", [r for r in RECORDS if r.differentiable], ids=lambda record: record.name)
ISAS = list(ops.available_isas())


@pytest.fixture(autouse=True)
def restored():
    threads, isa = torch.get_num_threads(), ops.active_isa()
    yield
    torch.set_num_threads(threads)
    ops.use_isa(isa)
    ops.use_reference(False)


@ALL
@pytest.mark.parametrize("dtype", [torch.float32, torch.float64, torch.bfloat16], ids=str)
def test_values_against_float64(record, dtype):
    for i, sample in enumerate(record.samples(drawer(dtype))):
        check_values(record, sample, Case(record.name, i, str(dtype)[6:]))


@ALL
@pytest.mark.parametrize("dtype", ["float32", "bfloat16"])
@pytest.mark.parametrize("part", [0, pytest.param(1, marks=pytest.mark.long), pytest.param(2, marks=pytest.mark.long)])
def test_errors_of_single_elements(record, dtype, part):
    for i, sample in list(enumerate(record.samples(drawer(getattr(torch, dtype)))))[part::3]:
        check_elements(record, sample, Case(record.name, i, dtype))


@ALL
@pytest.mark.parametrize("isa", ISAS)
def test_every_instruction_set(record, isa):
    ops.use_isa(isa)
    for dtype in (torch.float32, torch.float64, torch.bfloat16):
        for i, sample in enumerate(record.samples(drawer(dtype, seed=5))):
            check_values(record, sample, Case(record.name, i, str(dtype)[6:], isa, 5))


@ALL
def test_reference_agrees(record):
    for i, sample in enumerate(record.samples(drawer(torch.float64))):
        ops.use_reference(False)
        fast = outputs(record.call(*sample[0], **sample[1]))
        ops.use_reference(True)
        plain = outputs(record.call(*sample[0], **sample[1]))
        for f, p in zip(fast, plain):
            torch.testing.assert_close(f, p, msg=lambda m: f"{record.name}, sample {i}: {m}")


@DIFFERENTIABLE
def test_gradients_against_finite_differences(record):
    for args, kwargs in record.small(drawer(torch.float64)):
        assert torch.autograd.gradcheck(lambda *a: record.call(*a, **kwargs), args)


@pytest.mark.parametrize("record", [r for r in RECORDS if r.second_order], ids=lambda r: r.name)
def test_second_order_gradients(record):
    for args, kwargs in record.small(drawer(torch.float64)):
        assert torch.autograd.gradgradcheck(lambda *a: record.call(*a, **kwargs), args)


@DIFFERENTIABLE
@pytest.mark.parametrize("isa", ISAS)
def test_float32_gradients_against_float64(record, isa):
    ops.use_isa(isa)
    for i, (args, kwargs) in enumerate(record.samples(drawer(torch.float32))):
        grads = {}
        for name, cast in (("ours", lambda t: t), ("plain", lambda t: t), ("exact", lambda t: t.double())):
            leaves = [cast(a.detach()).clone(memory_format=torch.preserve_format).requires_grad_()
                      if is_narrow(a) else a for a in args]
            function = record.call if name == "ours" else record.formula
            out = [o for o in outputs(function(*leaves, **kwargs)) if o.requires_grad]
            weights = [drawer(torch.float64, seed=9)(*o.shape).float().to(o.dtype) for o in out]
            wanted = [t for t in leaves if isinstance(t, torch.Tensor) and t.requires_grad]
            grads[name] = torch.autograd.grad(sum((o * w).sum() for o, w in zip(out, weights)), wanted, allow_unused=True)
        # Some gradients are exactly zero (a key bias under softmax): their roundings scale with the others.
        floor = 16 * torch.finfo(torch.float32).eps * max(largest(g) for g in grads["exact"] if g is not None)
        for ours, plain, exact in zip(grads["ours"], grads["plain"], grads["exact"]):
            if exact is None:  # unused by the formula: no gradient, or zeros
                assert largest(torch.zeros(1) if ours is None else ours) == 0
                continue
            assert largest(ours.double() - exact) <= max(5 * largest(plain.double() - exact), floor), (record.name, i)


@DIFFERENTIABLE
def test_gradients_have_their_forms_without_values(record):
    """Meta gradients have the shapes of real ones: [2, 3, 5] distinguishes the last size from the second."""
    for args, kwargs in record.samples(drawer(torch.float32)):
        forms = []
        for place in (lambda value: value, on_meta):
            leaves = [on_list(a, place) for a in args]
            leaves = [a.detach().requires_grad_() if is_narrow(a) else a for a in leaves]
            out = [o for o in outputs(record.call(*leaves, **{k: on_list(v, place) for k, v in kwargs.items()})) if o.requires_grad]
            wanted = [t for t in leaves if isinstance(t, torch.Tensor) and t.requires_grad]
            grads = torch.autograd.grad([o.sum() for o in out], wanted, allow_unused=True)
            forms.append([None if g is None else (g.shape, g.dtype) for g in grads])
        assert forms[0] == forms[1]


@ALL
def test_opcheck(record):
    for args, kwargs in record.small(drawer(torch.float32)):
        overload = getattr(ops, record.name).default
        torch.library.opcheck(overload, args, kwargs)


@ALL
def test_fake_tensors_have_the_shapes_of_real_ones(record):
    from torch._subclasses.fake_tensor import FakeTensorMode

    for dtype in (torch.float32, torch.bfloat16):
        for args, kwargs in record.samples(drawer(dtype)):
            real = outputs(record.call(*args, **kwargs))
            with FakeTensorMode() as mode:
                convert = lambda t: mode.from_tensor(t) if isinstance(t, torch.Tensor) else t
                fake_kwargs = {k: [convert(m) for m in v] if isinstance(v, list) else convert(v) for k, v in kwargs.items()}
                fake = outputs(record.call(*[convert(a) for a in args], **fake_kwargs))
            for r, f in zip(real, fake):
                assert (r.shape, r.dtype) == (f.shape, f.dtype)
                if r.numel() > 0:
                    assert r.stride() == f.stride()


def bits(t):
    """The bytes: NaN equals NaN, and 0 is not −0."""
    return t.detach().contiguous().reshape(-1).view(torch.uint8)


@ALL
def test_same_bits_for_any_number_of_threads_and_repeats(record):
    for dtype in (torch.float32, torch.bfloat16):
        for sample in record.samples(drawer(dtype)):
            torch.set_num_threads(1)
            first = results_and_gradients(record, sample)
            for threads in (1, 2, 3, 4):
                torch.set_num_threads(threads)
                for _ in range(3):
                    again = results_and_gradients(record, sample)
                    assert len(again) == len(first)
                    for a, b in zip(first, again):
                        assert torch.equal(bits(a), bits(b)), threads


@pytest.mark.parametrize("record", [r for r in RECORDS if r.kernels], ids=lambda r: r.name)
def test_the_fast_kernel_ran(record):
    for dtype in (torch.float32, torch.float64, torch.bfloat16):
        for args, kwargs in record.samples(drawer(dtype)):
            record.call(*args, **kwargs)
            for op, kernel in record.kernels.items():
                assert ops.last_kernel(op) == kernel
    ops.use_reference(True)
    record.call(*args, **kwargs)
    assert all(ops.last_kernel(op) == "reference" for op in record.kernels)


@pytest.mark.parametrize("record", [r for r in RECORDS if r.integers], ids=lambda r: r.name)
@pytest.mark.parametrize("isa", ISAS)
def test_exact_on_small_integers(record, isa):
    ops.use_isa(isa)
    for dtype in (torch.float32, torch.float64):
        for sample in record.samples(drawer(dtype, integers=True)):
            if "mean" in sample[0]:
                continue  # contains a division
            exact = outputs(record.formula(*widened(sample)[0], **sample[1]))
            for g, e in zip(outputs(record.call(*sample[0], **sample[1])), exact):
                assert torch.equal(g.double(), e)


def on_meta(value):
    """Meta tensor of the same shape, strides and dtype; tensor.to("meta") would close gaps between rows."""
    if not isinstance(value, torch.Tensor):
        return value
    return torch.empty_strided(value.size(), value.stride(), dtype=value.dtype, device="meta").requires_grad_(value.requires_grad)


def on_list(value, place):
    return [place(v) for v in value] if isinstance(value, list) else place(value)


def one_moved(args, kwargs):
    """The arguments with one tensor on another device, for each tensor."""
    for i, value in enumerate(args):
        if isinstance(value, torch.Tensor):
            yield [*args[:i], on_meta(value), *args[i + 1:]], kwargs
    for name, value in kwargs.items():
        if isinstance(value, torch.Tensor):
            yield args, {**kwargs, name: on_meta(value)}
        if isinstance(value, list):
            for i, item in enumerate(value):
                if isinstance(item, torch.Tensor):
                    yield args, {**kwargs, name: [*value[:i], on_meta(item), *value[i + 1:]]}


@ALL
def test_tensors_of_two_devices_are_refused(record):
    for args, kwargs in record.samples(drawer(torch.float32)):
        cases = list(one_moved(list(args), kwargs))
        if len(cases) > 1:  # one tensor alone cannot be on two devices
            for moved_args, moved_kwargs in cases:
                with pytest.raises(ValueError, match="must be on the device of"):
                    record.call(*moved_args, **moved_kwargs)


@ALL
def test_bad_arguments_are_named(record):
    rand = drawer(torch.float32)
    for build, pattern in record.errors:
        args, kwargs = build(rand)
        with pytest.raises(ValueError, match=pattern):
            record.call(*args, **kwargs)
        # The same through the dispatcher without autograd and on meta tensors.
        with torch.no_grad(), pytest.raises(ValueError, match=pattern):
            record.call(*args, **kwargs)
        meta = [on_meta(a) for a in args]
        meta_kwargs = {k: [on_meta(m) for m in v] if isinstance(v, list) else v for k, v in kwargs.items()}
        with pytest.raises(ValueError, match=pattern):
            record.call(*meta, **meta_kwargs)


@pytest.mark.parametrize("name", [*REFUSALS, *STEP_REFUSALS])
def test_refusals_are_said_word_by_word(name):
    rand = drawer(torch.float32)
    call = getattr(ops, {"summary_attention": "tensor_attention"}.get(name, name))
    for build, sentence in {**REFUSALS, **STEP_REFUSALS}[name]:
        for place in (lambda value: value, on_meta):
            args, kwargs = build(rand)
            args, kwargs = ([on_list(a, place) for a in args], {k: on_list(v, place) for k, v in kwargs.items()})
            with pytest.raises(ValueError) as error:
                call(*args, **kwargs)
            assert str(error.value) == f"{name}: {sentence}"
            # Without gradients, and without the autograd kernel in front of the device kernel.
            for mode in (torch.no_grad, torch.inference_mode):
                with mode(), pytest.raises(ValueError) as error:
                    call(*args, **kwargs)
                assert str(error.value) == f"{name}: {sentence}"


@ALL
def test_inputs_are_left_alone(record):
    for args, kwargs in record.samples(drawer(torch.float32))[:4]:
        before = copy.deepcopy(args)
        record.call(*args, **kwargs)
        for a, b in zip(args, before):
            if isinstance(a, torch.Tensor):
                assert torch.equal(bits(a), bits(b))


@pytest.mark.parametrize("record", [r for r in RECORDS if r.differentiable and not r.second_order], ids=lambda r: r.name)
def test_second_order_is_refused_where_it_is_not_offered(record):
    refused = 0
    for args, kwargs in record.small(drawer(torch.float64)):
        wanted = [a for a in args if isinstance(a, torch.Tensor) and a.requires_grad]
        grads = torch.autograd.grad(sum(o.square().sum() for o in outputs(record.call(*args, **kwargs)) if o.requires_grad), wanted, create_graph=True,
                                    allow_unused=True)  # fmt: skip
        try:
            sum(grad.square().sum() for grad in grads if grad is not None and grad.requires_grad).backward()
        except RuntimeError as error:
            assert re.search(r"derivative for modewise::\w+ is not implemented|the gradient of gelu_slope is not implemented", str(error))
            refused += 1
    assert refused > 0


def test_the_documentation_lists_the_operators_with_second_derivatives():
    sentence = re.search(r"Operators with second derivatives, to any order: (.*)\.\n", (pathlib.Path(__file__).parents[2] / "docs" / "operators.md").read_text())[1]
    assert set(re.findall(r"`(\w+)`", sentence)) == {record.name for record in RECORDS if record.second_order}


def language_loss_of(hidden, head):
    return ops.language_loss(hidden, head, torch.tensor([0, 3, 1]))


@pytest.mark.parametrize("scale", [1.0, None])
def test_a_second_derivative_of_the_language_loss_is_refused(scale):
    """Also where the first gradient does not depend on that of the loss."""
    hidden, head = (drawer(torch.float64)(*shape).requires_grad_() for shape in ((3, 6), (4, 6)))
    loss = language_loss_of(hidden, head)
    (grad,) = torch.autograd.grad(loss * scale if scale else loss.square(), hidden, create_graph=True)
    expected = torch.autograd.grad(torch.nn.functional.cross_entropy(hidden @ head.T, torch.tensor([0, 3, 1])), hidden)[0] * (scale or 2 * loss)
    assert torch.allclose(grad, expected)
    with pytest.raises(RuntimeError, match="derivative for modewise::language_loss_gradients is not implemented"):
        torch.autograd.grad(grad.square().sum(), head)


@pytest.mark.parametrize("function", [language_loss_of, ops.feed_forward])
def test_forward_mode_is_refused_without_gradients_too(function):
    x, weight = drawer(torch.float64)(3, 6), drawer(torch.float64)(4, 6)
    args = (x, weight) if function is language_loss_of else (x, weight, weight.T.contiguous())
    for place in range(2):
        with forward_ad.dual_level(), torch.no_grad():
            duals = [forward_ad.make_dual(arg, torch.ones_like(arg)) if i == place else arg for i, arg in enumerate(args)]
            with pytest.raises(RuntimeError, match="jvp is not implemented"):
                function(*duals)


@pytest.mark.parametrize("isa", ISAS)
def test_environment_variable_sets_the_instruction_set(isa):
    code = "from ops_records import ops; print(ops.active_isa())"
    environment = {**os.environ, "MODEWISE_ISA": isa, "PYTHONPATH": str(pathlib.Path(__file__).parent)}
    result = subprocess.run([sys.executable, "-c", code], env=environment, capture_output=True, text=True, check=True)
    assert result.stdout.strip() == isa


def test_unknown_instruction_set_is_an_error():
    with pytest.raises(ValueError, match="MODEWISE_ISA must be one of .*scalar.* on this machine and build, got 'neon'"):
        ops.use_isa("neon")


def test_summary_names_every_kernel_and_ends_with_the_reference():
    lines = ops.kernel_summary().strip().split("\n")
    assert {line.split(":")[0] for line in lines} >= {"mode_product", "mode_pool", "mode_scores", "layer_norm",
                                                     "dropout_add", "dropout_add_norm", "swiglu", "rotary"}
    assert all(line.split()[-1] == "reference" for line in lines)


def test_the_program_of_the_docs_prints_what_they_say():
    root = pathlib.Path(__file__).parents[2]
    page = (root / "docs" / "operators.md").read_text()
    program, printed = re.search(r"```python\n(.*?)```\n\nprints `(.*?)`", page, re.S).groups()
    program = program.replace("build/lib", str(BUILD / "lib"))
    run = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert run.stdout.strip() == printed
