"""Options of a token encoder from the `[model]` table of a run's config.toml."""

from collections.abc import Sequence
from typing import Any

from modewise.nn.encoder import EncoderOptions, with_effect

Table = dict[str, Any]


def rotary_modes(position: Table, ordered: Sequence[int]) -> list[int]:
    """Token modes with a rotary embedding: the listed ones, the ordered ones, or the last of these."""
    if position["rotary_modes"]:
        return list(position["rotary_modes"])
    if position["rotary"] == "none" or not ordered:
        return []
    return [ordered[-1]] if position["rotary"] == "time" else list(ordered)


def combined(attention: Table) -> str:
    """product, sum or mean, after `normalize_sum`, which configs of older runs lack."""
    return "mean" if attention["combine"] == "sum" and attention.get("normalize_sum", False) else str(attention["combine"])


def encoder_options(model: Table, ordered: Sequence[int], mechanism: str) -> EncoderOptions:
    """Encoder options of a token model, those without effect left out; `ordered`: modes with an order, such as time."""
    attention, position = model["attention"], model["position"]
    return with_effect(EncoderOptions(
        width=model["width"], hidden=model["hidden"], layers=model["layers"], heads=model["heads"],
        feed_forward=model["feed_forward"], dropout=model["dropout"], layer_scale=model["layer_scale"],
        encoding=position["encoding"], mode_embeddings=position.get("mode_embeddings", False), rope_modes=rotary_modes(position, ordered),
        rope_base=position["rotary_base"], mechanism=mechanism, attention_type=attention["type"],
        query_key_norm=attention["query_key_norm"], attention_dropout=attention["dropout"],
        combine=combined(attention), pooling=attention["pooling"], share_modes=attention["share_modes"],
        attend_modes=attention["attend_modes"], mode_masks=attention.get("mode_masks", []), kernel=attention["kernel"], features=attention["features"],
        feature_map=attention["feature_map"], feature_draw=attention.get("feature_draw", "fixed"),
        features_redraw_every=attention.get("features_redraw_every", 0)))  # fmt: skip
