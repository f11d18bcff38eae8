"""Writes the JSON vectors of tests/models: small forecasters in plain PyTorch (float64), written from the papers and
the facts about the released code, with their weights, inputs, outputs and gradient checks.

Run in this folder: python make_vectors.py [CASE …]; without a case it writes all of them.
"""

import functools
import json
import math
import sys

import torch
import torch.nn.functional as F

torch.set_default_dtype(torch.float64)


class Weights:
    """Draws weights by name; coarse values, so that the JSON stays short."""

    def __init__(self, seed):
        self.generator = torch.Generator().manual_seed(seed)
        self.values = {}

    def __call__(self, name, *shape, scale=0.4, near=0.0):
        if name not in self.values:
            raw = torch.randn(shape, generator=self.generator) * scale + near
            self.values[name] = ((raw * 256).round() / 256).requires_grad_()
        return self.values[name]

    def linear(self, name, x, out, bias=True):
        weight = self(name + ".weight", out, x.shape[-1])
        return F.linear(x, weight, self(name + ".bias", out) if bias else None)

    def layer_norm(self, name, x):
        weight = self(name + ".weight", x.shape[-1], near=1.0)
        return F.layer_norm(x, x.shape[-1:], weight, self(name + ".bias", x.shape[-1]), 1e-5)


def rotate_half(x, places, base=10000.0):
    """x [..., places, ..., d] with `places` [..., d/2] angles already broadcastable."""
    half = x.shape[-1] // 2
    a, b = x[..., :half], x[..., half:]
    return torch.cat([a * places.cos() - b * places.sin(), b * places.cos() + a * places.sin()], -1)


def angles(count, width, base=10000.0):
    half = width // 2
    return torch.arange(count)[:, None] * base ** (-torch.arange(half) / half)


# ---- window normalisation ------------------------------------------------------------------------------------------


def normalise(w, c, past, observed, first_step):
    seen = torch.ones_like(past) if observed is None else observed.double()
    past = torch.where(seen > 0, past, torch.zeros(()))
    count = seen.sum(-1, keepdim=True).clamp_min(1)
    mean = past.sum(-1, keepdim=True) / count
    std = ((((past - mean) ** 2) * seen).sum(-1, keepdim=True) / count + 1e-5).sqrt()
    last = (seen * torch.arange(1, past.shape[-1] + 1)).argmax(-1, keepdim=True)
    centre = {"mean": mean, "last": past.gather(-1, last), "none": torch.zeros(())}[c.get("centre", "mean")]
    if c.get("scale", "std") == "none":
        std = torch.ones(())
    z = (past - centre) / std
    if c.get("affine"):
        n = math.prod(past.shape[1:-1])
        z = z * w("window.affine_weight", n, near=1.0).view(*past.shape[1:-1], 1)
        z = z + w("window.affine_bias", n).view(*past.shape[1:-1], 1)
    if c.get("cycle"):
        z = z - cycle_rows(w, c, past, first_step, 0, past.shape[-1])
    return z * seen, centre, std


def cycle_rows(w, c, past, first_step, begin, count):
    series, period = math.prod(past.shape[1:-1]), c["cycle"]
    table = w("window.cycle", series * period, scale=0.1).view(series, period) * c.get("cycle_gain", 5.0)
    rows = (first_step[:, None] + torch.arange(begin, begin + count)) % period
    return table[:, rows].transpose(0, 1).reshape(*past.shape[:-1], count)


def denormalise(w, c, y, past, centre, std, first_step):
    if c.get("cycle"):
        y = y + cycle_rows(w, c, past, first_step, past.shape[-1], y.shape[-1])
    if c.get("affine"):
        n = math.prod(past.shape[1:-1])
        y = (y - w("window.affine_bias", n).view(*past.shape[1:-1], 1)) / (
            w("window.affine_weight", n, near=1.0).view(*past.shape[1:-1], 1) + 1e-10)
    return y * std + centre


