"""Names of earlier versions (modewise/core/aliases.cpp, python/modewise/_aliases.py) give the results of the current ones, with
one warning; current names give none. Each row of the tables of aliases.cpp has a case here."""

import inspect
import json
import re
import shutil
import tomllib
import warnings

import numpy as np
import pytest
import sklearn.base
import torch

import modewise
from cli_helpers import ROOT, fails, modewise as program, ok, small_run, write_csv  # noqa: F401 — a fixture
from modewise import _aliases, nn, ops
from modewise.models import forecast
from test_generate import small_folder

SOURCE = (ROOT / "modewise/core/aliases.cpp").read_text()
TABLES = {name: [tuple(re.findall(r'"([^"]*)"', row)) for row in re.findall(r"\{([^{}]*)\}", body)]
          for name, body in re.findall(r"constexpr \w+ (k\w+)\[\] = \{\n(.*?)\n\};", SOURCE, re.S)}  # fmt: skip
PAGE = "docs/renames.md lists all names that have changed"


def warnings_of(result):
    return [line for line in result.stderr.splitlines() if PAGE in line]


def same(old, new, expected=1):
    """Both command lines end alike; the old one prints so many warnings more, the new one none."""
    before, now = program(*old), program(*new)
    assert (before.returncode, before.stdout) == (now.returncode, now.stdout), (old, before.stderr, now.stderr)
    assert len(warnings_of(before)) == expected, (old, before.stderr)
    others = [line for line in before.stderr.splitlines() if line not in warnings_of(before)]
    assert others == now.stderr.splitlines() and not warnings_of(now)
    return now


# The tables of aliases.cpp: a case for each row.


def rows(table):
    return [pytest.param(*row, id=" ".join(row)) for row in TABLES[table]]


def test_every_table_is_known():
    assert set(TABLES) == {"kTasks", "kTrainCommands", "kOptions", "kGroups", "kKeys", "kAttentions", "kValues", "kMembers"}
    assert all(len(row) == (3 if name == "kValues" else 2) for name, table in TABLES.items() for row in table)
    assert {row[0] for row in TABLES["kOptions"]} == set(OPTIONS)
    assert {row[0] for row in TABLES["kGroups"]} == set(GROUPS)
    assert {row[0] for row in TABLES["kKeys"]} == {*KEYS, *EVALUATE_KEYS, *EXPORTED_KEYS}
    assert {row[:2] for row in TABLES["kValues"]} == {*VALUES, *EXPORTED_VALUES, *OPTION_VALUES}


def test_the_page_of_renames_lists_every_name():
    page = (ROOT / "docs/renames.md").read_text()
    missing = [row for table in TABLES.values() for row in table for old, new in [row[-2:]]
               if not (old.replace("caption.", "captions.").rstrip(".") in page and new.rstrip(".") in page)]  # fmt: skip
    assert not missing


@pytest.mark.parametrize("old, new", rows("kTasks"))
def test_tasks(old, new, tmp_path):
    """Manifests hold these names too: they are accepted without a warning."""
    same(["config", "show", old], ["config", "show", new], expected=0)
    for name in (old, new):
        (tmp_path / f"{name}.toml").write_text(f'task = "{name}"\nseeds = [1]\n[[axis]]\nname = "r"\nkey = "train.optimizer.learning_rate"\n'
                                               "values = [0.1, 0.2]\n")  # fmt: skip
    plans = [["sweep", tmp_path / f"{name}.toml", "--out", tmp_path / "out", "--dry-run", "--json"] for name in (old, new)]
    before, now = (json.loads(ok(*plan).stdout) for plan in plans)
    assert len(now) == len(before) == 2
    assert {modewise.tasks.task_name(run["arguments"][1]) for run in [*before, *now]} == {new}
    assert modewise.tasks.task_name(old) == modewise.tasks.task_name(new) == new
    assert modewise.tasks.config_toml(old) == modewise.tasks.config_toml(new)


@pytest.mark.parametrize("old, new", rows("kTrainCommands"))
def test_train_commands(old, new, tmp_path):
    rest = ["--data", tmp_path / "none.json", "--out", tmp_path / "run"]
    result = same(["train", old, *rest], ["train", new, *rest])
    assert result.returncode in (66, 78)
    assert ok("train", old, "--help").stdout == ok("train", new, "--help").stdout


