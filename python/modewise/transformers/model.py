"""The program's language models in the library: `model/` folders of runs and exports of `modewise convert`."""

from typing import Any

import transformers

from modewise.transformers.options import NAME, attention_table, current_table, request, require


class ModewiseConfig(transformers.LlamaConfig):  # type: ignore[misc]
    """Llama's config with a table `modewise`: `attention` (type, fold, window, summary_tokens, sinks, density) and `rope`
    (scaled_level, ntk_base, ntk_factor)."""

    model_type = "modewise"

    def __post_init__(self, **kwargs: Any) -> None:
        kwargs["attn_implementation"] = kwargs.get("attn_implementation") or NAME
        super().__post_init__(**kwargs)
        own = dict(getattr(self, "modewise", None) or {})
        given = own.get("attention")
        own["attention"] = attention_table((), 1, 0, self.max_position_embeddings) if given is None else current_table(given)
        self.modewise = own
        request(self)


class ModewiseForCausalLM(transformers.LlamaForCausalLM):  # type: ignore[misc]
    """Llama's decoder with the attention of `config.modewise`, its latents as `model.layers.N.self_attn.latents`: the
    architecture of the program's exports. ValueError for another `attn_implementation`."""

    config_class = ModewiseConfig

    def __init__(self, config: Any) -> None:
        require(config._attn_implementation in (None, NAME), f"a modewise model has no attention '{config._attn_implementation}'")
        super().__init__(config)
