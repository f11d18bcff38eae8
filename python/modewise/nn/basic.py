"""Linear layers, norms and dropout, with the tensor names of modewise's files.

Weights stay float32 (or float64) and are cast to the type of the activations at use.
"""

import itertools
import math
from typing import TYPE_CHECKING, Any

import torch
from torch import Tensor, nn

from modewise import ops
from modewise.nn.checks import valid_tokens

FIRST_SITE = 16  # of the dropouts of a model
FEW_ROWS = 64  # below, weights are not concatenated: a copy costs more than it saves


class TensorModule(nn.Module):
    """A module that returns one tensor."""

    if TYPE_CHECKING:

        def __call__(self, *args: Any, **kwargs: Any) -> Tensor: ...


class Linear(TensorModule):
    """x weightᵀ + bias: [..., in] -> [..., out]; weight [out, in], bias [out], initially uniform in ±1/√in as in torch.

    Parameters
    ----------
    in_features, out_features
        Channels of input and output.
    bias
        Whether there is a bias.

    Examples
    --------
    >>> Linear(3, 4)(torch.ones(2, 3)).shape
    torch.Size([2, 4])
    """

    bias: Tensor | None

    def __init__(self, in_features: int, out_features: int, bias: bool = True) -> None:
        super().__init__()
        bound = 1 / math.sqrt(in_features)
        self.weight = nn.Parameter(torch.empty(out_features, in_features).uniform_(-bound, bound))
        self.register_parameter("bias", nn.Parameter(torch.empty(out_features).uniform_(-bound, bound)) if bias else None)

    def extra_repr(self) -> str:
        return f"in_features={self.weight.shape[1]}, out_features={self.weight.shape[0]}, bias={self.bias is not None}"

    def forward(self, x: Tensor) -> Tensor:
        return ops.linear(x, self.weight, self.bias)


class SeriesLinear(TensorModule):
    """Linear map of the time axis [B, N_1 … N_j, in] -> [B, N_1 … N_j, out], shared by all series or one per series.

    `series` N: 0 for weight [out, in] and bias [out], else [N, out, in] and [N, out].

    Parameters
    ----------
    series
        Number of series with maps of their own; 0: one map for all.
    in_features, out_features
        Steps of input and output.

    Examples
    --------
    >>> SeriesLinear(0, 24, 6)(torch.ones(2, 3, 24)).shape
    torch.Size([2, 3, 6])
    """

    def __init__(self, series: int, in_features: int, out_features: int) -> None:
        super().__init__()
        bound = 1 / math.sqrt(in_features)
        many = [series] if series > 0 else []
        self.weight = nn.Parameter(torch.empty(*many, out_features, in_features).uniform_(-bound, bound))
        self.bias = nn.Parameter(torch.empty(*many, out_features).uniform_(-bound, bound))

    def extra_repr(self) -> str:
        *series, outputs, inputs = self.weight.shape
        return f"series={series[0] if series else 0}, in_features={inputs}, out_features={outputs}"

    def forward(self, x: Tensor) -> Tensor:
        if self.weight.dim() == 2:
            return ops.linear(x, self.weight, self.bias)
        series = self.weight.shape[0]
        if math.prod(x.shape[1:-1]) != series:
            raise ValueError(f"SeriesLinear: x must have {series} series, got {list(x.shape)}")
        weight, bias = self.weight.to(x.dtype), self.bias.to(x.dtype)
        by_series = x.flatten(1, -2).transpose(0, 1)  # [N, B, in]
        out = ops.matmul(by_series, weight.transpose(1, 2)).transpose(0, 1) + bias
        return out.reshape(*x.shape[:-1], out.shape[-1])


class LayerNorm(TensorModule):
    """(x − mean) / √(variance + eps) · weight + bias over the last dimension [..., width].

    Parameters
    ----------
    width
        D, channels of a token.
    eps
        Added to the variance.

    Examples
    --------
    >>> LayerNorm(4)(torch.ones(2, 4)).sum().item()
    0.0
    """

    def __init__(self, width: int, eps: float = 1e-5) -> None:
        super().__init__()
        self.eps = eps
        self.weight = nn.Parameter(torch.ones(width))
        self.bias = nn.Parameter(torch.zeros(width))

    def extra_repr(self) -> str:
        return f"{len(self.weight)}, eps={self.eps}"

    def forward(self, x: Tensor) -> Tensor:
        return ops.layer_norm(x, self.weight, self.bias, self.eps)