# Option: a command that takes it, with its value.
OPTIONS = {
    "--exist-ok": ["train", "forecast", "--data", "none.csv", "--exist-ok"],
    "--force": ["predict", "none", "--out", "a.csv", "--force"],
    "--override": ["train", "forecast", "--resume", "none", "--override"],
    "--lease": ["sweep", "none.toml", "--lease", "50"],
    "--places": ["explain", "none", "--places=3"],
    "--singles": ["explain", "none", "--singles", "3"],
    "--slots": ["generate", "none", "--slots", "3"],
    "--past-marks": ["generate", "none", "--past-marks"],
    "--beams": ["caption", "none", "none.png", "--beams", "3"],
    "--pictures": ["train", "caption", "--data", "none.json", "--pictures", "none"],
    "--test-pictures": ["train", "caption", "--data", "none.json", "--test-pictures=none"],
}


@pytest.mark.parametrize("old, new", rows("kOptions"))
def test_options(old, new):
    result = same(OPTIONS[old], [word.replace(old, new) for word in OPTIONS[old]])
    assert result.returncode in (66, 78) and "unknown option" not in result.stderr


# Key or group: a task and a key in the old words, with a value.
GROUPS = {
    "pictures.": ("image_classification", "pictures.label_smoothing", "0.2"),
    "series.": ("series_classification", "series.label_smoothing", "0.2"),
    "captions.": ("captioning", "captions.length_penalty", "0.5"),
    "vary.": ("series_classification", "vary.noise", "0.1"),
    "model.known.": ("forecasting", "model.known.width", "3"),
    "model.forest.": ("series_classification", "model.forest.trees", "7"),
    "model.linear.": ("series_classification", "model.linear.kernel", "5"),
    "model.rocket.": ("series_classification", "model.rocket.features", "168"),
}
KEYS = {
    "augment.flips": ("volume_classification", "1"),
    "augment.quarter_turns": ("volume_classification", "0,1"),
    "caption.beams": ("captioning", "7"),
    "caption.drawn": ("captioning", "3"),
    "caption.judged_training": ("captioning", "5"),
    "caption.smoothing": ("captioning", "0.2"),
    "classify.mirrors": ("volume_classification", "0,2"),
    "data.augment.flips": ("segmentation", "false"),
    "data.augment.turns": ("segmentation", "false"),
    "data.calendar_code": ("forecasting", "scaled"),
    "data.field": ("language_modeling", "body"),
    "data.knock_out": ("forecasting", "0.25"),
    "data.knock_out_seed": ("forecasting", "9"),
    "data.known": ("forecasting", "promo,price"),
    "data.motifs.cases": ("series_classification", "40"),
    "data.pictures": ("captioning", "/images"),
    "data.test_pictures": ("captioning", "/images"),
    "masking.exchanged": ("text", "0.15"),
    "masking.hidden": ("text", "0.6"),
    "masking.share": ("text", "0.25"),
    "model.attention.form": ("language_modeling", "full"),
    "model.attention.latent_deviation": ("language_modeling", "0.3"),
    "model.attention.slots": ("language_modeling", "3"),
    "model.baseline.form": ("forecasting", "AAdA"),
    "model.baseline.individual": ("forecasting", "true"),
    "model.baseline.kernel": ("forecasting", "5"),
    "model.baseline.period": ("forecasting", "12"),
    "model.baseline.ridge": ("forecasting", "0.5"),
    "model.baseline.start": ("forecasting", "average"),
    "model.blocks": ("forecasting", "5"),
    "model.convolution.kernel": ("series_classification", "3"),
    "model.convolution.levels": ("series_classification", "2"),
    "model.deviation": ("language_modeling", "0.3"),
    "model.first_positions": ("text", "sinusoid"),
    "model.position.code": ("forecasting", "learned"),
    "model.position.identity": ("forecasting", "false"),
    "model.positions": ("text", "77"),
    "model.types": ("text", "3"),
    "output.pictures": ("segmentation", "3"),
}


