"""Writes the seeds of the fuzz corpora: small files made by NumPy, safetensors, tifffile and others, and tables of every dialect."""

import gzip
import io
import json
import pathlib

import numpy as np
import safetensors.numpy
import tifffile

CORPUS = pathlib.Path(__file__).parent / "corpus"


def write(format_, name, content):
    folder = CORPUS / format_
    folder.mkdir(parents=True, exist_ok=True)
    (folder / name).write_bytes(content if isinstance(content, bytes) else content.encode())


for name, text in {
    "dates.csv": "date,OT,wd\r\n2016-07-01 00:00:00,1.5,NNW\r\n2016-07-01 01:00:00,NA,\"N,\nW\"\r\n",
    "semicolon.csv": "time;x\n01.07.2016 00:00;1,5\n02.07.2016 00:00;-2e-3\n",
    "no_header.csv": "0.7855,1.611\n0.7818,1.61\n",
    "american.csv": "d|x\n7/1/16 9:30 AM|1\n7/13/16 12:00 PM|\n",
    "quotes.csv": "\ufeff\"a \"\"x\"\"\",\"b\"\n\"1\",\"2\"\n",
    "compact.csv": "date\tx\n20160701\t1\n20160702\t2\n",
    "mixed.csv": "x,y\n1,a\nb,2\nc,2016-07-01\n",
}.items():
    write("csv", name, text)
    write("utf16_table", name, text)
for name, text in {
    "cola.tsv": "gj04\t1\t\tOur friends won't buy this.\ngj04\t0\t*\tOne more pseudo \"generalization.\n",
    "mrpc.tsv": "\ufeffQuality\t#1 ID\t#2 ID\t#1 String\t#2 String\r\n1\t7\t8\t\"a\tb\"\r\n",
    "broken.tsv": "sentence\tlabel\nfine \t1\nshort\n\nlong\t1\t2\n",
}.items():
    write("text_table", name, text)
for index, text in enumerate(["1,2,3\n4,5,6\n", "1 2\t3\n 4  5 6\n", "1;nan;3\n", "1\t\tNA\r\n4\t5\t6\r\n", "\"1\",1e5\n+2,-.5\n"]):
    write("numeric_text", f"{index}.txt", text)
for index, text in enumerate([
    "2016-07-01 00:00:00", "2016-07-01T09:30:15.000+02:00", "2016-07-01T09:30Z", "01.07.2016 9:30", "7/1/16 9:30 PM\n13/7/16 1:00 AM",
    "20160701", "2016-07", "01/02/2016\n02/02/2016\n13/02/2016", "2016-03-27 01:00+01:00\n2016-03-27 03:00+02:00"]):
    write("date_time", f"{index}.txt", text)
for index, text in enumerate([
    "#c\n@problemName x\n@timeStamps false\n@missing true\n@univariate false\n@dimensions 2\n@equalLength true\n@seriesLength 2\n@classLabel true a b\n@data\n1,?:2,3:a\n-1e5,.5:0,1:b\n",
    "@univariate true\r\n@classLabel false\r\n@data\r\n1,2\r\n3\r\n",
    "@timeStamps true\n@classLabel true a\n@data\n(0,1):a\n"]):
    write("ts_file", f"{index}.ts", text)
for index, text in enumerate([
    "%c\n@relation 'a b'\n@attribute t0 numeric\n@attribute \"t 1\" REAL\n@attribute c {x, 'y z'}\n@data\n1,?,x\n-1e5,.5,'y z'\n?,2,x\n",
    "@attribute d relational\r\n@attribute t0 numeric\r\n@attribute t1 integer\r\n@end d\r\n@attribute c {a,b}\r\n@DATA\r\n\"1,2\\n3,?\",a\r\n'4,5\\n6,?',b\r\n",
    "@attribute t0 numeric\n@attribute c {a}\n@data\n1,?\n{0 2}\n"]):
    write("arff", f"{index}.arff", text)
write("coco_captions", "annotations.json", json.dumps({
    "info": {"year": 2017, "x": [1, {"y": None}]}, "annotations": [{"image_id": 7, "id": 1, "caption": "A dog.\n"}, {"caption": "Un \u00e9l\u00e8ve", "image_id": 7}],
    "images": [{"id": 7, "file_name": "7.jpg", "height": 2.5e2}, {"file_name": "", "id": -8}]}))
