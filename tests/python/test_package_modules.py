"""Modules of modewise.nn: masks, empty batches, and options that a module cannot take."""

import math
import re

import pytest
import torch

from modewise import nn
from modewise.nn.synthesizers import ENTRIES

MODULES = {
    "kronecker attention": lambda: nn.KroneckerAttention(8, 2, 2, rope_modes=[1]),
    "linear attention": lambda: nn.KroneckerAttention(8, 2, 2, kernel="linear"),
    "token attention": lambda: nn.TokenAttention(8, 2, rope_modes=[0, 1]),
    "spatial attention": lambda: nn.TokenAttention(8, 2, scope="spatial"),
    "divided attention": lambda: nn.DividedAttention(8, 2, 2, rope_modes=[1]),
    "block": lambda: nn.Block(8, nn.KroneckerAttention(8, 2, 2), nn.SwiGLU(8, 16)),
    "batch norm": lambda: nn.BatchNorm(8),
    "trained batch norm": lambda: nn.BatchNorm(8).eval(),
    "mean": lambda: nn.TimeHead("mean", 4, 8, 2, 6),
    "pooling": lambda: nn.TimeHead("attention", 4, 8, 2, 6),
    "flatten": lambda: nn.TimeHead("flatten", 4, 8, 2, 6),
    **{name: lambda name=name: nn.synthesizer(name, [3, 4], 8, 2) for name in ENTRIES},
}


def tokens_and_mask():
    generator = torch.Generator().manual_seed(3)
    mask = torch.rand(2, 3, 4, generator=generator) > 0.4
    mask[..., 1] = True
    return torch.randn(2, 3, 4, 8, generator=generator), mask


@pytest.mark.parametrize("name", MODULES)
def test_nothing_under_a_mask_reaches_results_or_gradients(name):
    torch.manual_seed(0)
    module, (x, mask) = MODULES[name](), tokens_and_mask()
    found = []
    for value in (None, 1e3, math.nan, -math.inf):
        given = x.clone()
        if value is not None:
            given[~mask] = value
        out = module(given.requires_grad_(), mask)
        out = out if out.dim() < 4 else out[mask]
        inner = torch.autograd.grad(out.square().sum(), [given, *module.parameters()])
        found.append([out, inner[0][mask], *inner[1:]])
        assert all(tensor.isfinite().all() for tensor in (out, *inner))
    if name == "flatten":  # of all tokens, masked ones, too
        found = found[2:]
    for other in found[1:]:
        assert torch.equal(other[0], found[0][0])
        torch.testing.assert_close(other, found[0])


@pytest.mark.parametrize("name", MODULES)
def test_masks_of_another_shape_or_type_are_sentences(name):
    module, (x, mask) = MODULES[name](), tokens_and_mask()
    for other in (mask.transpose(1, 2), mask.float(), mask[0], mask.flatten(1)):
        wanted = re.escape(f"mask must be bool [2, 3, 4], got {other.dtype} {list(other.shape)}")
        with pytest.raises(ValueError, match=rf"^\w+: {wanted}$"):
            module(x, other)


@pytest.mark.parametrize("name", [name for name in MODULES if name != "batch norm"])
def test_an_empty_batch_has_an_empty_result(name):
    module, (x, mask) = MODULES[name](), tokens_and_mask()
    wanted = module(x, mask).shape[1:]
    assert module(x[:0]).shape == module(x[:0], mask[:0]).shape == (0, *wanted)


def test_the_modules_of_other_inputs_take_empty_batches():
    for attention in (nn.TensorAttention(8, 2, form="full"), nn.TensorAttention(8, 2, fold=[0, 4])):
        assert attention(torch.ones(0, 9, 8)).shape == (0, 9, 8)
    for patches in (nn.GridPatches(3, [4, 4], 8), nn.GridStem(2, 3, 4, 8).eval()):
        tokens, mask = patches(torch.ones(0, 8, 8, 3), torch.ones(0, 8, 8, dtype=torch.bool))
        assert tokens.shape == (0, 2, 2, 8) and mask.shape == (0, 2, 2)


def encoder(**options):
    return nn.TokenEncoder(nn.EncoderOptions(width=8, heads=2, **options), [3, 4], [1])


def hot(**options):
    return nn.KroneckerAttention(8, 2, 2, **options)


def linear(**options):
    return hot(kernel="linear", **options)


