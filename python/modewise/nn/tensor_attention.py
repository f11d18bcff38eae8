"""Causal self-attention of a language model, of any type of `modewise.ops.tensor_attention`, and its KV cache."""

import math
from collections.abc import Callable, Sequence
from typing import Any

import torch
from torch import Tensor, nn

from modewise import _native, ops
from modewise._aliases import ATTENTION_TYPES, current, old_keywords
from modewise.nn.basic import FEW_ROWS, Linear, TensorModule
from modewise.nn.checks import width_of_head

_native.load_library("modewise_python")

TYPES_WITH_LATENTS = ("summary",)


class AttentionCache:
    """KV cache of one layer during generation. The type summary caches the window and the summary tokens of complete sibling
    blocks, so memory grows with the outermost blocks only. `length`: cached tokens; `bytes`: size of the cached tensors.

    Parameters
    ----------
    form, fold, window, sinks, density, gains, frequencies
        As for `modewise.ops.tensor_attention`.
    latents
        [m−1, G, r, d] or None, in the type of the activations.

    Examples
    --------
    >>> cache = AttentionCache("full", [], 0, 0, 0.1, None, None, [])
    >>> cache.step(torch.ones(1, 3, 2, 4), torch.ones(1, 3, 2, 4), torch.ones(1, 3, 2, 4)).shape, cache.length
    (torch.Size([1, 3, 2, 4]), 3)
    """

    def __init__(
        self, form: str, fold: Sequence[int], window: int, sinks: int, density: float, latents: Tensor | None,
        frequencies: Tensor | None, gains: Sequence[float],
    ) -> None:  # fmt: skip
        """An empty cache. Arguments as for `modewise.ops.tensor_attention`; latents in the type of the activations."""
        queries = None if latents is None else latents.detach()
        self._cache: Any = torch.classes.modewise.AttentionCache(
            current(ATTENTION_TYPES, form), list(fold), window, sinks, density, queries, frequencies, list(gains)
        )

    def step(self, q: Tensor, k: Tensor, v: Tensor) -> Tensor:
        """Appends t tokens, not rotated, which attend to all cached tokens: q [B, t, H, d], k [B, t, G, d], v [B, t, G, e] ->
        [B, t, H, e]. No gradients."""
        out: Tensor = self._cache.step(q, k, v)
        return out

    @property
    def length(self) -> int:
        return int(self._cache.length())

    @property
    def bytes(self) -> int:
        return int(self._cache.bytes())


