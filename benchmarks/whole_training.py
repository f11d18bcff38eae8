"""Benchmark of whole trainings of three recipes of experiments/: the program against the same training in plain PyTorch.

    weather    experiments/forecasting/weather.toml: two epochs of hot, eight evaluations of all validation windows
    adrenal    experiments/volume_classification/adrenal.toml: 40 epochs of hot, rotated and shifted volumes, averaged weights, bfloat16
    language   experiments/language_modeling/forms.toml, full attention: 800 steps of a decoder; transformers' Llama is the peer;
               the program's summary attention is timed too

From reading the files to the last evaluation: seconds of the process (without PyTorch's imports, which a session has once), and the
metric of the validation split, by which both select. Test splits are not read. One run each, alternating. --against OTHER/build times
another build of modewise too. As Markdown.

    python benchmarks/whole_training.py DATA [--only weather adrenal language] [--build build] [--against build] [--threads N] [--seed 0]
"""

import argparse
import copy
import json
import math
import os
import pathlib
import statistics
import subprocess
import tempfile
import time

import decoders
import machine
import plain_hot
import torch
from torch import nn
from torch.nn import functional as F

RECIPES = pathlib.Path(__file__).resolve().parents[1] / "experiments"


def make_optimizer(model, rate, decay, steps, warmup=0, minimum=0.0, betas=(0.9, 0.999)):
    """AdamW without weight decay of biases and norms; linear warm-up, then cosine decay to the fraction `minimum` of the rate."""
    parameters = list(model.parameters())
    groups = [{"params": [p for p in parameters if p.dim() >= 2], "weight_decay": decay},
              {"params": [p for p in parameters if p.dim() < 2], "weight_decay": 0.0}]  # fmt: skip
    optimizer = torch.optim.AdamW(groups, rate, betas, fused=True)

    def share(step):
        if step < warmup:
            return (step + 1) / warmup
        return minimum + (1 - minimum) * 0.5 * (1 + math.cos(math.pi * (step - warmup) / (steps - warmup)))

    return optimizer, torch.optim.lr_scheduler.LambdaLR(optimizer, share)


def take_step(model, loss, optimizer, schedule):
    optimizer.zero_grad()
    loss.backward()
    nn.utils.clip_grad_norm_(model.parameters(), 1.0)
    optimizer.step()
    schedule.step()


class PlainForecaster(nn.Module):
    """past [B, N, 96] -> [B, N, 96]: patches of 16 with stride 8 of the normalised window; layers; a linear head."""

    def __init__(self, variables):
        super().__init__()
        self.embed = nn.Linear(16, 64)
        self.identity = nn.Parameter(0.02 * torch.randn(variables, 1, 64))
        self.stack = plain_hot.Stack(2, 64, 128, 2, 4, (1,))
        self.norm = nn.LayerNorm(64)
        self.head = nn.Linear(11 * 64, 96)

    def forward(self, past):
        mean = past.mean(-1, keepdim=True)
        scale = past.std(-1, keepdim=True, correction=0) + 1e-5
        tokens = self.embed(((past - mean) / scale).unfold(-1, 16, 8)) + self.identity
        return self.head(self.norm(self.stack(tokens)).flatten(-2)) * scale + mean


def plain_weather(data):
    import pandas

    values = torch.from_numpy(pandas.read_csv(data / "forecasting" / "weather.csv").iloc[:, 1:].to_numpy("float64"))
    training, test = int(0.7 * len(values)), int(0.2 * len(values))
    validation_end = len(values) - test
    rows = ((values - values[:training].mean(0)) / values[:training].std(0, correction=0)).float()
    model = PlainForecaster(rows.shape[1])
    firsts = torch.arange(training - 192 + 1)
    validation = torch.arange(training - 96, validation_end - 192 + 1)

    def windows(chosen):
        both = rows[chosen[:, None] + torch.arange(192)].transpose(1, 2)
        return both[..., :96], both[..., 96:]

    @torch.no_grad()
    def validation_error():
        model.eval()
        total = sum((model(past) - future).abs().sum().item() for past, future in map(windows, validation.split(64)))
        model.train()
        return total / (len(validation) * rows.shape[1] * 96)

    batches_each = math.ceil(len(firsts) / 64)
    optimizer, schedule = make_optimizer(model, 1e-3, 0.01, 2 * batches_each)
    evaluations = {math.ceil(batches_each * part / 4) for part in (1, 2, 3, 4)}
    best = math.inf
    for _ in range(2):
        for number, batch in enumerate(firsts[torch.randperm(len(firsts))].split(64), 1):
            past, future = windows(batch)
            take_step(model, (model(past) - future).abs().mean(), optimizer, schedule)
            if number in evaluations:
                best = min(best, validation_error())
    return best


