"""Recomputation of activations (gradient checkpointing): less memory, more time."""

from collections.abc import Iterator
from contextlib import contextmanager

from modewise import ops


@contextmanager
def recompute(on: bool = True) -> Iterator[None]:
    """Inside, operators of this thread save few activations for the backward pass, which recomputes the others: outputs of norms,
    dropouts and linear maps, short mode products, attention factors, hidden activations. Results and gradients have the same
    bits. No effect under torch.compile, whose partitioner decides.

    Parameters
    ----------
    on
        Whether activations are recomputed.

    Returns
    -------
    context manager

    Examples
    --------
    >>> with recompute():
    ...     pass
    """
    before = ops.kernels.set_recompute_mode(on)
    try:
        yield
    finally:
        ops.kernels.set_recompute_mode(before)
