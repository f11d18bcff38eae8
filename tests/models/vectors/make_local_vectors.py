"""Writes theta.json, theta_statsforecast.json, smoothing.json and smoothing_fits.json: the Theta method and exponential smoothing as statsmodels and
statsforecast compute them, and plain formulas in NumPy.

Run in this folder, with statsmodels and statsforecast installed: python make_local_vectors.py
"""

import importlib.metadata
import json
import pathlib
import warnings

import numpy as np
from statsforecast._lib import theta as statsforecast_theta
from statsforecast.theta import auto_theta, forecast_theta
from statsmodels.tsa.exponential_smoothing.ets import ETSModel
from statsmodels.tsa.forecasting.theta import ThetaModel
from statsmodels.tsa.seasonal import seasonal_decompose

warnings.filterwarnings("ignore")
WORDS = {"A": "add", "M": "mul", "N": None}


def series(seed, rows, period, kind):
    """Positive series: 0 has an additive season and a trend, 1 a multiplicative season, 2 none."""
    draw = np.random.default_rng(seed)
    t = np.arange(rows)
    season = np.sin(2 * np.pi * t / period) + 0.4 * np.cos(4 * np.pi * t / period)
    level = np.cumsum(draw.normal(size=rows)) * 0.5
    noise = draw.normal(size=rows)
    made = (50 + level + 0.1 * t + 5 * season + noise, (50 + level + 0.3 * t) * (1 + 0.2 * season) * (1 + 0.03 * noise), 100 + 2 * level + noise)
    return np.round(made[kind], 2)


def write(name, content):
    pathlib.Path(name).write_text(json.dumps(content, separators=(",", ":")).replace('},{', '},\n{') + "\n")


# ---- Theta ---------------------------------------------------------------------------------------------------------


def is_seasonal(y, period):
    model = ThetaModel(y, period=period)
    model.fit()
    return bool(model._has_seasonality)


def least_squares(y, alpha, dynamic):
    """Level and weight of the optimised forms for one alpha, by bounded least squares."""
    from scipy.optimize import lsq_linear

    n = len(y)
    t = np.arange(1, n + 1)
    slope, intercept = np.polyfit(t, y, 1)
    rows, right, level, kept = [], [], 0.0, []
    for i in range(n):
        a, b = intercept, slope
        if dynamic:
            a, b = (0, 0) if i == 0 else (y[0], 0) if i == 1 else np.polyfit(t[:i], y[:i], 1)[::-1]
        decay = (1 - alpha) ** i
        rows.append([decay, decay * a + (1 - decay * (1 - alpha)) / alpha * b])
        right.append(y[i] - level)
        kept.append(not dynamic or i > 0)
        level = alpha * y[i] + (1 - alpha) * level
    rows, right = np.array(rows)[kept], np.array(right)[kept]
    found = lsq_linear(rows, right, bounds=([-np.inf, 0], [np.inf, 1]), method="bvls", tol=1e-14)
    return found.x, float(((rows @ found.x - right) ** 2).sum())


def theta_vectors():
    out = []
    for i, (rows, period) in enumerate(((40, 4), (37, 7), (51, 12))):
        y = series(i, rows, period, i % 3)
        one = {"y": y.tolist(), "period": period, "seasonal": is_seasonal(y, period), "standard": {}, "forms": []}
        for method in ("add", "mul"):
            fit = ThetaModel(y, period=period, use_test=False, method=method).fit()
            one["standard"][method] = {"season": seasonal_decompose(y, model=method, period=period).seasonal[:period].tolist(),
                                       "alpha": fit._alpha, "forecast": np.asarray(fit.forecast(period + 3)).tolist()}
        types = statsforecast_theta.ModelType
        for form, alpha in ((types.OTM, 0.1), (types.OTM, 0.6), (types.DOTM, 0.3), (types.DOTM, 0.9)):
            dynamic = form == types.DOTM
            (level, weight), squares = least_squares(y, alpha, dynamic)
            theta = 1 / max(1 - weight, 1e-12)
            _, errors, states, _ = statsforecast_theta.pegels_resid(y, form, level, alpha, theta, 3)
            forecast = np.zeros(9)
            statsforecast_theta.forecast(np.asarray(states), len(y), form, forecast, alpha, theta)
            assert abs((np.asarray(errors)[dynamic:] ** 2).sum() / squares - 1) < 1e-9
            one["forms"].append({"dynamic": dynamic, "alpha": alpha, "level": level, "weight": weight, "squares": squares, "forecast": forecast.tolist()})
        out.append(one)
    write("theta.json", out)


