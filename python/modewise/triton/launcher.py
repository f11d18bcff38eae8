"""Launcher of the Triton kernels, behind the operators modewise::launch and modewise::check_kernels."""

import importlib
import importlib.util
import os
import warnings
from collections.abc import Sequence
from typing import Any

import torch

# The module of each kernel, which has the kernel's name.
KERNELS = {
    "mode_contract": "mode_product",
    "mode_pool": "mode_pool",
    "mode_pool_backward": "mode_pool",
    "mode_product": "mode_product",
    "mode_scores": "mode_scores",
    "mode_scores_backward": "mode_scores",
    "mode_scores_backward_keys": "mode_scores",
    "mode_scores_backward_queries": "mode_scores",
    "short_attention": "short_attention",
    "short_attention_backward": "short_attention",
    "summary_attention": "summary_attention",
    "summary_join": "summary_step",
    "summary_key_gradients": "summary_gradients",
    "summary_query_gradients": "summary_gradients",
    "summary_step": "summary_step",
    "summary_tokens": "summary_tokens",
    "summary_tokens_backward": "summary_tokens",
}

_library: torch.library.Library | None = None


def kernel(name: str) -> Any:
    """The Triton function of a kernel."""
    return getattr(importlib.import_module("modewise.triton." + KERNELS[name]), name)


def launch(name: str, tensors: Sequence[torch.Tensor], integers: Sequence[int], sizes: Sequence[int], numbers: Sequence[float],
           names: Sequence[str], constants: Sequence[int], programs: int) -> None:  # fmt: skip
    """Runs `programs` programs of a kernel on the device of its tensors."""
    device = tensors[0].device
    with torch.cuda.device(device if device.type == "cuda" else -1):
        kernel(name)[(programs,)](*tensors, *integers, *sizes, *numbers, **dict(zip(names, constants, strict=True)))


def check_kernels(op: str, like: torch.Tensor) -> bool:
    """Whether the kernels of an operator agree with its reference on this device; warns if not."""
    from modewise.triton.self_test import fault

    found = fault(op, like.device)
    if found:
        warnings.warn(f"modewise: the Triton kernels of {op} are not used on {like.device}: {found}", stacklevel=2)
    return not found


def register(device: str = "CUDA") -> None:
    """Makes the operators launch Triton kernels on tensors of a dispatch key: CUDA, or CPU under TRITON_INTERPRET=1. Nothing
    happens where triton is not installed, or if MODEWISE_TRITON=0."""
    global _library
    if _library is None and importlib.util.find_spec("triton") and os.environ.get("MODEWISE_TRITON") != "0":
        os.environ.setdefault("TRITON_DEFAULT_FP_FUSION", "1")  # as ever; Triton 3.9 warns that its default will change
        _library = torch.library.Library("modewise", "IMPL")
        _library.impl("launch", launch, device)
        _library.impl("check_kernels", check_kernels, device)