class TensorAttention(TensorModule):
    """[B, n, D] -> [B, n, D], causal, with the names of Llama: q_proj [H·d, D], k_proj and v_proj [G·d, D], o_proj
    [D, H·d], no biases; and `latents` [m−1, G, summary_tokens, d] for the type summary.

    `form`: the type; it, `fold`, `window`, `sinks`, `density` as for `modewise.ops.tensor_attention`. `frequencies`
    [levels, d/2] float64, radians per position, with `gains` per level: rotary embedding; None: none. `std`, `latent_std`:
    standard deviation of the initial weights and latents.

    Parameters
    ----------
    width
        D, channels of a token.
    heads
        Number of heads, a divisor of the width.
    form
        The attention type.
    kv_heads, head_width
        Key heads and width of a head; 0: as many as heads, width / heads.
    fold, window, sinks, density
        Options of the type.
    summary_tokens
        Summary tokens of a block.
    frequencies, gains
        Rotary embedding of each level, or None.
    std, latent_std
        Standard deviation of initial weights and latents.

    Examples
    --------
    >>> TensorAttention(16, 4, form="summary", fold=[0, 4])(torch.ones(1, 9, 16)).shape
    torch.Size([1, 9, 16])
    """

    frequencies: Tensor | None
    latents: Tensor | None

    @old_keywords({"slots": "summary_tokens", "deviation": "std", "latent_deviation": "latent_std"})
    def __init__(
        self,
        width: int,
        heads: int,
        *,
        kv_heads: int = 0,
        head_width: int = 0,
        form: str = "summary",
        fold: Sequence[int] = (),
        window: int = 0,
        sinks: int = 0,
        density: float = 0.1,
        summary_tokens: int = 1,
        frequencies: Tensor | None = None,
        gains: Sequence[float] = (),
        std: float = 0.02,
        latent_std: float = 0.02,
    ) -> None:
        super().__init__()
        form = current(ATTENTION_TYPES, form)
        self.heads, self.kv_heads = heads, kv_heads or heads
        self.head_width = head_width or width_of_head("TensorAttention", width, heads)
        self.form, self.fold, self.window, self.sinks, self.density = form, list(fold), window, sinks, density
        self.gains = list(gains)
        self.q_proj = Linear(width, self.heads * self.head_width, bias=False)
        self.k_proj = Linear(width, self.kv_heads * self.head_width, bias=False)
        self.v_proj = Linear(width, self.kv_heads * self.head_width, bias=False)
        self.o_proj = Linear(self.heads * self.head_width, width, bias=False)
        for projection in (self.q_proj, self.k_proj, self.v_proj, self.o_proj):
            nn.init.normal_(projection.weight, std=std)
        self.register_buffer("frequencies", frequencies, persistent=False)
        levels = len(self.fold) - 1 if form in TYPES_WITH_LATENTS else 0
        latents = torch.randn(levels, self.kv_heads, summary_tokens, self.head_width) * latent_std if levels > 0 else None
        self.register_parameter("latents", None if latents is None else nn.Parameter(latents))

    def _project(self, x: Tensor) -> tuple[Tensor, Tensor, Tensor]:
        layers = (self.q_proj, self.k_proj, self.v_proj)
        if not torch.compiler.is_compiling() and x.numel() < FEW_ROWS * x.shape[-1]:
            parts = [layer(x) for layer in layers]
        else:  # one product with the concatenated weights; the same bits
            joined = ops.linear(x, torch.cat([layer.weight for layer in layers]))
            parts = list(joined.split([layer.weight.shape[0] for layer in layers], -1))
        q, k, v = (part.unflatten(-1, (-1, self.head_width)) for part in parts)
        return q, k, v

    def forward(self, x: Tensor) -> Tensor:
        q, k, v = self._project(x)
        latents = None if self.latents is None else self.latents.to(x.dtype)
        attended = ops.tensor_attention(q, k, v, latents, self.frequencies, form=self.form, fold=self.fold,
                                        window=self.window, sinks=self.sinks, density=self.density,
                                        gains=self.gains)  # fmt: skip
        return self.o_proj(attended.flatten(-2))

    def _apply(self, fn: Callable[[Tensor], Tensor], recurse: bool = True) -> "TensorAttention":
        """As in nn.Module, but the frequencies stay float64: .to(torch.bfloat16) converts weights only."""
        exact = self.frequencies
        super()._apply(fn, recurse)  # type: ignore[no-untyped-call]
        if exact is not None and self.frequencies is not None:
            self.frequencies = exact.to(self.frequencies.device)
        return self

    def new_cache(self, dtype: torch.dtype = torch.float32) -> AttentionCache:
        """An empty cache for activations of this type."""
        latents = None if self.latents is None else self.latents.detach().to(dtype)
        return AttentionCache(self.form, self.fold, self.window, self.sinks, self.density, latents, self.frequencies, self.gains)

    @torch.no_grad()
    def step(self, x: Tensor, cache: AttentionCache) -> Tensor:
        """`forward` for the t tokens x [B, t, D] after those in the cache."""
        q, k, v = self._project(x)
        return self.o_proj(cache.step(q, k, v).flatten(-2))


