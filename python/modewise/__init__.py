"""Attention over the modes of tensors: operators (`modewise.ops`) and modules (`modewise.nn`) on torch, the models of
runs (`modewise.load`), and the program's tasks in Python (`modewise.Forecaster`, `VolumeClassifier`, `SeriesClassifier`,
`Segmenter`, `LanguageModel`, `modewise.tasks`). `import modewise.transformers` adds the attention to Hugging Face Transformers."""

from modewise import errors, models, nn, ops, tasks
from modewise._native import BUILD as _BUILD
from modewise.forecaster import Forecaster
from modewise.language_model import LanguageModel
from modewise.loading import load
from modewise.segmenter import Segmenter
from modewise.series_classifier import SeriesClassifier
from modewise.volume_classifier import VolumeClassifier

__version__ = _BUILD["version"]

__all__ = ["Forecaster", "LanguageModel", "Segmenter", "SeriesClassifier", "VolumeClassifier", "__version__", "errors", "load", "models", "nn", "ops", "tasks"]
