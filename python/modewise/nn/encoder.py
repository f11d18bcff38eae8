"""Token encoder: position encoding and transformer blocks over tokens [B, N_1 … N_k, D]."""

import dataclasses
from collections.abc import Sequence

import torch
from torch import Tensor, nn

from modewise._aliases import REGISTRY_ENTRIES, current, old_fields
from modewise.nn.attention import DividedAttention, KroneckerAttention, TokenAttention
from modewise.nn.basic import Dropout, TensorModule, number_dropouts
from modewise.nn.block import Block
from modewise.nn.checks import checked_choice, checked_modes, idle_options, refuse_idle
from modewise.nn.feed_forward import GELUNetwork, SwiGLU
from modewise.nn.positions import ModeEmbedding, SinCosEncoding
from modewise.nn.synthesizers import ENTRIES, synthesizer


@old_fields({"blocks": "layers", "code": "encoding", "identity": "mode_embeddings", "form": "attention_type"})
@dataclasses.dataclass
class EncoderOptions:
    """Options of a token encoder, with the names and defaults of `[model]` in a config.

    Examples
    --------
    >>> EncoderOptions(layers=3).heads
    4
    """

    width: int = 64
    hidden: int = 128
    layers: int = 2
    heads: int = 4
    feed_forward: str = "swiglu"  # swiglu | gelu | none
    dropout: float = 0.1
    layer_scale: float = 0.0
    encoding: str = "none"  # none | learned | sincos position encoding of the modes with an order
    mode_embeddings: bool = True  # learned embeddings of the positions of modes without an order
    rope_modes: Sequence[int] = ()
    rope_base: float = 10000.0
    mechanism: str = "hot"  # hot | transformer | spatial | temporal | divided
    attention_type: str = "model"  # the mechanism's own attention, or an entry of the attention registry (nn.synthesizer)
    query_key_norm: bool = True
    attention_dropout: float = 0.0
    combine: str = "product"
    pooling: str = "sum"
    share_modes: bool = False
    attend_modes: Sequence[int] = ()
    mode_masks: Sequence[str] = ()  # of each mode: none | causal | band:W
    kernel: str = "softmax"  # softmax | linear (hot only) | none: blocks without attention
    features: int = 0
    feature_map: str = "softmax"
    feature_draw: str = "seed"  # of the linear kernel: seed (drawn for each layer, saved in the state) | fixed (by the site)
    features_redraw_every: int = 0


def reasons_of(options: EncoderOptions) -> dict[str, str]:
    """Why options have no effect with the others; "" if they have one."""
    kernel, mechanism, of_type = (f'{name} = "{getattr(options, name)}"' for name in ("kernel", "mechanism", "attention_type"))
    no_attention = kernel if options.kernel == "none" else ""
    registry = no_attention or ("" if options.attention_type == "model" else of_type)
    not_hot = registry or ("" if options.mechanism == "hot" else mechanism)
    not_linear = "" if options.kernel == "linear" else kernel
    return {
        "hidden": 'feed_forward = "none"' if options.feed_forward == "none" else "",
        "attention_type": no_attention, "query_key_norm": registry, "rope_modes": registry,
        "rope_base": registry or ("" if options.rope_modes else "rope_modes = []"),
        "attention_dropout": registry or (kernel if options.kernel == "linear" else ""),
        "combine": not_hot, "pooling": not_hot, "share_modes": not_hot, "attend_modes": not_hot,
        "features": not_linear, "feature_map": not_linear, "feature_draw": not_linear,
        "features_redraw_every": not_linear or ('feature_draw = "fixed"' if options.feature_draw == "fixed" else ""),
    }  # fmt: skip


def with_effect(options: EncoderOptions) -> EncoderOptions:
    """Options in which those without effect, as in the configs of sweeps and presets, have their defaults."""
    usual = vars(EncoderOptions())
    return dataclasses.replace(options, **{name: usual[name] for name in idle_options(vars(options), usual, reasons_of(options))})


def check_options(options: EncoderOptions) -> None:
    """ValueError for unknown names and options without effect; NotImplementedError for what only the program has."""
    choices = {"feed_forward": ("swiglu", "gelu", "none"), "encoding": ("none", "learned", "sincos"), "kernel": ("softmax", "linear", "none"),
               "mechanism": ("hot", "transformer", "spatial", "temporal", "divided"), "feature_draw": ("seed", "fixed")}  # fmt: skip
    for name, values in choices.items():
        checked_choice("EncoderOptions", name, getattr(options, name), values)
    masked = options.mechanism == "hot" and options.kernel == "softmax" and options.attention_type == "model"
    if options.mode_masks and not masked:
        raise ValueError('EncoderOptions: mode_masks need mechanism = "hot", kernel = "softmax" and attention_type = "model", got '
                         f'"{options.mechanism}", "{options.kernel}" and "{options.attention_type}"')  # fmt: skip
    if options.kernel == "linear" and (options.mechanism != "hot" or options.attention_type != "model"):
        raise NotImplementedError(f'mechanism = "{options.mechanism}" and attention_type = "{options.attention_type}" with kernel = "linear" have '
                                  "no module in Python yet")  # fmt: skip
    refuse_idle("EncoderOptions", vars(options), vars(EncoderOptions()), reasons_of(options))


