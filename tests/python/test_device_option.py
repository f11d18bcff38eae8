"""--device: each task trains, is evaluated, explained and predicts on another device, whose memory only libtorch's copies may touch
(libguarded_device.so), with the results of the CPU; and what is said of devices that are missing. MODEWISE_TEST_DEVICE=cuda takes a GPU."""

import json
import os
import random
import subprocess
import sys

import numpy as np
import pytest
from cli_helpers import fails, hourly, ok, write_csv
from programs import BUILD, ROOT
from test_auto import search
from test_captioning import write_data as write_captions
from test_image_classification import write_folder as write_images
from test_labelled_tables import write_ramps
from test_segmentation import write_scene
from test_text_task import write_sst2, write_stsb
from test_volume_classification import write_npz as write_volumes

DEVICE = os.environ.get("MODEWISE_TEST_DEVICE", "guarded")
CPU = ["--device", "cpu"]  # auto takes a GPU
THERE = {"LD_PRELOAD": str(BUILD / "lib" / "libguarded_device.so")} if DEVICE == "guarded" else {}
STEPS = ["--max-steps", "3", "--batch-size", "8", "--threads", "1", "--set", "train.schedule.warmup_steps=0", "--set", "output.report=false"]
TOKENS = ["--set", "model.width=16", "--set", "model.layers=1", "--set", "model.heads=2", "--tokenizer", "bytes"]
SMALL = ["--set", "model.width=16", "--set", "model.hidden=16", "--set", "model.heads=2", "--set", "model.layers=1"]


def write_story(path):
    draw = random.Random(1)
    path.write_text("".join(draw.choice("a rope of sand went over hills".split()) + draw.choice("  .\n") for _ in range(3000)))
    return path


def forecast(folder, *model):
    return ["train", "forecast", write_csv(folder / "d.csv", rows=300), "--lookback", "24", "--horizon", "8", *model]


def scene(folder):
    image, mask = write_scene(folder)
    return ["train", "segment", "--data", image, "--masks", mask, "--set", "data.classes=nlcd", "--set", "data.window=32", *SMALL]


def captions(folder):
    data = write_captions(folder / "captions", copies=2)
    return ["train", "caption", "--data", data / "captions.json", "--images", data / "images", "--size", "16", "--set", "model.max_words=9",
            "--set", "model.encoder.widths=[8,16]", "--set", "model.decoder.width=16", "--set", "model.decoder.layers=1"]  # fmt: skip


def ramps(folder, *model):
    train, test = write_ramps(folder / "R_TRAIN.csv", 40, 1), write_ramps(folder / "R_TEST.csv", 20, 2)
    return ["train", "classify-series", "--train", train, "--test", test, *model]


TASKS = {
    "hot": lambda folder: forecast(folder, *SMALL, "--set", "forecast.loss=quantile"),
    "dlinear": lambda folder: forecast(folder, "--model", "dlinear"),
    "theta": lambda folder: forecast(folder, "--model", "theta"),
    "volumes": lambda folder: ["train", "classify-volumes", "--data", write_volumes(folder / "v.npz", counts=(24, 8, 8)), *SMALL],
    "images": lambda folder: ["train", "classify-images", "--data", write_images(folder / "i", {"train": 8, "val": 4, "test": 4}),
                              "--set", "model.cnn.widths=[4,8]", "--attention", "stt"],
    "scenes": scene,
    "series": lambda folder: ramps(folder, "--model", "patchtst", "--set", "model.patch.length=4", "--set", "model.patch.stride=2", *SMALL),
    "nearest": lambda folder: ramps(folder, "--model", "nearest"),
    "captions": captions,
    "language": lambda folder: ["train", "language", "--data", write_story(folder / "story.txt"), "--set", "model.context=64",
                                "--set", "model.attention.fold=0,4,8", *TOKENS],
    "texts": lambda folder: ["train", "text", "--data", write_sst2(folder / "SST-2"), "--set", "model.max_positions=48", *TOKENS],
    "numbers": lambda folder: ["train", "text", "--data", write_stsb(folder / "STS-B"), "--set", "text.objective=regression", "--set", "model.max_positions=48", *TOKENS],
    "masked": lambda folder: ["train", "text", "--data", write_story(folder / "story.txt"), "--set", "text.objective=masked",
                              "--set", "model.max_positions=48", *TOKENS],
}  # fmt: skip


