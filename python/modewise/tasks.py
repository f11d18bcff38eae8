"""The program's tasks in this process: training, evaluation, prediction. Python's lock is free meanwhile, Ctrl-C saves
a checkpoint and raises `Stopped`, and what goes wrong is an exception with the program's sentence and exit code.

SIGINT, SIGTERM and SIGHUP that arrive during a call are raised after it: Python's handlers run, and where Python has none
for SIGTERM or SIGHUP, it ends by that signal, with the checkpoint saved.

Notes and progress go to the process's stderr as the program writes them; `verbosity` −1 keeps all but errors back, 0
is the program's, 1 and 2 say more.
"""

import json
import numbers
import os
import sys
import threading
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any

import torch

from modewise import _native
from modewise._signals import deliver
from modewise.errors import InternalError, Stopped, UsageError, error_of

Result = dict[str, Any]
PathLike = str | os.PathLike[str]
TEXTS = (str, bytes, os.PathLike)

_native.load_library("modewise_python")
_one_at_a_time = threading.Lock()  # the log and the signals belong to the process


@contextmanager
def torch_as_it_starts() -> Iterator[None]:
    """Gradients on, no autocast, float32 as the default type: what the C++ side takes for granted."""
    dtype = torch.get_default_dtype()
    torch.set_default_dtype(torch.float32)
    try:
        with torch.inference_mode(False), torch.enable_grad(), torch.autocast("cpu", enabled=False):
            yield
    finally:
        torch.set_default_dtype(dtype)


def plain(value: Any) -> Any:
    """A number, text or array of numpy or torch as Python has it, for json."""
    if isinstance(value, numbers.Real) and not isinstance(value, numbers.Integral):
        return float(value)
    if not hasattr(value, "tolist"):
        raise TypeError(f"a {type(value).__name__} cannot be sent: {value!r:.80}")
    return value.tolist()


def request_text(command: str, request: Mapping[str, Any]) -> str:
    """A request as JSON. UsageError for a text that is not UTF-8, as names of files may be."""
    asked = json.dumps({"command": command, **request}, ensure_ascii=False, default=plain)
    try:
        asked.encode()
    except UnicodeEncodeError as error:
        around = asked[max(0, error.start - 30) : error.end + 10]
        raise UsageError(f"{command}: texts and paths must be UTF-8, got {around!r}") from None
    return asked


def call(command: str, **request: Any) -> Result:
    """A request of the binding -> {"result": the document of --json, "text": what is printed without it}."""
    asked = request_text(command, request)
    with _one_at_a_time, torch_as_it_starts():
        reply: Result = json.loads(torch.ops.modewise_tasks.call(asked))
    deliver(reply.pop("arrived"), stopped=reply.get("signal", 0))
    if "exit_code" not in reply:
        return reply
    if reply["signal"] != 0:
        raise Stopped(reply["signal"], f"{command} was stopped by signal {reply['signal']}")
    raise error_of(reply["exit_code"], reply["sentence"])


def value_text(value: Any) -> str:
    """A setting as the program's --set reads it: 24, 0.5, true, text, [1, 2], ["a", "b"]. Scalars and arrays of numpy and torch
    are numbers, texts and lists too. UsageError for a value of another type."""
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
    raise UsageError(f"a setting must be a number, a text, a path or a list of these, got {value!r:.80} of type {type(value).__name__}")


def assignments(settings: Mapping[str, Any]) -> list[str]:
    """{"train.epochs": 3} as ["train.epochs=3"]; settings that are None are left out."""
    return [f"{key}={value_text(value)}" for key, value in settings.items() if value is not None]


def train(
    kind: str,
    settings: Mapping[str, Any] | None = None,
    *,
    config: PathLike = "",
    out: PathLike = "",
    exist_ok: bool = False,
    inputs: str = "",
    verbosity: int = 0,
) -> Result:
    """Trains a run of the task `kind` ("forecast", "classify", …): defaults < `config` (a TOML file) < `settings`
    ("model.name": "hot"). `out`: the run folder; runs/DATA-MODEL where empty; with `exist_ok` it may hold a run.
    `inputs`: a folder in `out` ("data", "data2", …) that holds data written for this run, which belong to it from then on ->
    metrics.json with "run", the folder. Same as the program's `train`."""
    reply = call("train", kind=kind, config=os.fspath(config), assignments=assignments(settings or {}), out=os.fspath(out),
                 exist_ok=exist_ok, inputs=inputs, verbosity=verbosity, command_line=sys.argv)  # fmt: skip
    return dict(reply["result"])