write("coco_captions", "results.json", '[{"image_id": 7, "caption": "a \\ud83d\\ude00 \u00e9"}, {"caption": "", "image_id": -8, "score": 1e-3, "x": [true, false, null]}]')
rng = np.random.default_rng(1)
for dtype, order in (("<f4", "C"), (">f8", "F"), ("<f2", "C"), (">i2", "F"), ("|b1", "C"), ("<u8", "C")):
    stream = io.BytesIO()
    np.save(stream, np.asarray(rng.integers(0, 2, (2, 3)), dtype=dtype, order=order))
    write("npy", f"{dtype[1:]}{order}.npy", stream.getvalue())
stream = io.BytesIO()
np.lib.format.write_array(stream, np.zeros((), "<i4"), version=(3, 0))
write("npy", "scalar_version3.npy", stream.getvalue())
arrays = {"a": np.arange(6, dtype="<f4").reshape(2, 3), "b": np.ones(3, ">i2")}
for name, save in (("stored", np.savez), ("deflated", np.savez_compressed)):
    stream = io.BytesIO()
    save(stream, **arrays)
    write("npz", f"{name}.npz", stream.getvalue())
write("safetensors", "two.safetensors", safetensors.numpy.save({"a": np.ones((2, 2), "f4"), "b\"é": np.ones(3, "i1")}, metadata={"k": "v\n"}))
write("safetensors", "zero.safetensors", safetensors.numpy.save({"z": np.zeros((0, 3), "f4"), "s": np.array(1.0)}))
write("safetensors", "empty.safetensors", safetensors.numpy.save({}))

for case in json.loads((CORPUS.parent.parent / "io" / "vectors" / "llama2c.json").read_text()):
    write("llama2c", f"version{case['version']}_{'tied' if case['tied'] else 'untied'}", bytes.fromhex(case["file"]))
write("shard_index", "two.json", '{"metadata": {"total_size": 9, "x": [1, {"y": null}]}, "weight_map": {"a": "f", "\u00e9": "g"}}')

# The TIFF and NIfTI files are those of the frozen vectors, without the larger ones.
images = json.loads((CORPUS.parent.parent / "io" / "vectors" / "images.json").read_text())
for format_ in ("tiff", "nifti"):
    for case in images[format_]:
        content = bytes.fromhex(case["file"])
        if len(content) < 1500:
            write(format_, case["name"].replace(" ", "_"), content)
# PNG and JPEG images too, and one record of CIFAR-10.
png_jpeg = json.loads((CORPUS.parent.parent / "io" / "vectors" / "png_jpeg.json").read_text())
for format_ in ("png", "jpeg"):
    for case in png_jpeg[format_]:
        if not case["name"].startswith("orientation") or case["name"].endswith(" 6"):
            write(format_, case["name"].replace(" ", "_").replace(":", ""), bytes.fromhex(case["file"]))
# A volume in a folder of volumes.
for case in images["nifti"]:
    if case["name"] in ("u8", "flat", "compressed", "i16 scaled"):
        write("volume_set", case["name"].replace(" ", "_"), bytes.fromhex(case["file"]))
write("cifar", "one.bin", bytes([7]) + bytes(i % 251 for i in range(3072)))
write("gzip", "members.gz", gzip.compress(b"one, " * 50, mtime=0) + gzip.compress(b"", mtime=0) + gzip.compress(b"two", mtime=0) + bytes(9))
write("gzip", "stored.gz", gzip.compress(bytes(range(40)), 0, mtime=0))
stream = io.BytesIO()
with gzip.GzipFile(filename="name", mode="wb", fileobj=stream, mtime=1) as file:
    file.write(b"content" * 9)
write("gzip", "named.gz", stream.getvalue())

# The tokenizers are those of the frozen vectors.
text_vectors = CORPUS.parent.parent / "text" / "vectors"
write("llama2c_tokenizer", "small.bin", bytes.fromhex(json.loads((text_vectors / "llama2c.json").read_text())["small"]["file"]))
for name, model in json.loads((text_vectors / "sentencepiece.json").read_text()).items():
    write("sentencepiece_model", f"{name}.model", bytes.fromhex(model["file"]))
