"""Undoes the scaling of values to float32 without the noise of its rounding."""

from typing import Any

import numpy as np
import numpy.typing as npt

Array = npt.NDArray[Any]

POWERS = np.array([float(f"1e{power}") for power in range(23)])  # exact in float64
DIGITS = 17  # of a float64


def unscaled(scaled: Array, mean: Array, std: Array) -> Array:
    """The numbers x with the fewest decimal digits for which (x − mean) / std rounds to `scaled` in float32, as in the program:
    values of a table come back exactly. scaled · std + mean where no decimal of 17 digits is scaled to it."""
    mean, std = np.broadcast_to(mean, scaled.shape), np.broadcast_to(std, scaled.shape)
    near: Array = scaled * std + mean
    with np.errstate(all="ignore"):
        zero = (-mean / std).astype(np.float32) == scaled
        result = np.where(zero, 0.0, near)
        left = ~zero & np.isfinite(near) & (near != 0)
        above = np.floor(np.log10(np.abs(np.where(left, near, 1)))).astype(np.int64) + 1
        for digits in range(DIGITS + 1):
            if not left.any():
                break
            power = above - digits
            unit = POWERS[np.minimum(np.abs(power), len(POWERS) - 1)]
            x = np.where(power < 0, np.rint(near * unit) / unit, np.rint(near / unit) * unit)
            found = left & (np.abs(power) < len(POWERS)) & (((x - mean) / std).astype(np.float32) == scaled)
            result[found] = x[found]
            left &= ~found
    return result
