"""The attention function for the library's attention modules, and the hooks that add latents and options to them and disable
their rotary embedding."""

import inspect
import itertools
import math
from collections.abc import Sequence
from typing import Any, TypeVar

import torch
import transformers
from torch import Tensor, nn
from transformers import initialization

from modewise import ops
from modewise._aliases import old_keywords
from modewise.transformers.cache import adopt, layer_of
from modewise.transformers.options import NAME, Options, configure, head_width, options_of, request, require, require_family

Model = TypeVar("Model", bound=nn.Module)  # a model of the library
LATENT_STD = 0.02  # for several summary tokens, which would stay equal from equal latents


def attend(q: Tensor, k: Tensor, v: Tensor, options: Options, latents: Tensor | None, valid: Tensor | None) -> Tensor:
    """Attention over a whole text: q [B, n, H, d], k and v [B, n, G, d], not rotated -> [B, n, H, d]. valid [B, n] bool, the
    padding mask: tokens with False, at any position, are removed from the text, and their rows are 0."""

    def attended(q: Tensor, k: Tensor, v: Tensor) -> Tensor:
        return ops.tensor_attention(q, k, v, latents, options.frequencies.to(q.device), form=options.type, fold=options.fold, window=options.window,
                                    sinks=options.sinks, density=options.density, gains=options.gains)  # fmt: skip

    if valid is None:
        return attended(q, k, v)
    order = (~valid).to(torch.int8).argsort(dim=-1, stable=True)[..., None, None]
    out = attended(*(x.take_along_dim(order, 1) for x in (q, k, v)))
    return torch.where(valid[..., None, None], out.take_along_dim(order.argsort(1), 1), 0)


def require_in_order(positions: Tensor | None, valid: Tensor | None) -> None:
    """ValueError for positions of several texts packed into one row, which would attend to each other."""
    if positions is None or torch.compiler.is_compiling() or positions.shape[-1] < 2:
        return
    steps = positions.diff(dim=-1)
    if valid is not None:
        steps = torch.where(valid[:, 1:] & valid[:, :-1], steps, 1)
    require(bool((steps == 1).all()), "position_ids must count the tokens of one text per row; texts packed into one row are not supported")


def forward(
    module: nn.Module,
    query: Tensor,
    key: Tensor,
    value: Tensor,
    attention_mask: Tensor | None,
    scaling: float | None = None,
    dropout: float = 0.0,
    **kwargs: Any,
) -> tuple[Tensor, None]:
    """The function of `attn_implementation="modewise_causal"`: query [B, H, t, d], key and value [B, G, t, d], not rotated, after
    the tokens in the cache -> [B, t, H, d]. attention_mask [B, n] bool of all tokens so far. ValueError for unsupported inputs."""
    options = getattr(module, "modewise_options", None)
    require(isinstance(options, Options), "this model was made for another attention: convert it with modewise.transformers.prepare(model)")
    assert isinstance(options, Options)
    require(dropout == 0, f"attention_dropout is {dropout}, but attention weights are never materialized: set it to 0")
    layer, tokens = layer_of(key), query.shape[2]
    require(layer is not None or key.shape[2] == tokens, f"{tokens} tokens follow a cache of another type: pass "
                                                         "past_key_values=modewise.transformers.ModewiseCache(model.config), or none")  # fmt: skip
    require(attention_mask is None or attention_mask.dim() == 2, "attention_mask must be [B, n], a padding mask; a mask of pairs of "
                                                                 "tokens is not supported")  # fmt: skip
    q, k, v = (x.transpose(1, 2) for x in (query, key, value))
    usual = 1 / math.sqrt(q.shape[-1])
    if scaling is not None and not math.isclose(scaling, usual, rel_tol=1e-9):
        q = q * (scaling / usual)
    valid = None if attention_mask is None else attention_mask.bool()
    require_in_order(kwargs.get("position_ids"), None if valid is None else valid[:, -tokens:])
    own: Any = module.latents
    latents = None if own is None else own.to(q.dtype)
    if layer is None:
        return attend(q, k, v, options, latents, valid), None
    return layer.attend(q, k, v, options, latents, valid, attend), None


def mask(
    batch_size: int, q_length: int, kv_length: int, attention_mask: Tensor | None = None, **kwargs: Any
) -> Tensor | None:
    """The padding mask [B, n], unchanged; None without padding."""
    if attention_mask is None:
        return None
    require(attention_mask.shape[-1] == kv_length, f"attention_mask must be [B, {kv_length}], all tokens so far, got {list(attention_mask.shape)}")
    return None if not torch.compiler.is_compiling() and bool(attention_mask.all()) else attention_mask


def start(latents: Tensor) -> Tensor:
    """Initializes latents [m−1, G, r, d] in place: 0, mean pooling of blocks; near 0 for several summary tokens."""
    if latents.shape[2] == 1:
        initialization.zeros_(latents)
    else:
        initialization.normal_(latents, std=LATENT_STD)
    return latents


def number_type(config: Any) -> torch.dtype:
    """The floating-point type of a model whose weights are packed integers."""
    found = getattr(config, "dtype", None)
    return found if isinstance(found, torch.dtype) else torch.get_default_dtype()


