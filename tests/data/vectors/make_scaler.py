"""Writes scaler.json: what sklearn's StandardScaler finds on small series, constant and nearly constant ones included."""
import json
import pathlib

import numpy as np
from sklearn.preprocessing import StandardScaler

rng = np.random.default_rng(7)
rows = 37
x = np.stack([
    rng.normal(size=rows),
    1e6 + rng.normal(size=rows) * 1e-3,  # a large mean
    np.full(rows, 3.25),                 # constant
    np.full(rows, 0.1),                  # constant, not exact in binary: sklearn calls rounding constant too
    rng.exponential(size=rows) * 1e8,
    rng.integers(0, 2, rows).astype(float),
    -9999.0 * (rng.random(rows) < 0.1) + 20,
], axis=1)
with_missing = x.copy()
with_missing[rng.random(x.shape) < 0.2] = np.nan


def fitted(values, train):
    scaler = StandardScaler().fit(values[:train])
    return {"mean": scaler.mean_.tolist(), "scale": scaler.scale_.tolist(),
            "transformed_last": scaler.transform(values)[-1].tolist()}


def clean(values):
    return [[None if np.isnan(v) else v for v in row] for row in values.tolist()]


train = 29
result = {"train": train, "complete": clean(x), "with_missing": clean(with_missing), "expected": fitted(x, train),
          "expected_with_missing": fitted(with_missing, train)}
result["expected_with_missing"]["transformed_last"] = [
    None if np.isnan(v) else v for v in result["expected_with_missing"]["transformed_last"]]
pathlib.Path(__file__).with_name("scaler.json").write_text(json.dumps(result) + "\n")
