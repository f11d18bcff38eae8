"""ViT against transformers: random small models give the same logits and attention, and folders that lie are refused.

Needs the test program `vit_dump`: MODEWISE_BUILD names the build folder (build/ by default).
"""

import json
import subprocess

import numpy as np
import pytest
import safetensors.numpy
import torch

from programs import built

transformers = pytest.importorskip("transformers")

PROGRAM = built("vit_dump")


def random_model(folder, labels=5, head=True, **options):
    torch.manual_seed(4)
    sizes = {"hidden_size": 24, "num_hidden_layers": 3, "num_attention_heads": 3, "intermediate_size": 40, "image_size": 12, "patch_size": 4,
             "initializer_range": 0.3, "attn_implementation": "eager", "num_labels": labels, **options}
    config = transformers.ViTConfig(**sizes)
    model = transformers.ViTForImageClassification(config) if head else transformers.ViTModel(config)
    with torch.no_grad():
        for parameter in model.parameters():
            if parameter.dim() == 1 or parameter.shape[0] == 1:
                parameter.add_(torch.randn_like(parameter) * 0.3)
    model.save_pretrained(folder)
    return model.eval()


def ask(tmp_path, images):
    safetensors.numpy.save_file({"pictures": images}, tmp_path / "input")
    return subprocess.run([PROGRAM], input=f"{tmp_path / 'vit'}\t{tmp_path / 'input'}\t{tmp_path / 'output'}\n", capture_output=True, text=True, check=True).stdout.strip()


def images(rows=12, columns=12, channels=3):
    return np.random.default_rng(2).normal(size=(3, rows, columns, channels)).astype(np.float32)


@pytest.mark.parametrize("options", [dict(), dict(image_size=[8, 20], patch_size=4, num_channels=1), dict(image_size=15, patch_size=5)], ids=["square", "oblong", "odd"])
def test_logits_and_attention_agree(options, tmp_path):
    model = random_model(tmp_path / "vit", **options)
    size = options.get("image_size", 12)
    x = images(*(size if isinstance(size, list) else [size, size]), options.get("num_channels", 3))
    assert ask(tmp_path, x) == "ok"
    got = safetensors.numpy.load_file(tmp_path / "output")
    with torch.no_grad():
        wanted = model(pixel_values=torch.from_numpy(x).permute(0, 3, 1, 2), output_attentions=True)
    assert np.ptp(wanted.logits.numpy(), axis=0).min() > 0.1
    np.testing.assert_allclose(got["logits"], wanted.logits.numpy(), atol=1e-4, rtol=0)
    assert len(wanted.attentions) == 3
    for layer, matrix in enumerate(wanted.attentions):
        np.testing.assert_allclose(got[f"layer{layer + 1}"], matrix.numpy(), atol=1e-5, rtol=0)


def test_a_head_for_other_classes_is_initialized(tmp_path):
    random_model(tmp_path / "vit", labels=7)
    assert ask(tmp_path, images()) == f"ok the head is newly initialized: {tmp_path}/vit has none for 5 classes"


LIES = {
    "heads": (dict(num_attention_heads=5), "/config.json: hidden_size 24 must be a multiple of num_attention_heads 5"),
    "fewer layers": (dict(num_hidden_layers=2), ": unexpected tensor 'encoder.layer.2.layernorm_before.weight' for a model of 2 layers"),
    "more layers": (dict(num_hidden_layers=4), ": the weights have no tensor 'encoder.layer.3.layernorm_before.weight' of shape [24]"),
    "patches": (dict(patch_size=6), ": according to config.json the tensor 'embeddings.patch_embeddings.projection.weight' is [24, 3, 6, 6], but its file has [24, 3, 4, 4]"),
    "no whole patches": (dict(patch_size=5), "/config.json: image_size 12 × 12 must be a multiple of patch_size 5 × 5"),
    "image": (dict(image_size=16), ": according to config.json the tensor 'embeddings.position_embeddings' is [1, 17, 24], but its file has [1, 10, 24]"),
    "activation": (dict(hidden_act="relu"), '/config.json: hidden_act is "relu"; only gelu is supported'),
    "architecture": (dict(architectures=["BertModel"], model_type="bert"), '/config.json: unsupported architecture BertModel (model_type "bert"); supported is ViT'),
    "size": (dict(hidden_size=0), "/config.json: unsupported size 0; supported are 1 to 65536"),
}


@pytest.mark.parametrize("lie", LIES)
def test_a_config_that_lies_is_refused(lie, tmp_path):
    random_model(tmp_path / "vit")
    changes, sentence = LIES[lie]
    path = tmp_path / "vit" / "config.json"
    path.write_text(json.dumps({**json.loads(path.read_text()), **changes}))
    assert ask(tmp_path, images()) == f"error 65 {tmp_path}/vit{sentence}"


def test_images_of_another_size_are_refused(tmp_path):
    random_model(tmp_path / "vit")
    assert ask(tmp_path, images(16, 12)) == (f"error 65 {tmp_path}/vit is for images of 12 × 12 pixels and 3 channels, but the data has 16 × 12 and 3; "
                                               "data.size and data.channels convert images")


def test_a_vit_is_fine_tuned_on_images_and_explained(tmp_path):
    """By the program: from a folder, whose sizes count, to a run that reads its own weights again."""
    from test_image_classification import ok, write_folder

    data = write_folder(tmp_path / "shapes", {"train": 8, "val": 4, "test": 5})
    random_model(tmp_path / "vit", labels=3)
    ok("train", "classify-images", "--data", data, "--out", tmp_path / "run", "--set", "model.name=vit", "--set", f"model.vit.from={tmp_path / 'vit'}",
       "--set", "data.size=[12,12]", "--set", "train.epochs=1", "--set", "train.batch_size=8", "--set", "augment.crop=0")
    config = (tmp_path / "run" / "config.toml").read_text()
    for line in ("width = 24", "hidden = 40", "layers = 3", "heads = 3", "name = 'vit'"):
        assert line in config
    (tmp_path / "vit").rename(tmp_path / "gone")  # a run needs its start no more
    first = ok("evaluate", tmp_path / "run")
    assert ok("evaluate", tmp_path / "run").stdout == first.stdout
    ok("explain", tmp_path / "run", "--out", tmp_path / "why")
    maps = np.load(tmp_path / "why" / "explain.npz")
    assert maps["layer3_full"].shape[-2:] == (10, 10)
    np.testing.assert_allclose(maps["layer3_full"].sum(-1), 1, atol=1e-5)
