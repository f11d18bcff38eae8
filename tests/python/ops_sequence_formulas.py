"""Reference formulas of the operators over sequences in plain torch, next to ops_formulas.py: all types of tensor
attention, the language loss, the decoding steps and partial blocks of summary attention."""

import math

import numpy
import torch

from ops_formulas import dropout_add


def turned(x, position, frequencies, gains, level):
    """x [..., d] with the rotary embedding of one position at a level."""
    if frequencies is None:
        return x
    angle = float(position) * frequencies[min(level, len(frequencies) - 1)]
    gain = gains[min(level, len(gains) - 1)] if gains else 1.0
    cos, sin = torch.cat([angle.cos()] * 2).to(x.dtype) * gain, torch.cat([angle.sin()] * 2).to(x.dtype) * gain
    a, b = x.chunk(2, -1)
    return x * cos + torch.cat([-b, a], -1) * sin


def visible_blocks(fold, t):
    """(level, tokens per block, blocks visible to t, its own block), all counted from the start of the group."""
    tokens = 1
    for level, mode in enumerate(range(len(fold) - 1, 0, -1), 1):
        tokens *= fold[mode]
        own = t // tokens
        group = 0 if mode == 1 else own // fold[mode - 1] * fold[mode - 1]
        yield level, tokens, range(group, own), own - group, group


def tensor_attention(q, k, v, latents=None, frequencies=None, positions=None, token_mask=None, *, form="summary", fold=(), window=0,
                     sinks=0, causal=True, scale=0.0, gains=()):
    """Token by token, with the keys gathered in a list by definition."""
    valid = torch.ones(q.shape[:2], dtype=torch.bool) if token_mask is None else token_mask
    q, k, v = (x.masked_fill(~valid[:, :, None, None], 0) for x in (q, k, v))
    n, repeats = q.size(1), q.size(2) // k.size(2)
    k, v = k.repeat_interleave(repeats, 2), v.repeat_interleave(repeats, 2)
    z = None if latents is None else latents.repeat_interleave(repeats, 1)
    scale = scale or q.size(-1) ** -0.5
    window = window or (2 * fold[-1] if len(fold) > 1 else n)
    if form == "full":
        window = n
    place = (lambda t: t) if positions is None else (lambda t: positions[t].item())
    slots = {}

    def block_slots(level, block):
        if (level, block) not in slots:
            size = fold[-level]
            if level == 1:
                keys, values = k[:, block * size : (block + 1) * size], v[:, block * size : (block + 1) * size]
            else:
                parts = [block_slots(level - 1, block * size + i) for i in range(size)]
                keys, values = torch.cat([p[0] for p in parts], 1), torch.cat([p[1] for p in parts], 1)
            logits = (keys.unsqueeze(2) * z[level - 1].transpose(0, 1)).sum(-1)  # [B, c, r, H]
            shown = (valid[:, block * size : (block + 1) * size] if level == 1 else
                     torch.cat([p[2] for p in parts], 1))[:, :, None, None]
            a = torch.softmax(logits.masked_fill(~shown, -1e4), 1)
            some = shown.any(1)[:, :, 0].expand(-1, logits.size(2))  # [B, r]
            slots[level, block] = [(a.unsqueeze(-1) * x.unsqueeze(2)).sum(1) for x in (keys, values)] + [some]
        return slots[level, block]

    rows = []
    for t in range(n):
        logits, values = [], []

        def see(query_at, keys, key_at, level, seen, shown, excess=0.0):
            query = turned(q[:, t], query_at, frequencies, gains, level).unsqueeze(1)
            logits.append((query * turned(keys, key_at, frequencies, gains, level)).sum(-1) * scale - excess)
            logits[-1] = logits[-1].masked_fill(~shown[:, :, None], -math.inf)
            values.append(seen)

        last = n if form == "full" and not causal else t + 1
        for s in range(max(0, t - window + 1), last):
            see(place(t), k[:, s : s + 1], place(s), 0, v[:, s : s + 1], valid[:, s : s + 1])
        for s in range(min(sinks, t - window + 1) if form == "lambda" else 0):
            see(window, k[:, s : s + 1], 0, 0, v[:, s : s + 1], valid[:, s : s + 1])
        if form == "summary":
            for level, _, blocks, own, group in visible_blocks(fold, t):
                outermost = level == len(fold) - 1 and fold[0] > 0
                excess = max(0.0, math.log(max(1, len(blocks)) / fold[0])) if outermost else 0.0
                for block in blocks:
                    keys, seen, shown = block_slots(level, block)
                    see(own, keys, block - group, level, seen, shown, excess)
        weights = torch.softmax(torch.cat(logits, 1), 1).unsqueeze(-1)
        rows.append((weights * torch.cat(values, 1)).sum(1))
    return torch.stack(rows, 1)


