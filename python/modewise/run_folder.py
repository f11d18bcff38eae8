"""Reads a run folder: its task, config, data.json and the best weights of its newest checkpoint."""

import contextlib
import json
import os
import pathlib
import tomllib
import zipfile
from collections.abc import Iterator, Mapping
from typing import Any

import safetensors
import safetensors.torch
from torch import Tensor, nn

from modewise import tasks
from modewise._native import BUILD
from modewise.errors import DataError, ModewiseError, NoInputError


@contextlib.contextmanager
def reading(file: pathlib.Path) -> Iterator[None]:
    """The block that uses what `file` holds: whatever goes wrong there, for the file may hold anything, is a DataError that names it."""
    try:
        yield
    except (ModewiseError, NotImplementedError):
        raise
    except KeyError as error:
        raise DataError(f"{file}: there is no key {error}") from None
    except RecursionError:
        raise DataError(f"{file}: nested too deeply") from None
    except (LookupError, TypeError, ValueError, AttributeError, ArithmeticError, RuntimeError, OSError, EOFError, zipfile.BadZipFile) as error:
        raise DataError(f"{file}: {(str(error) or type(error).__name__).splitlines()[0]}") from None


def setting(config: Mapping[str, Any], key: str) -> Any:
    """train.epochs of a config as `RunFolder.config` reads it."""
    value: Any = config
    for part in key.split("."):
        value = value[part]
    return value


def text_of(document: Mapping[str, Any], key: str, usual: str) -> str:
    """A text of a JSON object, `usual` where the key is missing."""
    value = document.get(key, usual)
    if not isinstance(value, str):
        raise TypeError(f"'{key}' must be a text, got {value!r:.40}")
    return value


def version_numbers(version: str) -> list[int]:
    """[0, 1, 0] of "0.1.0"; what is no number counts as 0."""
    return [int(part) if part.isdigit() else 0 for part in version.split(".")]


class RunFolder:
    """A folder that `modewise train` or an estimator made. NoInputError where it is none."""

    def __init__(self, path: str | os.PathLike[str]) -> None:
        self.path = pathlib.Path(path)
        if not (self.path / "config.toml").is_file():
            raise NoInputError(f"{self.path} is no run: there is no {self.path / 'config.toml'}")
        self.manifest = self.read_json("manifest.json")
        with reading(self.path / "manifest.json"):
            self.task: str = text_of(self.manifest, "task", "forecast")
            written_by = text_of(self.manifest.get("build", {}), "version", "0")
            newer = version_numbers(written_by) > version_numbers(BUILD["version"])
        if newer:
            raise DataError(f"{self.path} was written by modewise {written_by}, and this is {BUILD['version']}: "
                            f"install modewise {written_by} or later")  # fmt: skip

    def read_json(self, name: str) -> dict[str, Any]:
        """A file of the run that holds one JSON object."""
        file = self.path / name
        if not file.exists():
            raise NoInputError(f"{file} is not there")
        with reading(file):
            document = json.loads(file.read_bytes())
        if not isinstance(document, dict):
            raise DataError(f"{file}: not a JSON object")
        return document

    def config(self) -> dict[str, Any]:
        """The config.toml as the program reads it: checked, and with a value for every key, also for those that are younger than the
        run."""
        file = self.path / "config.toml"
        toml = tasks.config_toml(self.task, config=file)
        with reading(file):
            return tomllib.loads(toml)

    def reading(self, name: str) -> contextlib.AbstractContextManager[None]:
        """`reading` of a file of the run."""
        return reading(self.path / name)

    def weights_file(self) -> pathlib.Path:
        """The best weights of the newest checkpoint that is whole, or its latest where it was not evaluated yet. The program's own code
        finds and verifies it; what it says of a damaged one goes to stderr."""
        return pathlib.Path(tasks.call("weights", run=os.fspath(self.path), verbosity=0)["result"]["file"])

    def load_weights(self, module: nn.Module) -> None:
        """Copies the weights into `module`, whose state must have their names, types and shapes; puts it into
        evaluation mode."""
        file = self.weights_file()
        try:
            tensors = safetensors.torch.load_file(file)
        except (safetensors.SafetensorError, OSError) as error:
            raise DataError(f"{file}: {error}") from None
        require_same(str(file), tensors, module.state_dict())
        module.load_state_dict(tensors)
        module.eval()


def require_same(file: str, tensors: dict[str, Tensor], state: dict[str, Tensor]) -> None:
    """DataError that names the first tensor in which a file and a module differ."""
    for name in sorted(tensors.keys() ^ state.keys()):
        where = "the model has none of that name" if name in tensors else "the file has none of that name"
        raise DataError(f"{file}: tensor {name}: {where}")
    for name, tensor in state.items():
        come = tensors[name]
        if come.shape != tensor.shape or come.dtype != tensor.dtype:
            raise DataError(f"{file}: tensor {name} must be {tensor.dtype} {list(tensor.shape)}, "
                            f"got {come.dtype} {list(come.shape)}")  # fmt: skip
