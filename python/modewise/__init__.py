"""Attention over the modes of tensors: operators (`modewise.ops`) and modules (`modewise.nn`) on torch, the models of
runs (`modewise.load`), and the program's tasks in Python (`modewise.Forecaster`, `modewise.VolumeClassifier`, `modewise.SeriesClassifier`,
`modewise.tasks`)."""

from modewise import errors, models, nn, ops, tasks
from modewise._native import BUILD as _BUILD
from modewise.forecaster import Forecaster
from modewise.loading import load
from modewise.series_classifier import SeriesClassifier
from modewise.volume_classifier import VolumeClassifier

__version__ = _BUILD["version"]

__all__ = ["Forecaster", "SeriesClassifier", "VolumeClassifier", "__version__", "errors", "load", "models", "nn", "ops", "tasks"]
