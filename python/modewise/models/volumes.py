"""The program's volume classifiers as modules: hot, transformer and divided, and ensembles of these. State names are those of
the program's files: emb.…, positions, blocks.N.…, head.0, head.2; for ensembles member0.…, weights."""

import dataclasses
import math
import tomllib

import torch
from torch import Tensor

from modewise import _aliases, ops
from modewise.models.encoder_config import Table, encoder_options
from modewise.nn.basic import TensorModule, number_dropouts
from modewise.nn.encoder import EncoderOptions, TokenEncoder, encoded
from modewise.nn.patches import GridPatches, GridStem
from modewise.nn.time_head import TimeHead

MECHANISMS = {"hot": "hot", "transformer": "transformer", "divided": "divided"}
OLD_NAMES = {"timesformer": "divided", "mvit": "pooling-attention"}  # in configs of older runs


@dataclasses.dataclass
class VisionShape:
    """Sizes of a classifier: voxels N_1 … N_k, channels C, classes K, whether volumes have masks."""

    size: list[int]
    channels: int
    classes: int
    missing: bool = False


class TokenClassifier(TensorModule):
    """values [B, N_1 … N_k, C] in the scale of the run, valid [B, N_1 … N_k] bool or None -> logits [B, K]."""

    def __init__(
        self,
        shape: VisionShape,
        encoder: EncoderOptions,
        *,
        patch: list[int],
        embedding: str = "stem",
        patch_dropout: float = 0.0,
        head: str = "mean",
        head_dropout: float = 0.0,
        head_norm: bool = True,
        bfloat16: bool = False,
    ) -> None:
        super().__init__()
        self.shape, self.narrow = shape, bfloat16
        sizes = [-(-size // cells) for size, cells in zip(shape.size, patch, strict=True)]
        self.emb = (
            GridStem(len(patch), shape.channels, patch[0], encoder.width)
            if embedding == "stem"
            else GridPatches(shape.channels, patch, encoder.width, embedding)
        )
        parts = TokenEncoder(encoder, sizes, range(len(sizes)), patch_dropout)
        self.identity, self.positions = parts.identity, parts.positions
        self.embedding_dropout, self.blocks = parts.embedding_dropout, parts.blocks
        self.head = TimeHead(head, math.prod(sizes), encoder.width, encoder.heads, shape.classes, head_dropout, head_norm)
        number_dropouts(self)

    def forward(self, values: Tensor, valid: Tensor | None = None) -> Tensor:
        values = self._checked(values, valid)
        x, mask = self.emb(values, valid, torch.bfloat16 if self.narrow else values.dtype)
        x = encoded(x, mask, self.identity, self.positions, self.embedding_dropout, self.blocks)
        return self.head(x.flatten(1, -2), None if mask is None else mask.flatten(1)).to(values.dtype)

    def _checked(self, values: Tensor, valid: Tensor | None) -> Tensor:
        wanted = [values.shape[0], *self.shape.size, self.shape.channels]
        if list(values.shape) != wanted:
            raise ValueError(f"classifier: values must be [{', '.join(map(str, wanted))}], got {list(values.shape)}")
        if not values.is_floating_point():
            raise ValueError(f"classifier: values must be a floating-point tensor, got {values.dtype}")
        if valid is None:
            return values
        if valid.dtype != torch.bool or list(valid.shape) != wanted[:-1]:
            raise ValueError(f"classifier: valid must be bool [{', '.join(map(str, wanted[:-1]))}], got {valid.dtype} {list(valid.shape)}")
        if not self.shape.missing:
            raise ValueError("classifier: valid was given, but the model was built for complete volumes")
        return torch.where(valid.unsqueeze(-1), values, torch.zeros((), dtype=values.dtype, device=values.device))


class ClassEnsemble(TensorModule):
    """Logarithms [B, K] float64 of the weighted mean of several classifiers' probabilities; `weights` [M] float64 sum to 1,
    initially equal. Members of weight 0 are skipped."""

    weights: Tensor

    def __init__(self, members: list[TensorModule]) -> None:
        super().__init__()
        self.count = len(members)
        for number, member in enumerate(members):
            self.add_module(f"member{number}", member.requires_grad_(False))
        self.register_buffer("weights", torch.full((self.count,), 1 / self.count, dtype=torch.float64))

    def forward(self, values: Tensor, valid: Tensor | None = None) -> Tensor:
        parts = [torch.softmax(self.get_submodule(f"member{number}")(values, valid).double(), -1) * weight
                 for number, weight in enumerate(self.weights) if weight != 0]  # fmt: skip
        return ops.elementary(sum(parts[1:], parts[0]), "log")


def make_classifier(model: Table, shape: VisionShape) -> TokenClassifier | ClassEnsemble:
    """The module of a complete `[model]` table. NotImplementedError for a model that only the program has."""
    name, patch = OLD_NAMES.get(model["name"], model["name"]), model["patch"]
    if name == "ensemble":
        return ClassEnsemble([make_classifier(tomllib.loads(text)["model"], shape) for text in model["ensemble"]["members"]])
    if name not in MECHANISMS or (model["attention"]["kernel"] == "linear" and name != "hot"):
        raise NotImplementedError(f'model.name = "{name}" has no module in Python yet; the program and modewise.tasks run it')
    sizes = patch["size"] if len(patch["size"]) > 1 else patch["size"] * len(shape.size)
    return TokenClassifier(
        shape, encoder_options(model, range(len(shape.size)), MECHANISMS[name]), patch=sizes,
        embedding=patch["embedding"], patch_dropout=patch["dropout"], head=model["head"]["pooling"],
        head_dropout=model["head"]["dropout"], head_norm=model["head"].get("norm", True), bfloat16=model["precision"] == "bf16")  # fmt: skip


__getattr__ = _aliases.old_names(__name__, {"GridShape": "VisionShape"})
