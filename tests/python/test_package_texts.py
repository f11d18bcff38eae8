"""modewise.LanguageModel: texts in, the program's texts and perplexities out; what is wrong as sentences."""

import json
import os
import random

import pandas
import pytest
import sklearn.base
import tokenizers

import modewise
from cli_helpers import ok
from modewise import errors

SETTINGS = {"model.layers": 1, "model.width": 32, "model.heads": 4, "train.max_steps": 40, "train.batch_size": 4, "output.report": False}
PARAMETERS = {"fold": [0, 3, 4], "context": 32, "settings": SETTINGS, "verbosity": -1}


def documents(count=20):
    draw, words = random.Random(1), "the of and to in is thé 😀 was for".split()
    return [" ".join(draw.choice(words) for _ in range(120)) for _ in range(count)]


def fitted(texts, **changes):
    return modewise.LanguageModel(**{**PARAMETERS, **changes}).fit(texts)


@pytest.fixture(autouse=True)
def in_a_folder_of_its_own(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)


def test_texts_give_the_programs_text_and_perplexity(tmp_path):
    made = fitted(documents())
    assert os.listdir() == [] and os.listdir(f"{made.run_}/data") == ["summary.jsonl"]
    said = json.loads(ok("generate", made.run_, "--prompt", "the of", "--tokens", 60, "--temperature", 0, "--ignore-eos", "--json").stdout)
    assert made.generate("the of", 60) == said["text"]
    metrics = made.metrics_
    assert made.evaluate() == metrics["validation"]
    (tmp_path / "other.txt").write_text(documents(21)[20])
    other = json.loads(ok("evaluate", made.run_, "--data", tmp_path / "other.txt", "--json").stdout)["own"]["scores"]
    assert made.evaluate([documents(21)[20]]) == other
    assert made.evaluate(tmp_path / "other.txt") == other
    assert made.score([documents(21)[20]]) == -other["bits_per_byte"]
    again = modewise.LanguageModel.from_run(made.run_)
    assert again.generate("the of", 60) == said["text"]
    assert (again.attention, again.fold, again.context) == ("summary", [0, 3, 4], 32)
    assert sklearn.base.clone(made).get_params() == made.get_params()


def test_texts_of_another_field_are_trained_on_validated_and_evaluated(tmp_path):
    texts, others, settings = documents(), documents(22)[20:], {**SETTINGS, "train.max_steps": 2}
    for name, lines in (("bodies", texts), ("others", others)):
        (tmp_path / f"{name}.jsonl").write_text("".join(json.dumps({"body": text}) + "\n" for text in lines))
    made = modewise.LanguageModel(**{**PARAMETERS, "settings": {**settings, "data.text_field": "body"}}).fit(tmp_path / "bodies.jsonl", validation=others)
    plain = modewise.LanguageModel(**{**PARAMETERS, "settings": settings}).fit(texts, validation=others)
    assert made.evaluate() == plain.evaluate()
    assert made.evaluate(others) == made.evaluate(tmp_path / "others.jsonl")


def test_a_clone_of_an_opened_run_trains_the_same_model(tmp_path):
    letters = sorted(tokenizers.pre_tokenizers.ByteLevel.alphabet())
    model = tokenizers.models.BPE({text: number for number, text in enumerate([*letters, "ab", "ef"])}, [("a", "b"), ("e", "f")])
    pairs = tokenizers.Tokenizer(model)
    pairs.pre_tokenizer, pairs.decoder = tokenizers.pre_tokenizers.ByteLevel(add_prefix_space=False), tokenizers.decoders.ByteLevel()
    pairs.save(str(tmp_path / "tokenizer.json"))
    made = fitted(["abc def " * 40] * 20, tokenizer=tmp_path / "tokenizer.json", settings={**SETTINGS, "train.max_steps": 2})
    made.save(tmp_path / "kept")
    os.remove(tmp_path / "tokenizer.json")
    opened = modewise.LanguageModel.from_run(tmp_path / "kept")
    again = sklearn.base.clone(opened).set_params(run=None).fit(["abc def " * 40] * 20)
    assert again.evaluate() == made.evaluate()
    assert opened.metrics_["validation"] == made.metrics_["validation"]


def test_it_goes_on_from_a_model_and_is_the_programs_training(tmp_path):
    first = fitted(documents())
    more = fitted(documents(), init=first.run_, fold=None, context=None, attention="summary", run="more",
                  settings={"train.max_steps": 3, "output.report": False})  # fmt: skip
    ok("train", "language", "--init", first.run_, "--data", tmp_path / "more/data/more.jsonl", "--out", tmp_path / "theirs", "--set", "train.max_steps=3",
       "--set", "output.report=false", "--set", "model.attention.type=summary", "--set", "train.seed=0",
       "--set", "data.split_ratios=0.9,0.1,0", "--no-test")  # fmt: skip
    weights = "checkpoints/step_3/best.safetensors"
    assert (tmp_path / "more" / weights).read_bytes() == (tmp_path / "theirs" / weights).read_bytes()
    assert more.load().config["model"]["width"] == 32


@pytest.mark.parametrize("texts, sentence", [
    ([], "texts must be a path or a list of texts, got list without any"),
    ({"a", "b"}, "texts must be a path or a list of texts, got set, which has no order"),
    (pandas.DataFrame({"text": ["a"]}), "texts must be a path or a list of texts, got DataFrame, which has several columns: give that of the texts, such as "
                                        'frame["text"]'),
    ({"text": ["a"]}, "texts must be a path or a list of texts, got dict, which has several columns: give that of the texts, such as "
                      'frame["text"]'),
    (3, "texts must be a path or a list of texts, got int"),
    (["a", ""], "texts: document 1 must be a non-empty string, got ''"),
    (["a", 5], "texts: document 1 must be a non-empty string, got 5"),
    (["a", "\ud800"], "texts: '\\ud800' is half of a surrogate pair, which UTF-8 cannot encode"),
])  # fmt: skip
def test_bad_texts_are_sentences(texts, sentence):
    with pytest.raises(errors.DataError) as error:
        fitted(texts)
    assert str(error.value) == sentence
    assert os.listdir() == []


def test_the_programs_errors_are_exceptions():
    with pytest.raises(errors.NoInputError):
        fitted("nowhere.txt")
    with pytest.raises(errors.ConfigError):
        fitted(documents(), attention="pooled")
    assert os.listdir() == []
    with pytest.raises(errors.UsageError) as error:
        modewise.LanguageModel().generate("a")
    assert str(error.value) == "this LanguageModel is not fitted yet: call fit, or open a run with LanguageModel.from_run"
    with pytest.raises(errors.UsageError) as error:
        fitted(documents(), run="here").fit(documents(), y=[1])
    assert str(error.value) == "LanguageModel.fit takes texts alone: y must be None"


def test_a_text_classifier_has_no_module_yet(tmp_path):
    rows = [f"{text}\t{i % 2}" for i, text in enumerate(documents(24))]
    (tmp_path / "texts.tsv").write_text("\n".join(["text\tlabel", *rows]) + "\n")
    ok("train", "text", tmp_path / "texts.tsv", "--out", tmp_path / "run", "--tokenizer", "bytes", "--set", "model.width=8", "--set", "model.layers=1",
       "--set", "model.heads=2", "--set", "train.max_steps=2", "--set", "output.report=false")  # fmt: skip
    with pytest.raises(NotImplementedError, match=r"task 'text', which has no module in Python yet; the program and modewise\.tasks run it"):
        modewise.load(tmp_path / "run")
