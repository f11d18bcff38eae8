"""Comparison of each operator's Triton kernels with its reference, on small inputs, when a device first runs it."""

import torch

_ops = torch.ops.modewise


def _draws(device: torch.device, *shapes: tuple[int, ...]) -> list[torch.Tensor]:
    """bfloat16 numbers that depend on the shapes alone; the generator of the process is not touched."""
    generator = torch.Generator().manual_seed(7)
    return [torch.randn(shape, generator=generator).to(device, torch.bfloat16) for shape in shapes]


def _short_attention(device: torch.device) -> list[torch.Tensor]:
    q, k, v = _draws(device, (2, 19, 6, 40), (2, 19, 3, 40), (2, 19, 3, 24))
    return [_ops.dot_product_attention(q, k, v, None, True, 0.2)]


def _short_attention_backward(device: torch.device) -> list[torch.Tensor]:
    q, k, v, grad = _draws(device, (2, 19, 6, 40), (2, 19, 3, 40), (2, 19, 3, 24), (2, 19, 6, 24))
    return list(_ops.dot_product_attention_backward(grad, q, k, v, None, True, 0.2))


def _mode_product(device: torch.device) -> list[torch.Tensor]:
    x, per_head, shared = _draws(device, (2, 5, 19, 3, 48), (2, 3, 21, 19), (7, 5))
    whole = [(4 * t).round() for t in (x, shared)]  # exact in bfloat16
    return [_ops.mode_product(x, per_head, 1), _ops.mode_product(whole[0].bfloat16(), whole[1], 0).float()]


def _mode_contract(device: torch.device) -> list[torch.Tensor]:
    a, x = _draws(device, (2, 5, 21, 3, 48), (2, 5, 19, 3, 48))
    return [_ops.mode_contract(a, x, 1, 3), _ops.mode_contract(a, x, 1, 0)]


def _mode_pool(device: torch.device) -> list[torch.Tensor]:
    x, cells = _draws(device, (2, 3, 5, 19, 48), (2, 3, 5, 19))
    return [*_ops.mode_pool(x, "mean", cells > -1), *_ops.mode_pool(x.bfloat16(), "sum")]


def _mode_pool_backward(device: torch.device) -> list[torch.Tensor]:
    *grads, cells = _draws(device, (2, 3, 48), (2, 5, 48), (2, 19, 48), (2, 3, 5, 19))
    return [_ops.mode_pool_backward(grads, [2, 3, 5, 19, 48], "mean", cells > -1)]


def _mode_scores(device: torch.device) -> list[torch.Tensor]:
    q, k, keys, pairs = _draws(device, (2, 19, 72), (2, 150, 72), (2, 150), (19, 150))
    return [_ops.mode_scores(q, k, 3, keys > -1, pairs > -1), _ops.mode_scores(q, k[:, :33], 3)]


def _mode_scores_backward(device: torch.device) -> list[torch.Tensor]:
    q, k, grad, logits = _draws(device, (2, 19, 72), (2, 150, 72), (2, 3, 19, 150), (2, 3, 19, 150))
    scores = logits.softmax(-1)
    few = [x[..., :33] for x in (grad, scores)]
    return [*_ops.mode_scores_backward(grad, scores, q, k, 3), *_ops.mode_scores_backward(*few, q, k[:, :33], 3)]


def _summary_inputs(device: torch.device) -> tuple[list[torch.Tensor], tuple[object, ...]]:
    """Heads of 128, so that most models run the kernels that are compiled here."""
    inputs = _draws(device, (2, 83, 4, 128), (2, 83, 2, 128), (2, 83, 2, 128), (2, 2, 3, 128))
    inputs[3] /= 4
    frequencies = torch.logspace(0, -2, 64, dtype=torch.float64, device=device).expand(3, 64)
    return inputs, (frequencies, None, [3, 3, 4], 9, 0, 0.1, [1.1])


def _summary_attention(device: torch.device) -> list[torch.Tensor]:
    inputs, options = _summary_inputs(device)
    return list(_ops.summary_attention(*inputs, *options))


def _summary_attention_backward(device: torch.device) -> list[torch.Tensor]:
    inputs, options = _summary_inputs(device)
    (grad,) = _draws(device, (2, 83, 4, 128))
    results = _ops.summary_attention(*inputs, *options)
    return list(_ops.summary_attention_backward(grad, *inputs, *results, *options))


def _summary_step(device: torch.device) -> list[torch.Tensor]:
    q, k, v, rotated = _draws(device, (2, 3, 4, 40), (2, 3, 2, 40), (2, 3, 2, 24), (2, 3, 2, 40))
    rows = _draws(device, (2, 9, 2, 40), (2, 9, 2, 24), (2, 2, 2, 40), (2, 2, 2, 24), (2, 5, 2, 40), (2, 5, 2, 24))
    block = [x.float() for x in _draws(device, (2, 3, 40), (2, 2, 3, 1), (2, 2, 3, 1), (2, 2, 3, 40), (2, 2, 3, 24))]
    frequencies = torch.logspace(0, -2, 20, dtype=torch.float64, device=device).expand(2, 20)
    out = _ops.summary_step(q, k, v, rotated, *rows[:4], rows[4:5], rows[5:], [1], [0.3], *block, frequencies, [1.1], 16, 9, 0.2, True)
    return [out, *rows[:4], *block]


def _summary_join(device: torch.device) -> list[torch.Tensor]:
    keys, values = _draws(device, (2, 19, 2, 40), (2, 19, 2, 24))
    block = [x.float() for x in _draws(device, (2, 3, 40), (2, 2, 3, 1), (2, 2, 3, 1), (2, 2, 3, 40), (2, 2, 3, 24))]
    _ops.summary_join(keys, values, *block)
    return block


SAMPLES = {
    "dot_product_attention": _short_attention,
    "dot_product_attention_backward": _short_attention_backward,
    "mode_contract": _mode_contract,
    "mode_pool": _mode_pool,
    "mode_pool_backward": _mode_pool_backward,
    "mode_product": _mode_product,
    "mode_scores": _mode_scores,
    "mode_scores_backward": _mode_scores_backward,
    "summary_attention": _summary_attention,
    "summary_attention_backward": _summary_attention_backward,
    "summary_join": _summary_join,
    "summary_step": _summary_step,
}


def fault(op: str, device: torch.device) -> str:
    """Why the kernels of an operator must not run on a device; "" if they agree with its reference."""
    try:
        got = SAMPLES[op](device)
        _ops.use_reference(True)
        wanted = SAMPLES[op](device)
    except Exception as error:  # noqa: BLE001 — whatever a compiler or driver raises
        return f"{type(error).__name__}: {error}"
    finally:
        _ops.use_reference(False)
    for x, y in zip(got, wanted, strict=True):
        x, y = x.double(), y.double()
        difference = ((x - y).norm() / y.norm()).item()
        if not difference < 2e-2:
            return f"they differ from the reference by {difference:.1e} of its norm"
    return ""
