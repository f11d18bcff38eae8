"""The program's language model as a module: the decoder of Llama and Mistral with any causal attention type. Parameters have
the names of Hugging Face's files."""

import math
from typing import Any

import torch
from torch import Tensor, nn

from modewise import ops
from modewise.nn.basic import Dropout, Linear, RMSNorm, TensorModule, number_dropouts
from modewise.nn.tensor_attention import AttentionCache, TensorAttention, level_frequencies

Table = dict[str, Any]


class LanguageFeedForward(TensorModule):
    """down_proj(silu(gate_proj x) · up_proj x), no biases."""

    def __init__(self, width: int, hidden: int) -> None:
        super().__init__()
        self.gate_proj = Linear(width, hidden, bias=False)
        self.down_proj = Linear(hidden, width, bias=False)
        self.up_proj = Linear(width, hidden, bias=False)

    def forward(self, x: Tensor) -> Tensor:
        return ops.feed_forward(x, self.up_proj.weight, self.down_proj.weight, self.gate_proj.weight)


class LanguageLayer(TensorModule):
    """x + drop(attention(RMSNorm x)), then + drop(feed-forward(RMSNorm x))."""

    def __init__(self, attention: TensorAttention, width: int, hidden: int, epsilon: float, dropout: float) -> None:
        super().__init__()
        self.self_attn = attention
        self.mlp = LanguageFeedForward(width, hidden)
        self.input_layernorm = RMSNorm(width, epsilon)
        self.post_attention_layernorm = RMSNorm(width, epsilon)
        self.dropout1, self.dropout2 = Dropout(dropout), Dropout(dropout)

    def forward(self, x: Tensor) -> Tensor:
        return self._fed(self.dropout1.add_to(x, self.self_attn(self.input_layernorm(x))))

    def step(self, x: Tensor, cache: AttentionCache) -> Tensor:
        """The same for the tokens after those in the cache."""
        return self._fed(self.dropout1.add_to(x, self.self_attn.step(self.input_layernorm(x), cache)))

    def _fed(self, x: Tensor) -> Tensor:
        return self.dropout2.add_to(x, self.mlp(self.post_attention_layernorm(x)))


class _Matrix(nn.Module):
    """A parameter under `weight`."""

    def __init__(self, rows: int, columns: int, std: float) -> None:
        super().__init__()
        self.weight = nn.Parameter(torch.randn(rows, columns) * std)


class _Decoder(nn.Module):
    def __init__(self, model: Table) -> None:
        super().__init__()
        self.embed_tokens = _Matrix(model["vocabulary"], model["width"], init_std(model))
        self.layers = nn.ModuleList(
            LanguageLayer(make_attention(model), model["width"], model["hidden"], model["norm_epsilon"], model["dropout"])
            for _ in range(model["layers"])
        )
        self.norm = RMSNorm(model["width"], model["norm_epsilon"])


def init_std(model: Table) -> float:
    """Standard deviation of the initial weights; 1/√width for 0."""
    return float(model["init_std"]) if model["init_std"] > 0 else 1 / math.sqrt(model["width"])


def acting_fold(model: Table) -> list[int]:
    """The fold with n_1 = 0 replaced, for the type summary, by the number of outermost blocks in the context."""
    attention = model["attention"]
    fold = list(attention["fold"])
    if attention["type"] == "summary" and fold[0] == 0:
        fold[0] = max(1, (model["context"] - 1) // math.prod(fold[1:]))
    return fold


def make_attention(model: Table) -> TensorAttention:
    """The attention of a resolved `[model]` table."""
    attention = model["attention"]
    frequencies, gains = level_frequencies(model["rope"], attention["type"], attention["fold"], model["head_width"])
    return TensorAttention(
        model["width"], model["heads"], kv_heads=model["kv_heads"], head_width=model["head_width"],
        form=attention["type"], fold=acting_fold(model), window=attention["window"], sinks=attention["sinks"],
        density=attention["density"], summary_tokens=attention["summary_tokens"],
        frequencies=frequencies, gains=gains, std=init_std(model), latent_std=attention["latent_std"])  # fmt: skip


class LanguageModel(TensorModule):
    """tokens [B, n] int64 -> logits [B, n, V] of the next tokens. `model`: the complete `[model]` table of a run of the task
    language_modeling."""

    def __init__(self, model: Table) -> None:
        super().__init__()
        self.options = model
        self.model = _Decoder(model)
        self.lm_head = None if model["tied"] else _Matrix(model["vocabulary"], model["width"], init_std(model))
        number_dropouts(self)

    @property
    def head_weight(self) -> Tensor:
        """[V, D]; the embedding if tied."""
        return self.model.embed_tokens.weight if self.lm_head is None else self.lm_head.weight

    def _embed(self, tokens: Tensor) -> Tensor:
        if tokens.dim() != 2 or tokens.dtype != torch.int64:
            raise ValueError(f"language model: tokens must be int64 [B, n], got {tokens.dtype} {list(tokens.shape)}")
        return nn.functional.embedding(tokens, self.model.embed_tokens.weight).to(self._type())

    def _type(self) -> torch.dtype:
        return torch.bfloat16 if self.options["precision"] == "bf16" else self.model.embed_tokens.weight.dtype

    def hidden(self, tokens: Tensor) -> Tensor:
        """Hidden states [B, n, D] after the last norm, for `modewise.ops.language_loss`."""
        x = self._embed(tokens)
        for layer in self.model.layers:
            x = layer(x)
        return self.model.norm(x)

    def forward(self, tokens: Tensor) -> Tensor:
        return ops.linear(self.hidden(tokens), self.head_weight)

    def new_cache(self) -> list[AttentionCache]:
        """An empty cache for each layer."""
        caches: list[AttentionCache] = [layer.self_attn.new_cache(self._type()) for layer in self._layers()]
        return caches

    def _layers(self) -> list[LanguageLayer]:
        return [layer for layer in self.model.layers if isinstance(layer, LanguageLayer)]

    @torch.no_grad()
    def step_hidden(self, tokens: Tensor, caches: list[AttentionCache]) -> Tensor:
        """tokens [B, t] after those in the caches -> hidden states [B, t, D] after the last norm."""
        x = self._embed(tokens)
        for layer, cache in zip(self._layers(), caches, strict=True):
            x = layer.step(x, cache)
        return self.model.norm(x)

    @torch.no_grad()
    def step(self, tokens: Tensor, caches: list[AttentionCache]) -> Tensor:
        """tokens [B, t] after those in the caches -> logits [B, V] of the next token."""
        return ops.linear(self.step_hidden(tokens, caches)[:, -1], self.head_weight)

    @torch.no_grad()
    def greedy(self, tokens: Tensor, count: int) -> Tensor:
        """Greedy decoding with a cache: tokens [B, n] -> the next `count` tokens [B, count]."""
        caches, found = self.new_cache(), []
        step = tokens
        for _ in range(count):
            step = self.step(step, caches).argmax(-1, keepdim=True)
            found.append(step)
        return torch.cat(found, -1) if found else tokens.new_empty(tokens.shape[0], 0)
