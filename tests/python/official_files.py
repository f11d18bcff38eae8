"""Made files with the names, layouts and shapes of the data sets of the papers' tables (docs/reproduce.md), small."""

import json

import numpy as np
from PIL import Image

from cli_helpers import write_csv

VOLUMES = {"organmnist3d": 11, "nodulemnist3d": 2, "fracturemnist3d": 3, "adrenalmnist3d": 2, "vesselmnist3d": 2, "synapsemnist3d": 2}
TABLES = {"electricity": 3, "weather": 3, "traffic": 3, "exchange_rate": 2, "ETTh1": 2}
WORDS = ["red", "green", "old", "new", "house", "tree", "river", "stone"]


def write_tables(folder):
    """8,200 or 14,500 rows, so that each split holds a window of 96 + 720."""
    for name, columns in TABLES.items():
        rows = 14500 if name == "ETTh1" else 8200
        write_csv(folder / f"{name}.csv", rows, [f"c{i}" for i in range(columns - 1)] + ["OT"])
    values = np.random.default_rng(4).normal(size=(8200, 3)).cumsum(0)
    np.savetxt(folder / "solar_AL.txt", values, fmt="%.3f", delimiter=",")


def write_volumes(folder):
    """MedMNIST3D's six files: 28³ bytes, each class in each split."""
    rng = np.random.default_rng(1)
    for name, classes in VOLUMES.items():
        parts = {}
        for part in ("train", "val", "test"):
            labels = np.arange(2 * classes) % classes
            parts[f"{part}_images"] = rng.integers(0, 256, (len(labels), 28, 28, 28), dtype=np.uint8)
            parts[f"{part}_labels"] = labels[:, None].astype(np.uint8)
        np.savez(folder / f"{name}.npz", **parts)


def write_cifar(folder):
    """CIFAR-10 in its binary layout, 20 images a file."""
    rng = np.random.default_rng(2)
    (folder / "cifar-10-batches-bin").mkdir()
    for name in [f"data_batch_{i}" for i in range(1, 6)] + ["test_batch"]:
        records = rng.integers(0, 256, (20, 3073), dtype=np.uint8)
        records[:, 0] = np.arange(20) % 10
        (folder / "cifar-10-batches-bin" / f"{name}.bin").write_bytes(records.tobytes())


def write_scenes(folder, count=20):
    """SSL4EO-L's benchmark of OLI surface reflectance: 7 bands of 264 × 264 bytes, masks of both legends."""
    import tifffile

    rng = np.random.default_rng(3)
    for i in range(count):
        place = f"{i:07}/LC08_{i:03}_20190101"
        for name, file, values in (
            ("ssl4eo_l_oli_sr_benchmark", "all_bands.tif", rng.integers(0, 256, (7, 264, 264))),
            ("ssl4eo_l_oli_nlcd", "nlcd_2019.tif", rng.choice([11, 21, 41, 42, 81, 90], (264, 264))),
            ("ssl4eo_l_oli_cdl", "cdl_2019.tif", rng.choice([1, 5, 24, 36, 61, 176], (264, 264))),
        ):
            path = folder / name / place / file
            path.parent.mkdir(parents=True)
            tifffile.imwrite(path, values.astype(np.uint8), photometric="minisblack", planarconfig="separate" if values.ndim == 3 else None)


def text(rng, words=6):
    return " ".join(rng.choice(WORDS, size=words))


def write_glue(folder, train=40, dev=12):
    """The eight tasks in GLUE's own columns, with dev.tsv (MNLI: two of them)."""
    pairs = ("entailment", "not_entailment")
    columns = {
        "MNLI": ("index genre sentence1 sentence2 label1 gold_label", lambda i, a, b: (i, "fiction", a, b, *[("entailment", "neutral", "contradiction")[i % 3]] * 2)),
        "QQP": ("id qid1 qid2 question1 question2 is_duplicate", lambda i, a, b: (i, i, i, a, b, i % 2)),
        "QNLI": ("index question sentence label", lambda i, a, b: (i, a, b, pairs[i % 2])),
        "SST-2": ("sentence label", lambda i, a, _: (a, i % 2)),
        "CoLA": ("", lambda i, a, _: ("gj04", i % 2, "", a)),
        "STS-B": ("index sentence1 sentence2 score", lambda i, a, b: (i, a, b, f"{i % 6:.3f}")),
        "MRPC": ("Quality #1_ID #2_ID #1_String #2_String", lambda i, a, b: (i % 2, i, i, a, b)),
        "RTE": ("index sentence1 sentence2 label", lambda i, a, b: (i, a, b, pairs[i % 2])),
    }  # fmt: skip
    rng = np.random.default_rng(4)
    for task, (header, row) in columns.items():
        (folder / task).mkdir()
        for name, count in (("train", train), *([("dev_matched", dev), ("dev_mismatched", dev)] if task == "MNLI" else [("dev", dev)])):
            rows = ["\t".join(map(str, row(i, text(rng), text(rng)))) for i in range(count)]
            names = ["\t".join(header.split()).replace("_ID", " ID").replace("_String", " String")] if header else []
            (folder / task / f"{name}.tsv").write_text("\n".join(names + rows) + "\n")


