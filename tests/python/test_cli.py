"""The program as its users meet it: exit codes, sentences, streams, files. Drives $MODEWISE_BUILD/bin/modewise."""
import csv
import json
import os
import pathlib
import re
import shlex
import signal
import subprocess
import time

import numpy as np
import pytest

from cli_helpers import DATA, PROGRAM, QUICK, SMALL, fails, hourly, modewise, ok, small_run, train, write_csv  # noqa: F401 (small_run is a fixture)



# Nothing is overwritten.

def test_a_run_is_not_overwritten(small_run, tmp_path):
    before = {p: p.read_bytes() for p in small_run.iterdir() if p.is_file()}
    fails(73, "--resume", arguments=["train", "forecast", "--data", small_run.parent / "small.csv", "--out", small_run, *QUICK])
    assert before == {p: p.read_bytes() for p in small_run.iterdir() if p.is_file()}


def test_overwrite_starts_again(tmp_path):
    data = write_csv(tmp_path / "d.csv")
    ok(*train(data))
    result = ok(*train(data), "--overwrite", "--set", "train.epochs=1", "--json")
    assert json.loads(result.stdout)["epochs"] == 1


def test_runs_are_numbered(tmp_path):
    data = write_csv(tmp_path / "d.csv")
    arguments = ["train", "forecast", "--data", data, *SMALL, "--model", "repeat"]
    for _ in range(2):
        ok(*arguments, cwd=tmp_path)
    assert sorted(p.name for p in (tmp_path / "runs").iterdir()) == ["d-repeat", "d-repeat2"]


def test_prediction_is_not_overwritten(small_run, tmp_path):
    out = tmp_path / "f.csv"
    ok("predict", small_run, "--out", out)
    first = out.read_bytes()
    fails(73, "--overwrite", arguments=["predict", small_run, "--out", out])
    ok("predict", small_run, "--out", out, "--overwrite")
    assert out.read_bytes() == first
    fails(2, ".csv or .npz", arguments=["predict", small_run, "--out", tmp_path / "f.xlsx"])


# Results on stdout, the rest on stderr.

@pytest.mark.parametrize("arguments", [
    ["info"], ["info", "--released"], ["config", "show"], ["evaluate", "RUN"], ["predict", "RUN"], ["backtest", "RUN"],
    ["compare", "RUN"], ["report", "RUN"], ["data", "show", "DATA"], ["config", "show", "--help-text"], ["--version"],
    ["evaluate", "RUN", "--split", "validation"],
])
def test_json_is_alone_on_stdout(small_run, arguments):
    names = {"RUN": small_run, "DATA": small_run.parent / "small.csv"}
    json.loads(ok(*[names.get(a, a) for a in arguments], "--json").stdout)


def test_training_prints_one_json_document(tmp_path):
    result = ok(*train(write_csv(tmp_path / "d.csv")), "--json")
    document = json.loads(result.stdout)
    assert document["test"]["windows"] == 80 - 8 + 1
    assert {"mse", "mae", "rmse", "smape"} <= document["test"]["scaled"].keys()
    assert "windows" in result.stderr
    assert modewise(*train(write_csv(tmp_path / "e.csv"), "--overwrite"), "-q").stderr == ""


def test_colour_obeys_the_environment(small_run):
    assert "\x1b" not in modewise("evaluate", "/nowhere").stderr
    assert "\x1b" in modewise("evaluate", "/nowhere", "--color", "always").stderr
    assert "\x1b" in modewise("evaluate", "/nowhere", env={"FORCE_COLOR": "1"}).stderr
    assert "\x1b" in modewise("evaluate", "/nowhere", env={"CLICOLOR_FORCE": "1"}).stderr
    for quiet in ({"FORCE_COLOR": "1", "NO_COLOR": "1"}, {"FORCE_COLOR": "0"}, {"FORCE_COLOR": "", "CLICOLOR_FORCE": "0"}):
        assert "\x1b" not in modewise("evaluate", "/nowhere", env=quiet).stderr, quiet


