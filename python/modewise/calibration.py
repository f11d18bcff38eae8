"""Calibrated quantiles of forecasts, from a run's calibration.npz (split conformal prediction: Lei et al. 2018; for
quantile models Romano, Patterson, Candès 2019; docs/forecasting.md)."""

import json
import math
import pathlib
from typing import Any

import numpy as np
import numpy.typing as npt

from modewise.errors import DataError

STD_FLOOR = 0.03
ONE = np.float32(1)

Array = npt.NDArray[Any]


def in_order(x: Array) -> Array:
    """Sums along the last axis from left to right, as the program does."""
    return np.cumsum(x, axis=-1)[..., -1]


def window_std(past: Array, observed: Array | None) -> Array:
    """Standard deviation of windows: √(variance of the observed values [..., L] + floor²), float32 [...]; positive for a
    constant window."""
    seen = np.ones(past.shape) if observed is None else observed.astype(np.float64)
    count = np.maximum(in_order(seen), 1)
    mean = in_order(past.astype(np.float64) * seen) / count
    squares = in_order((past - mean[..., None]) ** 2 * seen)
    return np.sqrt(squares / count + STD_FLOOR * STD_FLOOR).astype(np.float32)


class Calibration:
    """Margins below and above [I, S, H] of I intervals, proportional to a power of the window's standard deviation and, if they
    follow a season, to the spread [S, season] at the phase of the target."""

    def __init__(self, path: pathlib.Path) -> None:
        with np.load(path) as arrays:
            self.nominal, self.lower, self.upper = arrays["nominal"], arrays["lower"], arrays["upper"]
            self.exponent: float = json.loads(arrays["about"].tobytes())["exponent"]
            self.spread: Array | None = arrays["spread"] if "spread" in arrays else None
        if self.spread is not None:
            if self.spread.ndim != 2 or len(self.spread) != self.lower.shape[1] or self.spread.shape[1] < 2:
                raise DataError(f"{path}: spread must be [{self.lower.shape[1]} series, rows of a season]")
            if not (np.isfinite(self.spread) & (self.spread > 0)).all():
                raise DataError(f"{path}: spread must be positive")

    def levels(self) -> list[float]:
        """Quantile levels, ascending: (1 − c) / 2 of each interval of coverage c, 0.5, 1 − (1 − c) / 2."""
        halves = [(1 - coverage) / 2 for coverage in self.nominal.tolist()]
        return [round(level, 9) for level in [*reversed(halves), 0.5, *(1 - half for half in halves)]]

    def quantiles(self, forecast: Array, raw: Array | None, std: Array, first_target: int = 0, widening: np.float32 = ONE) -> Array:
        """forecast [B, S, H], or a quantile model's raw [B, S, H, 2I+1], and std [B, S] of the windows, all scaled
        float32 -> [B, S, H, 2I+1] of `levels`, without crossings. first_target: row of the first step, counted from the first
        row of the training data, for margins that follow a season. widening: a factor of the margins."""
        intervals = len(self.nominal)
        powers = [math.pow(value, self.exponent) for value in std.ravel().tolist()]
        scale = np.array(powers).astype(np.float32).reshape(*std.shape, 1)
        spread: Array | np.float32 = ONE
        if self.spread is not None:
            spread = self.spread[:, (first_target + np.arange(self.lower.shape[2])) % self.spread.shape[1]]
            scale = scale * spread
        scale = scale * widening
        centre = forecast if raw is None else raw[..., intervals]
        columns = [centre]
        low = high = centre
        for i in range(intervals):
            start = centre if raw is None else raw[..., intervals - 1 - i]
            end = centre if raw is None else raw[..., intervals + 1 + i]
            inward = (1 - spread) * (np.float32(0.5) * (end - start))
            low = np.minimum(low, start + inward - self.lower[i] * scale)
            high = np.maximum(high, end - inward + self.upper[i] * scale)
            columns = [low, *columns, high]
        return np.stack(columns, axis=-1)
