"""modewise.load and modewise.nn: a run's model in Python has the names of its file and the bits of the program."""

import json
import math
import re
import shutil
import subprocess
import warnings

import numpy as np
import pandas as pd
import pytest
import safetensors.torch
import torch

import modewise
from cli_helpers import PROGRAM, ok, write_csv
from modewise import errors, nn
from modewise.nn.synthesizers import CAUSAL, ENTRIES
from modewise.run_folder import require_same

SIZES = {"forecast.lookback": 24, "forecast.horizon": 8, "output.report": False, "train.max_steps": 3}
CASES = {name: {"model.name": name} for name in ("hot", "transformer", "spatial", "temporal", "patchtst", "itransformer", "tide", "dlinear",
                                                "nlinear", "rlinear", "seasonal", "repeat")}  # fmt: skip
CASES |= {
    "release": {"model.preset": "release"},
    "paper": {"model.preset": "paper"},
    "paper sum": {"model.preset": "paper", "model.attention.combine": "sum"},
    "linear": {"model.attention.kernel": "linear"},
    "fixed features": {"model.attention.kernel": "linear", "model.attention.feature_draw": "fixed"},
    "redrawn features": {"model.attention.kernel": "linear", "model.attention.features_redraw_every": 2},
    "masks": {"model.attention.mode_masks": ["band:1", "causal"]},
    "shared": {"model.attention.share_modes": True, "model.attention.attend_modes": [1], "model.attention.query_key_norm": False},
    "learned": {"model.position.encoding": "learned", "model.position.rotary": "none", "model.head.time": "attention"},
    "sincos": {"model.position.encoding": "sincos", "model.layer_scale": 0.1, "model.head.skip": "individual"},
    "cycle": {"model.window.cycle": 24, "model.window.affine": True, "model.window.centre": "last"},
    "quantile": {"forecast.loss": "quantile"},
    "horizons": {"forecast.horizons": [3, 8], "model.window.scale": "none"},
    "bf16": {"model.precision": "bf16"},
    "no_feed_forward": {"model.feed_forward": "none"},
    "no_attention": {"model.attention.kernel": "none"},
    "plain tide": {"model.name": "tide", "model.tide.norm": False, "model.layers": 1, "forecast.loss": "quantile"},
    "individual": {"model.name": "nlinear", "model.individual": True},
    **{f"registry {name}": {"model.attention.type": name} for name in ENTRIES},
    "cut_patches": {"model.patch.length": 7, "model.patch.stride": 5, "model.patch.embedding": "relu"},
}


def with_gaps(lines):
    """Column a every seventh row, and b shortly before the end."""
    for i in [*range(3, 300, 7), 299]:
        cells = lines[i].split(",")
        cells[1 if i < 299 else 2] = ""
        lines[i] = ",".join(cells)


def rows_of(path):
    return np.array([[float(cell) if cell else np.nan for cell in line.split(",")[1:]] for line in path.read_text().splitlines()[1:]])


@pytest.fixture(scope="module")
def data(tmp_path_factory):
    folder = tmp_path_factory.mktemp("models")
    return {"whole": write_csv(folder / "whole.csv", rows=300), "gaps": write_csv(folder / "gaps.csv", rows=300, edit=with_gaps)}


@pytest.mark.parametrize("kind", ["whole", "gaps"])
@pytest.mark.parametrize("name", CASES)
def test_a_loaded_model_has_the_programs_bits(data, tmp_path, name, kind):
    run = tmp_path / "run"
    modewise.tasks.train("forecasting", {**SIZES, **CASES[name], "data.path": data[kind]}, out=run, verbosity=-1)
    said = modewise.tasks.predict(run)
    got = modewise.load(run).predict(rows_of(data[kind]))
    assert got.names == [series["name"] for series in said["series"]]
    assert np.array_equal(got.values, [series["forecast"] for series in said["series"]])
    quantiles = [list(series["quantiles"].values()) for series in said["series"]]
    if got.quantiles is None:
        assert quantiles == [[]] * len(got.names)
        return
    assert [f"{level:g}" for level in got.levels] == list(said["series"][0]["quantiles"])
    assert np.array_equal(np.moveaxis(got.quantiles, 1, 2), quantiles)
    assert not np.array_equal(got.values[0], got.values[1])


