"""Language models of runs in Python: the program's losses and texts, Hugging Face's names, the cache."""

import json
import random

import pytest
import torch
import transformers

from transformers.models.llama.modeling_llama import LlamaRotaryEmbedding

import modewise
from cli_helpers import ok
from modewise import errors, nn
from modewise.nn import tensor_attention

CONTEXT = 32
SMALL = {"model.layers": 2, "model.width": 32, "model.heads": 4, "model.kv_heads": 2, "model.context": CONTEXT, "train.max_steps": 3,
         "train.batch_size": 4, "output.report": False}  # fmt: skip
FOLD = {"model.attention.fold": [0, 3, 4]}
CASES = {
    "summary": {**FOLD, "model.attention.summary_tokens": 2},
    "one summary token": FOLD,
    "own fold": {},
    "wide window": {**FOLD, "model.attention.window": 11, "model.tied": False},
    "full": {"model.attention.type": "full"},
    "window": {"model.attention.type": "window", "model.attention.window": 5},
    "lambda": {"model.attention.type": "lambda", "model.attention.window": 5, "model.attention.sinks": 2},
    "axial": {"model.attention.type": "axial", "model.attention.fold": [0, 2, 4]},
    "random": {"model.attention.type": "random", "model.attention.density": 0.3},
    "topk": {"model.attention.type": "topk", "model.attention.density": 0.3},
    "linear": {**FOLD, "model.rope.scaling": "linear", "model.rope.factor": 3.0, "model.rope.scaled_level": 1},
    "ntk": {**FOLD, "model.rope.scaling": "ntk", "model.rope.factor": 3.0},
    "yarn": {**FOLD, "model.rope.scaling": "yarn", "model.rope.factor": 4.0, "model.rope.original_length": 16},
    "yarn, one level": {**FOLD, "model.rope.scaling": "yarn", "model.rope.factor": 2.5, "model.rope.original_length": 32,
                        "model.rope.scaled_level": 1},
    "yarn, lengths in tokens": {**FOLD, "model.rope.scaling": "yarn", "model.rope.factor": 4.0, "model.rope.original_length": 16,
                                "model.rope.level_lengths": False},
    "yarn, axial": {"model.attention.type": "axial", "model.attention.fold": [0, 2, 4], "model.rope.scaling": "yarn",
                    "model.rope.factor": 3.0, "model.rope.original_length": 128},
    "llama3": {**FOLD, "model.rope.scaling": "llama3", "model.rope.factor": 4.0, "model.rope.original_length": 40},
    "bf16": {**FOLD, "model.precision": "bf16"},
    "head width": {**FOLD, "model.head_width": 6, "model.hidden": 40},
}


@pytest.fixture(scope="module")
def text(tmp_path_factory):
    draw = random.Random(1)
    words = "the of and to in is that it was for on are as with his they at be this".split()
    path = tmp_path_factory.mktemp("language") / "text.txt"
    path.write_text(" ".join(draw.choice(words) for _ in range(1500)))
    return path


def trained(text, run, settings):
    modewise.tasks.train("language_modeling", {**SMALL, **settings, "data.path": text}, out=run, verbosity=-1)
    return modewise.load(run)


def mean_loss(loaded, tokens):
    """As the program takes it: windows of the context behind the begin token, a batch at a time, sums in order."""
    batch = loaded.config["language"]["evaluation_batch"]
    ids = torch.cat([torch.tensor([loaded.begin_id]), tokens])
    whole = (len(ids) - 1) // CONTEXT
    parts = [(ids[: whole * CONTEXT].view(whole, CONTEXT), ids[1 : whole * CONTEXT + 1].view(whole, CONTEXT))]
    batches = [pair for inputs, targets in parts for pair in zip(inputs.split(batch), targets.split(batch), strict=True)]
    if whole * CONTEXT < len(ids) - 1:
        batches.append((ids[None, whole * CONTEXT : -1], ids[None, whole * CONTEXT + 1 :]))
    total = 0.0
    with torch.no_grad():
        for inputs, targets in batches:
            losses = modewise.ops.token_losses(loaded.module.hidden(inputs), loaded.module.head_weight, targets)
            total += sum(losses.flatten().tolist(), 0.0)
    return total / (len(ids) - 1)