X, SEEN = torch.ones(1, 3, 4, 8), torch.ones(1, 3, 4, dtype=torch.bool)
REFUSED = [
    (lambda: encoder(feed_forward="swigl"), "EncoderOptions: feed_forward must be swiglu, gelu or none, got 'swigl'"),
    (lambda: encoder(encoding="sinusoid"), "EncoderOptions: encoding must be none, learned or sincos, got 'sinusoid'"),
    (lambda: encoder(mechanism="transformer", mode_masks=["none", "causal"]), 'EncoderOptions: mode_masks need mechanism = "hot", kernel = "softmax" and '
                                                                              'attention_type = "model", got "transformer", "softmax" and "model"'),
    (lambda: nn.KroneckerAttention(8, 2, 2, mode_masks=["none", "none", "causal"]), "KroneckerAttention: mode_masks must be empty or one for each of the "
                                                                                   "2 modes, got 3"),
    (lambda: nn.KroneckerAttention(8, 2, 2, attend_modes=[2]), "KroneckerAttention: attend_modes must be from 0 to 1, got 2"),
    (lambda: nn.KroneckerAttention(8, 3, 2), "KroneckerAttention: heads = 3 must divide the width 8"),
    (lambda: nn.TensorAttention(8, 3), "TensorAttention: heads = 3 must divide the width 8"),
    (lambda: nn.TimeHead("attention", 4, 8, 0, 6), "TimeHead: heads = 0 must divide the width 8"),
    (lambda: nn.DividedAttention(8, 2, 2, rope_modes=[-1]), "DividedAttention: rope_modes must be from 0 to 1, got -1"),
    (lambda: nn.DividedAttention(8, 2, 1)(X), "DividedAttention: x must have 3 axes (batch, modes, channels), got [1, 3, 4, 8]"),
    (lambda: nn.TokenAttention(8, 2, rope_modes=[1, 1])(X), "rotary_angles: modes must not repeat a mode, got [1, 1]"),
    (lambda: nn.TokenAttention(8, 2, rope_modes=[7])(X), "rotary_angles: modes must be from 0 to 1, got 7"),
    (lambda: nn.TokenAttention(8, 4, rope_modes=[0, 1])(X), "rotary_angles: 2 modes need heads of at least 4 channels, got 2"),
    (lambda: nn.ModeEmbedding([3, 5], [-1], 8), "position encoding: modes must be from 0 to 1, got -1"),
    (lambda: nn.sin_cos_positions([3, 5], 3), "sin_cos_positions: each of 2 modes needs two channels, got a width of 3"),
    (lambda: nn.ModeEmbedding([3, 5, 1], [0, 2], 8)(torch.zeros(2, 1, 5, 1, 8)), "ModeEmbedding: tokens must be [B, 3, N_2, 1, 8], got [2, 1, 5, 1, 8]"),
    (lambda: nn.ModeEmbedding([3, 5, 1], [0, 2], 8)(torch.zeros(2, 3, 5, 4, 8)), "ModeEmbedding: tokens must be [B, 3, N_2, 1, 8], got [2, 3, 5, 4, 8]"),
    (lambda: nn.ModeEmbedding([3, 5], [0], 8)(torch.zeros(5, 8)), "ModeEmbedding: tokens must be [B, 3, N_2, 8], got [5, 8]"),
    (lambda: nn.ModeEmbedding([3, 5], [0], 8)(torch.zeros(2, 3, 5, 1)), "ModeEmbedding: tokens must be [B, 3, N_2, 8], got [2, 3, 5, 1]"),
    (lambda: nn.SinCosEncoding([3, 5], [1], 8)(torch.zeros(2, 3, 1, 8)), "SinCosEncoding: tokens must be [B, N_1, 5, 8], got [2, 3, 1, 8]"),
    (lambda: encoder()(torch.zeros(2, 1, 4, 8)), "ModeEmbedding: tokens must be [B, 3, N_2, 8], got [2, 1, 4, 8]"),
    (lambda: nn.PatchEmbedding(2, 2, 8)(X, torch.ones_like(X, dtype=torch.bool)), "PatchEmbedding: observed was given, but the embedding has no flags"),
    (lambda: nn.GridPatches(8, [2, 2], 8)(X, SEEN[:, :2]), "GridPatches: valid must be bool [1, 3, 4], got torch.bool [1, 2, 4]"),
    (lambda: hot()(X[0]), "KroneckerAttention: x must have 4 axes (batch, modes, channels), got [3, 4, 8]"),
    (lambda: hot().factors(X[0]), "KroneckerAttention: x must have 4 axes (batch, modes, channels), got [3, 4, 8]"),
    (lambda: nn.SeriesLinear(6, 4, 2)(torch.zeros(2, 1, 4)), "SeriesLinear: x must have 6 series, got [2, 1, 4]"),
    (lambda: hot(combine="max"), "KroneckerAttention: combine must be product, sum or mean, got 'max'"),
    (lambda: hot(pooling="max"), "KroneckerAttention: pooling must be sum or mean, got 'max'"),
    (lambda: hot(kernel="none"), "KroneckerAttention: kernel must be softmax or linear, got 'none'"),
    (lambda: hot(feature_map="relu"), "KroneckerAttention: feature_map must be softmax or regularised, got 'relu'"),
    (lambda: nn.KroneckerAttention(8, 2, 0), "KroneckerAttention: modes must be at least 1, got 0"),
    (lambda: hot(kernel="linear", features=-1), "KroneckerAttention: features must be at least 0, got -1"),
    (lambda: hot(features=64), 'KroneckerAttention: features = 64 has no effect with kernel = "softmax"'),
    (lambda: hot(feature_map="regularised"), 'KroneckerAttention: feature_map = "regularised" has no effect with kernel = "softmax"'),
    (lambda: hot(feature_key=3), 'KroneckerAttention: feature_key = 3 has no effect with kernel = "softmax"'),
    (lambda: hot(features_redraw_every=4), 'KroneckerAttention: features_redraw_every = 4 has no effect with kernel = "softmax"'),
    (lambda: linear(features_redraw_every=4), "KroneckerAttention: features_redraw_every = 4 has no effect with feature_key = None"),
    (lambda: linear(dropout=0.5), 'KroneckerAttention: dropout = 0.5 has no effect with kernel = "linear", which never forms the weights'),
    (lambda: linear(mode_masks=["none", "causal"]), "KroneckerAttention: mode_masks = ['none', 'causal'] has no effect with kernel = \"linear\""),
    (lambda: hot(rope_base=100.0), "KroneckerAttention: rope_base = 100.0 has no effect with rope_modes = []"),
    (lambda: nn.TokenAttention(8, 2, rope_base=100.0), "TokenAttention: rope_base = 100.0 has no effect with rope_modes = []"),
    (lambda: nn.DividedAttention(8, 2, 2, rope_base=100.0), "DividedAttention: rope_base = 100.0 has no effect with rope_modes = []"),
    (lambda: nn.WindowNormalization([3], cycle_gain=5.0), "WindowNormalization: cycle_gain = 5.0 has no effect with cycle = 0"),
    (lambda: nn.Dropout(-1.0), "Dropout: probability must be from 0 to 1, got -1.0"),
    (lambda: hot(dropout=1.5), "Dropout: probability must be from 0 to 1, got 1.5"),
    (lambda: linear(feature_key=2**24), "FeatureDraw: key must be from 0 to 16777215, got 16777216"),
    (lambda: linear(feature_key=-1), "FeatureDraw: key must be from 0 to 16777215, got -1"),
    (lambda: linear(feature_key=1, features_redraw_every=-1), "FeatureDraw: redraw_every must not be negative, got -1"),
    (lambda: encoder(attention_type="dense", attention_dropout=0.5), 'EncoderOptions: attention_dropout = 0.5 has no effect with attention_type = "dense"'),
    (lambda: encoder(attention_type="dense", rope_modes=[1]), 'EncoderOptions: rope_modes = [1] has no effect with attention_type = "dense"'),
    (lambda: encoder(mechanism="transformer", combine="sum"), 'EncoderOptions: combine = "sum" has no effect with mechanism = "transformer"'),
    (lambda: encoder(kernel="none", query_key_norm=False), 'EncoderOptions: query_key_norm = False has no effect with kernel = "none"'),
    (lambda: encoder(kernel="linear", attention_dropout=0.5), 'EncoderOptions: attention_dropout = 0.5 has no effect with kernel = "linear"'),
    (lambda: encoder(feed_forward="none", hidden=7), 'EncoderOptions: hidden = 7 has no effect with feed_forward = "none"'),
    (lambda: encoder(kernel="linear", feature_draw="fixed", features_redraw_every=2), "EncoderOptions: features_redraw_every = 2 has no effect with feature_draw "
                                                                                      '= "fixed"'),
]  # fmt: skip


