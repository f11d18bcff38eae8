#!/usr/bin/env python3
"""Says whether two builds of the program give the same results, byte for byte.

    tests/same_results.py record FOLDER --program build/bin/modewise
    tests/same_results.py compare BEFORE AFTER

`record` runs COMMANDS, in this order, on small inputs that it makes itself and, where they are, on files of $MODEWISE_DATA.
FOLDER gets a folder for each command: its exit status, stdout, stderr and every file that it wrote. `compare` masks what
VOLATILE names, and nothing else, prints a line for each difference and ends with 1 if there is one. Both recordings must be
made on one machine with one build of libtorch: between CPUs results differ by rounding. A recording takes two to three
minutes of one core; the commands have one thread unless OMP_NUM_THREADS says otherwise.

Run it with the tests' .venv/bin/python.
"""

import argparse
import collections
import gzip
import io
import itertools
import json
import os
import pathlib
import re
import shlex
import shutil
import subprocess
import sys
import time
import zipfile

import numpy as np
import rasterio
import sentencepiece

ROOT = pathlib.Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT / "tests" / "python"))
from test_classify import nifti, volumes  # noqa: E402
from test_cli import write_csv  # noqa: E402
from test_generate import small_folder  # noqa: E402
from test_scenes import write_scene  # noqa: E402
from test_series import write_ts  # noqa: E402

BINARY = {".bin", ".gz", ".model", ".npy", ".npz", ".png", ".safetensors", ".tif"}

# What {name} stands for in COMMANDS.
SETTINGS = {
    "tiny": "model.width=16 model.hidden=16 model.heads=2 model.blocks=1",
    "windows": "forecast.lookback=24 forecast.horizon=8 forecast.train_stride=4 train.epochs=2 train.batch_size=16",
    "patches": "model.patch.length=8 model.patch.stride=4",
    "demo": "data.simulate=lorenz96 forecast.lookback=24 forecast.horizon=12 train.max_steps=20",
    "volumes": "train.epochs=2 train.batch_size=16 train.schedule.warmup_steps=2 train.optimizer.learning_rate=0.005",
    "scenes": "data.window=32 train.epochs=2 train.batch_size=4",
    "text": "model.width=32 model.layers=2 model.heads=2 model.context=64 train.batch_size=4 train.max_steps=6"
            " train.schedule.warmup_steps=2 language.length_windows=2 language.length_stride=16",
    "fold": "model.attention.fold=0,4,8 model.attention.slots=2",
    "recall": "data.recall.length=64 data.recall.pairs=2,4 data.recall.samples=64 data.recall.held_back=16",
    "cases": "train.epochs=3 train.batch_size=8 train.optimizer.learning_rate=0.005",
    "steps": "model.patch.length=4 model.patch.stride=2 data.length=24",
    "plain": "output.report=false",
    "sweep": "output.report=false output.predictions=0",
}

