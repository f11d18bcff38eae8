"""modewise.nn.recompute: fewer bytes are kept for the backward pass, as torch's own hooks count them, and no bit changes."""

import pytest
import torch

from modewise import nn, ops


class Packed:
    """Bytes of the storages that autograd keeps, but those of `known` tensors."""

    def __init__(self, *known):
        self.known = {t.untyped_storage().data_ptr() for t in known}
        self.storages = {}

    def __enter__(self):
        def pack(t):
            storage = t.untyped_storage()
            if storage.data_ptr() not in self.known:
                self.storages[storage.data_ptr()] = storage.nbytes()
            return t

        self.hooks = torch.autograd.graph.saved_tensors_hooks(pack, lambda t: t)
        self.hooks.__enter__()
        return self

    def __exit__(self, *error):
        self.hooks.__exit__(*error)

    def activations(self, x):
        return sum(self.storages.values()) / x.untyped_storage().nbytes()


def draw(*shape, dtype=torch.float32, seed=1):
    return torch.randn(*shape, generator=torch.Generator().manual_seed(seed), dtype=torch.float64).to(dtype)


def leaves(*tensors):
    return [t.clone().requires_grad_() for t in tensors]


def gradients(call, tensors, on):
    given = leaves(*tensors)
    with nn.recompute(on):
        out = call(*given)
    return [out.detach(), *torch.autograd.grad((out * draw(*out.shape, dtype=out.dtype, seed=9)).sum(), given)]


CHAINS = {
    "norm then map": (
        lambda x, g, b, w, c: ops.linear(ops.layer_norm(x, g, b), w, c), [(4, 70, 16), (16,), (16,), (24, 16), (24,)], 0.0),
    "norm, map, map": (
        lambda x, g, b, w, v: ops.linear(ops.linear(ops.layer_norm(x, g, b), w), v), [(4, 70, 16), (16,), (16,), (24, 16), (3, 24)], 0.0),
    "three maps": (lambda x, w, v, u: ops.linear(ops.linear(ops.linear(x, w), v), u), [(4, 70, 16), (24, 16), (16, 24), (3, 16)], 1.0),
    "root mean square": (lambda x, g, w: ops.linear(ops.rms_norm(x, g), w), [(4, 70, 16), (16,), (24, 16)], 0.0),
    "residual sum and norm": (
        lambda r, x, g, b, w: ops.linear(ops.dropout_add_norm(r, x, 0.3, 1, 2, 16, g, b)[1], w),
        [(4, 70, 16), (4, 70, 16), (16,), (16,), (24, 16)], 1.0),
    "feed-forward": (
        lambda x, g, a, b, c: ops.feed_forward(ops.layer_norm(x, g), a, b, c, None, None, 0.2, 1, 2, 16),
        [(4, 70, 16), (16,), (31, 16), (16, 31), (31, 16)], 0.0),
    "short modes": (
        lambda x, a, b, c: ops.mode_product(ops.mode_product(ops.mode_product(x, a, 1), b, 2), c, 1),
        [(4, 5, 7, 17, 16), (7, 7), (17, 17), (7, 7)], 1.0),
    "a long mode": (
        lambda x, a, b, c: ops.mode_product(ops.mode_product(ops.mode_product(x, a, 0), b, 1), c, 1),
        [(2, 65, 7, 16), (65, 65), (7, 7), (7, 7)], 1.0),
    "dropped scores": (
        lambda x, q, k: ops.mode_product(x, ops.dropout_add(None, ops.mode_scores(q, k, 2), 0.3, 1, 2, 16), 0),
        [(4, 65, 7, 16), (4, 65, 16), (4, 65, 16)], 0.0),
}  # fmt: skip


@pytest.mark.parametrize("name", CHAINS)
@pytest.mark.parametrize("dtype", [torch.float32, torch.float64, torch.bfloat16], ids=str)
def test_no_bit_changes(name, dtype):
    call, shapes, _ = CHAINS[name]
    tensors = [draw(*shape, dtype=dtype, seed=i) for i, shape in enumerate(shapes)]
    for kept, again in zip(gradients(call, tensors, False), gradients(call, tensors, True), strict=True):
        assert torch.equal(kept, again)


@pytest.mark.parametrize("name", CHAINS)
def test_what_is_kept(name):
    call, shapes, activations = CHAINS[name]
    given = leaves(*(draw(*shape, seed=i) for i, shape in enumerate(shapes)))
    kept = {}
    for on in (False, True):
        with nn.recompute(on), Packed(*given) as packed:
            call(*given)
        kept[on] = packed.activations(given[0])
    rows = 2 * 4 / (16 * 4)  # mean and standard deviation of a row
    assert activations <= kept[True] <= activations + rows + 0.01
    assert kept[False] >= kept[True] + 0.9


def test_second_derivatives_of_mode_products():
    x, a, b = (draw(*shape, dtype=torch.float64, seed=i) for i, shape in enumerate([(2, 5, 7, 6), (5, 5), (2, 3, 7, 7)]))

    def call(x, a, b):
        with nn.recompute():
            return ops.mode_product(ops.mode_product(x, a, 0), b, 1)

    assert torch.autograd.gradcheck(call, leaves(x, a, b))
    assert torch.autograd.gradgradcheck(call, leaves(x, a, b))


def test_a_graph_may_run_again():
    x, w = leaves(draw(5, 16), draw(3, 16))
    with nn.recompute():
        out = ops.linear(ops.layer_norm(x), w)
    first = torch.autograd.grad(out.sum(), [x, w], retain_graph=True)
    second = torch.autograd.grad(out.sum(), [x, w])
    assert all(torch.equal(a, b) for a, b in zip(first, second, strict=True))
    with pytest.raises(RuntimeError, match="second time"):
        torch.autograd.grad(out.sum(), [w])


def test_what_was_changed_in_place_is_seen_as_it_was():
    x, w = leaves(draw(5, 16), draw(3, 16))
    with nn.recompute():
        normed = ops.layer_norm(x)
        out = ops.linear(normed, w)
        normed.mul_(2)  # without the mode torch refuses the backward pass
        changed = ops.linear(normed, w)
    (grad,) = torch.autograd.grad(out.sum(), [w], retain_graph=True)
    torch.testing.assert_close(grad, torch.nn.functional.layer_norm(x.detach(), (16,)).sum(0).expand(3, 16))
    torch.testing.assert_close(torch.autograd.grad(changed.sum(), [w])[0], 2 * grad)


def test_the_mode_ends_with_its_block():
    with pytest.raises(ZeroDivisionError), nn.recompute():
        assert ops.kernels.set_recompute_mode(True)
        raise ZeroDivisionError
    assert not ops.kernels.set_recompute_mode(False)
    with nn.recompute(), nn.recompute(False):
        assert not ops.kernels.set_recompute_mode(False)


def test_a_compiled_model_has_its_gradients():
    x, g, w = leaves(draw(5, 16), draw(16), draw(3, 16))
    call = lambda x, g, w: ops.linear(ops.layer_norm(x, g), w).square().sum()
    expected = torch.autograd.grad(call(x, g, w), [x, g, w])
    with nn.recompute():
        found = torch.autograd.grad(torch.compile(call, backend="aot_eager")(x, g, w), [x, g, w])
    for a, b in zip(found, expected, strict=True):
        torch.testing.assert_close(a, b)