def statsforecast_theta_vectors():
    """24 series as statsforecast forecasts them, with the season and the parameters that it finds."""
    out = {"package": f"statsforecast {importlib.metadata.version('statsforecast')}", "series": []}
    for i in range(24):
        period = (1, 4, 12)[i % 3]
        y = series(100 + i, 30 + 7 * i, max(period, 2), i // 3 % 3) - (60 if i >= 20 else 0)  # the last have values below 0
        one = {"y": y.tolist(), "period": period, "forms": []}
        for form in ("STM", "OTM", "DOTM"):
            fit = auto_theta(y, m=period, model=form)
            one["seasonal"], one["multiplicative"] = bool(fit.get("decompose", False)), fit.get("decomposition_type") == "multiplicative"
            one["forms"].append({"form": form, "alpha": float(fit["par"]["alpha"]), "level": float(fit["par"]["initial_smoothed"]),
                                 "weight": 1 - 1 / float(fit["par"]["theta"]), "forecast": forecast_theta(fit, 15)["mean"].tolist()})
        out["series"].append(one)
    pathlib.Path("theta_statsforecast.json").write_text(json.dumps(out, separators=(",", ":")).replace('},{"y', '},\n{"y') + "\n")


# ---- exponential smoothing -----------------------------------------------------------------------------------------


def model(name, y, period):
    return ETSModel(y, error=WORDS[name[0]], trend=WORDS[name[1]], damped_trend="d" in name, seasonal=WORDS[name[-1]],
                    seasonal_periods=period if name[-1] != "N" else None)


def forms():
    return [e + t + s for e in "AM" for t in ("N", "A", "Ad", "M", "Md") for s in "NAM"]


def first_states(name, y, period):
    """Hyndman et al. 2008, section 2.6.1."""
    season, rest = [], y.copy()
    if name[-1] != "N":
        count = min(len(y), period * max(min(5, len(y) // period), -(-max(2 * period, 10 + period // 2 * 2) // period)))
        season = seasonal_decompose(y[:count], model=WORDS[name[-1]], period=period).seasonal[:period]
        phase = season[np.arange(len(y)) % period]
        rest = y / phase if name[-1] == "M" else y - phase
    slope, level = np.polyfit(np.arange(1, 11), rest[:10], 1)
    trend = {"N": 0, "A": slope, "M": 1 + slope / level}[name[1]]
    return {"level": level, "trend": trend, "season": list(season)}


def smoothing_vectors():
    period, ahead, out = 4, 7, []
    for i, name in enumerate(forms()):
        y = series(20 + i, 29, period, 1)
        smoothing = {"alpha": 0.35, "beta": 0.12 if name[1] != "N" else 0, "gamma": 0.2 if name[-1] != "N" else 0, "phi": 0.9 if "d" in name else 1}
        level, trend = 48.0, {"N": 0, "A": 0.5, "M": 1.01}[name[1]]
        season = {"N": [], "A": [2.0, -1, -2, 1.2], "M": [1.1, 0.9, 0.95, 1.04]}[name[-1]]
        given = [0.35] + ([0.12] if name[1] != "N" else []) + ([0.2] if season else []) + ([0.9] if "d" in name else [])
        # statsmodels names the states of the season from the last row before the first to the m-th before it.
        given += [level] + ([trend] if name[1] != "N" else []) + season[::-1]
        etsmodel = model(name, y, period)
        fit = etsmodel.smooth(np.array(given))
        one = {"form": name, "period": period, "y": y.tolist(), **smoothing, "level": level, "trend": trend, "season": season,
               "likelihood": float(etsmodel.loglike(np.array(given))), "fitted": fit.fittedvalues.tolist(), "last_level": float(fit.level[-1]),
               "last_trend": float(fit.slope[-1]) if name[1] != "N" else 0, "last_season": fit.season[-period:].tolist() if season else [],
               "forecast": fit.forecast(ahead).tolist(), "first": first_states(name, y, period)}
        if "M" not in name:
            one["variance"] = (fit.mse * fit._relative_forecast_variance(np.arange(1, ahead + 1))).tolist()
        out.append(one)
    write("smoothing.json", out)


def smoothing_fits():
    """50 series with the log-likelihood of statsmodels' fit."""
    names = ["ANN", "AAN", "AAdN", "ANA", "AAA", "AAdA", "MNN", "MAN", "MAdN", "MNA", "MAA", "MNM", "MAM", "MAdM", "MAdA"]
    out = []
    for i in range(50):
        period = (4, 7, 12, 24)[i % 4]
        rows = max((60, 90, 130, 200)[i // 4 % 4], 4 * period)
        y = series(i, rows, period, i % 3)
        name = names[i % len(names)]
        out.append({"form": name, "period": period, "y": y.tolist(), "likelihood": float(model(name, y, period).fit(disp=False).llf)})
    write("smoothing_fits.json", out)


if __name__ == "__main__":
    theta_vectors()
    statsforecast_theta_vectors()
    smoothing_vectors()
    smoothing_fits()