for name, tokenizer in json.loads((text_vectors / "byte_level.json").read_text()).items():
    write("tokenizer_json", f"{name}.json", json.dumps(tokenizer["file"], ensure_ascii=False, separators=(",", ":")))

# BERT vocabularies, alone and after a config.
VOCABULARY = "[PAD]\n[UNK]\n[CLS]\n[SEP]\n[MASK]\na\n##b\né\n##中\n\ufeff\n"
write("word_piece_vocabulary", "plain.txt", VOCABULARY)
write("word_piece_vocabulary", "with_config", json.dumps({"do_lower_case": False, "strip_accents": None, "tokenize_chinese_chars": True, "do_basic_tokenize": True,
      "unk_token": {"content": "[UNK]", "lstrip": False}, "mask_token": None, "model_max_length": 512}) + "\0" + VOCABULARY.replace("\n", "\r\n"))
WORD_PIECE = {
    "version": "1.0", "truncation": None, "padding": None,
    "added_tokens": [{"id": i, "content": token, "single_word": False, "lstrip": False, "rstrip": False, "normalized": False, "special": True}
                     for i, token in enumerate(["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]"])],
    "normalizer": {"type": "BertNormalizer", "clean_text": True, "handle_chinese_chars": True, "strip_accents": None, "lowercase": True},
    "pre_tokenizer": {"type": "BertPreTokenizer"},
    "post_processor": {"type": "TemplateProcessing",
                       "single": [{"SpecialToken": {"id": "[CLS]", "type_id": 0}}, {"Sequence": {"id": "A", "type_id": 0}}, {"SpecialToken": {"id": "[SEP]", "type_id": 0}}],
                       "pair": [{"Sequence": {"id": "A", "type_id": 0}}, {"SpecialToken": {"id": "[SEP]", "type_id": 0}}, {"Sequence": {"id": "B", "type_id": 1}}],
                       "special_tokens": {"[CLS]": {"id": "[CLS]", "ids": [2], "tokens": ["[CLS]"]}, "[SEP]": {"id": "[SEP]", "ids": [3], "tokens": ["[SEP]"]}}},
    "decoder": {"type": "WordPiece", "prefix": "##", "cleanup": True},
    "model": {"type": "WordPiece", "unk_token": "[UNK]", "continuing_subword_prefix": "##", "max_input_chars_per_word": 100,
              "vocab": {token: i for i, token in enumerate(["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]", "a", "##b", "é"])}}}
write("tokenizer_json", "word_piece.json", json.dumps(WORD_PIECE, ensure_ascii=False, separators=(",", ":")))
write("tokenizer_json", "bert_processing.json", json.dumps({**WORD_PIECE, "post_processor": {"type": "BertProcessing", "sep": ["[SEP]", 3], "cls": ["[CLS]", 2]}}, ensure_ascii=False))

# Data sets: texts, tables as series and panels, series with classes, captions, scenes, tokens.
for name, text in {
    "classes.jsonl": "\n".join(json.dumps({"text": f"the text {i}", "label": "ab"[i % 2]}) for i in range(12)) + "\n",
    "pairs.jsonl": "\n".join(json.dumps({"text": "one", "text2": f"two {i}", "label": i / 4}) for i in range(12)) + "\r\n\r\n",
    "broken.jsonl": '{"text": "", "label": true}\n{"text": "\\ud83d\\ude00", "label": null}\n[1]\n',
}.items():
    write("json_lines", name, text)
HOURS = [f"2024-03-{1 + i // 24:02} {i % 24:02}:00" for i in range(16)]
MONTHS = [f"{2020 + i // 12}-{1 + i % 12:02}-01" for i in range(14)]
for name, text in {
    "hours.csv": "date,a,b\n" + "".join(f"{hour},{i},{i * i % 7 / 2}\n" for i, hour in enumerate(HOURS)),
    "gaps.csv": "date;x;wind\n" + "".join(f"{month};{i},5;{'' if i % 3 else 'NW'}\n" for i, month in enumerate(MONTHS) if i != 5),
    "parts.csv": "year,month,day,hour,x\n" + "".join(f"2024,2,{28 + i // 24},{i % 24},{i}\n" for i in range(14)),
    "clock.csv": "day,time,x\n" + "".join(f"01/02/2024,{i}:30 PM,{i}\n" for i in range(1, 12)),
    "long.csv": "id,date,x\n" + "".join(f"{'ab'[i % 2]},{HOURS[i // 2]},{i}\n" for i in range(14)),
    "rows.csv": "site,2019,2020,2021,2022,2023,2024\na,1,2,3,4,5,6\nb,2,3,4,5,6,7\n",
    "plain.csv": "".join(f"{i},{i % 3}\n" for i in range(12)),
}.items():
    write("series", name, text)
