"""`torch.nn.Module`s over `modewise.ops`, with the parameter names of the program's files.

In evaluation mode and float32 on the CPU their results equal the program's bit for bit.
"""

from modewise import _aliases
from modewise.nn.attention import DividedAttention, KroneckerAttention, TokenAttention
from modewise.nn.basic import (
    BatchNorm,
    Dropout,
    FeatureDraw,
    LayerNorm,
    Linear,
    RMSNorm,
    SeriesLinear,
    set_dropout_step,
)
from modewise.nn.block import Block
from modewise.nn.encoder import EncoderOptions, TokenEncoder
from modewise.nn.feed_forward import GELUNetwork, SwiGLU
from modewise.nn.future_covariate_effect import FutureCovariateEffect
from modewise.nn.patches import Convolution, GridPatches, GridStem, PatchEmbedding
from modewise.nn.positions import ModeEmbedding, SinCosEncoding, sin_cos_positions
from modewise.nn.recompute import recompute
from modewise.nn.residual_block import ResidualBlock
from modewise.nn.rotary import rotary_angles
from modewise.nn.synthesizers import synthesizer
from modewise.nn.tensor_attention import AttentionCache, TensorAttention, rotary_frequencies
from modewise.nn.time_head import TimeHead, split_quantiles
from modewise.nn.window import NormalizedWindow, WindowNormalization

__all__ = [
    "AttentionCache",
    "BatchNorm",
    "Block",
    "Convolution",
    "DividedAttention",
    "Dropout",
    "EncoderOptions",
    "FeatureDraw",
    "FutureCovariateEffect",
    "GELUNetwork",
    "GridPatches",
    "GridStem",
    "KroneckerAttention",
    "LayerNorm",
    "Linear",
    "ModeEmbedding",
    "NormalizedWindow",
    "PatchEmbedding",
    "RMSNorm",
    "ResidualBlock",
    "SeriesLinear",
    "SinCosEncoding",
    "SwiGLU",
    "TensorAttention",
    "TimeHead",
    "TokenAttention",
    "TokenEncoder",
    "WindowNormalization",
    "recompute",
    "rotary_angles",
    "rotary_frequencies",
    "set_dropout_step",
    "sin_cos_positions",
    "split_quantiles",
    "synthesizer",
]

OLD_NAMES = {"KnownEffect": "FutureCovariateEffect", "LearnedCode": "ModeEmbedding", "SinCosCode": "SinCosEncoding"}
__getattr__ = _aliases.old_names(__name__, OLD_NAMES)