def numbers(tree, path=""):
    if isinstance(tree, dict):
        return {k: v for key, value in tree.items() for k, v in numbers(value, f"{path}/{key}").items()}
    if isinstance(tree, list):
        return {k: v for i, value in enumerate(tree) for k, v in numbers(value, f"{path}/{i}").items()}
    return {path: tree} if isinstance(tree, (int, float)) and not isinstance(tree, bool) else {}


def same_results(one, two):
    """Checks that two computations differ by roundings."""
    assert one.keys() == two.keys()
    for name, value in one.items():
        counted = any(word in name for word in ("calibration", "accuracy", "coverage"))  # of a few values: one of them may fall on the other side
        assert two[name] == pytest.approx(value, rel=2e-3, abs=0.02 if counted else 2e-4), name


@pytest.mark.parametrize("task", TASKS)
def test_a_task_has_the_results_of_the_cpu_on_another_device(task, tmp_path):
    steps = ["--threads", "1"] if task == "theta" else STEPS  # it is not trained in steps
    command = [*TASKS[task](tmp_path), *steps]
    ok(*command, "--out", tmp_path / "cpu", *CPU)
    ok(*command, "--out", tmp_path / "there", "--device", DEVICE, env=THERE)
    assert json.loads((tmp_path / "there" / "manifest.json").read_text())["device"] == DEVICE
    here, there = (numbers(json.loads((tmp_path / run / "metrics.json").read_text())) for run in ("cpu", "there"))
    same_results(here, there)
    assert any(value != there[name] for name, value in here.items()) or task in ("theta", "nearest")  # other kernels ran
    # A run of one device opens on the other.
    for run, device, env in (("there", "cpu", {}), ("cpu", DEVICE, THERE)):
        ok("evaluate", tmp_path / run, "--device", device, env=env)
        if task not in ("language", "masked"):
            ok("explain", tmp_path / run, "--out", tmp_path / f"{run}.html", "--device", device, env=env)
    if task == "language":
        ok("generate", tmp_path / "cpu", "--prompt", "a rope", "--tokens", "5", "--json", "--device", DEVICE, env=THERE)
    if task in ("hot", "dlinear", "theta"):
        outputs = []
        for device, env in (("cpu", {}), (DEVICE, THERE)):
            ok("predict", tmp_path / "cpu", "--out", tmp_path / f"{device}.csv", "--device", device, env=env)
            lines = (tmp_path / f"{device}.csv").read_text().splitlines()
            outputs.append(np.array([[float(cell) for cell in line.split(",")[1:]] for line in lines[1:]]))
        assert np.isfinite(outputs[0]).all() and outputs[0].shape == outputs[1].shape
        np.testing.assert_allclose(outputs[0], outputs[1], rtol=1e-3, atol=1e-4)


def test_a_training_goes_on_on_another_device(tmp_path):
    command = [*forecast(tmp_path, "--model", "dlinear"), *STEPS, "--set", "train.checkpoint_every_steps=2",
               "--set", "train.schedule.name=constant"]  # fmt: skip
    ok(*command, "--out", tmp_path / "whole", "--set", "train.max_steps=8", *CPU)
    ok(*command, "--out", tmp_path / "run", "--set", "train.max_steps=4", *CPU)
    resumed = ok("train", "forecast", "--resume", tmp_path / "run", "--allow-config-changes", "--max-steps", "8",
                 "--device", DEVICE, env=THERE)  # fmt: skip
    assert "resuming from step 4" in resumed.stderr
    whole, run = (numbers(json.loads((tmp_path / name / "metrics.json").read_text())["test"]) for name in ("whole", "run"))
    for name, value in whole.items():
        assert run[name] == pytest.approx(value, rel=1e-3, abs=1e-4), name


def without_cuda():
    """What the program says of CUDA on a machine without it, by the build of torch."""
    torch = pytest.importorskip("torch")
    if torch.cuda.is_available():
        pytest.skip("a CUDA device is here")
    return "finds no CUDA device" if torch.version.cuda else "built without CUDA"