for name, text in {
    "short.csv": "unique_id,ds,y\n" + "".join(f"{'abc'[i % 3]},{HOURS[i // 3 + i % 3]},{i}\n" for i in range(18)),
    "static.csv": "store,item,date,y,price,kind\n" + "".join(f"s{i % 2},i{i // 2 % 2},{MONTHS[i // 4]},{i},{i / 8},k{i % 2}\n" for i in range(16)),
    "undated.csv": "unique_id,y\n" + "".join(f"{'ab'[i // 6]},{i}\n" for i in range(12)),
}.items():
    write("panel", name, text)
for name, text in {
    "equal": "ts\0@univariate true\n@classLabel true a b\n@data\n" + "1,2,3,4:a\n4,?,2,1:b\n" * 4,
    "dimensions": "ts\0@univariate false\n@dimensions 2\n@classLabel true a b\n@data\n" + "1,2:3,4:a\n4,3,2:1,0,1:b\n" * 4,
    "arff": "arff\0@relation r\n@attribute t0 numeric\n@attribute t1 numeric\n@attribute c {a,b}\n@data\n" + "1,?,a\n2,3,b\n" * 4,
    "table": "csv\0id,label,v1,v2,v3\n" + "".join(f"{i},{'ab'[i % 2]},{i},{i * 2},{i % 3}\n" for i in range(8)),
    "numbers": "txt\0" + "".join(f"{1 + i % 2} {i}.5 -1e2 {'NaN' if i == 3 else 3}\n" for i in range(8)),
}.items():
    write("series_collection", name, text)
write("caption_set", "four.json", json.dumps({
    "images": [{"id": i, "file_name": f"{i}.png"} for i in range(1, 5)],
    "annotations": [{"image_id": i, "id": 10 + i, "caption": f"A dog, {i} cats and Bob's caf\u00e9."} for i in range(1, 5)] + [{"image_id": 1, "id": 9, "caption": "U.S.A."}]}))
write("caption_set", "long_name.json", json.dumps({
    "images": [{"id": 1, "file_name": "1.png"}, {"id": 2, "file_name": 300 * "x"}], "annotations": [{"image_id": 1, "id": 1, "caption": "A dog."}]}))
