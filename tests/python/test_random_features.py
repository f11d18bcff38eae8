"""Random features of linear attention: drawn by the seed, kept with the weights, drawn again in training."""

import pytest
import safetensors.torch
import torch

import modewise
from cli_helpers import ok, write_csv
from modewise import nn

SMALL = {"forecast.lookback": 24, "forecast.horizon": 4, "model.width": 8, "model.hidden": 8, "model.heads": 2, "model.layers": 2,
         "model.attention.kernel": "linear", "output.report": False, "train.batch_size": 8, "train.epochs": 1, "train.max_steps": 8}  # fmt: skip
NUMBERS = [f"blocks.{block}.attention.feature_draw.numbers" for block in range(2)]


@pytest.fixture(scope="module")
def data(tmp_path_factory):
    return write_csv(tmp_path_factory.mktemp("features") / "waves.csv", rows=160)


def settings(**changes):
    return {**SMALL, **{key.replace("__", "."): value for key, value in changes.items()}}


def weights(data, run, **changes):
    modewise.tasks.train("forecasting", {"data.path": data, **settings(**changes)}, out=run, verbosity=-1)
    return saved(run)


def saved(run, file="model"):
    newest = (run / "checkpoints" / "latest").read_text().strip()
    return safetensors.torch.load_file(run / "checkpoints" / newest / f"{file}.safetensors")


@pytest.mark.parametrize("model", ["hot", "transformer"])
def test_each_seed_and_each_layer_has_its_own_features(data, tmp_path, model):
    kept = [weights(data, tmp_path / f"{seed}", model__name=model, train__seed=seed) for seed in (1, 2, 1_000_000)]
    keys = [one[name].tolist()[0] for one in kept for name in NUMBERS]
    assert len(set(keys)) == 6 and all(0 <= key < 2**24 for key in keys)
    assert all(one[name].dtype == torch.int64 and one[name].tolist()[1] == 0 for one in kept for name in NUMBERS)
    again = weights(data, tmp_path / "again", model__name=model, train__seed=1)
    assert set(again) == set(kept[0]) and all(torch.equal(again[name], kept[0][name]) for name in again)
    fixed = weights(data, tmp_path / "fixed", model__name=model, train__seed=1, model__attention__feature_draw="fixed")
    assert set(kept[0]) - set(fixed) == set(NUMBERS)
    assert not torch.equal(fixed["head.2.weight"], kept[0]["head.2.weight"])


@pytest.mark.parametrize("every, draws", [(0, 0), (3, 2), (1, 7)])
def test_features_are_drawn_again_every_so_many_steps(data, tmp_path, every, draws):
    kept = weights(data, tmp_path / "run", model__attention__features_redraw_every=every)
    assert [kept[name].tolist()[1] for name in NUMBERS] == [draws, draws]


def test_a_resumed_run_has_the_features_of_one_that_was_not_stopped(data, tmp_path):
    # The rate is constant: other schedules follow train.max_steps.
    changes = settings(model__attention__features_redraw_every=3, train__evaluations_per_epoch=4, train__schedule__name="constant")
    options = [part for key, value in changes.items()
               for part in ("--set", f"{key}={str(value).lower()}")]  # fmt: skip
    train = ["train", "forecast", "--data", data, "--threads", "1", *options]
    ok(*train, "--out", tmp_path / "whole")
    ok(*train, "--out", tmp_path / "cut", "--set", "train.max_steps=5")
    ok("train", "forecast", "--resume", tmp_path / "cut", "--set", "train.max_steps=8", "--allow-config-changes")
    whole, cut = saved(tmp_path / "whole"), saved(tmp_path / "cut")
    assert whole[NUMBERS[0]].tolist()[1] == 2
    assert set(whole) == set(cut) and all(torch.equal(whole[name], cut[name]) for name in whole)


def test_a_module_draws_again_as_the_program_does(data, tmp_path):
    run = tmp_path / "run"
    weights(data, run, model__attention__features_redraw_every=3)
    module = modewise.load(run).module
    draws = [block.attention.feature_draw for block in module.blocks]
    keys = [draw.numbers.tolist()[0] for draw in draws]
    nn.set_dropout_step(module, 5, 700)
    assert [draw.numbers.tolist()[1] for draw in draws] == [saved(run, "best")[name].tolist()[1] for name in NUMBERS]
    nn.set_dropout_step(module.train(), 5, 700)
    assert [draw.numbers.tolist() for draw in draws] == [[key, 233] for key in keys]
    assert [draw.seed() for draw in draws] == [key | 233 << 24 for key in keys]


def test_the_same_key_is_the_same_attention():
    torch.manual_seed(0)
    attention = nn.KroneckerAttention(8, 2, 2, kernel="linear", features=16, feature_key=16)
    fixed = nn.KroneckerAttention(8, 2, 2, kernel="linear", features=16)
    fixed.load_state_dict({name: value for name, value in attention.state_dict().items() if name != "feature_draw.numbers"})
    x = torch.randn(2, 3, 5, 8)
    assert torch.equal(attention(x), fixed(x))  # whose place is 16
    attention.feature_draw.numbers[1] = 1
    assert not torch.equal(attention(x), fixed(x))
    assert fixed.feature_draw is None
