"""The program's tasks in this process: training, evaluation, prediction. Calls release the GIL, Ctrl-C saves a checkpoint and
raises `Stopped`, and an error is an exception with the program's message and exit code.

SIGINT, SIGTERM and SIGHUP that arrive during a call are raised after it: Python's handlers run; without a handler, SIGTERM and
SIGHUP end the process, with the checkpoint saved.

Warnings, notes and progress go to stderr, as those of the program; `verbosity` −1: errors only, 0: the program's default, 1, 2: more.
"""

import math
import os
import sys
from collections.abc import Mapping

from modewise import _native
from modewise._aliases import old_keywords
from modewise._calls import PathLike, Result, assignments, call
from modewise._generation import generate
from modewise._questions import begin_before_text, config_toml, decode, encode, show, task_name
from modewise.errors import error_of

__all__ = ["Result", "backtest", "begin_before_text", "config_toml", "decode", "encode", "evaluate", "explain", "generate", "predict", "resume", "search", "show", "task_name",
           "train"]  # fmt: skip


@old_keywords({"kind": "task", "exist_ok": "overwrite"})
def train(
    task: str,
    settings: Mapping[str, object] | None = None,
    *,
    config: PathLike = "",
    out: PathLike = "",
    overwrite: bool = False,
    inputs: str = "",
    verbosity: int = 0,
) -> Result:
    """Trains a run, as the program's `train` does.

    Parameters
    ----------
    task
        "forecasting", "volume_classification", …, or its command.
    settings
        Settings by key, {"model.name": "hot", "data.path": "table.csv"}. They override those of `config`, and these the defaults.
    config
        A TOML file.
    out
        The run folder; empty: runs/DATA-MODEL.
    overwrite
        Whether a run in it is replaced.
    inputs
        A subfolder of `out` ("data", "data2", …) with data written for this run, which becomes part of it.
    verbosity
        −1: errors only, 0: the program's default, 1, 2: more.

    Returns
    -------
    dict
        metrics.json with "run", the folder.

    Raises
    ------
    ModewiseError
        With the program's message and exit code: DataError, ConfigError, UsageError, NoInputError, …
    Stopped
        For Ctrl-C, which saves a checkpoint; `resume` continues.

    Examples
    --------
    >>> train("forecasting", {"data.path": "table.csv", "train.epochs": 3}, out="runs/table")  # doctest: +SKIP
    """
    reply = call("train", task=task, config=os.fspath(config), assignments=assignments(settings or {}), out=os.fspath(out),
                 overwrite=overwrite, inputs=inputs, verbosity=verbosity, command_line=sys.argv)  # fmt: skip
    return dict(reply["result"])