def plain_frequencies(base: float, width: int) -> list[float]:
    """base^(−2i/d), the rotary angles per position (Su et al. 2021)."""
    return [math.pow(base, -2.0 * i / width) for i in range(width // 2)]


def yarn_frequencies(rope: dict[str, Any], width: int) -> list[float]:
    """Rotary angles of YaRN (Peng et al. 2023, appendix A): interpolated, unchanged, and a ramp between."""

    def dimension(rotations: float) -> float:
        return width * math.log(rope["original_length"] / (rotations * 2 * math.pi)) / (2 * math.log(rope["base"]))

    if rope.get("divide_all"):
        return [frequency / rope["factor"] for frequency in plain_frequencies(rope["base"], width)]
    low, high = dimension(rope["beta_fast"]), dimension(rope["beta_slow"])
    if rope["truncate"]:
        low, high = math.floor(low), math.ceil(high)
    low, high = max(low, 0.0), min(high, float(width - 1))
    if low == high:
        high += 0.001
    ramps = [min(max((i - low) / (high - low), 0.0), 1.0) for i in range(width // 2)]
    plain = plain_frequencies(rope["base"], width)
    return [frequency * (ramp / rope["factor"] + (1 - ramp)) for frequency, ramp in zip(plain, ramps, strict=True)]


def llama3_frequency(rope: dict[str, Any], frequency: float) -> float:
    """Rotary angle of Llama 3.1: long wavelengths are divided by the factor, short ones unchanged, those between interpolated."""
    wave = 2 * math.pi / frequency
    low, high, length = rope["low_frequency_factor"], rope["high_frequency_factor"], rope["original_length"]
    if wave > length / low:
        return float(frequency / rope["factor"])
    if wave < length / high:
        return frequency
    smooth = (length / wave - low) / (high - low)
    return float((1 - smooth) * frequency / rope["factor"] + smooth * frequency)


def level_positions(form: str, fold: Sequence[int], level: int, tokens: float) -> int:
    """The number of positions of `tokens` tokens in a level of blocks (or along a mode) of the fold."""
    mode = len(fold) - 1 - level
    count = math.ceil(tokens / math.prod(fold[mode + 1 :]))
    grows = fold[mode] == 0 or (mode == 0 and form in TYPES_WITH_LATENTS)
    return count if grows else min(count, fold[mode])


def level_scaling(rope: dict[str, Any], form: str, fold: Sequence[int], level: int) -> dict[str, Any]:
    """The table `[model.rope]` of one level of positions. yarn and llama3 compare wavelengths with a length: here the length and
    the growth of the level, in its own positions, unless `level_lengths` is false or missing, as in older runs."""
    chosen = rope.get("scaled_level", -1)
    if chosen not in (-1, level):
        return {**rope, "scaling": "none"}
    tokens = not fold or (level == 0 and form in TYPES_WITH_LATENTS)
    if tokens or not rope.get("level_lengths", False) or rope["scaling"] not in ("yarn", "llama3"):
        return rope
    original = level_positions(form, fold, level, rope["original_length"])
    grown = level_positions(form, fold, level, rope["original_length"] * rope["factor"])
    extended = math.ceil(original * rope["factor"]) if chosen == level else grown
    if extended == original:
        return {**rope, "scaling": "none"}
    # If no pair rotates beta_slow times, yarn's ramp would be inverted: all frequencies are divided.
    divided = rope["scaling"] == "yarn" and original < rope["beta_slow"] * 2 * math.pi
    return {**rope, "original_length": original, "factor": extended / original, "divide_all": divided}


def level_frequencies(rope: dict[str, Any], form: str, fold: Sequence[int], width: int) -> tuple[Tensor, list[float]]:
    """Rotary angles [levels, d/2] float64 on the CPU, a row per level of positions, and the gains of the levels."""
    levels = range(max(1, len(fold)))
    rows = [rotary_frequencies(level_scaling(rope, form, fold, level), width) for level in levels]
    return torch.tensor([row for row, _ in rows], dtype=torch.float64, device="cpu"), [gain for _, gain in rows]


def rotary_frequencies(rope: dict[str, Any], width: int) -> tuple[list[float], float]:
    """The d/2 rotary angles per position and the gain of cos and sin of a table `[model.rope]`: base, scaling (none, linear, ntk,
    yarn, llama3), factor, …

    Parameters
    ----------
    rope
        The table `[model.rope]`.
    width
        Head width d.

    Returns
    -------
    (list of float, float)
        d/2 radians per position, and the gain of cos and sin.

    Examples
    --------
    >>> rotary_frequencies({"base": 100.0, "scaling": "none", "factor": 1.0}, 4)
    ([1.0, 0.1], 1.0)
    """
    kind, factor = rope["scaling"], rope["factor"]
    if kind == "yarn":
        usual = 1.0 if factor <= 1 else 0.1 * math.log(factor) + 1
        return yarn_frequencies(rope, width), rope["gain"] if rope["gain"] > 0 else usual
    if kind == "ntk" and width > 2:
        return plain_frequencies(rope["base"] * math.pow(factor, width / (width - 2)), width), 1.0
    plain = plain_frequencies(rope["base"], width)
    if kind == "linear":
        return [frequency / factor for frequency in plain], 1.0
    if kind == "llama3":
        return [llama3_frequency(rope, frequency) for frequency in plain], 1.0
    return plain, 1.0
