"""Forecasts with the rows before them, for plots."""

from collections.abc import Sequence
from typing import Any

from modewise.forecast_frames import forecast_times
from modewise.frames import Table
from modewise.labelled_arrays import Grid
from modewise.panel_frames import PanelTable, series_times
from modewise.plots import Line, Past, chosen_series

Given = Table | PanelTable | Grid | None


def tensor_lines(result: dict[str, Any], given: Given, wanted: Sequence[str] | None, rows: int) -> list[Line]:
    """Lines of the program's `predict --json` for the `wanted` series (None: the first four), with the last `rows` rows of the fitted
    data (0: three times the forecast rows)."""
    forecasts = result["series"]
    steps = len(forecasts[0]["forecast"])
    rows = rows or 3 * steps
    assert not isinstance(given, PanelTable)
    past: Past | None
    if isinstance(given, Grid):
        times, past = given.times_after(steps), Past(given.times[-rows:], given.values.reshape(len(given.values), -1)[-rows:])
    else:
        times = forecast_times(result, given)
        past = None if given is None else Past(given.values.index[-rows:], given.values.to_numpy()[-rows:])
    lines = []
    names = [one["name"] for one in forecasts]
    columns = given.columns_of(names) if isinstance(given, Table) else {}
    for place in chosen_series(names, wanted):
        column = given.values.columns.get_loc(columns[names[place]]) if isinstance(given, Table) else place
        mine = None if past is None else Past(past.times, past.values[:, column])
        lines.append(Line(forecasts[place]["name"], times, forecasts[place], mine))
    return lines


def panel_lines(result: dict[str, Any], given: Given, wanted: Sequence[str] | None, rows: int) -> list[Line]:
    """The same for a panel, whose series have times of their own; a line for each variable of an id."""
    forecasts, panel = result["series"], given if isinstance(given, PanelTable) else None
    several = len({one["variable"] for one in forecasts}) > 1
    names = [f"{one['name']}: {one['variable']}" if several else one["name"] for one in forecasts]
    lines = []
    for place in chosen_series(names, wanted):
        one = forecasts[place]
        times = series_times(one) if panel is None else panel.styled(series_times(one))
        past = None if panel is None else panel.past(one["name"], one["variable"], rows or 3 * len(one["forecast"]))
        lines.append(Line(names[place], times, one, past))
    return lines
