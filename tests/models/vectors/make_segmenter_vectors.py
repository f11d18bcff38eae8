"""Writes segmenters.json: U-Net on ResNet-18 and the token segmenters in plain PyTorch (float64). Weights and
inputs follow from a formula (`noise`), so that the file contains only results.

Run in this folder: python make_segmenter_vectors.py
"""

import json
import pathlib

import torch
import torch.nn.functional as F

from make_vectors import kronecker_attention, paper_attention

torch.set_default_dtype(torch.float64)


def noise(number, shape):
    """Values in ±1/2: a hash of the index and of `number`."""
    count = 1
    for size in shape:
        count *= size
    h = (torch.arange(count, dtype=torch.int64) * 2654435761 + number * 40503 + 12345) % 2**32
    h = ((h ^ (h >> 15)) * 2246822519) % 2**32
    h = h ^ (h >> 13)
    return (h.double() / 2**32 - 0.5).view(shape)


class Weights:
    """Every weight by name: near 1 for the scales of norms, else noise that keeps the size of activations."""

    def __init__(self):
        self.shapes, self.values, self.buffers = {}, {}, {}

    def number(self):
        self.values = {}
        for number, name in enumerate(sorted(self.shapes)):
            shape = self.shapes[name]
            value = noise(number, shape)
            if len(shape) == 1:
                value = value * 0.4 + (1 if name in self.scales() else 0)
            else:
                value = value * (12 / (value.numel() / shape[0])) ** 0.5
            self.values[name] = value.requires_grad_()

    def scales(self):
        return {name for name in self.shapes if name.endswith(".weight") and len(self.shapes[name]) == 1}

    def __call__(self, name, *shape, near=0.0):
        self.shapes.setdefault(name, shape)
        return self.values[name] if self.values else torch.ones(shape)

    def linear(self, name, x, out, bias=True):
        weight = self(name + ".weight", out, x.shape[-1])
        return F.linear(x, weight, self(name + ".bias", out) if bias else None)

    def layer_norm(self, name, x):
        width = x.shape[-1]
        return F.layer_norm(x, (width,), self(name + ".weight", width), self(name + ".bias", width), 1e-5)

    def batch_norm(self, name, x, training):
        """x [B, C, …]; the running statistics start at 0 and 1."""
        width = x.shape[1]
        mean, var = self.buffers.setdefault(name, (torch.zeros(width), torch.ones(width)))
        weight, bias = self(name + ".weight", width), self(name + ".bias", width)
        return F.batch_norm(x, mean, var, weight, bias, training, 0.1, 1e-5)


def convolve(w, name, x, out, kernel, stride=1, padding=0):
    return F.conv2d(x, w(name + ".weight", out, x.shape[1], kernel, kernel), None, stride, padding)


