"""The program's forecasters as modules: from a scaled window of past values to the next steps.

past [B, N_1 … N_j, L], observed bool of the same shape or None, first_step [B] int64 (the row of past[…, 0], for models with a
cycle), future_covariates [B, N_1 … N_i, K, L + H] (for models that take them) -> [B, N_1 … N_j, H], or [B, N_1 … N_j, H, Q] with
quantiles ascending. State names are those of the program's files. torch's generator initializes the weights of a new model.
"""

import math
from typing import Any

import torch
from torch import Tensor, nn

from modewise import ops
from modewise._aliases import old_keywords
from modewise.models.base_forecaster import Forecaster as Forecaster
from modewise.models.base_forecaster import ForecastShape as ForecastShape
from modewise.models.base_forecaster import LearnedForecaster
from modewise.nn.attention import TokenAttention
from modewise.nn.basic import BatchNorm, Dropout, LayerNorm, Linear, SeriesLinear, TensorModule, number_dropouts
from modewise.nn.encoder import EncoderOptions, TokenEncoder, encoded
from modewise.nn.feed_forward import GELUNetwork
from modewise.nn.patches import PatchEmbedding, patch_count
from modewise.nn.residual_block import ResidualBlock
from modewise.nn.time_head import TimeHead
from modewise.nn.window import last_observed


class TokenForecaster(LearnedForecaster):
    """The models hot (Kronecker attention), transformer, spatial and temporal: time patches as tokens, a token encoder, a head.
    Names: emb, identity, positions, blocks.N.…, head, skip."""

    skip: SeriesLinear | None

    @old_keywords({"known_width": "covariate_width"})
    def __init__(
        self,
        shape: ForecastShape,
        encoder: EncoderOptions,
        *,
        length: int,
        stride: int,
        embedding: str = "linear",
        patch_dropout: float = 0.0,
        head: str = "flatten",
        head_dropout: float = 0.0,
        head_norm: bool = True,
        zero_start: bool = False,
        skip: str = "none",
        covariate_width: int = 0,
        bfloat16: bool = False,
        **window: Any,
    ) -> None:
        super().__init__(shape, **window)
        self.narrow = bfloat16
        sizes = [*shape.series, patch_count(shape.lookback, length, stride)]
        ordered = [mode for mode, has in enumerate(shape.ordered) if has] + [len(shape.series)]
        self.emb = PatchEmbedding(length, stride, encoder.width, embedding, shape.missing)
        parts = TokenEncoder(encoder, sizes, ordered, patch_dropout)
        self.identity, self.positions = parts.identity, parts.positions
        self.embedding_dropout, self.blocks = parts.embedding_dropout, parts.blocks
        self.head = TimeHead(head, sizes[-1], encoder.width, encoder.heads, shape.outputs(), head_dropout, head_norm)
        self.skip = None
        if skip != "none":
            self.skip = SeriesLinear(shape.count() if skip == "individual" else 0, shape.lookback, shape.outputs())
        skips = [self.skip] if self.skip is not None else []
        for branch in [*skips, *([self.head.get_submodule("2")] if zero_start else [])]:
            for parameter in branch.parameters():
                nn.init.zeros_(parameter)
        self.add_covariate_effect(covariate_width)
        number_dropouts(self)

    def raw_forecast(self, values: Tensor, observed: Tensor | None, covariates: Tensor | None) -> Tensor:
        x, mask = self.emb(values, observed, torch.bfloat16 if self.narrow else values.dtype)
        x = encoded(x, mask, self.identity, self.positions, self.embedding_dropout, self.blocks)
        out = self.head(x, mask)
        return out if self.skip is None else out.to(values.dtype) + self.skip(values)