@pytest.mark.parametrize(("device", "words"), [
    ("cuda", ["--device cpu"]),
    ("cuda:7", ["--device cpu"]),
    ("gpu", ["device 'gpu'", "expected auto, cpu, cuda or cuda:N"]),
    ("cuda:-1", ["expected auto, cpu, cuda or cuda:N"]),
    ("meta", ["expected auto, cpu, cuda or cuda:N"]),
    ("privateuseone", ["expected auto, cpu, cuda or cuda:N"]),
])  # fmt: skip
def test_a_missing_device_is_a_sentence_and_nothing_is_written(device, words, tmp_path):
    if device.startswith("cuda:7") or device == "cuda":
        words = [*words, without_cuda()]
    arguments = [*forecast(tmp_path, "--model", "dlinear"), *STEPS, "--out", tmp_path / "run"]
    fails(78, *words, arguments=[*arguments, "--device", device])
    fails(78, *words, arguments=[*arguments, "--set", f"train.device={device}"])
    fails(78, *words, arguments=arguments, env={"MODEWISE_DEVICE": device})
    assert not (tmp_path / "run").exists()


def test_auto_is_the_cpu_where_there_is_no_other(tmp_path):
    if os.environ.get("CUDA_VISIBLE_DEVICES"):
        pytest.skip("CUDA devices are set here")
    ok(*forecast(tmp_path, "--model", "dlinear"), *STEPS, "--out", tmp_path / "run", "--device", "auto")
    assert json.loads((tmp_path / "run" / "manifest.json").read_text())["device"] in ("cpu", "cuda")


@pytest.mark.skipif(DEVICE != "guarded", reason="limits of the guarded device")
def test_a_device_that_is_full_or_lost_keeps_the_checkpoint(tmp_path):
    command = [*forecast(tmp_path, "--model", "dlinear"), *STEPS, "--set", "train.checkpoint_every_steps=2", "--device", DEVICE]
    command[command.index("--max-steps") + 1] = "500"
    said = fails(1, "out of memory on the device at step 1 with train.batch_size = 8", "the guarded device has 12000 bytes", "no checkpoint was saved",
                 "train.batch_size = 4 (fits) with train.accumulate = 2, train.recompute = true", "--device cpu",
                 arguments=[*command, "--out", tmp_path / "full"], env={**THERE, "GUARDED_DEVICE_BYTES": "12000"})  # fmt: skip
    assert "\n" not in said
    fails(74, "the device failed (the guarded device is lost)", "--resume", arguments=[*command, "--out", tmp_path / "lost"],
          env={**THERE, "GUARDED_DEVICE_COPIES": "6000"})  # fmt: skip
    ended = ok("train", "forecast", "--resume", tmp_path / "lost", "--allow-config-changes", "--max-steps", "200", "--device", "cpu")
    assert "resuming from step" in ended.stderr


@pytest.mark.skipif(DEVICE != "guarded", reason="limits of the guarded device")
@pytest.mark.parametrize(("limit", "count"), [("COPIES", 40), ("COPIES", 3000), ("OPERATORS", 5), ("OPERATORS", 1000)])
def test_a_device_lost_at_any_time_loses_no_checkpoint(limit, count, tmp_path):
    """Before the first step, in a step, in an evaluation: the training resumes from what was written, to the results of the CPU."""
    command = [*forecast(tmp_path, "--model", "dlinear"), *STEPS, "--set", "train.checkpoint_every_steps=4", "--set", "train.evaluations_per_epoch=6"]
    command[command.index("--max-steps") + 1] = "40"
    fails(74, "the device failed (the guarded device is lost)", "--resume", "--device cpu",
          arguments=[*command, "--out", tmp_path / "lost", "--device", DEVICE], env={**THERE, f"GUARDED_DEVICE_{limit}": str(count)})  # fmt: skip
    written = sorted(path.name for path in (tmp_path / "lost" / "checkpoints").glob("*"))
    said = ok("train", "forecast", "--resume", tmp_path / "lost", "--device", "cpu").stderr
    assert ("resuming from step" in said) == bool(written), (said, written)
    ok(*command, "--out", tmp_path / "whole", *CPU)
    whole, lost = (numbers(json.loads((tmp_path / name / "metrics.json").read_text())["test"]) for name in ("whole", "lost"))
    same_results(whole, lost)