@pytest.fixture(scope="module")
def hot(data, tmp_path_factory):
    """Trained by the program itself, for more than one window of predictions.npz."""
    run = tmp_path_factory.mktemp("hot") / "run"
    settings = [part for key, value in SIZES.items() for part in ("--set", f"{key}={str(value).lower()}")]
    ok("train", "forecast", "--data", data["gaps"], "--out", run, *settings, "--set", "train.max_steps=20", "--threads", "1")
    return run


@pytest.mark.parametrize("test", [True, False])
def test_a_cycle_needs_the_place_of_other_rows(tmp_path, test):
    rows = np.array([[10 + 3 * np.sin(2 * np.pi * t / 24), t % 24 == 5, t % 24] for t in range(350)], dtype=float)
    paths = {count: tmp_path / f"{count}.npy" for count in (300, 350)}
    for count, path in paths.items():
        np.save(path, rows[:count])
    settings = {**SIZES, "data.path": paths[300], "model.name": "rlinear", "model.window.cycle": 24, "train.test": test}
    modewise.tasks.train("forecasting", settings, out=tmp_path / "run", verbosity=-1)
    loaded = modewise.load(tmp_path / "run")
    own, more = ([one["forecast"] for one in modewise.tasks.predict(tmp_path / "run", data=path, verbosity=-1)["series"]] for path in paths.values())
    assert np.array_equal(loaded.predict(rows[:300]).values, own)
    assert np.array_equal(loaded.predict(rows, first_row=0).values, more)
    assert np.array_equal(loaded.predict(rows[-30:], first_row=np.int64(320)).values, more)
    assert not np.array_equal(loaded.predict(rows, first_row=1).values, more)
    for count in (350, 250):
        with pytest.raises(errors.UsageError) as error:
            loaded.predict(rows[:count])
        assert str(error.value) == (f"{tmp_path}/run: its model has a cycle of 24 rows, so {count} rows need first_row, the index of the first of them "
                                    "counted from the first row of the run's data (0 if they begin with it)")  # fmt: skip
    for wrong, text in ((1.5, "1.5"), ("2026-01-01", "'2026-01-01'")):
        with pytest.raises(errors.UsageError, match=f"^first_row must be an integer, got {text}$"):
            loaded.predict(rows[:300], first_row=wrong)


def newest(run):
    return run / "checkpoints" / (run / "checkpoints" / "latest").read_text().strip()


def test_every_window_of_the_programs_predictions(hot, data):
    """Each of them alone, where the program had batches: a row of a result does not depend on the others."""
    loaded = modewise.load(hot)
    rows = rows_of(data["gaps"])
    with np.load(hot / "predictions.npz") as kept:
        assert len(kept["first_row"]) > 20
        for first, forecast, quantiles in zip(kept["first_row"], kept["forecast"], kept["quantiles"], strict=True):
            got = loaded.predict(rows[first : first + loaded.shape.lookback], first_row=int(first))
            assert np.array_equal(got.values.astype(np.float32), forecast)
            assert np.array_equal(got.quantiles.astype(np.float32), quantiles)


def test_any_number_of_threads_gives_the_same_bits(hot, data):
    loaded, threads, found = modewise.load(hot), torch.get_num_threads(), []
    for count in (1, 2, 3):
        torch.set_num_threads(count)
        found.append(loaded.predict(rows_of(data["gaps"])).values)
    torch.set_num_threads(threads)
    assert np.array_equal(found[0], found[1])
    assert np.array_equal(found[0], found[2])


def test_the_state_has_the_names_of_the_file_both_ways(hot, tmp_path):
    loaded = modewise.load(hot)
    file = newest(hot) / "best.safetensors"
    written = safetensors.torch.load_file(file)
    state = loaded.module.state_dict()
    assert list(state) == list(dict.fromkeys(state))
    assert set(state) == set(written)
    assert all(torch.equal(state[name], written[name]) for name in written)
    safetensors.torch.save_file(state, tmp_path / "again.safetensors")
    again = safetensors.torch.load_file(tmp_path / "again.safetensors")
    assert all(torch.equal(again[name], written[name]) for name in written)


def test_a_loaded_model_trains_with_torch(hot, data):
    module = modewise.load(hot).module
    past, truth = torch.randn(5, 3, 24), torch.randn(5, 3, 8)
    module.train()
    optimizer = torch.optim.SGD(module.parameters(), lr=0.01)
    losses = []
    for _ in range(30):
        optimizer.zero_grad()
        loss = (module(past, torch.ones(5, 3, 24, dtype=torch.bool)) - truth).abs().mean()
        loss.backward()
        losses.append(loss.item())
        optimizer.step()
    assert all(parameter.grad is not None for parameter in module.parameters())
    assert losses[-1] < losses[0]


