"""Prediction intervals that follow the season: margins, coverage by time of day, and the phase of other files (docs/forecasting.md)."""

import json
import shutil

import numpy as np
import pytest

import modewise
from cli_helpers import fails, hourly, ok
from modewise.errors import DataError

ROWS, LOOKBACK, HORIZON, DAY = 9600, 24, 8, 24
SIZES = ["--set", f"forecast.lookback={LOOKBACK}", "--set", f"forecast.horizon={HORIZON}", "--set", "output.report=false",
         "--set", "data.split_ratios=[0.5,0.25,0.25]", "--threads", "1"]  # fmt: skip
LINEAR = ["--model", "dlinear", "--set", "train.epochs=2"]


def noise(hour):
    return np.where((hour >= 8) & (hour < 20), 1.0, 0.1)


@pytest.fixture(scope="module")
def table(tmp_path_factory):
    """Two series of noise: a is ten times louder by day, b is as loud at night."""
    rng = np.random.default_rng(5)
    values = rng.normal(size=(ROWS, 2)) * np.stack([noise(np.arange(ROWS) % DAY), np.full(ROWS, 0.7)], 1)
    path = tmp_path_factory.mktemp("day") / "day.csv"
    lines = [f"{date},{a:.5f},{b:.5f}" for date, (a, b) in zip(hourly(ROWS), values, strict=True)]
    path.write_text("\n".join(["date,a,b", *lines]) + "\n")
    return path


def trained(table, out, *more):
    ok("train", "forecast", "--data", table, "--out", out, *SIZES, *more)
    return json.loads((out / "metrics.json").read_text())


@pytest.fixture(scope="module")
def run(table, tmp_path_factory):
    out = tmp_path_factory.mktemp("day-run") / "run"
    trained(table, out, *LINEAR, "--set", "output.predictions=100000")
    return out


def head(table, path, first, last):
    lines = table.read_text().splitlines()
    path.write_text("\n".join([lines[0], *lines[1 + first : 1 + last]]) + "\n")
    return path


def spread_of(errors, rows, season):
    """errors [n, H] of windows whose targets are rows [n, H] -> the spread by phase, as docs/forecasting.md defines it, without
    neighbours."""
    v = np.sqrt(np.abs(errors))
    v = v / v.mean(0)
    seen = np.unique(rows)
    q = np.array([v[rows == row].mean() for row in seen])
    phases = [q[seen % season == phase] for phase in range(season)]
    spread = np.array([(one.sum() + 4 * q.mean()) / (len(one) + 4) for one in phases]) ** 2
    spread = np.maximum(spread / spread.mean(), 0.02)
    return spread / spread.mean()


def test_margins_are_those_of_numpy(table, tmp_path):
    metrics = trained(table, tmp_path / "run", "--model", "repeat", "--set", "calibration.season=24", "--set", "calibration.scale=none",
                      "--set", "calibration.sides=shared")  # fmt: skip
    raw = np.loadtxt(table, delimiter=",", skiprows=1, usecols=(1, 2))
    train, last = ROWS // 2, ROWS // 2 + ROWS // 4
    values = (raw - raw[:train].mean(0)) / raw[:train].std(0)
    rows = np.arange(train, last - HORIZON + 1)[:, None] + np.arange(HORIZON)
    with np.load(tmp_path / "run" / "calibration.npz") as file:
        lower, upper, spread = file["lower"], file["upper"], file["spread"]
    assert spread.shape == (2, DAY)
    for s in range(2):
        errors = values[rows, s] - values[rows[:, :1] - 1, s]
        wanted = spread_of(errors, rows, DAY)
        assert spread[s] == pytest.approx(wanted, rel=2e-5)
        scores = np.sort(np.abs(errors) / wanted[rows % DAY], axis=0)
        for i, nominal in enumerate((0.8, 0.95)):
            rank = int(np.ceil((len(rows) + 1) * nominal - 1e-9))
            assert upper[i, s] == pytest.approx(scores[rank - 1], rel=1e-4)
    assert (lower == upper).all()
    assert metrics["calibration"]["season"]["rows"] == DAY and metrics["calibration"]["season"]["used"]


