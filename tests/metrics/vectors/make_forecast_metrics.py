"""Frozen results for forecast_metrics_test.cpp, by NumPy formulas. Run: python make_forecast_metrics.py"""
import json
import pathlib

import numpy as np

rng = np.random.default_rng(7)
B, S, H = 5, 3, 4
levels = [0.025, 0.1, 0.5, 0.9, 0.975]
mean, std = np.array([2.0, -1.0, 100.0]), np.array([0.5, 3.0, 10.0])
f32 = lambda a: a.astype(np.float32).astype(np.float64)
truth = f32(rng.normal(size=(B, S, H)))
forecast = f32(truth + rng.normal(size=truth.shape) * 0.7)
steps = np.array([-1.6, -0.9, 0.0, 0.9, 1.6])
quantiles = f32(forecast[..., None] + steps * 0.7)
observed = rng.random(truth.shape) > 0.25
observed[:, 1, 2] = False  # a cell that is never observed


def smape(y, f):
    return 200 * np.abs(y - f) / (np.abs(y) + np.abs(f))


def point(mask, scale):
    shape = (1, S, 1)
    y, f = (truth, forecast) if scale == "scaled" else (
        truth * std.reshape(shape) + mean.reshape(shape), forecast * std.reshape(shape) + mean.reshape(shape))
    e, s = (f - y)[mask], smape(y, f)[mask]
    return dict(mse=np.mean(e**2), mae=np.mean(np.abs(e)), rmse=np.sqrt(np.mean(e**2)), smape=np.mean(s), count=int(mask.sum()))


def only(series=None, step=None, first=None):
    mask = observed.copy()
    if series is not None:
        mask[:, [i for i in range(S) if i != series]] = False
    if step is not None:
        mask[:, :, [i for i in range(H) if i != step]] = False
    if first is not None:
        mask[:, :, first:] = False
    return mask


gap = truth[..., None] - quantiles
pinball = np.maximum(np.array(levels) * gap, (np.array(levels) - 1) * gap)
pinball_mean = [pinball[..., i][observed].mean() for i in range(len(levels))]
edges = np.concatenate([[0], (np.array(levels)[1:] + np.array(levels)[:-1]) / 2, [1]])
crps = float(sum(w * 2 * p for w, p in zip(np.diff(edges), pinball_mean)))
inside = lambda a, b: float(((quantiles[..., a] <= truth) & (truth <= quantiles[..., b]))[observed].mean())
width = lambda a, b: float((quantiles[..., b] - quantiles[..., a])[observed].mean())

out = dict(
    series=S, horizon=H, levels=levels, mean=mean.tolist(), std=std.tolist(),
    truth=truth.ravel().tolist(), forecast=forecast.ravel().tolist(), quantiles=quantiles.ravel().tolist(),
    observed=observed.ravel().astype(int).tolist(),
    expected=dict(
        total=point(observed, "scaled"), units=point(observed, "units"), first_two=point(only(first=2), "scaled"),
        series_2=point(only(series=2), "units"), step_3=point(only(step=3), "scaled"),
        pinball=pinball_mean, crps=crps,
        coverage=[inside(1, 3), inside(0, 4)], width=[width(1, 3), width(0, 4)],
    ),
)
path = pathlib.Path(__file__).with_name("forecast_metrics.json")
path.write_text(json.dumps(out) + "\n")