def unet(w, c, image, training):
    """image [B, N, N, channels] -> [B, N, N, C]; torchvision's ResNet-18 and segmentation_models' decoder."""
    width = c["width"]
    norm = lambda name, x: w.batch_norm(name, x, training)
    x = convolve(w, "encoder.conv1", image.permute(0, 3, 1, 2), width, 7, 2, 3)
    x = norm("encoder.bn1", x).relu()
    features = [x]
    x = F.max_pool2d(x, 3, 2, 1)
    for stage in range(4):
        for unit in range(2):
            name, out = f"encoder.layer{stage + 1}.{unit}", width << stage
            stride = 2 if stage > 0 and unit == 0 else 1
            y = norm(name + ".bn1", convolve(w, name + ".conv1", x, out, 3, stride, 1)).relu()
            y = norm(name + ".bn2", convolve(w, name + ".conv2", y, out, 3, 1, 1))
            if stride == 2:
                x = norm(name + ".downsample.1", convolve(w, name + ".downsample.0", x, out, 1, stride))
            x = (y + x).relu()
        features.append(x)
    skips = features[-2::-1] + [None]
    for i, (skip, out) in enumerate(zip(skips, (4 * width, 2 * width, width, width // 2, width // 4))):
        x = F.interpolate(x, scale_factor=2, mode="nearest")
        if skip is not None:
            x = torch.cat([x, skip], 1)
        for unit in ("conv1", "conv2"):
            name = f"decoder.blocks.{i}.{unit}"
            x = norm(name + ".1", convolve(w, name + ".0", x, out, 3, 1, 1)).relu()
    x = F.conv2d(x, w("segmentation_head.0.weight", c["classes"], x.shape[1], 3, 3),
                 w("segmentation_head.0.bias", c["classes"]), padding=1)
    return x.permute(0, 2, 3, 1)


def hot(w, c, image, valid, training):
    """image [B, T, N, N, channels] -> [B, N, N, C]: the released segmenter, with dates as a first mode."""
    batch, times, side, _, channels = image.shape
    width, p, classes = c["width"], c["patch"], c["classes"]
    x = F.conv2d(image.flatten(0, 1).permute(0, 3, 1, 2), w("emb.conv.0.weight", width, channels, p, p),
                 w("emb.conv.0.bias", width), stride=p).relu()
    if c["release"]:
        x = w.batch_norm("emb.conv.2", x, training)
    x = x.permute(0, 2, 3, 1).unflatten(0, (batch, times))
    seen = F.max_pool2d(valid.flatten(0, 1)[:, None].double(), p)[:, 0].unflatten(0, (batch, times)) > 0
    if times == 1:
        x, seen = x[:, 0], seen[:, 0]
    options = dict(c, rotary_modes=list(range(x.dim() - 2)))
    attention = kronecker_attention if c["release"] else paper_attention
    for i in range(c["blocks"]):
        name = f"blocks.{i}"
        x = x + attention(w, name + ".attention", options, w.layer_norm(name + ".norm1", x), seen)
        y = w.layer_norm(name + ".norm2", x)
        if c["release"]:
            gate = w.linear(name + ".feedforward.w1", y, c["hidden"], False)
            up = w.linear(name + ".feedforward.w3", y, c["hidden"], False)
            y = w.linear(name + ".feedforward.w2", F.silu(gate) * up, width, False)
        else:
            y = F.gelu(w.linear(name + ".feedforward.linear1", y, c["hidden"]))
            y = w.linear(name + ".feedforward.linear2", y, width)
        x = x + y
    if times > 1:
        weight = seen[..., None].double()
        x = (x * weight).sum(1) / weight.sum(1).clamp_min(1)
    x = w.linear("head.2", w.layer_norm("head.0", x) if c["release"] else x, classes * p * p)
    x = x.view(batch, side // p, side // p, p, p, classes).permute(0, 1, 3, 2, 4, 5)
    x = x.reshape(batch, side, side, classes)
    if c["skip"]:
        pixels = image.permute(0, 2, 3, 1, 4).flatten(3)
        x = x + w.linear("skip.2", w.linear("skip.0", pixels, c["skip"]).relu(), classes)
    return x


def case(name, settings, c, times, bands, side, missing, training):
    w = Weights()
    batch = 2
    image = noise(1001, (batch, times, side, side, bands)) * 4
    valid = noise(1002, (batch, times, side, side)) > -0.35 if missing else torch.ones(batch, times, side, side, dtype=torch.bool)
    if missing:
        valid[:, :, :c.get("patch", 4), :c.get("patch", 4)] = False  # a patch without any pixel
    seen = torch.where(valid[..., None], image, 0.0)
    if missing:
        seen = torch.cat([seen, valid[..., None].double()], -1)

    def run():
        if "unet" in name:
            return unet(w, c, seen.permute(0, 2, 3, 1, 4).flatten(3), training)
        return hot(w, c, seen, valid, training)

    run()
    w.number()
    w.buffers = {}
    out = run()
    (out * noise(1003, out.shape)).sum().backward()
    checks = {key: float((value.grad * noise(1004, value.shape)).sum()) for key, value in w.values.items()}
    rows = out.detach().flatten(0, -2)
    kept = list(range(0, rows.shape[0], max(1, rows.shape[0] // 40)))
    return {"name": name, "settings": settings, "times": times, "bands": bands, "window": side,
            "classes": c["classes"], "missing": missing, "training": training, "batch": batch, "patch": c.get("patch", 4),
            "sizes": {key: list(value.shape) for key, value in w.values.items()},
            "rows": kept, "output": rows[kept].tolist(), "square": float((rows**2).sum()), "gradient_checks": checks,
            "running_mean": {key: mean.tolist()[:4] for key, (mean, _) in list(w.buffers.items())[:3]},
            "running_var": {key: var.tolist()[:4] for key, (_, var) in list(w.buffers.items())[:3]}}


def main():
    small = ["width=8", "hidden=12", "heads=2", "blocks=2", "dropout=0", "head.dropout=0"]
    tokens = dict(width=8, hidden=12, heads=2, blocks=2, patch=4)
    cases = [
        case("unet_evaluation", ["name=unet", "unet.width=4"], dict(width=4, classes=3), 1, 5, 64, False, False),
        case("unet_training", ["name=unet", "unet.width=4"], dict(width=4, classes=3), 1, 2, 64, False, True),
        case("unet_dates_missing", ["name=unet", "unet.width=4"], dict(width=4, classes=2), 3, 2, 32, True, False),
        case("hot_release", ["name=hot", "preset=release", *small], dict(tokens, classes=3, release=True, skip=0), 1, 7, 20, False, False),
        case("hot_release_training", ["name=hot", "preset=release", *small], dict(tokens, classes=3, release=True, skip=0), 1, 3, 12, False, True),
        case("hot_paper_sum", ["name=hot", "preset=paper", "attention.combine=sum", *small],
             dict(tokens, classes=2, release=False, skip=0, form="sum"), 1, 4, 12, False, False),
        case("hot_paper_product", ["name=hot", "preset=paper", *small],
             dict(tokens, classes=2, release=False, skip=0, form="product"), 1, 4, 12, False, False),
        case("hot_dates_missing", ["name=hot", "preset=release", "head.skip=pixel", "head.skip_width=5", *small],
             dict(tokens, classes=3, release=True, skip=5), 3, 2, 12, True, False),
    ]
    path = pathlib.Path(__file__).with_name("segmenters.json")
    path.write_text("[" + ",\n".join(json.dumps(one) for one in cases) + "]\n")


if __name__ == "__main__":
    main()
