"""The volume classifier of a run: volumes in, with missing voxels, the program's scores out."""

import warnings
from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt
import torch
from torch import Tensor

from modewise.devices import on_cpu
from modewise.errors import DataError
from modewise.models.volumes import VisionShape, make_classifier
from modewise.run_folder import RunFolder

Array = npt.NDArray[Any]
UNITS = {"uint8": 255, "uint16": 65535}  # largest values of the dtypes that `data.intensity = "unit"` divides


def valid_voxels(volumes: Array, missing: Sequence[float]) -> Array:
    """volumes [B, N_1 … N_k, C] -> [B, N_1 … N_k] bool: finite, and not one of `missing` in all channels."""
    valid = np.asarray(np.isfinite(volumes).all(-1))
    for value in missing:
        valid &= (volumes != value).any(-1)
    return valid


def volume_moments(volume: Array, valid: Array | None) -> tuple[Array, Array]:
    """Mean and standard deviation [C] float32 of the valid voxels of a volume [N_1 … N_k, C], 1 for a constant; summed in the order of
    the program."""
    rows = (volume if valid is None else volume[valid]).reshape(-1, volume.shape[-1]).astype(np.float64)
    mean = rows.cumsum(0)[-1] / len(rows)
    variance = np.square(rows - mean).cumsum(0)[-1] / len(rows)
    return mean.astype(np.float32), np.where(variance > 0, np.sqrt(variance), 1).astype(np.float32)


def warn_of_values(volumes: Array, valid: Array | None, unit: float, own: float) -> None:
    """Warns, as the program does, of volumes whose values do not fit a run that divides them by `unit`; `own`: the divisor of their dtype."""
    values = volumes.astype(np.float64) if valid is None else np.where(valid[..., None], volumes, np.nan)
    lows, highs = (reduce(values.reshape(len(values), -1), axis=1) for reduce in (np.nanmin, np.nanmax))
    outside = np.flatnonzero((lows < 0) | (highs > unit))
    said = ""
    if outside.size:
        said = f"{outside.size} of {len(values)} volumes have values outside 0 to {unit:g}, the range of the training volumes, by which they are divided"
        said += f" (data.intensity); the first is volume {outside[0]}: {lows[outside[0]]:g} to {highs[outside[0]]:g}"
    elif lows.min() < highs.max() <= (1 if volumes.dtype.kind == "f" else own):
        said = f"all values are between {lows.min():g} and {highs.max():g}, but as in training they are divided by {unit:g} (data.intensity); the run"
        said += " expects values as stored in its training volumes"
    if said:
        warnings.warn(said, stacklevel=5)


class LoadedClassifier:
    """A run's volume classifier: `module` (logits of scaled volumes; with the best weights, in evaluation mode),
    `config` (its resolved config.toml), `shape` and the names of its `classes`."""

    def __init__(self, folder: RunFolder) -> None:
        self.path = folder.path
        self.config = folder.config()
        data = folder.read_json("data.json")
        with folder.reading("data.json"):
            self.classes: list[str] = data["classes"]
            self.shape = VisionShape(data["size"], data["channels"], len(self.classes), data["missing"])
            self._intensity, self._unit = data.get("intensity"), data.get("intensity_unit", 0)
        with folder.reading("config.toml"):
            self.module = make_classifier(self.config["model"], self.shape)
        folder.load_weights(self.module)

    def scaled(self, volumes: Array) -> Tensor:
        """Volumes [B, N_1 … N_k] or [B, N_1 … N_k, C] as in their file -> [B, N_1 … N_k, C], normalized by `data.intensity`
        as in training, 0 where missing. DataError for shapes that are not the run's."""
        return self._prepared(volumes)[0]

    def valid(self, volumes: Array) -> Tensor | None:
        """Mask [B, N_1 … N_k] for `module`: False for missing voxels, which are not finite or have one of `data.missing_values` in all
        channels; None if there is none. DataError for a volume without any other, and if the run was trained on complete volumes."""
        return self._prepared(volumes)[1]

    def _prepared(self, volumes: Array) -> tuple[Tensor, Tensor | None]:
        array = self._checked(volumes)
        valid = valid_voxels(array, self.config["data"]["missing_values"])
        if valid.all():
            return torch.from_numpy(self._normalized(array, None)), None
        if not self.shape.missing:
            raise DataError(f"{self.path}: {int((~valid).sum())} voxels are missing, but the run was trained on complete volumes and its model "
                            "accepts none")  # fmt: skip
        some = valid.reshape(len(valid), -1).any(-1)
        if not some.all():
            raise DataError(f"every voxel of volume {int(some.argmin())} is missing")
        return torch.from_numpy(np.where(valid[..., None], self._normalized(array, valid), np.float32(0))), torch.from_numpy(valid)

    def _checked(self, volumes: Array) -> Array:
        array = np.asarray(volumes)
        if array.dtype.kind not in "fiu":
            raise DataError(f"volumes must be numbers, got an array of {array.dtype}")
        if array.ndim == len(self.shape.size) + 1 and self.shape.channels == 1:
            array = array[..., None]
        wanted = [*self.shape.size, self.shape.channels]
        if list(array.shape[1:]) != wanted:
            raise DataError(f"volumes must be [B, {', '.join(map(str, wanted))}], got {list(array.shape)}")
        return array

    def _normalized(self, array: Array, valid: Array | None) -> Array:
        rule, unit = self._intensity or self.config["data"]["intensity"], self._unit or UNITS.get(str(array.dtype), 0)
        if rule == "auto":
            rule = "unit" if unit > 0 else "volume"
        if rule == "unit" and unit == 0:
            raise DataError(f'data.intensity = "unit" is for volumes of uint8 or uint16, got {array.dtype}')
        own = UNITS.get(str(array.dtype), 0)
        if rule == "unit" and unit != own and len(array) > 0:
            warn_of_values(array, valid, unit, own)
        values = array.astype(np.float32)
        if rule == "range":
            low, high = self.config["data"]["intensity_range"]
            return np.asarray(np.clip((values - np.float32(low)) / np.float32(high - low), 0, 1))
        if rule == "volume":
            for index, volume in enumerate(array):
                mean, std = volume_moments(volume, None if valid is None else valid[index])
                values[index] = (values[index] - mean) / std
        return values / np.float32(unit) if rule == "unit" else values

    @torch.no_grad()
    def predict_proba(self, volumes: Array) -> Array:
        """Probabilities [B, K] float64 of volumes as in their file, averaged over flips along `classify.flip_axes`: the scores
        of `modewise predict`. Missing voxels as in `valid`. Warns of values outside the range of the training volumes."""
        (values, valid), axes = self._prepared(volumes), self.config["classify"]["flip_axes"]
        if self.config["augment"]["shape_transform"]:
            values = values.mul_(0.5)
        total = torch.zeros(())
        for number in range(2 ** len(axes)):
            flipped = [axis + 1 for bit, axis in enumerate(axes) if number >> bit & 1]
            logits = on_cpu(self.module, values.flip(flipped), None if valid is None else valid.flip(flipped))
            scores = torch.softmax(logits.double(), -1)
            total = scores if number == 0 else total + scores
        return np.asarray(total / 2 ** len(axes))

    def predict(self, volumes: Array) -> list[str]:
        """The most probable class of each volume."""
        return [self.classes[index] for index in self.predict_proba(volumes).argmax(-1)]
