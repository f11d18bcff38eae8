"""Writes ridge.json and minirocket.json: ridge regression of windows and MiniRocket with its classifier, as scikit-learn and aeon
have them.

Run in this folder, with scikit-learn and aeon installed: python make_ridge_vectors.py
"""

import json
import pathlib

import numpy as np
from aeon.transformations.collection.convolution_based import _minirocket as rocket
from sklearn.linear_model import Ridge, RidgeClassifierCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler


def short(x, digits=9):
    return [float(f"{v:.{digits}g}") for v in np.asarray(x, float).ravel()]


def write(name, content):
    pathlib.Path(name).write_text(json.dumps(content, separators=(",", ":")) + "\n")


def windows(rows, starts, lookback, horizon, centre):
    z = np.array([rows[s : s + lookback + horizon] for s in starts], float)
    if centre == "last":
        z = z - z[:, lookback - 1 : lookback]
    if centre == "mean":
        z = z - z[:, :lookback].mean(1, keepdims=True)
    return z[:, :lookback], z[:, lookback:]


def ridge_vectors():
    draw = np.random.default_rng(7)
    lookback, horizon, penalties = 5, 3, [10.0 ** (k / 2) for k in range(-12, 5)]
    rows = (np.cumsum(draw.normal(size=(2, 60)), 1) / 3 + np.sin(np.arange(60) / 2)).astype(np.float32)
    training, validation = [0, 1, 2, 3, 4, 5, 9, 10, 11, 12, 13, 17, 20, 21, 22, 23, 24, 25], list(range(33, 50))
    out = {"rows": short(rows), "lookback": lookback, "horizon": horizon, "training": training, "validation": validation, "cases": []}
    for centre in ("none", "last", "mean"):
        for individual in (False, True):
            maps = []
            for group in ([0], [1]) if individual else ([0, 1],):
                parts = [[windows(rows[s], starts, lookback, horizon, centre) for s in group] for starts in (training, validation)]
                (x, y), (vx, vy) = [[np.concatenate([p[i] for p in part]) for i in (0, 1)] for part in parts]
                unit = (x**2).sum() / lookback
                fits = [Ridge(alpha=p * unit).fit(x, y) for p in penalties]
                errors = [((fit.predict(vx) - vy) ** 2).sum(0) for fit in fits]
                best = int(np.argmin([e.sum() for e in errors]))
                given = Ridge(alpha=0.7).fit(x, y)
                maps.append({"weight": short(given.coef_, 12), "bias": short(given.intercept_, 12), "penalty": penalties[best],
                             "best_weight": short(fits[best].coef_, 12), "best_bias": short(fits[best].intercept_, 12), "squared": short(errors[best], 12)})
            out["cases"].append({"centre": centre, "individual": individual, "maps": maps})
    write("ridge.json", out)


def rocket_vectors():
    out = {"dilations": [], "features": [], "classifier": []}
    # Lengths at which NumPy's power, which may be slightly below an integer, does not matter.
    for steps, features in ((9, 84), (17, 500), (31, 10000), (33, 2000), (65, 10000), (150, 10000), (1000, 10000), (17985, 10000)):
        dilations, counts = rocket._fit_dilations(steps, features, 32)
        out["dilations"].append({"steps": steps, "features": features, "dilations": dilations.tolist(), "counts": counts.tolist()})
    out["quantiles"] = short(rocket._quantiles(40), 9)
    for variables, steps, features in ((1, 33, 252), (3, 17, 168), (12, 31, 84)):
        x = np.random.default_rng(variables).normal(size=(2, variables, steps)).round(3).astype(np.float32)
        transform = rocket.MiniRocket(n_kernels=features, random_state=3)
        made = np.asarray(transform.fit_transform(x))
        channels, indices, _, _, biases = transform.parameters
        out["features"].append({"variables": variables, "steps": steps, "features": features, "values": short(x, 4), "channels": channels.tolist(),
                                "indices": indices.tolist(), "biases": short(biases), "made": short(made, 8)})
    # A bias of each kind from a convolution computed here.
    x = np.random.default_rng(5).normal(size=21).round(3)
    weights = -np.ones(9)
    weights[[1, 4, 6]] = 2
    padded = np.pad(x, 8)
    convolution = np.array([sum(weights[i] * padded[8 + t + (i - 4) * 2] for i in range(9)) for t in range(21)])
    kernel = [list(k) for k in rocket.MiniRocket._indices].index([1, 4, 6])
    out["convolution"] = {"values": short(x), "dilation": 2, "kernel": kernel, "made": short(convolution),
                          "biases": short(np.quantile(convolution, rocket._quantiles(6).astype(float)))}
    for cases, features, classes in ((17, 5, 3), (7, 31, 2)):
        draw = np.random.default_rng(classes)
        x = draw.normal(size=(cases, features)).round(2)
        x[:, 1] = 3
        y = np.arange(cases) % classes
        fit = make_pipeline(StandardScaler(with_mean=False), RidgeClassifierCV(alphas=np.logspace(-3, 3, 10), store_cv_results=True)).fit(x, y)
        left = []
        for i in range(cases):
            keep = np.arange(cases) != i
            # The scaling is that of all samples, as in the search for the penalty.
            scaled = x / fit[0].scale_
            target = 2.0 * (y[:, None] == np.arange(classes)) - 1 if classes > 2 else (2.0 * y - 1)[:, None]
            left.append(Ridge(alpha=fit[1].alpha_).fit(scaled[keep], target[keep]).predict(scaled[i : i + 1]).ravel())
        out["classifier"].append({"cases": cases, "classes": classes, "x": short(x), "y": y.tolist(), "alpha": float(fit[1].alpha_),
                                  "decisions": short(fit.decision_function(x), 12), "left_out": short(left, 12)})
    write("minirocket.json", out)


if __name__ == "__main__":
    ridge_vectors()
    rocket_vectors()