def test_a_run_of_a_device_that_is_missing_opens_and_goes_on_elsewhere(tmp_path):
    command = [*forecast(tmp_path, "--model", "dlinear"), *STEPS, "--set", f"train.device={DEVICE}", "--set", "train.schedule.name=constant"]
    ok(*command, "--out", tmp_path / "run", env=THERE)
    for verb in ("evaluate", "predict"):
        ok(verb, tmp_path / "run", *(["--out", tmp_path / "p.csv"] if verb == "predict" else []))
    before = {path: path.read_bytes() for path in (tmp_path / "run").rglob("*") if path.is_file()}
    if DEVICE == "guarded":
        resumed = ["train", "forecast", "--resume", tmp_path / "run", "--allow-config-changes", "--max-steps", "6"]
        fails(78, f"device '{DEVICE}'", "expected auto, cpu, cuda or cuda:N", arguments=resumed)
        assert {path: path.read_bytes() for path in before} == before
        assert "resuming from step 3" in ok(*resumed, "--device", "cpu").stderr


@pytest.mark.parametrize("device", ["cuda", "tpu"])
def test_an_estimator_on_a_missing_device_is_a_sentence(device):
    if device == "cuda":
        without_cuda()
    import modewise
    from modewise import errors

    rows = np.sin(np.arange(200) / 3)[:, None]
    with pytest.raises(errors.ConfigError, match=f"device '?{device}"):
        modewise.Forecaster("dlinear", horizon=4, lookback=16, device=device).fit(rows)
    assert "MODEWISE_DEVICE" not in os.environ
    settings = {"train.max_steps": 2}
    fitted = modewise.Forecaster("dlinear", horizon=4, lookback=16, device="cpu", settings=settings).fit(rows)
    assert np.isfinite(np.asarray(fitted.predict())).all()


def test_a_loaded_run_is_on_the_asked_device(tmp_path):
    torch = pytest.importorskip("torch")
    import modewise
    from modewise import errors

    ok(*forecast(tmp_path, "--model", "dlinear"), *STEPS, "--out", tmp_path / "run")
    values = np.random.default_rng(1).normal(size=(40, 3))
    wanted = modewise.load(tmp_path / "run").predict(values).values
    assert np.array_equal(modewise.load(tmp_path / "run", device="cpu").predict(values).values, wanted)
    for device in ["tpu", "meta", "cuda:x"] + ([] if torch.cuda.is_available() else ["cuda", "cuda:3"]):
        with pytest.raises(errors.ConfigError, match=f"device '?{device}"):
            modewise.load(tmp_path / "run", device=device)


def test_half_precision_is_a_sentence_that_names_bf16(tmp_path):
    for name in ("float16", "fp16", "half"):
        fails(2, name, "bf16", arguments=[*forecast(tmp_path, *SMALL), *STEPS, "--set", f"model.precision={name}", "--out", tmp_path / "run"])


@pytest.mark.parametrize("task", ["hot", "language"])
def test_bf16_trains_on_another_device(task, tmp_path):
    command = [*TASKS[task](tmp_path), *STEPS, "--set", "model.precision=bf16"]
    ok(*command, "--out", tmp_path / "cpu", *CPU)
    ok(*command, "--out", tmp_path / "there", "--device", DEVICE, env=THERE)
    here, there = (numbers(json.loads((tmp_path / run / "metrics.json").read_text())) for run in ("cpu", "there"))
    for name, value in here.items():
        assert there[name] == pytest.approx(value, rel=0.05, abs=0.05), name


def test_children_of_sweeps_compute_on_the_device(tmp_path):
    write_csv(tmp_path / "small.csv")
    settings = "forecast.lookback = 24\nforecast.horizon = 8\noutput.report = false\ntrain.max_steps = 3\n"
    plan = tmp_path / "grid.toml"
    plan.write_text(f'task = "forecasting"\ndata = "small.csv"\nseeds = [1, 2]\n[settings]\nmodel.name = "dlinear"\n{settings}')
    ok("sweep", plan, "--out", tmp_path / "sweep", "--device", DEVICE, env=THERE)
    devices = [json.loads(one.read_text()).get("device") for one in (tmp_path / "sweep").rglob("manifest.json")]
    assert devices.count(DEVICE) == 2 and set(devices) <= {DEVICE, None}


