"""First guesses at the command line: words of other programs are answered with the command, option or setting that does the same."""
import json
import shutil
import subprocess

import pytest

from cli_helpers import fails, ok, write_csv


@pytest.mark.parametrize("arguments, answer", [
    (["eval", "run"], "modewise evaluate RUN"),
    (["fit", "x.csv"], "modewise train DATA"),
    (["forecast", "x.csv"], "modewise train forecast DATA trains a forecaster, modewise predict RUN then forecasts"),
    (["test", "run"], "modewise evaluate RUN"),
    (["tune"], "--model auto"),
    (["trian", "x.csv"], "did you mean 'train'?"),
    (["train", "forecast", "--pred-len", "24"], "--set forecast.horizon=24 sets it"),
    (["train", "forecast", "--seq_len=96"], "--set forecast.lookback=96 sets it"),
    (["train", "forecast", "--dropout", "0.2"], "--set model.dropout=0.2"),
    (["train", "forecast", "--output", "x"], "the option is --out"),
    (["train", "forecast", "--epoch", "3"], "did you mean '--epochs'?"),
    (["train", "language", "--d-model", "64"], "--set model.width=64 sets it"),
    (["train", "language", "--pred-len", "24"], "unknown option '--pred-len'"),
    (["predict", "run", "--output", "x"], "the option is --out"),
    (["train", "forecast", "--gpu"], "the option is --device cuda"),
    (["train", "forecast", "-o", "x"], "the option is --out"),
    (["train", "forecast", "--num-workers", "2"], "the option is --threads"),
    (["train", "forecast", "--val-split", "0.2"], "--set 'data.split_ratios=[0.7, 0.1, 0.2]' sets it"),
    (["train", "forecast", "x.csv", "epochs=3"], "unknown argument 'epochs=3' (--set train.epochs=3 sets it)"),
    (["train", "forecast", "--loss", "MSE"], "--set forecast.loss=mse sets it"),
    (["train", "forecast", "--loss", "smape"], "--set forecast.loss=… sets it: mae, mse, huber, quantile"),
    (["train", "forecast", "--features", "MS"], "--set data.future_covariates=NAME,… names future covariates"),
    (["train", "forecast", "--features", "M"], "all columns are forecast by default"),
    (["train", "forecast", "--features=S"], "--set data.columns=NAME forecasts one column"),
    (["train", "forecast", "--level", "80,95"], "--set calibration.intervals=0.8,0.95 calibrates such intervals; --set forecast.loss=quantile --set "
                                                "'forecast.quantiles=[0.025, 0.1, 0.5, 0.9, 0.975]' trains their quantiles"),
    (["train", "forecast", "--level", "90"], "'forecast.quantiles=[0.05, 0.5, 0.95]'"),
    (["train", "forecast", "--season", "24"], "--set model.period=24 sets it"),
    (["train", "forecast", "--freq", "D"], "the time step is found in the dates; --set data.resample=D pools the rows to another"),
    (["train", "forecast", "--train-epochs", "3"], "the option is --epochs"),
    (["train", "forecast", "--lradj", "type1"], "--set train.schedule.name=type1 sets it"),
    (["train", "forecast", "--optimizer", "Adam"], "--set train.optimizer.name=adam sets it"),
    (["train", "forecast", "--scheduler", "plateau"], "--set train.schedule.name=… sets it: constant, cosine, step, type1, one_cycle"),
    (["train", "forecast", "--futr_exog_list", "price"], "--set data.future_covariates=price sets it"),
    (["train", "forecast", "--stat-exog-list", "area"], "--set data.static_covariates=area sets it"),
    (["train", "forecast", "--hist-exog-list", "x"], "there is no counterpart: a column that is not a future covariate"),
    (["train", "forecast", "--label-len", "48"], "no model has a decoder input"),
    (["generate", "run", "--max-new-tokens", "9"], "the option is --tokens"),
    (["generate", "run", "--num-beams", "4"], "generate has no beam search: it samples, or decodes greedily with --temperature 0"),
    (["generate", "run", "--n", "4"], "generate draws one text: run it with --seed 1, --seed 2, … for several"),
    (["generate", "run", "--num-samples=4"], "generate draws one text"),
    (["generate", "run", "--num-return-sequences", "4"], "generate draws one text"),
    (["generate", "run", "--do-sample"], "generate samples unless --temperature is 0"),
    (["caption", "run", "im", "--num-beams", "4"], "the option is --beam-size"),
    (["train", "forecast", "--seed", "1.0"], "--seed: '1.0' is not an integer"),
    (["train", "forecast", "--model", "a", "--model", "b"], "--model is given 2 times, but takes one value"),
    (["train", "forecast", "--seed"], "--seed needs a value"),
    (["train", "forecast", "--set", "=3"], "--set =3: expected key=value"),
    (["foo", "--help"], "unknown argument 'foo'"),
    (["help", "predicts"], "unknown argument 'predicts' (did you mean 'predict'?)"),
    (["help", "train", "forcast"], "unknown argument 'forcast' (did you mean 'forecast'?)"),
    (["manual", "--json"], "--json has no effect: manual prints a page in roff"),
    (["completion", "bash", "--json"], "--json has no effect: completion prints a script"),
    (["help", "info", "--json"], "--json has no effect: the help is text"),
    (["info", "--json", "--help"], "--json has no effect: the help is text"),
    (["train"], "expected one of a data file or folder, forecast, "),
    (["train", "llama"], "after 'modewise train', got 'llama'"),
    (["config"], "after 'modewise config', got nothing"),
    (["predict", "--model", "run"], "the option is --run"),
    (["plot", "run"], "modewise report RUN draws a run, modewise explain RUN its attention"),
    (["--list-models"], "modewise train TASK --help names the models"),
    (["-V"], "the option is --version"),
    (["-q", "tokenize", "x.txt"], "options follow the command: modewise tokenize -q …; see modewise tokenize -h"),
    (["--threads", "2", "train", "forecast"], "options follow the command: modewise train forecast --threads …"),
])
def test_an_unknown_word_is_answered(arguments, answer):
    fails(2, answer, arguments=arguments)