def make_attention(options: EncoderOptions, sizes: Sequence[int]) -> TensorModule | None:
    """The attention of a block over a token grid of `sizes`."""
    if options.kernel == "none":
        return None
    if options.attention_type != "model":
        if current(REGISTRY_ENTRIES, options.attention_type) not in ENTRIES:
            raise NotImplementedError(f'attention.type = "{options.attention_type}" has no module in Python yet; the program runs it')
        return synthesizer(current(REGISTRY_ENTRIES, options.attention_type), sizes, options.width, options.heads)
    if options.mechanism == "hot":
        drawn = options.kernel == "linear" and options.feature_draw == "seed"
        return KroneckerAttention(
            options.width, options.heads, len(sizes), query_key_norm=options.query_key_norm,
            dropout=options.attention_dropout, combine=options.combine, pooling=options.pooling,
            share_modes=options.share_modes, attend_modes=options.attend_modes, mode_masks=options.mode_masks, rope_modes=options.rope_modes,
            rope_base=options.rope_base, kernel=options.kernel, features=options.features,
            feature_map=options.feature_map, feature_key=int(torch.randint(2**24, ())) if drawn else None,
            features_redraw_every=options.features_redraw_every)  # fmt: skip
    if options.mechanism == "divided":
        return DividedAttention(options.width, options.heads, len(sizes), query_key_norm=options.query_key_norm,
                                dropout=options.attention_dropout, rope_modes=options.rope_modes,
                                rope_base=options.rope_base)  # fmt: skip
    scope = {"transformer": "all"}.get(options.mechanism, options.mechanism)
    return TokenAttention(options.width, options.heads, scope=scope, query_key_norm=options.query_key_norm,
                          dropout=options.attention_dropout, rope_modes=options.rope_modes,
                          rope_base=options.rope_base)  # fmt: skip


def make_feed_forward(options: EncoderOptions) -> TensorModule | None:
    """The feed-forward network of a block."""
    if options.feed_forward == "none":
        return None
    return (SwiGLU if options.feed_forward == "swiglu" else GELUNetwork)(options.width, options.hidden)


class TokenEncoder(TensorModule):
    """tokens [B, N_1 … N_k, D], mask [B, N_1 … N_k] bool -> as tokens.

    `sizes` N_1 … N_k; `ordered`: modes with an order, such as time. Names: identity, positions, embedding_dropout, blocks.

    Parameters
    ----------
    options
        EncoderOptions.
    sizes
        N_1 … N_k.
    ordered
        Modes with an order, such as time.
    dropout
        Dropout probability of the embeddings.

    Examples
    --------
    >>> TokenEncoder(EncoderOptions(width=16), [3, 5], ordered=[1])(torch.ones(1, 3, 5, 16)).shape
    torch.Size([1, 3, 5, 16])
    """

    identity: nn.ModuleList | None
    positions: TensorModule | None

    def __init__(self, options: EncoderOptions, sizes: Sequence[int], ordered: Sequence[int], dropout: float = 0.0) -> None:
        super().__init__()
        check_options(options)
        ordered = checked_modes("TokenEncoder", "ordered", ordered, len(sizes))
        free = [mode for mode in range(len(sizes)) if mode not in ordered] if options.mode_embeddings else []
        self.identity = nn.ModuleList(ModeEmbedding(sizes, [mode], options.width) for mode in free) if free else None
        self.positions = None
        if options.encoding == "learned":
            self.positions = ModeEmbedding(sizes, ordered, options.width)
        if options.encoding == "sincos":
            self.positions = SinCosEncoding(sizes, ordered, options.width)
        self.embedding_dropout = Dropout(dropout)
        self.blocks = nn.ModuleList(
            Block(options.width, make_attention(options, sizes), make_feed_forward(options),
                  dropout=options.dropout, layer_scale=options.layer_scale)
            for _ in range(options.layers))  # fmt: skip
        number_dropouts(self)

    def forward(self, tokens: Tensor, mask: Tensor | None = None) -> Tensor:
        return encoded(tokens, mask, self.identity, self.positions, self.embedding_dropout, self.blocks)


def encoded(
    tokens: Tensor, mask: Tensor | None, identity: nn.ModuleList | None, positions: TensorModule | None, dropout: Dropout, blocks: nn.ModuleList
) -> Tensor:
    """The forward pass of a TokenEncoder, for models that hold its parts under other names."""
    x = tokens
    for embedding in identity or ():
        x = embedding(x)
    if positions is not None:
        x = positions(x)
    x = dropout(x)
    for block in blocks:
        x = block(x, mask)
    return x
