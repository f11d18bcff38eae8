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
])
def test_bash_completes_commands_and_options(line, words, tmp_path):
    script = ok("completion", "bash").stdout
    quoted = " ".join(f"'{word}'" for word in line)
    script += f'COMP_WORDS=({quoted}); COMP_CWORD={len(line) - 1}; _modewise; printf "%s\\n" "${{COMPREPLY[@]}}"\n'
    done = subprocess.run(["bash", "-c", script], capture_output=True, text=True, check=True, cwd=tmp_path)
    assert done.stdout.split() == words


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
    if program := shutil.which("groff"):
        done = subprocess.run([program, "-man", "-Tutf8", "-ww", "-K", "utf8"], input=page, capture_output=True, text=True, check=True)
        assert done.stderr == ""
