"""Forecasts as matplotlib figures; only this module imports matplotlib."""

import dataclasses
import importlib
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from modewise.errors import UsageError
from modewise.estimator import Array

if TYPE_CHECKING:
    import matplotlib.figure


@dataclasses.dataclass
class Past:
    """The last rows before a forecast: values [T] or [T, S], NaN if missing, series in the forecast's order."""

    times: Any
    values: Array


def figure_class() -> "type[matplotlib.figure.Figure]":
    """matplotlib's Figure; ImportError with the remedy without matplotlib."""
    try:
        made: type[matplotlib.figure.Figure] = importlib.import_module("matplotlib.figure").Figure
    except ImportError:
        raise ImportError("plots need matplotlib, which is not installed: pip install matplotlib") from None
    return made


@dataclasses.dataclass
class Line:
    """A forecast to draw: its times, its values and quantiles in the form of the program's `predict --json`, and the rows before."""

    name: str
    times: Any
    series: dict[str, Any]
    past: Past | None


def chosen_series(every: Sequence[str], wanted: Sequence[str] | None) -> list[int]:
    """Places of the `wanted` series (None: the first four). UsageError for an unknown one."""
    for name in wanted or ():
        if name not in every:
            raise UsageError(f"plot: there is no series '{name}' (there are {', '.join(every[:20])}{' …' if len(every) > 20 else ''})")
    return list(range(min(4, len(every)))) if wanted is None else [every.index(name) for name in wanted]


def forecast_figure(lines: Sequence[Line], *, shared_times: bool = True) -> "matplotlib.figure.Figure":
    """Figure of forecasts: axes for each, with the rows before it and a band between each pair of quantiles."""
    figure = figure_class()(figsize=(8, 2.6 * len(lines)), layout="constrained")
    grid = figure.subplots(len(lines), 1, sharex=shared_times, squeeze=False)
    for axes, one in zip(grid[:, 0], lines, strict=True):
        if one.past is not None:
            axes.plot(one.past.times, one.past.values, color="0.35", label="past")
        (line,) = axes.plot(one.times, one.series["forecast"], label="forecast")
        quantiles = one.series["quantiles"]
        levels = sorted(quantiles, key=float)
        for low, high in zip(levels, reversed(levels), strict=True):
            if float(low) < float(high):
                coverage = f"{100 * (float(high) - float(low)):.4g} %"
                axes.fill_between(one.times, quantiles[low], quantiles[high], color=line.get_color(), alpha=0.2, lw=0, label=coverage)
        axes.set_title(one.name, loc="left")
        axes.legend(loc="upper left", frameon=False)
    return figure
