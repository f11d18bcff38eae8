"""Arguments of the estimators: natural ones are accepted in every form, others are a sentence that names the argument."""

import numpy as np
import pandas as pd
import pytest
import torch

import modewise
from modewise import errors, nn
from test_package_forecaster import in_a_folder_of_its_own  # noqa: F401 — a fixture

ROWS = 80
TIMES = pd.date_range("2024-01-01", periods=ROWS, freq="h")
FRAME = pd.DataFrame({name: np.sin(np.arange(ROWS) / 3) + place for place, name in enumerate("abc")}, index=TIMES)
LONG = pd.concat([FRAME.rename_axis("ds").reset_index().assign(shop=shop, item="x") for shop in "pq"], ignore_index=True)


def forecaster(model="repeat", **changes):
    return modewise.Forecaster(**{"model": model, "horizon": 3, "lookback": 12, "verbosity": -1, "settings": {"output.report": False}, **changes})


def columns(forecast):
    return [name for name in forecast.columns if "_q" not in str(name)]


@pytest.mark.parametrize("form", [list, tuple, np.array, pd.Index, pd.Series, iter])
def test_names_of_columns_come_in_every_form(form):
    assert columns(forecaster().fit(FRAME, target_cols=form(["a", "c"])).predict()) == ["a", "c"]
    found = forecaster().fit(LONG, id_col=form(["shop", "item"]), target_cols="a").predict()
    assert columns(found) == ["shop", "item", "ds", "a"] and list(found["shop"]) == list("pppqqq")
    if form is not iter:
        ahead = FRAME.reindex(pd.date_range(TIMES[0], periods=ROWS + 3, freq="h")).assign(promo=1.0)
        made = forecaster("tide", epochs=1, future_covariates=form(["promo"])).fit(ahead)
        assert columns(made.predict()) == ["a", "b", "c"]
        assert made.predict(future=ahead[["promo"]].tail(3)).equals(made.predict())


def test_a_covariate_of_several_letters_and_columns_that_are_numbers_are_names():
    ahead = FRAME.reindex(pd.date_range(TIMES[0], periods=ROWS + 3, freq="h")).assign(promo=1.0)
    assert columns(forecaster("tide", epochs=1, future_covariates="promo").fit(ahead).predict()) == ["a", "b", "c"]
    assert columns(forecaster().fit(FRAME.set_axis([7, 8, 9], axis=1), target_cols=8).predict()) == ["8"]
    assert columns(forecaster().fit(FRAME["a"].rename(("x", "y"))).predict()) == ["('x', 'y')"]
    assert list(forecaster().fit(FRAME.reset_index(drop=True), freq=np.int64(1)).predict().index) == [80, 81, 82]


@pytest.mark.parametrize("changes", [
    {"device": torch.device("cpu")}, {"threads": None}, {"n_jobs": None}, {"verbosity": None}, {"seed": np.int64(3)}, {"settings": None},
], ids=lambda changes: next(iter(changes)))  # fmt: skip
def test_constructor_arguments_of_other_types(changes):
    assert len(forecaster(**changes).fit(FRAME).predict(h=np.int64(2))) == 2


def test_tensors_with_the_negative_bit_are_numbers():
    values = torch.tensor(FRAME.to_numpy())
    negative = torch.complex(values, -values).conj().imag
    assert negative.is_neg()
    assert forecaster().fit(negative).predict().equals(forecaster().fit(FRAME.to_numpy()).predict())


USAGE = [
    (lambda: forecaster().fit(FRAME, target_cols=[]), "target_cols has no column: name one, or leave it out"),
    (lambda: forecaster().fit(LONG, id_col=[]), "id_col has no column: name one, or leave it out"),
    (lambda: forecaster().fit(LONG, time_col=["ds"]), "time_col must be the name of one column, got ['ds']"),
    (lambda: forecaster(threads="2").fit(FRAME), "threads must be an integer, got '2'"),
    (lambda: forecaster(verbosity="loud").fit(FRAME), "verbosity must be an integer, got 'loud'"),
    (lambda: forecaster(settings={3: 1}).fit(FRAME), "settings must be values by config keys, such as {'model.width': 128}, got {3: 1}"),
    (lambda: forecaster(settings=["a"]).fit(FRAME), "settings must be values by config keys, such as {'model.width': 128}, got ['a']"),
    (lambda: modewise.tasks.train("forecasting", [3]), "settings must be values by config keys, such as {'model.width': 128}, got [3]"),
    (lambda: forecaster().fit(FRAME).predict(h=2.5), "h must be an integer, got 2.5"),
    (lambda: forecaster().fit(FRAME).predict(3.0), "steps must be an integer, got 3.0"),
]
DATA = [
    (FRAME.set_axis(pd.MultiIndex.from_product([["x"], list("abc")]), axis=1), "frame: its columns have several levels: give each one name, such as "
                                                                               "frame.set_axis(frame.columns.map('_'.join), axis=1)"),
    (FRAME.set_axis([1, "1", 2], axis=1), "frame: the columns 1 and '1' are written alike: rename one of them"),
]  # fmt: skip


@pytest.mark.parametrize("ask, sentence", USAGE, ids=[sentence[:30] for _, sentence in USAGE])
def test_other_arguments_are_sentences(ask, sentence):
    with pytest.raises(errors.UsageError) as error:
        ask()
    assert str(error.value) == sentence


@pytest.mark.parametrize("frame, sentence", DATA)
@pytest.mark.parametrize("panel", ["no", "yes"])
def test_other_columns_are_sentences(frame, sentence, panel):
    for ask in (lambda: forecaster(settings={"data.panel": panel}).fit(frame), lambda: forecaster().fit(FRAME).predict(data=frame)):
        with pytest.raises(errors.DataError) as error:
            ask()
        assert str(error.value) == sentence


def test_a_number_of_tokens_below_none_and_a_rotary_base_of_none_are_sentences():
    made = modewise.LanguageModel(context=16, verbosity=-1, settings={"model.width": 16, "model.layers": 1, "train.max_steps": 1}).fit(["the cat sat. " * 9] * 12)
    for tokens, sentence in ((-1, "generate: the number of tokens must not be negative, got -1"), (2.5, "tokens must be an integer, got 2.5")):
        with pytest.raises(errors.UsageError) as error:
            made.generate("the", tokens)
        assert str(error.value) == sentence
    with pytest.raises(ValueError, match="rotary_angles: base must be positive and finite, got 0"):
        nn.TokenAttention(8, 2, rope_modes=[0], rope_base=0)(torch.ones(1, 3, 8))