def test_a_file_in_place_of_a_command_or_run_is_answered(tmp_path):
    data = write_csv(tmp_path / "d.csv")
    fails(2, f"unknown argument '{data}' (modewise train {data}, modewise data show {data})", arguments=[data])
    fails(2, f"got '{data}'; modewise data show {data} describes it", arguments=["data", data])
    fails(2, f"got '{'x' * 300}'; see modewise data -h", arguments=["data", "x" * 300])
    fails(66, f"expected a run folder, got the file {data}; 'modewise train {data}' makes a run", arguments=["predict", data])


def test_help_is_a_command():
    assert ok("help").stdout == ok("--help").stdout
    assert ok("help", "train", "forecast").stdout == ok("train", "forecast", "--help").stdout


def test_short_options_and_data_as_an_argument(tmp_path):
    data = write_csv(tmp_path / "d.csv")
    result = ok("train", data, "--horizon", 6, "--lookback", 24, "--epochs", 1, "--batch-size", 8, "--lr", 0.01, "--patience", 2,
                "--max-steps", 3, "--model", "dlinear", "--out", tmp_path / "run", "--set", "output.report=false")
    assert f"next: modewise predict {tmp_path / 'run'}" in result.stderr
    shown = json.loads(ok("config", "show", "--run", tmp_path / "run", "--json").stdout)
    assert shown["data.path"] == str(data)
    assert [shown[key] for key in ("forecast.horizon", "forecast.lookback", "train.epochs", "train.batch_size", "train.patience",
                                   "train.max_steps", "train.optimizer.learning_rate")] == [6, 24, 1, 8, 2, 3, 0.01]
    fails(66, "missing.csv", arguments=["train", "missing.csv"])


def test_help_shows_defaults():
    text = ok("train", "forecast", "-h").stdout
    assert "samples per step (train.batch_size, default 32)" in text
    assert "(data.path)" in text  # no default