def shown_with(task, key, value):
    needs = {"masking.": "text.objective=masked_lm", "model.known.": "data.calendar=hour", "model.future_covariates.": "data.calendar=hour",
             "data.calendar_": "data.calendar=hour"}  # fmt: skip
    needed = [part for start, setting in needs.items() if key.startswith(start) for part in ("--set", setting)]
    return ["config", "show", task, "--json", *needed, "--set", f"{key}={value}"]


@pytest.mark.parametrize("old, new", rows("kGroups"))
def test_groups(old, new):
    task, key, value = GROUPS[old]
    changed = same(shown_with(task, key, value), shown_with(task, key.replace(old, new), value))
    assert changed.returncode == 0 and changed.stdout != ok("config", "show", task, "--json").stdout


@pytest.mark.parametrize("old, new", [row for row in rows("kKeys") if row.values[0] in KEYS])
def test_keys(old, new):
    task, value = KEYS[old]
    changed = same(shown_with(task, old, value), shown_with(task, new, value))
    assert changed.returncode == 0 and changed.stdout != ok("config", "show", task, "--json").stdout


def test_keys_in_groups_of_earlier_versions():
    for task, old, new, value in (("captioning", "captions.beams", "caption.beam_size", "7"),
                                  ("captioning", "captions.judged_training", "caption.train_eval_samples", "5")):
        assert same(shown_with(task, old, value), shown_with(task, new, value)).returncode == 0


# Key and old value: a task whose key it is.
VALUES = {
    ("data.normalize", "case"): "series_classification",
    ("model.attention.type", "causal"): "text",
    ("model.attention.type", "tensor"): "forecasting",
    ("model.cnn.attention", "tensor"): "image_classification",
    ("model.encoder.attention", "tensor"): "captioning",
    ("model.decoder.attention", "tensor"): "captioning",
    ("model.decoder.cross_attention", "tensor"): "captioning",
    ("model.window.scale", "deviation"): "forecasting",
    ("text.objective", "classify"): "text",
    ("text.objective", "regress"): "text",
    ("text.objective", "masked"): "text",
}


@pytest.mark.parametrize("key, old, new", [row for row in rows("kValues") if row.values[:2] in VALUES])
def test_values(key, old, new):
    task = VALUES[key, old]
    assert same(shown_with(task, key, old), shown_with(task, key, new)).returncode == 0


@pytest.mark.parametrize("task, new", [("language_modeling", "summary"), ("series_classification", "axial"), ("text", "axial")])
def test_attention_tensor_depends_on_the_task(task, new):
    key = "model.attention.type"
    assert same(shown_with(task, key, "tensor"), shown_with(task, key, new)).returncode == 0


# Keys of the options of `evaluate`, which its options of earlier versions set.
EVALUATE_KEYS = {"beams": ["--beams", "3"], "force": ["--force"], "pictures": ["--pictures", "none"]}


@pytest.mark.parametrize("old, new", [row for row in rows("kKeys") if row.values[0] in EVALUATE_KEYS])
def test_keys_of_evaluate(old, new):
    words = EVALUATE_KEYS[old]
    result = same(["evaluate", "none", *words], ["evaluate", "none", f"--{new.replace('_', '-')}", *words[1:]])
    assert result.returncode == 66


EXPORTED_KEYS = ("form", "slots")
EXPORTED_VALUES = [("type", "causal")]
OPTION_VALUES = [("--dtype", "bfloat16")]
GENERATE = ["--tokenizer", "bytes", "--prompt", "a", "--tokens", 30, "--temperature", 0, "--ignore-eos", "--json"]


@pytest.fixture(scope="module")
def exported(tmp_path_factory):
    """Two copies of one exported model, the config.json of the first with the keys and values of earlier versions."""
    folder = tmp_path_factory.mktemp("exported")
    made = small_folder(folder / "plain")
    ok("convert", made, folder / "new", "--tokenizer", "bytes", "--attention", "summary", "--fold", "0,4,4", "--summary-tokens", "2")
    shutil.copytree(folder / "new", folder / "old")
    config = json.loads((folder / "old/config.json").read_text())
    attention = config["modewise"]["attention"]
    assert set(attention) == {"type", "fold", "window", "summary_tokens", "sinks", "density"} and attention["type"] == "summary"
    old = {new: name for name, new in TABLES["kKeys"] if name in EXPORTED_KEYS}
    config["modewise"]["attention"] = {old.get(key, key): "causal" if key == "type" else value for key, value in attention.items()}
    (folder / "old/config.json").write_text(json.dumps(config))
    return folder


