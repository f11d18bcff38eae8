"""The feed-forward operator is bitwise equal to its separate steps, for every kernel."""

import pytest
import scipy.special
import torch

from ops_records import ops
from ops_samples import drawer, feed_forward_arguments

ISAS = list(ops.available_isas())
NAMES = ("x", "first", "second", "gate", "first_bias", "second_bias")


@pytest.fixture(autouse=True)
def restored():
    threads, isa = torch.get_num_threads(), ops.active_isa()
    yield
    torch.set_num_threads(threads)
    ops.use_isa(isa)


def by_steps(x, first, second, gate=None, first_bias=None, second_bias=None, p=0.0, seed=0, step=0, site=0):
    """The operators one after another; both layers on x in one product, like its gradient."""
    if gate is not None:
        bias = None if first_bias is None else torch.cat([torch.zeros_like(first_bias), first_bias])
        hidden = ops.swiglu(ops.linear(x, torch.cat([gate, first]), bias))
    else:
        hidden = gelu(ops.linear(x, first, first_bias))
    return ops.linear(ops.dropout_add(None, hidden, p, seed, step, site) if p > 0 else hidden, second, second_bias)


def gelu(x):
    """gelu of a network with identity weights."""
    one = torch.eye(x.size(-1), dtype=x.dtype)
    return ops.feed_forward(x, one, one)


def gradients(function, args, options):
    leaves = [a.detach().clone().requires_grad_() if a is not None else None for a in args]
    out = function(*leaves, *options)
    weight = drawer(torch.float64, seed=9)(*out.shape).to(out.dtype)
    wanted = [leaf for leaf in leaves if leaf is not None]
    return [out, *torch.autograd.grad((out * weight).sum(), wanted)]


# Row counts below and above the block path, several pieces of 256 rows, several parts of 2,048, remainders.
CASES = [((5, 17), 9, 7), ((192, 9), 17, 5), ((193, 9), 17, 5), ((320, 33), 65, 31), ((2, 257, 63), 31, 65), ((2305, 5), 17, 3), ((4100, 3), 5, 2)]


@pytest.mark.parametrize("isa", ISAS)
@pytest.mark.parametrize("shape, hidden, out", CASES, ids=str)
def test_swiglu_network_has_the_bits_of_its_steps(isa, shape, hidden, out):
    ops.use_isa(isa)
    for dtype in (torch.float32, torch.float64, torch.bfloat16):
        args = feed_forward_arguments(drawer(dtype), shape, hidden, out, gate=True, bias=False)
        for options in ((), (0.3, 5, 2, 16)):
            for threads in (1, 3):
                torch.set_num_threads(threads)
                for got, wanted in zip(gradients(ops.feed_forward, args, options), gradients(by_steps, args, options), strict=True):
                    assert got.dtype == wanted.dtype and torch.equal(got, wanted)


@pytest.mark.parametrize("isa", ISAS)
@pytest.mark.parametrize("shape, hidden, out", CASES, ids=str)
def test_gelu_network_has_the_bits_of_its_steps(isa, shape, hidden, out):
    ops.use_isa(isa)
    for dtype in (torch.float32, torch.bfloat16):
        args = feed_forward_arguments(drawer(dtype), shape, hidden, out, gate=False, bias=True)
        for options in ((), (0.3, 5, 2, 16)):
            assert torch.equal(ops.feed_forward(*args, *options), by_steps(*args, *options))


@pytest.mark.parametrize("isa", ISAS)
@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16], ids=str)
@pytest.mark.parametrize("gate", [False, True])
def test_a_row_does_not_depend_on_the_others(isa, dtype, gate):
    ops.use_isa(isa)
    x, *weights = feed_forward_arguments(drawer(dtype), (700, 33), 65, 17, gate=gate, bias=True)
    all_rows = ops.feed_forward(x, *weights)
    for first, count in [(0, 1), (3, 5), (699, 1), (100, 300), (437, 193)]:
        assert torch.equal(ops.feed_forward(x[first:first + count], *weights), all_rows[first:first + count])


def kernels_of(shape, hidden, out, threads, gate=True, dtype=torch.float32):
    torch.set_num_threads(threads)
    gradients(ops.feed_forward, feed_forward_arguments(drawer(dtype), shape, hidden, out, gate=gate, bias=True), ())
    return ops.last_kernel("feed_forward"), ops.last_kernel("feed_forward_backward")


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64, torch.bfloat16], ids=str)
def test_blocks_run_where_they_pay(dtype):
    assert kernels_of((2, 21, 24, 64), 256, 64, 1, dtype=dtype) == ("blocks", "blocks")
    if dtype != torch.float64:  # float64 gradients of 256 rows are too wide
        assert kernels_of((2, 21, 24, 128), 512, 128, 1, dtype=dtype) == ("blocks", "blocks")
    assert kernels_of((193, 5), 3, 2, 1, gate=False, dtype=dtype) == ("blocks", "blocks")
    assert kernels_of((192, 5), 3, 2, 1, dtype=dtype) == ("products", "products")
    assert kernels_of((300, 5), 3, 2, 2, dtype=dtype) == ("blocks", "products")  # one part of rows for two threads
    assert kernels_of((5000, 5), 3, 2, 3, dtype=dtype) == ("blocks", "blocks")
    assert kernels_of((200, 2), 6000, 1, 1, dtype=dtype) == ("products", "products")  # hidden activations too wide
    assert kernels_of((200, 2200), 1024, 1000, 1, dtype=dtype) == ("products", "products")  # 11 to 44 MB of weights


