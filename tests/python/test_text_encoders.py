"""Encoders of text against transformers: random small BERTs and RoBERTas give the same logits here, and what is written here
gives the same logits there.

Needs the test program `text_model_dump`: MODEWISE_BUILD names the build folder (build/ by default).
"""

import json
import shutil
import subprocess

import numpy as np
import pytest
import safetensors.numpy
import torch

from programs import built

transformers = pytest.importorskip("transformers")

PROGRAM = built("text_model_dump")

SIZES = dict(vocab_size=97, hidden_size=24, num_hidden_layers=3, num_attention_heads=3, intermediate_size=40)
KINDS = {"bert": ("Bert", dict(max_position_embeddings=33, type_vocab_size=2, pad_token_id=0)),
         "roberta": ("Roberta", dict(max_position_embeddings=35, type_vocab_size=1, pad_token_id=1, layer_norm_eps=1e-5))}


def random_model(kind, head, seed=0, **options):
    """With weights large enough that every part of the model matters."""
    name, sizes = KINDS[kind]
    torch.manual_seed(seed)
    config = getattr(transformers, f"{name}Config")(**{**SIZES, **sizes, "initializer_range": 0.3, **options})
    model = getattr(transformers, f"{name}For{head}")(config)
    with torch.no_grad():
        for parameter in model.parameters():
            if parameter.dim() == 1:
                parameter.add_(torch.randn_like(parameter) * 0.2)
    return model.eval()


def batch(kind, types=2, seed=3):
    """Five texts of 1 to 33 tokens, filled up; what stands behind a text is padding."""
    rng = np.random.default_rng(seed)
    lengths = [33, 17, 5, 1, 31]
    padding = KINDS[kind][1]["pad_token_id"]
    ids = rng.integers(2, 97, (5, 33))
    mask = np.arange(33)[None, :] < np.array(lengths)[:, None]
    ids[~mask] = padding
    return {"ids": ids, "mask": mask, "types": (rng.integers(0, types, (5, 33)) * mask).astype(np.int64)}


def ask(tmp_path, what, folder, inputs):
    """Our logits, and the folder that we have written."""
    safetensors.numpy.save_file(inputs, tmp_path / "inputs")
    copy = tmp_path / "copy"
    shutil.rmtree(copy, ignore_errors=True)
    result = subprocess.run([PROGRAM], input="\t".join([what, str(folder), str(tmp_path / "inputs"), str(tmp_path / "logits"), str(copy)]) + "\n",
                            capture_output=True, text=True, check=True)
    if result.stdout != "ok\n":
        return result.stdout.strip(), copy
    return safetensors.numpy.load_file(tmp_path / "logits")["logits"], copy


def theirs(model, inputs, types=True):
    with torch.no_grad():
        return model(input_ids=torch.from_numpy(inputs["ids"]), attention_mask=torch.from_numpy(inputs["mask"]).long(),
                     token_type_ids=torch.from_numpy(inputs["types"]) if types else None).logits.numpy()


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("labels", [1, 3])
def test_classifiers_agree_both_ways(kind, labels, tmp_path):
    model = random_model(kind, "SequenceClassification", num_labels=labels)
    model.save_pretrained(tmp_path / "theirs")
    inputs = batch(kind, types=2 if kind == "bert" else 1)
    wanted = theirs(model, inputs)
    assert np.ptp(wanted, axis=0).min() > 0.1  # the texts do not all get the same
    got, copy = ask(tmp_path, "classes", tmp_path / "theirs", inputs)
    np.testing.assert_allclose(got, wanted, atol=1e-4, rtol=0)
    back, report = transformers.AutoModelForSequenceClassification.from_pretrained(copy, output_loading_info=True)
    assert not report["missing_keys"] and not report["unexpected_keys"]
    np.testing.assert_allclose(theirs(back.eval(), inputs), got, atol=1e-4, rtol=0)
    assert back.config.id2label == model.config.id2label


