"""The commands that same_results.py runs, and the patterns that it masks in their outputs."""

# The values of {name} in COMMANDS.
SETTINGS = {
    "tiny": "model.width=16 model.hidden=16 model.heads=2 model.layers=1",
    "windows": "forecast.lookback=24 forecast.horizon=8 forecast.train_stride=4 train.epochs=2 train.batch_size=16",
    "patches": "model.patch.length=8 model.patch.stride=4",
    "demo": "data.simulate=lorenz96 forecast.lookback=24 forecast.horizon=12 train.max_steps=20",
    "volumes": "train.epochs=2 train.batch_size=16 train.schedule.warmup_steps=2 train.optimizer.learning_rate=0.005",
    "scenes": "data.window=32 train.epochs=2 train.batch_size=4",
    "text": "model.width=32 model.layers=2 model.heads=2 model.context=64 train.batch_size=4 train.max_steps=6"
            " train.schedule.warmup_steps=2 language.length_windows=2 language.length_stride=16",
    "fold": "model.attention.fold=0,4,8 model.attention.summary_tokens=2",
    "recall": "data.recall.length=64 data.recall.pairs=2,4 data.recall.samples=64 data.recall.held_back=16",
    "cases": "train.epochs=3 train.batch_size=8 train.optimizer.learning_rate=0.005",
    "encoder": "--tokenizer bytes model.width=16 model.layers=2 model.heads=2 model.max_positions=48 train.max_steps=6 train.batch_size=8"
               " train.schedule.warmup_steps=2",
    "steps": "model.patch.length=4 model.patch.stride=2 data.length=24",
    "plain": "output.report=false",
    "sweep": "output.report=false output.predictions=0",
}

