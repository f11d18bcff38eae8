"""Attention options of config.json: the table `modewise` next to the library's keys, validated and completed, and the rotary
embedding."""

import dataclasses
import math
from collections.abc import Sequence
from typing import Any, TypeVar

from torch import Tensor

from modewise._aliases import ATTENTION_TYPES, old_keywords
from modewise.nn.tensor_attention import TYPES_WITH_LATENTS, level_frequencies

NAME = "modewise_causal"
ATTENTION = ("summary", "axial")
FAMILIES = ("llama", "mistral", "qwen2", "qwen3", "modewise")
Table = dict[str, Any]
Config = TypeVar("Config")  # a config of the library
OLD_KEYS = {"form": "type", "slots": "summary_tokens"}  # of exports of earlier versions


@dataclasses.dataclass(frozen=True)
class Options:
    """Arguments of `modewise.ops.tensor_attention`: `fold` with the number of outermost blocks in the context, frequencies
    [levels, d/2] float64 on the CPU, for any type and device of the model; `summary_tokens` of the latents."""

    type: str
    fold: list[int]
    window: int
    summary_tokens: int
    sinks: int
    density: float
    frequencies: Tensor
    gains: list[float]

    @property
    def levels(self) -> int:
        """Levels of blocks, each with its own latents."""
        return len(self.fold) - 1 if self.type in TYPES_WITH_LATENTS else 0


def require(holds: bool, sentence: str) -> None:
    """ValueError with the message unless `holds`."""
    if not holds:
        raise ValueError(f"{NAME}: {sentence}")


def default_fold(context: int) -> list[int]:
    """Three modes of about the cube root of the context, a power of two; the first grows with the text."""
    side = 2
    while side < 64 and side**3 < context:
        side *= 2
    return [0, side, side]


def attention_table(fold: Sequence[int], summary_tokens: int, window: int, context: int, attention: str = "summary") -> Table:
    """The complete table of an attention type in config.json. ValueError for incompatible sizes and types that are not causal."""
    require(attention != "pooled", "attention 'pooled' lets each token see later ones, and these models are causal: take 'summary' or 'axial'")
    require(attention in ATTENTION, f"attention '{attention}' is not one of {', '.join(ATTENTION)}")
    sizes = list(fold) or default_fold(context)
    require(attention == "summary" or window == 0, f"attention '{attention}' has no window, got {window}")
    return checked_table({"type": attention, "fold": sizes, "window": window or (2 * sizes[-1] if attention == "summary" else 0),
                          "summary_tokens": summary_tokens, "sinks": 0, "density": 0.1})  # fmt: skip


def current_table(table: Table) -> Table:
    """The table under the current keys and types."""
    found = {OLD_KEYS.get(key, key): value for key, value in table.items()}
    return found | {"type": ATTENTION_TYPES.get(found["type"], found["type"])}


def checked_table(table: Table) -> Table:
    """The same table; ValueError for invalid sizes."""
    fold, window, summary_tokens = table["fold"], table["window"], table["summary_tokens"]
    if table["type"] not in TYPES_WITH_LATENTS:
        return table
    require(len(fold) >= 2, f"fold {fold} has no blocks to summarise: give at least two sizes, such as [0, 8, 8]")
    require(all(size >= 1 for size in fold[1:]) and fold[0] >= 0,
            f"fold {fold}: sizes must be at least 1, except that the first may be 0 (as large as the text needs)")  # fmt: skip
    require(window >= fold[-1], f"window {window} is smaller than the last size of fold {fold}: tokens of the partial block would "
                                "not be attended to")  # fmt: skip
    require(summary_tokens >= 1, f"summary_tokens must be at least 1, got {summary_tokens}")
    return table


