"""The program's tasks in this process: training, evaluation, prediction. Calls release the GIL, Ctrl-C saves a checkpoint and
raises `Stopped`, and an error is an exception with the program's message and exit code.

SIGINT, SIGTERM and SIGHUP that arrive during a call are raised after it: Python's handlers run; without a handler, SIGTERM and
SIGHUP end the process, with the checkpoint saved.

Log lines and progress go to stderr, as those of the program; `verbosity` −1: errors only, 0: the program's default, 1, 2: more.
"""

import json
import math
import numbers
import os
import sys
import threading
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, nullcontext
from typing import Any

import torch

from modewise import _native
from modewise._aliases import old_keywords
from modewise._signals import deliver
from modewise.errors import InternalError, Stopped, UsageError, error_of

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
    """A request as JSON. UsageError for a string that is not UTF-8, as file names may be."""
    text = json.dumps({"command": command, **request}, ensure_ascii=False, default=plain)
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


def assignments(settings: Mapping[str, Any]) -> list[str]:
    """{"train.epochs": 3} as ["train.epochs=3"]; None is skipped."""
    return [f"{key}={value_text(value)}" for key, value in settings.items() if value is not None]


def task_name(name: str) -> str:
    """The current name of a task: "volume_classification" for its command "classify-volumes" and for "classify" in manifests of
    earlier versions. An unknown name is returned as it is."""
    try:
        return str(call("task", name=name)["result"]["name"])
    except UsageError:
        return name


@old_keywords({"kind": "task", "exist_ok": "overwrite"})
def train(
    task: str,
    settings: Mapping[str, Any] | None = None,
    *,
    config: PathLike = "",
    out: PathLike = "",
    overwrite: bool = False,
    inputs: str = "",
    verbosity: int = 0,
) -> Result:
    """Trains a run of `task` ("forecasting", "volume_classification", …, or its command): defaults < `config` (a TOML file) <
    `settings` ("model.name": "hot"). `out`: the run folder; empty: runs/DATA-MODEL; `overwrite` replaces a run in it. `inputs`: a
    subfolder of `out` ("data", "data2", …) with data written for this run, which becomes part of it -> metrics.json with "run",
    the folder. Same as the program's `train`."""
    reply = call("train", task=task, config=os.fspath(config), assignments=assignments(settings or {}), out=os.fspath(out),
                 overwrite=overwrite, inputs=inputs, verbosity=verbosity, command_line=sys.argv)  # fmt: skip
    return dict(reply["result"])


def search(
    task: str,
    data: PathLike,
    settings: Mapping[str, Any] | None = None,
    *,
    config: PathLike = "",
    out: PathLike = "",
    budget: float = 300,
    seed: int = 0,
    jobs: int = 0,
    threads: int = 0,
    no_test: bool = False,
    refit: bool = False,
    overwrite: bool = False,
    verbosity: int = 0,
) -> Result:
    """Tries the models of `task` on `data` within `budget` seconds; the best by validation becomes the run in `out` (empty:
    runs/DATA-auto). `config` and `settings` apply to every candidate. `jobs` processes train at once with `threads` threads each;
    0: by the number of cores. `no_test` leaves the test split unread; `refit` finally retrains the choice with all rows ->
    {"run": the folder, "chosen": the candidate, "leaderboard": …, "test": metrics}. Same as the program's `train --model auto`;
    `resume` continues an interrupted search."""
    if not 0 < budget < math.inf:
        raise error_of(2, f"budget must be a positive number of seconds, got {budget}")
    for name, value in (("seed", seed), ("jobs", jobs), ("threads", threads)):
        if value < 0:
            raise error_of(2, f"{name} must not be negative, got {value}")
    reply = call("search", task=task, data=os.fspath(data), config=os.fspath(config), assignments=assignments(settings or {}),
                 out=os.fspath(out), budget=budget, seed=seed, jobs=jobs, threads=threads, no_test=no_test, refit=refit,
                 overwrite=overwrite, verbosity=verbosity, program=_native.PROGRAM)  # fmt: skip
    return dict(reply["result"])


@old_keywords({"accept_changes": "allow_config_changes"})
def resume(run: PathLike, settings: Mapping[str, Any] | None = None, *, allow_config_changes: bool = False, verbosity: int = 0) -> Result:
    """Resumes an interrupted run or search; the result has the same bits as an uninterrupted one. Same as the program's `train --resume`;
    changed `settings` need `allow_config_changes`."""
    reply = call("train", assignments=assignments(settings or {}), resume=os.fspath(run),
                 allow_config_changes=allow_config_changes, verbosity=verbosity, command_line=sys.argv,
                 program=_native.PROGRAM)  # fmt: skip
    return dict(reply["result"])


