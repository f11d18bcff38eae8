"""Elementary functions against numpy in float64: square roots are exact, the others within about one ulp."""

import numpy as np
import pytest
import torch

from ops_records import ops

RNG = np.random.default_rng(2)


def ulps(got, exact):
    """Difference in float32 ulps of `exact`."""
    return np.abs(got.astype(np.float64) - exact) / np.spacing(np.abs(exact).astype(np.float32)).astype(np.float64)


@pytest.mark.parametrize("exponent", [1, 126, 127, 254])
def test_roots_are_exact(exponent):
    x = (np.arange(1 << 23, dtype=np.uint32) | np.uint32(exponent << 23)).view(np.float32)  # every number of this exponent
    assert (ops.elementary(torch.from_numpy(x), "sqrt").numpy() == np.sqrt(x)).all()


@pytest.mark.parametrize("name, low, high, max_ulps", [("exp", -87, 88, 1.03), ("log", 1e-30, 1e30, 0.51), ("sin", -1e5, 1e5, 0.51),
                                                   ("cos", -1e5, 1e5, 0.51), ("tanh", -9, 9, 0.51)])  # fmt: skip
def test_within_about_a_unit_of_the_last_place(name, low, high, max_ulps):
    x = RNG.uniform(low, high, 100_003).astype(np.float32)
    got = ops.elementary(torch.from_numpy(x), name).numpy()
    assert ulps(got, getattr(np, name)(x.astype(np.float64))).max() <= max_ulps


def test_the_slope_of_gelu_is_its_derivative():
    x = torch.from_numpy(RNG.normal(size=1003) * 3).requires_grad_()
    (slope,) = torch.autograd.grad(torch.nn.functional.gelu(x).sum(), x)
    torch.testing.assert_close(ops.elementary(x.detach(), "gelu_slope"), slope)
    with pytest.raises(RuntimeError, match="elementary: the gradient of gelu_slope is not implemented"):
        ops.elementary(x, "gelu_slope").sum().backward()


def test_at_the_edges():
    inf, nan = float("inf"), float("nan")
    x = torch.tensor([-inf, -120.0, 0.0, 120.0, inf, nan])
    expected = {"exp": [0, 0, 1, inf, inf, nan], "tanh": [-1, -1, 0, 1, 1, nan], "sqrt": [nan, nan, 0, 120**0.5, inf, nan]}
    for name, values in expected.items():
        assert torch.equal(ops.elementary(x, name).nan_to_num(5.5), torch.tensor(values).nan_to_num(5.5)), name
