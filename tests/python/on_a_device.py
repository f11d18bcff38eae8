"""Every operator on a device without kernels of its own: the reference runs there, on tensors of that device alone.

The device is build/lib/libguarded_device.so (tests/ops/guarded_device.cpp), whose memory only libtorch's copies may
touch: a kernel of ours that read it, or wrote to it, would end this process. MODEWISE_TEST_DEVICE=cuda takes a GPU instead.
"""

import copy
import os
import subprocess
import sys
import types

import pytest
import torch

from modewise import nn
from modewise.models.forecast import ForecastShape, TokenForecaster
from modewise.models.language import LanguageLayer
from modewise.nn.synthesizers import ENTRIES
from ops_records import BUILD, RECORDS, ops
from ops_samples import drawer, outputs

LIBRARY = str(BUILD / "lib" / "libguarded_device.so")
DEVICE = os.environ.get("MODEWISE_TEST_DEVICE", "guarded")
GUARDED = pytest.mark.skipif(DEVICE != "guarded", reason="of the guarded device")
ALL = pytest.mark.parametrize("record", RECORDS, ids=lambda record: record.name)


def load_device():
    if DEVICE != "guarded":
        return
    torch.ops.load_library(LIBRARY)
    torch.utils.rename_privateuse1_backend("guarded")
    torch._register_device_module("guarded", types.SimpleNamespace(
        is_available=lambda: True, device_count=lambda: 1, _is_in_bad_fork=lambda: False, manual_seed_all=lambda seed: None,
        get_amp_supported_dtype=lambda: [torch.bfloat16, torch.float16]))


@pytest.fixture(scope="module", autouse=True)
def device():
    """Loaded by the process that runs these tests alone."""
    load_device()
    return torch.device(DEVICE, 0)


@pytest.fixture(autouse=True)
def restored():
    yield
    ops.use_reference(False)


def on_device(value):
    """The value on the device, with the same strides; a leaf stays a leaf."""
    if isinstance(value, list):
        return [on_device(item) for item in value]
    if not isinstance(value, torch.Tensor):
        return value
    return value.detach().to(DEVICE).requires_grad_(value.requires_grad)


def placed(sample, place):
    return [place(value) for value in sample[0]], {name: place(value) for name, value in sample[1].items()}


def results_and_gradients(record, sample):
    """The result, and the gradients of sums weighted by numbers that depend on indices alone."""
    args, kwargs = sample
    leaves = [a.detach().requires_grad_() if record.differentiable and isinstance(a, torch.Tensor) and a.is_floating_point() and a.dtype != torch.float64
              else a for a in args]
    out = outputs(record.call(*leaves, **kwargs))
    recorded = [o for o in out if o.requires_grad]
    if not recorded:
        return out
    wanted = [a for a in leaves if isinstance(a, torch.Tensor) and a.requires_grad]
    weights = [drawer(torch.float64, seed=9)(*o.shape).to(o.dtype).to(o.device) for o in recorded]
    return out + list(torch.autograd.grad(recorded, wanted, weights, allow_unused=True))


def same_as_on_cpu(got, wanted):
    """But for roundings: copies on the CPU may have other strides, which libtorch sums in another order; a GPU sums in an order of its
    own, and normalisations multiply the difference by up to 1/sqrt(eps). Some gradients vanish exactly: their roundings are then
    those of the others."""
    assert len(got) == len(wanted)
    largest = max((w[w.isfinite()].abs().max().item() for w in wanted if w is not None and w.isfinite().any()), default=0.0)
    for g, w in zip(got, wanted, strict=True):
        assert (g is None) == (w is None)
        if g is None:
            continue
        assert g.device.type == DEVICE
        assert g.numel() == 0 or DEVICE != "guarded" or g.stride() == w.stride()  # kernels of a GPU return contiguous tensors
        tolerance = (128 if DEVICE == "guarded" else 1024) * torch.finfo(w.dtype).eps if w.dtype != torch.bfloat16 else 2 * torch.finfo(w.dtype).eps
        torch.testing.assert_close(g.cpu(), w, rtol=tolerance, atol=tolerance * max(1.0, largest), equal_nan=True)


@GUARDED
def test_reading_the_devices_memory_ends_the_process():
    code = (f"import sys; sys.path[:] = {sys.path!r}\nimport ctypes, torch, on_a_device; on_a_device.load_device()\n"
            "x = torch.ones(3).to('guarded'); print(x.sum().item(), flush=True)\n"
            "ctypes.string_at(x.data_ptr(), 4); print('read')\n")  # fmt: skip
    read = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert (read.returncode, read.stdout) == (-11, "3.0\n"), read.stderr


