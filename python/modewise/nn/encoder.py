"""Position codes and blocks with the chosen attention over tokens [B, N_1 … N_k, D]: the stack of forecasters."""

import dataclasses
from collections.abc import Sequence

import torch
from torch import Tensor, nn

from modewise.nn.attention import DividedAttention, KroneckerAttention, TokenAttention
from modewise.nn.basic import Dropout, GELUNetwork, SwiGLU, TensorModule
from modewise.nn.block import Block
from modewise.nn.positions import LearnedCode, SinCosCode
from modewise.nn.synthesizers import synthesizer


@dataclasses.dataclass
class EncoderOptions:
    """The options of a token encoder, with the names and defaults of `[model]` in a config."""

    width: int = 64
    hidden: int = 128
    blocks: int = 2
    heads: int = 4
    feed_forward: str = "swiglu"  # swiglu | gelu | none
    dropout: float = 0.1
    layer_scale: float = 0.0
    code: str = "none"  # none | learned | sincos, over the modes with an order
    identity: bool = True  # a learned code for each place of the modes without order
    rope_modes: Sequence[int] = ()
    rope_base: float = 10000.0
    mechanism: str = "hot"  # hot | transformer | spatial | temporal | divided
    form: str = "model"  # the mechanism's own attention, or one of the zoo (nn.synthesizer) in its place
    query_key_norm: bool = True
    attention_dropout: float = 0.0
    combine: str = "product"
    pooling: str = "sum"
    share_modes: bool = False
    attend_modes: Sequence[int] = ()
    kernel: str = "softmax"  # softmax | linear (of hot) | none: blocks without attention
    features: int = 0
    feature_map: str = "softmax"
    feature_draw: str = "seed"  # of the linear kernel: seed (a draw of its own, kept in the state) | fixed (by its place)
    features_redraw_every: int = 0


def make_attention(options: EncoderOptions, sizes: Sequence[int]) -> TensorModule | None:
    """The attention of a block over tokens of a grid `sizes`."""
    if options.kernel == "none":
        return None
    if options.form != "model":
        return synthesizer(options.form, sizes, options.width, options.heads)
    if options.mechanism == "hot":
        drawn = options.kernel == "linear" and options.feature_draw == "seed"
        return KroneckerAttention(
            options.width, options.heads, len(sizes), query_key_norm=options.query_key_norm,
            dropout=options.attention_dropout, combine=options.combine, pooling=options.pooling,
            share_modes=options.share_modes, attend_modes=options.attend_modes, rope_modes=options.rope_modes,
            rope_base=options.rope_base, kernel=options.kernel, features=options.features,
            feature_map=options.feature_map, feature_key=int(torch.randint(2**24, ())) if drawn else None,
            features_redraw_every=options.features_redraw_every)  # fmt: skip
    if options.mechanism == "divided":
        return DividedAttention(options.width, options.heads, len(sizes), query_key_norm=options.query_key_norm,
                                dropout=options.attention_dropout, rope_modes=options.rope_modes,
                                rope_base=options.rope_base)  # fmt: skip
    reach = {"transformer": "all"}.get(options.mechanism, options.mechanism)
    return TokenAttention(options.width, options.heads, reach=reach, query_key_norm=options.query_key_norm,
                          dropout=options.attention_dropout, rope_modes=options.rope_modes,
                          rope_base=options.rope_base)  # fmt: skip


def make_feed_forward(options: EncoderOptions) -> TensorModule | None:
    """The feed-forward of a block."""
    if options.feed_forward == "none":
        return None
    return (SwiGLU if options.feed_forward == "swiglu" else GELUNetwork)(options.width, options.hidden)


class TokenEncoder(TensorModule):
    """tokens [B, N_1 … N_k, D], mask [B, N_1 … N_k] bool -> as tokens.

    `sizes` N_1 … N_k; `ordered`: the modes whose neighbouring places are near each other. Names: identity, positions,
    embedding_dropout, blocks.
    """

    identity: nn.ModuleList | None
    positions: TensorModule | None

    def __init__(self, options: EncoderOptions, sizes: Sequence[int], ordered: Sequence[int], dropout: float = 0.0) -> None:
        super().__init__()
        free = [mode for mode in range(len(sizes)) if mode not in ordered] if options.identity else []
        self.identity = nn.ModuleList(LearnedCode(sizes, [mode], options.width) for mode in free) if free else None
        self.positions = None
        if options.code == "learned":
            self.positions = LearnedCode(sizes, ordered, options.width)
        if options.code == "sincos":
            self.positions = SinCosCode(sizes, ordered, options.width)
        self.embedding_dropout = Dropout(dropout)
        self.blocks = nn.ModuleList(
            Block(options.width, make_attention(options, sizes), make_feed_forward(options),
                  dropout=options.dropout, layer_scale=options.layer_scale)
            for _ in range(options.blocks))  # fmt: skip

    def forward(self, tokens: Tensor, mask: Tensor | None = None) -> Tensor:
        return encoded(tokens, mask, self.identity, self.positions, self.embedding_dropout, self.blocks)


def encoded(
    tokens: Tensor, mask: Tensor | None, identity: nn.ModuleList | None, positions: TensorModule | None, dropout: Dropout, blocks: nn.ModuleList
) -> Tensor:
    """What a TokenEncoder of these parts gives: models that hold the parts under names of their own call it."""
    x = tokens
    for code in identity or ():
        x = code(x)
    if positions is not None:
        x = positions(x)
    x = dropout(x)
    for block in blocks:
        x = block(x, mask)
    return x