def test_decompose_names_the_runs_that_it_takes(small_run):
    fails(2, f"{small_run} is of the task 'forecasting'", f"modewise explain {small_run} writes its attention matrices", "--member",
          arguments=["decompose", small_run])


def test_help_begins_with_an_example():
    for command in (["train", "forecast"], ["predict"], ["data", "show"], ["info"], ["demo"]):
        short, full = ok(*command, "-h").stdout, ok(*command, "--help").stdout
        assert short.startswith("Example:\n  modewise " + " ".join(command))
        assert len(short) < len(full)
        assert "--json" in full
    assert "Keys of --config" not in ok("train", "forecast", "-h").stdout
    assert "epochs = -1" in ok("train", "forecast", "--help").stdout
    assert modewise().returncode == 2


def test_version():
    assert ok("--version").stdout.startswith("modewise ")


# Config.

def test_precedence_is_defaults_file_command_line(tmp_path):
    config = tmp_path / "c.toml"
    config.write_text("[train]\nepochs = 7\nbatch_size = 17\n")
    shown = json.loads(ok("config", "show", "--config", config, "--set", "train.epochs=3", "--json").stdout)
    assert (shown["train.epochs"], shown["train.batch_size"], shown["forecast.huber_delta"]) == (3, 17, 1)


def shown_config(*arguments):
    return json.loads(ok("config", "show", *arguments, "--json").stdout)


@pytest.mark.parametrize("model", ["patchtst", "tide", "hot", "dlinear"])
def test_a_model_of_the_command_line_has_its_own_defaults(model, tmp_path):
    config = tmp_path / "c.toml"
    config.write_text(f"[model]\nname = \"{model}\"\n[train]\nepochs = 7\n")
    for chosen in ("hot", "patchtst", "itransformer", "dlinear"):
        plain = shown_config("--model", chosen, "--set", "train.epochs=7")
        assert shown_config("--config", config, "--model", chosen) == plain
        assert shown_config("--config", config, "--set", f"model.name={chosen}") == plain


def test_settings_of_a_file_stay_with_another_model(tmp_path):
    config = tmp_path / "c.toml"
    config.write_text("[model]\nwidth = 32\n")
    assert shown_config("--config", config, "--model", "patchtst")["model.width"] == 32
    fails(78, "width = 32 has no effect", arguments=["train", "forecast", write_csv(tmp_path / "d.csv"), "--config", config, "--model", "dlinear"])
    config.write_text("[train.optimizer]\nname = \"adam\"\n")
    decay = "train.optimizer.weight_decay"
    assert [shown_config("--config", config, *more)[decay] for more in ([], ["--set", "train.optimizer.name=adamw"])] == [0, 0.01]
    config.write_text("[train.optimizer]\nname = \"adam\"\nweight_decay = 0.3\n")
    assert shown_config("--config", config, "--set", "train.optimizer.name=adamw")[decay] == 0.3
    config.write_text("[model]\nname = \"patchtst\"\nwidths = 1\n")
    fails(78, "c.toml:3:1", "unknown key 'model.widths'", arguments=["config", "show", "--config", config, "--model", "hot"])
    fails(2, "--set model.name: must be one of", arguments=["config", "show", "--model", "hots"])


def test_another_model_replaces_what_that_of_a_run_implies(small_run):
    config = small_run / "config.toml"
    assert shown_config("--config", config)["model.name"] == "dlinear"
    both = [shown_config(*more) for more in (["--config", config, "--model", "patchtst"], ["--model", "patchtst"])]
    assert both[0]["forecast.lookback"] == 24
    names = [key for key in both[1] if key.startswith("model.") and key != "model.window.centre"]
    assert [both[0][key] for key in names] == [both[1][key] for key in names]


