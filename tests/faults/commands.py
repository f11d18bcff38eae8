"""The commands that `./dev faults` disturbs, on small made inputs, and what counts as their output.

A row is a command of the program, or a script with an estimator of the Python package. {data} is the folder of the inputs and
{out} that of the outputs; `start` names a row whose outputs are copied to {out} first.
"""

import dataclasses
import json
import os
import pathlib
import re
import shlex
import shutil
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]
for folder in (ROOT / "tests", ROOT / "tests" / "python", ROOT / "python"):
    if str(folder) not in sys.path:
        sys.path.append(str(folder))

import same_results  # noqa: E402
import test_captioning  # noqa: E402
import test_image_classification  # noqa: E402
import test_panels  # noqa: E402
from faults import inject  # noqa: E402
from programs import BUILD  # noqa: E402
from same_results_commands import SETTINGS  # noqa: E402

PROGRAM = BUILD / "bin" / "modewise"
SCRIPTS = ROOT / "tests" / "faults" / "estimators.py"
SAVES = "train.checkpoint_every_steps=2 train.keep_checkpoints=2"
GRID = 'task = "forecasting"\ndata = "{data}/series.csv"\nseeds = [1]\n[settings]\n{settings}\n[[axis]]\nname = "model"\nkey = "model.name"\nvalues = ["dlinear", "rlinear"]\n'
WORDS = {**SETTINGS, "saves": SAVES, "images": shlex.join(map(str, test_image_classification.SMALL)).replace("epochs=4", "epochs=2"),
         "squares": shlex.join(map(str, test_captioning.SMALL))}  # fmt: skip


@dataclasses.dataclass(frozen=True)
class Row:
    name: str
    task: str
    line: str
    start: str = ""
    run: str = ""  # the run folder in {out}, where the row is a training, which --resume resumes
    script: bool = False  # a function of estimators.py

    def command(self, data, out):
        if self.script:
            return [sys.executable, str(SCRIPTS), *self.line.format(data=data, out=out).split()]
        words = shlex.split(self.line.format_map({**WORDS, "data": data, "out": out}))
        return [str(PROGRAM), *(part for word in words for part in (["--set", word] if re.match(r"[a-z]+\.[a-z_.]+=", word) and
                                                                    "--set" not in words else [word])), "-q", "--threads", "1"]  # fmt: skip

    def again(self, data, out):
        """The command that a user gives after an interruption: --resume where the folder is a run, otherwise the same command."""
        run = pathlib.Path(out, self.run or ".")
        if not self.script and self.run and any((run / name).exists() for name in ("config.toml", "auto/request.json")):
            return [str(PROGRAM), "train", "--resume", str(run), "-q", "--threads", "1"]
        return self.command(data, out)


def trained(name, task, line, more=SAVES):
    return Row(name, task, f"train {line} --out {{out}}/run --overwrite {more}", run="run")


def reads(name, task, line, start):
    return Row(name, task, line, start=start)


ROWS = [
    trained("train-tensor", "forecast", "forecast --data {data}/grid.npy {windows} {tiny} {patches} train.max_steps=7 output.predictions=4 "
            "output.tensorboard=true train.ema_decay=0.9"),
    trained("train-panel", "forecast", "forecast --data {data}/panel.csv data.panel=yes forecast.horizon=6 train.max_steps=7 --model dlinear --no-test {plain}"),
    trained("train-series", "classify-series", "classify-series --train {data}/ramps/R_TRAIN.ts --test {data}/ramps/R_TEST.ts {cases} {tiny} {steps}"),
    trained("train-volumes", "classify-volumes", "classify-volumes --data {data}/boxes.npz {volumes} {tiny}"),
    trained("train-images", "classify-images", "classify-images --data {data}/shapes {images}", "--set train.checkpoint_every_steps=4"),
    trained("train-segment", "segment", "segment --data {data}/scene.tif --masks {data}/scene_mask.tif {scenes} {tiny} train.epochs=1"),
    trained("train-language", "language", "language --data {data}/story.txt {text} {fold} model.dropout=0.1"),
    trained("train-classes", "text", "text --data {data}/SST-2 {encoder}"),
    trained("train-masked", "text", "text --data {data}/story.txt --objective masked_lm {encoder} masking.whole_words=true {plain}"),
    trained("train-captions", "caption", "caption --data {data}/squares/captions.json --images {data}/squares/images {squares}",
            "--set train.epochs=2 --set train.checkpoint_every_steps=4"),
    Row("auto", "forecast", "train --resume {out}/run", start="search", run="run"),
    Row("sweep", "forecast", "sweep {data}/grid.toml --out {out}/w --jobs 1"),
    reads("evaluate", "forecast", "evaluate {out}/run --json", "train-panel"),
    reads("predict", "forecast", "predict {out}/run --data {data}/grid.npy --out {out}/next.npz --overwrite", "train-tensor"),
    reads("predict-maps", "segment", "predict {out}/run --out {out}/map.tif --overwrite", "train-segment"),
    reads("backtest", "forecast", "backtest {out}/run --json", "train-tensor"),
    reads("report", "forecast", "report {out}/run --overwrite", "train-tensor"),
    reads("explain", "classify-series", "explain {out}/run --samples 2 --overwrite", "train-series"),
    reads("compare", "forecast", "compare {out}/run --format csv", "train-tensor"),
    reads("convert", "language", "convert {out}/run {out}/model --overwrite", "train-language"),
    Row("convert-shards", "language", "convert {data}/model {out}/model --tokenizer bytes --shard-gigabytes 0.00003 --overwrite"),
    Row("tokenize", "language", "tokenize {data}/story.txt --tokenizer {data}/vocabulary.json --out {out}/ids.safetensors --overwrite"),
    reads("generate", "language", "generate {out}/run --prompt plain --tokens 5 --temperature 0", "train-language"),
    reads("caption", "caption", "caption {out}/run {data}/squares/images --out {out}/captions.json --overwrite", "train-captions"),
    Row("decompose", "", "decompose {data}/matrix.npy --modes 6,4 --space 3x8 --out {out}/matrix --overwrite"),
    *(Row(f"python-{name}", task, f"{name} {{out}}", script=True) for name, task in (
        ("forecaster", "forecast"), ("series", "classify-series"), ("segmenter", "segment"), ("language", "language"))),
]  # fmt: skip