def test_coverage_by_day_and_by_night(table, run, tmp_path):
    with np.load(run / "predictions.npz") as file:
        truth, quantiles, times = file["truth"], file["quantiles"], file["times"][:, LOOKBACK:]
    hours = times // 3600 % 24
    day = (hours >= 8) & (hours < 20)
    for part in (day, ~day):
        for s in range(2):
            for nominal, low, high in ((0.8, 1, 3), (0.95, 0, 4)):
                inside = (quantiles[:, s, :, low] <= truth[:, s]) & (truth[:, s] <= quantiles[:, s, :, high])
                assert inside[part].mean() == pytest.approx(nominal, abs=0.04), (s, nominal)
    metrics = json.loads((run / "metrics.json").read_text())
    season = metrics["calibration"]["season"]
    assert season["used"] and season["pinball"] < season["pinball_without"]
    plain = trained(table, tmp_path / "plain", *LINEAR, "--set", "calibration.season=1")
    assert "season" not in plain["calibration"]
    assert metrics["test"]["quantiles"]["mean_pinball"] < 0.95 * plain["test"]["quantiles"]["mean_pinball"]


def width(run, data):
    result = json.loads(ok("predict", run, "--data", data, "--json", "-q").stdout)
    return result, np.array([np.subtract(one["quantiles"]["0.9"], one["quantiles"]["0.1"]) for one in result["series"]])


def test_other_files_have_the_phase_of_their_dates(table, run, tmp_path):
    whole, wide = width(run, head(table, tmp_path / "whole.csv", 0, 9007))
    assert wide[0].max() > 5 * wide[0].min()  # row 9007 is 7 o'clock: night, then day
    assert wide[0, 0] == wide[0].min()
    later, _ = width(run, head(table, tmp_path / "later.csv", 8901, 9007))
    assert later["series"] == whole["series"]
    # A run whose training began later: the file begins before it.
    young = tmp_path / "young"
    trained(head(table, tmp_path / "young.csv", 1005, ROWS), young, *LINEAR)
    before, _ = width(young, head(table, tmp_path / "before.csv", 0, 9007))
    after, _ = width(young, head(table, tmp_path / "after.csv", 8000, 9007))
    assert before["series"] == after["series"]
    loaded, values = modewise.load(run), np.loadtxt(table, delimiter=",", skiprows=1, usecols=(1, 2))
    for forecast in (loaded.predict(values[:9007], first_row=0), loaded.predict(values[8901:9007], first_row=8901)):
        for s, one in enumerate(whole["series"]):
            for level, name in enumerate(("0.025", "0.1", "0.5", "0.9", "0.975")):
                assert forecast.quantiles[s, :, level] == pytest.approx(np.array(one["quantiles"][name]), rel=1e-4, abs=1e-5)
    with pytest.raises(modewise.errors.UsageError, match=rf"run: its model has intervals that follow a season of {DAY} rows, so 106 rows need first_row, "):
        loaded.predict(values[8901:9007])
    backtest = json.loads(ok("backtest", run, "--json").stdout)
    assert [one["coverage"] for one in backtest["intervals"]] == pytest.approx([0.8, 0.95], abs=0.04)


def test_quantile_models_follow_the_season_too(table, tmp_path):
    metrics = trained(table, tmp_path / "run", *LINEAR, "--set", "forecast.loss=quantile", "--set", "train.max_steps=40", "--set",
                      "output.predictions=0")  # fmt: skip
    season = metrics["calibration"]["season"]
    assert season["used"] and season["pinball"] < season["pinball_without"]
    values = np.loadtxt(table, delimiter=",", skiprows=1, usecols=(1, 2))
    forecast = modewise.load(tmp_path / "run").predict(values)
    predicted = json.loads(ok("predict", tmp_path / "run", "--json", "-q").stdout)["series"]
    for s, one in enumerate(predicted):
        assert forecast.quantiles[s].T == pytest.approx(np.array(list(one["quantiles"].values())), rel=1e-4, abs=1e-5)


