"""A user's file under mypy --strict: ten public names and the types that they give (test_package_native.py)."""

from typing import assert_type

import numpy as np
import numpy.typing as npt
import pandas
import torch

import modewise
from modewise.errors import ModewiseError

x, weight = torch.ones(1, 3, 4, 8), torch.ones(16, 8)
assert_type(modewise.ops.kronecker_attention(x, x, weight, None, weight, None, heads=2), torch.Tensor)  # 1
assert_type(modewise.ops.mode_pool(x, "sum"), list[torch.Tensor])  # 2
attention = modewise.nn.KroneckerAttention(8, 2, modes=2)  # 3
assert_type(attention(x), torch.Tensor)
block = modewise.nn.Block(8, attention, modewise.nn.SwiGLU(8, 16))  # 4
assert_type(block(x), torch.Tensor)


def forecast(table: str) -> float:
    forecaster = modewise.Forecaster("dlinear", horizon=24).fit(table)  # 5
    assert_type(forecaster, modewise.Forecaster)
    assert_type(forecaster.evaluate(), modewise.tasks.Result)
    following = forecaster.predict(level=[80])
    assert isinstance(following, pandas.DataFrame)
    print(following["load"])
    return forecaster.score()


def classes(samples: npt.NDArray[np.float32], labels: list[str]) -> list[str]:
    classifier = modewise.SeriesClassifier("minirocket").fit(samples, labels)  # 6
    return [str(label) for label in classifier.predict(samples)]


def continued(text: str) -> str:
    return modewise.LanguageModel(context=64).fit([text]).generate("a", 10)  # 7


def trained(table: str) -> str:
    try:
        return str(modewise.tasks.train("forecasting", {"data.path": table})["run"])  # 8
    except ModewiseError as error:  # 9
        return f"exit code {error.exit_code}"


assert_type(modewise.__version__, str)


def weights(run: str) -> int:
    model = modewise.load(run)  # 10
    assert isinstance(model, torch.nn.Module)
    return sum(parameter.numel() for parameter in model.parameters())