def along_modes(q, k, v, latents=None, frequencies=None, positions=None, token_mask=None, **options):
    """Sample by sample, because each has its own valid tokens; masked tokens are 0."""
    if token_mask is None:
        return along_modes_of(q, k, v, frequencies, range(q.size(1)), **options)
    q, k, v = (x.masked_fill(~token_mask[:, :, None, None], 0) for x in (q, k, v))
    return torch.cat([along_modes_of(*(x[b : b + 1] for x in (q, k, v)), frequencies, token_mask[b].nonzero()[:, 0].tolist(), **options)
                      for b in range(q.size(0))])


def along_modes_of(q, k, v, frequencies, valid, *, form, fold, modes=0, causal=True, scale=0.0, gains=(), **_):
    """Types axial and pooled with explicit matrices along each mode over all tokens."""
    n, repeats, d = q.size(1), q.size(2) // k.size(2), q.size(-1)
    k, out = k.repeat_interleave(repeats, 2), v.repeat_interleave(repeats, 2)
    sizes = list(fold)
    rest = math.prod(sizes[1:])
    sizes[0] = sizes[0] or -(-n // rest)
    cells = [numpy.unravel_index(t, sizes) for t in range(n)]
    for mode in range(len(sizes) - modes if modes else 0, len(sizes)):
        level = len(sizes) - 1 - mode
        pairs = [(t, s) for t in range(n) for s in range(n)]
        if form == "axial":
            same = lambda t, s: all(a == b for i, (a, b) in enumerate(zip(cells[t], cells[s])) if i != mode)
            mixed = []
            for t in range(n):
                keys = [s for s in valid if same(t, s) and (s <= t or not causal)]
                if not keys:
                    mixed.append(torch.zeros_like(out[:, t]))
                    continue
                query = turned(q[:, t], cells[t][mode], frequencies, gains, level)
                logits = torch.stack([(query * turned(k[:, s], cells[s][mode], frequencies, gains, level)).sum(-1)
                                      for s in keys], 1) * (scale or d**-0.5)
                mixed.append((torch.softmax(logits, 1).unsqueeze(-1) * out[:, keys]).sum(1))
            out = torch.stack(mixed, 1)
        else:
            width = d * math.prod(sizes) // sizes[mode]
            logits = {}
            for t, s in pairs:
                if all(a == b for i, (a, b) in enumerate(zip(cells[t], cells[s])) if i != mode):
                    a, b = int(cells[t][mode]), int(cells[s][mode])
                    product = (turned(q[:, t], a, frequencies, gains, level) * turned(k[:, s], b, frequencies, gains, level)).sum(-1)
                    logits[a, b] = logits.get((a, b), 0) + product * (scale or width**-0.5)
            mixed = []
            for t in range(n):
                if t not in valid:
                    mixed.append(torch.zeros_like(out[:, t]))
                    continue
                at = int(cells[t][mode])
                zero = torch.zeros_like(q[:, 0, :, 0])
                weights = torch.softmax(torch.stack([logits.get((at, b), zero) for b in range(sizes[mode])], 1), 1)
                total, share = 0, 0  # empty cells are excluded
                for b in range(sizes[mode]):
                    cell = list(cells[t])
                    cell[mode] = b
                    s = int(numpy.ravel_multi_index(cell, sizes))
                    if s in valid:
                        total = total + weights[:, b].unsqueeze(-1) * out[:, s]
                        share = share + weights[:, b].unsqueeze(-1)
                mixed.append(total / share)
            out = torch.stack(mixed, 1)
    return out


def sparse(q, k, v, latents=None, frequencies=None, positions=None, token_mask=None, *, form, density=0.1, window=0, causal=True,
           scale=0.0, gains=(), **_):
    """Token by token, sample by sample; the random number of tokens t and s is SplitMix64 of 2³² t + s."""

    def draw(x):
        x = x + 0x9E3779B97F4A7C15 & 2**64 - 1
        x = (x ^ x >> 30) * 0xBF58476D1CE4E5B9 & 2**64 - 1
        x = (x ^ x >> 27) * 0x94D049BB133111EB & 2**64 - 1
        return ((x ^ x >> 31) >> 11) * 2.0**-53

    n, repeats = q.size(1), q.size(2) // k.size(2)
    k, v = k.repeat_interleave(repeats, 2), v.repeat_interleave(repeats, 2)
    if token_mask is not None:
        q, k, v = (x.masked_fill(~token_mask[:, :, None, None], 0) for x in (q, k, v))
    place = (lambda t: t) if positions is None else (lambda t: positions[t].item())
    samples = []
    for b in range(q.size(0)):
        rows = []
        for t in range(n):
            valid = [s for s in range(n) if token_mask is None or token_mask[b, s]]
            seen = [s for s in valid if s <= t or not causal]
            if not seen:
                rows.append(torch.zeros_like(v[b, 0]))
                continue
            count = max(1, math.ceil(density * len(seen)))
            if form == "window":
                count = min(window, len(seen)) or count
                own = sum(s <= t for s in seen) - 1
                first = min(max(own - count // 2, 0), len(seen) - count)
                seen = seen[first : first + count]
            if form == "random":
                seen = sorted(seen, key=lambda s: -1 if s == t else 1 - draw(2**32 * t + s))[:count]
            query = turned(q[b, t], place(t), frequencies, gains, 0)
            logits = torch.stack([(query * turned(k[b, s], place(s), frequencies, gains, 0)).sum(-1) for s in seen]) * (scale or q.size(-1) ** -0.5)
            if form == "topk":
                logits = logits.masked_fill(logits < torch.topk(logits, count, 0).values[-1:], -math.inf)
            rows.append((torch.softmax(logits, 0).unsqueeze(-1) * v[b, seen]).sum(0))
        samples.append(torch.stack(rows))
    return torch.stack(samples) if samples else torch.zeros_like(v)


def tensor_formula(q, k, v, *args, form="summary", dropout=0.0, seed=0, step=0, site=0, **options):
    if dropout > 0:  # of the weights, extracted by unit vectors as values
        unit = torch.eye(k.size(1), dtype=v.dtype)[:, None].expand(*k.shape[:3], -1)
        weights = tensor_formula(q, k, unit, *args, form=form, **options).transpose(1, 2)
        values = v.repeat_interleave(q.size(2) // v.size(2), 2).transpose(1, 2)
        return (dropout_add(None, weights, dropout, seed, step, site) @ values).transpose(1, 2)
    masked = len(args) > 3 and args[3] is not None
    around = form == "window" and not options.get("causal", True)
    if form in ("random", "topk") or around or (form == "full" and masked):
        return sparse(q, k, v, *args, form=form, **options)
    return (along_modes if form in ("axial", "pooled") else tensor_attention)(q, k, v, *args, form=form, **options)


def nystroem_attention(q, k, v, kernel=None, token_mask=None, *, landmarks=64, scale=0.0):
    """Sample by sample over the valid tokens, like the authors' code for segments of equal length."""
    scale = scale or q.size(-1) ** -0.5
    out = torch.zeros_like(v)
    for b in range(q.size(0)):
        valid = torch.arange(q.size(1)) if token_mask is None else token_mask[b].nonzero()[:, 0]
        n, m = len(valid), min(landmarks, len(valid))
        if n == 0:
            continue
        queries, keys, values = (x[b, valid].transpose(0, 1) for x in (q, k, v))  # [H, n, d]
        if n <= landmarks:
            mixed = torch.softmax(queries @ keys.mT * scale, -1) @ values
        else:
            segments = [[t for t in range(n) if t * m // n == s] for s in range(m)]
            few_queries, few_keys = (torch.stack([x[:, s].mean(1) for s in segments], 1) for x in (queries, keys))
            first = torch.softmax(queries @ few_keys.mT * scale, -1)
            second = torch.softmax(few_queries @ few_keys.mT * scale, -1)
            third = torch.softmax(few_queries @ keys.mT * scale, -1)
            z = second.mT / second.sum(-2).amax(-1)[:, None, None]
            one = torch.eye(m, dtype=z.dtype)
            for _ in range(6):
                az = second @ z
                z = z @ (13 * one - az @ (15 * one - az @ (7 * one - az))) / 4
            mixed = first @ z @ (third @ values)
        out = out.index_put((torch.tensor(b), valid), mixed.transpose(0, 1))
    if kernel is None:
        return out
    some = torch.ones(q.shape[:2], dtype=torch.bool) if token_mask is None else token_mask
    images = v.masked_fill(~some[:, :, None, None], 0).transpose(1, 2)  # [B, H, n, e]
    half = kernel.size(1) // 2
    convolved = torch.nn.functional.conv2d(images, kernel[:, None, :, None], padding=(half, 0), groups=v.size(2)).transpose(1, 2)
    return out + convolved * some[:, :, None, None]


def hashed_attention(q, v, rotations, token_mask=None, *, chunk=64):
    """Each token's keys in each round, gathered one by one; then one softmax over the union of the rounds."""
    samples = []
    for b in range(q.size(0)):
        valid = range(q.size(1)) if token_mask is None else token_mask[b].nonzero()[:, 0].tolist()
        heads = []
        for h in range(q.size(2)):
            x = q[b, :, h]
            keys = x / (x.square().sum(-1, keepdim=True) + 1e-6 * x.size(-1)).sqrt()
            shown = {t: set() for t in valid}
            for rotation in rotations[:, h].to(x.dtype):
                turned_x = x @ rotation
                bucket = torch.cat([turned_x, -turned_x], -1).argmax(-1).tolist()
                order = sorted(valid, key=lambda t: (bucket[t], t))
                at = {t: i // chunk for i, t in enumerate(order)}
                for t in valid:
                    shown[t] |= {s for s in valid if bucket[s] == bucket[t] and at[t] - at[s] in (0, 1)}
            rows = []
            for t in range(q.size(1)):
                if t not in shown:
                    rows.append(torch.zeros_like(v[b, 0, h]))
                    continue
                seen = sorted(shown[t] - {t}) or [t]
                rows.append(torch.softmax(keys[seen] @ x[t], 0) @ v[b, seen, h])
            heads.append(torch.stack(rows))
        samples.append(torch.stack(heads, 1))
    return torch.stack(samples) if samples else v * q.sum()


def language_loss(hidden, head, targets, chunk=0):
    logits = (hidden @ head.to(hidden.dtype).T).flatten(0, -2)
    logits = logits.float() if logits.dtype == torch.bfloat16 else logits
    counted = (targets >= 0).sum()
    losses = torch.nn.functional.cross_entropy(logits, targets.flatten().clamp_min(-1), ignore_index=-1, reduction="sum")
    return (losses / counted.clamp_min(1)).to(hidden.dtype)


def token_losses(hidden, head, targets, chunk=0):
    logits = hidden @ head.to(hidden.dtype).T
    scores = torch.log_softmax(logits.float() if logits.dtype == torch.bfloat16 else logits, -1)
    own = scores.gather(-1, targets.clamp_min(0).unsqueeze(-1)).squeeze(-1)
    return torch.where(targets < 0, 0, -own).to(hidden.dtype)


def joined(keys, values, latents, high, total, sum_keys, sum_values):
    """Adds rows [B, n, G, .] to the online softmax sums."""
    keys, values = keys.to(latents.dtype), values.to(latents.dtype)
    logits = torch.einsum("grd,bngd->bgrn", latents, keys)
    top = torch.maximum(high[..., 0], logits.amax(-1))
    before, weights = torch.exp(high[..., 0] - top), torch.exp(logits - top[..., None])
    return (top[..., None], (total[..., 0] * before + weights.sum(-1))[..., None],
            sum_keys * before[..., None] + torch.einsum("bgrn,bngd->bgrd", weights, keys),
            sum_values * before[..., None] + torch.einsum("bgrn,bnge->bgre", weights, values))


def turned_by(x, frequencies, position):
    a, b = x.chunk(2, -1)
    cosine, sine = (torch.cos(position * frequencies).to(x.dtype), torch.sin(position * frequencies).to(x.dtype))
    return torch.cat((a * cosine - b * sine, b * cosine + a * sine), -1)


def summary_step(q, k, v, turned, ring_keys, ring_values, first_keys, first_values, latents, high, total, sum_keys, sum_values,
                 frequencies, *, slot_keys, slot_values, places, excess, gains, first, window, scale, attends=True):
    wide = torch.float32 if q.dtype == torch.bfloat16 else q.dtype
    ring_keys, ring_values, first_keys, first_values = (t.clone() for t in (ring_keys, ring_values, first_keys, first_values))
    groups, rows = k.size(2), []
    level_of = lambda values, level: values[min(level, len(values) - 1)]
    for i in range(q.size(1)):
        t = first + i
        ring_keys[:, t % window], ring_values[:, t % window] = turned[:, i], v[:, i]
        if t < first_keys.size(1):
            first_keys[:, t], first_values[:, t] = k[:, i], v[:, i]
        seen = [(ring_keys[:, :min(t + 1, window)], ring_values[:, :min(t + 1, window)], 0, t, 1, 0.0)]
        sinks = min(max(t + 1 - window, 0), first_keys.size(1))
        seen.append((first_keys[:, :sinks], first_values[:, :sinks], 0, window, 2, 0.0))
        for level, (keys, values, place, taken) in enumerate(zip(slot_keys, slot_values, places, excess), 1):
            seen.append((keys, values, level, place, 1, taken))
        logits, shown = [], []
        for keys, values, level, position, power, taken in seen:
            query = q[:, i].to(wide)
            if frequencies is not None:
                query = turned_by(query, level_of(frequencies, level), position) * (level_of(gains, level) if gains else 1.0) ** power
            query = query.unflatten(1, (groups, -1))
            logits.append(torch.einsum("bghd,bngd->bghn", query, keys.to(wide)) * scale - taken)
            shown.append(values.to(wide))
        weights = torch.softmax(torch.cat(logits, -1), -1)
        rows.append(torch.einsum("bghn,bnge->bghe", weights, torch.cat(shown, 1)).flatten(1, 2))
    sums = []
    if latents is not None:
        sums = joined(k.to(wide), v.to(wide), *(t.to(wide) for t in (latents, high, total, sum_keys, sum_values)))
    states = [ring_keys, ring_values, first_keys, first_values, *sums]
    return [t.to(q.dtype) for t in ([torch.stack(rows, 1)] if attends else []) + states]
