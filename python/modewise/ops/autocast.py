"""Autocast rules of the operators, as for torch's own: matrix products run in the narrow type, and operators that combine
tensors of two types take the wider one. All others run in the type of their inputs: norms, softmax and losses compute
their statistics in float32 for any type.
"""

from collections.abc import Callable
from typing import Any

import torch
from torch import Tensor

NARROW = (
    "linear",
    "matmul",
    "convolution",
    "feed_forward",
    "dot_product_attention",
    "synthesized_attention",
    "summary_attention",
    "kronecker_attention",
    "mode_attention",
    "full_attention",
    "axis_attention",
    "tensor_attention",
    "hashed_attention",
    "nystroem_attention",
)
WIDEST = ("mode_product", "mode_contract", "mode_scores", "dropout_add", "dropout_add_norm", "language_loss", "token_losses")


def cast(value: Any, dtype: torch.dtype) -> Any:
    """Floating-point tensors except float64, also in lists, as `dtype`."""
    if isinstance(value, Tensor):
        return value.to(dtype) if value.is_floating_point() and value.dtype != torch.float64 else value
    if isinstance(value, (list, tuple)):
        return [cast(item, dtype) for item in value]
    return value


def widest(values: tuple[Any, ...]) -> torch.dtype:
    """bfloat16 if all floating-point tensors are, else float32."""
    floating = [value.dtype for value in values if isinstance(value, Tensor) and value.is_floating_point()]
    return torch.bfloat16 if floating and all(dtype == torch.bfloat16 for dtype in floating) else torch.float32


def narrow_type(device: str) -> torch.dtype:
    """The autocast type of a device; ValueError for float16, torch's default for GPUs."""
    name = torch._C._get_privateuse1_backend_name() if device == "privateuseone" else device
    dtype = torch.get_autocast_dtype(name)
    if dtype == torch.float16:
        raise ValueError(f"autocast: the operators take bfloat16 as narrow type, got torch.float16: torch.autocast({name!r}, torch.bfloat16)")
    return dtype


def narrow_kernel(op: Any, device: str) -> Callable[..., Any]:
    def kernel(_: Any, *args: Any, **kwargs: Any) -> Any:
        dtype = narrow_type(device)
        with torch._C._ExcludeDispatchKeyGuard(torch._C.DispatchKeySet(autocast_key(device))):
            return op(*(cast(value, dtype) for value in args), **{name: cast(value, dtype) for name, value in kwargs.items()})

    return kernel


def widest_kernel(op: Any, device: str) -> Callable[..., Any]:
    def kernel(_: Any, *args: Any, **kwargs: Any) -> Any:
        dtype = widest((*args, *kwargs.values()))
        with torch._C._ExcludeDispatchKeyGuard(torch._C.DispatchKeySet(autocast_key(device))):
            return op(*(cast(value, dtype) for value in args), **{name: cast(value, dtype) for name, value in kwargs.items()})

    return kernel


KEYS = {"cpu": "AutocastCPU", "cuda": "AutocastCUDA", "xpu": "AutocastXPU", "privateuseone": "AutocastPrivateUse1"}


def autocast_key(device: str) -> Any:
    return getattr(torch._C.DispatchKey, KEYS[device])


_library = torch.library.Library("modewise", "IMPL")


def register() -> None:
    """Registers the autocast kernels; called once, at import."""
    for device, key in KEYS.items():
        for names, kernel_of in ((NARROW, narrow_kernel), (WIDEST, widest_kernel)):
            for name in names:
                op = getattr(torch.ops.modewise, name).default
                _library.impl(name, kernel_of(op, device), key, with_keyset=True)