# One command per line, \ continues a line. A word such as model.width=16 gets --set before it. `for a b+c: … *` expands to a
# line for each name in place of *, with + for a space. `< FILE` is stdin; ! marks commands that must fail, ? those that read
# $MODEWISE_DATA.
COMMANDS = r"""
--help
-h
for --version info: *
for --version info: * --json
for train train+forecast train+classify-volumes train+segment train+language train+classify-series train+text evaluate predict backtest compare report data \
  data+show data+passkeys config config+show info explain tokenize generate convert sweep decompose cost demo: * --help
for train+forecast predict sweep: * -h
for forecasting volume_classification segmentation language_modeling series_classification text: config show *
for forecasting volume_classification segmentation language_modeling series_classification text: config show * --json
for forecasting volume_classification segmentation language_modeling series_classification text: config show * --help-text
for forecasting volume_classification segmentation language_modeling series_classification text: config show * --help-text --json
for transformer patchtst itransformer tide dlinear rlinear: config show --model *
for forecasting volume_classification segmentation: config show * model.preset=release
for forecasting volume_classification segmentation: config show * model.preset=paper
config show --config given.toml train.epochs=3 --seed 9 --json
for series.csv stations grid.npy numbers.txt boxes.npz scans scene.tif ramps: data show *
for series.csv stations grid.npy boxes.npz scans ramps+data.protocol=paper scene.tif+data.masks=scene_mask.tif: data show * --json
data show series.csv data.split=dates data.split_dates=2020-01-12,2020-01-15
for segmentation+--data+tiles+data.masks=masks language_modeling+story.txt language_modeling+story.txt+--json \
  forecasting+data.simulate=lorenz96+data.simulate_rows=500: data show --task *
info --model hot --series 3 {windows} {tiny} {patches}
info --model patchtst --series 3 4 --json
info --released

train forecast --data series.csv --out f/hot --track stable_rank {windows} {tiny} {patches}
train forecast --data series.csv --out f/hot2 --seed 2 --no-test --json {windows} {tiny} {patches}
train forecast --out f/unread --model dlinear --no-test data.simulate=seasonal data.simulate_rows=1200 train.max_steps=8
for transformer spatial temporal: train forecast --data series.csv --out f/* --model * {windows} {tiny} {patches} {plain}
for patchtst itransformer: train forecast --data series.csv --out f/* --model * {windows} {tiny}
train forecast --data series.csv --out f/tide --model tide {windows} model.width=16 model.hidden=16 model.layers=1
for dlinear nlinear rlinear seasonal: train forecast --data series.csv --out f/* --model * -vv {windows} {plain} train.epochs=4
for model.attention.combine=sum model.attention.combine=mean model.attention.kernel=linear model.attention.kernel=none \
  model.attention.share_modes=true model.attention.attend_modes=1 model.position.encoding=learned model.position.encoding=sincos \
  model.window.cycle=24 model.window.affine=true model.head.time=attention model.head.skip=individual model.precision=bf16 \
  model.feed_forward=gelu model.preset=release forecast.loss=quantile forecast.loss=huber forecast.horizons=4,8 \
  calibration.method=none train.ema_decay=0.9 train.optimizer.name=adam train.schedule.name=one_cycle train.schedule.name=step \
  train.schedule.name=type1 train.accumulate=2 train.evaluations_per_epoch=2 data.missing_fraction=0.1: \
  train forecast --data series.csv --out f/set/* --json {windows} {tiny} {patches} {plain} *
for logistic seasonal: train forecast --out f/simulated/* data.simulate=* data.simulate_rows=400 {windows} {tiny} {patches} {plain}
for stations grid.npy numbers.txt: train forecast --data * --out f/* {windows} {tiny} {patches}
for 1 2: train forecast --data series.csv --model repeat --seed * -q {windows}
train forecast --data series.csv --out f/cut {windows} {tiny} {patches} {plain} train.max_steps=3
train forecast --resume f/cut --allow-config-changes train.max_steps=0
train forecast --data series.csv --out f/cut --overwrite --model repeat {windows} {plain}

train classify-volumes --data boxes.npz --out c/hot --track stable_rank {volumes} {tiny}
train classify-volumes --data boxes.npz --out c/hot2 --seed 1 --no-test --json {volumes} {tiny}
for transformer divided pooling-attention: train classify-volumes --data boxes.npz --out c/* --model * --json {volumes} {tiny} {plain}
train classify-volumes --data boxes.npz --out c/resnet18 --model resnet18 {volumes} model.resnet.width=4
train classify-volumes --data boxes.npz --out c/varied {volumes} {tiny} {plain} augment.flip_axes=0 augment.rotate=10 augment.noise=0.1 \
  augment.erase=0.2 augment.contrast=0.1 augment.scale=0.1 classify.mixup=0.3 classify.flip_axes=1 classify.class_weights=balanced
for model.attention.combine=sum model.attention.kernel=linear model.patch.embedding=relu_norm model.position.encoding=sincos: \
  train classify-volumes --data boxes.npz --out c/set/* {volumes} {tiny} {plain} *
train classify-volumes --data scans --out c/scans {volumes} {tiny} model.patch.size=2

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
train language --data story.txt --out l/summary --json {text} {fold} model.dropout=0.1 language.lengths=64,128
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
train language --resume l/cut --allow-config-changes train.max_steps=6

train classify-series --train ramps/R_TRAIN.ts --test ramps/R_TEST.ts --out s/full --track stable_rank {cases} {tiny} {steps}
train classify-series --data ramps --out s/full2 --seed 2 --no-test --json {cases} {tiny} {steps}
for axial summary: train classify-series --data ramps --out s/* --attention * {cases} {tiny} {steps} {plain}
for nearest dlinear: train classify-series --data ramps --out s/* --model * {cases}
for tcn resnet: train classify-series --data ramps --out s/* --model * {cases} {plain} model.convolution.width=8
train classify-series --data motifs --out s/motifs --attention pooled {cases} {tiny} data.motifs.steps=64 data.motifs.samples=40
for tslib paper: train classify-series --data ramps --out s/* --protocol * {cases} {tiny} {steps} {plain} augment.noise=0.1 augment.shift=2 \
  augment.erase=0.2 classify.mixup=0.2 model.patch.channels=independent

train text --data SST-2 --out e/classes --track stable_rank {encoder}
train text --data SST-2 --out e/classes2 --seed 2 --no-test --json {encoder} text.layer_decay=0.8 text.class_weights=balanced
train text --data STS-B --out e/numbers --objective regression {encoder}
train text --data story.txt --out e/hidden --objective masked_lm {encoder} masking.whole_words=true
train text --data SST-2 --from e/hidden --length 96 --out e/longer {plain} text.longer=stretch train.max_steps=2 data.dev=both
for e/classes e/classes2 e/numbers e/hidden: evaluate *
predict e/classes --data asked.txt --json
predict e/numbers --json
! predict e/numbers --data asked.txt
predict e/classes --data asked.txt --out e/classes.csv
for e/classes e/numbers e/hidden: report *
for e/classes e/numbers e/hidden: explain * --num-examples 1 --json
compare e/classes e/classes2 e/numbers e/hidden
for SST-2 STS-B+text.objective=regression story.txt+text.objective=masked_lm+--set+tokenizer=bytes: data show --task text *

for forecast+--resume+f/hot classify-volumes+--resume+c/hot segment+--resume+g/hot language+--resume+l/summary classify-series+--resume+s/full: \
  train *
for f/hot c/hot g/hot l/summary s/full: config show --run *
for f/hot2 f/unread f/cut f/grid.npy f/set/forecast.loss=quantile f/set/forecast.horizons=4,8 c/hot2 g/transformer g/unet \
  g/set/model.time=mode l/full l/recall s/full2 s/nearest: evaluate *
for f/hot c/hot g/hot l/summary s/full: evaluate * --json
for f/hot f/stations c/scans g/hot l/summary s/full: evaluate * --detail
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
for f/hot+f/dlinear+f/cut+--out+f c/hot+c/resnet18+--out+c g/hot+g/unet+--out+g l/summary+l/full+--out+l s/full+s/dlinear+--out+s: \
  report */both.html
for text markdown csv: compare f/hot f/hot2 f/dlinear f/cut --format *
for c/hot+c/hot2+c/resnet18 g/hot+g/unet l/summary+l/full s/full+s/full2+s/dlinear: compare *
for f/hot+f/hot2 c/hot+c/hot2: compare * --json
for f/hot f/transformer f/dlinear f/grid.npy c/hot c/resnet18 c/transformer g/hot g/unet g/set/model.time=mode s/full s/axial s/dlinear: \
  explain * --samples 3
for f/hot c/hot g/hot s/full: explain * --json --samples 2 --num-examples 1 --max-positions 2 --split validation --out explained/*
evaluate l/summary --data held.txt --tokens 300 --lengths 32,64 --convention sliding,halves,rolling,stream,spread --stride 16 \
  --windows 2 --report l/evaluated.html
for linear ntk yarn: evaluate l/full --data held.txt --tokens 300 --lengths 128 --convention rolling --rope * --json
evaluate model --tokenizer bytes --data held.txt --tokens 200 --lengths 64 --convention sliding --stride 16
evaluate model --tokenizer bytes --tasks choose.toml say.toml --limit 3
evaluate l/recall --lengths 64,128 --json
evaluate l/keys.jsonl --passkey --lengths 300,600 --trials 1
generate l/summary --prompt "a rope" --tokens 20 --temperature 0
generate l/summary --prompt-file held.txt --tokens 20 --seed 7 --top-k 20 --top-p 0.9 --temperature 0.8 --json
generate model --tokenizer bytes --tokens 20 --ignore-eos --echo --prompt-file - < given.toml
generate model --tokenizer bytes --prompt plain --tokens 20 --attention summary --fold 4,4 --precision bf16 -q
convert model l/folder --tokenizer bytes --shard-gigabytes 0.00003
convert model l/half --tokenizer bytes --dtype bf16 --json
for 0 1: convert l/folder l/v*.bin --llama2c-version *
convert l/v1.bin l/back --tokenizer bytes
convert l/summary l/exported
for l/v0.bin l/back: generate * --tokenizer bytes --prompt plain --tokens 10 --temperature 0
? generate real/language/stories260K.bin --prompt "One day" --tokens 40 --temperature 0
? generate real/language/stories260K.bin --attention summary --fold 8,8,8 --tokens 40 --seed 3 --json
? convert real/language/stories260K.bin l/stories
? data show real/uea/BasicMotions
? data show real/forecasting/ETTh1.csv

decompose matrix.npy --modes 3,4,2 --rank 3
decompose matrix.npy --modes 6,4 --space 3x8 --out d/matrix --json --seed 3
decompose matrices.npz --member first --index 1 --modes 4,6 --starts 2 --iterations 20
decompose l/summary --modes 4,8 --samples 3
decompose l/full --modes 8,8 --layer 1 --head 2 --sample 1 --rank 2 --out d/head
decompose s/axial --samples 4 --out d/cases
cost
cost --layers --size 8,8,8 --attention product,full,pooling-attention
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
  evaluate+none evaluate+tiles explain+l/summary generate+none generate+model backtest+c/hot sweep+none.toml info+--series+3,4: ! *
for --data+none.csv --data+ragged.csv --config+wrong.toml+--data+series.csv: ! train forecast *
for train.epoch=3 forecast.horizon=-1 forecast.horizon=5000 model.name=hott model.atention.combine=sum model.heads=3 \
  data.path=1,2 train.epochs=many: ! train forecast --data series.csv --out e/set {tiny} *
! train forecast --data series.csv --out e/diverged --model dlinear {windows} train.optimizer.learning_rate=1e30 train.clip_norm=0
! train forecast --data series.csv --out f/hot {windows}
! train forecast --resume f/hot train.batch_size=8
! train classify-volumes --resume f/hot
! train classify-volumes --data scans --model resnet18
! train segment --data scene.tif
! train segment --data scene.tif --masks scene_mask.tif data.window=30
! train language --data story.txt --attention pooled
! train language --data given.toml --out e/short
! train classify-series --train ramps/R_TRAIN.ts --test none.ts
! --color always evaluate none
! evaluate f/hot --split some
! evaluate f/hot --data grid.npy
! evaluate l/recall --passkey
for c/hot+--steps+3 l/summary: ! predict *
for forecast.xlsx f/newer.csv: ! predict f/hot --out *
! compare f/hot c/hot
! generate model --tokenizer bytes --prompt a --top-p 2
for model+l/folder l/summary+e/summary.bin: ! convert *
! tokenize story.txt --tokenizer none.json
for matrix none: ! decompose *.npy --modes 5,2
! cost --attention kroneker
for --out+w+train.epochs=3 --metric+test.scaled.mse: ! sweep grid.toml *
"""