def search(
    task: str,
    data: PathLike,
    settings: Mapping[str, object] | None = None,
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
    """Tries the models of a task within a time budget, as the program's `train --model auto` does; the best by validation becomes the run.

    Parameters
    ----------
    task
        The task, or its command.
    data
        The data set.
    settings, config
        Settings of every candidate, and a TOML file with some.
    out
        The run folder; empty: runs/DATA-auto.
    budget
        Seconds.
    seed
        Of all random numbers.
    jobs, threads
        Trainings at once, and threads of each; 0: by the number of cores.
    no_test
        Whether the test split is left unread.
    refit
        Whether the choice is finally trained with all rows.
    overwrite
        Whether a run in `out` is replaced.
    verbosity
        −1: errors only, 0: the program's default, 1, 2: more.

    Returns
    -------
    dict
        {"run": the folder, "chosen": the candidate, "leaderboard": …, "test": metrics}.

    Raises
    ------
    ModewiseError
        With the program's message and exit code: DataError, ConfigError, UsageError, NoInputError, …
    Stopped
        For Ctrl-C, which saves a checkpoint; `resume` continues.

    Examples
    --------
    >>> search("forecasting", "table.csv", budget=600)["chosen"]  # doctest: +SKIP
    """
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
def resume(run: PathLike, settings: Mapping[str, object] | None = None, *, allow_config_changes: bool = False, verbosity: int = 0) -> Result:
    """Resumes an interrupted run or search; the result has the same bits as an uninterrupted one.

    Parameters
    ----------
    run
        The run folder.
    settings
        Changed settings.
    allow_config_changes
        Whether `settings` may differ from the run's.
    verbosity
        −1: errors only, 0: the program's default, 1, 2: more.

    Returns
    -------
    dict
        As of `train` or `search`.

    Raises
    ------
    ModewiseError
        With the program's message and exit code: DataError, ConfigError, UsageError, NoInputError, …
    Stopped
        For Ctrl-C, which saves a checkpoint; `resume` continues.

    Examples
    --------
    >>> resume("runs/table")  # doctest: +SKIP
    """
    reply = call("train", assignments=assignments(settings or {}), resume=os.fspath(run),
                 allow_config_changes=allow_config_changes, verbosity=verbosity, command_line=sys.argv,
                 program=_native.PROGRAM)  # fmt: skip
    return dict(reply["result"])


def evaluate(
    run: PathLike, *, data: PathLike = "", masks: PathLike = "", split: str = "test", detail: bool = False, verbosity: int = 0
) -> Result:
    """Evaluates a run on a split.

    Parameters
    ----------
    run
        The run folder.
    data
        Other data; empty: the run's own.
    masks
        Masks of other images.
    split
        "test", "validation", "train", or "all" of other data.
    detail
        Whether errors of each series, class or sample are included.
    verbosity
        −1: errors only, 0: the program's default, 1, 2: more.

    Returns
    -------
    dict
        The program's `evaluate --json`.

    Raises
    ------
    ModewiseError
        With the program's message and exit code: DataError, ConfigError, UsageError, NoInputError, …

    Examples
    --------
    >>> evaluate("runs/table", split="validation")["scaled"]["mse"]  # doctest: +SKIP
    """
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
    verbosity: int = 0,
) -> Result:
    """Predictions of a run: forecasts after the last row, or classes.

    Parameters
    ----------
    run
        The run folder.
    data
        Other data; empty: the run's own.
    future
        A file with the future covariates of the rows to forecast.
    out
        A file for the predictions.
    steps
        Rows to forecast; 0: the horizon.
    overwrite
        Whether `out` may be replaced.
    verbosity
        −1: errors only, 0: the program's default, 1, 2: more.

    Returns
    -------
    dict
        The program's `predict --json`.

    Raises
    ------
    ModewiseError
        With the program's message and exit code: DataError, ConfigError, UsageError, NoInputError, …

    Examples
    --------
    >>> predict("runs/table", out="forecast.csv")  # doctest: +SKIP
    """
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
    verbosity: int = 0,
) -> Result:
    """Attention of a run's model, and the change of its output when positions are occluded; written as HTML, JSON and NPZ.

    Parameters
    ----------
    run
        The run folder.
    data
        Other data; empty: the run's own.
    masks
        Masks of other images.
    split
        "test", "validation" or "train".
    samples
        Number of samples.
    num_examples
        Samples that are shown one by one.
    max_positions
        Positions of a mode that are occluded, at most.
    out
        A folder; empty: RUN/explain.
    overwrite
        Whether its files may be replaced.
    verbosity
        −1: errors only, 0: the program's default, 1, 2: more.

    Returns
    -------
    dict
        The program's `explain --json`.

    Raises
    ------
    ModewiseError
        With the program's message and exit code: DataError, ConfigError, UsageError, NoInputError, …

    Examples
    --------
    >>> explain("runs/table", samples=8)["report"]  # doctest: +SKIP
    """
    if split not in ("test", "validation", "train"):
        raise error_of(2, f"split must be test, validation or train, got '{split}'")
    for name, value, minimum in (("samples", samples, 1), ("num_examples", num_examples, 0), ("max_positions", max_positions, 1)):
        if value < minimum:
            raise error_of(2, f"{name} must be at least {minimum}, got {value}")
    reply = call("explain", run=os.fspath(run), data=os.fspath(data), masks=os.fspath(masks), split=split, samples=samples,
                 num_examples=num_examples, max_positions=max_positions, out=os.fspath(out), overwrite=overwrite, verbosity=verbosity)  # fmt: skip
    return dict(reply["result"])


def backtest(run: PathLike, *, data: PathLike = "", stride: int = 0, split: str = "test", verbosity: int = 0) -> Result:
    """Forecasts from many origins of a split, evaluated one by one.

    Parameters
    ----------
    run
        The run folder.
    data
        Other data; empty: the run's own.
    stride
        Rows between origins; 0: the horizon.
    split
        "test" or "validation".
    verbosity
        −1: errors only, 0: the program's default, 1, 2: more.

    Returns
    -------
    dict
        The program's `backtest --json`.

    Raises
    ------
    ModewiseError
        With the program's message and exit code: DataError, ConfigError, UsageError, NoInputError, …

    Examples
    --------
    >>> backtest("runs/table", stride=24)  # doctest: +SKIP
    """
    if stride < 0:
        raise error_of(2, f"stride must not be negative, got {stride}")
    if split not in ("test", "validation"):
        raise error_of(2, f"split must be test or validation, got '{split}'")
    return dict(call("backtest", run=os.fspath(run), data=os.fspath(data), stride=stride, split=split, verbosity=verbosity)["result"])
