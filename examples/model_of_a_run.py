"""Trains a run, loads its model as a torch module, and compares its forecast with the program's."""

import tempfile

import numpy as np

import modewise

t = np.arange(500)
rows = np.stack([np.sin(2 * np.pi * t / 24), np.cos(2 * np.pi * t / 12)], axis=1)

with tempfile.TemporaryDirectory() as folder:
    np.save(f"{folder}/rows.npy", rows)
    settings = {"data.path": f"{folder}/rows.npy", "forecast.lookback": 24, "forecast.horizon": 6, "train.max_steps": 20}
    modewise.tasks.train("forecasting", settings, out=f"{folder}/run", verbosity=-1)
    loaded = modewise.load(f"{folder}/run")
    predicted = modewise.tasks.predict(f"{folder}/run")  # the output of `modewise predict RUN --json`
    print(type(loaded.module).__name__, sum(p.numel() for p in loaded.module.parameters()), "parameters")
    print(list(loaded.module.state_dict())[:3])
    forecast = loaded.predict(rows)
    print(forecast.values.shape, forecast.levels)
    print("bit-identical to the program:", np.array_equal(forecast.values, [series["forecast"] for series in predicted["series"]]))