@pytest.mark.parametrize("name", CASES)
def test_losses_have_the_programs_bits(text, tmp_path, name):
    loaded = trained(text, tmp_path / "run", CASES[name])
    metrics = json.loads((tmp_path / "run/metrics.json").read_text())
    parts = json.loads((tmp_path / "run/data.json").read_text())
    tokens = loaded.encode(text.read_text())
    end = parts["train"]["tokens"] + parts["validation"]["tokens"]
    assert mean_loss(loaded, tokens[parts["train"]["tokens"] : end]) == metrics["validation"]["loss"]
    assert mean_loss(loaded, tokens[end:]) == metrics["test"]["loss"]


SCALED = {
    "yarn": {"beta_fast": 20, "beta_slow": 1, "truncate": False},
    "llama3": {"low_freq_factor": 1, "high_freq_factor": 4},
}


@pytest.mark.parametrize("kind", SCALED)
@pytest.mark.parametrize("attention_type", ["summary", "axial"])
def test_each_level_has_the_librarys_frequencies_for_its_own_positions(kind, attention_type):
    """8,192 tokens are 16 blocks of 32·16, at three times the length 48; the modes of 32 and 16 do not grow."""
    rope = {"scaling": kind, "base": 500.0, "factor": 3.0, "original_length": 8192, "scaled_level": -1, "level_lengths": True, "gain": 0.0,
            "beta_fast": 20, "beta_slow": 1, "truncate": False, "low_frequency_factor": 1, "high_frequency_factor": 4}  # fmt: skip
    rows, gains = tensor_attention.level_frequencies(rope, attention_type, [0, 32, 16], 16)
    for level, (original, factor) in enumerate([(8192, 3.0 if attention_type == "summary" else 1.0), (32, 1.0), (16, 3.0)]):
        theirs = LlamaRotaryEmbedding(transformers.LlamaConfig(
            hidden_size=64, num_attention_heads=4, max_position_embeddings=original,
            rope_parameters={"rope_type": kind, "rope_theta": 500.0, "factor": factor, "original_max_position_embeddings": original,
                             **SCALED[kind]}))  # fmt: skip
        torch.testing.assert_close(rows[level].float(), theirs.inv_freq, rtol=1e-5, atol=0)
        assert gains[level] == pytest.approx(theirs.attention_scaling)


def test_a_run_without_the_key_counts_lengths_in_tokens(text, tmp_path):
    loaded = trained(text, tmp_path / "run", CASES["yarn, lengths in tokens"])
    config = tmp_path / "run/config.toml"
    lines = config.read_text().splitlines(keepends=True)
    config.write_text("".join(line for line in lines if not line.startswith("level_lengths")))
    older = modewise.load(tmp_path / "run")
    assert older.config["model"]["rope"]["level_lengths"] is False
    tokens = torch.randint(0, 257, (1, 40), generator=torch.Generator().manual_seed(3))
    with torch.no_grad():
        assert torch.equal(older.module(tokens), loaded.module(tokens))


@pytest.fixture(scope="module")
def causal(text, tmp_path_factory):
    run = tmp_path_factory.mktemp("summary") / "run"
    return trained(text, run, {**CASES["summary"], "train.max_steps": 40})


@pytest.mark.parametrize("prompt", ["the of", "", "thé 😀"])
def test_texts_are_the_programs(causal, prompt):
    said = json.loads(ok("generate", causal.path, "--prompt", prompt, "--tokens", 70, "--temperature", 0, "--ignore-eos", "--json").stdout)
    opening = torch.tensor([[causal.begin_id, *causal.encode(prompt).tolist()]])
    assert causal.module.greedy(opening, 70)[0].tolist() == said["ids"]
    assert causal.generate(prompt, 70) == said["text"]


