"""Writes volumes.json: volume classifiers in plain PyTorch (float64), written from the papers and the facts about the
released code. Weights and inputs follow from a formula (`noise`), so that the file contains only results.

Run in this folder: python make_volume_vectors.py
"""

import itertools
import json
import math
import pathlib

import torch
import torch.nn.functional as F

from make_segmenter_vectors import Weights, noise
from make_vectors import angles, kronecker_attention, paper_attention, rotate_half

torch.set_default_dtype(torch.float64)
CONV = {1: F.conv1d, 2: F.conv2d, 3: F.conv3d}


def heads_of(x, heads):
    return x.unflatten(-1, (heads, -1))


def full_attention(w, name, c, x, valid):
    """Full attention; the modes share the rotary frequencies equally."""
    modes, width, heads = x.dim() - 2, x.shape[-1], c["heads"]
    d = width // heads
    q, k, v = (heads_of(w.linear(f"{name}.{part}_proj", x, width), heads) for part in ("query", "key", "value"))
    q, k = w.layer_norm(name + ".q_norm", q), w.layer_norm(name + ".k_norm", k)
    each = d // 2 // modes
    places = torch.zeros(*x.shape[1:-1], d // 2)
    for mode in range(modes):
        index = torch.arange(x.shape[mode + 1]).view([-1 if m == mode else 1 for m in range(modes)] + [1])
        places[..., mode * each:(mode + 1) * each] = index * 10000.0 ** (-torch.arange(each) / each)
    q, k = rotate_half(q, places[..., None, :]), rotate_half(k, places[..., None, :])
    q, k, v = (t.flatten(1, modes).transpose(1, 2) for t in (q, k, v))
    score = q @ k.transpose(-1, -2) / math.sqrt(d)
    score = score.masked_fill(~valid.flatten(1)[:, None, None, :], -math.inf)
    out = (torch.softmax(score, -1) @ v).transpose(1, 2).flatten(-2).view(x.shape)
    return w.linear(name + ".out_proj", out, width)


def divided_attention(w, name, c, x, valid):
    """Along one mode after another, each a residual step; the sum of the steps."""
    modes, width, heads = x.dim() - 2, x.shape[-1], c["heads"]
    d = width // heads
    total = torch.zeros_like(x)
    for mode in range(modes):
        h = x + total
        parts = []
        for part in ("query", "key", "value"):
            weight, bias = w(f"{name}.{part}_proj.weight", modes * width, width), w(f"{name}.{part}_proj.bias", modes * width)
            rows = slice(mode * width, (mode + 1) * width)
            parts.append(heads_of(F.linear(h, weight[rows], bias[rows]), heads))
        q, k, v = parts
        q, k = w.layer_norm(name + ".q_norm", q), w.layer_norm(name + ".k_norm", k)
        shape = [x.shape[mode + 1] if m == mode else 1 for m in range(modes)] + [1, d // 2]
        places = angles(x.shape[mode + 1], d).view(shape)
        q, k = rotate_half(q, places), rotate_half(k, places)
        q, k, v = (t.movedim(mode + 1, -2) for t in (q, k, v))  # [B, …, H, N, d]
        seen = valid.movedim(mode + 1, -1)[..., None, None, :]
        score = (q @ k.transpose(-1, -2) / math.sqrt(d)).masked_fill(~seen, -math.inf)
        step = torch.nan_to_num(torch.softmax(score, -1)) @ v
        total = total + step.movedim(-2, mode + 1).flatten(-2)
    return total


def pooling_attention(w, name, c, x, valid):
    modes, width, heads = x.dim() - 2, x.shape[-1], c["heads"]
    seen = valid[..., None].double()

    def pooled(part, letter, stride):
        y = (w.linear(f"{name}.{part}_proj", x, width) * seen).movedim(-1, 1)
        kernel = w(f"{name}.pool_{letter}.weight", 3**modes, width).t().view(width, 1, *[3] * modes)
        y = CONV[modes](y, kernel, None, stride, 1, 1, width).flatten(2).transpose(1, 2)
        return w.layer_norm(f"{name}.pool_{letter}.norm", y)

    q, k, v = pooled("query", "q", 1), pooled("key", "k", 2), pooled("value", "v", 2)
    keys = valid[(slice(None),) + (slice(None, None, 2),) * modes].flatten(1)  # a pooled cell is valid if its centre cell is
    assert keys.any(1).all()
    qh, kh, vh = (heads_of(t, heads).transpose(1, 2) for t in (q, k, v))
    score = (qh @ kh.transpose(-1, -2) / math.sqrt(width // heads)).masked_fill(~keys[:, None, None, :], -math.inf)
    out = (torch.softmax(score, -1) @ vh).transpose(1, 2).flatten(-2) + q
    return w.linear(name + ".out_proj", out.view(x.shape), width)


ATTENTION = {"transformer": full_attention, "divided": divided_attention, "pooling-attention": pooling_attention, "paper": paper_attention}


def masked_batch_norm(w, name, x, valid, training):
    """x [B, C, …]: with a mask, only valid cells count."""
    if not training or bool(valid.all()):
        return w.batch_norm(name, x, training)
    width = x.shape[1]
    mean, var = w.buffers.setdefault(name, (torch.zeros(width), torch.ones(width)))
    rows = x.movedim(1, -1)[valid]
    m, v = rows.mean(0), rows.var(0, unbiased=False)
    with torch.no_grad():
        mean.mul_(0.9).add_(m * 0.1)
        var.mul_(0.9).add_(v * len(rows) / (len(rows) - 1) * 0.1)
    shape = (1, width) + (1,) * (x.dim() - 2)
    y = (x - m.view(shape)) / (v.view(shape) + 1e-5).sqrt()
    return y * w(name + ".weight", width).view(shape) + w(name + ".bias", width).view(shape)


def cells_valid(valid, p):
    """Mask of the patches with a valid voxel."""
    modes = valid.dim() - 1
    pool = {1: F.max_pool1d, 2: F.max_pool2d, 3: F.max_pool3d}[modes]
    return pool(valid[:, None].double(), p, p, ceil_mode=True)[:, 0] > 0


def token_model(w, c, x, valid, training):
    modes, width, p = x.dim() - 2, c["width"], c["patch"]
    grid = x.movedim(-1, 1)
    if c.get("stem"):
        seen, reduction = valid, 1
        for i in range(int(math.log2(p))):
            reduction *= 2
            kernel = w(f"emb.conv.{i}.weight", width * reduction // p, grid.shape[1], *[3] * modes)
            grid = CONV[modes](grid, kernel, None, 2, 1)
            seen = cells_valid(valid, reduction)
            grid = masked_batch_norm(w, f"emb.norm.{i}", grid, seen, training).relu() * seen[:, None]
    else:
        ends = [(0, -size % p) for size in reversed(x.shape[1:-1])]
        grid = F.pad(grid, list(itertools.chain(*ends)))
        grid = CONV[modes](grid, w("emb.conv.0.weight", width, x.shape[-1], *[p] * modes),
                           w("emb.conv.0.bias", width), stride=p).relu()
        seen = cells_valid(valid, p)
        if c["model"] != "paper":
            grid = masked_batch_norm(w, "emb.conv.2", grid, seen, training)
    x = grid.movedim(1, -1)
    options = dict(c, rotary_modes=list(range(modes)))
    attention = ATTENTION.get(c["model"], kronecker_attention)
    for i in range(c["blocks"]):
        name = f"blocks.{i}"
        if c.get("attention", True):
            x = x + attention(w, name + ".attention", options, w.layer_norm(name + ".norm1", x), seen)
        if c["model"] == "paper":
            y = F.gelu(w.linear(name + ".feedforward.linear1", w.layer_norm(name + ".norm2", x), c["hidden"]))
            x = x + w.linear(name + ".feedforward.linear2", y, width)
        elif c.get("feed_forward", True):
            y = w.layer_norm(name + ".norm2", x)
            gate = w.linear(name + ".feedforward.w1", y, c["hidden"], False)
            up = w.linear(name + ".feedforward.w3", y, c["hidden"], False)
            x = x + w.linear(name + ".feedforward.w2", F.silu(gate) * up, width, False)
    weight = seen[..., None].double()
    every = list(range(1, modes + 1))
    mean = (x * weight).sum(every) / weight.sum(every)
    return w.linear("head.2", mean if c["model"] == "paper" else w.layer_norm("head.0", mean), c["classes"])


def resnet(w, c, x, training):
    """MedMNIST's ResNets for small volumes (kernel 3, stride 1, no pooling first)."""
    modes, width, convolution = x.dim() - 2, c["width"], c.get("convolution", "3d")
    x = x.movedim(-1, 1)

    def kernels(name, out, channels, kernel):
        """The weight as kernels of equal sides: flat ones are the middle plane of a cube of zeros."""
        if convolution == "3d":
            return w(name + ".weight", out, channels, *[kernel] * modes)
        cube, middle = torch.zeros(out, channels, *[kernel] * 3, dtype=torch.float64), kernel // 2
        if convolution == "2.5d":
            cube[:, :, middle] = w(name + ".weight", out, channels, 1, kernel, kernel)[:, :, 0]
            return cube
        flat = w(name + ".weight", out, channels, kernel, kernel)
        axial, coronal = math.ceil(out / 3), out - out // 3
        cube[:axial, :, middle] = flat[:axial]
        cube[axial:coronal, :, :, middle] = flat[axial:coronal]
        cube[coronal:, :, :, :, middle] = flat[coronal:]
        return cube

    def unit(name, norm, x, out, kernel, stride):
        weight = kernels(name, out, x.shape[1], kernel)
        return w.batch_norm(norm, CONV[modes](x, weight, None, stride, kernel // 2), training)

    x = unit("conv1", "bn1", x, width, 3, 1).relu()
    bottleneck = c["depths"] == [3, 4, 6, 3]
    for stage, depth in enumerate(c["depths"]):
        for i in range(depth):
            name, stride, inner = f"layer{stage + 1}.{i}", 2 if stage and not i else 1, width << stage
            out = inner * (4 if bottleneck else 1)
            if bottleneck:
                y = unit(name + ".conv1", name + ".bn1", x, inner, 1, 1).relu()
                y = unit(name + ".conv2", name + ".bn2", y, inner, 3, stride).relu()
                y = unit(name + ".conv3", name + ".bn3", y, out, 1, 1)
            else:
                y = unit(name + ".conv1", name + ".bn1", x, inner, 3, stride).relu()
                y = unit(name + ".conv2", name + ".bn2", y, inner, 3, 1)
            if stride != 1 or x.shape[1] != out:
                x = unit(name + ".shortcut.0", name + ".shortcut.1", x, out, 1, stride)
            x = (x + y).relu()
    return w.linear("linear", x.flatten(2).mean(2), c["classes"])


def case(name, settings, c, size, channels, missing=False, training=False):
    w = Weights()
    batch = 3
    values = noise(2001, (batch, *size, channels)) * 4
    valid = torch.ones(batch, *size, dtype=torch.bool)
    if missing:
        valid = noise(2002, (batch, *size)) > -0.3
        valid[:, :c["patch"]] = False  # a layer of patches without any voxel
        valid[1, ..., -c["patch"]:] = False
    seen = torch.where(valid[..., None], values, 0.0)

    def run():
        if "depths" in c:
            return resnet(w, c, seen, training)
        return token_model(w, c, seen, valid, training)

    run()
    w.number()
    w.buffers = {}
    out = run()
    (out * noise(2003, out.shape)).sum().backward()
    checks = {key: float((value.grad * noise(2004, value.shape)).sum()) for key, value in w.values.items()}
    return {"name": name, "settings": settings, "size": list(size), "channels": channels, "classes": c["classes"],
            "missing": missing, "training": training, "batch": batch, "patch": c.get("patch", 1),
            "sizes": {key: list(value.shape) for key, value in w.values.items()},
            "output": out.tolist(), "gradient_checks": checks,
            "running_mean": {key: mean.tolist()[:4] for key, (mean, _) in list(w.buffers.items())[:3]},
            "running_var": {key: var.tolist()[:4] for key, (_, var) in list(w.buffers.items())[:3]}}


def main():
    small = ["width=12", "hidden=10", "heads=2", "blocks=2", "dropout=0", "head.dropout=0", "patch.size=2",
             "attention.dropout=0", "patch.dropout=0", "position.encoding=none", "preset=release"]
    small = [small[-1], *small[:-1]]
    c = dict(width=12, hidden=10, heads=2, blocks=2, patch=2, classes=3)
    hot = lambda *more: ["name=hot", *small, *more]
    of = lambda model, *more: ["name=" + model, *small, *more]
    paper = ["name=hot", "preset=paper", *small[1:]]
    cases = [
        case("hot_paper", paper, dict(c, model="paper", form="product"), (6, 4, 5), 1),
        case("hot_paper_sum", [*paper, "attention.combine=sum"], dict(c, model="paper", form="sum"), (6, 4, 5), 2),
        case("hot", hot(), dict(c, model="hot"), (6, 7, 8), 1),
        case("hot_training", hot(), dict(c, model="hot"), (6, 4, 5), 2, training=True),
        case("hot_sum_missing", hot("attention.combine=sum"), dict(c, model="hot", combine="sum"), (6, 7, 8), 1, True),
        case("hot_missing_training", hot(), dict(c, model="hot"), (6, 7, 8), 1, True, True),
        case("hot_stem_missing_training", hot("patch.size=4", "patch.embedding=stem"),
             dict(c, model="hot", stem=True, patch=4), (8, 12, 9), 1, True, True),
        case("hot_images", hot("attention.combine=mean"), dict(c, model="hot", combine="mean"), (7, 9), 3),
        case("hot_no_attention", hot("attention.kernel=none"), dict(c, model="hot", attention=False), (6, 6, 6), 1),
        case("hot_no_feed_forward", hot("feed_forward=none"), dict(c, model="hot", feed_forward=False), (6, 6, 6), 1),
        case("transformer_missing", of("transformer"), dict(c, model="transformer"), (6, 7, 8), 1, True),
        case("divided", of("divided"), dict(c, model="divided"), (6, 7, 8), 1),
        case("divided_missing", of("divided"), dict(c, model="divided"), (6, 7, 8), 1, True),
        case("pooling_attention", of("pooling-attention"), dict(c, model="pooling-attention"), (6, 7, 8), 1),
        case("pooling_attention_missing", of("pooling-attention"), dict(c, model="pooling-attention"), (6, 7, 8), 1, True),
        case("resnet18", ["name=resnet18", "resnet.width=3"], dict(width=3, classes=2, depths=[2, 2, 2, 2]), (9, 8, 7), 1),
        case("resnet18_training", ["name=resnet18", "resnet.width=3"], dict(width=3, classes=2, depths=[2, 2, 2, 2]), (9, 8, 7), 2,
             training=True),
        case("resnet50", ["name=resnet50", "resnet.width=2"], dict(width=2, classes=4, depths=[3, 4, 6, 3]), (9, 8, 7), 1),
        *[case(f"{name}_{label}", ["name=" + name, f"resnet.width={width}", "resnet.convolution=" + convolution],
               dict(width=width, classes=3, depths=depths, convolution=convolution), (9, 8, 7), 2, training=name == "resnet18")
          for label, convolution in (("slices", "2.5d"), ("acs", "acs"))
          for name, width, depths in (("resnet18", 5, [2, 2, 2, 2]), ("resnet50", 2, [3, 4, 6, 3]))],
    ]
    path = pathlib.Path(__file__).with_name("volumes.json")
    path.write_text("[" + ",\n".join(json.dumps(one) for one in cases) + "]\n")


if __name__ == "__main__":
    main()