def test_a_loaded_model_compiles_and_exports(hot):
    loaded = modewise.load(hot)
    past, observed = torch.randn(2, 3, 24), torch.rand(2, 3, 24) > 0.2
    wanted = loaded.module(past, observed)
    compiled = torch.compile(loaded.module, fullgraph=True, backend="aot_eager")
    with torch.no_grad():
        assert torch.equal(compiled(past, observed), wanted)
        program = torch.export.export(loaded.module, (past, observed))
        assert torch.equal(program.module()(past, observed), wanted)


def test_drawn_features_are_in_one_graph():
    """The features of the loaded state and of the step, whose numbers a graph cannot read."""
    torch.manual_seed(0)
    attention, other = (nn.KroneckerAttention(8, 2, 2, kernel="linear", feature_key=key, features_redraw_every=2) for key in (3, 5))
    other.load_state_dict(attention.state_dict())
    x = torch.randn(2, 3, 5, 8)
    compiled = torch.compile(other, fullgraph=True, backend="aot_eager")
    assert torch.equal(compiled(x), attention(x))
    nn.set_dropout_step(other, 0, 6)
    redrawn = other(x)
    assert torch.equal(compiled(x), redrawn) and not torch.equal(redrawn, attention(x))


@pytest.mark.parametrize("name", ["hot", "transformer", "temporal", "patchtst", "itransformer", "nlinear"])
def test_autocast_costs_a_few_roundings(data, tmp_path, name):
    modewise.tasks.train("forecasting", {**SIZES, "model.name": name, "data.path": data["whole"]}, out=tmp_path / "run", verbosity=-1)
    module = modewise.load(tmp_path / "run").module
    past = torch.randn(5, 3, 24, generator=torch.Generator().manual_seed(1))
    wide = module(past)
    with torch.autocast("cpu", torch.bfloat16):
        narrow = module(past)
    assert narrow.dtype == torch.float32
    assert not torch.equal(narrow, wide)
    assert (narrow - wide).abs().max() <= 4 * torch.finfo(torch.bfloat16).eps * wide.abs().max()
    module.train()
    with torch.autocast("cpu", torch.bfloat16):
        module(past).square().mean().backward()
    assert {parameter.grad.dtype for parameter in module.parameters()} == {torch.float32}


def test_dropout_is_keyed_by_seed_step_and_place():
    """Keyed by seed, step and place; by torch's generator where no step was set."""
    model = torch.nn.Sequential(nn.Dropout(0.5), nn.Dropout(0.5, site=17)).train()
    x = torch.ones(3, 33)
    nn.set_dropout_step(model, 7, 3)
    keyed = model(x)
    once = modewise.ops.dropout_add(None, x, 0.5, 7, 3, 16)
    assert torch.equal(keyed, modewise.ops.dropout_add(None, once, 0.5, 7, 3, 17))
    nn.set_dropout_step(model, 7, 4)
    assert not torch.equal(model(x), keyed)
    free = nn.Dropout(0.5).train()
    torch.manual_seed(1)
    first, second = free(x), free(x)
    torch.manual_seed(1)
    assert torch.equal(free(x), first)
    assert not torch.equal(first, second)
    assert torch.equal(free.eval()(x), x)


def test_dropouts_of_any_module_have_masks_of_their_own():
    """Those of a model keep their sites in another module, and with them the features of a linear kernel; others get free ones."""
    encoder = nn.TokenEncoder(nn.EncoderOptions(width=8, heads=2, kernel="linear", feature_draw="fixed"), [3, 4], [1])
    attentions = [block.attention for block in encoder.blocks]
    sites = [module.site for module in nn.basic.dropouts_of(encoder)]
    assert sites == list(range(16, 23)) and len({attention._feature_seed() for attention in attentions}) == 2
    model = torch.nn.ModuleList([nn.Dropout(0.5), nn.Dropout(0.5), encoder, nn.Dropout(0.5, site=17)]).train()
    seeds = [attention._feature_seed() for attention in attentions]
    nn.set_dropout_step(model, 7, 3)
    keys = [module.keyed_site for module in nn.basic.dropouts_of(model)]
    assert len(set(keys)) == len(keys) and [attention._feature_seed() for attention in attentions] == seeds
    x = torch.ones(40)
    assert not torch.equal(model[0](x), model[1](x))
    with pytest.raises(ValueError, match=r"^set_dropout_step: seed must be a 64-bit integer, got 9223372036854775808$"):
        nn.set_dropout_step(model, 2**63, 0)
    for step in (-1, 2**32):
        with pytest.raises(ValueError, match=rf"^set_dropout_step: step must be from 0 to 4294967295, got {step}$"):
            nn.set_dropout_step(model, 1, step)
    nn.set_dropout_step(model, -(2**63), 2**32 - 1)
    model[0](x)