SAMPLINGS = [
    {"temperature": 0.8, "top_k": 20, "top_p": 0.9, "min_p": 0.02, "repetition_penalty": 1.2, "seed": 5},
    {"temperature": 1.5, "seed": 6, "stop": ["e", "zz"]},
    {"temperature": 0.7, "stop": "the", "ignore_eos": False},
]


@pytest.mark.parametrize("given", SAMPLINGS)
def test_sampled_texts_are_the_programs(causal, given):
    stops = [given["stop"]] if isinstance(given.get("stop"), str) else given.get("stop", [])
    flags = [word for name, value in given.items() if name not in ("stop", "ignore_eos") for word in (f"--{name.replace('_', '-')}", value)]
    ends = [] if given.get("ignore_eos") is False else ["--ignore-eos"]
    said = json.loads(ok("generate", causal.path, "--prompt", "the of", "--tokens", 60, "--json", *flags, *ends, *[word for stop in stops for word in ("--stop", stop)]).stdout)
    model = modewise.LanguageModel.from_run(causal.path).set_params(verbosity=-1)
    assert model.generate("the of", 60, **given) == said["text"]
    found = modewise.tasks.generate(causal.path, "the of", tokens=60, **{"ignore_eos": True} | given, verbosity=-1)
    assert found == {name: said[name] for name in ("text", "ids", "stopped_by")}


def test_arguments_of_generate(causal):
    model = modewise.LanguageModel.from_run(causal.path)
    for given, sentence in [({"temperature": float("inf")}, "generate: numbers must be finite"), ({"top_p": 2.0}, "top-p must be between 0 and 1, got 2"),
                            ({"tokens": -1}, "generate: the number of tokens must not be negative, got -1"), ({"seed": 0.5}, "seed must be an integer, got 0.5"),
                            ({"temperature": "hot"}, "temperature cannot be a value of type string")]:  # fmt: skip
        with pytest.raises(errors.UsageError) as error:
            model.generate("the", **given)
        assert str(error.value) == sentence


def test_tokens_are_bytes_and_back(causal):
    assert causal.encode("thé").tolist() == list("thé".encode())
    assert causal.decode(causal.encode("thé 😀")) == "thé 😀"
    assert causal.begin_id == 256


@pytest.mark.parametrize("name", ["summary", "full", "lambda", "axial", "topk"])
def test_steps_through_a_cache_are_the_whole_text(text, tmp_path, name):
    module = trained(text, tmp_path / "run", CASES[name]).module.double()
    tokens = torch.randint(0, 257, (2, 61), generator=torch.Generator().manual_seed(3))
    caches = module.new_cache()
    with torch.no_grad():
        pieces = [module.step_hidden(piece, caches) for piece in tokens.split([33, 1, 7, 1, 19], 1)]
        torch.testing.assert_close(torch.cat(pieces, 1), module.hidden(tokens), rtol=1e-12, atol=1e-12)
    assert {cache.length for cache in caches} == {61}


def test_the_cache_of_summary_attention_does_not_grow_with_the_text(causal):
    bytes_at = []
    caches = causal.module.new_cache()
    for _ in range(12):
        causal.module.step_hidden(torch.zeros(1, 12, dtype=torch.int64), caches)
        bytes_at.append(caches[0].bytes)
    assert caches[0].length == 144
    assert bytes_at[-1] < 2 * bytes_at[3]
    every = nn.TensorAttention(32, 4, form="full").new_cache()
    for tokens in (12, 132):
        every.step(*(torch.zeros(1, tokens, 4, 8) for _ in range(3)))
    assert every.bytes > 2 * bytes_at[-1]