# A line a command, \ before its second line. A word such as model.width=16 gets --set before it. `for a b+c: … *` is a line
# for each name in place of *, with + for a space. `< FILE` is stdin; ! begins what must fail, ? what reads $MODEWISE_DATA.
COMMANDS = r"""
--help
-h
for --version info: *
for --version info: * --json
for train train+forecast train+classify train+segment train+language train+series evaluate predict backtest compare report data \
  data+show data+passkeys config config+show info explain tokenize generate convert sweep decompose cost demo: * --help
for train+forecast predict sweep: * -h
for forecast classify segment language series: config show *
for forecast classify segment language series: config show * --json
for forecast classify segment language series: config show * --help-text
for forecast classify segment language series: config show * --help-text --json
for transformer patchtst itransformer dlinear rlinear: config show --model *
for forecast classify segment: config show * model.preset=release
for forecast classify segment: config show * model.preset=paper
config show --config given.toml train.epochs=3 --seed 9 --json
for series.csv stations grid.npy numbers.txt boxes.npz scans scene.tif ramps: data show *
for series.csv stations grid.npy boxes.npz scans ramps+data.protocol=paper scene.tif+data.masks=scene_mask.tif: data show * --json
data show series.csv data.split=dates data.split_dates=2020-01-12,2020-01-15
for segment+--data+tiles+data.masks=masks language+story.txt language+story.txt+--json \
  forecast+data.simulate=lorenz96+data.simulate_rows=500: data show --task *
info --model hot --series 3 {windows} {tiny} {patches}
info --model patchtst --series 3 4 --json
info --released

train forecast --data series.csv --out f/hot --track stable_rank {windows} {tiny} {patches}
train forecast --data series.csv --out f/hot2 --seed 2 --no-test --json {windows} {tiny} {patches}
train forecast --out f/unread --model dlinear --no-test data.simulate=seasonal data.simulate_rows=1200 train.max_steps=8
for transformer spatial temporal: train forecast --data series.csv --out f/* --model * {windows} {tiny} {patches} {plain}
for patchtst itransformer: train forecast --data series.csv --out f/* --model * {windows} {tiny}
for dlinear nlinear rlinear seasonal: train forecast --data series.csv --out f/* --model * -vv {windows} {plain} train.epochs=4
for model.attention.combine=sum model.attention.combine=mean model.attention.kernel=linear model.attention.kernel=none \
  model.attention.share_modes=true model.attention.attend_modes=1 model.position.code=learned model.position.code=sincos \
  model.window.cycle=24 model.window.affine=true model.head.time=attention model.head.skip=individual model.precision=bf16 \
  model.feed_forward=gelu model.preset=release forecast.loss=quantile forecast.loss=huber forecast.horizons=4,8 \
  calibration.method=none train.ema_decay=0.9 train.optimizer.name=adam train.schedule.name=one_cycle train.schedule.name=step \
  train.schedule.name=type1 train.accumulate=2 train.evaluations_per_epoch=2 data.knock_out=0.1: \
  train forecast --data series.csv --out f/set/* --json {windows} {tiny} {patches} {plain} *
for logistic seasonal: train forecast --out f/simulated/* data.simulate=* data.simulate_rows=400 {windows} {tiny} {patches} {plain}
for stations grid.npy numbers.txt: train forecast --data * --out f/* {windows} {tiny} {patches}
for 1 2: train forecast --data series.csv --model repeat --seed * -q {windows}
train forecast --data series.csv --out f/cut {windows} {tiny} {patches} {plain} train.max_steps=3
train forecast --resume f/cut --override train.max_steps=0
train forecast --data series.csv --out f/cut --exist-ok --model repeat {windows} {plain}

train classify --data boxes.npz --out c/hot --track stable_rank {volumes} {tiny}
train classify --data boxes.npz --out c/hot2 --seed 1 --no-test --json {volumes} {tiny}
for transformer timesformer mvit: train classify --data boxes.npz --out c/* --model * --json {volumes} {tiny} {plain}
train classify --data boxes.npz --out c/resnet18 --model resnet18 {volumes} model.resnet.width=4
train classify --data boxes.npz --out c/varied {volumes} {tiny} {plain} augment.flips=0 augment.rotate=10 augment.noise=0.1 \
  augment.erase=0.2 augment.contrast=0.1 augment.scale=0.1 classify.mixup=0.3 classify.mirrors=1 classify.class_weights=balanced
for model.attention.combine=sum model.attention.kernel=linear model.patch.embedding=relu_norm model.position.code=sincos: \
  train classify --data boxes.npz --out c/set/* {volumes} {tiny} {plain} *
train classify --data scans --out c/scans {volumes} {tiny} model.patch.size=2

train segment --data scene.tif --masks scene_mask.tif --out g/hot --track stable_rank {scenes} {tiny} data.classes=nlcd
train segment --data scene.tif --masks scene_mask.tif --out g/transformer --model transformer --no-test --json {scenes} {tiny}
train segment --data scene.tif --masks scene_mask.tif --out g/unet --model unet {scenes} model.unet.width=4 train.epochs=1
train segment --data tiles --masks masks --out g/tiles {scenes} {tiny} {plain} data.window=16 segment.class_weights=balanced
for model.time=mode model.time=stack: train segment --data dates.npy --masks dates_mask.npy --out g/set/* {scenes} {tiny} {plain} * \
  data.window=16 data.augment.crop=0.6 model.head.skip=none model.attention.combine=sum

data passkeys keys.jsonl --count 40 --length 300
tokenize story.txt --count
for pieces.model vocabulary.json: tokenize held.txt --pieces --tokenizer *
tokenize --tokenizer vocabulary.json --json < held.txt
tokenize --decode --tokenizer vocabulary.json < numbers.ids
tokenize story.txt --out story.safetensors
tokenize story.txt --tokenizer pieces.model --out pieces.safetensors --json
train language --data story.txt --out l/causal --json {text} {fold} model.dropout=0.1 language.lengths=64,128
train language --data story.txt --out l/full --attention full --no-test {text} language.lengths=64,128 \
  language.variants=plain,linear,ntk,yarn,lambda
for window lambda: train language --data story.txt --out l/* --attention * --window 16 {text} {plain}
for axial random topk: train language --data story.txt --out l/* --attention * {text} {plain}
for pieces.model vocabulary.json: train language --data story.txt --out l/* --tokenizer * {text} {fold} {plain} model.precision=bf16 \
  model.recompute=true model.kv_heads=1
for story.safetensors keys.jsonl: train language --data * --out l/* {text} {fold} {plain}
# Both a report and language.lengths of recall end in an internal error: a run for each.
train language --data recall --out l/recall {text} {recall} {fold}
train language --data recall --init l/recall --out l/longer --json {recall} {plain} data.recall.length=128 train.max_steps=2 \
  language.lengths=64,128
train language --init model --tokenizer bytes --attention window --window 16 --data story.txt --out l/continued {plain} \
  train.max_steps=2 train.batch_size=4
train language --data story.txt --out l/cut {text} {fold} {plain} train.max_steps=3
train language --resume l/cut --override train.max_steps=6

train series --train ramps/R_TRAIN.ts --test ramps/R_TEST.ts --out s/full --track stable_rank {cases} {tiny} {steps}
train series --data ramps --out s/full2 --seed 2 --no-test --json {cases} {tiny} {steps}
for axial causal: train series --data ramps --out s/* --attention * {cases} {tiny} {steps} {plain}
for nearest dlinear: train series --data ramps --out s/* --model * {cases}
for tcn resnet: train series --data ramps --out s/* --model * {cases} {plain} model.convolution.width=8
train series --data motifs --out s/motifs --attention pooled {cases} {tiny} data.motifs.steps=64 data.motifs.cases=40
for tslib paper: train series --data ramps --out s/* --protocol * {cases} {tiny} {steps} {plain} vary.noise=0.1 vary.shift=2 \
  vary.erase=0.2 series.mixup=0.2 model.patch.channels=independent

for forecast+--resume+f/hot classify+--resume+c/hot segment+--resume+g/hot language+--resume+l/causal series+--resume+s/full: train *
for f/hot c/hot g/hot l/causal s/full: config show --run *
for f/hot2 f/unread f/cut f/grid.npy f/set/forecast.loss=quantile f/set/forecast.horizons=4,8 c/hot2 g/transformer g/unet \
  g/set/model.time=mode l/full l/recall s/full2 s/nearest: evaluate *
for f/hot c/hot g/hot l/causal s/full: evaluate * --json
for f/hot f/stations c/scans g/hot l/causal s/full: evaluate * --detail
for f/hot c/hot g/hot s/full: evaluate * --split validation --json
for train all: evaluate f/hot --split * --json
for f/hot+--data+newer.csv scores.csv+--data+boxes.npz g/hot+--data+scene.tif+--masks+scene_mask.tif s/full+--data+ramps/R_TEST.ts: \
  evaluate *
for f/hot f/stations f/set/forecast.loss=quantile c/hot c/scans s/full: predict *
for f/hot c/hot s/full: predict * --json
predict f/hot --data newer.csv --steps 3 --out f/newer.csv
predict f/grid.npy --out f/grid.npz
for csv npz: predict c/hot --data boxes.npz --out c/classes.*
predict g/hot --out g/map.tif
predict g/hot --data scene.tif --out g/again.tif --json
predict g/tiles --data tiles --out g/maps
for csv npz: predict s/full --data new.ts --out s/new.*
backtest f/hot
backtest f/hot --stride 24 --json
for f/hot c/resnet18 g/unet l/recall s/full: report *
for f/hot+f/dlinear+f/cut+--out+f c/hot+c/resnet18+--out+c g/hot+g/unet+--out+g l/causal+l/full+--out+l s/full+s/dlinear+--out+s: \
  report */both.html
for text markdown csv: compare f/hot f/hot2 f/dlinear f/cut --format *
for c/hot+c/hot2+c/resnet18 g/hot+g/unet l/causal+l/full s/full+s/full2+s/dlinear: compare *
for f/hot+f/hot2 c/hot+c/hot2: compare * --json
for f/hot f/transformer f/dlinear f/grid.npy c/hot c/resnet18 c/transformer g/hot g/unet g/set/model.time=mode s/full s/axial s/dlinear: \
  explain * --samples 3
for f/hot c/hot g/hot s/full: explain * --json --samples 2 --singles 1 --places 2 --split validation --out explained/*
evaluate l/causal --data held.txt --tokens 300 --lengths 32,64 --convention sliding,halves,rolling,stream,spread --stride 16 \
  --windows 2 --report l/evaluated.html
for linear ntk yarn: evaluate l/full --data held.txt --tokens 300 --lengths 128 --convention rolling --rope * --json
evaluate model --tokenizer bytes --data held.txt --tokens 200 --lengths 64 --convention sliding --stride 16
evaluate model --tokenizer bytes --tasks choose.toml say.toml --limit 3
evaluate l/recall --lengths 64,128 --json
evaluate l/keys.jsonl --passkey --lengths 300,600 --trials 1
generate l/causal --prompt "a rope" --tokens 20 --temperature 0
generate l/causal --prompt-file held.txt --tokens 20 --seed 7 --top-k 20 --top-p 0.9 --temperature 0.8 --json
generate model --tokenizer bytes --tokens 20 --past-marks --echo --prompt-file - < given.toml
generate model --tokenizer bytes --prompt plain --tokens 20 --attention causal --fold 4,4 --precision bf16 -q
convert model l/folder --tokenizer bytes --shard-gigabytes 0.00003
convert model l/half --tokenizer bytes --dtype bfloat16 --json
for 0 1: convert l/folder l/v*.bin --llama2c-version *
convert l/v1.bin l/back --tokenizer bytes
convert l/causal l/exported
for l/v0.bin l/back: generate * --tokenizer bytes --prompt plain --tokens 10 --temperature 0
? generate real/language/stories260K.bin --prompt "One day" --tokens 40 --temperature 0
? generate real/language/stories260K.bin --attention causal --fold 8,8,8 --tokens 40 --seed 3 --json
? convert real/language/stories260K.bin l/stories
? data show real/uea/BasicMotions
? data show real/forecasting/ETTh1.csv

decompose matrix.npy --modes 3,4,2 --rank 3
decompose matrix.npy --modes 6,4 --space 3x8 --out d/matrix --json --seed 3
decompose matrices.npz --member first --index 1 --modes 4,6 --starts 2 --iterations 20
decompose l/causal --modes 4,8 --samples 3
decompose l/full --modes 8,8 --layer 1 --head 2 --sample 1 --rank 2 --out d/head
decompose s/axial --samples 4 --out d/cases
cost
cost --layers --size 8,8,8 --attention product,full,mvit
cost --sides 8,16,28 --width 16 --hidden 32 --heads 2 --out d/cost --json
cost --sides 8 --attention linear,full --blocks 1 --width 16 --hidden 32 --heads 2 --measure --repeats 1 --json
sweep grid.toml --dry-run
sweep grid.toml --dry-run --json --seeds 3
sweep grid.toml --out w --jobs 1 --threads 1
sweep grid.toml --out w --jobs 1 --threads 1 --seeds 1,2 --json
for text markdown csv: sweep grid.toml --out w --table --format *
sweep grid.toml --out w --table --metric best.val_mae --json
evaluate w/runs/1_s1
# The demo has no option that shortens it: it finds its longer runs made.
train forecast --out demo/hot {demo} {tiny} {patches}
train forecast --out demo/dlinear --model dlinear {demo}
demo --out demo
demo --out demo --json

!
for evalute train+nothing train+forecast train+forecast+--dta+series.csv config+show+nothing data+show+none.csv report+none \
  evaluate+none evaluate+tiles explain+l/causal generate+none generate+model backtest+c/hot sweep+none.toml info+--series+3,4: ! *
for --data+none.csv --data+ragged.csv --config+wrong.toml+--data+series.csv: ! train forecast *
for train.epoch=3 forecast.horizon=0 forecast.horizon=5000 model.name=hott model.atention.combine=sum model.heads=3 \
  data.path=1,2 train.epochs=many: ! train forecast --data series.csv --out e/set {tiny} *
! train forecast --data series.csv --out e/diverged --model dlinear {windows} train.optimizer.learning_rate=1e30 train.clip_norm=0
! train forecast --data series.csv --out f/hot {windows}
! train forecast --resume f/hot train.batch_size=8
! train classify --resume f/hot
! train classify --data scans --model resnet18
! train segment --data scene.tif
! train segment --data scene.tif --masks scene_mask.tif data.window=30
! train language --data story.txt --attention pooled
! train language --data given.toml --out e/short
! train series --train ramps/R_TRAIN.ts --test none.ts
! --color always evaluate none
! evaluate f/hot --split some
! evaluate f/hot --data grid.npy
! evaluate l/recall --passkey
for c/hot+--steps+3 l/causal: ! predict *
for forecast.xlsx f/newer.csv: ! predict f/hot --out *
! compare f/hot c/hot
! generate model --tokenizer bytes --prompt a --top-p 2
for model+l/folder l/causal+e/causal.bin: ! convert *
! tokenize story.txt --tokenizer none.json
for matrix none: ! decompose *.npy --modes 5,2
! cost --attention kroneker
for --out+w+train.epochs=3 --metric+test.scaled.mse: ! sweep grid.toml *
"""