@pytest.mark.parametrize("make, sentence", REFUSED, ids=[sentence[:40] for _, sentence in REFUSED])
def test_options_that_cannot_act_are_sentences(make, sentence):
    with pytest.raises(ValueError) as error:
        make()
    assert str(error.value) == sentence


def test_the_linear_kernel_of_other_mechanisms_is_the_programs():
    with pytest.raises(NotImplementedError, match='^mechanism = "transformer" and attention_type = "model" with kernel = "linear" have no module'):
        encoder(mechanism="transformer", kernel="linear")


def test_modes_of_an_encoding_come_in_any_order():
    one, other = (nn.SinCosEncoding([3, 5], modes, 8)(torch.zeros(1, 3, 5, 8)) for modes in ([1, 0], [0, 1]))
    assert torch.equal(one, other) and torch.equal(one[0], nn.sin_cos_positions([3, 5], 8))


@pytest.mark.parametrize("name", ["kronecker attention", "token attention", "divided attention", "block"])
def test_vmap_has_the_bits_of_one_call_after_another(name):
    torch.manual_seed(3)
    module, x = MODULES[name](), torch.randn(3, 2, 3, 4, 8, requires_grad=True)
    mapped, single = torch.func.vmap(module)(x), torch.stack([module(one) for one in x])
    assert torch.equal(mapped, single)
    assert torch.equal(*(torch.autograd.grad(out.square().sum(), x)[0] for out in (mapped, single)))


