"""Language model with the interface of scikit-learn: texts in, generated texts and perplexities out."""

import json
import os
import pathlib
import tempfile
from collections.abc import Mapping, Sequence, Set
from typing import Any, Self

from modewise import tasks
from modewise._aliases import ATTENTION_TYPES, constructor, current
from modewise.errors import DataError, UsageError
from modewise.estimator import Estimator, checked_settings, own_split, whole
from modewise.loading import LoadedLanguageModel
from modewise.run_folder import RunFolder


def checked_texts(texts: Any) -> str | list[str]:
    """A path, or a list of documents that can be encoded as UTF-8. DataError otherwise."""
    if isinstance(texts, (str, os.PathLike)):
        return os.path.abspath(texts)
    if isinstance(texts, (Mapping, Set)) or hasattr(texts, "columns"):
        why = "which has no order" if isinstance(texts, Set) else 'which has several columns: give that of the texts, such as frame["text"]'
        raise DataError(f"texts must be a path or a list of texts, got {type(texts).__name__}, {why}")
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


def written_texts(texts: str | list[str], stem: pathlib.Path, field: str) -> str:
    """Writes texts for the program -> their path: stem.jsonl for a list, with the name `field` of the texts, or the given path."""
    if isinstance(texts, str):
        return texts
    path = stem.with_name(stem.name + ".jsonl").absolute()
    path.write_text("".join(json.dumps({field: text}, ensure_ascii=False) + "\n" for text in texts), encoding="utf-8")
    return str(path)