@pytest.mark.parametrize("kind", KINDS)
def test_masked_models_agree_both_ways(kind, tmp_path):
    model = random_model(kind, "MaskedLM", seed=1)
    model.save_pretrained(tmp_path / "theirs")
    inputs = batch(kind, types=2 if kind == "bert" else 1)
    wanted = theirs(model, inputs)
    got, copy = ask(tmp_path, "masked", tmp_path / "theirs", inputs)
    np.testing.assert_allclose(got[inputs["mask"]], wanted[inputs["mask"]], atol=1e-4, rtol=0)
    back, report = getattr(transformers, f"{KINDS[kind][0]}ForMaskedLM").from_pretrained(copy, output_loading_info=True)
    assert not report["missing_keys"] and not report["unexpected_keys"]
    np.testing.assert_allclose(theirs(back.eval(), inputs)[inputs["mask"]], got[inputs["mask"]], atol=1e-4, rtol=0)


def test_roberta_counts_tokens_that_are_no_padding(tmp_path):
    """Padding in front: places are counted over the others, and a padding token within a text has no place."""
    model = random_model("roberta", "MaskedLM")
    model.save_pretrained(tmp_path / "theirs")
    inputs = batch("roberta", types=1)
    ids, mask = inputs["ids"], inputs["mask"]
    inputs["ids"], inputs["mask"] = np.ascontiguousarray(ids[:, ::-1]), np.ascontiguousarray(mask[:, ::-1])
    inputs["ids"][0, 7] = 1
    got, _ = ask(tmp_path, "masked", tmp_path / "theirs", inputs)
    np.testing.assert_allclose(got[inputs["mask"]], theirs(model, inputs)[inputs["mask"]], atol=1e-4, rtol=0)


def test_older_names_and_other_types_are_read(tmp_path):
    """LayerNorm's gamma and beta, half the bits, tables that follow from the config, a pre-training's second head."""
    model = random_model("bert", "SequenceClassification").half().float()
    model.save_pretrained(tmp_path / "theirs")
    path = tmp_path / "theirs" / "model.safetensors"
    tensors = safetensors.numpy.load_file(path)
    old = {name.replace("LayerNorm.weight", "LayerNorm.gamma").replace("LayerNorm.bias", "LayerNorm.beta"): value.astype(np.float16) for name, value in tensors.items()}
    old["bert.embeddings.position_ids"] = np.arange(33)[None]
    old["cls.seq_relationship.bias"] = np.zeros(2, np.float32)
    safetensors.numpy.save_file(old, path)
    inputs = batch("bert")
    got, _ = ask(tmp_path, "classes", tmp_path / "theirs", inputs)
    np.testing.assert_allclose(got, theirs(model, inputs), atol=1e-4, rtol=0)


def changed_config(folder, **changes):
    path = folder / "config.json"
    config = json.loads(path.read_text())
    config.update(changes)
    path.write_text(json.dumps(config))


LIES = {
    "heads": (dict(num_attention_heads=5), "theirs/config.json: width = 24 must be a multiple of heads = 5"),
    "positions": (dict(max_position_embeddings=512),
                  "theirs: according to config.json (hidden_size 24, num_attention_heads 3, intermediate_size 40, vocab_size 97, max_position_embeddings 512, type_vocab_size 2) "
                  "the tensor 'bert.embeddings.position_embeddings.weight' is [512, 24], but its file has [33, 24]"),
    "fewer layers": (dict(num_hidden_layers=2),
                     "theirs: unexpected tensor 'bert.encoder.layer.2.attention.output.LayerNorm.bias' for a model of 2 layers"),
    "more layers": (dict(num_hidden_layers=4), "theirs: the weights have no tensor 'bert.encoder.layer.3.attention.self.query.weight' of shape [24, 24]"),
    "activation": (dict(hidden_act="relu"), 'theirs/config.json: hidden_act is "relu"; only gelu is supported'),
    "relative": (dict(position_embedding_type="relative_key"), 'theirs/config.json: position_embedding_type is "relative_key"; only absolute is supported'),
    "decoder": (dict(is_decoder=True), "theirs/config.json: is_decoder is true; only encoders are supported"),
    "architecture": (dict(architectures=["GPT2Model"], model_type="gpt2"),
                     'theirs/config.json: unsupported architecture GPT2Model (model_type "gpt2"); supported are BERT and RoBERTa encoders and modewise exports'),
    "width": (dict(hidden_size="24"), 'theirs/config.json: hidden_size must be an integer, got "24"'),
    "labels": (dict(id2label={"0": "a", "2": "b"}), 'theirs/config.json: id2label has 2 labels, but no string for "1"'),
    "regression": (dict(problem_type="regression"), 'theirs/config.json: problem_type is "regression", but there are 3 labels; expected one'),
    "vocabulary": (dict(vocab_size=2**31), "theirs/config.json: vocabulary must be a number from 1 to 16777216, got 2147483648"),
    "masked": (dict(architectures=["BertForMaskedLM"]),
               "theirs: the architecture is BertForMaskedLM; expected a classifier (…ForSequenceClassification)"),
}