CONVENTIONS = "sliding|halves|rolling|stream|spread"
# What differs between two recordings of one program, besides the absolute names of FOLDER and PROGRAM: in which files, what,
# what takes its place, and why.
VOLATILE = [
    (r"/stdout$|/manifest\.json$", r'("commit": "|\bmodewise [\d.]+ \()[^")]+', r"\1~", "the commit that was built"),
    (r"/manifest\.json$|/report\.html$", r'("started": "|<dt>started</dt><dd>)[\dT:+-]+', r"\1~", "when a run started"),
    (r"/log\.txt$", r"(?m)^\d{4}-\d\d-\d\dT\S+ ", "", "when a line was logged"),
    (r"/stderr$|/log\.txt$|\.log$", r"(?m)^.*\(from \d+ steps measured; evaluations come on top\)\n", "",
     "how long training may take, said after some steps or seconds"),
    (r"/stderr$|/log\.txt$|\.log$", r"(?m)^.* \d+/\d+ .*  [\d.]+ \w+/s  [\d:?]+(?: s)? left\n", "", "progress, a line every ten seconds"),
    (r"/stdout$|\.json$", r'("(?:\w*seconds|tokens_per_second)": ?)\d+[.e][\d.e+-]+', r"\1~", "times and speeds in JSON"),
    (r"-generate[^/]*/stderr$", r"\d+\.\d\d s\b|\(\d+ a second\)", "~", "how long a text took"),
    (r"-tokenize[^/]*/stdout$", r"[\d.]+ MB a second", "~", "how fast tokens came"),
    (r"-cost/stderr$", r"[\d.e+-]+ ms (training|inference)", r"~ \1", "how long a measured model took"),
    (r"-sweep/stderr$", r"(?m)^(finished \S+ in ).*", r"\1~", "how long a run of a sweep took"),
    (r"/w/report\.html$", r'(<td>finished</td><td class="n">)\d+', r"\1~", "the same in its page"),
    (r"-evaluate[^/]*/stdout$", r"(?m)^((?:convention|─|" + CONVENTIONS + r").*?) +(?:tokens/s  seconds|─+  ─+|\d+ +\d+\.\d)$", r"\1",
     "how long an evaluation took: two columns, as wide as their figures"),
    (r"\.html$", f'(?m)^(<tr><td>(?:{CONVENTIONS})<.*)(?:<td class="n">[\\d.]+</td>){{2}}</tr>$', r"\1", "the same in a page"),
    (r"\.html$", r'(?m)^(<tr><td>(?:plain|linear|ntk|yarn|lambda)<.*)<td class="n">\d+</td></tr>$', r"\1", "the same by length"),
    (r"\.html$", r"(?s)(<desc>Tokens a second</desc>).*?</svg>", r"\1", "the same as a figure"),
    (r"-evaluate/stdout$", r"(?m)^((?: +\d+){4}) +\d+\.\d\d$", r"\1", "how long a passkey took"),
]


