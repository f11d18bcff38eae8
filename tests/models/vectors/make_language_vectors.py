"""Writes language.json: logits of transformers' LlamaForCausalLM and MistralForCausalLM, in float64, of tiny models whose
weights follow from a formula (`weight` below, repeated in language_vectors.h)."""
import json
import math
import pathlib

import numpy as np
import torch
from transformers import LlamaConfig, LlamaForCausalLM, MistralConfig, MistralForCausalLM

VOCABULARY, TOKENS = 19, 21


def weight(place, shape):
    """Value i of the parameter at `place` in the order of the file; norms are around 1, matrices have unit rows."""
    i = np.arange(int(np.prod(shape)), dtype=np.uint64)
    u = (i * 2654435761 + place * 40503) % 2**32
    u ^= u >> 15
    u = u * 2246822519 % 2**32
    u ^= u >> 13
    value = u.astype(np.float64) / 2**32 - 0.5
    value = 1 + value if len(shape) == 1 else value * math.sqrt(12 / shape[1])
    return torch.tensor(value.reshape(shape))


def order(layers, tied):
    names = ["model.embed_tokens.weight"]
    for layer in range(layers):
        names += [f"model.layers.{layer}.{part}.weight" for part in (
            "input_layernorm", "self_attn.q_proj", "self_attn.k_proj", "self_attn.v_proj", "self_attn.o_proj",
            "post_attention_layernorm", "mlp.gate_proj", "mlp.up_proj", "mlp.down_proj")]
    return names + ["model.norm.weight"] + ([] if tied else ["lm_head.weight"])


def case(name, kind="llama", spelling="new", rope=None, theta=10000.0, **options):
    common = dict(vocab_size=VOCABULARY, hidden_size=16, intermediate_size=24, num_hidden_layers=2, num_attention_heads=4,
                  num_key_value_heads=4, max_position_embeddings=16, rms_norm_eps=1e-5, tie_word_embeddings=False,
                  attn_implementation="eager")
    common.update(options)
    parameters = {"rope_type": "default", "rope_theta": theta, **(rope or {})}
    config_class, model_class = {"llama": (LlamaConfig, LlamaForCausalLM), "mistral": (MistralConfig, MistralForCausalLM)}[kind]
    config = config_class(**common, rope_parameters=dict(parameters))
    model = model_class(config).double().eval()
    with torch.no_grad():
        state = model.state_dict()
        names = order(config.num_hidden_layers, config.tie_word_embeddings)
        assert set(names) == set(state) - ({"lm_head.weight"} if config.tie_word_embeddings else set())
        for place, key in enumerate(names):
            state[key].copy_(weight(place, tuple(state[key].shape)))
        tokens = torch.tensor([[(7 * i * i + 3 * i + 1) % VOCABULARY for i in range(TOKENS)]])
        logits = model(tokens).logits[0]
    text = {"architectures": [model_class.__name__], "model_type": kind,
            **{k: v for k, v in common.items() if k != "attn_implementation"}}
    if spelling == "new":
        text["rope_parameters"] = parameters
    else:  # as configs were written before transformers 5
        text["rope_theta"] = theta
        scaling = {k: v for k, v in parameters.items() if k not in ("rope_theta", "rope_type")}
        text["rope_scaling"] = {("type" if spelling == "oldest" else "rope_type"): parameters["rope_type"], **scaling} if rope else None
    return {"name": name, "config": text, "tokens": tokens[0].tolist(), "logits": [round(v, 7) for v in logits.flatten().tolist()]}


llama3 = {"rope_type": "llama3", "factor": 8.0, "low_freq_factor": 1.0, "high_freq_factor": 4.0,
          "original_max_position_embeddings": 16}
yarn = {"rope_type": "yarn", "factor": 4.0, "original_max_position_embeddings": 64}
cases = [
    case("llama"),
    case("llama_grouped_tied", num_key_value_heads=2, tie_word_embeddings=True),
    case("llama_one_key_head", num_key_value_heads=1, theta=500.0),
    case("llama_head_width", head_dim=6, num_key_value_heads=2),
    case("llama_linear", rope={"rope_type": "linear", "factor": 2.5}),
    case("llama_linear_oldest", spelling="oldest", rope={"rope_type": "linear", "factor": 2.5}),
    case("llama_llama3", rope=llama3, num_key_value_heads=2, theta=500.0, head_dim=12),
    case("llama_llama3_old", spelling="old", rope=llama3, num_key_value_heads=2, theta=500.0, head_dim=12),
    case("llama_yarn", rope=yarn, head_dim=12, theta=100.0),
    case("llama_yarn_old", spelling="old", rope=yarn, head_dim=12, theta=100.0),
    case("llama_yarn_options", rope={**yarn, "beta_fast": 8.0, "beta_slow": 2.0, "truncate": False, "attention_factor": 1.3},
         head_dim=12, theta=100.0),
    case("llama_yarn_mscale", rope={**yarn, "mscale": 0.7, "mscale_all_dim": 1.5}, head_dim=12, theta=100.0),
    case("mistral_window", kind="mistral", num_key_value_heads=2, sliding_window=5),
    case("mistral_full", kind="mistral", num_key_value_heads=2, sliding_window=None),
]
pathlib.Path(__file__).with_name("language.json").write_text(json.dumps({"tokens": TOKENS, "cases": cases}) + "\n")
