"""Days, weeks and months of a time zone in tables: local days, as pandas writes and continues them."""

import csv
import io
import json

import pytest

from cli_helpers import ok

pd = pytest.importorskip("pandas")
from modewise import Forecaster  # noqa: E402

H = 6
# Rows and forecasts are on both sides of changes of the clock.
STEPS = [("D", "2024-03-28"), ("W-SUN", "2024-10-20"), ("MS", "2024-09-01"), ("ME", "2024-02-29"), ("QS", "2024-07-01")]
SEASONAL = ["--model", "seasonal", "--horizon", H, "--set", "output.report=false", "--threads", "1"]


def local(freq, last, zone):
    return pd.date_range(end=last, periods=200 if freq == "D" else 60, freq=freq, tz=zone)


def following(times):
    return pd.date_range(times[-1], periods=H + 1, freq=times.freq, tz=times.tz)[1:]


def table(path, texts, ids=None):
    texts = [*texts]
    frame = pd.DataFrame({"ds": texts, "y": [float(i % 7) for i in range(len(texts))]})
    if ids is not None:
        frame = pd.concat([frame.iloc[start:].assign(unique_id=name)[["unique_id", "ds", "y"]] for name, start in ids])
    frame.to_csv(path, index=False)
    return path


def trained(path, run, *more):
    ok("train", "forecast", path, "--out", run, *SEASONAL, *more)
    return list(csv.DictReader(io.StringIO(ok("predict", run).stdout)))


@pytest.mark.parametrize("zone", ["Europe/Berlin", "America/New_York"])
@pytest.mark.parametrize("freq,last", STEPS)
def test_days_with_an_offset_go_on_as_local_days(freq, last, zone, tmp_path):
    times = local(freq, last, zone)
    wanted = [str(time) for time in following(times)]
    path = table(tmp_path / "t.csv", map(str, times))
    assert [row["ds"] for row in trained(path, tmp_path / "run")] == wanted
    assert [row["ds"] for row in trained(path, tmp_path / "named", "--set", f"data.time_zone={zone}")] == wanted
    many = table(tmp_path / "p.csv", map(str, times), ids=[("a", 0), ("b", 10)])
    assert [row["ds"] for row in trained(many, tmp_path / "panel", "--set", "data.panel=yes")] == 2 * wanted
    shown = json.loads(ok("predict", tmp_path / "run", "--json").stdout)
    assert [str(time) for time in pd.to_datetime(shown["seconds"], unit="s")] == [str(time.tz_localize(None)) for time in following(times)]
    assert list(Forecaster.from_run(tmp_path / "run").predict().index) == list(following(times))


@pytest.mark.parametrize("freq,last", STEPS)
def test_days_of_a_named_zone_go_on_as_local_days(freq, last, tmp_path):
    times = local(freq, last, "Europe/Berlin")
    path = table(tmp_path / "t.csv", times.strftime("%Y-%m-%d"))
    wanted = list(following(times).strftime("%Y-%m-%d"))
    zone = ["--set", "data.time_zone=Europe/Berlin"]
    assert [row["ds"] for row in trained(path, tmp_path / "run", *zone)] == wanted
    many = table(tmp_path / "p.csv", times.strftime("%Y-%m-%d"), ids=[("a", 0), ("b", 10)])
    assert [row["ds"] for row in trained(many, tmp_path / "panel", "--set", "data.panel=yes", *zone)] == 2 * wanted


def test_a_zone_of_other_rules_keeps_the_last_offset(tmp_path):
    times = pd.date_range("2024-02-29", periods=60, freq="D")
    texts = [f"{time}{'+01:00' if time < pd.Timestamp('2024-03-28') else '+02:00'}" for time in times]
    path = table(tmp_path / "t.csv", texts)
    rows = trained(path, tmp_path / "run")
    assert [row["ds"] for row in rows] == [f"{time}+02:00" for time in pd.date_range("2024-04-29", periods=H, freq="D")]
    assert "they are local days, forecasts have the last offset+02:00; data.time_zone names their zone" in ok("data", "show", path).stdout


def test_shorter_steps_stay_in_utc(tmp_path):
    times = pd.date_range("2024-03-29", periods=100, freq="h", tz="Europe/Berlin")
    rows = trained(table(tmp_path / "t.csv", map(str, times)), tmp_path / "run")
    assert [pd.Timestamp(row["ds"]) for row in rows] == list(following(times))