def test_rotary_angles_are_the_formula():
    angles = nn.rotary_angles([3, 5], [0, 1], 9, 100.0)
    wanted = [[place * 100.0 ** (-c / 2) for place in (i, j) for c in range(2)] for i in range(3) for j in range(5)]
    assert angles.dtype == torch.float64
    torch.testing.assert_close(angles, torch.tensor(wanted, dtype=torch.float64), rtol=1e-15, atol=0)


def test_kronecker_attention_is_the_product_of_its_factors():
    torch.manual_seed(2)
    attention = nn.KroneckerAttention(8, 2, 2, rope_modes=[1], query_key_norm=False).double()
    x = torch.randn(2, 3, 5, 8, dtype=torch.float64)
    over_rows, over_columns = attention.factors(x)
    full = torch.einsum("bhij,bhkl->bhikjl", over_rows, over_columns).reshape(2, 2, 15, 15)
    value = attention.value_proj(x).view(2, 15, 2, 4).transpose(1, 2)
    wanted = attention.out_proj((full @ value).transpose(1, 2).reshape(2, 3, 5, 8))
    torch.testing.assert_close(attention(x), wanted, rtol=1e-12, atol=1e-12)


@pytest.fixture()
def copied(hot, tmp_path):
    return shutil.copytree(hot, tmp_path / "run")


def refused(path, kind, code, sentence):
    with pytest.raises(kind) as error:
        modewise.load(path)
    assert str(error.value) == sentence
    assert error.value.exit_code == code


def test_no_run_is_a_sentence(tmp_path):
    refused(tmp_path, errors.NoInputError, 66, f"{tmp_path} is not a run folder: it has no config.toml")


def test_a_run_of_a_newer_modewise_is_a_sentence(copied):
    manifest = json.loads((copied / "manifest.json").read_text())
    manifest["build"]["version"] = "99.0.1"
    (copied / "manifest.json").write_text(json.dumps(manifest))
    refused(copied, errors.DataError, 65, f"{copied} was written by modewise 99.0.1, and this is {modewise.__version__}: "
                                          "install modewise 99.0.1 or later")  # fmt: skip


def test_a_manifest_that_is_damaged_is_a_sentence(copied):
    step = newest(copied)
    for other in (copied / "checkpoints").glob("step_*"):
        if other != step:
            shutil.rmtree(other)
    (step / "manifest.json").write_text('{"format": 2}')
    refused(copied, errors.DataError, 65, f"no checkpoint in {copied}/checkpoints is intact: {step}/manifest.json does not match its own hash")


def test_a_run_without_a_checkpoint_is_a_sentence(copied):
    shutil.rmtree(copied / "checkpoints")
    refused(copied, errors.NoInputError, 66, f"{copied} has no checkpoint yet")


@pytest.mark.parametrize("name, text, sentence", [
    ("data.json", "[]", "{}/data.json: not a JSON object"),
    ("data.json", "{", "{}/data.json: Expecting property name enclosed in double quotes: line 1 column 2 (char 1)"),
    ("manifest.json", "[" * 100_000, "{}/manifest.json: nested too deeply"),
    ("data.json", '{"modes": 7}', "{}/data.json: 'int' object is not iterable"),
    ("data.json", '{"mode": []}', "{}/data.json: missing key 'modes'"),
])  # fmt: skip
def test_damaged_files_are_sentences(copied, name, text, sentence):
    (copied / name).write_text(text)
    refused(copied, errors.DataError, 65, sentence.format(copied))