class LanguageModel(Estimator):
    """Trains and uses one run of the task language_modeling, in this process.

    Parameters
    ----------
    attention : str
        summary, full, window, lambda, axial, random, topk (docs/language-modeling.md).
    fold : sequence of int, optional
        Sizes of the fold of a text, for summary and axial; None: from the context.
    context : int, optional
        Tokens of a training sample.
    tokenizer : path, optional
        None: bytes.
    init : path, optional
        Pretrained weights: a run, a Hugging Face folder or a llama2.c file.
    epochs : int, optional
        None: the program's default.
    seed : int
        Seed of weights, batch order and dropout; `random_state` is the same.
    threads : int
        Threads of computations, −1: one for each core, 0: as torch has it; `n_jobs` is the same. Results do not depend on it.
    device : str
        Device of the model: "auto" (CUDA if torch has it, else the CPU), "cpu", "cuda" or "cuda:1".
    settings : mapping, optional
        Any other config key, {"model.width": 128}.
    run : path, optional
        The new run folder; None: a temporary one, which is removed with this object (`save` keeps it).
    overwrite : bool
        Whether a run in that folder is replaced.
    verbosity : int
        −1 quiet, 0 warnings, notes and progress on stderr, also of `predict` and `evaluate`, 1, 2 more; `verbose` is one more.

    Attributes
    ----------
    run_ : str
        The run folder. It contains a fitted list of texts as data/RUN.jsonl.
    metrics_ : dict
        Its metrics.json.

    Examples
    --------
    >>> LanguageModel(epochs=1).fit("book.txt").generate("Call me", 20)  # doctest: +SKIP
    """

    TASK = "language_modeling"
    ALL_TEXTS = {"data.split_ratios": [0.9, 0.1, 0]}

    @constructor({"exist_ok": "overwrite"})
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
        threads: int = 0,
        device: str = "auto",
        settings: Mapping[str, object] | None = None,
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
        self.threads = threads
        self.device = device
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
        return own | paths | own_split(self.settings, self.ALL_TEXTS) | dict(self.settings or {})

    def _text_field(self) -> str:
        """The field of a .jsonl file with its text."""
        given = checked_settings(self.settings)
        return str(given.get("data.text_field", given.get("data.field", "text")))

    def fit(self, texts: object, y: None = None, *, validation: object = None) -> Self:
        """Trains on texts. None are held back for a test: a tenth, or `validation`, selects the weights (`settings`:
        data.split_ratios).

        Parameters
        ----------
        texts
            A list of documents, or a path that the program reads (text, .jsonl, a folder, tokens).
        y
            None.
        validation
            Documents or a path of the validation split.

        Returns
        -------
        LanguageModel
            This object.

        Raises
        ------
        DataError, ConfigError
            For invalid texts and settings.
        Stopped
            For Ctrl-C, which saves a checkpoint; `resume` continues.
        """
        if y is not None:
            raise UsageError("LanguageModel.fit takes texts alone: y must be None")
        checked, held = checked_texts(texts), None if validation is None else checked_texts(validation)
        with self._new_run() as run:
            field = self._text_field()
            path = checked if isinstance(checked, str) else written_texts(checked, run.stem(), field)
            settings = self._settings(path)
            if held is not None:
                stem = run.stem() if isinstance(held, list) else pathlib.Path()
                settings |= {"data.validation": held if isinstance(held, str) else written_texts(held, stem.with_name(stem.name + "_validation"), field),
                             "data.split_ratios": [1, 0, 0], "train.test": False}  # fmt: skip
            given = {"texts": (checked, path), "validation": (held, settings.get("data.validation"))}
            self._train(settings, run, {str(file): name for name, (documents, file) in given.items() if isinstance(documents, list)})
        return self

    @classmethod
    def from_run(cls, run: str | os.PathLike[str]) -> Self:
        """A fitted model of a run of `train language`."""
        made = cls._of_run(run, {"attention": "model.attention.type", "fold": "model.attention.fold", "context": "model.context",
                                 "tokenizer": "tokenizer", "init": "init", "epochs": "train.epochs", "seed": "train.seed"})  # fmt: skip
        copy = os.path.join(made.run_, "tokenizer")
        made.tokenizer = (copy if os.path.isdir(copy) else made.tokenizer) if made.tokenizer else None
        made.init = made.init or None
        return made

    def module(self) -> LoadedLanguageModel:
        """The fitted model as a modewise.nn module, with its tokenizer.

        Returns
        -------
        LoadedLanguageModel
        """
        return LoadedLanguageModel(RunFolder(self._run()))

    def generate(
        self,
        prompt: str = "",
        tokens: int = 100,
        *,
        temperature: float = 0.0,
        top_k: int = 0,
        top_p: float = 1.0,
        min_p: float = 0.0,
        repetition_penalty: float = 1.0,
        seed: int = 0,
        stop: str | Sequence[str] = (),
        ignore_eos: bool = True,
    ) -> str:
        """Continues a prompt, greedily or by sampling: the tokens of `modewise generate` with the same options.

        Parameters
        ----------
        prompt
            The beginning of the text.
        tokens
            Number of tokens to add; with `stop`, or without `ignore_eos`, the maximum.
        temperature
            0: greedy decoding.
        top_k, top_p, min_p
            Sampling from the k most probable tokens (0: all), then from the most probable with the total probability `top_p`, then from
            those with at least the share `min_p` of the largest probability.
        repetition_penalty
            Above 1 against repetitions; 1: none.
        seed
            Seed of the random numbers; the same one gives the same text.
        stop
            A text, or texts, before which the generation ends.
        ignore_eos
            Whether the text continues after an end token.

        Returns
        -------
        str
            The continuation, without the prompt.

        Raises
        ------
        UsageError
            For an empty prompt if the tokenizer has no BOS token.
        """
        with self._using_run() as run:
            made = tasks.generate(run, prompt, tokens=whole("tokens", tokens), temperature=temperature, top_k=whole("top_k", top_k), top_p=top_p,
                                  min_p=min_p, repetition_penalty=repetition_penalty, seed=whole("seed", seed), stop=stop, ignore_eos=ignore_eos,
                                  verbosity=self._verbosity())  # fmt: skip
        return str(made["text"])

    def evaluate(self, texts: object = None) -> tasks.Result:
        """Loss on the test split of the fitted texts if the fit held one back, else on the validation split, or on other texts:
        {"tokens", "loss" (nats per token), "perplexity", "bits_per_byte", …}.

        Parameters
        ----------
        texts
            Texts, or a path; None: the test split of the fitted texts if the fit held one back, else the validation split.

        Returns
        -------
        dict
            {"tokens", "loss" (nats per token), "perplexity", "bits_per_byte", …}.
        """
        if texts is None:
            with self._using_run() as run:
                said = tasks.evaluate(run, data=self._data_to_evaluate(), split=self._evaluated_split(), verbosity=self._verbosity())
            return dict(said["own"]["scores"])
        checked, field = checked_texts(texts), RunFolder(self._run()).config()["data"]["text_field"]
        with tempfile.TemporaryDirectory() as folder, self._using_run({os.path.join(folder, "texts.jsonl"): "texts"}) as run:
            path = written_texts(checked, pathlib.Path(folder) / "texts", field)
            return dict(tasks.evaluate(run, data=path, split="all", verbosity=self._verbosity())["own"]["scores"])

    def score(self, texts: object = None, y: None = None) -> float:
        """Minus the bits per byte of `evaluate`: higher is better.

        Parameters
        ----------
        texts
            As for `evaluate`.
        y
            None.

        Returns
        -------
        float
        """
        return -float(self.evaluate(texts)["bits_per_byte"])
