"""Delivery of signals that arrived during a call of the binding: they are raised after it."""

import signal
import threading
from collections.abc import Sequence


def deliver(arrived: Sequence[int], stopped: int) -> None:
    """Raises each signal again, for Python's handler or the default action. `stopped`: the signal that stopped the call, 0 for
    none; where Python would raise KeyboardInterrupt for it, the caller raises Stopped instead."""
    if not arrived:
        return
    number, *rest = arrived
    here = threading.current_thread() is threading.main_thread() and signal.getsignal(number) is signal.default_int_handler
    try:
        if not (here and number == stopped):
            signal.raise_signal(number)
    finally:
        deliver(rest, stopped)
