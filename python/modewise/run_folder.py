"""Reads a run folder: its task, config, data.json and the best weights of its newest checkpoint."""

import json
import os
import pathlib
import tomllib
from collections.abc import Mapping
from typing import Any

import safetensors
import safetensors.torch
from torch import Tensor, nn

from modewise._native import BUILD
from modewise.errors import DataError, NoInputError

CHECKPOINT_FORMAT = 1


def setting(config: Mapping[str, Any], key: str) -> Any:
    """train.epochs of a config as `RunFolder.config` reads it."""
    value: Any = config
    for part in key.split("."):
        value = value[part]
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
        self.task: str = self.manifest.get("task", "forecast")
        written_by: str = self.manifest.get("build", {}).get("version", "0")
        if version_numbers(written_by) > version_numbers(BUILD["version"]):
            raise DataError(f"{self.path} was written by modewise {written_by}, and this is {BUILD['version']}: "
                            f"install modewise {written_by} or later")  # fmt: skip

    def read_json(self, name: str) -> dict[str, Any]:
        """A file of the run that holds one JSON object."""
        file = self.path / name
        try:
            document = json.loads(file.read_bytes())
        except FileNotFoundError:
            raise NoInputError(f"{file} is not there") from None
        except ValueError as error:
            raise DataError(f"{file}: {error}") from None
        if not isinstance(document, dict):
            raise DataError(f"{file}: not a JSON object")
        return document

    def config(self) -> dict[str, Any]:
        """The resolved config.toml: every key is there."""
        file = self.path / "config.toml"
        try:
            return tomllib.loads(file.read_text())
        except ValueError as error:
            raise DataError(f"{file}: {error}") from None

    def weights_file(self) -> pathlib.Path:
        """The best weights of the newest checkpoint, or its latest where it was not evaluated yet."""
        checkpoints = self.path / "checkpoints"
        try:
            newest = checkpoints / (checkpoints / "latest").read_text().strip()
        except FileNotFoundError:
            raise NoInputError(f"{self.path} has no checkpoint yet") from None
        version = self.read_json(str(newest.relative_to(self.path) / "manifest.json")).get("format")
        if version != CHECKPOINT_FORMAT:
            raise DataError(f"{newest}: a checkpoint of format {version}, and this modewise reads {CHECKPOINT_FORMAT}")
        best = newest / "best.safetensors"
        return best if best.is_file() else newest / "model.safetensors"

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