@ALL
@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16], ids=str)
def test_values_and_gradients_are_the_references(record, dtype):
    for sample in record.samples(drawer(dtype))[:: 1 if dtype == torch.float32 else 3]:  # a copy of a tensor costs system calls
        ops.use_reference(True)
        wanted = results_and_gradients(record, sample)
        ops.use_reference(False)
        same_as_on_cpu(results_and_gradients(record, placed(sample, on_device)), wanted)
    assert all(ops.last_kernel(op) in ("reference", "libtorch", "triton") for op in record.kernels)


@ALL
def test_tensors_of_two_devices_are_refused(record):
    for args, kwargs in record.samples(drawer(torch.float32))[:4]:
        tensors = [i for i, value in enumerate(args) if isinstance(value, torch.Tensor)]
        lists = any(isinstance(value, list) and any(isinstance(item, torch.Tensor) for item in value) for value in kwargs.values())
        for i in tensors if len(tensors) > 1 or lists else []:
            moved = [*args[:i], on_device(args[i]), *args[i + 1 :]]
            with pytest.raises(ValueError, match=rf"must be on the device of .*(cpu, got {DEVICE}:0|{DEVICE}:0, got cpu)"):
                record.call(*moved, **kwargs)


def test_backward_operators_refuse_tensors_of_two_devices(device):
    x, grad = torch.ones(2, 3, 4), torch.ones(2, 3, 4, device=device)
    heads = x.view(2, 3, 1, 4)
    scores = torch.ones(2, 1, 3, 3)
    calls = {
        "linear_backward": lambda: ops.linear_backward(grad, x, torch.ones(4, 4)),
        "swiglu_backward": lambda: ops.swiglu_backward(grad, torch.ones(2, 3, 8)),
        "mode_scores_backward": lambda: ops.mode_scores_backward(scores.to(device), scores, x, x, 1),
        "mode_pool_backward": lambda: ops.mode_pool_backward([x], [2, 3, 4], "sum", torch.ones(2, 3, dtype=torch.bool, device=device)),
        "layer_norm_backward": lambda: ops.layer_norm_backward(x, x, torch.ones(2, 3), torch.ones(2, 3, device=device), None, None),
        "batch_norm_backward": lambda: ops.batch_norm_backward(x, x, torch.ones(4), torch.ones(4, device=device), torch.ones(4), 1e-5),
        "rms_norm_backward": lambda: ops.rms_norm_backward(grad, x, torch.ones(2, 3), None),
        "dot_product_attention_backward": lambda: ops.dot_product_attention_backward(grad.view(2, 3, 1, 4), heads, heads, heads, None, False, 1.0),
        "synthesized_attention_backward": lambda: ops.synthesized_attention_backward(
            grad.view(2, 3, 1, 4), heads, heads, heads, None, None, 3, None, False),
        "summary_attention_backward": lambda: ops.summary_attention_backward(
            grad.view(2, 3, 1, 4), heads, heads, heads, None, heads, torch.ones(2, 1, 3), None, None, [0], 2, 0, 1.0, []),
    }
    for name, call in calls.items():
        with pytest.raises(ValueError, match=f"{name}: .* must be on the device of .*, cpu, got {DEVICE}:0"):
            call()


def test_sparse_tensors_are_refused():
    with pytest.raises(ValueError, match="linear: x must be dense, got Sparse"):
        ops.linear(torch.eye(3).to_sparse(), torch.eye(3))


def trained(module, inputs):
    """Output, gradients by name, and buffers, of one step whose dropout is keyed."""
    module.train()
    nn.set_dropout_step(module, 3, 7)
    out = module(*inputs)
    weights = drawer(torch.float32, seed=11)(*out.shape).to(out.device)
    (out * weights).sum().backward()
    return [out.detach(), *(parameter.grad for parameter in module.parameters()), *module.buffers()]


