"""The device of a torch module by its name, with the sentences of the program for devices that are missing, and its results on the CPU."""

import torch
from torch import Tensor

from modewise.errors import ConfigError


def torch_device(name: str) -> torch.device:
    """The device `name`: auto (CUDA if torch has a CUDA device, else the CPU), cpu, cuda or cuda:N. ConfigError says what is missing."""
    count = torch.cuda.device_count()
    if name == "auto":
        return torch.device("cuda" if count else "cpu")
    try:
        device = torch.device(name)
    except (RuntimeError, TypeError):
        device = torch.device("meta")
    if device.type == "cuda":
        if not torch.version.cuda:
            raise ConfigError(f"device {name}: torch {torch.__version__} here is built without CUDA; install a CUDA build of torch, or take device='cpu'")
        if count == 0:
            raise ConfigError(f"device {name}: torch {torch.__version__} finds no CUDA device; see nvidia-smi, or take device='cpu'")
        if (device.index or 0) >= count:
            raise ConfigError(f"device {name}: torch finds {count} CUDA {'device' if count == 1 else 'devices'}, the last is cuda:{count - 1}")
    elif device.type not in ("cpu", torch._C._get_privateuse1_backend_name()):
        raise ConfigError(f"device '{name}': expected auto, cpu, cuda or cuda:N")
    return device


def device_of(module: torch.nn.Module) -> torch.device:
    """Device of the first parameter; the CPU for a module without any."""
    return next((parameter.device for parameter in module.parameters()), torch.device("cpu"))


def on_cpu(module: torch.nn.Module, *inputs: Tensor | None) -> Tensor:
    """The result, on the CPU, of inputs moved to the device of the module."""
    device = device_of(module)
    out: Tensor = module(*(None if one is None else one.to(device) for one in inputs))
    return out.cpu()