def test_shown_config_can_be_read_back(tmp_path):
    first = ok("config", "show", "--model", "patchtst", "--set", "forecast.horizons=96,192").stdout
    (tmp_path / "c.toml").write_text(first)
    assert ok("config", "show", "--config", tmp_path / "c.toml").stdout == first


# Stopping and resuming.

def slow_training(tmp_path, out):
    data = write_csv(tmp_path / "d.csv", rows=3000)
    return [PROGRAM, "train", "forecast", "--data", data, "--out", out, *SMALL, "--model", "dlinear", "--set",
            "train.epochs=25", "--set", "train.patience=0", "--threads", "1"]


@pytest.mark.parametrize("number,code,more", [(signal.SIGINT, 130, []), (signal.SIGTERM, 143, []), (signal.SIGHUP, 129, []),
                                              (signal.SIGTERM, 143, ["--set", "model.window.cycle=24"])])
def test_a_signal_saves_and_resume_ends_with_the_same_bits(tmp_path, number, code, more):
    whole, cut = tmp_path / "whole", tmp_path / "cut"
    subprocess.run(list(map(str, slow_training(tmp_path, whole) + more)), check=True, capture_output=True)
    process = subprocess.Popen(list(map(str, slow_training(tmp_path, cut) + more)), stdout=subprocess.PIPE,
                               stderr=subprocess.PIPE, text=True)
    while not (cut / "metrics.jsonl").exists() or (cut / "metrics.jsonl").stat().st_size == 0:
        assert process.poll() is None, process.stderr.read()
        time.sleep(0.01)
    process.send_signal(number)
    begin = time.monotonic()
    out, err = process.communicate(timeout=60)
    assert time.monotonic() - begin < 5
    assert process.returncode == code, err
    assert out == "" and "--resume" in err
    assert not (cut / "metrics.json").exists()
    fails(66, "--resume", arguments=["compare", cut])
    ok("train", "forecast", "--resume", cut, "--threads", "2")
    for name in ("metrics.jsonl", "metrics.json", "predictions.npz", "calibration.npz"):
        assert (cut / name).read_bytes() == (whole / name).read_bytes(), name


def test_resume_refuses_other_settings_and_other_data(tmp_path):
    data = write_csv(tmp_path / "d.csv")
    ok(*train(data))
    run = tmp_path / "out"
    fails(78, "--allow-config-changes", arguments=["train", "forecast", "--resume", run, "--set", "train.batch_size=8"])
    ok("train", "forecast", "--resume", run, "--set", "train.epochs=3", "--allow-config-changes")
    write_csv(data, rows=401)
    fails(65, "data", arguments=["train", "forecast", "--resume", run])


def test_a_damaged_checkpoint_falls_back(tmp_path):
    data = write_csv(tmp_path / "d.csv")
    ok(*train(data))
    checkpoints = sorted((tmp_path / "out" / "checkpoints").glob("step_*"), key=lambda p: p.stat().st_mtime)
    assert len(checkpoints) > 1
    model = checkpoints[-1] / "model.safetensors"
    content = bytearray(model.read_bytes())
    content[-1] ^= 1
    model.write_bytes(content)
    result = ok("evaluate", tmp_path / "out")
    assert checkpoints[-1].name in result.stderr
    for path in (tmp_path / "out" / "checkpoints").glob("step_*/model.safetensors"):
        path.write_bytes(b"")
    assert modewise("evaluate", tmp_path / "out").returncode == 65


# Messages of the commands.

def test_missing_cells_are_not_counted(tmp_path):
    def edit(lines):
        for i in range(1, len(lines), 7):
            lines[i] = lines[i].rsplit(",", 1)[0] + ",NA"
    path = write_csv(tmp_path / "d.csv", edit=edit)
    document = json.loads(ok(*train(path), "--json").stdout)["test"]
    by_name = {row["name"]: row["scaled"]["count"] for row in document["by_series"]}
    assert by_name["a"] == document["windows"] * 8
    assert by_name["c"] < by_name["a"]
    ok("predict", tmp_path / "out")