def check_module(module, *inputs):
    """It trains on the device as on the CPU, and all of it is there."""
    moved = copy.deepcopy(module).to(DEVICE)
    assert all(tensor.device.type == DEVICE for tensor in [*moved.parameters(), *moved.buffers()])
    ops.use_reference(True)
    wanted = trained(module, inputs)
    ops.use_reference(False)
    got = trained(moved, [on_device(value) for value in inputs])
    assert any(value is not None and value.abs().sum() > 0 for value in wanted[1:])
    for g, w in zip(got, wanted, strict=True):
        assert (g is None) == (w is None)
        if g is not None:
            assert g.device.type == DEVICE
            torch.testing.assert_close(g.cpu(), w, rtol=1e-5, atol=1e-4 if DEVICE == "cuda" else 1e-5)


MASK = torch.arange(30).view(2, 3, 5) % 7 != 3
BLOCKS = {
    "hot": lambda: nn.KroneckerAttention(8, 2, 2, rope_modes=[1]),
    "hot, mean, dropout": lambda: nn.KroneckerAttention(8, 2, 2, combine="mean", pooling="mean", dropout=0.3),
    "hot, linear": lambda: nn.KroneckerAttention(8, 2, 2, kernel="linear", features=24, share_modes=True),
    "all tokens": lambda: nn.TokenAttention(8, 2, rope_modes=[1], dropout=0.3),
    "divided": lambda: nn.DividedAttention(8, 2, 2, rope_modes=[1]),
    **{name: (lambda name=name: nn.synthesizer(name, [3, 5], 8, 2)) for name in ENTRIES},
}


@pytest.mark.parametrize("name", BLOCKS)
def test_blocks_train(name):
    torch.manual_seed(1)
    feed = nn.GELUNetwork(8, 6, 0.2) if "dropout" in name else nn.SwiGLU(8, 6)
    block = nn.Block(8, BLOCKS[name](), feed, dropout=0.2, layer_scale=0.5)
    check_module(block, torch.randn(2, 3, 5, 8), MASK)


@pytest.mark.parametrize("mechanism", ["hot", "transformer", "spatial", "temporal"])
def test_forecasters_train(mechanism):
    torch.manual_seed(2)
    shape = ForecastShape(series=[3], ordered=[False], lookback=24, horizon=5, quantiles=3, missing=True)
    encoder = nn.EncoderOptions(width=8, hidden=6, layers=1, heads=2, encoding="sincos", rope_modes=[1], mechanism=mechanism)
    model = TokenForecaster(shape, encoder, length=8, stride=4, head="attention" if mechanism == "hot" else "flatten", skip="shared",
                            centre="mean", scale=True, affine=True, cycle=6)  # fmt: skip
    past = torch.randn(2, 3, 24)
    check_module(model, past, past > -1, torch.tensor([3, 11]))


DECODERS = {
    "summary": {"fold": [0, 2, 3], "window": 4, "summary_tokens": 2},
    "full": {},
    "window": {"window": 4},
    "lambda": {"window": 4, "sinks": 2},
    "axial": {"fold": [0, 2, 3]},
    "random": {"density": 0.4},
    "topk": {"density": 0.4},
}


@pytest.mark.parametrize("form", DECODERS)
def test_decoder_layers_train_and_go_on_from_their_cache(form, device):
    torch.manual_seed(3)
    frequencies = torch.tensor([[1.0, 0.2], [0.5, 0.1], [0.3, 0.05]], dtype=torch.float64)
    attention = nn.TensorAttention(8, 2, kv_heads=1, form=form, frequencies=frequencies, **DECODERS[form])
    layer = LanguageLayer(attention, 8, 6, 1e-5, 0.2)
    x = torch.randn(2, 17, 8)
    check_module(layer, x)
    moved = copy.deepcopy(layer).to(device).eval()
    whole, cache = moved(x.to(device)), moved.self_attn.new_cache()
    with torch.no_grad():
        parts = [moved.step(part, cache) for part in x.to(device).split([9, 1, 7], 1)]
    assert cache.length == 17
    torch.testing.assert_close(torch.cat(parts, 1).cpu(), whole.detach().cpu())


def test_autocast_on_the_device(device):
    x, weight = torch.randn(4, 8, device=device), torch.randn(6, 8, device=device)
    with torch.autocast(DEVICE, torch.bfloat16):
        assert ops.linear(x, weight).dtype == torch.bfloat16
        assert ops.layer_norm(x).dtype == torch.float32
        total = ops.sum_of_squares(x)
    torch.testing.assert_close(total.cpu(), x.cpu().double().square().sum())
    with torch.autocast(DEVICE, torch.float16), pytest.raises(ValueError, match="bfloat16 as narrow type, got torch.float16: torch.autocast"):
        ops.linear(x, weight)
