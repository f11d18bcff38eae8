"""Modules of forecasting models from the `[model]` table of a run's config.toml."""

from modewise.models.encoder_config import Table, encoder_options
from modewise.models.forecast import (
    DLinear,
    Forecaster,
    ForecastShape,
    ITransformer,
    LinearForecaster,
    NaiveForecaster,
    PatchTST,
    Tide,
    TokenForecaster,
)

TOKEN_MODELS = ("hot", "transformer", "spatial", "temporal")


def cycle_options(window: Table) -> Table:
    """The cycle of WindowNormalization."""
    return {"cycle": window["cycle"], "cycle_gain": window["cycle_gain"]} if window["cycle"] > 0 else {}


def window_options(window: Table) -> Table:
    """The keywords of WindowNormalization."""
    return {"centre": window["centre"], "scale": window["scale"] == "std", "affine": window["affine"], **cycle_options(window)}


def token_forecaster(model: Table, shape: ForecastShape) -> Forecaster:
    patch, head = model["patch"], model["head"]
    if model["attention"]["kernel"] == "linear" and model["name"] != "hot":
        raise NotImplementedError(f"model.name = \"{model['name']}\" with attention.kernel = \"linear\" has no module "
                                  "in Python yet; the program and modewise.Forecaster run it")  # fmt: skip
    ordered = [*(mode for mode, has in enumerate(shape.ordered) if has), len(shape.series)]
    return TokenForecaster(
        shape, encoder_options(model, ordered, model["name"]), length=patch["length"], stride=patch["stride"],
        embedding=patch["embedding"], patch_dropout=patch["dropout"], head=head["time"], head_dropout=head["dropout"],
        head_norm=head.get("norm", True), zero_start=head["zero_start"], skip=head["skip"], covariate_width=model["future_covariates"]["width"],
        bfloat16=model["precision"] == "bf16", **window_options(model["window"]))  # fmt: skip


def patchtst(model: Table, shape: ForecastShape) -> Forecaster:
    return PatchTST(
        shape, width=model["width"], hidden=model["hidden"], heads=model["heads"], layers=model["layers"],
        length=model["patch"]["length"], stride=model["patch"]["stride"], dropout=model["dropout"],
        attention_dropout=model["attention"]["dropout"], head_dropout=model["head"]["dropout"],
        bfloat16=model["precision"] == "bf16", **window_options(model["window"]))  # fmt: skip


def itransformer(model: Table, shape: ForecastShape) -> Forecaster:
    return ITransformer(
        shape, width=model["width"], hidden=model["hidden"], heads=model["heads"], layers=model["layers"],
        dropout=model["dropout"], bfloat16=model["precision"] == "bf16", **window_options(model["window"]))  # fmt: skip


def tide(model: Table, shape: ForecastShape) -> Forecaster:
    return Tide(
        shape, width=model["width"], hidden=model["hidden"], layers=model["layers"], step_width=model["tide"]["step_width"],
        covariate_width=model["future_covariates"]["width"], dropout=model["dropout"], norm=model["tide"]["norm"],
        bfloat16=model["precision"] == "bf16", **window_options(model["window"]))  # fmt: skip


def dlinear(model: Table, shape: ForecastShape) -> Forecaster:
    return DLinear(shape, kernel=model["dlinear"]["kernel"], individual=model["individual"], **cycle_options(model["window"]))


def linear_forecaster(model: Table, shape: ForecastShape) -> Forecaster:
    window, revin = window_options(model["window"]), model["name"] == "rlinear"
    window |= {"centre": "mean" if revin else "last", "scale": revin, "affine": revin and window["affine"]}
    return LinearForecaster(shape, individual=model["individual"], dropout=model["dropout"] if revin else 0.0, **window)


def make_forecaster(model: Table, shape: ForecastShape) -> Forecaster:
    """The module of a complete `[model]` table. NotImplementedError for a model that only the program has."""
    name = model["name"]
    if name in TOKEN_MODELS:
        return token_forecaster(model, shape)
    if name in ("repeat", "seasonal"):
        return NaiveForecaster(shape, model["period"] if name == "seasonal" else 0)
    others = {"patchtst": patchtst, "itransformer": itransformer, "tide": tide, "dlinear": dlinear, "nlinear": linear_forecaster,
              "rlinear": linear_forecaster}  # fmt: skip
    if name not in others:
        raise NotImplementedError(f'model.name = "{name}" has no module in Python yet; the program and modewise.Forecaster run it')
    return others[name](model, shape)
