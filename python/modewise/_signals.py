"""Signals that arrived while the binding had Python's handlers: they are raised after the call."""

import signal
import threading
from collections.abc import Sequence


def deliver(arrived: Sequence[int], stopped: int) -> None:
    """Raises each signal again, for Python's handler or the default action. `stopped`: the signal that stopped the call, 0 for
    none; the exception Stopped stands for it where Python would raise KeyboardInterrupt here."""
    if not arrived:
        return
    number, *rest = arrived
    here = threading.current_thread() is threading.main_thread() and signal.getsignal(number) is signal.default_int_handler
    try:
        if not (here and number == stopped):
            signal.raise_signal(number)
    finally:
        deliver(rest, stopped)