class PatchTSTLayer(nn.Module):
    """A layer of PatchTST: residual attention scores, batch normalization after each branch."""

    def __init__(self, width: int, hidden: int, heads: int, dropout: float, attention_dropout: float) -> None:
        super().__init__()
        self.heads = heads
        self.W_Q, self.W_K, self.W_V, self.to_out = (Linear(width, width) for _ in range(4))
        self.weight_dropout = Dropout(attention_dropout)
        self.projection_dropout, self.dropout_attn, self.dropout_ffn = (Dropout(dropout) for _ in range(3))
        self.norm_attn, self.norm_ffn = BatchNorm(width), BatchNorm(width)
        self.ff = GELUNetwork(width, hidden, dropout)

    def forward(self, x: Tensor, scores: Tensor | None) -> tuple[Tensor, Tensor]:
        """x [R, P, D] and the scores [R, H, P, P] of the layer before -> the same of this layer."""
        q, k, v = (part(x).unflatten(-1, (self.heads, -1)).transpose(1, 2) for part in (self.W_Q, self.W_K, self.W_V))
        own = ops.matmul(q, k.transpose(-2, -1)) / math.sqrt(q.shape[-1])
        scores = own if scores is None else scores + own
        weights = self.weight_dropout(torch.softmax(scores, -1))
        mixed = ops.matmul(weights, v).transpose(1, 2).reshape(x.shape)
        attended = self.projection_dropout(self.to_out(mixed))
        middle = self.norm_attn(self.dropout_attn.add_to(x, attended))
        return self.norm_ffn(self.dropout_ffn.add_to(middle, self.ff(middle))), scores


class PatchTST(LearnedForecaster):
    """PatchTST (Nie et al., ICLR 2023), as in the authors' supervised code: each series on its own."""

    @old_keywords({"blocks": "layers"})
    def __init__(
        self,
        shape: ForecastShape,
        *,
        width: int,
        hidden: int,
        heads: int,
        layers: int,
        length: int,
        stride: int,
        dropout: float,
        attention_dropout: float,
        head_dropout: float,
        bfloat16: bool = False,
        **window: Any,
    ) -> None:
        super().__init__(shape, **window)
        self.length, self.stride, self.narrow = length, stride, bfloat16
        patches = (shape.lookback - length) // stride + 2
        self.W_P = Linear(length, width)
        self.W_pos = nn.Parameter(torch.empty(patches, width).uniform_(-0.02, 0.02))
        self.dropout = Dropout(dropout)
        self.layers = nn.ModuleList(PatchTSTLayer(width, hidden, heads, dropout, attention_dropout) for _ in range(layers))
        self.head = Linear(patches * width, shape.outputs())
        self.head_dropout = Dropout(head_dropout)
        number_dropouts(self)

    def raw_forecast(self, values: Tensor, observed: Tensor | None, covariates: Tensor | None) -> Tensor:
        x = values.flatten(0, -2)  # [R, L]
        x = torch.cat([x, x[:, -1:].expand(x.shape[0], self.stride)], -1)
        x = x.unfold(-1, self.length, self.stride).to(torch.bfloat16 if self.narrow else values.dtype)
        x = self.W_P(x)
        x = self.dropout(x + self.W_pos.to(x.dtype))
        scores = None
        for layer in self.layers:
            x, scores = layer(x, scores)
        # Channels before patches, the layout of the authors' head weights.
        x = self.head_dropout(self.head(x.transpose(1, 2).flatten(1)))
        return x.view(*values.shape[:-1], x.shape[-1])


class ITransformerLayer(TensorModule):
    """A post-norm layer over the series [B, N, D], mask [B, N]: series with any observed value."""

    def __init__(self, width: int, hidden: int, heads: int, dropout: float) -> None:
        super().__init__()
        self.attention = TokenAttention(width, heads, query_key_norm=False, dropout=dropout)
        self.ff = GELUNetwork(width, hidden, dropout)
        self.norm1, self.norm2 = LayerNorm(width), LayerNorm(width)
        self.dropout1, self.dropout2 = Dropout(dropout), Dropout(dropout)

    def forward(self, x: Tensor, mask: Tensor | None) -> Tensor:
        middle = self.norm1(self.dropout1.add_to(x, self.attention(x, mask)))
        return self.norm2(self.dropout2.add_to(middle, self.ff(middle)))