def commands():
    """(arguments, file for stdin, whether it must fail, whether it needs real data) of each line of COMMANDS."""
    for line in re.sub(r"\\\n *", "", COMMANDS).splitlines():
        if not line or line.startswith("#"):
            continue
        names, template = line[4:].split(": ", 1) if line.startswith("for ") else ("", line)
        for name in names.split() or [""]:
            text, _, stdin = template.replace("*", name.replace("+", " ")).format_map(SETTINGS).partition(" < ")
            mark = text[0] if text[0] in "!?" else ""
            words = shlex.split(text.removeprefix(mark))
            arguments = [part for word in words for part in (["--set", word] if re.match(r"[a-z]+\.[a-z_.]+=", word) else [word])]
            yield arguments, stdin or os.devnull, mark == "!", mark == "?"


def write_lines(path, *lines):
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("".join(f"{line}\n" for line in lines))


def write_npz(path, **arrays):
    """numpy.savez without the time of day, which would be in the hash of the data."""
    with zipfile.ZipFile(path, "w") as archive:
        for name, array in arrays.items():
            np.save(member := io.BytesIO(), array)
            archive.writestr(zipfile.ZipInfo(f"{name}.npy"), member.getvalue())


def write_inputs(folder):
    """Every file that COMMANDS names: the same bytes at each call."""
    for name in ("stations", "scans", "tiles", "masks", "ramps"):
        (folder / name).mkdir(parents=True)
    rng = np.random.default_rng(1)

    def gaps(lines):
        lines[30:33] = [line.replace(",", ",,", 1).rsplit(",", 1)[0] for line in lines[30:33]]

    def turned(lines):
        lines[1:] = [",".join(cells[:1] + cells[:0:-1]) for cells in (line.split(",") for line in lines[1:])]

    write_csv(folder / "series.csv", edit=gaps)
    write_csv(folder / "newer.csv", rows=440, edit=gaps)
    write_csv(folder / "stations" / "north.csv", rows=300)
    write_csv(folder / "stations" / "south.csv", rows=300, edit=turned)
    write_lines(folder / "ragged.csv", "date,a", "2020-01-01,1", "2020-01-02,2,3")
    waves = np.sin(np.arange(300)[:, None] * np.pi / 12 + np.arange(6)) + rng.normal(0, 0.2, (300, 6))
    np.savetxt(folder / "numbers.txt", waves, fmt="%.5f", delimiter=",")
    np.save(folder / "grid.npy", waves.reshape(300, 3, 2).astype("f4"))

    parts = {f"{part}_{what}": values for i, (part, count) in enumerate({"train": 48, "val": 16, "test": 20}.items())
             for what, values in zip(("images", "labels"), volumes(count, i))}
    write_npz(folder / "boxes.npz", **parts)
    np.savetxt(folder / "scores.csv", np.stack([np.arange(20), shares := rng.random(20), 1 - shares], 1), fmt="%.6f", delimiter=",")
    for i in range(30):
        values = rng.normal(size=(8, 8, 6 + 2 * (i % 3 > 0)))
        values[4 * (i % 2):4 * (i % 2) + 3] += 2
        values[:, :, 2] += np.nan if i % 5 == 0 else 0  # a missing slice
        (folder / "scans" / f"scan{i}.nii.gz").write_bytes(gzip.compress(nifti(values), mtime=0))
    kinds = 18 * ["train"] + 6 * ["validation"] + 6 * ["test"]
    write_lines(folder / "scans" / "labels.csv", "file,label,split",
                *(f"scan{i}.nii.gz,{'ab'[i % 2]},{kind}" for i, kind in enumerate(kinds)))

    image, mask = (rasterio.open(path).read() for path in write_scene(folder, nodata=0))
    np.save(folder / "dates.npy", np.stack([image, np.roll(image, 1, 0)]).transpose(0, 2, 3, 1)[:, :80, :80])
    np.save(folder / "dates_mask.npy", mask[0, :80, :80])
    for i in range(8):
        for kind, path in zip(("tiles", "masks"), write_scene(folder, name=str(i), side=16 + 8 * (i % 3), bands=3)):
            path.rename(folder / kind / f"{i}.tif")

    words = "a rope of sand and seven ships went over the hill because it was late".split()
    for name, count in (("story.txt", 3000), ("held.txt", 200)):
        (folder / name).write_text("".join(rng.choice(words) + rng.choice([" ", " ", ".\n"]) for _ in range(count)))
    sentencepiece.SentencePieceTrainer.train(sentence_iterator=(folder / "story.txt").open(), model_writer=(pieces := io.BytesIO()),
                                             vocab_size=34, num_threads=1, minloglevel=2)
    (folder / "pieces.model").write_bytes(pieces.getvalue())
    shown = [*range(33, 127), *range(161, 173), *range(174, 256)]  # the bytes that byte-level BPE writes as they are
    letters, merges = [*map(chr, shown), *map(chr, range(256, 512 - len(shown)))], [["t", "h"], ["th", "e"], ["\u0120", "the"]]
    model = {"type": "BPE", "vocab": {t: i for i, t in enumerate([*letters, *map("".join, merges)])}, "merges": merges}
    (folder / "vocabulary.json").write_text(json.dumps({
        "model": model, "pre_tokenizer": {"type": "ByteLevel", "add_prefix_space": False, "use_regex": True},
        "decoder": {"type": "ByteLevel"}, "added_tokens": []}))
    write_lines(folder / "numbers.ids", "83 256 257 1")
    small_folder(folder / "model")
    write_lines(folder / "questions.jsonl", *(json.dumps({"text": f"{word} of", "options": ["sand", "ships"], "right": i % 2})
                                              for i, word in enumerate(words)))
    asked = ['data = "questions.jsonl"', 'context = "{text}"']
    write_lines(folder / "choose.toml", *asked, 'kind = "choice"', 'choices = ["{options}"]', 'answer = "{right}"',
                'answer_kind = "number"')
    write_lines(folder / "say.toml", *asked, 'kind = "generate"', 'answers = ["{options}"]', 'metric = "qa_f1"', "new_tokens = 4")

    write_ts(folder / "ramps" / "R_TRAIN.ts", 30, 1)
    write_ts(folder / "ramps" / "R_TEST.ts", 16, 2)
    write_ts(folder / "new.ts", 5, 3, labelled=False)

    weights = np.exp(2 * rng.normal(size=(3, 24, 24)))
    weights /= weights.sum(-1, keepdims=True)
    np.save(folder / "matrix.npy", weights[0])
    write_npz(folder / "matrices.npz", first=weights[1:], second=weights[0])
    write_lines(folder / "given.toml", "[train]", "epochs = 7", "batch_size = 17")
    write_lines(folder / "wrong.toml", "[train]", "", "epoch = 3")
    settings = " ".join(SETTINGS[name] for name in ("windows", "tiny", "patches", "sweep")).replace("=", " = ")
    write_lines(folder / "grid.toml", 'task = "forecast"', 'data = "series.csv"', "seeds = [1]", "[settings]",
                *re.findall(r"\S+ = \S+", settings.replace("model.heads = 2", "")),
                "[[axis]]", 'name = "heads"', 'key = "model.heads"', "values = [1, 2]")


