"""Loss of language models, reproducible sum of squares, and the Adam update."""

import torch
from torch import Tensor

_ops = torch.ops.modewise


def language_loss(hidden: Tensor, head: Tensor, targets: Tensor, chunk: int = 0) -> Tensor:
    """Cross-entropy: the mean of −log softmax(head · hidden)[target] over tokens; logits [n, V] are never materialized.

    hidden [..., D], head [V, D], targets [...] int64 below V; negative ones are ignored -> a scalar, 0 without
    targets. `chunk` tokens at a time; 0: automatic, for at most 32 MiB of logits. Softmax and sums in float32 at least.

    Parameters
    ----------
    hidden
        [..., D].
    head
        [V, D].
    targets
        [...] int64 below V; negative ones are ignored.
    chunk
        Tokens at a time; 0: automatic.

    Returns
    -------
    Tensor
        A scalar.

    Raises
    ------
    ValueError
        For incompatible shapes.

    Examples
    --------
    >>> language_loss(torch.zeros(3, 4), torch.ones(2, 4), torch.tensor([0, 1, -1]))
    tensor(0.6931)
    """
    out: Tensor = _ops.language_loss(hidden, head, targets, chunk)
    return out


def token_losses(hidden: Tensor, head: Tensor, targets: Tensor, chunk: int = 0) -> Tensor:
    """−log softmax(head · hidden)[target] of each token, 0 where the target is negative. No gradient.

    hidden [..., D], head [V, D], targets [...] int64 below V -> [...] float32 or float64. `chunk` as in
    `language_loss`.

    Parameters
    ----------
    hidden
        [..., D].
    head
        [V, D].
    targets
        [...] int64 below V; negative ones are ignored.
    chunk
        Tokens at a time; 0: automatic.

    Returns
    -------
    Tensor [...]

    Raises
    ------
    ValueError
        For incompatible shapes.

    Examples
    --------
    >>> token_losses(torch.zeros(2, 4), torch.ones(2, 4), torch.tensor([0, -1]))
    tensor([0.6931, 0.0000])
    """
    out: Tensor = _ops.token_losses(hidden, head, targets, chunk)
    return out


def sum_of_squares(x: Tensor) -> Tensor:
    """Σ x² with a fixed summation tree: the same bits for any number of threads.

    x of any shape -> a float64 scalar.

    Parameters
    ----------
    x
        Any shape.

    Returns
    -------
    Tensor
        A float64 scalar.

    Examples
    --------
    >>> sum_of_squares(torch.tensor([3.0, 4.0]))
    tensor(25., dtype=torch.float64)
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

    Parameters
    ----------
    parameter, gradient, first_moment, second_moment
        One shape and type; all but the gradient change in place.
    beta1, beta2
        Decay of the moments.
    epsilon
        Added to the root of the second moment.
    step_size
        Learning rate / (1 − beta1^t).
    root_scale
        √(1 − beta2^t).
    gradient_scale
        Factor of the gradient, as for clipping.
    keep
        Factor of the parameter: decoupled weight decay.
    added_decay
        Weight decay that is added to the gradient.

    Raises
    ------
    ValueError
        For incompatible shapes.

    Examples
    --------
    >>> w, m, v = torch.ones(1), torch.zeros(1), torch.zeros(1)
    >>> adam_step(w, torch.ones(1), m, v, 0.9, 0.999, 1e-8, step_size=0.1 / (1 - 0.9), root_scale=(1 - 0.999) ** 0.5)
    >>> w
    tensor([0.9000])
    """
    _ops.adam_step(
        parameter, gradient, first_moment, second_moment, beta1, beta2, epsilon, step_size, root_scale, gradient_scale,
        keep, added_decay)  # fmt: skip