def finish(w, c, raw, past, centre, std, first_step):
    """Raw outputs to a point forecast, or to non-crossing quantiles."""
    quantiles = c["quantiles"]
    if quantiles == 0:
        return denormalise(w, c, raw, past, centre, std, first_step)
    raw = raw.view(*raw.shape[:-1], c["horizon"], quantiles)
    middle = quantiles // 2
    base = denormalise(w, c, raw[..., middle], past, centre, std, first_step)
    levels = [None] * quantiles
    levels[middle] = base
    for i in range(middle + 1, quantiles):
        levels[i] = levels[i - 1] + F.softplus(raw[..., i]) * std
    for i in range(middle - 1, -1, -1):
        levels[i] = levels[i + 1] - F.softplus(raw[..., i]) * std
    return torch.stack(levels, -1)


# ---- attention -----------------------------------------------------------------------------------------------------


def kronecker_attention(w, name, c, x, valid):
    """Projects every token first and pools afterwards, as in the released code."""
    modes, width, heads = x.dim() - 2, x.shape[-1], c["heads"]
    d = width // heads
    query = w.linear(name + ".query_proj", x, modes * width)
    key = w.linear(name + ".key_proj", x, modes * width)
    value = w.linear(name + ".value_proj", x, width).unflatten(-1, (heads, d))
    seen = valid.double()
    factors = []
    for mode in range(modes):
        others = [m + 1 for m in range(modes) if m != mode]
        pooled = []
        for projected, norm in ((query, ".q_norm"), (key, ".k_norm")):
            p = projected[..., mode * width:(mode + 1) * width] * seen[..., None]
            p = p.sum(others) if others else p
            if c.get("pooling", "sum") == "mean":
                count = seen.sum(others) if others else seen
                p = p / count.clamp_min(1)[..., None]
            p = p.unflatten(-1, (heads, d))
            if c.get("query_key_norm", True):
                p = w.layer_norm(name + norm, p)
            p = p.transpose(1, 2)  # [B, H, N_i, d]
            if mode in c["rotary_modes"]:
                p = rotate_half(p, angles(p.shape[2], d))
            pooled.append(p)
        score = pooled[0] @ pooled[1].transpose(-1, -2) / math.sqrt(d)
        has_key = (seen.sum(others) if others else seen) > 0  # [B, N_i]
        score = score.masked_fill(~has_key[:, None, None, :], -math.inf)
        factors.append(torch.nan_to_num(torch.softmax(score, -1)))

    def apply(tensor, mode):  # tensor [B, N_1 … N_k, H, c]
        letters = "uvwxyz"[:modes]
        out = letters.replace(letters[mode], "t")
        return torch.einsum(f"bht{letters[mode]},b{letters}hc->b{out}hc", factors[mode], tensor)

    # Invalid cells have weight 0, and the others are renormalized: applied to both values and weights.
    weight = seen[..., None, None].expand(*value.shape[:-1], 1)
    value = value * weight
    combine = c.get("combine", "product")
    if combine == "product":
        for mode in range(modes):
            value, weight = apply(value, mode), apply(weight, mode)
        out = share(value, weight)
    else:
        weights = [apply(weight, mode) for mode in range(modes)]
        out = sum(share(apply(value, mode), weights[mode]) for mode in range(modes))
        # Terms with a valid cell replace those without.
        out = out * modes / sum((w > 0).to(out.dtype) for w in weights).clamp_min(1)
        if combine == "mean":
            out = out / modes
    return w.linear(name + ".out_proj", out.flatten(-2), width)