def state_of(folder):
    """What tells of each file below the folder whether it was written again."""
    paths = (pathlib.Path(place, name) for place, _, names in os.walk(folder) for name in names)
    return {str(path.relative_to(folder)): (path.stat().st_size, path.stat().st_mtime_ns, path.stat().st_ino) for path in paths}


def record(folder, program):
    if folder.exists() and any(folder.iterdir()):
        sys.exit(f"same_results: {folder} is not empty")
    program, work = program.resolve(strict=True), folder.resolve() / "work"
    work = work.with_name(work.name.ljust(150 - len(str(work)), "_"))  # paths of one length, in all recordings
    data = pathlib.Path(os.environ.get("MODEWISE_DATA", ROOT.parent / "shared" / "data"))
    write_inputs(work)
    shutil.copytree(work, folder / "000-inputs" / "files")
    (work / "real").symlink_to(data)
    (folder / "recording.json").write_text(json.dumps({"PROGRAM": str(program), "FOLDER": str(work)}))
    began, after, surprises = time.monotonic(), state_of(work), 0
    for number, (arguments, stdin, must_fail, needs_data) in enumerate(commands(), 1):
        if needs_data and not data.is_dir():
            continue
        place = folder / "-".join([f"{number:03}", *itertools.takewhile(str.isalpha, arguments[:3])])
        with open(work / stdin, "rb") as given:
            start = time.monotonic()
            done = subprocess.run(["modewise", *arguments], executable=program, cwd=work, stdin=given, capture_output=True,
                                  env={"OMP_NUM_THREADS": "1", **os.environ})
            seconds = time.monotonic() - start
        before, after = after, state_of(work)
        for path in (path for path in after if after[path] != before.get(path)):
            (place / "files" / path).parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(work / path, place / "files" / path)
        write_lines(place / "command", shlex.join(arguments), *(f"removes {path}" for path in sorted(before.keys() - after.keys())))
        write_lines(place / "status", done.returncode)
        (place / "stdout").write_bytes(done.stdout)
        (place / "stderr").write_bytes(done.stderr)
        print(f"{place.name} {seconds:.1f} s {done.returncode} {shlex.join(arguments)[:100]}")
        if (done.returncode != 0) != must_fail:
            surprises += 1
            print(f"{place.name} ended with {done.returncode}: {done.stderr.decode(errors='replace').strip()[-300:]}", file=sys.stderr)
    shutil.rmtree(work)
    print(f"{number} commands in {time.monotonic() - began:.0f} s; {surprises} ended as they should not")


