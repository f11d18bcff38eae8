"""Heads of pretrained folders: their rows belong to the classes of the data, and nothing differs in silence. The oracle is transformers."""

import json

import pytest

from cli_helpers import fails, ok

torch = pytest.importorskip("torch")
transformers = pytest.importorskip("transformers", reason="transformers is not installed: folders are not compared with it")

WORDS = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]", "the", "cat", "dog", "sun", "rain", "is", "good", "bad"]
SIZES = dict(vocab_size=len(WORDS), hidden_size=16, num_hidden_layers=1, num_attention_heads=2, intermediate_size=24, max_position_embeddings=12,
             initializer_range=0.5)  # fmt: skip
TEXTS = ["the cat is good", "the dog is bad", "rain", "the sun is the sun", "bad cat", "good"]
ONCE = ["--set", "train.epochs=0", "--set", "output.report=false"]


def encoder(folder, kind="Bert", head="SequenceClassification", **options):
    torch.manual_seed(3)
    config = getattr(transformers, f"{kind}Config")(**{**SIZES, "pad_token_id": 0, **options})
    model = getattr(transformers, f"{kind}For{head}")(config).eval()
    model.save_pretrained(folder)
    (folder / "vocab.txt").write_text("\n".join(WORDS) + "\n")
    return model


def rows(path, classes, texts=TEXTS):
    path.write_text("".join(json.dumps({"text": text, "label": classes[i % len(classes)]}) + "\n" for i, text in enumerate(texts * 4)))
    return path


def probabilities(model, texts=TEXTS):
    """By class name."""
    ids = [[WORDS.index(word) for word in ("[CLS]", *text.split(), "[SEP]")] for text in texts]
    with torch.no_grad():
        all_rows = [model(input_ids=torch.tensor([one])).logits.softmax(-1)[0] for one in ids]
    return [{name: float(row[i]) for i, name in model.config.id2label.items()} for row in all_rows]


def predicted(run, texts=TEXTS):
    (run / "texts.txt").write_text("\n".join(texts) + "\n")
    return json.loads(ok("predict", run, "--data", run / "texts.txt", "--json").stdout)


@pytest.mark.parametrize("kind", ["Bert", "Roberta"])
def test_a_head_of_the_same_classes_keeps_their_names(tmp_path, kind):
    options = {"max_position_embeddings": 14} if kind == "Roberta" else {}
    for names in (["neg", "pos", "zero"], ["pos", "zero", "neg"]):
        source = tmp_path / "-".join(names)
        model = encoder(source, kind, id2label=dict(enumerate(names)), label2id={name: i for i, name in enumerate(names)}, **options)
        run = tmp_path / f"run-{names[0]}"
        said = ok("train", "text", rows(tmp_path / "data.jsonl", ["pos", "neg", "zero"]), "--from", source, "--out", run, *ONCE).stderr
        reordered = "the rows of the head are reordered from the classes pos, zero, neg to those of the data, neg, pos, zero"
        assert (reordered in said) == (names[0] == "pos") and "newly" not in said
        back = transformers.AutoModelForSequenceClassification.from_pretrained(run / "model").eval()
        assert back.config.id2label == {0: "neg", 1: "pos", 2: "zero"}
        for got, wanted in zip(probabilities(back), probabilities(model)):
            assert got == pytest.approx(wanted, abs=1e-5)


def test_a_head_of_other_classes_is_initialised_and_one_without_names_kept(tmp_path):
    data = rows(tmp_path / "data.jsonl", ["art", "sport"])
    wanted = {"named": "the head is newly initialized: the folder has one for the classes neg, pos, but the data has art, sport",
              "nameless": "the head is kept: its classes LABEL_0, LABEL_1 have no names, and are taken as art, sport"}  # fmt: skip
    for name, sentence in wanted.items():
        model = encoder(tmp_path / name, id2label={0: "neg", 1: "pos"} if name == "named" else {0: "LABEL_0", 1: "LABEL_1"})
        assert sentence in ok("train", "text", data, "--from", tmp_path / name, "--out", tmp_path / f"run-{name}", *ONCE).stderr
        back = transformers.AutoModelForSequenceClassification.from_pretrained(tmp_path / f"run-{name}" / "model")
        same = torch.equal(back.classifier.weight, model.classifier.weight)
        assert same == (name == "nameless")


def test_the_head_of_another_task_is_not_taken(tmp_path):
    encoder(tmp_path / "m", head="TokenClassification", num_labels=2)
    said = ok("train", "text", rows(tmp_path / "data.jsonl", ["a", "b"]), "--from", tmp_path / "m", "--out", tmp_path / "run", *ONCE).stderr
    assert "the head is newly initialized: BertForTokenClassification has no matching one" in said


@pytest.mark.parametrize("order", [[2, 0, 1], [0, 1, None]], ids=["reordered", "other"])
def test_a_vit_keeps_the_names_of_its_classes(tmp_path, order):
    from test_image_classification import write_folder
    from test_vit import random_model

    data = write_folder(tmp_path / "shapes", {"train": 4, "val": 2, "test": 4})
    classes = sorted(path.name for path in (data / "train").iterdir())
    names = ["other" if i is None else classes[i] for i in order]
    random_model(tmp_path / "vit", labels=3, id2label=dict(enumerate(names)), label2id={name: i for i, name in enumerate(names)})
    said = ok("train", "classify-images", "--data", data, "--out", tmp_path / "run", "--set", "model.name=vit", "--set", f"model.vit.from={tmp_path / 'vit'}",
              "--set", "data.size=[12,12]", "--set", "augment.crop=0", *ONCE).stderr  # fmt: skip
    lists = ", ".join(names), ", ".join(classes)
    if "other" in names:
        assert "the head is newly initialized: the folder has one for the classes {}, but the data has {}".format(*lists) in said
    else:
        assert "the rows of the head are reordered from the classes {} to those of the data, {}".format(*lists) in said


@pytest.mark.parametrize("kind", ["Bert", "Roberta"])
def test_an_output_layer_that_is_not_the_embedding_is_refused(tmp_path, kind):
    import safetensors.torch

    source = tmp_path / "m"
    encoder(source, kind, "MaskedLM")
    decoder = "cls.predictions.decoder.weight" if kind == "Bert" else "lm_head.decoder.weight"
    tensors = safetensors.torch.load_file(source / "model.safetensors")
    words = f"{kind.lower()}.embeddings.word_embeddings.weight"
    (tmp_path / "texts.txt").write_text("\n<|endoftext|>\n".join(TEXTS * 9))
    start = ["train", "text", "--objective", "masked_lm", "--data", tmp_path / "texts.txt", "--from", source, *ONCE]
    tensors[decoder] = tensors[words].clone()
    safetensors.torch.save_file(tensors, source / "model.safetensors", metadata={"format": "pt"})
    assert decoder not in ok(*start, "--out", tmp_path / "run").stderr
    tensors[decoder] += 1
    safetensors.torch.save_file(tensors, source / "model.safetensors", metadata={"format": "pt"})
    fails(65, f"{source}: the tensor '{decoder}' differs from '{words}'; an untied output layer is not supported", arguments=[*start, "--out", tmp_path / "no"])
    ok("train", "text", rows(tmp_path / "data.jsonl", ["a", "b"]), "--from", source, "--out", tmp_path / "classes", *ONCE)  # needs the encoder alone