class PlainClassifier(nn.Module):
    """volumes [B, 1, 28, 28, 28] -> [B, 2]: two convolutions, layers on 7 × 7 × 7 tokens, learned attention pooling per head."""

    def __init__(self):
        super().__init__()
        self.stem = nn.Sequential(nn.Conv3d(1, 24, 3, 2, 1), nn.BatchNorm3d(24), nn.ReLU(), nn.Conv3d(24, 48, 3, 2, 1), nn.BatchNorm3d(48), nn.ReLU())
        self.stack = plain_hot.Stack(2, 48, 96, 3, 4, (0, 1, 2))
        self.norm = nn.LayerNorm(48)
        self.score = nn.Linear(48, 4, bias=False)
        self.head = nn.Sequential(nn.Dropout(0.1), nn.Linear(48, 2))

    def forward(self, x):
        tokens = self.norm(self.stack(self.stem(x).movedim(1, -1).contiguous()).flatten(1, 3))
        weights = self.score(tokens).softmax(1)
        return self.head(torch.einsum("bnh,bnhd->bhd", weights, tokens.unflatten(-1, (4, 12))).flatten(1)).float()


def rotated(volumes, degrees, shift):
    """Random rotation by up to `degrees` degrees about each axis and shift by up to `shift` voxels, with nearest interpolation."""
    angles = math.radians(degrees) * (2 * torch.rand(len(volumes), 3) - 1)
    matrix = torch.eye(3).expand(len(volumes), 3, 3)
    for axis in range(3):
        a, b = (axis + 1) % 3, (axis + 2) % 3
        turn = torch.zeros(len(volumes), 3, 3)
        turn[:, axis, axis] = 1
        turn[:, a, a] = turn[:, b, b] = angles[:, axis].cos()
        turn[:, b, a] = angles[:, axis].sin()
        turn[:, a, b] = -turn[:, b, a]
        matrix = matrix @ turn
    offset = shift * (2 * torch.rand(len(volumes), 3, 1) - 1) * 2 / (volumes.shape[-1] - 1)
    grid = F.affine_grid(torch.cat([matrix, offset], 2), volumes.shape, align_corners=True)
    return F.grid_sample(volumes, grid, mode="nearest", align_corners=True)


def plain_adrenal(data):
    import numpy as np
    from sklearn.metrics import roc_auc_score

    file = np.load(data / "medmnist" / "adrenalmnist3d.npz")
    volumes, validation = (torch.from_numpy(file[f"{part}_images"]).float().div(255).unsqueeze(1) for part in ("train", "val"))
    labels = torch.from_numpy(file["train_labels"]).flatten().long()
    model = PlainClassifier()
    average = copy.deepcopy(model).eval()
    optimizer, schedule = make_optimizer(model, 2e-3, 0.1, 40 * math.ceil(len(volumes) / 32), warmup=100)
    best = 0.0
    for _ in range(40):
        for batch in torch.randperm(len(volumes)).split(32):
            x = rotated(volumes[batch], 20, 2)
            with torch.autocast("cpu", torch.bfloat16):
                scores = model(x)
            take_step(model, F.cross_entropy(scores, labels[batch]), optimizer, schedule)
            with torch.no_grad():
                torch._foreach_lerp_(list(average.parameters()), list(model.parameters()), 0.02)
                for mine, other in zip(average.buffers(), model.buffers()):
                    mine.copy_(other)
        with torch.no_grad(), torch.autocast("cpu", torch.bfloat16):
            scores = average(validation).softmax(-1)[:, 1]
        best = max(best, roc_auc_score(file["val_labels"].flatten(), scores.numpy()))
    return 100 * best