def paper_attention(w, name, c, x, valid):
    """Sections 4.1 and 4.2 of the paper for complete tensors, with the matrix over all positions formed: queries and
    keys of each mode are summed over all other modes (g_pool), Eq. 7 gives the factors, and S is their Kronecker
    product (Eq. 3) or 1/k of their Kronecker sum (Eq. 4). The maps have biases, as the released ones."""
    assert bool(valid.all())
    sizes, width, heads = x.shape[1:-1], x.shape[-1], c["heads"]
    modes, d = len(sizes), width // heads
    query, key = (w.linear(f"{name}.{part}_proj", x, modes * width) for part in ("query", "key"))
    value = w.linear(name + ".value_proj", x, width)
    factors = []
    for i in range(modes):
        def g_pool(projected):
            others = tuple(m + 1 for m in range(modes) if m != i)
            summed = projected[..., i * width:(i + 1) * width].sum(others)  # [B, N_i, D]
            by_head = summed.unflatten(-1, (heads, d)).transpose(1, 2)
            return rotate_half(by_head, angles(sizes[i], d)) if i in c["rotary_modes"] else by_head

        factors.append(torch.softmax(g_pool(query) @ g_pool(key).transpose(-1, -2) / math.sqrt(d), -1))
    out = []
    for b in range(x.shape[0]):
        for h in range(heads):
            s = kronecker_matrix([factor[b, h] for factor in factors], c["form"])
            out.append(s @ value[b].reshape(-1, width)[:, h * d:(h + 1) * d])
    mixed = torch.stack(out).view(x.shape[0], heads, -1, d).transpose(1, 2).reshape(x.shape)
    return w.linear(name + ".out_proj", mixed, width)


def kronecker_matrix(factors, form):
    """Eq. 3 (product) and Eq. 4 (sum) of the paper."""
    whole = lambda parts: functools.reduce(lambda a, b: torch.kron(a, b.contiguous()), parts)
    if form == "product":
        return whole(factors)
    eyes = [torch.eye(len(factor)) for factor in factors]
    return sum(whole([*eyes[:i], factor, *eyes[i + 1:]]) for i, factor in enumerate(factors)) / len(factors)


def share(value, weight):
    """value / weight, 0 where the weight is 0."""
    some = weight > 0
    return torch.where(some, value / torch.where(some, weight, 1.0), 0.0)


def token_attention(w, name, c, x, valid, scope):
    width, heads = x.shape[-1], c["heads"]
    d = width // heads
    q, k, v = (w.linear(f"{name}.{part}_proj", x, width).unflatten(-1, (heads, d)) for part in ("query", "key", "value"))
    if c.get("query_key_norm", True):
        q, k = w.layer_norm(name + ".q_norm", q), w.layer_norm(name + ".k_norm", k)
    if c["rotary_modes"]:  # time only here
        places = angles(x.shape[-2], d)[:, None, :]
        q, k = rotate_half(q, places), rotate_half(k, places)
    batch, patches = x.shape[0], x.shape[-2]
    q, k, v = (t.reshape(batch, -1, patches, heads, d) for t in (q, k, v))
    seen = valid.reshape(batch, -1, patches)
    if scope == "all":
        score = torch.einsum("bnphd,bmqhd->bhnpmq", q, k) / math.sqrt(d)
        score = score.masked_fill(~seen[:, None, None, None], -math.inf).flatten(-2)
        s = torch.nan_to_num(torch.softmax(score, -1)).unflatten(-1, seen.shape[1:])
        out = torch.einsum("bhnpmq,bmqhd->bnphd", s, v)
    elif scope == "spatial":
        score = torch.einsum("bnphd,bmphd->bhpnm", q, k) / math.sqrt(d)
        score = score.masked_fill(~seen.transpose(1, 2)[:, None, :, None, :], -math.inf)
        out = torch.einsum("bhpnm,bmphd->bnphd", torch.nan_to_num(torch.softmax(score, -1)), v)
    else:
        score = torch.einsum("bnphd,bnqhd->bhnpq", q, k) / math.sqrt(d)
        score = score.masked_fill(~seen[:, None, :, None, :], -math.inf)
        out = torch.einsum("bhnpq,bnqhd->bnphd", torch.nan_to_num(torch.softmax(score, -1)), v)
    return w.linear(name + ".out_proj", out.reshape(*x.shape[:-1], width), width)