def test_missing_cells_need_a_model_trained_with_them(small_run, tmp_path):
    def edit(lines):
        lines[-3] = lines[-3].rsplit(",", 1)[0] + ",NA"
    path = write_csv(tmp_path / "d.csv", edit=edit)
    fails(65, "missing", arguments=["predict", small_run, "--data", path])


def test_quantile_model_is_calibrated(tmp_path):
    path = write_csv(tmp_path / "d.csv", rows=3000)
    document = json.loads(ok(*train(path, "--set", "forecast.loss=quantile"), "--json").stdout)
    held = {round(i["nominal"], 3): i["coverage"] for i in document["test"]["quantiles"]["intervals"]}
    assert abs(held[0.8] - 0.8) < 0.04 and abs(held[0.95] - 0.95) < 0.03
    rows = list(csv.DictReader(ok("predict", tmp_path / "out").stdout.splitlines()))
    for row in rows:
        levels = [float(row[f"a_q{q}"]) for q in ("0.025", "0.1", "0.25", "0.5", "0.75", "0.9", "0.975")]
        assert levels == sorted(levels)


def test_several_horizons(tmp_path):
    path = write_csv(tmp_path / "d.csv")
    document = json.loads(ok(*train(path, "--set", "forecast.horizons=4,8"), "--json").stdout)
    assert list(document["test"]["horizons"]) == ["4", "8"]


def test_compare_groups_seeds(tmp_path):
    data = write_csv(tmp_path / "d.csv")
    for seed in (1, 2):
        ok("train", "forecast", "--data", data, "--out", tmp_path / f"r{seed}", *QUICK, "--seed", seed)
    ok("train", "forecast", "--data", data, "--out", tmp_path / "repeat", *SMALL, "--model", "repeat")
    groups = json.loads(ok("compare", tmp_path / "r1", tmp_path / "r2", tmp_path / "repeat", "--json").stdout)["groups"]
    assert [(g["model"], len(g["runs"])) for g in groups] == [("dlinear", 2), ("repeat", 1)]
    values = groups[0]["mse"]["values"]
    assert groups[0]["mse"]["mean"] == pytest.approx(np.mean(values))
    assert groups[0]["mse"]["std"] == pytest.approx(np.std(values, ddof=1))
    assert "±" in ok("compare", tmp_path / "r1", tmp_path / "r2").stdout


def test_backtest_origins(small_run):
    document = json.loads(ok("backtest", small_run, "--stride", "16", "--json").stdout)
    rows = [origin["row"] for origin in document["origins"]]
    assert rows == list(range(320, 400 - 8 + 1, 16))
    assert document["origins"][0]["time"] == hourly(400)[320]


def test_predictions_in_both_formats(small_run, tmp_path):
    ok("predict", small_run, "--out", tmp_path / "f.csv")
    ok("predict", small_run, "--out", tmp_path / "f.npz")
    rows = list(csv.DictReader((tmp_path / "f.csv").open()))
    arrays = np.load(tmp_path / "f.npz")
    assert [row["date"] for row in rows] == hourly(408)[400:]
    np.testing.assert_allclose([float(row["b"]) for row in rows], arrays["forecast"][1], rtol=1e-6)
    assert arrays["quantiles"].shape == (3, 8, 5)
    assert len(list(csv.DictReader(ok("predict", small_run, "--steps", "3").stdout.splitlines()))) == 3
    fails(2, "8 rows", arguments=["predict", small_run, "--steps", "9"])


def test_report_is_written(small_run):
    path = json.loads(ok("report", small_run, "--json").stdout)["report"]
    page = pathlib.Path(path).read_text()
    assert page.startswith("<!DOCTYPE html>")
    assert "<svg" in page and "http://" not in page.replace("http://www.w3.org", "")


