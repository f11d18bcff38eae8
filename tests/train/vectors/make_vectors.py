"""Makes optimizer.json and schedules.json with torch.optim as the oracle. Run: python make_vectors.py"""

import json
import math
import pathlib

import torch

FOLDER = pathlib.Path(__file__).parent


def optimizer_cases():
    cases = []
    for name, cls in [("adamw", torch.optim.AdamW), ("adam", torch.optim.Adam)]:
        for decay in [0.0, 0.1]:
            for betas in [(0.9, 0.999), (0.8, 0.95)]:
                generator = torch.Generator().manual_seed(7)
                matrix = torch.randn(3, 5, generator=generator)
                bias = torch.randn(5, generator=generator)
                start = [matrix.flatten().tolist(), bias.tolist()]
                parameters = [torch.nn.Parameter(matrix.clone()), torch.nn.Parameter(bias.clone())]
                optimizer = cls([{"params": [parameters[0]], "weight_decay": decay},
                                 {"params": [parameters[1]], "weight_decay": 0.0}],
                                lr=0.01, betas=betas, eps=1e-6, foreach=False)
                gradients, after = [], []
                for step in range(6):
                    for p in parameters:
                        p.grad = torch.randn(p.shape, generator=generator) * 10.0 ** (step - 3)
                    gradients.append([p.grad.flatten().tolist() for p in parameters])
                    optimizer.param_groups[0]["lr"] = optimizer.param_groups[1]["lr"] = 0.01 / (1 + step)
                    optimizer.step()
                    after.append([p.detach().flatten().tolist() for p in parameters])
                moments = [[optimizer.state[p][key].flatten().tolist() for key in ("exp_avg", "exp_avg_sq")]
                           for p in parameters]
                cases.append(dict(name=name, weight_decay=decay, betas=betas, epsilon=1e-6, start=start,
                                  gradients=gradients, after=after, moments=moments))
    return cases


def torch_schedule(make, steps, per_epoch=None):
    """Rates (and first betas) before each step; the scheduler steps after each step or each epoch."""
    parameter = torch.nn.Parameter(torch.zeros(1, dtype=torch.float64))
    optimizer = torch.optim.AdamW([parameter], lr=0.02, betas=(0.9, 0.999))
    scheduler = make(optimizer)
    rates, betas = [], []
    for step in range(steps):
        rates.append(optimizer.param_groups[0]["lr"])
        betas.append(optimizer.param_groups[0]["betas"][0])
        parameter.grad = torch.zeros_like(parameter)
        optimizer.step()
        if per_epoch is None or (step + 1) % per_epoch == 0:
            scheduler.step()
    return rates, betas


def schedule_cases():
    s = torch.optim.lr_scheduler
    cases = []

    def add(config, steps_per_epoch, make, by_epoch=False):
        warmup = config.get("warmup_steps", 0)
        total = 40
        rates, betas = torch_schedule(make, total - warmup, steps_per_epoch if by_epoch else None)
        cases.append(dict(config=config, steps_per_epoch=steps_per_epoch, total_steps=total,
                          rates=[0.02 * (i + 1) / warmup for i in range(warmup)] + rates,
                          betas=[0.9] * warmup + betas))

    add(dict(name="constant"), 8, lambda o: s.ConstantLR(o, 1.0))
    add(dict(name="constant", warmup_steps=5), 8, lambda o: s.ConstantLR(o, 1.0))
    for warmup in (0, 6):
        for ratio in (0.0, 0.1):
            add(dict(name="cosine", min_ratio=ratio, warmup_steps=warmup), 8,
                lambda o: s.CosineAnnealingLR(o, T_max=40 - warmup, eta_min=0.02 * ratio))
    add(dict(name="step", step_epochs=2, step_factor=0.3), 8, lambda o: s.StepLR(o, 2, 0.3), by_epoch=True)
    for cuts in ([2, 3], [1, 2, 4], [3]):
        add(dict(name="step", step_at=cuts, step_factor=0.1), 8, lambda o: s.MultiStepLR(o, cuts, 0.1), by_epoch=True)
    # TSLib's adjust_learning_rate 'type1', called after epoch e (from 1) with lr * 0.5 ** (e - 1).
    rates, rate = [], 0.02
    for epoch in range(1, 6):
        rates += [rate] * 8
        rate = 0.02 * (0.5 ** ((epoch - 1) // 1))
    cases.append(dict(config=dict(name="type1", step_factor=0.5), steps_per_epoch=8, total_steps=40, rates=rates,
                      betas=[0.9] * 40))
    for momentum in (False, True):
        for part, warmup in ((0.3, 0), (0.25, 4), (0.9, 0)):
            total = 40 - warmup
            add(dict(name="one_cycle", peak_at=part, warmup_steps=warmup, cycle_momentum=momentum, start_divisor=10.0,
                     end_divisor=100.0), 8,
                lambda o: s.OneCycleLR(o, 0.02, total_steps=total, pct_start=part, div_factor=10.0,
                                       final_div_factor=100.0, cycle_momentum=momentum))
    assert all(math.isfinite(r) for case in cases for r in case["rates"])
    return cases


def dump(name, value):
    (FOLDER / name).write_text(json.dumps(value, separators=(",", ":")) + "\n")


if __name__ == "__main__":
    dump("optimizer.json", optimizer_cases())
    dump("schedules.json", schedule_cases())
