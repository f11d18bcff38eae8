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
    """The last rows before a forecast: values [T, S], NaN if missing, series in the forecast's order."""

    times: Any
    values: Array


def figure_class() -> "type[matplotlib.figure.Figure]":
    """matplotlib's Figure; ImportError with the remedy without matplotlib."""
    try:
        made: type[matplotlib.figure.Figure] = importlib.import_module("matplotlib.figure").Figure
    except ImportError:
        raise ImportError("plots need matplotlib, which is not installed: pip install matplotlib") from None
    return made


def forecast_figure(result: dict[str, Any], times: Any, past: Past | None, wanted: Sequence[str] | None) -> "matplotlib.figure.Figure":
    """Figure of the program's `predict --json`, whose rows have these `times`: axes for each of the `wanted` series (None: the
    first four), with the rows before it and a band between each pair of quantiles. UsageError for an unknown series."""
    kind = figure_class()
    every = [series["name"] for series in result["series"]]
    names = every[:4] if wanted is None else list(wanted)
    for name in names:
        if name not in every:
            raise UsageError(f"plot: there is no series '{name}' (there are {', '.join(every[:20])}{' …' if len(every) > 20 else ''})")
    figure = kind(figsize=(8, 2.6 * len(names)), layout="constrained")
    grid = figure.subplots(len(names), 1, sharex=True, squeeze=False)
    for axes, name in zip(grid[:, 0], names, strict=True):
        index = every.index(name)
        series = result["series"][index]
        if past is not None:
            axes.plot(past.times, past.values[:, index], color="0.35", label="past")
        (line,) = axes.plot(times, series["forecast"], label="forecast")
        levels = sorted(series["quantiles"], key=float)
        for low, high in zip(levels, reversed(levels), strict=True):
            if float(low) < float(high):
                coverage = f"{100 * (float(high) - float(low)):.4g} %"
                axes.fill_between(times, series["quantiles"][low], series["quantiles"][high], color=line.get_color(), alpha=0.2, lw=0,
                                  label=coverage)  # fmt: skip
        axes.set_title(name, loc="left")
        axes.legend(loc="upper left", frameon=False)
    return figure