def test_help_names_a_positional_once():
    for option in ("-h", "--help"):
        assert sum(line.startswith("  text ") for line in ok("tokenize", option).stdout.splitlines()) == 1


def test_config_show_prints_sections_and_ranges():
    text = ok("config", "show", "--section", "train.optimizer", "--help-text").stdout
    assert text.startswith("[train.optimizer]\n") and "[train]" not in text
    assert "# peak learning rate (at least 0)\nlearning_rate = 0.001\n" in text
    assert "(from 0 to 1)\nbetas" in text
    keys = json.loads(ok("config", "show", "--section", "forecast", "--help-text", "--json").stdout)
    assert keys["forecast.loss"]["range"] == "one of mse, mae, huber, quantile"
    fails(2, "there is no section 'trian'", arguments=["config", "show", "--section", "trian"])


@pytest.mark.parametrize("line, words", [
    (["modewise", "train", "fore"], ["forecast"]),
    (["modewise", "train", "forecast", "--hor"], ["--horizon"]),
    (["modewise", "predict", "run", "--ou"], ["--out"]),
    (["modewise", "expl"], ["explain"]),
    (["modewise", "da"], ["data"]),
    (["modewise", "predict", "my"], ["my file.csv"]),
    (["modewise", "predict", "run", "x"], ["x1.csv"]),
    (["modewise", "hel"], ["help"]),
    (["modewise", "help", "train", "fore"], ["forecast"]),
    (["modewise", "completion", ""], ["bash", "zsh", "fish"]),
    (["modewise", "predict", "run", "--color", "a"], ["auto", "always"]),
    (["modewise", "predict", "run", "--color", "=", "ne"], ["never"]),
    (["modewise", "predict", "run", "--color", "="], ["auto", "always", "never"]),
    (["modewise", "compare", "--format", "m"], ["markdown"]),
    (["modewise", "train", "x1.csv", "--epo"], ["--epochs"]),
    (["modewise", "train", "--dev"], ["--device"]),
])
def test_bash_completes_commands_and_options(line, words, tmp_path):
    for name in ("my file.csv", "data", "x1.csv"):
        (tmp_path / name).mkdir() if name == "data" else (tmp_path / name).write_text("")
    script = ok("completion", "bash").stdout
    quoted = " ".join(f"'{word}'" for word in line)
    script += f'COMP_WORDS=({quoted}); COMP_CWORD={len(line) - 1}; _modewise; printf "%s\\n" "${{COMPREPLY[@]}}"\n'
    done = subprocess.run(["bash", "-c", script], capture_output=True, text=True, check=True, cwd=tmp_path)
    assert done.stdout.splitlines() == words and done.stderr == ""


@pytest.mark.parametrize("shell", ["zsh", "fish"])
def test_scripts_of_other_shells_name_every_command(shell, tmp_path):
    script = ok("completion", shell).stdout
    assert "forecast" in script and "horizon" in script
    if program := shutil.which(shell):
        (tmp_path / "script").write_text(script)
        subprocess.run([program, "-n", tmp_path / "script"], check=True)


def test_the_manual_page_is_valid_roff(tmp_path):
    page = ok("manual").stdout
    assert page.startswith(".TH MODEWISE 1") and ".SS train forecast\n" in page and "\\-\\-horizon" in page
    for text in ("\\fBmodewise predict\\fR [\\fIrun\\fR] [OPTIONS]", "\\fBmodewise data\\fR COMMAND", "\\fBmodewise completion\\fR \\fIshell\\fR [OPTIONS]",
                 "\n.SH EXIT STATUS\n", "\n.SH ENVIRONMENT\n", "\n.SH FILES\n", "\\fB\\-\\-horizon\\fR \\fI", ".SS help\n"):  # fmt: skip
        assert text in page, text
    assert page.count("short help") == 1
    if program := shutil.which("groff"):
        done = subprocess.run([program, "-man", "-Tutf8", "-ww", "-K", "utf8"], input=page, capture_output=True, text=True, check=True)
        assert done.stderr == ""
