"""The cache of generation: a window and the slots of finished blocks a layer in place of every token."""

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
    """The layer whose `update` gave these keys."""
    found: LayerCache | None = getattr(keys, MARK, None)
    return found


class LayerCache(CacheLayerMixin):  # type: ignore[misc]
    """What one layer keeps. The library gives it keys and values alone, so it hands them on, marked with itself, to the
    attention function, which comes back with `attend`."""

    is_croppable = False
    is_sliding = False

    def __init__(self) -> None:
        super().__init__()
        self.reset()

    def reset(self) -> None:
        """No tokens."""
        self.tokens = 0
        self.apart = False  # whether rows have padding and with it a memory each
        self.recorded = False  # whether tokens went by while gradients were recorded, of which nothing is kept
        self.memories: list[AttentionCache] = []

    def lazy_initialization(self, key_states: Tensor, value_states: Tensor) -> None:
        """Nothing is held before the attention function comes."""

    def update(self, key_states: Tensor, value_states: Tensor, *args: Any, **kwargs: Any) -> tuple[Tensor, Tensor]:
        """The new keys and values [B, G, t, d] alone."""
        keys = key_states.view_as(key_states)
        setattr(keys, MARK, self)
        return keys, value_states

    def attend(
        self, q: Tensor, k: Tensor, v: Tensor, options: Options, latents: Tensor | None, mask: Tensor | None, whole: Attend
    ) -> Tensor:
        """t tokens, q [B, t, H, d], k and v [B, t, G, d], not rotated, behind those that are kept -> [B, t, H, d]. mask [B, n]
        bool: which of all tokens so far are there. While gradients are recorded, a whole text alone, by `whole`."""
        first, new = self.tokens == 0, q.shape[1]
        recorded = torch.is_grad_enabled() and any(x.requires_grad for x in (q, k, v))
        require(not self.recorded and (first or not recorded), "a cache has no gradients: read what it holds under torch.no_grad()")
        self.recorded, self.tokens = recorded, self.tokens + new
        if recorded:
            return whole(q, k, v, options, latents, mask)
        if first:
            self.apart = mask is not None
            self.memories = [AttentionCache(options.form, options.fold, options.window, options.sinks, options.density, latents,
                                            options.frequencies.to(q.device), options.gains) for _ in range(q.shape[0] if self.apart else 1)]  # fmt: skip
        if self.apart:
            return self._rows(q, k, v, torch.ones(q.shape[0], self.tokens, dtype=torch.bool, device=q.device) if mask is None else mask)
        require(mask is None or bool(mask.all()), "attention_mask leaves out tokens that the cache has read")
        return self.memories[0].step(q, k, v)

    def _rows(self, q: Tensor, k: Tensor, v: Tensor, mask: Tensor) -> Tensor:
        """Each row for itself: tokens that are not there have rows of 0 and take no place in the text."""
        require(len(self.memories) == q.shape[0], f"the cache has read {len(self.memories)} rows, and {q.shape[0]} are to go on")
        out, new = torch.zeros_like(q), q.shape[1]
        for row, memory in enumerate(self.memories):
            require(int(mask[row, :-new].sum()) == memory.length, "attention_mask leaves out tokens that the cache has read")
            places = mask[row, -new:].nonzero()[:, 0]
            if len(places) > 0:
                out[row, places] = memory.step(*(x[row, places][None] for x in (q, k, v)))[0]
        return out

    def get_mask_sizes(self, query_length: int) -> tuple[int, int]:
        """Keys that a mask covers, and the first of them."""
        return self.tokens + query_length, 0

    def get_seq_length(self) -> int:
        """Tokens so far, padding among them."""
        return self.tokens

    def get_max_length(self) -> int:
        """No limit."""
        return -1

    @property
    def bytes(self) -> int:
        """Of all that is kept."""
        return sum(memory.bytes for memory in self.memories)

    def reorder_cache(self, beam_idx: Tensor) -> None:
        """ValueError: summaries of a row are not copied to another."""
        require(False, "beams are not searched: rows of a cache keep their places")

    def batch_repeat_interleave(self, repeats: int) -> None:
        """ValueError, as `reorder_cache`."""
        self.reorder_cache(torch.empty(0))

    def batch_select_indices(self, indices: Tensor) -> None:
        """ValueError, as `reorder_cache`."""
        self.reorder_cache(indices)

    def crop(self, tokens_to_remove: int) -> None:
        """ValueError but for none: tokens of finished blocks are not kept, so that none can be taken back."""
        require(tokens_to_remove == 0, "a cache of summaries does not go back: tokens of finished blocks are not kept")


class ModewiseCache(transformers.Cache):  # type: ignore[misc]
    """For `past_key_values`: what `generate` keeps of a text, a window and the slots of finished blocks in each layer, in
    place of keys and values of every token. Made without being asked where no cache is given. `config`: the model's."""

    def __init__(self, config: Any) -> None:
        super().__init__(layers=[LayerCache() for _ in range(config.num_hidden_layers)])

    @property
    def bytes(self) -> int:
        """Of all layers."""
        return sum(layer.bytes for layer in self.layers)


def adopt(cache: Any, config: Any, wanted: bool) -> Any:
    """The cache that a decoder shall fill: ours; an empty DynamicCache, which `generate` makes unasked, gets our layers.
    ValueError for any other."""
    if cache is None:
        return ModewiseCache(config) if wanted else None
    layers = getattr(cache, "layers", [])
    if len(layers) > 0 and all(isinstance(layer, LayerCache) for layer in layers):
        return cache
    empty = type(cache) is transformers.DynamicCache and not cache.offloading and cache.get_seq_length() == 0
    require(empty, f"a {type(cache).__name__} keeps something else: give past_key_values=modewise.transformers.ModewiseCache(model.config), "
                   "or none")  # fmt: skip
    cache.layers, cache.layer_class_to_replicate = ModewiseCache(config).layers, None
    return cache
