"""Attention over the modes of tensors: operators (`modewise.ops`) and modules (`modewise.nn`) on torch, the models of
runs (`modewise.load`), and the program's tasks in Python (`modewise.Forecaster`, `VolumeClassifier`, `SeriesClassifier`,
`Segmenter`, `LanguageModel`, `modewise.tasks`). `import modewise.transformers` adds the attention to Hugging Face Transformers."""

import importlib
import os
from typing import TYPE_CHECKING, Any

if not {"OMP_WAIT_POLICY", "GOMP_SPINCOUNT"} & set(os.environ):  # before torch is imported; cli/main.cpp has the reason
    os.environ["GOMP_SPINCOUNT"] = "3000"

from modewise import errors, models, nn, ops, tasks
from modewise._native import BUILD as _BUILD
from modewise.loading import load

if TYPE_CHECKING:
    from modewise.forecaster import Forecaster
    from modewise.language_model import LanguageModel
    from modewise.segmenter import Segmenter
    from modewise.series_classifier import SeriesClassifier
    from modewise.volume_classifier import VolumeClassifier

__version__ = _BUILD["version"]

__all__ = ["Forecaster", "LanguageModel", "Segmenter", "SeriesClassifier", "VolumeClassifier", "__version__", "errors", "load", "models", "nn", "ops", "tasks"]

_ESTIMATORS = {"Forecaster": "forecaster", "LanguageModel": "language_model", "Segmenter": "segmenter", "SeriesClassifier": "series_classifier",
               "VolumeClassifier": "volume_classifier"}  # fmt: skip


def __getattr__(name: str) -> Any:
    """The estimators, which import scikit-learn where it is installed."""
    if name not in _ESTIMATORS:
        raise AttributeError(f"module 'modewise' has no attribute {name!r}")
    return getattr(importlib.import_module(f"modewise.{_ESTIMATORS[name]}"), name)


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
