"""Reader of a run folder: its task, config, data.json and the best weights of its newest checkpoint."""

import contextlib
import json
import os
import pathlib
import tomllib
import zipfile
from collections.abc import Collection, Iterator, Mapping
from typing import Any

import safetensors
import safetensors.torch
from torch import Tensor, nn

from modewise import tasks
from modewise._calls import call
from modewise._native import BUILD
from modewise.errors import DataError, ModewiseError, NoInputError

DATA_KEYS = ("data.path", "data.train", "data.validation", "data.masks", "data.labels", "data.label", "data.index", "data.classes", "data.header",
             "data.decimal", "data.thousands", "data.file_column", "data.label_column", "data.split_column", "data.group_column", "data.images",
             "data.id", "data.time", "data.time_column", "data.time_format", "data.time_zone", "data.calendar_days", "data.start", "data.step",
             "data.mode_names", "model.vocabulary")  # fmt: skip
SPLIT_KEYS = ("data.split", "data.split_ratios", "data.split_windows", "data.test_windows", "data.test", "data.protocol", "train.test")


@contextlib.contextmanager
def reading(file: pathlib.Path) -> Iterator[None]:
    """Converts any error of a block that uses the content of `file` into a DataError that names the file."""
    try:
        yield
    except (ModewiseError, NotImplementedError):
        raise
    except KeyError as error:
        raise DataError(f"{file}: missing key {error}") from None
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


def by_key(config: Mapping[str, Any], prefix: str = "") -> dict[str, Any]:
    """The settings of nested tables by their keys, {"train.epochs": 3}."""
    parts = (by_key(value, f"{prefix}{key}.") if isinstance(value, Mapping) else {prefix + key: value} for key, value in config.items())
    return {key: value for part in parts for key, value in part.items()}


def text_of(document: Mapping[str, Any], key: str, usual: str) -> str:
    """A string of a JSON object, `usual` if the key is missing."""
    value = document.get(key, usual)
    if not isinstance(value, str):
        raise TypeError(f"'{key}' must be a string, got {value!r:.40}")
    return value


def version_numbers(version: str) -> list[int]:
    """[0, 1, 0] of "0.1.0"; a part that is not a number counts as 0."""
    return [int(part) if part.isdigit() else 0 for part in version.split(".")]


class RunFolder:
    """A run folder of `modewise train` or an estimator; `task`: the current name of its task. NoInputError for any other folder."""

    def __init__(self, path: str | os.PathLike[str]) -> None:
        self.path = pathlib.Path(path)
        if not (self.path / "config.toml").is_file():
            raise NoInputError(f"{self.path} is not a run folder: it has no config.toml")
        self.manifest = self.read_json("manifest.json")
        with reading(self.path / "manifest.json"):
            self.task: str = tasks.task_name(text_of(self.manifest, "task", "forecasting"))
            written_by = text_of(self.manifest.get("build", {}), "version", "0")
            newer = version_numbers(written_by) > version_numbers(BUILD["version"])
        if newer:
            raise DataError(f"{self.path} was written by modewise {written_by}, and this is {BUILD['version']}: "
                            f"install modewise {written_by} or later")  # fmt: skip

    def read_json(self, name: str) -> dict[str, Any]:
        """A JSON object from a file of the run."""
        file = self.path / name
        if not file.exists():
            raise NoInputError(f"{file} does not exist")
        with reading(file):
            document = json.loads(file.read_bytes())
        if not isinstance(document, dict):
            raise DataError(f"{file}: not a JSON object")
        return document

    def config(self) -> dict[str, Any]:
        """The config.toml as the program reads it: validated, under the current keys, with a value for every key, also those newer
        than the run."""
        file = self.path / "config.toml"
        toml = tasks.config_toml(self.task, config=file)
        with reading(file):
            return tomllib.loads(toml)

    def settings(self, left_out: Collection[str]) -> dict[str, Any]:
        """The run's settings that differ from the defaults of its model, except the keys `left_out` and those of its own data files;
        without a test split, except the split."""
        config = by_key(self.config())
        default = by_key(tomllib.loads(tasks.config_toml(self.task, {key: config[key] for key in ("model.name",) if key in config})))
        alone = DATA_KEYS if config["train.test"] else (*DATA_KEYS, *SPLIT_KEYS)
        own = {key: value for key, value in config.items() if default.get(key) != value and key not in left_out and key not in alone}
        if isinstance(own.get("data.test"), str):  # a file; of scenes a fraction
            own.pop("data.test")
        return {key: value for key, value in own.items() if (key, value) != ("data.panel", "no") and not key.startswith("data.simulate")}

    def beside_data(self, ending: str) -> pathlib.Path:
        """RUN/data/RUN`ending`, a file that an estimator writes beside the fitted data."""
        data = self.config()["data"]
        fitted = pathlib.Path(data.get("train") or data.get("path") or "")
        return self.path / fitted.parent.name / (fitted.stem + ending)

    def reading(self, name: str) -> contextlib.AbstractContextManager[None]:
        """`reading` of a file of the run."""
        return reading(self.path / name)

    def weights_file(self) -> pathlib.Path:
        """The best weights of the newest intact checkpoint, or its latest weights before the first evaluation. The program finds
        and verifies it; warnings about a damaged one go to stderr."""
        return pathlib.Path(call("weights", run=os.fspath(self.path), verbosity=0)["result"]["file"])

    def load_weights(self, module: nn.Module) -> None:
        """Loads the weights into `module`, whose state must have their names, types and shapes; switches it to evaluation mode."""
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
        where = "not in the model" if name in tensors else "not in the file"
        raise DataError(f"{file}: tensor {name}: {where}")
    for name, tensor in state.items():
        found = tensors[name]
        if found.shape != tensor.shape or found.dtype != tensor.dtype:
            raise DataError(f"{file}: tensor {name} must be {tensor.dtype} {list(tensor.shape)}, "
                            f"got {found.dtype} {list(found.shape)}")  # fmt: skip