def test_weights_of_another_model_are_a_sentence(copied):
    config = (copied / "config.toml").read_text()
    (copied / "config.toml").write_text(re.sub(r"width = 64", "width = 32", config))
    file = newest(copied) / "best.safetensors"
    refused(copied, errors.DataError, 65, f"{file}: tensor emb.0.weight must be torch.float32 [32, 2, 16], "
                                          "got torch.float32 [64, 2, 16]")  # fmt: skip


def test_tensors_that_are_not_there_are_a_sentence(copied):
    tensors = safetensors.torch.load_file(newest(copied) / "best.safetensors")
    state = {**tensors, "head.3.bias": tensors["head.2.bias"]}
    for others, kind in ((tensors, "file"), ({**state, "x": state["head.2.bias"]}, "model")):
        name = "head.3.bias" if kind == "file" else "x"
        with pytest.raises(errors.DataError, match=f"^best: tensor {name}: not in the {kind}$"):
            require_same("best", others, state)


def test_a_config_that_is_damaged_is_the_programs_sentence(copied):
    (copied / "config.toml").write_text("[model")
    refused(copied, errors.ConfigError, 78, f"{copied}/config.toml:1:7: Error while parsing table header: encountered end-of-file")
    said = subprocess.run([PROGRAM, "predict", copied], capture_output=True, text=True)
    assert said.returncode == 78 and said.stderr.endswith(f"{copied}/config.toml:1:7: Error while parsing table header: encountered end-of-file\n")


def test_a_config_without_the_younger_keys_opens(copied, data):
    """They have their defaults, as the program reads it."""
    before = modewise.load(copied).predict(rows_of(data["gaps"])).values
    lines = (copied / "config.toml").read_text().splitlines()
    kept = [line for line in lines if not line.startswith(("recompute = ", "validation_stride = ", "affine = "))]
    assert len(kept) < len(lines)
    (copied / "config.toml").write_text("\n".join(kept))
    assert np.array_equal(modewise.load(copied).predict(rows_of(data["gaps"])).values, before)


def test_a_model_that_python_has_not_is_a_sentence(data, tmp_path):
    settings = {**SIZES, "model.name": "transformer", "model.attention.kernel": "linear", "data.path": data["whole"]}
    modewise.tasks.train("forecasting", settings, out=tmp_path / "run", verbosity=-1)
    with pytest.raises(NotImplementedError) as error:
        modewise.load(tmp_path / "run")
    assert str(error.value) == ('model.name = "transformer" with attention.kernel = "linear" has no module in Python yet; '
                                "the program and modewise.Forecaster run it")  # fmt: skip


def test_the_registry_has_entries_of_the_program_in_its_order(monkeypatch):
    with pytest.raises(errors.UsageError) as error:
        modewise.tasks.config_toml("forecasting", {"model.attention.type": "x"})
    listed = re.search(r"must be one of (.*), got 'x'", str(error.value))[1]
    assert [name for name in listed.split(", ") if name in ENTRIES] == list(ENTRIES)
    monkeypatch.delitem(ENTRIES, "stt")
    with pytest.raises(NotImplementedError, match=r'^attention.type = "stt" has no module in Python yet; the program runs it$'):
        nn.encoder.make_attention(nn.encoder.EncoderOptions(attention_type="stt"), [3, 4])


@pytest.mark.parametrize("name", CAUSAL)
def test_a_causal_type_sees_no_later_token(name):
    torch.manual_seed(4)
    attention = nn.synthesizer(name, [7], 6, 2, causal=True).double()
    x = torch.randn(1, 7, 6, dtype=torch.float64, requires_grad=True)
    (grad,) = torch.autograd.grad(attention(x)[0, 3].sum(), x)
    reached = grad[0].abs().sum(-1) > 0
    assert reached[:4].all()
    assert not reached[4:].any()
    if name != "dot-product":
        with pytest.raises(ValueError, match=r"^a synthesizer built for tokens \[7\] takes at most as many, got \[8\]$"):
            attention(torch.zeros(1, 8, 6, dtype=torch.float64))


@pytest.mark.parametrize("sizes, rows", [([4, 6], 6), ([7], 1), ([2], 1)])
def test_linformer_projects_to_a_quarter_of_the_tokens(sizes, rows):
    attention = nn.synthesizer("linformer", sizes, 4, 2)
    tokens = math.prod(sizes)
    assert attention.key_map.shape == attention.value_map.shape == (rows, tokens)