def test_exported_models_of_earlier_versions(exported):
    results = [ok("generate", exported / name, *GENERATE) for name in ("old", "new")]
    texts = [json.loads(result.stdout) for result in results]
    assert texts[0]["ids"] == texts[1]["ids"] and texts[0]["attention"] == texts[1]["attention"] == "summary"
    assert len(warnings_of(results[0])) <= 1 and not warnings_of(results[1])


@pytest.mark.parametrize("old, new", [row for row in rows("kAttentions") if row.values[0] == "causal"])
def test_attention_of_models(old, new, exported):
    results = [ok("generate", exported / "plain", *GENERATE, "--attention", name, "--fold", "0,4") for name in (old, new)]
    texts = [json.loads(result.stdout) for result in results]
    assert texts[0]["ids"] == texts[1]["ids"] and texts[0]["attention"] == texts[1]["attention"] == new
    assert [len(warnings_of(result)) for result in results] == [1, 0]


def test_attention_of_the_registry():
    assert TABLES["kAttentions"] == [("causal", "summary"), ("tensor", "stt")]
    assert same(shown_with("forecasting", "model.attention.form", "tensor"), shown_with("forecasting", "model.attention.type", "stt")).returncode == 0


def test_types_of_weights(exported, tmp_path):
    results = []
    for name in ("bfloat16", "bf16"):
        results.append(program("convert", exported / "plain", tmp_path / name, "--tokenizer", "bytes", "--dtype", name, "--json"))
        assert results[-1].returncode == 0, results[-1].stderr
        assert len(warnings_of(results[-1])) == (name == "bfloat16")
    assert (tmp_path / "bfloat16/model.safetensors").read_bytes() == (tmp_path / "bf16/model.safetensors").read_bytes()


def test_members_of_data_json(small_run, tmp_path):
    assert TABLES["kMembers"] == [("deviation", "std")]
    old = shutil.copytree(small_run, tmp_path / "old")
    text = (old / "data.json").read_text()
    assert '"std"' in text
    (old / "data.json").write_text(text.replace('"std"', '"deviation"'))
    assert program("predict", old, "--json").stdout == ok("predict", small_run, "--json").stdout
    assert np.array_equal(modewise.load(old).std, modewise.load(small_run).std)


# Whole commands and files.


OLD_CONFIG = """\
[data]
knock_out = 0.1
known = ["promo"]
[model]
name = "tide"
blocks = 3
[model.window]
scale = "deviation"
[model.known]
width = 5
[model.position]
code = "sincos"
[model.baseline]
kernel = 5
ridge = 0.5
start = "average"
"""
NEW_CONFIG = """\
[data]
missing_fraction = 0.1
future_covariates = ["promo"]
[model]
name = "tide"
layers = 3
weight_init = "average"
[model.window]
scale = "std"
[model.future_covariates]
width = 5
[model.position]
encoding = "sincos"
[model.dlinear]
kernel = 5
[model.ridge]
penalty = 0.5
"""


def test_a_file_of_old_names_warns_once(tmp_path):
    (tmp_path / "old.toml").write_text(OLD_CONFIG)
    (tmp_path / "new.toml").write_text(NEW_CONFIG)
    old, new = (["config", "show", task, "--config", tmp_path / f"{name}.toml"] for task, name in (("forecast", "old"), ("forecasting", "new")))
    assert same(old, new).returncode == 0
    assert same([*old, "--set", "model.blocks=4", "--set", "data.knock_out_seed=3"], [*new, "--set", "model.layers=4", "--set", "data.missing_seed=3"]).returncode == 0


def test_an_axis_of_a_sweep_has_its_key_under_both_names(tmp_path):
    """Labels are true: neither --set nor a second axis changes the values of an axis under the earlier name."""
    axis = '[[axis]]\nkey = "model.{}"\nvalues = [1, 2]\n'
    file = tmp_path / "sweep.toml"
    file.write_text(axis.format("layers"))
    fails(78, "--set model.blocks=3 would override the axis 'model.layers'", arguments=["sweep", file, "--dry-run", "--set", "model.blocks=3"])
    file.write_text(axis.format("layers") + axis.format("blocks"))
    fails(78, "the axes 'model.layers' and 'model.blocks' both set model.layers", arguments=["sweep", file, "--dry-run"])


