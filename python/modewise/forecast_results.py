"""Backtests and leaderboards of forecasters as frames."""

import contextlib
import json
import pathlib
from typing import TYPE_CHECKING, Any

from modewise.errors import UsageError
from modewise.frame_times import program_times, shown_times
from modewise.frames import Table

if TYPE_CHECKING:
    import pandas

UNITS = {"s": 1, "m": 60, "h": 3600, "d": 86400}


def seconds_of(budget: str | float) -> float:
    """Seconds of a budget: 300, "90s", "10m", "1.5h". UsageError otherwise."""
    text = str(budget).strip()
    with contextlib.suppress(ValueError):
        found = float(text[:-1]) * UNITS[text[-1]] if text[-1:] in UNITS else float(text)
        if 0 < found < float("inf"):
            return found
    raise UsageError(f"budget must be a time such as '90s', '10m' or '1.5h', or a number of seconds, got {budget!r}")


def backtest_frame(result: dict[str, Any], data: Any) -> "pandas.DataFrame":
    """The program's `backtest --json` as a frame with a row for each origin, its time in the zone of the fitted `data`."""
    import pandas

    rows = []
    for origin, time in zip(result["origins"], origin_times(result["origins"]), strict=True):
        intervals = {f"{key}_{100 * one['nominal']:g}": one[key] for one in origin["intervals"] for key in ("coverage", "width") if key in one}
        numbers = origin.get("scaled", {}) | {name: value for name, value in origin.items() if isinstance(value, float)}
        rows.append({"time": time} | numbers | intervals)
    frame = pandas.DataFrame(rows)
    if isinstance(data, Table) and data.dated:
        frame["time"] = shown_times(pandas.DatetimeIndex(frame["time"]), data.clock, data.zone)
    frame.attrs["result"] = result
    return frame


def origin_times(origins: list[dict[str, Any]]) -> Any:
    """The times of origins, or their texts: row numbers, or places of a panel."""
    texts = [origin["time"] for origin in origins]
    return program_times(texts, [origin["seconds"] for origin in origins]) if all("seconds" in origin for origin in origins) else texts


def leaderboard_frame(run: pathlib.Path) -> "pandas.DataFrame":
    """The trainings of a search, best first. UsageError for another run."""
    import pandas

    file = run / "auto" / "leaderboard.json"
    if not file.is_file():
        raise UsageError("leaderboard: this run is not the result of a search: fit Forecaster('auto', budget='5m')")
    frame = pandas.DataFrame(json.loads(file.read_text())).drop(columns="run")
    frame = frame.rename(columns={name: name.rsplit("/", 1)[-1] for name in frame.columns} | {"name": "model"})
    return frame if "failure" in frame.columns else frame.assign(failure=None)