def test_tables_without_a_season_are_as_before(table, run, tmp_path):
    few = head(table, tmp_path / "few.csv", 0, 240)  # 60 validation rows: fewer than three days
    metrics = trained(few, tmp_path / "few", "--model", "repeat")
    assert "season" not in metrics["calibration"]
    plain = trained(few, tmp_path / "plain", "--model", "repeat", "--set", "calibration.season=1")
    assert (tmp_path / "few" / "calibration.npz").read_bytes() == (tmp_path / "plain" / "calibration.npz").read_bytes()
    assert metrics["test"] == plain["test"]
    result = ok("train", "forecast", "--data", few, "--out", tmp_path / "named", *SIZES, "--model", "repeat", "--set", "calibration.season=24")
    assert "calibration.season = 24: the validation targets are fewer than three seasons" in result.stderr
    with np.load(tmp_path / "few" / "calibration.npz") as file:
        assert sorted(file.files) == ["about", "lower", "nominal", "upper"]


@pytest.mark.parametrize("bad", [np.ones((1, 24)), np.ones(24), np.full((2, 24), np.nan)])
def test_a_corrupt_spread_is_an_error(run, tmp_path, bad):
    copy = tmp_path / "copy"
    shutil.copytree(run, copy)
    with np.load(copy / "calibration.npz") as file:
        arrays = {name: file[name] for name in file.files}
    np.savez(copy / "calibration.npz", **{**arrays, "spread": bad.astype(np.float32)})
    fails(65, "calibration.npz", "spread", arguments=["predict", copy])
    with pytest.raises(DataError, match=r"calibration\.npz: spread"):
        modewise.load(copy)


def test_panels_refuse_a_season(tmp_path):
    lines = [f"{i},2020-01-{day:02d},{day + i}" for i in range(3) for day in range(1, 29)]
    (tmp_path / "panel.csv").write_text("\n".join(["unique_id,ds,y", *lines]) + "\n")
    fails(78, "calibration.season = 7", "panels", arguments=["train", "forecast", "--data", tmp_path / "panel.csv", "--out", tmp_path / "run",
                                                             "--set", "data.panel=yes", "--set", "calibration.season=7"])  # fmt: skip


def test_pinball_selects_what_numpy_selects(tmp_path):
    """Both sides or one margin, without scaling: the loss of each, from margins of each half checked on the other."""
    rng = np.random.default_rng(2)
    errors = rng.exponential(size=ROWS)  # skewed: the sides differ
    path = tmp_path / "skewed.csv"
    path.write_text("\n".join(["date,x", *(f"{date},{x:.5f}" for date, x in zip(hourly(ROWS), errors, strict=True))]) + "\n")
    metrics = trained(path, tmp_path / "run", "--model", "repeat", "--set", "calibration.season=1", "--set", "calibration.scale=none",
                      "--set", "calibration.select=pinball")  # fmt: skip
    train, last = ROWS // 2, ROWS // 2 + ROWS // 4
    values = (errors.round(5) - errors[:train].mean()) / errors[:train].std()
    rows = np.arange(train, last - HORIZON + 1)[:, None] + np.arange(HORIZON)
    gaps = values[rows] - values[rows[:, :1] - 1]  # [n, H]
    half, seam = len(rows) // 2, HORIZON
    parts = [slice(0, half - seam // 2), slice(half + (seam + 1) // 2, len(rows))]

    def margin(scores, share):
        return np.sort(scores, axis=0)[int(np.ceil((len(scores) + 1) * share - 1e-9)) - 1]

    def loss(shared):
        total = []
        for made, checked in (parts, parts[::-1]):
            for nominal in (0.8, 0.95):
                tail = (1 - nominal) / 2
                sides = [margin(np.abs(gaps[made]), nominal)] * 2 if shared else [margin(-gaps[made], 1 - tail), margin(gaps[made], 1 - tail)]
                for sign, width in zip((-1, 1), sides, strict=True):
                    outside = sign * gaps[checked] - width
                    total.append(np.maximum((1 - tail) * outside, -tail * outside).ravel())
        return np.concatenate(total).mean()

    trials = {trial["shared_sides"]: trial["pinball"] for trial in metrics["calibration"]["trials"]}
    assert trials == {shared: pytest.approx(loss(shared), rel=1e-4) for shared in (True, False)}
    assert metrics["calibration"]["shared_sides"] == (trials[True] <= trials[False])
    assert "pinball" not in trained(path, tmp_path / "coverage", "--model", "repeat", "--set", "calibration.season=1")["calibration"]["trials"][0]