def test_full_attention_is_llamas(text, tmp_path):
    """transformers reads the run's model folder; the state of the module has its names and its logits."""
    loaded = trained(text, tmp_path / "run", {**CASES["full"], "model.tied": False})
    theirs = transformers.AutoModelForCausalLM.from_pretrained(tmp_path / "run/model", dtype=torch.float32).eval()
    assert set(loaded.module.state_dict()) == set(theirs.state_dict())
    theirs.load_state_dict(loaded.module.state_dict())
    tokens = torch.randint(0, 257, (2, 31), generator=torch.Generator().manual_seed(5))
    with torch.no_grad():
        torch.testing.assert_close(loaded.module(tokens), theirs(tokens).logits, rtol=1e-4, atol=1e-5)


def test_no_token_sees_a_later_one():
    torch.manual_seed(2)
    attention = nn.TensorAttention(16, 2, fold=[0, 2, 3], summary_tokens=2, latent_std=1.0).double()
    x = torch.randn(1, 20, 16, dtype=torch.float64, requires_grad=True)
    for token in (0, 6, 7, 19):
        (grad,) = torch.autograd.grad(attention(x)[0, token].sum(), x)
        reached = grad[0].abs().sum(-1) > 0
        assert reached[: token + 1].all()
        assert not reached[token + 1 :].any()


def test_weights_of_another_type_keep_the_exact_frequencies():
    torch.manual_seed(3)
    frequencies = torch.tensor([[1.0, 0.1], [1.0, 0.1], [1.0, 0.1]], dtype=torch.float64)
    attention = nn.TensorAttention(8, 2, fold=[0, 2, 3], frequencies=frequencies, gains=[1.0] * 3).to(torch.bfloat16)
    assert attention.frequencies.dtype == torch.float64 and torch.equal(attention.frequencies, frequencies)
    assert attention.q_proj.weight.dtype == torch.bfloat16
    exact_attention = nn.TensorAttention(8, 2, fold=[0, 2, 3], frequencies=frequencies, gains=[1.0] * 3).double()
    exact_attention.load_state_dict(attention.state_dict())
    x = torch.randn(1, 9, 8).to(torch.bfloat16)
    with torch.no_grad():
        exact = exact_attention(x.double())
        whole, cache = attention(x), attention.new_cache(torch.bfloat16)
        stepped = torch.cat([attention.step(x[:, i : i + 1], cache) for i in range(9)], 1)
    one_unit = torch.finfo(torch.bfloat16).eps * exact.abs().max()  # what rounding the largest result to bfloat16 may change, twice
    for given in (whole, stepped):
        assert (given.double() - exact).abs().max() <= one_unit


def test_it_trains_and_compiles(causal):
    module = causal.module.train()
    tokens = torch.randint(0, 257, (4, 25), generator=torch.Generator().manual_seed(7))
    compiled = torch.compile(module.hidden, fullgraph=True, backend="aot_eager")
    assert torch.equal(compiled(tokens), module.hidden(tokens))
    loss = modewise.ops.language_loss(module.hidden(tokens[:, :-1]), module.head_weight, tokens[:, 1:])
    loss.backward()
    assert all(parameter.grad is not None for parameter in module.parameters())
    module.zero_grad()
    module.eval()


def test_wrong_tokens_are_sentences(causal):
    with pytest.raises(ValueError, match=r"^language model: tokens must be int64 \[B, n\], got torch.float32 \[2, 3\]$"):
        causal.module(torch.zeros(2, 3))
    with pytest.raises(ValueError, match=r"^tensor_attention: "):
        nn.TensorAttention(16, 2, form="pooled").forward(torch.zeros(1, 3, 16))
    with pytest.raises(errors.UsageError) as error:
        modewise.Forecaster.from_run(causal.path)
    assert str(error.value) == f"{causal.path} is a run of the task 'language_modeling', not of 'forecasting'"
    with pytest.raises(errors.DataError):
        modewise.tasks.decode(causal.path, [100000])