def plain_language(data):
    text = torch.tensor(list((data / "language" / "tinyshakespeare.txt").read_bytes()))
    training, validation = text[: int(0.9 * len(text))], text[int(0.9 * len(text)) :][:32769]
    model = decoders.llama({"width": 128, "layers": 4, "heads": 4, "hidden": 352, "vocabulary": 256}, use_cache=False)
    optimizer, schedule = make_optimizer(model, 2e-3, 0.1, 800, warmup=100, minimum=0.1, betas=(0.9, 0.95))

    def loss_of(tokens):
        logits = model(tokens[:, :-1]).logits
        return F.cross_entropy(logits.flatten(0, 1), tokens[:, 1:].flatten())

    for _ in range(800):
        firsts = torch.randint(len(training) - 512, (8,))
        take_step(model, loss_of(training[firsts[:, None] + torch.arange(513)]), optimizer, schedule)
    model.eval()
    with torch.no_grad():
        return statistics.mean(loss_of(validation[firsts[:, None] + torch.arange(513)]).item() for firsts in torch.arange(0, 32768, 512).split(8))


LANGUAGE = ["train.max_steps=800", "train.batch_size=8", "model.dropout=0"]
FULL = [*LANGUAGE, "model.attention.type=full", "model.attention.fold=[]"]
# task, recipe, data, settings; the metric in metrics.json, its factor and name; the peer
TRAININGS = {
    "weather": ("forecast", "forecasting/weather.toml", "forecasting/weather.csv", [], ("best", "val_mae"), 1, "MAE", plain_weather),
    "adrenal": ("classify-volumes", "volume_classification/adrenal.toml", "medmnist/adrenalmnist3d.npz", [], ("best", "val_auc"), 100, "AUC in percent", plain_adrenal),
    "language": ("language", "language_modeling/shakespeare.toml", "language/tinyshakespeare.txt", FULL, ("validation", "loss"), 1, "nats per byte", plain_language),
    "language, summary": ("language", "language_modeling/shakespeare.toml", "language/tinyshakespeare.txt", LANGUAGE, ("validation", "loss"), 1, "nats per byte", None),
}  # fmt: skip


def by_program(build, name, options):
    """Seconds and metric of the program."""
    task, recipe, data, settings, (part, figure), factor, _, _ = TRAININGS[name]
    with tempfile.TemporaryDirectory() as folder:
        command = [build / "bin" / "modewise", "train", task, "--config", RECIPES / recipe, "--data", options.data / data, "--out", f"{folder}/run",
                   "--threads", str(options.threads), "--seed", str(options.seed), "--no-test", "--set", "output.report=false"]  # fmt: skip
        for setting in settings:
            command += ["--set", setting]
        begin = time.perf_counter()
        subprocess.run(command, check=True, capture_output=True)
        seconds = time.perf_counter() - begin
        return seconds, factor * json.loads(pathlib.Path(f"{folder}/run/metrics.json").read_text())[part][figure]


def by_pytorch(name, options):
    torch.manual_seed(options.seed)
    begin = time.perf_counter()
    figure = TRAININGS[name][-1](options.data)
    return time.perf_counter() - begin, figure


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("data", type=pathlib.Path, help="folder of the data sets")
    parser.add_argument("--only", nargs="+", choices=TRAININGS, default=list(TRAININGS))
    parser.add_argument("--build", type=pathlib.Path, default=pathlib.Path(__file__).resolve().parents[1] / "build")
    parser.add_argument("--against", type=pathlib.Path, help="another build of modewise")
    parser.add_argument("--threads", type=int, default=os.cpu_count())
    parser.add_argument("--seed", type=int, default=0)
    options = parser.parse_args()
    torch.set_num_threads(options.threads)
    print(f"{machine.line(machine.build_info(options.build))}; torch {torch.__version__}, {options.threads} threads, seed {options.seed}\n")
    print("| training | validation metric | PyTorch s: metric | modewise s: metric | speed over PyTorch | other build s: metric | speed over other build |")
    print("|---|---|---|---|---|---|---|")
    for name in options.only:
        peer = by_pytorch(name, options) if TRAININGS[name][-1] else None
        ours = by_program(options.build, name, options)
        other = by_program(options.against, name, options) if options.against else None
        cells = [f"{found[0]:.1f}: {found[1]:.4g}" if found else "" for found in (peer, ours, other)]
        ratios = [f"{found[0] / ours[0]:.2f}×" if found else "" for found in (peer, other)]
        print(f"| {name} | {TRAININGS[name][-2]} | {cells[0]} | {cells[1]} | {ratios[0]} | {cells[2]} | {ratios[1]} |", flush=True)


if __name__ == "__main__":
    main()