# ---- models: each maps normalised values [B, N…, L] to raw outputs -------------------------------------------------


def token_model(w, c, z, observed):
    width, length, stride = c["width"], c["length"], c["stride"]
    seen = torch.ones_like(z, dtype=torch.bool) if observed is None else observed
    missing = -(z.shape[-1] - length) % stride
    padded = torch.cat([z] + [z[..., -1:]] * missing, -1)
    padded_seen = torch.cat([seen] + [seen[..., -1:]] * missing, -1)
    channels = torch.stack([padded, padded_seen.double()], -2) if c["missing"] else padded.unsqueeze(-2)
    flat = channels.flatten(0, -3)
    x = F.conv1d(flat, w("emb.0.weight", width, channels.shape[-2], length), w("emb.0.bias", width), stride=stride)
    x = x.transpose(1, 2).unflatten(0, z.shape[:-1])  # [B, N…, P, D]
    if c.get("embedding", "linear") != "linear":
        x = x.relu()
    if c.get("embedding", "linear") == "relu_norm":
        x = w.layer_norm("emb.2", x)
    valid = padded_seen.unfold(-1, length, stride).any(-1)
    sizes = x.shape[1:-1]
    if c.get("identity", True):
        for i in range(len(sizes) - 1):
            shape = [1] * len(sizes)
            shape[i] = sizes[i]
            x = x + w(f"identity.{i}.weight", sizes[i] * width).view(*shape, width)
    if c.get("code") == "learned":
        x = x + w("positions.weight", sizes[-1] * width).view(sizes[-1], width)
    for i in range(c["blocks"]):
        name = f"blocks.{i}"
        normed = w.layer_norm(name + ".norm1", x)
        if c["model"] == "paper":
            y = paper_attention(w, name + ".attention", c, normed, valid)
        elif c["model"] == "hot":
            y = kronecker_attention(w, name + ".attention", c, normed, valid)
        else:
            scope = {"transformer": "all"}.get(c["model"], c["model"])
            y = token_attention(w, name + ".attention", c, normed, valid, scope)
        if c.get("layer_scale"):
            y = y * w(name + ".scale1", width, near=0.5)
        x = x + y
        normed = w.layer_norm(name + ".norm2", x)
        if c.get("feed_forward", "swiglu") == "swiglu":
            y = F.silu(w.linear(name + ".feedforward.w1", normed, c["hidden"], False))
            y = y * w.linear(name + ".feedforward.w3", normed, c["hidden"], False)
            y = w.linear(name + ".feedforward.w2", y, width, False)
        else:
            y = F.gelu(w.linear(name + ".feedforward.linear1", normed, c["hidden"]))
            y = w.linear(name + ".feedforward.linear2", y, width)
        if c.get("layer_scale"):
            y = y * w(name + ".scale2", width, near=0.5)
        x = x + y
    outputs = c["horizon"] * max(1, c["quantiles"])
    head = c.get("head", "flatten")
    if head == "flatten":
        x = w.layer_norm("head.0", x).flatten(-2)
    elif head == "mean":
        weight = valid.double()[..., None]
        x = (x * weight).sum(-2) / weight.sum(-2).clamp_min(1)
        if c["model"] != "paper":  # whose section 4.3 has a single linear layer after the mean
            x = w.layer_norm("head.0", x)
    else:
        x = w.layer_norm("head.0", x)
        score = w.linear("head.score", x, c["heads"], False).masked_fill(~valid[..., None], -1e30)
        parts = x.unflatten(-1, (c["heads"], -1)) * torch.softmax(score, -2)[..., None]
        x = parts.sum(-3).flatten(-2)
    out = w.linear("head.2", x, outputs)
    if c.get("skip"):
        out = out + w.linear("skip", z, outputs)
    return out