@pytest.mark.parametrize("lie", LIES)
def test_a_config_that_lies_is_refused(lie, tmp_path):
    random_model("bert", "SequenceClassification", num_labels=3).save_pretrained(tmp_path / "theirs")
    changes, sentence = LIES[lie]
    changed_config(tmp_path / "theirs", **changes)
    answer, _ = ask(tmp_path, "classes", tmp_path / "theirs", batch("bert"))
    assert answer == f"error 65 {tmp_path}/{sentence}"


def test_roberta_without_places_is_refused(tmp_path):
    random_model("roberta", "SequenceClassification").save_pretrained(tmp_path / "theirs")
    changed_config(tmp_path / "theirs", max_position_embeddings=2)
    answer, _ = ask(tmp_path, "classes", tmp_path / "theirs", batch("roberta", 1))
    assert answer == (f"error 65 {tmp_path}/theirs/config.json: max_position_embeddings is 2, but RoBERTa's positions start at row "
                      "pad_token_id + 1 = 2")


@pytest.mark.parametrize("what", ["token", "negative", "type", "long", "empty", "padding in front"])
def test_texts_that_do_not_fit_are_refused(what, tmp_path):
    random_model("bert", "SequenceClassification").save_pretrained(tmp_path / "theirs")
    inputs = batch("bert")
    if what == "token":
        inputs["ids"][2, 3] = 97
        sentence = "text 2 of the batch, token 3: token 97 is not among the 97 of the model's vocabulary"
    elif what == "negative":
        inputs["ids"][4, 30] = -1
        sentence = "text 4 of the batch, token 30: token -1 is not among the 97 of the model's vocabulary"
    elif what == "type":
        inputs["types"][1, 0] = 2
        sentence = "text 1 of the batch, token 0: type 2 is not among the 2 of the model's token types"
    elif what == "long":
        inputs = {name: np.concatenate([value, value], 1) for name, value in inputs.items()}
        sentence = "a text of 66 tokens is longer than the model's 33 position embeddings"
    elif what == "padding in front":
        inputs["mask"][1, 0] = False
        sentence = "text 1 of the batch starts with padding, but the classifier reads its first token"
    else:
        inputs["mask"][3] = False
        sentence = "text 3 of the batch has no tokens: its padding mask excludes all of them"
    answer, _ = ask(tmp_path, "classes", tmp_path / "theirs", inputs)
    assert answer == f"error 65 {sentence}"


def test_damaged_folders_are_refused_or_read(tmp_path):
    """Every tenth byte of the head of the weights changed, every length of the config: a sentence or an answer, never a crash."""
    random_model("bert", "SequenceClassification").save_pretrained(tmp_path / "whole")
    weights = (tmp_path / "whole" / "model.safetensors").read_bytes()
    config = (tmp_path / "whole" / "config.json").read_bytes()
    inputs = batch("bert")
    safetensors.numpy.save_file(inputs, tmp_path / "inputs")
    rng = np.random.default_rng(5)
    lines = []
    for number in range(60):
        folder = tmp_path / f"damaged{number}"
        folder.mkdir()
        broken, cut = bytearray(weights), config
        if number < 40:
            broken[rng.integers(0, 6000)] ^= 1 << rng.integers(0, 8)
        else:
            cut = config[:rng.integers(0, len(config) - 2)]
        (folder / "model.safetensors").write_bytes(broken)
        (folder / "config.json").write_bytes(cut)
        lines.append("\t".join(["classes", str(folder), str(tmp_path / "inputs"), str(tmp_path / "logits"), str(folder / "copy")]))
    result = subprocess.run([PROGRAM], input="\n".join(lines) + "\n", capture_output=True, text=True)
    assert result.returncode == 0
    answers = result.stdout.splitlines()
    assert len(answers) == 60
    for number, answer in enumerate(answers):
        if number >= 40:
            assert answer.startswith(f"error 65 {tmp_path}/damaged{number}/config.json"), answer
        else:
            assert answer == "ok" or answer.startswith(f"error 65 {tmp_path}/damaged{number}"), answer