def test_unknown_names_are_still_errors(tmp_path):
    fails(2, "unknown key 'model.block'", arguments=["config", "show", "--set", "model.block=3"])
    (tmp_path / "a.toml").write_text("[pictures]\nnothing = 3\n")
    fails(78, "unknown key 'pictures.nothing'", arguments=["config", "show", "image_classification", "--config", tmp_path / "a.toml"])


def test_a_training_in_old_words_is_the_same_training(tmp_path):
    data = write_csv(tmp_path / "d.csv", rows=200)
    common = ["train", "forecast", "--data", data, "--model", "dlinear", "--set", "forecast.lookback=24", "--set", "forecast.horizon=8", "--set",
              "output.report=false", "--set", "train.max_steps=3", "--threads", "1"]  # fmt: skip
    words = {"old": ["--exist-ok", "--set", "data.knock_out=0.1", "--set", "model.window.scale=deviation"],
             "new": ["--overwrite", "--set", "data.missing_fraction=0.1", "--set", "model.window.scale=std"]}  # fmt: skip
    for name, more in words.items():
        for _ in range(2):  # the second one into the folder of the first
            assert len(warnings_of(ok(*common, *more, "--out", tmp_path / name))) == (name == "old")
    old, new = tmp_path / "old", tmp_path / "new"
    assert (old / "config.toml").read_text() == (new / "config.toml").read_text()
    assert (old / "metrics.json").read_bytes() == (new / "metrics.json").read_bytes()
    assert json.loads((old / "manifest.json").read_text())["task"] == "forecasting"
    for name, option in (("old", "--override"), ("new", "--allow-config-changes")):
        resumed = ok("train", "forecast", "--resume", tmp_path / name, "--set", "train.max_steps=5", option)
        assert len(warnings_of(resumed)) == (name == "old")
    assert (old / "metrics.json").read_bytes() == (new / "metrics.json").read_bytes()
    for name, option in (("old", "--force"), ("new", "--overwrite")):
        for _ in range(2):
            ok("predict", tmp_path / name, "--out", tmp_path / f"{name}.csv", option)
    assert (tmp_path / "old.csv").read_bytes() == (tmp_path / "new.csv").read_bytes()


def in_earlier_keys(toml, groups):
    """A config.toml with the keys of these groups that its options had before they were nested under a model's name."""
    earlier = [row for table in ("kGroups", "kKeys") for row in TABLES[table] if set(groups) & set(row[0].split("."))]

    def renamed(key):
        return next((old + key.removeprefix(new) for old, new in earlier if key == new or (new.endswith(".") and key.startswith(new))), key)

    def lines(table, prefix=""):
        for key, value in table.items():
            if isinstance(value, dict):
                yield from lines(value, f"{prefix}{key}.")
            else:
                value = [in_earlier_keys(member, groups) for member in value] if prefix + key == "model.ensemble.members" else value
                yield f"{renamed(prefix + key)} = {json.dumps(value)}\n"

    return "".join(lines(tomllib.loads(toml)))


FORECAST = ["forecast", "forecast.lookback=24", "forecast.horizon=8", "train.max_steps=3"]
SERIES = ["classify-series", "data.path=motifs", "data.motifs.samples=24", "data.motifs.steps=64", "train.epochs=2"]
NESTED = {
    "dlinear": [*FORECAST, "model.dlinear.kernel=5", "model.individual=true", "model.weight_init=average"],
    "ets": [*FORECAST, "model.ets.form=ANN", "model.period=4"],
    "ridge": [*FORECAST, "model.ridge.penalty=0.5"],
    "tcn": [*SERIES, "model.tcn.kernel=3", "model.tcn.levels=2"],
    "shapelet-forest": [*SERIES, "model.shapelet-forest.trees=5", "model.shapelet-forest.shapelets=3"],
    "minirocket": [*SERIES, "model.minirocket.features=168"],
}


