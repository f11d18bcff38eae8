"""Trains a forecaster on a pandas frame and forecasts the next hours with prediction intervals."""

import tempfile

import numpy as np
import pandas as pd

import modewise

hours = pd.date_range("2026-01-01", periods=600, freq="h")
day = np.sin(2 * np.pi * np.arange(600) / 24)
noise = np.random.default_rng(1).normal(size=(600, 2))
frame = pd.DataFrame({"load": 50 + 10 * day + noise[:, 0], "wind": 8 - 2 * day + 0.5 * noise[:, 1]}, index=hours)

with tempfile.TemporaryDirectory() as folder:
    forecaster = modewise.Forecaster("dlinear", horizon=12, lookback=48, run=f"{folder}/run", verbosity=-1)
    forecast = forecaster.fit(frame).predict()
    print(forecast.index[0], "to", forecast.index[-1])
    print(list(forecast.columns[:6]))
    future = 50 + 10 * np.sin(2 * np.pi * np.arange(600, 612) / 24)
    inside = forecast["load_q0.025"].lt(future) & forecast["load_q0.975"].gt(future)
    print(f"the 95 % interval covers the load without noise in {inside.sum()} of 12 hours")
