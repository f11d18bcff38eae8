"""Base classes of the forecasters: sizes, checks of the inputs, normalization of the window; the contract is in `forecast`."""

import dataclasses
import math
from typing import Any

import torch
from torch import Tensor

from modewise._aliases import old_fields, old_keywords
from modewise.nn.basic import TensorModule
from modewise.nn.future_covariate_effect import FutureCovariateEffect
from modewise.nn.time_head import split_quantiles
from modewise.nn.window import WindowNormalization


@old_fields({"known": "future_covariates", "known_modes": "future_covariate_modes"})
@dataclasses.dataclass
class ForecastShape:
    """Sizes of a forecaster: series modes N_1 … N_j, whether each has an order, L, H, Q (0: a point forecast), whether windows
    have masks, and K future covariates per step, which differ along the first `future_covariate_modes` of the series modes."""

    series: list[int]
    ordered: list[bool]
    lookback: int
    horizon: int
    quantiles: int = 0
    missing: bool = False
    future_covariates: int = 0
    future_covariate_modes: int = 0

    def outputs(self) -> int:
        """H, or H · Q with the quantiles of a step adjacent."""
        return self.horizon * max(1, self.quantiles)

    def count(self) -> int:
        """N_1 · … · N_j."""
        return math.prod(self.series)


class Forecaster(TensorModule):
    """Base of the forecasters: `shape` and the checks of the inputs."""

    def __init__(self, shape: ForecastShape) -> None:
        super().__init__()
        self.shape = shape

    def checked_past(self, past: Tensor, observed: Tensor | None) -> Tensor:
        """`past` with 0 for missing values; ValueError for other shapes than the model's."""
        wanted = [*self.shape.series, self.shape.lookback]
        for name, tensor in (("past", past), ("observed", observed)):
            if tensor is not None and (list(tensor.shape[1:]) != wanted or tensor.shape[0] != past.shape[0]):
                sizes = ", ".join(map(str, [past.shape[0], *wanted]))
                raise ValueError(f"forecaster: {name} must be [{sizes}], got {list(tensor.shape)}")
        if not past.is_floating_point():
            raise ValueError(f"forecaster: past must be a floating-point tensor, got {past.dtype}")
        if observed is None:
            return past
        if observed.dtype != torch.bool:
            raise ValueError(f"forecaster: observed must be bool, got {observed.dtype}")
        if not self.shape.missing:
            raise ValueError("forecaster: observed was given, but the model was built for data without missing values")
        return torch.where(observed, past, torch.zeros((), dtype=past.dtype, device=past.device))

    def checked_covariates(self, past: Tensor, covariates: Tensor | None) -> Tensor:
        """The future covariates in the type of `past`; ValueError for another shape than the model's."""
        shape = self.shape
        wanted = [past.shape[0], *shape.series[: shape.future_covariate_modes], shape.future_covariates, shape.lookback + shape.horizon]
        if covariates is None or list(covariates.shape) != wanted:
            raise ValueError(f"forecaster: future_covariates must be {wanted}, got {None if covariates is None else list(covariates.shape)}")
        return covariates.to(past.dtype)


class LearnedForecaster(Forecaster):
    """Base of the trained forecasters: normalizes the window, maps it to raw outputs, and rescales those to a forecast."""

    known: FutureCovariateEffect | None

    def __init__(self, shape: ForecastShape, **window: Any) -> None:
        super().__init__(shape)
        self.known = None
        self.window = WindowNormalization(shape.series, **window)

    def add_covariate_effect(self, hidden: int) -> None:
        """Adds an effect of the future covariates, which is subtracted from the past and added to the forecast."""
        shape = self.shape
        if shape.future_covariates > 0:
            self.known = FutureCovariateEffect(shape.series, shape.future_covariate_modes, shape.future_covariates, hidden)

    def raw_forecast(self, values: Tensor, observed: Tensor | None, covariates: Tensor | None) -> Tensor:
        """values [B, N_1 … N_j, L] normalized -> [B, N_1 … N_j, H · max(1, Q)]."""
        raise NotImplementedError

    @old_keywords({"known": "future_covariates"})
    def forward(
        self, past: Tensor, observed: Tensor | None = None, first_step: Tensor | None = None, future_covariates: Tensor | None = None
    ) -> Tensor:
        values = self.checked_past(past, observed)
        effect = None
        if self.shape.future_covariates > 0:
            future_covariates = self.checked_covariates(past, future_covariates)
            effect = None if self.known is None else self.known(future_covariates)
        if effect is not None:
            values = values - effect[..., : self.shape.lookback]
            values = values if observed is None else torch.where(observed, values, torch.zeros((), dtype=values.dtype, device=values.device))
        window = self.window.normalize(values, observed, first_step)
        raw = self.raw_forecast(window.values, observed, future_covariates).to(past.dtype)

        def in_scale(forecast: Tensor) -> Tensor:
            out = self.window.denormalize(forecast, window)
            return out if effect is None else out + effect[..., self.shape.lookback :]

        if self.shape.quantiles == 0:
            return in_scale(raw)
        middle, differences = split_quantiles(raw.view(*raw.shape[:-1], self.shape.horizon, self.shape.quantiles))
        return in_scale(middle).unsqueeze(-1) + self.window.denormalize_differences(differences, window)