def series_linear(w, name, c, x, outputs):
    if not c.get("individual"):
        return w.linear(name, x, outputs)
    series = math.prod(x.shape[1:-1])
    weight, bias = w(name + ".weight", series, outputs, x.shape[-1]), w(name + ".bias", series, outputs)
    out = torch.stack([F.linear(x.flatten(1, -2)[:, n], weight[n], bias[n]) for n in range(series)], 1)
    return out.view(*x.shape[:-1], outputs)


def dlinear(w, c, z, observed):
    outputs = c["horizon"] * max(1, c["quantiles"])
    half = (c["kernel"] - 1) // 2
    flat = F.pad(z.flatten(0, -2).unsqueeze(1), (half, half), mode="replicate")
    trend = F.avg_pool1d(flat, c["kernel"], stride=1).view(z.shape)
    return series_linear(w, "Linear_Seasonal", c, z - trend, outputs) + series_linear(w, "Linear_Trend", c, trend, outputs)


def linear(w, c, z, observed):
    return series_linear(w, "Linear", c, z, c["horizon"])


def patchtst(w, c, z, observed):
    width, heads = c["width"], c["heads"]
    d = width // heads
    x = F.pad(z.flatten(0, -2).unsqueeze(1), (0, c["stride"]), mode="replicate").squeeze(1)
    x = w.linear("W_P", x.unfold(-1, c["length"], c["stride"]), width)
    x = x + w("W_pos", x.shape[1], width)
    scores = 0.0

    def batch_norm(name, t):
        rows = t.flatten(0, 1)
        if c.get("training"):
            mean, var = rows.mean(0), rows.var(0, unbiased=False)
        else:
            mean, var = w(name + ".running_mean", width), w(name + ".running_var", width, scale=0.1, near=1.0)
        return (t - mean) / (var + 1e-5).sqrt() * w(name + ".weight", width, near=1.0) + w(name + ".bias", width)

    for i in range(c["blocks"]):
        name = f"layers.{i}"
        q, k, v = (w.linear(f"{name}.{part}", x, width).unflatten(-1, (heads, d)).transpose(1, 2)
                   for part in ("W_Q", "W_K", "W_V"))
        scores = scores + q @ k.transpose(-1, -2) / math.sqrt(d)
        y = (torch.softmax(scores, -1) @ v).transpose(1, 2).flatten(-2)
        x = batch_norm(name + ".norm_attn", x + w.linear(name + ".to_out", y, width))
        y = w.linear(name + ".ff.linear2", F.gelu(w.linear(name + ".ff.linear1", x, c["hidden"])), width)
        x = batch_norm(name + ".norm_ffn", x + y)
    out = w.linear("head", x.transpose(1, 2).flatten(1), c["horizon"])
    return out.view(*z.shape[:-1], c["horizon"])


def itransformer(w, c, z, observed):
    width = c["width"]
    x = w.linear("embedding", z.flatten(1, -2), width)
    heads, d = c["heads"], width // c["heads"]
    seen = None if observed is None else observed.flatten(1, -2).any(-1)
    for i in range(c["blocks"]):
        name = f"layers.{i}"
        q, k, v = (w.linear(f"{name}.attention.{part}_proj", x, width).unflatten(-1, (heads, d)).transpose(1, 2)
                   for part in ("query", "key", "value"))
        score = q @ k.transpose(-1, -2) / math.sqrt(d)
        if seen is not None:
            score = score.masked_fill(~seen[:, None, None, :], -math.inf)
        y = (torch.softmax(score, -1) @ v).transpose(1, 2).flatten(-2)
        x = w.layer_norm(name + ".norm1", x + w.linear(name + ".attention.out_proj", y, width))
        y = w.linear(name + ".ff.linear2", F.gelu(w.linear(name + ".ff.linear1", x, c["hidden"])), width)
        x = w.layer_norm(name + ".norm2", x + y)
    return w.linear("projector", w.layer_norm("norm", x), c["horizon"]).view(*z.shape[:-1], c["horizon"])


