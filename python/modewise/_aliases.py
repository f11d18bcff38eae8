"""Names of earlier versions that still work for one version, with a DeprecationWarning; docs/renames.md lists them."""

import functools
import sys
import warnings
from collections.abc import Callable, Mapping
from typing import Any, ParamSpec, TypeVar

P = ParamSpec("P")
R = TypeVar("R")

ATTENTION_TYPES = {"causal": "summary"}  # of language models and modewise.ops.tensor_attention
REGISTRY_ENTRIES = {"tensor": "stt"}  # of modewise.nn.synthesizer
MEMBERS = {"std": "deviation"}
SCIKIT_LEARN: dict[str, tuple[str, Callable[[Any], Any]]] = {
    "random_state": ("seed", lambda state: 0 if state is None else state),
    "n_jobs": ("threads", lambda jobs: 0 if jobs is None else jobs),
    "verbose": ("verbosity", lambda verbose: int(verbose) - 1),
}


def warn(names: Mapping[str, str], stacklevel: int = 3) -> None:
    """One DeprecationWarning for all `names`, old to current."""
    said = ", ".join(f"'{old}' is called '{name}'" for old, name in names.items())
    warnings.warn(f"{said} now; docs/renames.md lists all names that have changed", DeprecationWarning, stacklevel)


def current(names: Mapping[str, str], name: str) -> str:
    """The name that replaced `name`, or `name`."""
    if name not in names:
        return name
    warn({name: names[name]}, 4)
    return names[name]


def current_keys(keys: Mapping[str, str], given: Mapping[str, Any]) -> dict[str, Any]:
    """Keywords under their current names. TypeError where one comes under both."""
    renamed = {old: name for old, name in keys.items() if old in given}
    if not renamed:
        return dict(given)
    both = next((old for old, name in renamed.items() if name in given), None)
    if both is not None:
        raise TypeError(f"'{both}' is the old name of '{renamed[both]}', and both were given")
    warn(renamed, 4)
    return {renamed.get(key, key): value for key, value in given.items()}


def old_keywords(keys: Mapping[str, str]) -> Callable[[Callable[P, R]], Callable[P, R]]:
    """Decorator of a function that keeps its old keywords: {old: name}."""

    def decorate(function: Callable[P, R]) -> Callable[P, R]:
        @functools.wraps(function)
        def call(*args: P.args, **kwargs: P.kwargs) -> R:
            if [old for old in keys if old in kwargs]:  # torch.compile traces this
                return function(*args, **current_keys(keys, kwargs))
            return function(*args, **kwargs)

        return call

    return decorate


def parameters(given: Mapping[str, Any]) -> dict[str, Any]:
    """Arguments of an estimator's constructor with scikit-learn's names as ours: `random_state` is `seed`, `n_jobs` is `threads`
    (None: as torch has it), and `verbose` is one more than `verbosity`. TypeError where one comes twice."""
    named = dict(given)
    for name, (own, value) in SCIKIT_LEARN.items():
        if name in named:
            if own in named:
                raise TypeError(f"'{name}' is another name of '{own}', and both were given")
            named[own] = value(named.pop(name))
    return named


def constructor(keys: Mapping[str, str]) -> Callable[[Callable[P, R]], Callable[P, R]]:
    """Decorator of an estimator's constructor, which takes its old keywords, {old: name}, and those of scikit-learn."""

    def decorate(function: Callable[P, R]) -> Callable[P, R]:
        @functools.wraps(function)
        def call(*args: P.args, **kwargs: P.kwargs) -> R:
            return function(*args, **parameters(current_keys(keys, kwargs)))

        return call

    return decorate


def old_fields(keys: Mapping[str, str]) -> Callable[[type[R]], type[R]]:
    """As `old_keywords`, of the constructor of a dataclass."""

    def decorate(made: type[R]) -> type[R]:
        made.__init__ = old_keywords(keys)(vars(made)["__init__"])  # type: ignore[method-assign]
        return made

    return decorate


def member(document: Mapping[str, Any], key: str) -> Any:
    """A member of data.json, under its current or its earlier name. KeyError as usual."""
    old = MEMBERS.get(key, key)
    return document[old if old in document and key not in document else key]


def old_names(module: str, names: Mapping[str, str]) -> Callable[[str], Any]:
    """The `__getattr__` of a module whose members were renamed."""

    def find(name: str) -> Any:
        if name not in names:
            raise AttributeError(f"module {module!r} has no attribute {name!r}")
        warn({name: names[name]})
        return getattr(sys.modules[module], names[name])

    return find