def trained(folder, model, command, *settings):
    data = ["--data", write_csv(folder / "d.csv", rows=200)] if command == "forecast" else []
    ok("train", command, *data, "--model", model, "--out", folder / model, *[word for one in [*settings, "output.report=false"] for word in ("--set", one)])
    return folder / model


def same_with_earlier_keys(run, *groups):
    old = shutil.copytree(run, run.with_name("old"))
    text = in_earlier_keys((run / "config.toml").read_text(), groups)
    (old / "config.toml").write_text(text)
    assert all(f"model.{group}." in text for group in groups), text
    assert same(["evaluate", old, "--json"], ["evaluate", run, "--json"]).returncode == 0
    return old


@pytest.mark.parametrize("model", NESTED)
def test_a_run_with_the_earlier_keys_of_its_model(model, tmp_path):
    groups = ["baseline"] if NESTED[model][0] == "forecast" else ["convolution", "forest", "linear", "rocket"]
    run = trained(tmp_path, model, *NESTED[model])
    old = same_with_earlier_keys(run, *groups)
    same(["config", "show", "--run", old], ["config", "show", "--run", run])


def test_an_ensemble_with_the_earlier_keys_of_its_members(tmp_path):
    members = ",".join(str(trained(tmp_path, model, *NESTED[model])) for model in ("dlinear", "ets"))
    run = trained(tmp_path, "ensemble", "forecast", "forecast.lookback=24", "forecast.horizon=8", f"model.ensemble.runs={members}")
    same_with_earlier_keys(run, "baseline")


# Python.


def current(call):
    """The result of a call without any warning of ours."""
    with warnings.catch_warnings():
        warnings.simplefilter("error", DeprecationWarning)
        return call()