class ITransformer(LearnedForecaster):
    """iTransformer (Liu et al., ICLR 2024): each series' whole window is one token."""

    @old_keywords({"blocks": "layers"})
    def __init__(
        self, shape: ForecastShape, *, width: int, hidden: int, heads: int, layers: int, dropout: float, bfloat16: bool = False, **window: Any
    ) -> None:
        super().__init__(shape, **window)
        self.narrow = bfloat16
        self.embedding = Linear(shape.lookback, width)
        self.dropout = Dropout(dropout)
        self.layers = nn.ModuleList(ITransformerLayer(width, hidden, heads, dropout) for _ in range(layers))
        self.norm = LayerNorm(width)
        self.projector = Linear(width, shape.outputs())
        number_dropouts(self)

    def raw_forecast(self, values: Tensor, observed: Tensor | None, covariates: Tensor | None) -> Tensor:
        mask = None if observed is None else observed.flatten(1, -2).any(-1)
        x = values.flatten(1, -2).to(torch.bfloat16 if self.narrow else values.dtype)  # [B, N, L]
        x = self.dropout(self.embedding(x))
        for layer in self.layers:
            x = layer(x, mask)
        return self.projector(self.norm(x)).view(*values.shape[:-1], self.shape.outputs())


class Tide(LearnedForecaster):
    """TiDE (Das et al., TMLR 2023), each series on its own: an encoder of the window and the projected future covariates, a
    decoder to `step_width` numbers per step, a temporal decoder with the covariates of each step, and a linear skip."""

    @old_keywords({"blocks": "layers", "known_width": "covariate_width"})
    def __init__(
        self,
        shape: ForecastShape,
        *,
        width: int,
        hidden: int,
        layers: int,
        step_width: int,
        covariate_width: int,
        dropout: float,
        norm: bool,
        bfloat16: bool = False,
        **window: Any,
    ) -> None:
        super().__init__(shape, **window)
        self.narrow, self.step_width = bfloat16, step_width
        projected = covariate_width if shape.future_covariates > 0 else 0
        self.features = ResidualBlock(shape.future_covariates, hidden, projected, dropout, norm) if projected > 0 else None
        sizes = [(2 if shape.missing else 1) * shape.lookback + projected * (shape.lookback + shape.horizon)] + [width] * (2 * layers - 1)
        ends = [*sizes[1:], step_width * shape.horizon]
        every = [ResidualBlock(begin, width, end, dropout, norm) for begin, end in zip(sizes, ends, strict=True)]
        self.encoder, self.decoder = nn.ModuleList(every[:layers]), nn.ModuleList(every[layers:])
        self.temporal = ResidualBlock(step_width + projected, hidden, shape.outputs() // shape.horizon, dropout, norm=False)
        self.residual = Linear(shape.lookback, shape.outputs())
        number_dropouts(self)

    def raw_forecast(self, values: Tensor, observed: Tensor | None, covariates: Tensor | None) -> Tensor:
        window = values.flatten(1, -2).to(torch.bfloat16 if self.narrow else values.dtype)  # [B, N, L]
        parts = [window]
        if self.shape.missing:
            parts.append(torch.ones_like(window) if observed is None else observed.flatten(1, -2).to(window.dtype))
        steps = None
        if self.features is not None and covariates is not None:
            groups = covariates.reshape(covariates.shape[0], -1, *covariates.shape[-2:]).to(window.dtype)
            steps = self.features(groups.transpose(-2, -1))  # [B, groups of series, L + H, r]
            steps = steps.repeat_interleave(window.shape[1] // steps.shape[1], dim=1)
            parts.append(steps.flatten(2))
        x = torch.cat(parts, -1)
        for block in [*self.encoder, *self.decoder]:
            x = block(x)
        x = x.view(*x.shape[:2], self.shape.horizon, self.step_width)
        if steps is not None:
            x = torch.cat([x, steps[:, :, self.shape.lookback :]], -1)
        return (self.temporal(x).flatten(2) + self.residual(window)).view(*values.shape[:-1], self.shape.outputs())


def moving_average(x: Tensor, kernel: int) -> Tensor:
    """Moving average over `kernel` steps around each step of [..., L], the ends repeated."""
    ends = (*x.shape[:-1], kernel // 2)
    return torch.cat([x[..., :1].expand(ends), x, x[..., -1:].expand(ends)], -1).unfold(-1, kernel, 1).mean(-1)


class DLinear(LearnedForecaster):
    """DLinear (Zeng et al., AAAI 2023): linear maps of a moving average and of the remainder; `window`: only the cycle."""

    def __init__(self, shape: ForecastShape, *, kernel: int = 25, individual: bool = False, **window: Any) -> None:
        super().__init__(shape, centre="none", scale=False, **window)
        self.kernel = kernel
        series = shape.count() if individual else 0
        self.Linear_Seasonal = SeriesLinear(series, shape.lookback, shape.outputs())
        self.Linear_Trend = SeriesLinear(series, shape.lookback, shape.outputs())

    def raw_forecast(self, values: Tensor, observed: Tensor | None, covariates: Tensor | None) -> Tensor:
        trend = moving_average(values, self.kernel)
        return self.Linear_Seasonal(values - trend) + self.Linear_Trend(trend)


class LinearForecaster(LearnedForecaster):
    """One linear map of the normalized window: NLinear (centre "last"), RLinear (RevIN, then dropout)."""

    def __init__(self, shape: ForecastShape, *, individual: bool = False, dropout: float = 0.0, **window: Any) -> None:
        super().__init__(shape, **window)
        self.dropout = Dropout(dropout)
        self.Linear = SeriesLinear(shape.count() if individual else 0, shape.lookback, shape.outputs())
        number_dropouts(self)

    def raw_forecast(self, values: Tensor, observed: Tensor | None, covariates: Tensor | None) -> Tensor:
        return self.Linear(self.dropout(values))


class NaiveForecaster(Forecaster):
    """Naive forecasts. `period` 0: the last observed value of each series; else the value `period` rows earlier, of the latest
    season in which it was observed. All quantiles are equal."""

    def __init__(self, shape: ForecastShape, period: int = 0) -> None:
        super().__init__(shape)
        self.period = period

    @old_keywords({"known": "future_covariates"})
    def forward(
        self, past: Tensor, observed: Tensor | None = None, first_step: Tensor | None = None, future_covariates: Tensor | None = None
    ) -> Tensor:
        past = self.checked_past(past, observed)
        last = last_observed(past, observed)
        if self.period == 0:
            point = last.expand(*past.shape[:-1], self.shape.horizon).contiguous()
        else:
            point = self._seasonal(past, observed, last)
        levels = self.shape.quantiles
        return point if levels == 0 else point.unsqueeze(-1).expand(*point.shape, levels).contiguous()

    def _seasonal(self, past: Tensor, observed: Tensor | None, last: Tensor) -> Tensor:
        season = last.expand(*past.shape[:-1], self.period).clone()
        lookback = past.shape[-1]
        for age in reversed(range((lookback - 1) // self.period + 1)):  # the latest season last; the first may be partial
            begin = lookback - (age + 1) * self.period
            rows, steps = slice(max(begin, 0), begin + self.period), slice(max(begin, 0) - begin, self.period)
            values = past[..., rows]
            season[..., steps] = values if observed is None else torch.where(observed[..., rows], values, season[..., steps])
        return season[..., torch.arange(self.shape.horizon, device=past.device) % self.period]
