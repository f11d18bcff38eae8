"""Backtests and leaderboards of forecasters as frames."""

import contextlib
import json
import pathlib
from typing import TYPE_CHECKING, Any

from modewise.errors import UsageError

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


def backtest_frame(result: dict[str, Any]) -> "pandas.DataFrame":
    """The program's `backtest --json` as a frame with a row for each origin."""
    import pandas

    rows = []
    for origin in result["origins"]:
        intervals = {f"{key}_{100 * one['nominal']:g}": one[key] for one in origin["intervals"] for key in ("coverage", "width")}
        rows.append({"time": origin["time"]} | origin["scaled"] | {"repeat_mae": origin["repeat_mae"]} | intervals)
    frame = pandas.DataFrame(rows)
    if not frame["time"].astype(str).str.fullmatch(r"(row )?\d+").all():
        with contextlib.suppress(ValueError):
            frame["time"] = pandas.to_datetime(frame["time"], format="ISO8601")
    frame.attrs["result"] = result
    return frame


def leaderboard_frame(run: pathlib.Path) -> "pandas.DataFrame":
    """The trainings of a search, best first. UsageError for another run."""
    import pandas

    file = run / "auto" / "leaderboard.json"
    if not file.is_file():
        raise UsageError("leaderboard: this run is not the result of a search: fit Forecaster('auto', budget='5m')")
    frame = pandas.DataFrame(json.loads(file.read_text())).drop(columns="run")
    frame = frame.rename(columns={name: name.rsplit("/", 1)[-1] for name in frame.columns} | {"name": "model"})
    return frame if "failure" in frame.columns else frame.assign(failure=None)