def test_children_of_auto_compute_on_the_device(tmp_path):
    ok(*search(write_csv(tmp_path / "d.csv", rows=300), tmp_path / "auto", "20s"), "--device", DEVICE, env=THERE)
    devices = [json.loads(one.read_text()).get("device") for one in tmp_path.rglob("manifest.json")]
    assert devices.count(DEVICE) >= 3 and set(devices) <= {DEVICE, None}


def test_panels_and_backtests_have_the_results_of_the_cpu(tmp_path):
    draw = np.random.default_rng(4)
    rows = ["unique_id,ds,y"] + [f"s{series},{hour},{np.sin(step / 3 + series) + draw.normal() / 9:.4f}" for series in range(4) for step, hour in enumerate(hourly(90))]
    (tmp_path / "long.csv").write_text("\n".join(rows) + "\n")
    command = ["train", "forecast", tmp_path / "long.csv", "--model", "dlinear", "--lookback", "24", "--horizon", "6", "--set", "data.panel=yes", *STEPS]
    found = []
    for device, env in (("cpu", {}), (DEVICE, THERE)):
        ok(*command, "--out", tmp_path / device, "--device", device, env=env)
        shown = ok("backtest", tmp_path / device, "--json", "--device", device, env=env).stdout
        found.append({**numbers(json.loads((tmp_path / device / "metrics.json").read_text())), **numbers(json.loads(shown), "/backtest")})
    assert found[0].keys() == found[1].keys() and any("/backtest" in name for name in found[0])
    for name, value in found[0].items():
        if "seconds" not in name:
            assert found[1][name] == pytest.approx(value, rel=2e-3, abs=2e-3), name


def in_group(words, env, processes=2):
    """The processes of torchrun, each with the words of a command line of bash in which $RANK is set."""
    command = [sys.executable, "-m", "torch.distributed.run", "--standalone", "--nproc-per-node", str(processes), "--no-python", "bash", "-c",
               words + f" exec {sys.executable} -m modewise " + '"$@"', "modewise"]  # fmt: skip
    everywhere = {**os.environ, "PYTHONPATH": str(ROOT / "python"), "MODEWISE_BUILD": str(BUILD), "OMP_NUM_THREADS": "1", **env}
    return lambda *arguments: subprocess.run([*command, *map(str, arguments)], capture_output=True, text=True, timeout=300, env=everywhere)


def needs_two_devices():
    """Each process takes a GPU of its own."""
    if DEVICE == "cuda" and pytest.importorskip("torch").cuda.device_count() < 2:
        pytest.skip("two GPUs")


def test_two_processes_exchange_the_gradients_of_the_device(tmp_path):
    needs_two_devices()
    command = [*forecast(tmp_path, *SMALL), *STEPS]
    ok(*command, "--out", tmp_path / "one", "--set", "train.shards=2", "--device", DEVICE, env=THERE)
    done = in_group("", THERE)(*command, "--out", tmp_path / "two", "--device", DEVICE)
    assert done.returncode == 0, done.stderr
    assert json.loads((tmp_path / "two" / "manifest.json").read_text())["device"].startswith(DEVICE)
    one, two = (numbers(json.loads((tmp_path / run / "metrics.json").read_text())) for run in ("one", "two"))
    assert one.keys() == two.keys()
    for name, value in one.items():
        assert two[name] == pytest.approx(value, rel=1e-4, abs=1e-5), name


def test_processes_on_devices_of_two_types_are_refused(tmp_path):
    needs_two_devices()
    done = in_group(f"export MODEWISE_DEVICE=cpu; [ $RANK = 1 ] && export MODEWISE_DEVICE={DEVICE};", THERE)(
        *forecast(tmp_path, "--model", "dlinear"), *STEPS, "--out", tmp_path / "run")  # fmt: skip
    assert done.returncode != 0
    assert "the processes compute on devices of two types, cpu and " in done.stderr and "--device cpu" in done.stderr
    assert "exitcode  : 78" in done.stderr
    assert not (tmp_path / "run").exists()
