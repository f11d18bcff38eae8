"""Less memory for the backward pass, against time."""

from collections.abc import Iterator
from contextlib import contextmanager

from modewise import ops


@contextmanager
def recompute(on: bool = True) -> Iterator[None]:
    """What the operators compute inside, in this thread, keeps few activations for the backward pass, which computes the
    others again: the results of norms and dropouts, maps, short mode products, attention factors, hidden activations. Results
    and gradients have the same bits. Under torch.compile it does nothing: there the graph's partitioner chooses."""
    before = ops.kernels.set_recompute_mode(on)
    try:
        yield
    finally:
        ops.kernels.set_recompute_mode(before)