def evaluate(
    run: PathLike, *, data: PathLike = "", masks: PathLike = "", split: str = "test", detail: bool = False, verbosity: int = -1
) -> Result:
    """Evaluates a run on a split: test, validation, train, or all of other `data` -> the program's `evaluate --json`."""
    if split not in ("test", "validation", "train", "all"):
        raise error_of(2, f"split must be test, validation, train or all, got '{split}'")
    reply = call("evaluate", run=os.fspath(run), data=os.fspath(data), masks=os.fspath(masks), split=split, detail=detail,
                 verbosity=verbosity)  # fmt: skip
    return dict(reply["result"])


@old_keywords({"force": "overwrite"})
def predict(
    run: PathLike,
    *,
    data: PathLike = "",
    future: PathLike = "",
    out: PathLike = "",
    steps: int = 0,
    overwrite: bool = False,
    verbosity: int = -1,
) -> Result:
    """Predictions of a run for its data, or for other `data`: forecasts after the last row (`steps`, 0: all; `future`: a file
    with the future covariates of these rows), or classes -> the program's `predict --json`; `out` writes its file."""
    if steps < 0:
        raise error_of(2, f"steps must not be negative, got {steps}")
    reply = call("predict", run=os.fspath(run), data=os.fspath(data), future=os.fspath(future), out=os.fspath(out), steps=steps,
                 overwrite=overwrite, verbosity=verbosity)  # fmt: skip
    return dict(reply["result"])


@old_keywords({"singles": "num_examples", "places": "max_positions", "force": "overwrite"})
def explain(
    run: PathLike,
    *,
    data: PathLike = "",
    masks: PathLike = "",
    split: str = "test",
    samples: int = 32,
    num_examples: int = 2,
    max_positions: int = 128,
    out: PathLike = "",
    overwrite: bool = False,
    verbosity: int = -1,
) -> Result:
    """Attention of a run's model over `samples` samples of a split (test, validation, train), and the change of its output when
    one of at most `max_positions` positions of a mode is occluded; `num_examples` samples are shown one by one -> the program's
    `explain --json`; writes explain.html, explain.json and explain.npz into the folder `out`; empty: RUN/explain."""
    if split not in ("test", "validation", "train"):
        raise error_of(2, f"split must be test, validation or train, got '{split}'")
    for name, value, minimum in (("samples", samples, 1), ("num_examples", num_examples, 0), ("max_positions", max_positions, 1)):
        if value < minimum:
            raise error_of(2, f"{name} must be at least {minimum}, got {value}")
    reply = call("explain", run=os.fspath(run), data=os.fspath(data), masks=os.fspath(masks), split=split, samples=samples,
                 num_examples=num_examples, max_positions=max_positions, out=os.fspath(out), overwrite=overwrite, verbosity=verbosity)  # fmt: skip
    return dict(reply["result"])


def backtest(run: PathLike, *, data: PathLike = "", stride: int = 0, split: str = "test", verbosity: int = -1) -> Result:
    """Forecasts from origins every `stride` rows (0: the horizon) on the test or validation split, evaluated one by one -> the
    program's `backtest --json`."""
    if stride < 0:
        raise error_of(2, f"stride must not be negative, got {stride}")
    if split not in ("test", "validation"):
        raise error_of(2, f"split must be test or validation, got '{split}'")
    return dict(call("backtest", run=os.fspath(run), data=os.fspath(data), stride=stride, split=split, verbosity=verbosity)["result"])


def encode(run: PathLike, text: str) -> tuple[list[int], int | None]:
    """Token ids of a text by the tokenizer of a run, without special tokens, and the id of the BOS token or None."""
    result = call("encode", run=os.fspath(run), text=text)["result"]
    return list(result["ids"]), result["begin"]


def begin_before_text(run: PathLike) -> int | None:
    """Id of the token that the files of a run's tokenizer put before a text, or None."""
    begin = call("encode", run=os.fspath(run), text="")["result"]["begin_before_text"]
    return None if begin is None else int(begin)


def decode(run: PathLike, ids: Sequence[int], *, skip_missing: bool = False) -> str:
    """The text of token ids by the tokenizer of a run; invalid UTF-8 becomes U+FFFD. DataError for ids beyond its vocabulary, which
    skip_missing leaves out."""
    return str(call("decode", run=os.fspath(run), ids=list(ids), skip_missing=skip_missing)["result"]["text"])


@old_keywords({"kind": "task"})
def show(task: str, settings: Mapping[str, Any]) -> Result:
    """Summary of the data of a task, as read with these settings ("data.path": …) -> the program's `data show --json`."""
    return dict(call("show", task=task, assignments=assignments(settings))["result"])


@old_keywords({"kind": "task"})
def config_toml(task: str, settings: Mapping[str, Any] | None = None, *, config: PathLike = "") -> str:
    """All settings of a task as TOML: defaults < `config` < `settings`."""
    toml = call("config", task=task, config=os.fspath(config), assignments=assignments(settings or {}))["result"]["toml"]
    if not isinstance(toml, str):
        raise InternalError("config: no TOML was returned")
    return toml