def resume(run: PathLike, settings: Mapping[str, Any] | None = None, *, accept_changes: bool = False, verbosity: int = 0) -> Result:
    """Goes on with a run that was stopped, to the bits of one that was not. Same as the program's `train --resume`;
    changed `settings` need `accept_changes`."""
    reply = call("train", assignments=assignments(settings or {}), resume=os.fspath(run),
                 accept_changes=accept_changes, verbosity=verbosity, command_line=sys.argv)  # fmt: skip
    return dict(reply["result"])


def evaluate(
    run: PathLike, *, data: PathLike = "", masks: PathLike = "", split: str = "test", detail: bool = False, verbosity: int = -1
) -> Result:
    """How good a run's model is over a split: test, validation, train, or all of other `data` -> the program's
    `evaluate --json`."""
    if split not in ("test", "validation", "train", "all"):
        raise error_of(2, f"split must be test, validation, train or all, got '{split}'")
    reply = call("evaluate", run=os.fspath(run), data=os.fspath(data), masks=os.fspath(masks), split=split, detail=detail,
                 verbosity=verbosity)  # fmt: skip
    return dict(reply["result"])


def predict(
    run: PathLike,
    *,
    data: PathLike = "",
    future: PathLike = "",
    out: PathLike = "",
    steps: int = 0,
    force: bool = False,
    verbosity: int = -1,
) -> Result:
    """What a run's model predicts of its data, or of other `data`: forecasts beyond the last row (`steps`, 0: all; `future`:
    a file with the columns of data.known for the rows to come), or classes -> the program's `predict --json`; `out` writes its file."""
    if steps < 0:
        raise error_of(2, f"steps must not be negative, got {steps}")
    reply = call("predict", run=os.fspath(run), data=os.fspath(data), future=os.fspath(future), out=os.fspath(out), steps=steps,
                 force=force, verbosity=verbosity)  # fmt: skip
    return dict(reply["result"])


def explain(
    run: PathLike,
    *,
    data: PathLike = "",
    masks: PathLike = "",
    split: str = "test",
    samples: int = 32,
    singles: int = 2,
    places: int = 128,
    out: PathLike = "",
    force: bool = False,
    verbosity: int = -1,
) -> Result:
    """What a run's model attends to over `samples` samples of a split (test, validation, train), and what moves its output
    when one of at most `places` places of a mode is taken away -> the program's `explain --json`; writes explain.html,
    explain.json and explain.npz into the folder `out`, RUN/explain where empty."""
    if split not in ("test", "validation", "train"):
        raise error_of(2, f"split must be test, validation or train, got '{split}'")
    for name, value, least in (("samples", samples, 1), ("singles", singles, 0), ("places", places, 1)):
        if value < least:
            raise error_of(2, f"{name} must be at least {least}, got {value}")
    reply = call("explain", run=os.fspath(run), data=os.fspath(data), masks=os.fspath(masks), split=split, samples=samples,
                 singles=singles, places=places, out=os.fspath(out), force=force, verbosity=verbosity)  # fmt: skip
    return dict(reply["result"])


def backtest(run: PathLike, *, data: PathLike = "", stride: int = 0, verbosity: int = -1) -> Result:
    """Forecasts from origins every `stride` rows (0: the horizon) over the test rows, each judged on its own -> the
    program's `backtest --json`."""
    if stride < 0:
        raise error_of(2, f"stride must not be negative, got {stride}")
    return dict(call("backtest", run=os.fspath(run), data=os.fspath(data), stride=stride, verbosity=verbosity)["result"])


def encode(run: PathLike, text: str) -> tuple[list[int], int | None]:
    """A text by the tokenizer of a run: its tokens, without marks, and the token that opens a text (None: none)."""
    result = call("encode", run=os.fspath(run), text=text)["result"]
    return list(result["ids"]), result["begin"]


def decode(run: PathLike, ids: Sequence[int]) -> str:
    """The text of tokens by the tokenizer of a run; bytes that are no characters become U+FFFD."""
    return str(call("decode", run=os.fspath(run), ids=list(ids))["result"]["text"])


def show(kind: str, settings: Mapping[str, Any]) -> Result:
    """What the data of a task hold, as read with these settings ("data.path": …) -> the program's `data show --json`."""
    return dict(call("show", kind=kind, assignments=assignments(settings))["result"])


def config_toml(kind: str, settings: Mapping[str, Any] | None = None, *, config: PathLike = "") -> str:
    """All settings of a task as TOML: defaults < `config` < `settings`."""
    toml = call("config", kind=kind, config=os.fspath(config), assignments=assignments(settings or {}))["result"]["toml"]
    if not isinstance(toml, str):
        raise InternalError("config: no text came back")
    return toml
