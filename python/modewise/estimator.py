"""Base of the estimators: scikit-learn parameters, the run folder, resuming, explaining."""

import inspect
import os
from collections.abc import Mapping
from contextlib import AbstractContextManager
from typing import Any, Self

import numpy as np
import numpy.typing as npt
import torch

from modewise import _aliases, tasks
from modewise.errors import DataError, UsageError
from modewise.new_run import NewRun, new_run

Array = npt.NDArray[Any]
OLD_KEYWORDS = {"exist_ok": "overwrite", "known": "future_covariates"}


def dense_array(data: Any) -> Array:
    """An array or tensor as a NumPy array of native byte order and at most 64 bits a number; masked numbers become NaN."""
    if hasattr(data, "detach"):
        if data.layout != torch.strided:
            raise DataError(f"array: it must be dense, got a tensor of layout {data.layout}: data.to_dense()")
        data = data.detach().float() if data.dtype == torch.bfloat16 else data.detach()
    elif isinstance(data, np.ma.MaskedArray):
        data = np.where(np.ma.getmaskarray(data), np.nan, data.data) if data.dtype.kind in "fiu" else data.data
    array = np.asarray(data)
    wide = array.dtype.kind == "f" and array.dtype.itemsize > 8
    return array.astype(np.float64 if wide else array.dtype.newbyteorder("="), copy=False)


def checked_array(data: Any, wanted: str) -> Array:
    """A non-empty array of numbers on the CPU; otherwise DataError, which says that it must be `wanted`."""
    if getattr(getattr(data, "device", None), "type", "cpu") != "cpu":
        raise DataError(f"array: it must be on the CPU, got a tensor on {data.device}")
    array = dense_array(data)
    if array.dtype.kind not in "fiu":
        raise DataError(f"array: it must hold numbers, got {array.dtype}")
    if array.ndim == 0 or array.size == 0:
        raise DataError(f"array: it must be {wanted}, got {list(array.shape)}")
    return array


class Estimator:
    """Base of the estimators. The constructor's arguments are attributes of the same names; after `fit`, `run_` is the run
    folder and `metrics_` its metrics.json."""

    model: str  # an estimator without it overrides `_stem`
    run: str | os.PathLike[str] | None
    overwrite: bool
    verbosity: int
    run_: str
    metrics_: dict[str, Any]

    @classmethod
    def parameters(cls) -> list[str]:
        """Names of the constructor's arguments."""
        return [name for name in inspect.signature(cls.__init__).parameters if name != "self"]

    def get_params(self, deep: bool = True) -> dict[str, Any]:
        """The constructor's arguments, as in scikit-learn."""
        return {name: getattr(self, name) for name in self.parameters()}

    def set_params(self, **params: Any) -> Self:
        """Sets constructor arguments, as in scikit-learn. UsageError for an unknown one."""
        names = {old: name for old, name in OLD_KEYWORDS.items() if name in self.parameters()}
        for name, value in _aliases.current_keys(names, params).items():
            if name not in self.parameters():
                raise UsageError(f"{type(self).__name__} has no parameter '{name}' (there are {', '.join(self.parameters())})")
            setattr(self, name, value)
        return self

    def __repr__(self) -> str:
        usual = type(self)().get_params()
        changed = [f"{name}={value!r}" for name, value in self.get_params().items() if value != usual[name]]
        return f"{type(self).__name__}({', '.join(changed)})"

    def resume(self) -> Self:
        """Resumes an interrupted fit; the result has the same bits as an uninterrupted one."""
        self.metrics_ = tasks.resume(self._run(), verbosity=self.verbosity)
        return self

    def explain(self, split: str = "test", *, samples: int = 32) -> dict[str, Any]:
        """Attention and input importance over samples of a split of the fitted data -> the program's `explain --json`; "report"
        is the HTML page in the run folder. UsageError for a task without explanations."""
        return tasks.explain(self._run(), split=split, samples=samples)

    def _stem(self) -> str:
        """Name of the default folder under runs/."""
        return self.model

    def _new_run(self) -> AbstractContextManager[NewRun]:
        return new_run(self.run, self._stem(), bool(self.overwrite))

    def _train(self, task: str, settings: Mapping[str, Any], run: NewRun) -> None:
        self.run_ = str(run.folder.absolute())
        inputs = "" if run.inputs is None else run.inputs.name
        self.metrics_ = tasks.train(task, settings, out=run.folder, overwrite=self.overwrite, inputs=inputs, verbosity=self.verbosity)

    def _run(self) -> str:
        if not hasattr(self, "run_"):
            name = type(self).__name__
            raise UsageError(f"this {name} is not fitted yet: call fit, or open a run with {name}.from_run")
        return self.run_
