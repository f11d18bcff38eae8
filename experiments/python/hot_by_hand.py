"""A HOT forecaster of modewise.nn on ETTh1, trained by a plain PyTorch loop under torch.compile, compared with the program's training of
the same recipe (experiments/forecasting/etth1.toml) by validation errors. The test split is not read.

    python experiments/python/hot_by_hand.py ETTh1.csv [--out runs/hot-by-hand] [--seeds 1 2 3] [--threads 1] [--eager] [--own-start]

For each seed both start from the program's initial weights, so that they differ only in the order of the windows and in dropout; with
--own-start the loop starts from weights that torch draws, as different as those of another seed. The program opens the loop's weights
from a file (train forecast --init FILE with 0 epochs makes a run of it), and this script opens the program's run as a module. Prints a
Markdown table of the errors of both, evaluated by both.
"""

import argparse
import json
import math
import pathlib
import statistics

import numpy as np
import pandas
import safetensors.torch
import torch

import modewise
from modewise import tasks
from modewise.models.forecast import ForecastShape, TokenForecaster
from modewise.nn.encoder import EncoderOptions

RECIPE = pathlib.Path(__file__).parents[1] / "forecasting" / "etth1.toml"
HOURS = 30 * 24
TRAINING, VALIDATION = (0, 12 * HOURS), (12 * HOURS, 16 * HOURS)  # rows; split "ett_hour"
LOOKBACK = HORIZON = 96
CYCLE, CYCLE_GAIN = 24, 5.0
BATCH, EPOCHS, RATE, PATIENCE = 64, 10, 1e-3, 4


def scaled_rows(path):
    """[rows, 7] in units of the training split's standard deviation."""
    values = pandas.read_csv(path).iloc[:, 1:].to_numpy(np.float64)
    training = values[slice(*TRAINING)]
    return torch.from_numpy((values - training.mean(0)) / training.std(0)).float()


def first_rows(part):
    """First rows of the windows whose horizons lie in a split; a validation window may look back into training."""
    begin = part[0] if part[0] == 0 else part[0] - LOOKBACK
    return torch.arange(begin, part[1] - LOOKBACK - HORIZON + 1)


def windows(rows, firsts):
    """past and future [B, 7, 96]."""
    both = rows[firsts[:, None] + torch.arange(LOOKBACK + HORIZON)].transpose(1, 2)
    return both[..., :LOOKBACK], both[..., LOOKBACK:]


def make_model(rows):
    model = TokenForecaster(
        ForecastShape(series=[7], ordered=[False], lookback=LOOKBACK, horizon=HORIZON),
        EncoderOptions(width=16, hidden=64, layers=2, heads=4, dropout=0.3, rope_modes=[1]),
        length=16, stride=8, head_dropout=0.3, cycle=CYCLE, cycle_gain=CYCLE_GAIN)  # fmt: skip
    training = rows[slice(*TRAINING)]
    profile = training.view(-1, CYCLE, 7).mean(0) - training.mean(0)
    with torch.no_grad():
        model.window.cycle.copy_((profile / CYCLE_GAIN).t().reshape(-1))
    return model


@torch.no_grad()
def validation_errors(model, rows):
    """MSE and MAE over all windows of the validation split."""
    model.eval()
    squares = absolutes = count = 0.0
    for firsts in first_rows(VALIDATION).split(256):
        past, future = windows(rows, firsts)
        difference = (model(past, None, firsts) - future).double()
        squares += difference.square().sum().item()
        absolutes += difference.abs().sum().item()
        count += difference.numel()
    model.train()
    return squares / count, absolutes / count


def train_by_hand(rows, seed, eager, start):
    """The model with the weights of the best validation MAE; `start`: its initial weights, or None for torch's."""
    torch.manual_seed(seed)
    model = make_model(rows)
    if start is not None:
        model.load_state_dict(start)
    compiled = model if eager else torch.compile(model)
    decayed = [p for p in model.parameters() if p.dim() >= 2]
    others = [p for p in model.parameters() if p.dim() < 2]
    optimizer = torch.optim.AdamW([{"params": decayed, "weight_decay": 0.01}, {"params": others, "weight_decay": 0.0}], lr=RATE)
    firsts = first_rows(TRAINING)
    steps = EPOCHS * math.ceil(len(firsts) / BATCH)
    schedule = torch.optim.lr_scheduler.CosineAnnealingLR(optimizer, steps)
    best, weights, waited = math.inf, None, 0
    for _ in range(EPOCHS):
        batches = firsts[torch.randperm(len(firsts))].split(BATCH)
        evaluated_at = {(len(batches) + 1) // 2, len(batches)}
        for number, batch in enumerate(batches, 1):
            past, future = windows(rows, batch)
            loss = (compiled(past, None, batch) - future).abs().mean()
            optimizer.zero_grad()
            loss.backward()
            torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
            optimizer.step()
            schedule.step()
            if number in evaluated_at:
                error = validation_errors(model, rows)[1]
                waited += 1
                if error < best:
                    best, weights, waited = error, {name: value.clone() for name, value in model.state_dict().items()}, 0
        if waited >= PATIENCE:
            break
    model.load_state_dict(weights)
    return model


def train_by_program(out, data, seed, **settings):
    """The folder of a run of the recipe, and its best validation errors."""
    settings = {"data.path": str(data), "train.seed": seed, "train.test": False, "output.report": False, **settings}
    tasks.train("forecasting", settings, config=RECIPE, out=out, overwrite=True, verbosity=-1)
    best = json.loads((out / "metrics.json").read_text())["best"]
    return best["val_mse"], best["val_mae"]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("data", type=pathlib.Path)
    parser.add_argument("--out", type=pathlib.Path, default=pathlib.Path("runs/hot-by-hand"))
    parser.add_argument("--seeds", type=int, nargs="+", default=[1, 2, 3])
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--eager", action="store_true", help="without torch.compile")
    parser.add_argument("--own-start", action="store_true", help="initial weights of the loop from torch's generator")
    options = parser.parse_args()
    torch.set_num_threads(options.threads)
    options.out.mkdir(parents=True, exist_ok=True)
    rows = scaled_rows(options.data)
    print("| validation MSE, MAE | seed | evaluated here | evaluated by the program |\n|---|---|---|---|")
    figures = {"loop": [], "program": []}
    for seed in options.seeds:
        file = options.out / f"loop-{seed}.safetensors"
        start = None
        if not options.own_start:
            untrained = options.out / f"untrained-{seed}"
            train_by_program(untrained, options.data, seed, **{"train.epochs": 0})
            start = modewise.load(untrained).module.state_dict()
        model = train_by_hand(rows, seed, options.eager, start)
        safetensors.torch.save_file(model.state_dict(), file)
        opened = train_by_program(options.out / f"loop-{seed}", options.data, seed, init=str(file), **{"train.epochs": 0})
        run = options.out / f"program-{seed}"
        trained = train_by_program(run, options.data, seed)
        pairs = {"loop": (validation_errors(model, rows), opened), "program": (validation_errors(modewise.load(run).module, rows), trained)}
        for name, (here, there) in pairs.items():
            print(f"| {name} | {seed} | {here[0]:.4f}, {here[1]:.4f} | {there[0]:.4f}, {there[1]:.4f} |", flush=True)
            figures[name].append(here)
    for name, errors in figures.items():
        mse, mae = (statistics.mean(values) for values in zip(*errors, strict=True))
        print(f"| {name} | mean | {mse:.4f}, {mae:.4f} | |")


if __name__ == "__main__":
    main()