def test_unknown_types_are_sentences():
    with pytest.raises(ValueError, match=r"^unknown attention 'sparse' \(there are dot-product, linformer, .*\)$"):
        nn.synthesizer("sparse", [3], 4, 2)
    with pytest.raises(ValueError, match=r"^attention 'stt' cannot be causal: each of its rows depends on every token$"):
        nn.synthesizer("stt", [3], 4, 2, causal=True)


@pytest.mark.parametrize("values, sentence", [
    (np.zeros((24, 2)), "values must be [T, 3], got [24, 2]"),
    (np.zeros((23, 3)), "values have 23 rows, but the lookback of the model is 24 rows"),
    (np.zeros((24, 3), dtype=object), "values must be numbers, got an array of object"),
    (np.full((24, 3), 1e300), "{}: scaled values exceed the range of 32-bit floats"),
])  # fmt: skip
def test_wrong_windows_are_sentences(hot, values, sentence):
    with pytest.raises(errors.DataError) as error:
        modewise.load(hot).predict(values)
    assert str(error.value) == sentence.format(hot)


def test_missing_cells_need_a_model_with_masks(data, tmp_path):
    modewise.tasks.train("forecasting", {**SIZES, "data.path": data["whole"]}, out=tmp_path / "run", verbosity=-1)
    values = np.zeros((24, 3))
    values[3, 1] = np.nan
    with pytest.raises(errors.DataError) as error:
        modewise.load(tmp_path / "run").predict(values)
    assert str(error.value) == (f"{tmp_path}/run: 1 values are missing in the last 24 rows, but the run was trained on data without "
                                "missing values and its model accepts none")  # fmt: skip


def test_a_series_without_values_in_the_lookback_is_a_warning(data, tmp_path):
    modewise.tasks.train("forecasting", {**SIZES, "data.path": data["gaps"]}, out=tmp_path / "run", verbosity=-1)
    loaded, values = modewise.load(tmp_path / "run"), rows_of(data["whole"])
    values[-24:, 1] = np.nan
    wanted = (f"{tmp_path}/run: no value in the last 24 rows, which a forecast reads, of '{loaded.names[1]}': a forecast from there is made without "
              "recent values of it, and is often the mean of the training rows")  # fmt: skip
    with pytest.warns(UserWarning) as caught:
        loaded.predict(values)
    assert [(str(one.message), one.filename) for one in caught] == [(wanted, __file__)]
    values[-24, 1] = 1
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        loaded.predict(values)


@pytest.mark.parametrize("panel, last", [(False, 30), (False, 78), (True, 78)])
def test_numbers_for_missing_values_are_missing(tmp_path, monkeypatch, panel, last):
    monkeypatch.chdir(tmp_path)
    rng, days = np.random.default_rng(0), pd.date_range("2024-01-01", periods=80)
    values = np.sin(np.arange(80) / 3)[:, None] + 0.1 * rng.normal(size=(80, 2))
    values[[5, last], 0] = -9.9  # the window begins at 56
    settings = {**SIZES, "model.width": 16, "data.missing_values": [-9.9], "data.panel": "yes" if panel else "no"}
    frame = pd.concat([pd.DataFrame({"unique_id": name, "ds": days, "y": values[:, i]}) for i, name in enumerate("ab")])
    made = modewise.Forecaster("hot", settings=settings, horizon=8, lookback=24, verbosity=-1).fit(frame if panel else values)
    said = modewise.tasks.predict(made.run_)["series"]
    loaded = modewise.load(made.run_)
    for array in (values, values.astype(np.float32)):
        parts = [loaded.predict(column).values[0] for column in array.T[..., None]] if panel else loaded.predict(array).values
        np.testing.assert_allclose(parts, [series["forecast"] for series in said], rtol=0, atol=0 if array is values else 1e-5)


def test_wrong_tensors_are_sentences(hot):
    module = modewise.load(hot).module
    with pytest.raises(ValueError, match=r"^forecaster: past must be \[2, 3, 24\], got \[2, 3, 23\]$"):
        module(torch.zeros(2, 3, 23))
    with pytest.raises(ValueError, match=r"^forecaster: observed must be bool, got torch.float32$"):
        module(torch.zeros(2, 3, 24), torch.zeros(2, 3, 24))
    with pytest.raises(ValueError, match=r"^forecaster: past must be a floating-point tensor, got torch.int64$"):
        module(torch.zeros(2, 3, 24, dtype=torch.int64))