def test_modules_show_their_sizes_and_options():
    shown = repr(nn.Block(8, nn.KroneckerAttention(8, 2, 2, dropout=0.1), nn.SwiGLU(8, 16)))
    for text in ("KroneckerAttention(\n    heads=2, modes=2, combine=product, pooling=sum, kernel=softmax\n", "Linear(in_features=8, out_features=16, bias=True)",
                 "Linear(in_features=16, out_features=8, bias=False)", "LayerNorm(4, eps=1e-05)", "Dropout(0.1)"):  # fmt: skip
        assert text in shown
    assert repr(nn.SeriesLinear(3, 4, 2)) == "SeriesLinear(series=3, in_features=4, out_features=2)"
    assert repr(nn.ModeEmbedding([3, 5], [1], 8)) == "ModeEmbedding(modes=[1], view=[1, 5, 8])"


def test_batch_norms_state_is_that_of_torch():
    theirs, ours = torch.nn.BatchNorm1d(5), nn.BatchNorm(5)
    theirs(torch.randn(9, 5, generator=torch.Generator().manual_seed(1)))
    ours.load_state_dict(theirs.state_dict())
    back = torch.nn.BatchNorm1d(5)
    back.load_state_dict(ours.state_dict())
    for name in ("weight", "bias", "running_mean", "running_var"):
        assert torch.equal(theirs.state_dict()[name], back.state_dict()[name])
    x = torch.randn(4, 5)
    torch.testing.assert_close(ours.eval()(x), theirs.eval()(x))


def test_a_product_of_factors_keeps_tiny_weights_of_valid_tokens():
    generator = torch.Generator().manual_seed(3)
    module = nn.synthesizer("product-random", [3, 5], 8, 2).double()
    a, b = module.factor0, module.factor1  # [H, 5, 5], [H, 3, 3]
    with torch.no_grad():
        for factor in (a, b):
            factor.copy_(torch.randn(factor.shape, dtype=torch.float64, generator=generator))[..., 0] = 900
    folded = torch.ones(3, 5, 3, dtype=torch.bool)
    folded[0, 0] = folded[0, :, 0] = folded[2] = False
    mask = folded.view(3, 3, 5)
    x = torch.randn(3, 3, 5, 8, dtype=torch.float64, generator=generator)

    logits = (a[:, :, None, :, None] + b[:, None, :, None, :]).reshape(2, 15, 15)  # their Kronecker sum
    weights = torch.softmax(logits.masked_fill(~mask.flatten(1)[:, None, None], -1e9), -1)
    values = module.value_proj(x).flatten(1, 2).unflatten(-1, (2, 4))
    wanted = module.out_proj(torch.einsum("bhmn,bnhd->bmhd", weights, values).flatten(2)).view_as(x)
    found = module(x, mask)
    assert (found[:2] - wanted[:2]).abs().max() < 1e-12
    assert torch.equal(found[2], module.out_proj.bias.expand(3, 5, 8))  # no valid token

    def gradients(out):
        return torch.autograd.grad(out[mask].square().sum(), [a, b], retain_graph=True)

    for own, formula in zip(gradients(found), gradients(wanted), strict=True):
        assert (own - formula).abs().max() < 1e-10