def make_inputs(folder):
    same_results.write_inputs(folder)
    test_panels.panel(folder / "panel.csv", test_panels.made(count=4))
    same_results.write_csv(folder / "short.csv", rows=80, columns=("a",))
    test_captioning.write_data(folder / "squares", copies=2)
    test_image_classification.write_folder(folder / "shapes", {"train": 4, "val": 2, "test": 2})
    settings = "forecast.lookback = 8\nforecast.horizon = 4\ntrain.epochs = 1\noutput.report = false"
    (folder / "grid.toml").write_text(GRID.format(data=folder, settings=settings))


def begin_search(data, out):
    """Leaves a search of two models in {out}/run, one fitted and one trained, that has not begun."""
    line = ("train forecast --data {data}/short.csv --model auto --budget 1h --jobs 1 forecast.lookback=8 forecast.horizon=4 train.epochs=1 "
            "--out {out}/run")  # fmt: skip
    command = Row("search", "forecast", line).command(data, out)
    inject.list_calls(command, out, faults=["rename:signal=KILL:when=2"])  # the one after the folder became a search
    file = out / "run" / "auto" / "request.json"
    request = json.loads(file.read_text())
    candidates = [one for one in request["candidates"] if one["name"] in ("repeat", "dlinear")]
    assert len(candidates) == 2, candidates
    shutil.rmtree(out)
    file.parent.mkdir(parents=True)
    file.write_text(json.dumps({**request, "candidates": candidates, "ensemble": [], "splits": []}))


# Files whose bytes tell the time, the process or how often a training was resumed.
UNSTABLE = re.compile(r"(^|/)(log\.txt|timing\.json|\.lock|events\.out\.tfevents\..*)$|(^|/)auto/(?!leaderboard)|^w/(claims|logs|done|started)/|"
                      r"^w/sweep\.json$|^w/runs/[^/]*/report")  # fmt: skip
TABLE = same_results.Table()


def stable(path, content, out, row):
    """The content without times and without the name of the folder, which is one of several beside each other."""
    content = re.sub(re.escape(str(out.parent)).encode() + rb"/[\w.-]+", b"OUT", content)
    if pathlib.Path(path).suffix in same_results.BINARY:
        return content
    text = TABLE.text(f"-{row}/{path}", content.decode(errors="surrogateescape"), False)
    if path.endswith("auto/leaderboard.json"):
        rows = json.loads(text)
        text = json.dumps([(row["name"], row["stage"], row["run"], row["steps"], row["/best/val_mse"]) for row in rows])
    return text.encode(errors="surrogateescape")


def outcome(out, row):
    """The outputs in the folder: path -> bytes. Of the checkpoints only the newest one counts, of each run in the folder."""
    found = {}
    for place, _, names in os.walk(out):
        for name in names:
            path = pathlib.Path(place, name)
            relative = str(path.relative_to(out))
            match = re.search(r"(.*/)checkpoints/(.*)", relative)
            if match:
                step, _, inside = match[2].partition("/")
                latest = pathlib.Path(out, match[1], "checkpoints", "latest")
                if not latest.exists() or step != latest.read_text().strip():
                    continue
                relative = f"{match[1]}checkpoints/NEWEST/{inside}"
            if not UNSTABLE.search(relative):
                found[relative] = stable(relative, path.read_bytes(), out, row)
    return found


def leftovers(out):
    return sorted(str(path.relative_to(out)) for path in pathlib.Path(out).rglob("*.tmp-*"))