def masked(path, content, names, used):
    """The content without what is volatile; `used` counts how often by reason."""
    for name, text in names.items():
        content = content.replace(text.encode(), name.encode())
    if pathlib.Path(path).suffix in BINARY:
        return content
    text = content.decode(errors="surrogateescape")
    for files, pattern, instead, reason in VOLATILE:
        if re.search(files, path):
            text, count = re.subn(pattern, instead, text)
            used[reason] += count
    return text.encode(errors="surrogateescape")


def contents(folder, used):
    """Each file of a recording, masked, by its name."""
    names = json.loads((folder / "recording.json").read_text())
    paths = (path for path in folder.rglob("*") if path.is_file() and path.name != "recording.json")
    return {path: masked(path, (folder / path).read_bytes(), names, used) for path in sorted(str(p.relative_to(folder)) for p in paths)}


def first_difference(path, one, other):
    """Where two contents begin to differ, and what stands there in both."""
    if path.endswith(".npz") and zipfile.is_zipfile(io.BytesIO(one)) and zipfile.is_zipfile(io.BytesIO(other)):
        members = [{name: archive.read(name) for name in archive.namelist()}
                   for archive in (zipfile.ZipFile(io.BytesIO(content)) for content in (one, other))]
        for name in members[0].keys() | members[1].keys():
            a, b = (one_side.get(name, b"") for one_side in members)
            if a != b:
                return f"[{name}]" + first_difference(name, a, b)
    if pathlib.Path(path).suffix in BINARY:
        at = len(os.path.commonprefix([one, other]))
        return f": byte {at} of {len(one)} and {len(other)}: {one[at:at + 8].hex(' ')} | {other[at:at + 8].hex(' ')}"
    for number, (a, b) in enumerate(itertools.zip_longest(one.splitlines(), other.splitlines(), fillvalue=b""), 1):
        if a != b:
            cut = slice(at := max(0, len(os.path.commonprefix([a, b])) - 40), at + 120)
            return f":{number}: {a[cut].decode(errors='replace')} | {b[cut].decode(errors='replace')}"
    return ": other ends of lines"