CONVENTIONS = "sliding|halves|rolling|stream|spread"
# Differences between two recordings of one program, besides the absolute names of FOLDER and PROGRAM: files, pattern,
# replacement, and reason.
VOLATILE = [
    (r"/stdout$|/manifest\.json$", r'("commit": "|\bmodewise [\d.]+ \()[^")]+', r"\1~", "the commit that was built"),
    (r"/manifest\.json$|/report\.html$", r'("started": "|<dt>started</dt><dd>)[\dT:+-]+', r"\1~", "when a run started"),
    (r"/log\.txt$", r"(?m)^\d{4}-\d\d-\d\dT\S+ ", "", "when a line was logged"),
    (r"/stderr$|/log\.txt$|\.log$", r"(?m)^.*\((?:from \d+ steps measured; evaluations come on top|estimated from \d+ steps, without evaluations)\)\n", "",
     "how long training may take, said after some steps or seconds"),
    (r"/stderr$|/log\.txt$|\.log$", r"(?m)^.* \d+/\d+ .*  [\d.]+ \w+/s  [\d:?]+(?: s)? left\n", "", "progress, a line every ten seconds"),
    (r"/stdout$|\.json$", r'("(?:\w*seconds|tokens_per_second)": ?)\d+[.e][\d.e+-]+', r'\1"~"', "times and speeds in JSON"),
    (r"-generate[^/]*/stderr$", r"\d+\.\d\d s\b|\(\d+ a second\)", "~", "how long a text took"),
    (r"-tokenize[^/]*/stdout$", r"[\d.]+ MB/s", "~", "how fast tokens came"),
    (r"-cost/stderr$", r"[\d.e+-]+ ms (training|inference)", r"~ \1", "how long a measured model took"),
    (r"-sweep/stderr$", r"(?m)^(finished \S+ in ).*", r"\1~", "how long a run of a sweep took"),
    (r"/w/report\.html$", r'(<td>finished</td><td class="n">)\d+', r"\1~", "the same in its page"),
    (r"-evaluate[^/]*/stdout$", r"(?m)^((?:convention|─|" + CONVENTIONS + r").*?) +(?:tokens/s  seconds|─+  ─+|\d+ +\d+\.\d)$", r"\1",
     "how long an evaluation took: two columns, as wide as their figures"),
    (r"\.html$", f'(?m)^(<tr><td>(?:{CONVENTIONS})<.*)(?:<td class="n">[\\d.]+</td>){{2}}</tr>$', r"\1", "the same in a page"),
    (r"\.html$", r'(?m)^(<tr><td>(?:plain|linear|ntk|yarn|lambda)<.*)<td class="n">\d+</td></tr>$', r"\1", "the same by length"),
    (r"\.html$", r"(?s)(<desc>Tokens (?:a|per) second</desc>).*?</svg>", r"\1", "the same as a figure"),
    (r"-evaluate/stdout$", r"(?m)^((?: +\d+){4}) +\d+\.\d\d$", r"\1", "how long a passkey took"),
]
