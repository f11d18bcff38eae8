"""Base of the estimators: scikit-learn parameters, the run folder, resuming, explaining."""

import contextlib
import inspect
import numbers
import operator
import os
import pathlib
from collections.abc import Iterator, Mapping
from typing import Any, Self

import numpy as np
import numpy.typing as npt
import torch

from modewise import _aliases, tasks
from modewise._scikit_learn import BaseEstimator
from modewise._temporary_run import TemporaryFolder, copy_run, packed, unpack
from modewise.axis_names import AxisNames
from modewise.errors import DataError, ModewiseError, ReadWriteError, UsageError, with_text
from modewise.new_run import NewRun, earlier_files, new_run, require_free, run_id
from modewise.run_folder import RunFolder, setting

Array = npt.NDArray[Any]
DEVICE_VARIABLE = "MODEWISE_DEVICE"  # read by the C++ libraries
AXES = "_axes.json"  # beside the fitted data
OLD_KEYWORDS = {"exist_ok": "overwrite", "known": "future_covariates"}


def dense_array(data: Any) -> Array:
    """An array or tensor as a NumPy array of native byte order and at most 64 bits a number; masked numbers become NaN."""
    if hasattr(data, "detach"):
        if data.layout != torch.strided:
            raise DataError(f"array: it must be dense, got a tensor of layout {data.layout}: data.to_dense()")
        data = data.detach().float() if data.dtype == torch.bfloat16 else data.detach().resolve_neg()
    elif isinstance(data, np.ma.MaskedArray):
        data = np.where(np.ma.getmaskarray(data), np.nan, data.data) if data.dtype.kind in "fiu" else data.data
    array = np.asarray(data)
    if array.dtype == object and holds_nullable_numbers(data):
        array = data.to_numpy(dtype=np.float64, na_value=np.nan)
    if array.dtype == object and array.size > 0 and all(isinstance(value, numbers.Real) for value in array.flat):
        array = array.astype(np.float64)
    wide = array.dtype.kind == "f" and array.dtype.itemsize > 8
    return array.astype(np.float64 if wide else array.dtype.newbyteorder("="), copy=False)


def holds_nullable_numbers(data: Any) -> bool:
    """Whether a frame or series of pandas has numbers alone, some of a type with pandas.NA."""
    dtypes = getattr(data, "dtypes", None)
    return dtypes is not None and all(getattr(dtype, "kind", "O") in "fiu" for dtype in (dtypes if hasattr(dtypes, "__iter__") else [dtypes]))


def whole(name: str, value: Any) -> int:
    """An argument that is an integer; 0 for None. UsageError for another."""
    try:
        return 0 if value is None else operator.index(value)
    except TypeError:
        raise UsageError(f"{name} must be an integer, got {value!r}") from None


def checked_array(data: Any, wanted: str, kinds: str = "fiu") -> Array:
    """A non-empty array of numbers on the CPU, of these kinds of NumPy ("b": truth values too); otherwise DataError, which says that it must be `wanted`."""
    if getattr(getattr(data, "device", None), "type", "cpu") != "cpu":
        raise DataError(f"array: it must be on the CPU, got a tensor on {data.device}")
    array = dense_array(data)
    if array.dtype.kind not in kinds:
        raise DataError(f"array: it must hold numbers, got {array.dtype}")
    if array.ndim == 0 or array.size == 0:
        raise DataError(f"array: it must be {wanted}, got {list(array.shape)}")
    return array


@contextlib.contextmanager
def errors_about(arguments: Mapping[str, str]) -> Iterator[None]:
    """Errors of the block about files that were written for the program name the arguments that these hold."""
    try:
        yield
    except ModewiseError as error:
        text = str(error)
        for path in sorted(arguments, key=len, reverse=True):
            text = text.replace(path, arguments[path])
        raise with_text(error, text) from None


class LoadMethod:
    """`Forecaster.load(path)` is `from_run(path)`; of a fitted object, `load()` is `module()`, as in earlier versions."""

    def __get__(self, made: Any, kind: Any) -> Any:
        return kind.from_run if made is None or not hasattr(made, "module") else made.module