class RMSNorm(TensorModule):
    """x / √(mean(x²) + eps) · weight over the last dimension [..., width], as in Llama.

    Parameters
    ----------
    width
        D, channels of a token.
    eps
        Added to the mean of squares.

    Examples
    --------
    >>> RMSNorm(4)(torch.ones(2, 4)).shape
    torch.Size([2, 4])
    """

    def __init__(self, width: int, eps: float = 1e-5) -> None:
        super().__init__()
        self.eps = eps
        self.weight = nn.Parameter(torch.ones(width))

    def extra_repr(self) -> str:
        return f"{len(self.weight)}, eps={self.eps}"

    def forward(self, x: Tensor) -> Tensor:
        return ops.rms_norm(x, self.weight, self.eps)


class BatchNorm(TensorModule):
    """Batch normalization over all but the last dimension [..., width], of the rows where `mask` [...] is True.

    In training a single row without a mask is a ValueError, as in torch.

    Parameters
    ----------
    width
        D, channels of a token.
    eps
        Added to the variance.
    momentum
        Weight of a batch in the running statistics.

    Examples
    --------
    >>> BatchNorm(4)(torch.ones(2, 4)).shape
    torch.Size([2, 4])
    """

    running_mean: Tensor
    running_var: Tensor

    def __init__(self, width: int, eps: float = 1e-5, momentum: float = 0.1) -> None:
        super().__init__()
        self.eps, self.momentum = eps, momentum
        self.weight = nn.Parameter(torch.ones(width))
        self.bias = nn.Parameter(torch.zeros(width))
        self.register_buffer("running_mean", torch.zeros(width))
        self.register_buffer("running_var", torch.ones(width))

    def extra_repr(self) -> str:
        return f"{len(self.weight)}, eps={self.eps}, momentum={self.momentum}"

    def _load_from_state_dict(self, state_dict: dict[str, Any], prefix: str, *arguments: Any) -> None:
        state_dict.pop(f"{prefix}num_batches_tracked", None)  # torch's, which only a momentum of None reads
        super()._load_from_state_dict(state_dict, prefix, *arguments)

    def forward(self, x: Tensor, mask: Tensor | None = None) -> Tensor:
        x = valid_tokens("BatchNorm", x, mask)
        if not self.training:
            factor = self.weight * (self.running_var + self.eps).rsqrt()
            return x * factor.to(x.dtype) + (self.bias - self.running_mean * factor).to(x.dtype)
        if mask is None:
            if x.numel() <= x.shape[-1]:
                raise ValueError(f"BatchNorm: expected more than 1 value per channel in training, got {list(x.shape)}")
            out, mean, var = ops.batch_norm(x, self.weight, self.bias, self.eps)
            count = torch.tensor(float(x.numel() // x.shape[-1]), dtype=torch.float64, device=x.device)
        else:
            rows = x.reshape(-1, x.shape[-1]).to(self.weight.dtype)
            mean, var, count = ops.masked_moments(rows, mask.reshape(-1))
            out = ((rows - mean) * ((var + self.eps).rsqrt() * self.weight) + self.bias).to(x.dtype).view(x.shape)
        with torch.no_grad():
            mean, var = (moment.detach().to(self.running_mean.dtype) for moment in (mean, var))
            ops.update_moments(self.running_mean, self.running_var, mean, var, count, self.momentum)
        return out


class Dropout(TensorModule):
    """Dropout in training. Random numbers are torch's, or, after `set_dropout_step`, those of the program's training, keyed by
    seed, step and `site`, the index of the module in the model, or a free one where several have the same. torch.compile treats
    seed and step as constants and would recompile every step: leave them unset there.

    Parameters
    ----------
    probability
        Probability that an element is dropped.
    site
        Index of the module in the model.

    Examples
    --------
    >>> Dropout(0.5).eval()(torch.ones(3))
    tensor([1., 1., 1.])
    """

    def __init__(self, probability: float = 0.0, site: int = FIRST_SITE) -> None:
        super().__init__()
        if not 0 <= probability <= 1:
            raise ValueError(f"Dropout: probability must be from 0 to 1, got {probability}")
        self.probability = probability
        self.site = site
        self.seed: int | None = None
        self.step = 0
        self.keyed_site = site

    def extra_repr(self) -> str:
        return f"{self.probability}"

    def active(self) -> float:
        """The current rate: 0 in evaluation mode."""
        return self.probability if self.training else 0.0

    def key(self) -> tuple[int, int, int]:
        """Seed, step and site, for operators with built-in dropout."""
        if self.active() == 0:
            return 0, 0, self.site
        if self.seed is None:
            return int(torch.randint(2**62, ())), 0, self.site
        return self.seed, self.step, self.keyed_site

    def weights_key(self) -> tuple[int | None, int, int]:
        """The same for attention, where the seed None means torch's generator."""
        return (None, 0, self.site) if self.drawn_by_graph() else self.key()

    def drawn_by_graph(self) -> bool:
        """Whether to use torch's dropout: while compiling without a seed, as drawing a seed here would break the graph."""
        return self.active() > 0 and self.seed is None and torch.compiler.is_compiling()

    def forward(self, x: Tensor) -> Tensor:
        if self.drawn_by_graph():
            return nn.functional.dropout(x, self.probability)
        return ops.dropout_add(None, x, self.active(), *self.key()) if self.active() > 0 else x

    def add_to(self, residual: Tensor, x: Tensor) -> Tensor:
        """residual + dropout(x)."""
        if self.drawn_by_graph():
            return residual + nn.functional.dropout(x, self.probability)
        return ops.dropout_add(residual, x, self.active(), *self.key())


class FeatureDraw(nn.Module):
    """Seed of the random features of a linear attention layer. The buffer `numbers` [2] int64 holds a key, which the program
    draws by its seed, and the number of redraws, both below 2²⁴. `redraw_every`: training batches between redraws; 0:
    never.

    Parameters
    ----------
    key
        Seed of the features, below 2²⁴.
    redraw_every
        Training batches between redraws; 0: never.

    Examples
    --------
    >>> FeatureDraw(7).numbers
    tensor([7, 0])
    """

    numbers: Tensor

    def __init__(self, key: int, redraw_every: int = 0) -> None:
        super().__init__()
        if not 0 <= key < 2**24:
            raise ValueError(f"FeatureDraw: key must be from 0 to {2**24 - 1}, got {key}")
        if redraw_every < 0:
            raise ValueError(f"FeatureDraw: redraw_every must not be negative, got {redraw_every}")
        self.redraw_every = redraw_every
        self.register_buffer("numbers", torch.tensor([key, 0]))
        self._known = key  # a graph cannot read the buffer

    def extra_repr(self) -> str:
        return f"redraw_every={self.redraw_every}"

    def seed(self) -> int:
        """The seed for `modewise.ops.orthogonal_projection`."""
        if not torch.compiler.is_compiling():
            self._read()
        return self._known

    def _read(self) -> None:
        key, draw = self.numbers.tolist()
        self._known = int(key) | int(draw) << 24

    def _load_from_state_dict(self, *arguments: Any) -> None:
        super()._load_from_state_dict(*arguments)
        self._read()

    def set_step(self, step: int) -> None:
        """Selects the features of a training step; no effect in evaluation mode."""
        if self.training and self.redraw_every > 0:
            self.numbers[1] = step // self.redraw_every % 2**24
            self._read()


def set_dropout_step(model: nn.Module, seed: int, step: int) -> None:
    """Makes the dropouts of `model` use Philox numbers keyed by `seed`, `step` and their sites, as the program's training does:
    the same for any number of threads. Dropouts with the site of an earlier one are given free sites, in the order of
    registration. Call it before each forward pass. Random features that are redrawn become those of `step`.

    Parameters
    ----------
    model
        Any module.
    seed, step
        Key of the random numbers: a 64-bit integer with a sign, and a number below 2³².

    Raises
    ------
    ValueError
        For another seed or step.

    Examples
    --------
    >>> set_dropout_step(Dropout(0.5), seed=1, step=0)
    """
    if not -(2**63) <= seed < 2**63:
        raise ValueError(f"set_dropout_step: seed must be a 64-bit integer, got {seed}")
    if not 0 <= step < 2**32:
        raise ValueError(f"set_dropout_step: step must be from 0 to {2**32 - 1}, got {step}")
    dropouts = dropouts_of(model)
    sites = {module.site for module in dropouts}
    free, taken = (site for site in itertools.count(FIRST_SITE) if site not in sites), set[int]()
    for module in dropouts:
        module.seed, module.step = seed, step
        module.keyed_site = module.site if module.site not in taken else next(free)
        taken.add(module.site)
    for draw in model.modules():
        if isinstance(draw, FeatureDraw):
            draw.set_step(step)


def dropouts_of(model: nn.Module) -> list[Dropout]:
    """The dropouts of a model in the order of registration."""
    return [module for module in model.modules() if isinstance(module, Dropout)]


def number_dropouts(model: nn.Module) -> None:
    """Numbers the dropouts of a model in the order of registration."""
    for site, module in enumerate(dropouts_of(model), FIRST_SITE):
        module.site = module.keyed_site = site
