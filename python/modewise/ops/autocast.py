"""What torch.autocast does with the operators, as with torch's own: products of matrices run in the narrow type, and
what adds or compares tensors of two types takes the wider one. Everything else runs in the type that comes: norms,
softmax and losses have float32 statistics of their own in any type.
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
    """Tensors of floating type but float64 as `dtype`; lists of them too."""
    if isinstance(value, Tensor):
        return value.to(dtype) if value.is_floating_point() and value.dtype != torch.float64 else value
    if isinstance(value, (list, tuple)):
        return [cast(item, dtype) for item in value]
    return value


def widest(values: tuple[Any, ...]) -> torch.dtype:
    """The type of bfloat16 tensors alone, float32 where one is."""
    floating = [value.dtype for value in values if isinstance(value, Tensor) and value.is_floating_point()]
    return torch.bfloat16 if floating and all(dtype == torch.bfloat16 for dtype in floating) else torch.float32


def narrow_type(device: str) -> torch.dtype:
    """That of autocast on a device; ValueError for float16, which is what torch takes for GPUs if it is not told."""
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
    """Once, at import."""
    for device, key in KEYS.items():
        for names, kernel_of in ((NARROW, narrow_kernel), (WIDEST, widest_kernel)):
            for name in names:
                op = getattr(torch.ops.modewise, name).default
                _library.impl(name, kernel_of(op, device), key, with_keyset=True)