def compare(before, after):
    used = collections.Counter()
    one, other = (contents(folder, used) for folder in (before, after))
    differences = 0
    for path in sorted(one.keys() | other.keys()):
        if one.get(path) != other.get(path):
            differences += 1
            missing = next((folder for folder, files in ((before, one), (after, other)) if path not in files), None)
            print(f"{path} is not in {missing}" if missing else path + first_difference(path, one[path], other[path]))
    for *_, reason in VOLATILE:
        print(f"masked {used[reason]:5} times: {reason}")
    count = sum(path.endswith("/command") for path in one)
    print(f"{count} commands, {len(one)} files, {sum(map(len, one.values())):,} bytes: {differences} differences")
    return differences


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    verbs = parser.add_subparsers(dest="verb", required=True)
    recording = verbs.add_parser("record", help="run all commands and keep what they write")
    recording.add_argument("folder", type=pathlib.Path)
    recording.add_argument("--program", type=pathlib.Path, default=ROOT / "build/bin/modewise", help="(build/bin/modewise)")
    comparison = verbs.add_parser("compare", help="two recordings, byte for byte")
    comparison.add_argument("before", type=pathlib.Path)
    comparison.add_argument("after", type=pathlib.Path)
    options = parser.parse_args()
    if options.verb == "record":
        record(options.folder, options.program)
    else:
        sys.exit(1 if compare(options.before, options.after) else 0)


if __name__ == "__main__":
    main()
