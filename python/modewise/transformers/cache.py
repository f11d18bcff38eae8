"""KV cache for generation: a window and the summary tokens of complete blocks per layer, in place of every token."""

from collections.abc import Callable
from typing import Any

import torch
import transformers
from torch import Tensor
from transformers.cache_utils import CacheLayerMixin

from modewise.nn.tensor_attention import AttentionCache
from modewise.transformers.options import Options, require

MARK = "modewise_layer"
Attend = Callable[[Tensor, Tensor, Tensor, Options, Tensor | None, Tensor | None], Tensor]


def layer_of(keys: Tensor) -> "LayerCache | None":
    """The layer whose `update` returned these keys."""
    found: LayerCache | None = getattr(keys, MARK, None)
    return found


class LayerCache(CacheLayerMixin):  # type: ignore[misc]
    """Cache of one layer. The library passes it keys and values only; `update` returns them, marked with the layer, to the
    attention function, which calls `attend`."""

    is_croppable = False
    is_sliding = False

    def __init__(self) -> None:
        super().__init__()
        self.reset()

    def reset(self) -> None:
        """Empties the cache."""
        self.tokens = 0
        self.per_row = False  # whether rows have padding, and so a cache each
        self.recorded = False  # whether tokens were processed with gradients, which are not cached
        self.memories: list[AttentionCache] = []

    def lazy_initialization(self, key_states: Tensor, value_states: Tensor) -> None:
        """No effect: `attend` allocates the cache."""

    def update(self, key_states: Tensor, value_states: Tensor, *args: Any, **kwargs: Any) -> tuple[Tensor, Tensor]:
        """The new keys and values [B, G, t, d], unchanged."""
        keys = key_states.view_as(key_states)
        setattr(keys, MARK, self)
        return keys, value_states

    def attend(
        self, q: Tensor, k: Tensor, v: Tensor, options: Options, latents: Tensor | None, mask: Tensor | None, whole: Attend
    ) -> Tensor:
        """Attention of t tokens, q [B, t, H, d], k and v [B, t, G, d], not rotated, after the cached ones -> [B, t, H, d].
        mask [B, n] bool: padding mask of all tokens so far. With gradients, only a whole text, by `whole`."""
        first, new = self.tokens == 0, q.shape[1]
        recorded = torch.is_grad_enabled() and any(x.requires_grad for x in (q, k, v))
        require(not self.recorded and (first or not recorded), "a cache has no gradients: use it under torch.no_grad()")
        self.recorded, self.tokens = recorded, self.tokens + new
        if recorded:
            return whole(q, k, v, options, latents, mask)
        if first:
            self.per_row = mask is not None
            self.memories = [AttentionCache(options.type, options.fold, options.window, options.sinks, options.density, latents,
                                            options.frequencies.to(q.device), options.gains) for _ in range(q.shape[0] if self.per_row else 1)]  # fmt: skip
        if self.per_row:
            return self._rows(q, k, v, torch.ones(q.shape[0], self.tokens, dtype=torch.bool, device=q.device) if mask is None else mask)
        require(mask is None or bool(mask.all()), "attention_mask masks tokens that are cached already")
        return self.memories[0].step(q, k, v)

    def _rows(self, q: Tensor, k: Tensor, v: Tensor, mask: Tensor) -> Tensor:
        """`attend` row by row: padding tokens have rows of 0 and no position in the text."""
        require(len(self.memories) == q.shape[0], f"the cache holds {len(self.memories)} rows, got {q.shape[0]}")
        out, new = torch.zeros_like(q), q.shape[1]
        for row, memory in enumerate(self.memories):
            require(int(mask[row, :-new].sum()) == memory.length, "attention_mask masks tokens that are cached already")
            valid = mask[row, -new:].nonzero()[:, 0]
            if len(valid) > 0:
                out[row, valid] = memory.step(*(x[row, valid][None] for x in (q, k, v)))[0]
        return out

    def get_mask_sizes(self, query_length: int) -> tuple[int, int]:
        """The number of keys of a mask, and its first key."""
        return self.tokens + query_length, 0

    def get_seq_length(self) -> int:
        """Tokens so far, including padding."""
        return self.tokens

    def get_max_length(self) -> int:
        """No limit."""
        return -1

    @property
    def bytes(self) -> int:
        """Size of the cached tensors."""
        return sum(memory.bytes for memory in self.memories)

    def reorder_cache(self, beam_idx: Tensor) -> None:
        """ValueError: beam search is not supported."""
        require(False, "beam search is not supported: rows of a cache cannot be reordered")

    def batch_repeat_interleave(self, repeats: int) -> None:
        """ValueError, as `reorder_cache`."""
        self.reorder_cache(torch.empty(0))

    def batch_select_indices(self, indices: Tensor) -> None:
        """ValueError, as `reorder_cache`."""
        self.reorder_cache(indices)

    def crop(self, tokens_to_remove: int) -> None:
        """ValueError unless 0: tokens of complete blocks are not cached, so none can be removed."""
        require(tokens_to_remove == 0, "a summary cache cannot be cropped: tokens of complete blocks are not cached")


class ModewiseCache(transformers.Cache):  # type: ignore[misc]
    """Cache for `past_key_values`: a window and the summary tokens of complete blocks in each layer, in place of keys and values
    of every token. The default where no cache is given. `config`: the model's."""

    def __init__(self, config: Any) -> None:
        super().__init__(layers=[LayerCache() for _ in range(config.num_hidden_layers)])

    @property
    def bytes(self) -> int:
        """Size of all layers."""
        return sum(layer.bytes for layer in self.layers)


def adopt(cache: Any, config: Any, wanted: bool) -> Any:
    """The cache for a decoder: a ModewiseCache; an empty DynamicCache, the default of `generate`, gets its layers. ValueError for
    any other."""
    if cache is None:
        return ModewiseCache(config) if wanted else None
    layers = getattr(cache, "layers", [])
    if len(layers) > 0 and all(isinstance(layer, LayerCache) for layer in layers):
        return cache
    empty = type(cache) is transformers.DynamicCache and not cache.offloading and cache.get_seq_length() == 0
    require(empty, f"a {type(cache).__name__} is not supported: pass past_key_values=modewise.transformers.ModewiseCache(model.config), "
                   "or none")  # fmt: skip
    cache.layers, cache.layer_class_to_replicate = ModewiseCache(config).layers, None
    return cache