def test_only_the_gradients_that_are_asked_for_are_made():
    for rows in (5, 300):
        for gate in (False, True):
            torch.set_num_threads(1)
            args = feed_forward_arguments(drawer(torch.float64), (rows, 3), 7, 2, gate=gate, bias=True)
            everything = dict(zip([n for n, a in zip(NAMES, args) if a is not None], gradients(ops.feed_forward, args, ())[1:], strict=True))
            for name in everything:
                leaves = [a.clone().requires_grad_() if n == name else a for n, a in zip(NAMES, args)]
                out = ops.feed_forward(*leaves)
                weight = drawer(torch.float64, seed=9)(*out.shape)
                (grad,) = torch.autograd.grad((out * weight).sum(), [leaves[NAMES.index(name)]])
                assert torch.equal(grad, everything[name]), name


def test_weights_may_be_wider_than_activations():
    args = feed_forward_arguments(drawer(torch.float32), (300, 33), 65, 17, gate=True, bias=True)
    x = args[0].bfloat16()
    leaves = [x.requires_grad_(), *(a.requires_grad_() for a in args[1:])]
    out = ops.feed_forward(*leaves)
    assert out.dtype == torch.bfloat16 and torch.equal(out, ops.feed_forward(x, *(a.bfloat16() for a in args[1:])))
    grads = torch.autograd.grad(out.float().square().sum(), leaves)
    assert [g.dtype for g in grads] == [torch.bfloat16] + [torch.float32] * 5
    # float32 sums that had been rounded to bfloat16 would have zeros in the lower half.
    assert all((g.view(torch.int32) & 0xFFFF).any() for g in grads[1:])


@pytest.mark.parametrize("isa", ISAS)
def test_gelu_within_a_few_ulp(isa):
    ops.use_isa(isa)
    x = torch.linspace(-13, 13, 200001).unsqueeze(-1)
    exact = x.double() * torch.as_tensor(scipy.special.ndtr(x.double().numpy()))
    error = (gelu(x).double() - exact).abs()
    assert (error / exact.abs().clamp_min(1)).max() < 2.5e-7
    near = x.abs() < 4
    assert (error / exact.abs().clamp_min(1e-30))[near].max() < 1e-6  # that of 0.5 x (1 + erf(x / √2)) is 7e-3


def test_gelu_at_the_edge():
    x = torch.tensor([-1e4, -200.0, -40.0, -14.0, -1e-40, 0.0, 1e-40, 50.0, 1e4, 3e38, float("inf"), float("nan")]).unsqueeze(-1)
    torch.testing.assert_close(gelu(x), torch.nn.functional.gelu(x.double()).float(), rtol=3e-7, atol=1e-37, equal_nan=True)


@pytest.mark.parametrize("isa", ISAS)
def test_slope_of_gelu(isa):
    ops.use_isa(isa)
    x = torch.linspace(-13, 13, 20001).unsqueeze(-1).requires_grad_()
    (slope,) = torch.autograd.grad(gelu(x).sum(), x)
    wide = x.detach().double()
    exact = scipy.special.ndtr(wide.numpy()) + (wide * torch.exp(-wide.square() / 2) / (2 * torch.pi) ** 0.5).numpy()
    assert (slope.double() - torch.as_tensor(exact)).abs().max() < 4e-7


def test_second_order_is_refused():
    args = [a.requires_grad_() for a in feed_forward_arguments(drawer(torch.float64), (3, 4), 5, 2, gate=True, bias=True)]
    (grad,) = torch.autograd.grad(ops.feed_forward(*args).sum(), args[0], create_graph=True)
    with pytest.raises(RuntimeError, match="not implemented"):
        grad.sum().backward()


def test_changed_weights_are_seen():
    x, *weights = feed_forward_arguments(drawer(torch.float32), (300, 33), 65, 17, gate=True, bias=True)
    before = ops.feed_forward(x, *weights)
    for weight in weights:
        weight.mul_(2)
        after = ops.feed_forward(x, *weights)
        assert not torch.equal(after, before) and torch.equal(after, by_steps(x, *weights))
        before = after