def acting_fold(table: Table, context: int) -> list[int]:
    """The fold with n_1 = 0 replaced, for the type summary, by the number of outermost blocks in the context."""
    fold = list(table["fold"])
    if table["type"] in TYPES_WITH_LATENTS and fold[0] == 0:
        fold[0] = max(1, (context - 1) // math.prod(fold[1:]))
    return fold


def head_width(config: Any) -> int:
    """The head width of a config of the library."""
    return int(getattr(config, "head_dim", None) or config.hidden_size // config.num_attention_heads)


def yarn_gain(rope: Table, factor: float) -> float:
    """The gain of cosines and sines set in the config; 0: YaRN's default."""
    if rope.get("attention_factor") is not None:
        return float(rope["attention_factor"])
    mscale, all_dim = rope.get("mscale"), rope.get("mscale_all_dim")
    if not mscale or not all_dim or factor <= 1:
        return 0.0
    return float((0.1 * mscale * math.log(factor) + 1) / (0.1 * all_dim * math.log(factor) + 1))


def rope_table(config: Any, own: Table) -> Table:
    """The config's `rope_parameters` as a table `[model.rope]` of the program; `own`: `rope` of config.modewise."""
    if "ntk_factor" in own:
        return {"base": own["ntk_base"], "scaling": "ntk", "factor": own["ntk_factor"]}
    rope = dict(config.rope_parameters)
    kind = rope.get("rope_type", "default")
    require(kind in ("default", "linear", "yarn", "llama3"), f"rope_type '{kind}' is not supported; supported: default, linear, yarn, llama3")
    require(rope.get("partial_rotary_factor", 1) == 1, "partial_rotary_factor must be 1: whole heads are rotated")
    original = rope.get("original_max_position_embeddings") or config.max_position_embeddings
    factor = rope.get("factor") or (config.max_position_embeddings / original if kind == "yarn" else 1.0)
    return {"base": rope["rope_theta"], "scaling": "none" if kind == "default" else kind, "factor": factor,
            "original_length": original, "low_frequency_factor": rope.get("low_freq_factor"),
            "high_frequency_factor": rope.get("high_freq_factor"), "beta_fast": rope.get("beta_fast") or 32,
            "beta_slow": rope.get("beta_slow") or 1, "truncate": rope.get("truncate", True),
            "gain": yarn_gain(rope, factor) if kind == "yarn" else 0.0}  # fmt: skip


def require_family(config: Any) -> None:
    """ValueError for a model whose attention is not Llama's, or has unsupported options."""
    kind = config.model_type
    require(kind in FAMILIES, f"models of type '{kind}' are not supported; supported: {', '.join(FAMILIES)}")
    width, dropout = head_width(config), getattr(config, "attention_dropout", 0) or 0
    require(width % 2 == 0, f"a rotary embedding needs an even head width, got {width}")
    require(dropout == 0, f"attention_dropout is {dropout}, but attention weights are never materialized: set it to 0")


def options_of(config: Any) -> Options:
    """The options of a configured config. ValueError for unsupported ones."""
    require_family(config)
    own: Table = config.modewise
    table, context = checked_table(current_table(own["attention"])), config.max_position_embeddings
    own_rope: Table = own.get("rope", {})
    rope = rope_table(config, own_rope) | {key: own_rope[key] for key in ("scaled_level", "level_lengths") if key in own_rope}
    frequencies, gains = level_frequencies(rope, table["type"], table["fold"], head_width(config))
    return Options(
        table["type"], acting_fold(table, context), table["window"], table["summary_tokens"], table["sinks"], table["density"],
        frequencies, gains)  # fmt: skip


@old_keywords({"slots": "summary_tokens"})
def configure(config: Config, *, attention: str = "summary", fold: Sequence[int] = (), summary_tokens: int = 1, window: int = 0) -> Config:
    """Sets modewise's attention in a config of the library and returns it: models created from the config use it, and
    `save_pretrained` saves it.

    Parameters
    ----------
    config
        A config of Llama, Mistral or another supported family.
    attention : "summary" or "axial"
        summary is exactly causal: each token sees all earlier ones. axial is tensorized attention along each mode: a token sees
        the tokens that are not later in any mode.
    fold
        Sizes n_1 … n_m of the fold of a text, last mode fastest, the first 0: grows with the text; (): three modes of about the
        cube root of `max_position_embeddings`.
    summary_tokens
        Per complete block.
    window
        Last tokens attended to one by one, of summary attention alone; 0: 2·n_m.

    Returns
    -------
    config
        The same object.

    Raises
    ------
    ValueError
        For incompatible sizes and unsupported architectures.

    Examples
    --------
    >>> config = configure(LlamaConfig(), fold=[0, 16, 16])  # doctest: +SKIP
    """
    made: Any = config
    require_family(made)
    table = attention_table(fold, summary_tokens, window, made.max_position_embeddings, attention)
    before: Table | None = getattr(made, "modewise", None)
    lengths = {"level_lengths": True} if (made.rope_parameters or {}).get("rope_type") in ("yarn", "llama3") else None
    rope = before.get("rope") if before else lengths
    made.modewise = {"attention": table} | ({"rope": rope} if rope else {})
    request(made)
    options_of(made)
    return config


def request(config: Any) -> None:
    """Selects this attention, also under the key that config.json saves: without modewise.transformers imported, the library
    refuses the folder."""
    config._attn_implementation = NAME
    config.attn_implementation = NAME
