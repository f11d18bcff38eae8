"""Language model with the interface of scikit-learn: texts in, generated texts and perplexities out."""

import json
import os
import pathlib
import tempfile
from collections.abc import Mapping, Sequence
from typing import Any

from modewise import tasks
from modewise._aliases import ATTENTION_TYPES, current, old_keywords
from modewise.errors import DataError, UsageError
from modewise.estimator import Estimator
from modewise.loading import LoadedLanguageModel
from modewise.run_folder import RunFolder


def checked_texts(texts: Any) -> str | list[str]:
    """A path, or a list of documents that can be encoded as UTF-8. DataError otherwise."""
    if isinstance(texts, (str, os.PathLike)):
        return os.path.abspath(texts)
    documents = list(texts) if hasattr(texts, "__iter__") else []
    if not documents:
        raise DataError(f"texts must be a path or a list of texts, got {type(texts).__name__}{' without any' if hasattr(texts, '__iter__') else ''}")
    for index, text in enumerate(documents):
        if not isinstance(text, str) or not text:
            raise DataError(f"texts: document {index} must be a non-empty string, got {text!r:.40}")
        try:
            text.encode()
        except UnicodeEncodeError as error:
            raise DataError(f"texts: {error.object[error.start]!r} is half of a surrogate pair, which UTF-8 cannot encode") from None
    return documents


def written_texts(texts: str | list[str], stem: pathlib.Path) -> str:
    """Writes texts for the program -> their path: stem.jsonl for a list, or the given path."""
    if isinstance(texts, str):
        return texts
    path = stem.with_name(stem.name + ".jsonl").absolute()
    path.write_text("".join(json.dumps({"text": text}, ensure_ascii=False) + "\n" for text in texts), encoding="utf-8")
    return str(path)


class LanguageModel(Estimator):
    """Trains and uses one run of the task language_modeling, in this process.

    attention: summary, full, window, lambda, axial, random, topk (docs/language-modeling.md). fold: sizes of the fold of a text,
    for summary and axial; None: from the context. context: tokens of a training sample. tokenizer: None: bytes; a path. init:
    pretrained weights: a run, a Hugging Face folder or a llama2.c file. epochs: None: the program's default. seed: of weights,
    batch order and dropout. settings: any other config key, {"model.width": 128}. run, overwrite, verbosity: as for Forecaster.
    A tenth of the texts is the validation split, which selects the best weights, a tenth the test split (`data.split_ratios`).

    After `fit`: `run_` and `metrics_`. The run folder contains a fitted list of texts as data/RUN.jsonl.
    """

    @old_keywords({"exist_ok": "overwrite"})
    def __init__(
        self,
        attention: str = "summary",
        *,
        fold: Sequence[int] | None = None,
        context: int | None = None,
        tokenizer: str | os.PathLike[str] | None = None,
        init: str | os.PathLike[str] | None = None,
        epochs: int | None = None,
        seed: int = 0,
        settings: Mapping[str, Any] | None = None,
        run: str | os.PathLike[str] | None = None,
        overwrite: bool = False,
        verbosity: int = 0,
    ) -> None:
        self.attention = attention
        self.fold = fold
        self.context = context
        self.tokenizer = tokenizer
        self.init = init
        self.epochs = epochs
        self.seed = seed
        self.settings = settings
        self.run = run
        self.overwrite = overwrite
        self.verbosity = verbosity

    def _stem(self) -> str:
        return ATTENTION_TYPES.get(self.attention, self.attention)

    def _settings(self, path: str) -> dict[str, Any]:
        named = {"tokenizer": self.tokenizer, "init": self.init}
        paths = {key: os.path.abspath(value) for key, value in named.items() if value is not None and os.fspath(value) != "bytes"}
        own = {"model.attention.type": current(ATTENTION_TYPES, self.attention), "model.attention.fold": self.fold, "model.context": self.context,
               "train.epochs": self.epochs, "train.seed": self.seed, "data.path": path}  # fmt: skip
        return own | paths | dict(self.settings or {})

    def fit(self, texts: Any, y: None = None) -> "LanguageModel":
        """Trains on `texts`: a list of documents, or a path that the program reads (text, .jsonl, a folder, tokens).
        DataError, ConfigError, … for invalid texts and settings; Ctrl-C saves a checkpoint and raises Stopped, `resume`
        continues."""
        if y is not None:
            raise UsageError("LanguageModel.fit takes texts alone: y must be None")
        checked = checked_texts(texts)
        with self._new_run() as run:
            path = checked if isinstance(checked, str) else written_texts(checked, run.stem())
            self._train("language_modeling", self._settings(path), run)
        return self

    @classmethod
    def from_run(cls, run: str | os.PathLike[str]) -> "LanguageModel":
        """A fitted model of a run of `train language`."""
        folder = RunFolder(run)
        if folder.task != "language_modeling":
            raise UsageError(f"{folder.path} is a run of the task '{folder.task}', not of 'language_modeling'")
        config = folder.config()
        made = cls(config["model"]["attention"]["type"], fold=config["model"]["attention"]["fold"], context=config["model"]["context"],
                   epochs=config["train"]["epochs"], seed=config["train"]["seed"], run=run)  # fmt: skip
        made.run_ = os.path.abspath(run)
        return made

    def load(self) -> LoadedLanguageModel:
        """The fitted model as a modewise.nn module, with its tokenizer."""
        return LoadedLanguageModel(RunFolder(self._run()))

    def generate(self, prompt: str = "", tokens: int = 100) -> str:
        """Continues a prompt by so many tokens, greedily: the text of `modewise generate --temperature 0 --ignore-eos`.
        UsageError for an empty prompt if the tokenizer has no BOS token."""
        return self.load().generate(prompt, tokens)

    def evaluate(self, texts: Any = None) -> dict[str, Any]:
        """Loss on the test split of the fitted texts, or on other texts: {"tokens", "loss" (nats per token), "perplexity",
        "bits_per_byte", …}."""
        if texts is None:
            return dict(tasks.evaluate(self._run())["own"]["scores"])
        with tempfile.TemporaryDirectory() as folder:
            path = written_texts(checked_texts(texts), pathlib.Path(folder) / "texts")
            return dict(tasks.evaluate(self._run(), data=path, split="all")["own"]["scores"])

    def score(self, texts: Any = None, y: None = None) -> float:
        """Minus the bits per byte on the test split of the fitted texts, or on other texts: higher is better."""
        return -float(self.evaluate(texts)["bits_per_byte"])