def test_sizes_of_series_are_a_list_and_wrong_numbers_are_refused_in_few_words():
    for sizes in (["3,4"], ["3", "4"]):
        shown = json.loads(ok("info", "--model", "dlinear", "--series", *sizes, "--json").stdout)
        assert shown["series"] == [3, 4]
    for value in ("x", "0", "-2", "nan"):
        last = fails(2, "--series", f"must be a positive number, got '{value}'", arguments=["info", f"--series={value}"])
        assert len(last) < 120
    assert len(fails(2, "a number that is not negative, got '-1'", arguments=["demo", "--seed=-1"])) < 120


def test_cost_of_the_released_forecaster():
    result = ok("info", "--released").stdout
    assert "686,544" in result and "1.51 G" in result and "4.22 G" in result
    forms = json.loads(ok("info", "--released", "--json").stdout)["forms"]
    assert [form["parameters"] for form in forms][:2] == [686544, 686544]
    assert forms[0]["multiply_adds"] == pytest.approx(1.19e9, rel=0.02)
    assert forms[1]["multiply_adds"] == pytest.approx(1.51e9, rel=0.005)
    assert forms[2]["multiply_adds"] == pytest.approx(4.22e9, rel=0.005)


def test_info_describes_this_machine():
    machine = json.loads(ok("info", "--json").stdout)["machine"]
    kilobytes = int(re.search(r"MemTotal: +(\d+) kB", pathlib.Path("/proc/meminfo").read_text())[1])
    assert machine["memory_gib"] == pytest.approx(kilobytes / 2**20, rel=0.05)
    assert machine["cores"] == os.cpu_count() and machine["host"] == os.uname().nodename
    assert machine["system"] == " ".join([os.uname().sysname, os.uname().release, os.uname().machine])


def test_rates_of_the_machine_are_measured_when_they_are_asked_for():
    assert "rates" not in json.loads(ok("info", "--json").stdout)
    shown = json.loads(ok("info", "--rates", "--json").stdout)
    rates = shown["rates"]
    peaks = ["float32_peak_gflops", "bf16_pairs_peak_gflops", "bf16_tiles_peak_gflops"]
    assert list(rates) == [*peaks, "float32_tile_gflops", "bf16_tile_gflops", "copy_gigabytes"]
    for instruction_set, peak in (("avx512_bf16", peaks[1]), ("amx_bf16", peaks[2])):
        if instruction_set not in shown["machine"]["instruction_sets"]:
            assert rates.pop(peak) is None
    assert all(0 < rate < 10000 for rate in rates.values())
    assert rates["float32_tile_gflops"] < 1.1 * rates["float32_peak_gflops"]  # of the same core: no tile beats its registers
    text = ok("info", "--rates").stdout
    for row, unit in (("float32 multiply-adds on registers", "GF/s"), ("linear 512 → 128, bf16", "GF/s"), ("copy of memory, read and written", "GB/s")):
        (line,) = [line for line in text.splitlines() if line.startswith(row)]
        assert re.fullmatch(rf"{row} +[0-9.]+ {re.escape(unit)}( \([0-9]+ % of the float32 peak\))?", line.rstrip())
    fails(2, "--rates measures the machine: remove --model, --config and --released", arguments=["info", "--rates", "--released"])


# On real data.

needs_data = pytest.mark.skipif(not (DATA / "forecasting").exists(), reason=f"no data sets in {DATA} (set MODEWISE_DATA)")


