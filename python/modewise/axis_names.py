"""Names along the axes of the samples of an estimator: columns of a frame, dimensions and labels of a DataArray. Other data are read by them."""

import dataclasses
import json
import numbers
import pathlib
from collections.abc import Collection
from typing import Any, Self

import numpy as np

from modewise.errors import DataError
from modewise.labelled_arrays import is_labelled

COLUMNS = "columns"


def labels_of(X: Any) -> dict[str, list[Any]]:
    """Labels along the axes of a frame or DataArray that are all strings or all numbers."""
    if is_labelled(X):
        found = {str(dim): X.indexes[dim].tolist() for dim in X.dims if dim in X.indexes}
    else:
        found = {COLUMNS: list(getattr(X, "columns", []))}
    return {dim: labels for dim, labels in found.items() if labels and (all_are(str, labels) or is_labelled(X) and all_are(numbers.Real, labels))}


def all_are(kind: type, labels: list[Any]) -> bool:
    return all(isinstance(label, kind) for label in labels)


@dataclasses.dataclass(frozen=True)
class AxisNames:
    """Dimensions of a fitted DataArray in their order, () for other data, and the labels along its axes."""

    dims: tuple[str, ...] = ()
    labels: dict[str, list[Any]] = dataclasses.field(default_factory=dict)

    @classmethod
    def of(cls, X: Any, free: Collection[Any] | None = None) -> Self:
        """Those of X, or of the samples of a list, except the labels along the dimensions `free`; None: along the first."""
        X = X[0] if isinstance(X, (list, tuple)) and X else X
        dims = tuple(map(str, X.dims)) if is_labelled(X) else ()
        left_out = dims[:1] if free is None else free
        return cls(dims, {dim: labels for dim, labels in labels_of(X).items() if dim not in left_out})

    @classmethod
    def read(cls, path: pathlib.Path) -> Self:
        """Those that `write` wrote; none if there is no file."""
        if not path.is_file():
            return cls()
        document = json.loads(path.read_text(encoding="utf-8"))
        return cls(tuple(document["dims"]), dict(document["labels"]))

    def write(self, path: pathlib.Path) -> None:
        """Writes a JSON file, unless there are no names."""
        if self.dims or self.labels:
            path.write_text(json.dumps(dataclasses.asdict(self), ensure_ascii=False), encoding="utf-8")

    def order(self, X: Any) -> Any:
        """X, or each sample of a list, with dimensions and labels in the order of these. DataError for other dimensions, columns and
        labels that are strings; other numbers are positions. Data without names stay as they are."""
        if isinstance(X, (list, tuple)):
            return [self._ordered(sample) for sample in X]
        return self._ordered(X)

    def _ordered(self, X: Any) -> Any:
        if is_labelled(X) and self.dims:
            if set(map(str, X.dims)) != set(self.dims):
                raise DataError(f"X: its dimensions must be {', '.join(self.dims)}, got {', '.join(map(str, X.dims))}")
            X = X.transpose(*sorted(X.dims, key=lambda dim: self.dims.index(str(dim))))
        for dim, given in labels_of(X).items():
            wanted = self.labels.get(dim, given)
            if given == wanted:
                continue
            differing = sorted(set(given) ^ set(wanted), key=str)
            if all_are(str, given) and all_are(str, wanted) and (differing or len(set(given)) < len(given)):
                axis = "its columns" if dim == COLUMNS else f"the labels of '{dim}'"
                why = f"; {', '.join(differing[:5])} are in one of them only" if differing else ", in their order, since some are equal"
                raise DataError(f"X: {axis} must be those of the fitted X{why}")
            if not differing and len(set(given)) == len(given):
                X = X[wanted] if dim == COLUMNS else X.isel({dim: [given.index(label) for label in wanted]})
        return X


def same_pixels(scene: Any, mask: Any) -> Any:
    """A mask with the coordinates y and x of a scene in its order, where both are DataArrays. DataError for other coordinates."""
    if not is_labelled(scene) or not is_labelled(mask):
        return mask
    for dim in ("y", "x"):
        wanted, given = (np.array(labels_of(one).get(dim, [])) for one in (scene, mask))
        if wanted.size == 0 or given.size == 0 or wanted.dtype.kind == "U" or given.dtype.kind == "U":
            continue
        order = np.argsort(given)[np.argsort(np.argsort(wanted))] if len(given) == len(wanted) else np.array([], np.int64)
        rounding = 1e-3 * np.abs(np.diff(np.sort(wanted))).min(initial=1)
        if len(order) == 0 or not np.allclose(given[order], wanted, rtol=0, atol=rounding):
            raise DataError(f"y: its coordinates '{dim}' must be those of X, {span(wanted)}, got {span(given)}")
        mask = mask.isel({dim: order})
    return mask


def span(coordinates: Any) -> str:
    """Number, first and last of coordinates in words."""
    return f"{len(coordinates)} from {coordinates[0]:g} to {coordinates[-1]:g}"