def deprecated(call, *names):
    """The result of a call with one DeprecationWarning, which names all old and current names and this file."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        result = call()
    caught = [one for one in caught if PAGE in str(one.message)]
    assert len(caught) == 1 and caught[0].category is DeprecationWarning
    assert all(f"'{name}'" in str(caught[0].message) for name in names)
    assert caught[0].filename == __file__
    return result


@pytest.mark.parametrize("estimator, old, new", [
    (modewise.Forecaster, {"exist_ok": True, "known": ["x"]}, {"overwrite": True, "future_covariates": ["x"]}),
    (modewise.VolumeClassifier, {"exist_ok": True}, {"overwrite": True}),
    (modewise.SeriesClassifier, {"exist_ok": True}, {"overwrite": True}),
    (modewise.Segmenter, {"exist_ok": True}, {"overwrite": True}),
    (modewise.LanguageModel, {"exist_ok": True}, {"overwrite": True}),
])  # fmt: skip
def test_estimators(estimator, old, new):
    wanted = current(lambda: estimator(**new))
    made = deprecated(lambda: estimator(**old), *old, *new)
    assert made.get_params() == wanted.get_params() and repr(made) == repr(wanted)
    assert set(new) <= set(made.get_params()) and not set(old) & set(made.get_params())
    assert sklearn.base.clone(made).get_params() == wanted.get_params()
    assert deprecated(lambda: estimator().set_params(**old), *old, *new).get_params() == wanted.get_params()
    with pytest.raises(TypeError, match=r"^'exist_ok' is the old name of 'overwrite', and both were given$"):
        estimator(exist_ok=True, overwrite=True)
    assert list(inspect.signature(estimator).parameters) == list(estimator().get_params())


def test_an_estimator_has_no_parameter_of_another():
    with pytest.raises(modewise.errors.UsageError, match="Segmenter has no parameter 'known'"):
        modewise.Segmenter().set_params(known=["x"])


@pytest.mark.parametrize("function, old", [
    (modewise.tasks.train, {"kind": "task", "exist_ok": "overwrite"}),
    (modewise.tasks.resume, {"accept_changes": "allow_config_changes"}),
    (modewise.tasks.predict, {"force": "overwrite"}),
    (modewise.tasks.explain, {"singles": "num_examples", "places": "max_positions", "force": "overwrite"}),
    (modewise.tasks.show, {"kind": "task"}),
    (modewise.tasks.config_toml, {"kind": "task"}),
])  # fmt: skip
def test_tasks_of_the_package(function, old):
    assert set(old.values()) <= set(inspect.signature(function).parameters) and not set(old) & set(inspect.signature(function).parameters)
    with pytest.raises((modewise.errors.ModewiseError, TypeError)), pytest.warns(DeprecationWarning, match=PAGE) as caught:
        function("none", {}, **dict.fromkeys(old, "none")) if "kind" not in old else function(settings={}, **dict.fromkeys(old, "none"))
    assert len(caught) == 1 and all(f"'{name}' is called '{new}'" in str(caught[0].message) for name, new in old.items())


def test_a_task_in_old_words_trains_the_same_run(tmp_path):
    settings = {"data.simulate": "lorenz96", "data.simulate_rows": 300, "model.name": "dlinear", "forecast.lookback": 24, "forecast.horizon": 8,
                "train.max_steps": 2, "output.report": False}  # fmt: skip
    new = current(lambda: modewise.tasks.train("forecasting", settings, out=tmp_path / "new", overwrite=True, verbosity=-1))
    old = deprecated(lambda: modewise.tasks.train(kind="forecast", settings=settings, out=tmp_path / "old", exist_ok=True, verbosity=-1), "kind", "exist_ok")
    assert {**old, "run": ""} == {**new, "run": ""}
    assert modewise.load(tmp_path / "old").path == tmp_path / "old"


def test_names_of_tasks():
    assert modewise.tasks.task_name("classify-volumes") == "volume_classification"
    assert modewise.tasks.task_name("text") == "text"
    for unknown in ("nothing", "", "\ud800"):
        assert modewise.tasks.task_name(unknown) == unknown


def test_classes_of_nn():
    for old, new in nn.OLD_NAMES.items():
        assert deprecated(lambda old=old: getattr(nn, old), old, new) is getattr(nn, new)
        assert old not in nn.__all__ and new in nn.__all__
    assert deprecated(lambda: modewise.models.volumes.GridShape, "GridShape", "VisionShape") is modewise.models.volumes.VisionShape
    with pytest.raises(AttributeError, match="module 'modewise.nn' has no attribute 'Nothing'"):
        nn.Nothing  # noqa: B018


SHAPE = forecast.ForecastShape([2], [False], 8, 3)


def state(module):
    return {name: tensor.tolist() for name, tensor in module.state_dict().items()}


@pytest.mark.parametrize("make, old, new", [
    (lambda **names: nn.TensorAttention(8, 2, fold=[0, 2, 3], **names), {"form": "causal", "slots": 2, "deviation": 0.1, "latent_deviation": 0.2},
     {"form": "summary", "summary_tokens": 2, "std": 0.1, "latent_std": 0.2}),
    (lambda **names: nn.TokenAttention(8, 2, **names), {"reach": "temporal"}, {"scope": "temporal"}),
    (lambda **names: nn.ModeEmbedding([2, 3], [1], 4, **names), {"deviation": 0.3}, {"std": 0.3}),
    (lambda **names: nn.FutureCovariateEffect([2, 3], 1, hidden=2, **names), {"known": 3}, {"covariates": 3}),
    (lambda **names: nn.TokenEncoder(nn.EncoderOptions(8, 6, heads=2, **names), [2, 3], [1]),
     {"blocks": 1, "code": "learned", "identity": False, "form": "dense"},
     {"layers": 1, "encoding": "learned", "mode_embeddings": False, "attention_type": "dense"}),
    (lambda **names: forecast.PatchTST(SHAPE, width=4, hidden=6, heads=2, length=4, stride=2, dropout=0, attention_dropout=0, head_dropout=0, **names),
     {"blocks": 2}, {"layers": 2}),
    (lambda **names: forecast.ITransformer(SHAPE, width=4, hidden=6, heads=2, dropout=0, **names), {"blocks": 2}, {"layers": 2}),
    (lambda **names: forecast.Tide(SHAPE, width=4, hidden=6, step_width=2, dropout=0, norm=True, **names),
     {"blocks": 2, "known_width": 3}, {"layers": 2, "covariate_width": 3}),
    (lambda **names: forecast.TokenForecaster(SHAPE, nn.EncoderOptions(4, 6, heads=2, layers=1), length=4, stride=2, **names),
     {"known_width": 3}, {"covariate_width": 3}),
])  # fmt: skip
def test_keywords_of_modules(make, old, new):
    torch.manual_seed(3)
    wanted = current(lambda: make(**new))
    torch.manual_seed(3)
    with pytest.warns(DeprecationWarning, match=PAGE):
        made = make(**old)
    assert state(made) == state(wanted)


def test_types_of_attention_in_python():
    q, k, v = (torch.randn(1, 9, 2, 4, generator=torch.Generator().manual_seed(seed)) for seed in (1, 2, 3))
    options = {"fold": [0, 3], "latents": torch.zeros(1, 2, 1, 4)}
    wanted = current(lambda: ops.tensor_attention(q, k, v, **options))
    assert torch.equal(current(lambda: ops.tensor_attention(q, k, v, form="summary", **options)), wanted)
    assert torch.equal(deprecated(lambda: ops.tensor_attention(q, k, v, form="causal", **options), "causal", "summary"), wanted)
    assert torch.equal(torch.ops.modewise.tensor_attention(q, k, v, options["latents"], fold=[0, 3]), wanted), "the default of the schema"
    torch.manual_seed(1)
    dense = current(lambda: nn.synthesizer("stt", [3], 4, 2))
    torch.manual_seed(1)
    assert state(deprecated(lambda: nn.synthesizer("tensor", [3], 4, 2), "tensor", "stt")) == state(dense)
    with pytest.raises(ValueError, match="unknown attention 'causal'"):
        nn.synthesizer("causal", [3], 4, 2)


def test_attention_of_the_language_model():
    new = modewise.LanguageModel("summary")._settings("a.txt")
    assert deprecated(lambda: modewise.LanguageModel("causal")._settings("a.txt"), "causal", "summary") == new


def test_the_forecaster_module():
    from modewise.models.forecast import ForecastShape, LinearForecaster

    shape = deprecated(lambda: ForecastShape([2], [False], 6, 3, known=1, known_modes=0), "known", "future_covariates", "future_covariate_modes")
    assert shape == ForecastShape([2], [False], 6, 3, future_covariates=1)
    module = LinearForecaster(shape, centre="none", scale=False)
    past, covariates = torch.randn(1, 2, 6), torch.randn(1, 1, 9)
    wanted = current(lambda: module(past, future_covariates=covariates))
    with pytest.warns(DeprecationWarning, match=PAGE):
        assert torch.equal(module(past, known=covariates), wanted)


def test_options_of_transformers():
    library = pytest.importorskip("modewise.transformers")
    from modewise.transformers.options import current_table

    transformers = pytest.importorskip("transformers")

    def config():
        return transformers.LlamaConfig(vocab_size=19, hidden_size=16, intermediate_size=24, num_hidden_layers=1, num_attention_heads=2, num_key_value_heads=2,
                                        max_position_embeddings=32, bos_token_id=None, eos_token_id=None)  # fmt: skip

    wanted = current(lambda: library.configure(config(), fold=[0, 4], summary_tokens=2)).modewise
    assert deprecated(lambda: library.configure(config(), fold=[0, 4], slots=2), "slots", "summary_tokens").modewise == wanted
    table = wanted["attention"]
    assert set(table) == {"type", "fold", "window", "summary_tokens", "sinks", "density"}
    old = {{"type": "form", "summary_tokens": "slots"}.get(key, key): "causal" if key == "type" else value for key, value in table.items()}
    assert current_table(old) == current_table(table) == table
    made = library.ModewiseConfig(**config().to_dict() | {"modewise": {"attention": old}})
    assert made.modewise["attention"] == table
    torch.manual_seed(1)
    model = library.prepare(transformers.LlamaForCausalLM(config()), fold=[0, 4], summary_tokens=2).eval()
    torch.manual_seed(1)
    plain = transformers.LlamaForCausalLM(config())
    again = deprecated(lambda: library.prepare(plain, fold=[0, 4], slots=2), "slots").eval()
    again.config.modewise = {"attention": old}
    ids = torch.arange(12)[None] % 19
    again.load_state_dict(model.state_dict())
    assert torch.equal(model(ids).logits, again(ids).logits)


def test_members_in_python():
    assert _aliases.member({"std": 1, "deviation": 2}, "std") == _aliases.member({"deviation": 1}, "std") == 1
    with pytest.raises(KeyError):
        _aliases.member({}, "std")