@needs_data
@pytest.mark.parametrize("horizon,mse,mae", [(96, .081, .196), (192, .167, .289), (336, .305, .396), (720, .823, .681)])
def test_repeat_on_exchange(tmp_path, horizon, mse, mae):
    """The published values leave out the test windows that fill no batch of 32; ours by default leave out none."""
    file = DATA / "forecasting/exchange_rate.txt"
    arguments = ["train", "forecast", "--data", file, "--model", "repeat", "--set", f"forecast.horizon={horizon}",
                 "--set", "output.report=false", "--json"]
    published = json.loads(ok(*arguments, "--set", "forecast.test_drop_last=32", "--out", tmp_path / "p").stdout)["test"]
    assert (round(published["scaled"]["mse"], 3), round(published["scaled"]["mae"], 3)) == (mse, mae)
    test = json.loads(ok(*arguments, "--out", tmp_path / "r").stdout)["test"]
    assert test["windows"] == 7588 // 5 - horizon + 1
    assert published["windows"] == test["windows"] // 32 * 32
    rows = np.loadtxt(file, delimiter=",")
    first = len(rows) - len(rows) // 5
    scaled = (rows - rows[:int(.7 * len(rows))].mean(0)) / rows[:int(.7 * len(rows))].std(0)
    errors = np.stack([scaled[r:r + horizon] - scaled[r - 1] for r in range(first, len(rows) - horizon + 1)])
    assert test["scaled"]["mse"] == pytest.approx((errors ** 2).mean(), rel=1e-5)
    assert test["scaled"]["mae"] == pytest.approx(np.abs(errors).mean(), rel=1e-5)


@needs_data
def test_forecast_of_etth1_continues_its_dates(tmp_path):
    data = DATA / "forecasting/ETTh1.csv"
    ok("train", "forecast", "--data", data, "--model", "dlinear", "--set", "data.split=ett_hour", "--set",
       "train.epochs=1", "--set", "output.report=false", "--out", tmp_path / "r")
    ok("predict", tmp_path / "r", "--out", tmp_path / "f.csv")
    rows = list(csv.DictReader((tmp_path / "f.csv").open()))
    last = list(csv.DictReader(data.open()))[-1]
    expected = [str(np.datetime64(last["date"].replace(" ", "T")) + np.timedelta64(i + 1, "h")).replace("T", " ")
                for i in range(96)]
    assert [row["date"] for row in rows] == expected
    # In units: the first hours lie near the last observed values.
    for name in ("HUFL", "OT"):
        history = np.array([float(row[name]) for row in list(csv.DictReader(data.open()))[-96:]])
        assert abs(float(rows[0][name]) - history[-1]) < 4 * history.std() + 1
        assert float(rows[0][f"{name}_q0.025"]) < float(rows[0][name]) < float(rows[0][f"{name}_q0.975"])


def test_backtest_writes_its_forecasts(small_run, tmp_path):
    out = tmp_path / "b.csv"
    document = json.loads(ok("backtest", small_run, "--stride", 16, "--out", out, "--json").stdout)
    lines = out.read_text().splitlines()
    header = ok("predict", small_run).stdout.splitlines()[0]
    assert lines[0] == "forecast_from," + header
    rows = [line.split(",") for line in lines[1:]]
    assert [row[0] for row in rows[::8]] == [origin["time"] for origin in document["origins"]] and len(rows) == 8 * len(document["origins"])
    assert rows[0][0] == rows[0][1] and rows[7][1] != rows[0][1] and all(float(cell) for cell in rows[0][2:])
    fails(73, "exists already: --overwrite replaces it", arguments=["backtest", small_run, "--out", out])
    ok("backtest", small_run, "--out", out, "--overwrite")
    fails(2, "--out must end in .csv", arguments=["backtest", small_run, "--out", tmp_path / "b.npz"])


def test_backtest_forecasts_as_predict_from_the_rows_before(small_run, tmp_path):
    out, cut = tmp_path / "b.csv", tmp_path / "cut.csv"
    origin = json.loads(ok("backtest", small_run, "--out", out, "--json").stdout)["origins"][1]
    lines = (small_run.parent / "small.csv").read_text().splitlines(keepends=True)
    cut.write_text("".join(lines[: 1 + origin["row"]]))
    printed = [line.split(",", 1)[1] for line in out.read_text().splitlines()[9:17]]
    assert printed == ok("predict", small_run, "--data", cut).stdout.splitlines()[1:]