class Estimator(BaseEstimator):
    """Base of the estimators, and scikit-learn's BaseEstimator where that is installed.

    The constructor's arguments are attributes of the same names; `random_state`, `n_jobs` and `verbose` are accepted for `seed`,
    `threads` and `verbosity` + 1. A pickle holds the run with its weights, which opens in another process or on another machine.

    Attributes
    ----------
    run_ : str
        The run folder. Without `run` it is temporary: it is removed with the estimator. `save` keeps it.
    metrics_ : dict
        The run's metrics.json.
    """

    TASK = ""
    model: str  # an estimator without it overrides `_stem`
    run: str | os.PathLike[str] | None
    overwrite: bool
    verbosity: int
    threads: int
    device: str
    run_: str
    metrics_: tasks.Result
    _folder: TemporaryFolder | None = None
    _axes = AxisNames()  # of the fitted samples
    _run_id = ""  # of the fitted run; "": not known
    load = LoadMethod()
    MOVABLE = False  # whether a split of data in another place can be evaluated

    @classmethod
    def parameters(cls) -> list[str]:
        """Names of the constructor's arguments."""
        return [name for name in inspect.signature(cls.__init__).parameters if name != "self"]

    def get_params(self, deep: bool = True) -> dict[str, Any]:
        """The constructor's arguments, as in scikit-learn."""
        return {name: getattr(self, name) for name in self.parameters()}

    def set_params(self, **params: object) -> Self:
        """Sets constructor arguments, as in scikit-learn.

        Raises
        ------
        UsageError
            For an unknown argument.
        """
        names = {old: name for old, name in OLD_KEYWORDS.items() if name in self.parameters()}
        for name, value in _aliases.parameters(_aliases.current_keys(names, params)).items():
            if name not in self.parameters():
                raise UsageError(f"{type(self).__name__} has no parameter '{name}' (there are {', '.join(self.parameters())})")
            setattr(self, name, value)
        return self

    def __repr__(self, N_CHAR_MAX: int = 700) -> str:
        usual = type(self)().get_params()
        changed = [f"{name}={value!r}" for name, value in self.get_params().items() if value is not usual[name] and repr(value) != repr(usual[name])]
        return f"{type(self).__name__}({', '.join(changed)})"

    def __sklearn_is_fitted__(self) -> bool:
        return hasattr(self, "run_")

    def __getstate__(self) -> dict[str, Any]:
        state = {name: value for name, value in vars(self).items() if name not in ("run_", "_folder")}
        return state | {"_packed": packed(pathlib.Path(self.run_))} if hasattr(self, "run_") else state

    def __setstate__(self, state: dict[str, Any]) -> None:
        files = state.pop("_packed", None)
        vars(self).update(state)
        if files is not None:
            self._folder = TemporaryFolder()
            run = self._folder.path / self._stem()
            unpack(files, run)
            self.run_ = str(run)

    def save(self, path: str | os.PathLike[str], *, overwrite: bool = False) -> None:
        """Copies the run, with the data that `fit` wrote into it, to a folder, for `from_run`, `modewise.load` and the program.

        Parameters
        ----------
        path
            A folder that does not exist or is empty.
        overwrite
            Whether the run may replace an earlier one there; files that are not a run's stay.

        Raises
        ------
        CannotCreateError
            For a folder that holds something; with `overwrite`, something of the name of a file of the run that is not of an earlier run.
        UsageError
            For the run's own folder.
        ReadWriteError
            If a file cannot be read or written, as on a full disk.
        """
        folder, run = pathlib.Path(path), pathlib.Path(self._run())
        require_free(folder, overwrite)
        if folder.exists() and folder.samefile(run):
            raise UsageError(f"save: {folder} is the run of this {type(self).__name__} itself")
        earlier = earlier_files(folder, run)
        try:
            copy_run(run, folder, earlier)
        except OSError as error:
            raise ReadWriteError(f"save: cannot copy the run to {folder}: {error.strerror or error}") from error

    def resume(self) -> Self:
        """Resumes an interrupted fit; the result has the same bits as an uninterrupted one."""
        with self._computing():
            self.metrics_ = tasks.resume(self._run(), verbosity=self._verbosity())
        return self

    def explain(self, split: str | None = None, *, samples: int = 32) -> tasks.Result:
        """Attention and input importance over samples of a split of the fitted data.

        Parameters
        ----------
        split : "test", "validation" or "train"
            None: the test split if the run has one, else the validation split.
        samples
            Number of samples.

        Returns
        -------
        dict
            The program's `explain --json`; "report" is the HTML page in the run folder.

        Raises
        ------
        UsageError
            For a task without explanations.
        """
        with self._using_run() as run:
            return tasks.explain(run, data=self._moved_data(), split=split or self._evaluated_split(), samples=samples,
                                 verbosity=self._verbosity())  # fmt: skip

    def _stem(self) -> str:
        """Name of the default run folder."""
        return str(self.model)

    @contextlib.contextmanager
    def _using_run(self, arguments: Mapping[str, str] | None = None) -> Iterator[str]:
        """`_computing` with the fitted run, of which it gives the folder. Errors of the block about files that `fit` wrote, and about
        those of `arguments`, name what these hold."""
        run = self._run()
        fitted = {str(file): "the fitted data" for file in pathlib.Path(run).glob("data*/*")}
        temporary = {} if self._folder is None else {run: "the run"}
        with errors_about(temporary | fitted | dict(arguments or {})), self._computing():
            yield run

    def _verbosity(self) -> int:
        return whole("verbosity", self.verbosity)

    @contextlib.contextmanager
    def _new_run(self) -> Iterator[NewRun]:
        """The folder of the next run: `run`, or a temporary one."""
        if self.run is not None:
            with new_run(self.run, bool(self.overwrite)) as made:
                yield made
            return
        temporary = TemporaryFolder()
        with new_run(temporary.path / self._stem(), False) as made:
            made.temporary = temporary
            yield made

    @contextlib.contextmanager
    def _computing(self) -> Iterator[None]:
        """Calls in the block compute with `threads` threads (0: as torch has it, −1: one for each core; no bit depends on it), on
        `device`."""
        before, asked, device = torch.get_num_threads(), os.environ.get(DEVICE_VARIABLE), str(self.device)
        threads = whole("threads", self.threads)
        torch.set_num_threads((threads if threads >= 0 else max(1, (os.cpu_count() or 1) + 1 + threads)) or before)
        if device != "auto":
            os.environ[DEVICE_VARIABLE] = device
        try:
            yield
        finally:
            torch.set_num_threads(before)
            if device != "auto":
                os.environ.pop(DEVICE_VARIABLE)
                os.environ.update({} if asked is None else {DEVICE_VARIABLE: asked})

    @contextlib.contextmanager
    def _fitted_in(self, run: NewRun, fitted: Mapping[str, Any]) -> Iterator[None]:
        """Makes the run that the block trains that of this object, with the attributes `fitted`. If the block fails before the run
        begins, the attributes are those of before."""
        before = dict(vars(self))
        vars(self).update(fitted, run_=str(run.folder.absolute()), _folder=run.temporary, _run_id="")
        vars(self).pop("metrics_", None)
        try:
            yield
        except BaseException:
            if not run.has_begun():
                vars(self).clear()
                vars(self).update(before)
            else:
                self._run_id = run_id(run.folder)
            raise
        self._run_id = run_id(run.folder)

    def _train(self, settings: Mapping[str, object], run: NewRun, arguments: Mapping[str, str] | None = None, **fitted: Any) -> None:
        """Trains the run. `arguments`: by the files in it that hold them."""
        inputs = "" if run.inputs is None else run.inputs.name
        with errors_about(arguments or {}), self._fitted_in(run, fitted), self._computing():
            self.metrics_ = tasks.train(self.TASK, settings, out=run.folder, overwrite=self.overwrite, inputs=inputs,
                                        verbosity=self._verbosity())  # fmt: skip

    @classmethod
    def _of_run(cls, run: str | os.PathLike[str], own: Mapping[str, str]) -> Self:
        """A fitted estimator of a run folder, without `run`: another fit is a run of its own. `own`: constructor argument -> the config
        key that it sets (`data.channels`); other settings that differ from the defaults are `settings`."""
        folder = RunFolder(run)
        if folder.task != cls.TASK:
            raise UsageError(f"{folder.path} is a run of the task '{folder.task}', not of '{cls.TASK}'")
        config = folder.config()
        made = cls(**{name: setting(config, key) for name, key in own.items()}, settings=folder.settings(own.values()) or None)  # type: ignore[call-arg]
        made.run_, made._run_id = os.path.abspath(run), run_id(folder.path)
        axes = folder.beside_data(AXES)
        with folder.reading(f"{axes.parent.name}/{axes.name}"):
            made._axes = AxisNames.read(axes)
        if (folder.path / "metrics.json").is_file():
            made.metrics_ = folder.read_json("metrics.json") | {"run": made.run_}
        return made

    def _run(self) -> str:
        if not hasattr(self, "run_"):
            name = type(self).__name__
            raise UsageError(f"this {name} is not fitted yet: call fit, or open a run with {name}.from_run")
        if self._run_id and run_id(pathlib.Path(self.run_)) not in ("", self._run_id):
            raise UsageError(f"the run of this {type(self).__name__} in {self.run_} was replaced by another one: fit it again, and give estimators that "
                             "are used together, such as clones, run=None or folders of their own")  # fmt: skip
        return self.run_

    def _evaluated_split(self) -> str:
        """The test split if the run's training had one, else the validation split."""
        return "test" if RunFolder(self._run()).config()["train"]["test"] else "validation"

    def _moved_data(self) -> str:
        """The data in the run folder, if it was moved with them; "" if they are where they were fitted."""
        data = RunFolder(self._run()).config()["data"]
        fitted = pathlib.Path(data.get("path") or data.get("train") or "")
        inside = pathlib.Path(self.run_) / fitted.parent.name / fitted.name
        return str(inside) if fitted.name and not fitted.exists() and inside.exists() else ""

    def _data_to_evaluate(self) -> str:
        """`_moved_data`; UsageError where the program cannot split them again."""
        moved = self._moved_data()
        if moved and not self.MOVABLE:
            raise UsageError("evaluate: the run was moved with the fitted data, whose splits are known at their first place only: use score on other data")
        return moved


def checked_settings(settings: Any) -> Mapping[str, object]:
    """The `settings` of an estimator, {} for None. UsageError unless they are values by config keys."""
    if settings is None:
        return {}
    if not isinstance(settings, Mapping) or not all(isinstance(key, str) for key in settings):
        raise UsageError(f"settings must be values by config keys, such as {{'model.width': 128}}, got {settings!r:.80}")
    return settings


def own_split(settings: Mapping[str, object] | None, usual: Mapping[str, Any]) -> dict[str, Any]:
    """`usual`, the settings of a split that holds no test samples back, unless `settings` split the data themselves."""
    given = checked_settings(settings)
    splits = any(key in usual or key.startswith("data.split") and not key.endswith("_seed") for key in given)
    return {} if splits else dict(usual) | {"train.test": False}
