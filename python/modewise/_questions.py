"""Names, settings, data summaries and tokens, without training: functions of `modewise.tasks`."""

import os
from collections.abc import Mapping, Sequence

from modewise._aliases import old_keywords
from modewise._calls import PathLike, Result, assignments, call
from modewise.errors import InternalError, UsageError


def task_name(name: str) -> str:
    """The current name of a task.

    Parameters
    ----------
    name
        A task, its command ("classify-volumes"), or its name in manifests of earlier versions. An unknown name is returned as it is.

    Returns
    -------
    str

    Examples
    --------
    >>> task_name("classify-volumes")
    'volume_classification'
    """
    try:
        return str(call("task", name=name)["result"]["name"])
    except UsageError:
        return name


def encode(run: PathLike, text: str) -> tuple[list[int], int | None]:
    """Token ids of a text by the tokenizer of a run.

    Parameters
    ----------
    run
        The run folder.
    text
        The text.

    Returns
    -------
    (list of int, int or None)
        The ids, without special tokens, and the id of the BOS token.

    Raises
    ------
    ModewiseError
        With the program's message and exit code: DataError, ConfigError, UsageError, NoInputError, …

    Examples
    --------
    >>> encode("runs/books", "Call me Ishmael.")  # doctest: +SKIP
    """
    result = call("encode", run=os.fspath(run), text=text)["result"]
    return list(result["ids"]), result["begin"]


def begin_before_text(run: PathLike) -> int | None:
    """Id of the token that the files of a run's tokenizer put before a text.

    Parameters
    ----------
    run
        The run folder.

    Returns
    -------
    int or None

    Examples
    --------
    >>> begin_before_text("runs/books")  # doctest: +SKIP
    """
    begin = call("encode", run=os.fspath(run), text="")["result"]["begin_before_text"]
    return None if begin is None else int(begin)


def decode(run: PathLike, ids: Sequence[int], *, skip_missing: bool = False) -> str:
    """The text of token ids by the tokenizer of a run; invalid UTF-8 becomes U+FFFD.

    Parameters
    ----------
    run
        The run folder.
    ids
        Token ids.
    skip_missing
        Whether ids beyond the vocabulary are left out.

    Returns
    -------
    str

    Raises
    ------
    DataError
        For ids beyond the vocabulary.

    Examples
    --------
    >>> decode("runs/books", [72, 105])  # doctest: +SKIP
    """
    return str(call("decode", run=os.fspath(run), ids=list(ids), skip_missing=skip_missing)["result"]["text"])


@old_keywords({"kind": "task"})
def show(task: str, settings: Mapping[str, object]) -> Result:
    """Summary of the data of a task, as read with these settings.

    Parameters
    ----------
    task
        The task, or its command.
    settings
        {"data.path": "table.csv"}.

    Returns
    -------
    dict
        The program's `data show --json`.

    Raises
    ------
    ModewiseError
        With the program's message and exit code: DataError, ConfigError, UsageError, NoInputError, …

    Examples
    --------
    >>> show("forecasting", {"data.simulate": "lorenz96", "data.simulate_rows": 300})["rows"]
    300
    """
    return dict(call("show", task=task, assignments=assignments(settings))["result"])


@old_keywords({"kind": "task"})
def config_toml(task: str, settings: Mapping[str, object] | None = None, *, config: PathLike = "") -> str:
    """All settings of a task as TOML: the defaults, overridden by a file and by settings.

    Parameters
    ----------
    task
        The task, or its command.
    settings
        Settings by key.
    config
        A TOML file.

    Returns
    -------
    str

    Examples
    --------
    >>> "layers = 3" in config_toml("forecasting", {"model.layers": 3})
    True
    """
    toml = call("config", task=task, config=os.fspath(config), assignments=assignments(settings or {}))["result"]["toml"]
    if not isinstance(toml, str):
        raise InternalError("config: no TOML was returned")
    return toml