def test_backtest_of_rows_that_were_added_or_left_out_says_so(tmp_path):
    data = write_csv(tmp_path / "d.csv", rows=300)
    ok("train", "forecast", data, *QUICK, "--no-test", "--out", tmp_path / "unread")
    assert "was trained with --no-test, and this backtest reads its test rows" in ok("backtest", tmp_path / "unread").stderr
    assert "was trained with --no-test, and this explanation reads its test split" in ok("explain", tmp_path / "unread").stderr
    assert "--no-test" not in ok("explain", tmp_path / "unread", "--split", "validation").stderr
    ok("train", "forecast", data, *QUICK, "--out", tmp_path / "run")
    assert "test rows" not in ok("backtest", tmp_path / "run").stderr
    write_csv(data, rows=400)
    assert "d.csv has 400 rows, 300 in the training: its test rows begin at " in ok("backtest", tmp_path / "run").stderr


def test_the_next_command_can_be_pasted(tmp_path):
    run = tmp_path / "it's a run"
    printed = ok("train", "forecast", write_csv(tmp_path / "my data.csv", rows=200), *QUICK, "--out", run).stderr
    command = printed.partition("next: ")[2].splitlines()[0]
    assert shlex.split(command) == ["modewise", "predict", str(run)] and "--future" not in command
    fails(73, f"--resume {shlex.quote(str(run))}".replace('\'"\'"\'', "'\\''"), arguments=["train", "forecast", tmp_path / "my data.csv", *QUICK, "--out", run])
    lines = (tmp_path / "my data.csv").read_text().splitlines()
    (tmp_path / "p.csv").write_text("\n".join(lines) + "\n")
    printed = ok("train", "forecast", tmp_path / "p.csv", *SMALL, "--model", "tide", "--epochs", 1, "--set", "data.future_covariates=c", "--out", tmp_path / "run").stderr
    assert f"next: modewise predict {tmp_path / 'run'} --future FILE" in printed


def test_info_reads_the_sizes_of_the_data(tmp_path):
    table = write_csv(tmp_path / "d.csv")
    for model in ("hot", "ridge"):
        shown = json.loads(ok("info", "--model", model, "--data", table, "--json").stdout)
        assert shown["series"] == [3] and shown["forms"][0]["parameters"] > 0
        logged = ok("train", "forecast", table, "--model", model, "--max-steps", 1, "--out", tmp_path / model, "--set", "output.report=false").stderr
        assert f"cost: {shown['forms'][0]['parameters']:,} parameters" in logged
        assert json.loads(ok("info", "--config", tmp_path / model / "config.toml", "--json").stdout)["series"] == [3]
        assert json.loads(ok("info", "--config", tmp_path / model / "config.toml", "--series", 5, "--json").stdout)["series"] == [5]
    fails(66, "nothere.csv", arguments=["info", "--model", "hot", "--data", tmp_path / "nothere.csv"])
    fails(2, "--series contradicts --data", arguments=["info", "--model", "hot", "--data", table, "--series", 3])
    fails(2, "--data", "need a model", arguments=["info", "--data", table])
    fails(2, "panel", "--series", arguments=["info", "--model", "hot", "--data", table, "--set", "data.panel=yes"])


def test_info_counts_the_maps_of_ridge_and_no_tokens():
    ridge = ["info", "--model", "ridge", "--series", 3, "--set", "forecast.lookback=48", "--set", "forecast.horizon=6"]
    shown = ok(*ridge).stdout
    assert shown.splitlines()[0] == "3 series × 48 rows, horizon 6"
    form, = json.loads(ok(*ridge, "--json").stdout)["forms"]
    assert (form["parameters"], form["multiply_adds"]) == (49 * 6, 3 * 48 * 6)
    form, = json.loads(ok(*ridge, "--set", "model.individual=true", "--json").stdout)["forms"]
    assert form["parameters"] == 3 * 49 * 6


def test_small_models_have_millions_of_operations():
    shown = ok("info", "--model", "dlinear").stdout
    assert "0.00 G" not in shown and " M " in shown