def write_roberta(folder):
    """A small random RoBERTa as Hugging Face's roberta-base: byte-level BPE, config.json, model.safetensors."""
    import tokenizers
    import torch
    import transformers

    rng = np.random.default_rng(5)
    special = ["<s>", "<pad>", "</s>", "<unk>", "<mask>"]
    bpe = tokenizers.ByteLevelBPETokenizer()
    bpe.train_from_iterator([text(rng) for _ in range(50)], vocab_size=300, special_tokens=special)
    bpe.post_processor = tokenizers.processors.RobertaProcessing(("</s>", 2), ("<s>", 0))
    transformers.PreTrainedTokenizerFast(
        tokenizer_object=bpe._tokenizer, bos_token="<s>", eos_token="</s>", cls_token="<s>", sep_token="</s>", unk_token="<unk>",
        pad_token="<pad>", mask_token="<mask>", model_max_length=128).save_pretrained(folder)  # fmt: skip
    torch.manual_seed(0)
    config = transformers.RobertaConfig(vocab_size=bpe.get_vocab_size(), hidden_size=16, num_hidden_layers=1, num_attention_heads=2, intermediate_size=32,
                                        max_position_embeddings=130, type_vocab_size=1)  # fmt: skip
    transformers.RobertaForMaskedLM(config).save_pretrained(folder)


def write_long_series(folder, steps=200):
    """The four data sets of long series as .ts files of the archives, one variable, two classes (FaultDetectionA: three)."""
    rng = np.random.default_rng(6)
    for name, variables in (("BinaryHeartbeat", 1), ("EigenWorms", 6), ("FaultDetectionA", 1), ("CatsDogs", 1)):
        classes = ["a", "b", "c"][: 3 if name == "FaultDetectionA" else 2]
        (folder / name).mkdir()
        for part, count in (("TRAIN", 30), ("TEST", 15)):
            lines = [f"@problemName {name}", f"@univariate {str(variables == 1).lower()}", f"@dimensions {variables}", "@equalLength true",
                     f"@seriesLength {steps}", f"@classLabel true {' '.join(classes)}", "@data"]  # fmt: skip
            for i in range(count):
                sample = [",".join(f"{x:.3f}" for x in rng.normal(size=steps)) for _ in range(variables)]
                lines.append(":".join([*sample, classes[i % len(classes)]]))
            (folder / name / f"{name}_{part}.ts").write_text("\n".join(lines) + "\n")


def write_texts(folder, characters=2_000_000):
    """A plain text of a proof pile: 2 % of it hold a stretch of 32,768 bytes."""
    (folder / "proof-pile").mkdir()
    (folder / "proof-pile" / "one.txt").write_text(text(np.random.default_rng(7), characters // 5)[:characters])


def write_coco(folder):
    """COCO's captions of 2014: five captions of an image, which is a colour."""
    rng = np.random.default_rng(8)
    (folder / "annotations").mkdir()
    for part, first, count in (("train", 1, 30), ("val", 101, 10)):
        (folder / f"{part}2014").mkdir()
        images, annotations = [], []
        for i in range(first, first + count):
            name = f"COCO_{part}2014_{i:012}.jpg"
            Image.fromarray(np.full((40, 48, 3), [255 * (i % 2), 255 * (1 - i % 2), 0], np.uint8)).save(folder / f"{part}2014" / name)
            images.append({"id": i, "file_name": name, "height": 40, "width": 48})
            annotations += [{"image_id": i, "id": 10 * i + k, "caption": f"A {WORDS[i % 2]} {text(rng, 3)}."} for k in range(5)]
        (folder / "annotations" / f"captions_{part}2014.json").write_text(json.dumps({"images": images, "annotations": annotations}))


def write_questions(folder):
    """Questions of lm-eval's nine tasks and LongBench's seven, as their JSONL files have them."""
    rng = np.random.default_rng(9)
    choices = [text(rng, 2) for _ in range(4)]
    files = {
        "hellaswag_val": {"activity_label": "Roof", "ctx_a": "A man sits.", "ctx_b": "he", "endings": choices, "label": "1"},
        "siqa_dev": {"context": "C.", "question": "Why?", "answerA": "a b", "answerB": "b c", "answerC": "c d", "label": "3"},
        "winogrande_dev": {"sentence": "Ann met Bo since _ was late.", "option1": "Ann", "option2": "Bo", "answer": "2"},
        "piqa_valid": {"goal": "open", "sol1": "push it", "sol2": "pull it", "label": 0},
        "NQ-open.dev": {"question": "who came", "answer": ["Ann", "Bo"]},
        "triviaqa_dev": {"question": "Who came", "answer": {"value": "Ann", "aliases": ["Ann", "Bo"]}},
        **{f"race_{school}": {"article": text(rng, 40), "question": "Why?", "options": choices, "answer": "D"} for school in ("middle", "high")},
        **{f"mmlu_{part}": {"question": "q", "choices": choices, "answer": 3, "subject": "anatomy"} for part in ("test", "dev")},
        **{name: {"input": "Q", "context": text(rng, 600), "answers": ["x", "y"], "all_classes": ["x", "y"] if name == "trec" else None, "length": 600}
           for name in ("hotpotqa", "2wikimqa", "gov_report", "qmsum", "trec", "triviaqa", "samsum")},
    }  # fmt: skip
    for name, one in files.items():
        (folder / f"{name}.jsonl").write_text((json.dumps(one) + "\n") * (5 if name == "mmlu_dev" else 2))