scene = (np.arange(16 * 16) // 40 % 3).reshape(16, 16)
for dtype in ("u1", "<f4"):
    stream = io.BytesIO()
    np.save(stream, scene.astype(dtype))
    write("segmentation_set", f"{dtype[-2:]}.npy", stream.getvalue())
stream = io.BytesIO()
tifffile.imwrite(stream, scene.astype("u1"), software=None, metadata=None)
write("segmentation_set", "u1.tif", stream.getvalue())
documents = {"tokens": np.arange(24, dtype="<u2") % 20, "documents": np.array([0, 5, 5, 12, 24], "<i8"), "bytes": np.array([9, 0, 20, 30], "<i8"),
             "words": np.array([2, 0, 4, 6], "<i8")}
for wide in (False, True):
    tensors = {**documents, "tokens": documents["tokens"].astype("<u4")} if wide else documents
    write("token_file", "wide.safetensors" if wide else "narrow.safetensors", safetensors.numpy.save(tensors, metadata={
        "format": "modewise tokens 1", "tokenizer": "bytes", "tokenizer_hash": "", "tokenizer_path": "bytes", "vocabulary": "257", "source": "x"}))

# Texts for the tokenizers of the other corpora, and patterns with texts.
TEXTS = ["The cat's 2nd hat, na\u00efve caf\u00e9!\n  x", "first text\0second text", "\u4e2d\u6587 \U0001f600\u0301 <s>[MASK]</s>"]
for number in range(7):  # a tokenizer each
    write("tokenizer_text", f"{number}.txt", str(number) + TEXTS[number % 3])
write("tokenizer_text", "bytes", bytes(range(256)))
write("tokenizer_text", "lost_text", "4" + " " * 40 + "\ufb01" * 40)  # a ligature is decoded as two letters
for index, pattern in enumerate([r"'s|'t| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+", r"(?i:'s|'t)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}{1,3}", r"(?<=a)b*?|\Ac|\X", " ", r"[[a-f]&&[^c]]+"]):
    write("split_pattern", f"{index}", pattern + "\0The cat's 42 caf\u00e9s, abc  \n")
for index, text in enumerate(["1.5\n1,234.5\n1 234,5\n-0.61%\n$5\n68.18K\n(1,234)\n5-", "12.5 kWh\n12.5*\n12.5[1]\nn/a\n1e999\n+.5e-3\n1'234", "\u22125\n1\u202f234\n\u20ac 1.000,00\n12,34,567\nR$5"]):
    write("number_text", f"{index}.txt", text)
write("tokenizer_config", "sentencepiece.json", "2" + json.dumps({"add_bos_token": True, "bos_token": {"content": "<s>", "lstrip": False}, "eos_token": "</s>", "model_max_length": 1e30})
      + '\0{"bos_token": "<s>", "eos_token": null, "additional_special_tokens": ["<x>"]}')
write("tokenizer_config", "bert.json", "0" + json.dumps({"do_lower_case": True, "strip_accents": False, "unk_token": "[UNK]", "mask_token": {"content": "[MASK]"}}))

write("tokenizer_config", "byte_level.json", '1{"add_bos_token": false, "bos_token": null, "eos_token": {"content": "</s>"}}\0{"bos_token": "<s>"}')

# Settings, claims, sweeps and searches.
write("run_settings", "all.toml", """[forecast]
path = "a.csv"
columns = ["x", "y"]
split_ratios = [0.6, 0.2, 0.2]
[forecast.lorenz96]
sites = 4
[series]
protocol = "paper"
[scenes.augment]
flips = false
[volumes]
size = [8, 8, 8]
spacing = 1e0
""" + "\0scenes.class_names=['a', \"b\"]")
write("run_settings", "inline.toml", 'text = { pair = "none", classes = ["a", "b\\n"] }\ncaptions.size = 0x10\n\0forecast.missing_values=-9999,nan')
write("claim_file", "claim.json", json.dumps({"token": "0123456789abcdef", "host": "a", "machine": "b", "process": 12, "start": "34", "beats": 5}) + "\n")
write("sweep_plan", "grid.toml", """name = "attention"
task = "forecasting"
config = "base.toml"
seeds = [1, 2]
[settings]
train.epochs = 1
data.columns = ["OT", "HUFL"]
[[axis]]
name = "heads"
key = "model.heads"
values = [1, 2]
[[axis]]
name = "attention"
choices = [{ name = "product", set = { model.attention.combine = "product" } }, { name = "none", set = { model.attention.kernel = "none" } }]
[[metric]]
path = "/best/val_mse"
name = "validation MSE"
best = "lowest"
decimals = 3
""")
write("sweep_plan", "group.toml", 'task = "forecasting"\n[[axis]]\nname = "model"\nchoices = [{ name = "hot" }, { name = "dlinear", set = { model.name = "dlinear" } }]\n[[axis]]\nkey = "model.heads"\nvalues = [1, 4]\n[[group]]\nchoices = ["hot", "4"]\nset = { model.width = 8 }\n')
write("sweep_plan", "least.toml", 'task = "forecasting"\n[[axis]]\nname = "rate"\nkey = "train.learning_rate"\nvalues = [1e-3, 0.1, "x"]\n')
write("search_request", "full.json", json.dumps({
    "task": "forecasting", "config": "", "data": "a.csv", "settings": ["train.batch_size=8"], "seed": 3,
    "metric": {"path": "/best/val_mse", "name": "validation MSE", "best": "lowest", "decimals": 3, "factor": 1.0}, "budget_seconds": 60.5, "jobs": 1, "threads": 2,
    "steps_setting": "train.max_steps={steps}", "epochs_key": "train.epochs", "last_settings": [], "ensemble": ["model.members={runs}"], "splits": [], "least_share": 0.1,
    "refit": [], "candidates": [{"name": "dlinear", "settings": ["model.type=dlinear"], "fitted": False}]}))
