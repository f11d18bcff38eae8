"""One verified way to a checkpoint: modewise.load and the program take the same weights, fall back alike and refuse alike."""

import json
import pathlib
import shutil

import numpy as np
import pytest

import modewise
from cli_helpers import ok
from modewise import errors

TINY = {"model.name": "dlinear", "forecast.lookback": 3, "forecast.horizon": 1, "train.max_steps": 2, "train.checkpoint_every_steps": 1,
        "train.batch_size": 4, "train.evaluations_per_epoch": 1000, "train.keep_checkpoints": 2, "output.report": False,
        "output.predictions": 0, "calibration.intervals": [0.5]}  # fmt: skip


def rows(shift=0.0):
    return np.sin(np.arange(40.0)[:, None] + shift)


def trained(folder, **settings):
    np.save(folder / "rows.npy", rows())
    modewise.tasks.train("forecasting", {**TINY, "data.path": str(folder / "rows.npy"), **settings}, out=folder / "run", verbosity=-1)
    return folder / "run"


@pytest.fixture(scope="module")
def run(tmp_path_factory):
    """A run whose two checkpoints forecast differently."""
    return trained(tmp_path_factory.mktemp("checkpoints"))


def checkpoints(run):
    """The newest first."""
    return sorted((run / "checkpoints").glob("step_*"), key=lambda path: float(path.name.removeprefix("step_")), reverse=True)


def by_load(run):
    return modewise.load(run).predict(rows()).values.tolist()


def by_program(run):
    return [series["forecast"] for series in modewise.tasks.predict(run)["series"]]


def outcome(door, run):
    """The forecast, or what is said in its place."""
    try:
        return door(run)
    except errors.ModewiseError as error:
        return type(error).__name__, str(error)


def both(run):
    """The result of the package and the program, which must be the same."""
    here, there = outcome(by_load, run), outcome(by_program, run)
    assert here == there
    return here


def flips(folder):
    """Every bit of every file of a checkpoint."""
    for file in sorted(folder.iterdir()):
        yield from ((file, place, bit) for place in range(file.stat().st_size) for bit in range(8))


def flip(file, place, bit):
    content = bytearray(file.read_bytes())
    content[place] ^= 1 << bit
    file.write_bytes(content)


def follow_flips(run, stride):
    """Two checkpoints: each flip of the newest falls back to the older one. One: each is refused, with the same sentence."""
    newest, older = checkpoints(run)
    whole = both(run)
    shutil.move(newest, run / "aside")
    fallback = both(run)
    shutil.move(run / "aside", newest)
    assert isinstance(whole, list) and isinstance(fallback, list) and whole != fallback
    every = list(flips(newest))
    for file, place, bit in every[::stride]:
        flip(file, place, bit)
        assert both(run) == fallback, (file, place, bit)
        flip(file, place, bit)
    assert both(run) == whole
    shutil.rmtree(older)
    for file, place, bit in every[stride // 2 :: stride]:
        flip(file, place, bit)
        kind, sentence = both(run)
        assert kind == "DataError" and sentence.startswith(f"no checkpoint in {run}/checkpoints is intact: "), (file, place, bit)
        flip(file, place, bit)
    assert both(run) == whole
    return len(every)


def test_flipped_bits_are_noticed_by_both_doors(run, tmp_path):
    assert follow_flips(shutil.copytree(run, tmp_path / "run"), stride=331) > 10_000


@pytest.mark.long
def test_every_flipped_bit_is_noticed_by_both_doors(run, tmp_path):
    follow_flips(shutil.copytree(run, tmp_path / "run"), stride=1)


def test_a_fallback_is_said(run, tmp_path, capfd):
    copy = shutil.copytree(run, tmp_path / "run")
    newest, older = checkpoints(copy)
    flip(newest / "best.safetensors", 70, 3)
    for door in (by_load, by_program):  # predict is quiet, but for this
        capfd.readouterr()
        door(copy)
        assert capfd.readouterr().err == (f"damaged checkpoint: the content of {newest}/best.safetensors does not match its hash; "
                                          f"falling back to {older.name}\n")  # fmt: skip


def test_a_checkpoint_of_another_run_is_refused(run, tmp_path):
    """By every command that opens one; --resume among them."""
    other, copy = trained(tmp_path, **{"train.seed": 1, "train.optimizer.learning_rate": 0.5}), shutil.copytree(run, tmp_path / "copy")
    shutil.rmtree(copy / "checkpoints")
    shutil.copytree(other / "checkpoints", copy / "checkpoints")
    names = [json.loads((folder / "manifest.json").read_text())["run_id"] for folder in (other, copy)]
    sentence = (f"{checkpoints(copy)[0]} is a checkpoint of another run: its state.json names run {names[0]}, but {copy}/manifest.json names run "
                f"{names[1]}; move it back to the run that wrote it")
    assert both(copy) == ("DataError", sentence)
    for ask in (modewise.tasks.evaluate, modewise.tasks.backtest, modewise.tasks.explain, modewise.tasks.resume):
        with pytest.raises(errors.DataError) as error:
            ask(copy, verbosity=-1)
        assert str(error.value) == sentence


def test_equal_runs_have_one_identity_and_equal_files(run, tmp_path):
    """It follows from task, config and data: runs with the same one have the same bits."""
    np.save(tmp_path / "other.npy", rows(1))
    settings = {**TINY, "data.path": str(run.parent / "rows.npy")}
    found = []
    for place, changed in enumerate(({}, {"train.seed": 1}, {"data.path": str(tmp_path / "other.npy")})):
        again = tmp_path / f"run{place}"
        modewise.tasks.train("forecasting", {**settings, **changed}, out=again, verbosity=-1)
        found.append(json.loads((again / "manifest.json").read_text())["run_id"])
    first = json.loads((run / "manifest.json").read_text())["run_id"]
    assert found[0] == first and len({*found}) == 3
    for file in checkpoints(run)[0].iterdir():
        assert (tmp_path / "run0/checkpoints" / checkpoints(run)[0].name / file.name).read_bytes() == file.read_bytes()


def test_checkpoints_of_older_runs_open(run, tmp_path):
    """Their manifests name no run: nothing is compared."""
    copy = shutil.copytree(run, tmp_path / "run")
    manifest = json.loads((copy / "manifest.json").read_text())
    del manifest["run_id"]
    (copy / "manifest.json").write_text(json.dumps(manifest))
    assert both(copy) == both(run)


def test_a_file_that_the_manifest_does_not_list_is_not_taken(run, tmp_path):
    copy = shutil.copytree(run, tmp_path / "run")
    shutil.copytree(checkpoints(copy)[1], checkpoints(copy)[0] / "more")
    pathlib.Path(checkpoints(copy)[0] / "unlisted.safetensors").write_bytes(b"x")
    assert both(copy) == both(run)
    assert by_load(copy) == [series["forecast"] for series in json.loads(ok("predict", copy, "--json").stdout)["series"]]
