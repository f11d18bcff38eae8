"""Loss of language models, reproducible sum of squares, and the Adam update."""

import torch
from torch import Tensor

_ops = torch.ops.modewise


def language_loss(hidden: Tensor, head: Tensor, targets: Tensor, chunk: int = 0) -> Tensor:
    """Cross-entropy: the mean of −log softmax(head · hidden)[target] over tokens; logits [n, V] are never materialized.

    hidden [..., D], head [V, D], targets [...] int64 below V; negative ones are ignored -> a scalar, 0 without
    targets. `chunk` tokens at a time; 0: automatic, for at most 32 MiB of logits. Softmax and sums in float32 at least.
    """
    out: Tensor = _ops.language_loss(hidden, head, targets, chunk)
    return out


def token_losses(hidden: Tensor, head: Tensor, targets: Tensor, chunk: int = 0) -> Tensor:
    """−log softmax(head · hidden)[target] of each token, 0 where the target is negative. No gradient.

    hidden [..., D], head [V, D], targets [...] int64 below V -> [...] float32 or float64. `chunk` as in
    `language_loss`.
    """
    out: Tensor = _ops.token_losses(hidden, head, targets, chunk)
    return out


def sum_of_squares(x: Tensor) -> Tensor:
    """Σ x² with a fixed summation tree: the same bits for any number of threads.

    x of any shape -> a float64 scalar.
    """
    out: Tensor = _ops.sum_of_squares(x)
    return out


def adam_step(
    parameter: Tensor,
    gradient: Tensor,
    first_moment: Tensor,
    second_moment: Tensor,
    beta1: float,
    beta2: float,
    epsilon: float,
    step_size: float,
    root_scale: float,
    gradient_scale: float = 1.0,
    keep: float = 1.0,
    added_decay: float = 0.0,
) -> None:
    """One update of a parameter by Adam (Kingma and Ba 2015, Algorithm 1) or AdamW, in place, in one pass.

    g ← gradient_scale · g + added_decay · w; m ← m + (1 − beta1)(g − m); v ← beta2 · v + (1 − beta2) g²;
    w ← keep · w − step_size · m / (√v / root_scale + epsilon), with w, g, m, v = parameter, gradient, first_moment,
    second_moment of one shape and type (float32 or float64). AdamW: keep = 1 − ηλ; step_size = η / (1 − beta1^t),
    root_scale = √(1 − beta2^t).
    """
    _ops.adam_step(
        parameter, gradient, first_moment, second_moment, beta1, beta2, epsilon, step_size, root_scale, gradient_scale,
        keep, added_decay)  # fmt: skip