# ---- future covariates ---------------------------------------------------------------------------------------------


def of_each_series(known, series, modes):
    """known [B, N_1 … N_i, K, T] -> a list over the series, row-major, of [B, T, K]."""
    shared = math.prod(series[modes:])
    places = known.reshape(known.shape[0], -1, *known.shape[-2:])
    return [places[:, n // shared].transpose(1, 2) for n in range(math.prod(series))]


def known_effect(w, c, known, series):
    """Effect of future covariates in hot: a regression of each series on them and on ReLU features of them, [B, N…, T]."""
    effects = []
    for n, x in enumerate(of_each_series(known, series, c["known_modes"])):
        hidden = w.linear("known.hidden", x, c["known_width"]).relu()
        coefficients = w("known.coefficients", math.prod(series), x.shape[-1] + c["known_width"])
        effects.append((torch.cat([x, hidden], -1) * coefficients[n]).sum(-1))
    return torch.stack(effects, 1).view(known.shape[0], *series, -1)


def residual_block(w, name, c, x, hidden, out, norm):
    """Das et al. 2023, figure 1, right."""
    y = w.linear(name + ".out", w.linear(name + ".hidden", x, hidden).relu(), out) + w.linear(name + ".skip", x, out)
    return w.layer_norm(name + ".norm", y) if norm else y


def tide(w, c, z, observed, known):
    """Section 4 of Das et al. 2023, one series and one step at a time."""
    norm, width, horizon, lookback, p = c["norm"], c["width"], c["horizon"], z.shape[-1], c["step_width"]
    levels, series = max(1, c["quantiles"]), z.shape[1:-1]
    columns = of_each_series(known, series, c["known_modes"]) if known is not None else []
    raw = []
    for n, y in enumerate(z.flatten(1, -2).unbind(1)):
        steps = []
        for t in range(lookback + horizon if known is not None else 0):
            steps.append(residual_block(w, "features", c, columns[n][:, t], c["hidden"], c["known_width"], norm))
        flags = [observed.flatten(1, -2)[:, n].double() if observed is not None else torch.ones_like(y)] if c["missing"] else []
        x = torch.cat([y, *flags, *steps], -1)
        for i in range(c["blocks"]):
            x = residual_block(w, f"encoder.{i}", c, x, width, width, norm)
        for i in range(c["blocks"]):
            last = i == c["blocks"] - 1
            x = residual_block(w, f"decoder.{i}", c, x, width, p * horizon if last else width, norm)
        out = []
        for h in range(horizon):
            decoded = torch.cat([x[:, p * h:p * (h + 1)], *steps[lookback + h:lookback + h + 1]], -1)
            out.append(residual_block(w, "temporal", c, decoded, c["hidden"], levels, False))
        raw.append(torch.cat(out, -1) + w.linear("residual", y, horizon * levels))
    return torch.stack(raw, 1).view(*z.shape[:-1], horizon * levels)


# ---- cases ---------------------------------------------------------------------------------------------------------

MODELS = {"dlinear": dlinear, "nlinear": linear, "rlinear": linear, "patchtst": patchtst, "itransformer": itransformer}


def coarse(t):
    return (t * 64).round() / 64


def write(case, config, settings, series, lookback, horizon, quantiles=0, missing=False, batch=2, seed=1, known=0, known_modes=0):
    """`config` steers the oracle, `settings` are the same choices as key=value of ModelConfig."""
    if sys.argv[1:] and case not in sys.argv[1:]:
        return
    generator = torch.Generator().manual_seed(seed)
    past = coarse(torch.randn(batch, *series, lookback, generator=generator).cumsum(-1) * 0.3)
    observed = None
    if missing:
        observed = torch.rand(past.shape, generator=generator) > 0.35
        observed[0].flatten(0, -2)[0] = False  # a series without any observed cell
    first_step = torch.tensor([5, 11])[:batch]
    w = Weights(seed + 100)
    c = dict(config, horizon=horizon, quantiles=quantiles, missing=missing, known_modes=known_modes)
    ahead = coarse(torch.randn(batch, *series[:known_modes], known, lookback + horizon, generator=generator)) if known else None
    effect = known_effect(w, c, ahead, series) if known and c["model"] != "tide" else None
    c.setdefault("rotary_modes", [len(series)])
    seen = past if effect is None else past - effect[..., :lookback]
    z, centre, std = normalise(w, c, seen, observed, first_step)
    raw = tide(w, c, z, observed, ahead) if c["model"] == "tide" else MODELS.get(c["model"], token_model)(w, c, z, observed)
    out = finish(w, c, raw, past, centre, std, first_step)
    if effect is not None:
        out = out + (effect[..., lookback:] if quantiles == 0 else effect[..., lookback:, None])
    direction = torch.cos(torch.arange(1, out.numel() + 1.0)).view(out.shape)
    (out * direction).sum().backward()
    checks = {}
    for name, value in w.values.items():
        if value.grad is not None:
            wave = torch.cos(torch.arange(1, value.numel() + 1.0)).view(value.shape)
            checks[name] = float((value.grad * wave).sum())
    record = {
        "settings": settings,
        "shape": {"series": list(series), "lookback": lookback, "horizon": horizon, "quantiles": quantiles,
                  "missing": missing, **({"known": known, "known_modes": known_modes} if known else {})},
        "training": bool(config.get("training", False)),
        "weights": {n: {"sizes": list(v.shape), "values": v.detach().flatten().tolist()} for n, v in w.values.items()},
        "past": past.flatten().tolist(),
        "observed": None if observed is None else observed.flatten().int().tolist(),
        "first_step": first_step.tolist(),
        **({"known": ahead.flatten().tolist()} if known else {}),
        "output": out.detach().flatten().tolist(),
        "gradient_checks": checks,
    }
    with open(case + ".json", "w") as file:
        json.dump(record, file, allow_nan=False)
        file.write("\n")


def main():
    small = ["width=8", "hidden=12", "heads=2"]
    sizes = dict(width=8, hidden=12, heads=2, blocks=2)
    patches = ["patch.length=4", "patch.stride=4"]
    write("hot_release", dict(sizes, model="hot", length=4, stride=4, embedding="relu_norm", identity=False, head="mean"),
          ["preset=release", "head.dropout=0", *small], [3], 20, 5)
    write("hot_release_order3",
          dict(sizes, model="hot", length=4, stride=4, embedding="relu_norm", identity=False, head="mean", combine="sum"),
          ["preset=release", "head.dropout=0", "attention.combine=sum", *small], [2, 3], 12, 5)
    paper = dict(sizes, model="paper", length=4, stride=4, embedding="relu", identity=False, head="mean", feed_forward="gelu")
    write("hot_paper", dict(paper, form="sum"), ["preset=paper", "attention.combine=sum", *small], [3], 12, 5)
    write("hot_paper_product", dict(paper, form="product"), ["preset=paper", *small], [2, 3], 12, 5)
    write("hot_default",
          dict(sizes, model="hot", length=4, stride=3, cycle=6, layer_scale=0.5, skip=True, code="learned"),
          [*small, "patch.length=4", "patch.stride=3", "window.cycle=6", "layer_scale=0.5", "head.skip=shared",
           "position.encoding=learned"], [3], 15, 5)
    write("hot_missing_order3",
          dict(sizes, model="hot", length=4, stride=2, centre="last", head="attention"),
          [*small, "patch.length=4", "patch.stride=2", "window.centre=last", "head.time=attention"],
          [2, 3], 10, 4, quantiles=3, missing=True)
    write("hot_missing_sum", dict(sizes, model="hot", length=4, stride=4, combine="sum", pooling="mean"),
          [*small, *patches, "attention.combine=sum", "attention.pooling=mean"], [4], 12, 4, missing=True)
    for name in ("transformer", "spatial", "temporal"):
        write(name + "_missing", dict(sizes, model=name, length=4, stride=4),
              ["name=" + name, *small, *patches], [2, 3], 12, 4, missing=True)
    write("dlinear", dict(model="dlinear", centre="none", scale="none", kernel=25), ["name=dlinear"], [3], 12, 4)
    write("dlinear_individual", dict(model="dlinear", centre="none", scale="none", kernel=5, individual=True),
          ["name=dlinear", "dlinear.kernel=5", "individual=true"], [3], 12, 4, quantiles=2)
    write("nlinear", dict(model="nlinear", centre="last", scale="none"), ["name=nlinear"], [3], 12, 4, missing=True)
    write("rlinear", dict(model="rlinear", affine=True), ["name=rlinear"], [3], 12, 4)
    tst = ["name=patchtst", *small, "blocks=2", *["patch.length=4", "patch.stride=2"]]
    write("patchtst", dict(sizes, model="patchtst", length=4, stride=2), tst, [3], 12, 4)
    write("patchtst_training", dict(sizes, model="patchtst", length=4, stride=2, training=True),
          [*tst, "dropout=0"], [3], 12, 4)
    write("itransformer", dict(sizes, model="itransformer"), ["name=itransformer", *small], [3], 12, 4)
    write("itransformer_missing", dict(sizes, model="itransformer"), ["name=itransformer", *small], [2, 2], 12, 4,
          missing=True)
    # The residual cycle of CycleNet with each baseline: subtracted from the normalized window, added to the forecast.
    cycle = ["window.cycle=5"]
    write("dlinear_cycle", dict(model="dlinear", centre="none", scale="none", kernel=5, cycle=5, cycle_gain=2.0),
          ["name=dlinear", "dlinear.kernel=5", *cycle, "window.cycle_gain=2"], [3], 12, 7, quantiles=3)
    write("nlinear_cycle", dict(model="nlinear", centre="last", scale="none", cycle=5), ["name=nlinear", *cycle],
          [2, 2], 12, 7, missing=True)
    write("rlinear_cycle", dict(model="rlinear", affine=True, cycle=5), ["name=rlinear", *cycle], [3], 12, 7)
    write("patchtst_cycle", dict(sizes, model="patchtst", length=4, stride=2, cycle=5), [*tst, *cycle], [3], 12, 7)
    write("itransformer_cycle", dict(sizes, model="itransformer", cycle=5), ["name=itransformer", *small, *cycle],
          [2, 2], 12, 7, missing=True)
    # Future covariates: shared by all series, one set per position of the first mode, one set per series.
    dense = dict(model="tide", width=6, hidden=5, blocks=2, step_width=3, norm=True, affine=True, known_width=3)
    set_dense = ["name=tide", "width=6", "hidden=5", "tide.step_width=3", "known.width=3"]
    write("tide", dense, set_dense, [3], 7, 4)
    write("tide_known", dense, set_dense, [2, 3], 7, 3, known=2, known_modes=1)
    write("tide_known_missing", dict(dense, blocks=1, norm=False, affine=False, cycle=5),
          [*set_dense, "blocks=1", "tide.norm=false", "window.affine=false", "window.cycle=5"], [3], 7, 3, quantiles=3,
          missing=True, known=2)
    effect = ["known.width=2", *small, *patches]
    write("hot_known", dict(sizes, model="hot", length=4, stride=4, known_width=2), effect, [3], 12, 4, known=2)
    write("hot_known_missing", dict(sizes, model="hot", length=4, stride=4, known_width=2, centre="last"),
          [*effect, "window.centre=last"], [2, 2], 12, 3, quantiles=2, missing=True, known=2, known_modes=2)


if __name__ == "__main__":
    main()
