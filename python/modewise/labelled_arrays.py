"""Conversion of xarray DataArrays to the program's series and of forecasts to DataArrays; xarray is not imported."""

import dataclasses
import pathlib
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from modewise.errors import DataError
from modewise.frames import require_pandas

if TYPE_CHECKING:
    import pandas

Array = npt.NDArray[Any]


@dataclasses.dataclass
class Grid:
    """A DataArray with the time dimension first, in ascending equal steps, missing rows as NaN. `given`: the original array,
    whose dimensions, coordinates, name and attributes a forecast keeps; `step` of the program's rows, "" for row numbers."""

    values: Array
    times: "pandas.Index[Any]"
    time: str
    step: str
    following: Any  # difference to the next time: a number, a Timedelta or a DateOffset
    given: Any

    def settings(self) -> dict[str, Any]:
        """Config keys for what a .npy file does not hold: start and step of the rows, names of the other dimensions."""
        names = [str(name) for name in self.given.dims if name != self.time]
        dated = {"data.start": self.times[0].strftime("%Y-%m-%d %H:%M:%S"), "data.step": self.step} if self.step else {}
        return dated | ({"data.mode_names": names} if names else {})

    def write(self, stem: pathlib.Path) -> pathlib.Path:
        """Writes stem.npy -> its path."""
        path = stem.with_name(stem.name + ".npy")
        path.parent.mkdir(parents=True, exist_ok=True)
        np.save(path, self.values if self.values.ndim > 1 else self.values[:, None], allow_pickle=False)
        return path

    def like(self, fitted: "Grid") -> "Grid":
        """The grid with the dimensions and labels of `fitted` in its order. DataError for others, and for another step of the times."""
        data, wanted = self.given, fitted.given
        if set(data.dims) != set(wanted.dims) or self.time != fitted.time:
            raise DataError(f"array: its dimensions must be {', '.join(map(str, wanted.dims))}, got {', '.join(map(str, data.dims))}")
        if self.step != fitted.step:
            raise DataError(f"array: the step of '{self.time}' is {self.step or '1 row'}, that of the fitted array {fitted.step or '1 row'}")
        for name in set(data.indexes) & set(wanted.indexes) - {self.time}:
            mine, labels = data.indexes[name], wanted.indexes[name]
            differing = mine.symmetric_difference(labels)
            if len(differing) > 0:
                raise DataError(f"array: the labels of '{name}' must be those of the fitted array; {', '.join(map(str, differing[:5]))} are in one of them only")
            if not mine.equals(labels):
                if not mine.is_unique or not labels.is_unique:
                    raise DataError(f"array: the labels of '{name}' must be in the order of the fitted array, since some are equal")
                data = data.isel({name: mine.get_indexer(labels)})
        return grid_of(data.transpose(*wanted.dims))

    def times_after(self, steps: int) -> list[Any]:
        """Times of the rows after the last."""
        return [self.times[-1] + self.following * (i + 1) for i in range(steps)]

    def forecast(self, result: dict[str, Any]) -> Any:
        """The program's `predict --json` as a DataArray of the same dimensions after the last time; quantiles are coordinates
        q0.025, q0.1, … of the same shape."""
        series = result["series"]
        steps = len(series[0]["forecast"])
        times = self.times_after(steps)
        dims = (self.time, *(name for name in self.given.dims if name != self.time))

        def shaped(rows: list[list[float]]) -> tuple[tuple[Any, ...], Array]:
            return dims, np.moveaxis(np.array(rows, dtype=np.float64).reshape(*self.values.shape[1:], steps), -1, 0)

        coordinates = {name: coordinate for name, coordinate in self.given.coords.items() if self.time not in coordinate.dims}
        coordinates[self.time] = np.array(times, dtype=self.times.dtype)
        for level in series[0]["quantiles"]:
            coordinates[f"q{level}"] = shaped([one["quantiles"][level] for one in series])
        values = shaped([one["forecast"] for one in series])[1]
        made = type(self.given)(values, dims=dims, coords=coordinates, name=self.given.name, attrs=self.given.attrs)
        return made.transpose(*self.given.dims)


