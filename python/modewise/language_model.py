"""A language model in scikit-learn's manner over the program's training: texts in, texts and perplexities out."""

import json
import os
import pathlib
import tempfile
from collections.abc import Mapping, Sequence
from typing import Any

from modewise import tasks
from modewise.errors import DataError, UsageError
from modewise.estimator import Estimator
from modewise.loading import LoadedLanguageModel
from modewise.run_folder import RunFolder


def checked_texts(texts: Any) -> str | list[str]:
    """A path, or documents that a file can hold. DataError for what is neither."""
    if isinstance(texts, (str, os.PathLike)):
        return os.path.abspath(texts)
    documents = list(texts) if hasattr(texts, "__iter__") else []
    if not documents:
        raise DataError(f"texts must be a path or a list of texts, got {type(texts).__name__}{' without any' if hasattr(texts, '__iter__') else ''}")
    for place, text in enumerate(documents):
        if not isinstance(text, str) or not text:
            raise DataError(f"texts: document {place} must be a text that is not empty, got {text!r:.40}")
        try:
            text.encode()
        except UnicodeEncodeError as error:
            raise DataError(f"texts: {error.object[error.start]!r} is half of a character, which no file holds") from None
    return documents


def written_texts(texts: str | list[str], stem: pathlib.Path) -> str:
    """The path that the program reads: stem.jsonl of a list of texts, or the path that was given."""
    if isinstance(texts, str):
        return texts
    path = stem.with_name(stem.name + ".jsonl").absolute()
    path.write_text("".join(json.dumps({"text": text}, ensure_ascii=False) + "\n" for text in texts), encoding="utf-8")
    return str(path)


class LanguageModel(Estimator):
    """Trains and asks one run of the program's task language, in this process.

    attention: causal, full, window, lambda, axial, random, topk (docs/language-modeling.md). fold: sizes that a text is folded to, for
    causal and axial; None: of the context. context: tokens of a text that it is trained on. tokenizer: None: bytes; a path. init: a
    model to go on from, a run, a folder of Hugging Face's files or a llama2.c file. epochs: None: the program's. seed: of
    weights, order and dropout. settings: any other option of the program by its name, {"model.width": 128}. run, exist_ok,
    verbosity: as for Forecaster. A tenth of the texts chooses the best weights and a tenth judges them (`data.split_ratios`).

    After `fit`: `run_` and `metrics_`. Texts that were fitted as a list lie in the folder, as data/RUN.jsonl.
    """

    def __init__(
        self,
        attention: str = "causal",
        *,
        fold: Sequence[int] | None = None,
        context: int | None = None,
        tokenizer: str | os.PathLike[str] | None = None,
        init: str | os.PathLike[str] | None = None,
        epochs: int | None = None,
        seed: int = 0,
        settings: Mapping[str, Any] | None = None,
        run: str | os.PathLike[str] | None = None,
        exist_ok: bool = False,
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
        self.exist_ok = exist_ok
        self.verbosity = verbosity

    def _stem(self) -> str:
        return self.attention

    def _settings(self, path: str) -> dict[str, Any]:
        named = {"tokenizer": self.tokenizer, "init": self.init}
        paths = {key: os.path.abspath(value) for key, value in named.items() if value is not None and os.fspath(value) != "bytes"}
        own = {"model.attention.form": self.attention, "model.attention.fold": self.fold, "model.context": self.context,
               "train.epochs": self.epochs, "train.seed": self.seed, "data.path": path}  # fmt: skip
        return own | paths | dict(self.settings or {})

    def fit(self, texts: Any, y: None = None) -> "LanguageModel":
        """Trains on `texts`: a list of documents, or a path of what the program reads (text, .jsonl, a folder, tokens).
        DataError, ConfigError, … say what is wrong; Ctrl-C saves and raises Stopped, and `resume` goes on."""
        if y is not None:
            raise UsageError("LanguageModel.fit takes texts alone: y must be None")
        checked = checked_texts(texts)
        with self._new_run() as run:
            path = checked if isinstance(checked, str) else written_texts(checked, run.stem())
            self._train("language", self._settings(path), run)
        return self

    @classmethod
    def from_run(cls, run: str | os.PathLike[str]) -> "LanguageModel":
        """A fitted model of a folder that any `train language` made."""
        folder = RunFolder(run)
        if folder.task != "language":
            raise UsageError(f"{folder.path} is a run of the task '{folder.task}', not of 'language'")
        config = folder.config()
        made = cls(config["model"]["attention"]["form"], fold=config["model"]["attention"]["fold"], context=config["model"]["context"],
                   epochs=config["train"]["epochs"], seed=config["train"]["seed"], run=run)  # fmt: skip
        made.run_ = os.path.abspath(run)
        return made

    def load(self) -> LoadedLanguageModel:
        """The fitted model built of modewise.nn, with its tokenizer."""
        return LoadedLanguageModel(RunFolder(self._run()))

    def generate(self, prompt: str = "", tokens: int = 100) -> str:
        """So many tokens that go on with a prompt, the likeliest each time: the text of `modewise generate --temperature 0
        --past-marks`. UsageError where there is neither prompt nor a token that opens a text."""
        return self.load().generate(prompt, tokens)

    def evaluate(self, texts: Any = None) -> dict[str, Any]:
        """Of the test part of what was fitted, or of other texts: {"tokens", "loss" (nats a token), "perplexity", "bits_per_byte", …}."""
        if texts is None:
            return dict(tasks.evaluate(self._run())["own"]["scores"])
        with tempfile.TemporaryDirectory() as folder:
            path = written_texts(checked_texts(texts), pathlib.Path(folder) / "texts")
            return dict(tasks.evaluate(self._run(), data=path, split="all")["own"]["scores"])

    def score(self, texts: Any = None, y: None = None) -> float:
        """Minus the bits a byte of the test part of what was fitted, or of other texts: higher is better."""
        return -float(self.evaluate(texts)["bits_per_byte"])
