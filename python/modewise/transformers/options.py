"""What config.json says of modewise's attention: `modewise` beside the library's own keys, checked and completed, and
the rotary codes that go with it."""

import dataclasses
import math
from collections.abc import Sequence
from typing import Any

from torch import Tensor

from modewise.nn.tensor_attention import FORMS_WITH_LATENTS, level_frequencies

NAME = "modewise_causal"
FAMILIES = ("llama", "mistral", "qwen2", "qwen3", "modewise")
FORMS_WITH_FOLD = (*FORMS_WITH_LATENTS, "axial")
Table = dict[str, Any]


@dataclasses.dataclass(frozen=True)
class Options:
    """Arguments of `modewise.ops.tensor_attention`: `fold` with the coarsest blocks that texts of the context have,
    frequencies [levels, d/2] float64 on the CPU, whatever type and device the model is of; `slots` of the latents."""

    form: str
    fold: list[int]
    window: int
    slots: int
    sinks: int
    density: float
    frequencies: Tensor
    gains: list[float]

    @property
    def levels(self) -> int:
        """Levels of blocks, each with latents of its own."""
        return len(self.fold) - 1 if self.form in FORMS_WITH_LATENTS else 0


def require(holds: bool, sentence: str) -> None:
    """ValueError with the sentence unless it holds."""
    if not holds:
        raise ValueError(f"{NAME}: {sentence}")


def default_fold(context: int) -> list[int]:
    """Three modes of about the cube root of the context, a power of two; the first grows."""
    side = 2
    while side < 64 and side**3 < context:
        side *= 2
    return [0, side, side]


def attention_table(fold: Sequence[int], slots: int, window: int, context: int) -> Table:
    """Form causal as config.json has it, completed. ValueError for sizes that do not go together."""
    sizes = list(fold) or default_fold(context)
    return checked_table({"form": "causal", "fold": sizes, "window": window or 2 * sizes[-1], "slots": slots, "sinks": 0, "density": 0.1})


def checked_table(table: Table) -> Table:
    """The same; ValueError for a table that no attention of a text has."""
    fold, window, slots = table["fold"], table["window"], table["slots"]
    if table["form"] not in FORMS_WITH_LATENTS:
        return table
    require(len(fold) >= 2, f"fold {fold} has no blocks to summarise: it takes at least two sizes, such as [0, 8, 8]")
    require(all(size >= 1 for size in fold[1:]) and fold[0] >= 0,
            f"fold {fold}: sizes are at least 1, and only the first may be 0 (as long as the text needs)")  # fmt: skip
    require(window >= fold[-1], f"window {window} is smaller than the last size of fold {fold}: tokens of the block that is not "
                                "finished yet would be seen by nobody")  # fmt: skip
    require(slots >= 1, f"slots must be at least 1, got {slots}")
    return table


def acting_fold(table: Table, context: int) -> list[int]:
    """A fold whose first mode is open holds, in form causal, the coarsest blocks that texts of the context have."""
    fold = list(table["fold"])
    if table["form"] in FORMS_WITH_LATENTS and fold[0] == 0:
        fold[0] = max(1, (context - 1) // math.prod(fold[1:]))
    return fold


def head_width(config: Any) -> int:
    """Of a config of the library."""
    return int(getattr(config, "head_dim", None) or config.hidden_size // config.num_attention_heads)


def yarn_gain(rope: Table, factor: float) -> float:
    """What cosines and sines are multiplied by where the config says so; 0: by the usual rule."""
    if rope.get("attention_factor") is not None:
        return float(rope["attention_factor"])
    one, all_dim = rope.get("mscale"), rope.get("mscale_all_dim")
    if not one or not all_dim or factor <= 1:
        return 0.0
    return float((0.1 * one * math.log(factor) + 1) / (0.1 * all_dim * math.log(factor) + 1))


def rope_table(config: Any, own: Table) -> Table:
    """The config's `rope_parameters` as a table `[model.rope]` of the program; `own`: `rope` of config.modewise."""
    if "ntk_factor" in own:
        return {"base": own["ntk_base"], "scaling": "ntk", "factor": own["ntk_factor"]}
    rope = dict(config.rope_parameters)
    kind = rope.get("rope_type", "default")
    require(kind in ("default", "linear", "yarn", "llama3"), f"rotary codes of type '{kind}' are not read; default, linear, yarn and llama3 are")
    require(rope.get("partial_rotary_factor", 1) == 1, "partial_rotary_factor is not 1; heads are rotated whole")
    original = rope.get("original_max_position_embeddings") or config.max_position_embeddings
    factor = rope.get("factor") or (config.max_position_embeddings / original if kind == "yarn" else 1.0)
    return {"base": rope["rope_theta"], "scaling": "none" if kind == "default" else kind, "factor": factor,
            "original_length": original, "low_frequency_factor": rope.get("low_freq_factor"),
            "high_frequency_factor": rope.get("high_freq_factor"), "beta_fast": rope.get("beta_fast") or 32,
            "beta_slow": rope.get("beta_slow") or 1, "truncate": rope.get("truncate", True),
            "gain": yarn_gain(rope, factor) if kind == "yarn" else 0.0}  # fmt: skip


def require_family(config: Any) -> None:
    """ValueError for a model whose attention is not Llama's, or which has options that ours lacks."""
    kind = config.model_type
    require(kind in FAMILIES, f"models of type '{kind}' are not supported; {', '.join(FAMILIES)} are")
    width, dropout = head_width(config), getattr(config, "attention_dropout", 0) or 0
    require(width % 2 == 0, f"rotary codes need an even head width, got {width}")
    require(dropout == 0, f"attention_dropout is {dropout}, but its weights are never held: set it to 0")


def options_of(config: Any) -> Options:
    """Of a config that has been configured. ValueError for what is not supported."""
    require_family(config)
    own: Table = config.modewise
    table, context = checked_table(own["attention"]), config.max_position_embeddings
    said: Table = own.get("rope", {})
    rope = rope_table(config, said) | {key: said[key] for key in ("scaled_level", "level_lengths") if key in said}
    frequencies, gains = level_frequencies(rope, table["form"], table["fold"], head_width(config))
    return Options(
        table["form"], acting_fold(table, context), table["window"], table["slots"], table["sinks"], table["density"],
        frequencies, gains)


def configure(config: Any, *, fold: Sequence[int] = (), slots: int = 1, window: int = 0) -> Any:
    """Writes modewise's exactly causal attention into a config of the library, which is given back: models made of it
    have it, and `save_pretrained` keeps it.

    fold: sizes n_1 … n_m that a text is folded to, last fastest, the first 0: it grows; () for three modes of about
    the cube root of `max_position_embeddings`. slots: summaries a finished block. window: last tokens seen one by one, 0:
    2·n_m. ValueError for sizes that do not go together and for architectures that are not supported.
    """
    require_family(config)
    table = attention_table(fold, slots, window, config.max_position_embeddings)
    before: Table | None = getattr(config, "modewise", None)
    lengths = {"level_lengths": True} if (config.rope_parameters or {}).get("rope_type") in ("yarn", "llama3") else None
    rope = before.get("rope") if before else lengths
    config.modewise = {"attention": table} | ({"rope": rope} if rope else {})
    request(config)
    options_of(config)
    return config


def request(config: Any) -> None:
    """Asks for our attention: as the library reads it, and under the key that config.json keeps, by which the library refuses
    the folder where modewise.transformers was not imported."""
    config._attn_implementation = NAME
    config.attn_implementation = NAME