def is_labelled(data: Any) -> bool:
    """Whether the data are an xarray object."""
    return type(data).__module__.split(".")[0] == "xarray"


def time_of(data: Any) -> str:
    """The time dimension: the one with dates, else the one named time, else the first."""
    dated = [name for name in data.dims if name in data.coords and data.coords[name].dtype.kind == "M"]
    if len(dated) > 1:
        raise DataError(f"array: {len(dated)} dimensions hold times ({', '.join(map(str, dated))}): keep one")
    return str(dated[0] if dated else "time" if "time" in data.dims else data.dims[0])


def step_of(times: "pandas.Index[Any]", name: str) -> tuple[str, Any]:
    """The step of ascending times, as data.step and as the difference to the next time. DataError for steps below a second."""
    import pandas

    if not isinstance(times, pandas.DatetimeIndex):
        return "", int((times[1:] - times[:-1]).min()) if len(times) > 1 else 1
    if len(times) < 2:
        raise DataError(f"array: dimension '{name}' has one time, which defines no step")
    steps = times[1:] - times[:-1]
    months = (times.year * 12 + times.month)[1:] - (times.year * 12 + times.month)[:-1]
    if (times.day == times[0].day).all() and times[0].day <= 28 and (times.normalize() == times).all() and months.min() >= 1:
        return f"{months.min()} month", pandas.DateOffset(months=int(months.min()))
    if (times + pandas.offsets.MonthEnd(0) == times).all() and months.min() >= 1:
        return f"{months.min()} month", pandas.offsets.MonthEnd(int(months.min()))
    seconds = steps.min().total_seconds()
    if seconds != int(seconds) or (times != times.floor("s")).any():
        raise DataError(f"array: times of '{name}' must be whole seconds, got steps of {steps.min()}")
    return f"{int(seconds)} s", steps.min()


def all_times(times: "pandas.Index[Any]", following: Any, name: str) -> "pandas.Index[Any]":
    """Times from the first to the last by the step. DataError for a time between steps, or if most are missing."""
    import pandas

    first, last = times[0], times[-1]
    if first + following * 2 * len(times) < last:
        raise DataError(f"array: more than half of the times of '{name}' from {first} to {last} by a step of {following} are missing")
    dated = isinstance(times, pandas.DatetimeIndex)
    rows = pandas.date_range(first, last, freq=following) if dated else pandas.RangeIndex(first, last + following, following)
    between = times.difference(rows)
    if len(between) > 0:
        raise DataError(f"array: times of '{name}' must be equally spaced; {between[0]} is not a multiple of the step of {following}")
    return rows.astype(times.dtype)


def grid_of(data: Any) -> Grid:
    """The grid of a DataArray of numbers, times in any order. DataError for an invalid one."""
    require_pandas()
    import pandas

    if not hasattr(data, "dims") or not hasattr(data, "values") or callable(data.values):
        raise DataError(f"data must be one xarray.DataArray, got a {type(data).__name__}: take a variable of it, or to_dataarray()")
    if data.ndim == 0 or data.size == 0:
        raise DataError(f"array: it must have a dimension of times and at least one row and one series, got {dict(data.sizes)}")
    if data.dtype.kind not in "fiu":
        raise DataError(f"array: it must hold numbers, got {data.dtype}")
    time = time_of(data)
    times = pandas.Index(data.coords[time].values) if time in data.coords else pandas.RangeIndex(data.sizes[time])
    if times.dtype.kind not in "Miu":
        raise DataError(f"array: coordinate '{time}' must hold times (datetime64) or row numbers, got {times.dtype}")
    if times.hasnans:
        raise DataError(f"array: coordinate '{time}' has no time at index {int(times.isna().argmax())}")
    if times.has_duplicates:
        raise DataError(f"array: it has two rows at {times[times.duplicated()][0]}")
    order = times.argsort()
    step, following = step_of(times[order], time)
    rows = all_times(times[order], following, time)
    given = data.transpose(time, ...).values.astype(np.float64)
    values = np.full((len(rows), *given.shape[1:]), np.nan)
    values[rows.get_indexer(times)] = given
    return Grid(values, rows, time, step, following, data)