def attach(attention: nn.Module, config: Any) -> None:
    """Sets the options and latents [m−1, G, r, d] of an attention module; keeps its existing latents of the levels and summary
    tokens that both have."""
    options = options_of(config)
    attention.modewise_options = options  # type: ignore[assignment]
    before = getattr(attention, "latents", None)
    if options.levels == 0:
        attention.register_parameter("latents", None)
        return
    weight: Tensor = next(itertools.chain(attention.k_proj.parameters(), attention.k_proj.buffers()))  # type: ignore[union-attr]
    heads = int(config.num_key_value_heads)  # a packed weight does not have the size of its matrix
    dtype = weight.dtype if weight.is_floating_point() else number_type(config)
    latents = torch.empty(options.levels, heads, options.summary_tokens, head_width(config), dtype=dtype, device=weight.device)
    with torch.no_grad():
        start(latents)
        if before is not None:
            levels, tokens = min(options.levels, before.shape[0]), min(options.summary_tokens, before.shape[2])
            latents[:levels, :, :tokens] = before[:levels, :, :tokens]
    attention.register_parameter("latents", nn.Parameter(latents))


def identity_rotary(rotary: nn.Module, args: Any, output: tuple[Tensor, Tensor]) -> tuple[Tensor, Tensor]:
    """Replaces the rotary embedding of tokens by cosines of 1 and sines of 0: queries and keys reach `forward` not rotated."""
    if rotary.config._attn_implementation != NAME:  # type: ignore[union-attr]
        return output
    return torch.ones_like(output[0]), torch.zeros_like(output[1])


def with_cache(decoder: nn.Module, args: Any, kwargs: dict[str, Any]) -> tuple[Any, dict[str, Any]]:
    """Replaces the cache of a decoder by a ModewiseCache. Since transformers 5.24 its argument is `cache`, before `past_key_values`."""
    config: Any = decoder.config
    if config._attn_implementation == NAME:
        wanted = config.use_cache if kwargs.get("use_cache") is None else kwargs["use_cache"]
        name = "cache" if "cache" in inspect.signature(decoder.forward).parameters else "past_key_values"
        given = [kwargs.pop(key, None) for key in ("cache", "past_key_values")]
        kwargs[name] = adopt(next((cache for cache in given if cache is not None), None), config, bool(wanted))
    return args, kwargs


class Start:
    """Weight initialization of a decoder, followed by that of the latents."""

    def __init__(self, decoder: Any) -> None:
        self.decoder, self.rule = decoder, type(decoder)._init_weights

    def __call__(self, module: nn.Module) -> None:
        self.rule(self.decoder, module)
        if isinstance(getattr(module, "modewise_options", None), Options) and module.latents is not None:
            start(module.latents)  # type: ignore[arg-type]


def hook(decoder: Any, rotary: nn.Module) -> None:
    """Adds the hooks of a decoder, once: identity rotary embedding, cache, initialization of latents."""
    if not isinstance(decoder.__dict__.get("_init_weights"), Start):
        rotary.register_forward_hook(identity_rotary)
        decoder.register_forward_pre_hook(with_cache, with_kwargs=True)
        decoder._init_weights = Start(decoder)


def on_registration(parent: nn.Module, name: str, child: nn.Module | None) -> None:
    """Registration hook: converts the modules of a model whose config selects this attention while the library builds it, before
    weights are loaded."""
    if name not in ("self_attn", "rotary_emb") and not isinstance(child, transformers.PreTrainedModel):
        return
    config: Any = getattr(child, "config", None)
    if child is None or getattr(config, "_attn_implementation", None) != NAME:
        return
    require_family(config)
    if "attention" not in (getattr(config, "modewise", None) or {}):
        configure(config)
    request(config)
    if name == "self_attn":
        attach(child, config)
    elif name == "rotary_emb":
        hook(parent, child)


@old_keywords({"slots": "summary_tokens"})
def prepare(model: Model, *, attention: str = "summary", fold: Sequence[int] = (), summary_tokens: int = 1, window: int = 0) -> Model:
    """Converts a model of the library, trained or not, to modewise's attention, in place, and returns it. Weights may be packed
    (4 or 8 bits): their layers stay as they are.

    Summary queries (latents [m−1, G, r, d]) become parameters of each attention module: create the optimizer afterwards. They
    initially pool blocks by the mean, so the model starts close to the original one.

    Parameters
    ----------
    model
        A model of the library.
    attention, fold, summary_tokens, window
        As for `configure`.

    Returns
    -------
    model
        The same object.

    Raises
    ------
    ValueError
        For incompatible sizes and unsupported architectures; the model is then unchanged.

    Examples
    --------
    >>> model = prepare(AutoModelForCausalLM.from_pretrained(folder))  # doctest: +SKIP
    """
    config: Any = model.config
    configure(config, attention=attention, fold=fold, summary_tokens=summary_tokens, window=window)
    for module in list(model.modules()):
        if isinstance(rotary := getattr(module, "rotary_emb", None), nn.Module):
            hook(module, rotary)
        if hasattr(module, "k_proj") and hasattr(module, "head_dim"):
            attach(module, config)
    return model


def summary_queries(model: Any, *, train: bool = True) -> dict[str, nn.Parameter]:
    """The summary queries (latents [m−1, G, r, d]) of a prepared model by name, trainable or frozen. Adapters such as those of PEFT
    freeze all weights of a model: call this after them, and give its values to the optimizer.

    Parameters
    ----------
    model
        A prepared model.
    train
        Whether they are trained.

    Returns
    -------
    dict
        Parameters by name; empty for an attention without summaries.

    Examples
    --------
    >>> queries = summary_queries(model)  # doctest: +SKIP
    """
    found = {name: value for name, value in model.named_parameters() if name.rsplit(".", 1)[-1] == "latents"}
    for value in found.values():
        value.requires_grad_(train)
    return found
