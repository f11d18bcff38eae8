"""Requests to the binding of the tasks: settings as text, the reply as a document or an exception."""

import json
import numbers
import os
import threading
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, nullcontext
from typing import Any

import torch

from modewise import _native
from modewise._signals import deliver
from modewise.errors import Stopped, UsageError, error_of

Result = dict[str, Any]
PathLike = str | os.PathLike[str]
TEXTS = (str, bytes, os.PathLike)

_native.load_library("modewise_python")
_one_at_a_time = threading.Lock()  # log and signal handlers are per process


@contextmanager
def torch_as_it_starts() -> Iterator[None]:
    """Sets torch's initial state, which the C++ side expects: gradients on, no autocast, default type float32."""
    dtype = torch.get_default_dtype()
    torch.set_default_dtype(torch.float32)
    try:
        with torch.inference_mode(False), torch.enable_grad(), torch.autocast("cpu", enabled=False):
            yield
    finally:
        torch.set_default_dtype(dtype)


@contextmanager
def children_find_torch() -> Iterator[None]:
    """Sets LD_LIBRARY_PATH for processes of the program."""
    before = os.environ.get("LD_LIBRARY_PATH")
    os.environ["LD_LIBRARY_PATH"] = _native.library_path()
    try:
        yield
    finally:
        if before is None:
            del os.environ["LD_LIBRARY_PATH"]
        else:
            os.environ["LD_LIBRARY_PATH"] = before


def plain(value: Any) -> Any:
    """A number, string or array of NumPy or torch as Python objects, for json."""
    if isinstance(value, numbers.Real) and not isinstance(value, numbers.Integral):
        return float(value)
    if not hasattr(value, "tolist"):
        raise TypeError(f"a {type(value).__name__} is not supported: {value!r:.80}")
    return value.tolist()


def request_text(command: str, request: Mapping[str, Any]) -> str:
    """A request as JSON. UsageError for a string that is not UTF-8, as file names may be, and for numbers that are not finite."""
    try:
        text = json.dumps({"command": command, **request}, ensure_ascii=False, default=plain, allow_nan=False)
    except ValueError:
        raise UsageError(f"{command}: numbers must be finite") from None
    try:
        text.encode()
    except UnicodeEncodeError as error:
        around = text[max(0, error.start - 30) : error.end + 10]
        raise UsageError(f"{command}: texts and paths must be UTF-8, got {around!r}") from None
    return text


def call(command: str, **request: Any) -> Result:
    """Sends a request to the binding -> {"result": the document of --json, "text": the output without --json}."""
    text = request_text(command, request)
    with _one_at_a_time, torch_as_it_starts(), children_find_torch() if "program" in request else nullcontext():
        reply: Result = json.loads(torch.ops.modewise_tasks.call(text))
    deliver(reply.pop("arrived"), stopped=reply.get("signal", 0))
    if "exit_code" not in reply:
        return reply
    if reply["signal"] != 0:
        raise Stopped(reply["signal"], f"{command} was interrupted by signal {reply['signal']}")
    raise error_of(reply["exit_code"], reply["sentence"])


def value_text(value: Any) -> str:
    """A setting in the syntax of --set: 24, 0.5, true, text, [1, 2], ["a", "b"]. Scalars and arrays of NumPy and torch are
    accepted. UsageError for a value of another type."""
    value = value.tolist() if hasattr(value, "tolist") else value
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, numbers.Integral):
        return repr(int(value))
    if isinstance(value, numbers.Real):
        return repr(float(value))
    if isinstance(value, (list, tuple)):
        return "[" + ", ".join(json.dumps(os.fsdecode(item), ensure_ascii=False) if isinstance(item, TEXTS) else value_text(item) for item in value) + "]"
    if isinstance(value, TEXTS):
        return os.fsdecode(value)
    raise UsageError(f"a setting must be a number, a string, a path or a list of these, got {value!r:.80} of type {type(value).__name__}")


def assignments(settings: Mapping[str, object]) -> list[str]:
    """{"train.epochs": 3} as ["train.epochs=3"]; None is skipped. UsageError for what is not values by keys."""
    if not isinstance(settings, Mapping):
        raise UsageError(f"settings must be values by config keys, such as {{'model.width': 128}}, got {settings!r:.80}")
    return [f"{key}={value_text(value)}" for key, value in settings.items() if value is not None]
