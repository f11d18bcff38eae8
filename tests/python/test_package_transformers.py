"""modewise's attention in models of the library transformers, against the program, the package's own language model and the
library's attention where both say the same."""

import copy
import json
import os
import random
import subprocess
import sys

import pytest
import torch
import transformers
from transformers import AutoModelForCausalLM

import modewise
import modewise.transformers as ours
from cli_helpers import ROOT, ok
from modewise.models.language import LanguageModel

CONTEXT, WORDS = 32, 61
SMALL = {"model.layers": 2, "model.width": 32, "model.heads": 4, "model.kv_heads": 2, "model.context": CONTEXT, "train.max_steps": 3,
         "train.batch_size": 4, "output.report": False}  # fmt: skip
FOLD = {"model.attention.fold": [0, 3, 4]}
RUNS = {
    "summary": {**FOLD, "model.attention.summary_tokens": 2},
    "own fold, not tied": {"model.tied": False},
    "wide window": {**FOLD, "model.attention.window": 11},
    "lambda": {"model.attention.type": "lambda", "model.attention.window": 5, "model.attention.sinks": 2},
    "axial": {"model.attention.type": "axial", "model.attention.fold": [0, 2, 4]},
    "random": {"model.attention.type": "random", "model.attention.density": 0.3},
    "topk": {"model.attention.type": "topk", "model.attention.density": 0.3},
    "linear": {**FOLD, "model.rope.scaling": "linear", "model.rope.factor": 3.0, "model.rope.scaled_level": 1},
    "ntk": {**FOLD, "model.rope.scaling": "ntk", "model.rope.factor": 3.0},
    "yarn": {**FOLD, "model.rope.scaling": "yarn", "model.rope.factor": 4.0, "model.rope.original_length": 16},
    "yarn, lengths in tokens": {**FOLD, "model.rope.scaling": "yarn", "model.rope.factor": 4.0, "model.rope.original_length": 16,
                                "model.rope.level_lengths": False},
    "llama3": {**FOLD, "model.rope.scaling": "llama3", "model.rope.factor": 4.0, "model.rope.original_length": 40},
    "head width": {**FOLD, "model.head_width": 6, "model.hidden": 40},
}
SIZES = {"vocab_size": WORDS, "hidden_size": 32, "intermediate_size": 40, "num_hidden_layers": 2, "num_attention_heads": 4,
         "num_key_value_heads": 2, "max_position_embeddings": CONTEXT, "bos_token_id": None, "eos_token_id": None}  # fmt: skip
CONFIGS = {
    "llama": lambda: transformers.LlamaConfig(**SIZES),
    "mistral": lambda: transformers.MistralConfig(**SIZES, head_dim=8, sliding_window=5),
    "qwen2": lambda: transformers.Qwen2Config(**SIZES),
    "qwen3": lambda: transformers.Qwen3Config(**SIZES, head_dim=8),
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


@pytest.fixture(scope="module")
def run(text, tmp_path_factory):
    return trained(text, tmp_path_factory.mktemp("summary") / "run", {**RUNS["summary"], "train.max_steps": 200, "train.optimizer.learning_rate": 0.01})


def tokens(rows, count, words=WORDS, seed=3):
    return torch.randint(0, words, (rows, count), generator=torch.Generator().manual_seed(seed))


def made(family="llama", fold=(0, 3, 4), summary_tokens=2, window=0, spread=0.5, **changes):
    """A random model of the library with our attention, its latents far from 0 so that they count."""
    torch.manual_seed(5)
    config = CONFIGS[family]()
    for name, value in changes.items():
        setattr(config, name, value)
    model = AutoModelForCausalLM.from_config(ours.configure(config, fold=fold, summary_tokens=summary_tokens, window=window)).eval()
    with torch.no_grad():
        for name, parameter in model.named_parameters():
            parameter.normal_(std=spread) if "latents" in name else parameter.mul_(3)
    return model


def own_model(model):
    """The package's language model with the weights of one of the library."""
    config, attention = model.config, model.config.modewise["attention"]
    rope = {"base": config.rope_parameters["rope_theta"], "scaling": "none", "factor": 1.0, "scaled_level": -1}
    own = LanguageModel({
        "vocabulary": config.vocab_size, "width": config.hidden_size, "hidden": config.intermediate_size, "layers": config.num_hidden_layers,
        "heads": config.num_attention_heads, "kv_heads": config.num_key_value_heads, "head_width": config.head_dim,
        "norm_epsilon": config.rms_norm_eps, "tied": False, "context": config.max_position_embeddings, "init_std": 0.0, "dropout": 0.0,
        "precision": "float32", "attention": {**attention, "latent_std": 0.0}, "rope": rope})  # fmt: skip
    own.load_state_dict(model.state_dict())
    return own.eval()


@torch.no_grad()
def logits(model, ids, **rest):
    return model(ids, **rest).logits


def close(a, b):
    torch.testing.assert_close(a, b, rtol=1e-4, atol=1e-4)


@pytest.mark.parametrize("name", RUNS)
def test_a_runs_folder_opens_with_the_programs_logits(text, tmp_path, name):
    loaded = trained(text, tmp_path / "run", RUNS[name])
    model = AutoModelForCausalLM.from_pretrained(tmp_path / "run/model", dtype=torch.float32)
    assert type(model) is ours.ModewiseForCausalLM
    assert set(loaded.module.state_dict()) == set(model.state_dict()) - ({"lm_head.weight"} if loaded.config["model"]["tied"] else set())
    ids = tokens(2, 61, 257)
    with torch.no_grad():
        close(logits(model, ids), loaded.module(ids))


def test_two_hundred_tokens_are_the_programs(run):
    said = json.loads(ok("generate", run.path, "--prompt", "the of", "--tokens", 200, "--temperature", 0, "--ignore-eos", "--json").stdout)
    model = AutoModelForCausalLM.from_pretrained(run.path / "model", dtype=torch.float32)
    prompt = torch.tensor([[run.begin_id, *run.encode("the of").tolist()]])
    model.generation_config.eos_token_id = None
    out = model.generate(prompt, max_new_tokens=200, do_sample=False)
    assert out[0, prompt.shape[1] :].tolist() == said["ids"]
    assert len(set(said["ids"])) > 3


def test_what_the_library_saves_is_the_programs(run, tmp_path):
    model = made(vocab_size=257, bos_token_id=256)
    model.save_pretrained(tmp_path / "saved")
    model.generation_config.eos_token_id = None
    prompt = torch.tensor([[256, *b"the of"]])
    said = json.loads(ok("generate", tmp_path / "saved", "--tokenizer", run.path / "model", "--prompt", "the of", "--tokens", 200,
                         "--temperature", 0, "--ignore-eos", "--json").stdout)  # fmt: skip
    assert model.generate(prompt, max_new_tokens=200, do_sample=False)[0, prompt.shape[1] :].tolist() == said["ids"]
    assert len(set(said["ids"])) > 5


def test_logits_and_greedy_tokens_are_those_of_the_packages_model():
    model = made()
    own, ids = own_model(model), tokens(2, 61)
    with torch.no_grad():
        close(logits(model, ids), own(ids))
    assert torch.equal(model.generate(ids[:, :7], max_new_tokens=200, do_sample=False)[:, 7:], own.greedy(ids[:, :7], 200))


@pytest.mark.parametrize("family", CONFIGS)
def test_a_wide_window_is_the_librarys_full_attention(family):
    """Within the window no block is complete, and one softmax over all tokens remains: rotary embedding, biases, norms of queries
    and keys, shared heads and scale have to be the library's."""
    changes = {"sliding_window": None} if family == "mistral" else {}
    model = made(family, fold=(0, 2, 64), window=128, **changes)
    ids = tokens(2, 31)
    found = logits(model, ids)
    model.set_attn_implementation("eager")
    wanted = logits(model, ids)
    close(found, wanted)
    model.set_attn_implementation(ours.NAME)
    assert torch.equal(logits(model, ids), found)


SCALINGS = {
    "linear": {"factor": 3.0},
    "yarn": {"factor": 4.0, "original_max_position_embeddings": 16},
    "yarn by lengths": {"rope_type": "yarn", "factor": None, "original_max_position_embeddings": 8, "beta_fast": 20.0, "beta_slow": 2.0,
                        "truncate": False},
    "yarn of two scales": {"rope_type": "yarn", "factor": 4.0, "original_max_position_embeddings": 16, "mscale": 0.7, "mscale_all_dim": 0.3},
    "yarn with its gain": {"rope_type": "yarn", "factor": 4.0, "original_max_position_embeddings": 16, "attention_factor": 1.3},
    "llama3": {"factor": 4.0, "original_max_position_embeddings": 40, "low_freq_factor": 1.0, "high_freq_factor": 4.0},
}  # fmt: skip


@pytest.mark.parametrize("name", SCALINGS)
def test_scaled_rotary_embeddings_are_the_librarys(name):
    model = made(fold=(0, 2, 64), window=128, rope_parameters={"rope_type": name, "rope_theta": 5e3, **SCALINGS[name]})
    ids = tokens(2, 31)
    found = logits(model, ids)
    model.set_attn_implementation("eager")
    close(found, logits(model, ids))


@pytest.mark.parametrize("family", CONFIGS)
def test_steps_through_the_cache_are_the_whole_text(family):
    model, ids = made(family), tokens(2, 61)
    whole, pieces, cache = logits(model, ids), [], None
    with torch.no_grad():
        for piece in ids.split([33, 1, 7, 1, 19], 1):
            out = model(piece, past_key_values=cache, use_cache=True)
            cache = out.past_key_values
            pieces.append(out.logits)
    assert type(cache) is ours.ModewiseCache
    assert cache.get_seq_length() == 61
    close(torch.cat(pieces, 1), whole)


def test_the_cache_is_small():
    model = made(fold=(0, 4, 4), summary_tokens=1)
    bytes_at = []
    for count in (64, 128, 256):
        cache = ours.ModewiseCache(model.config)
        logits(model, tokens(1, count), past_key_values=cache)
        bytes_at.append(cache.bytes)
    every_token = 2 * 2 * 256 * 2 * 8 * 4  # layers, keys and values, tokens, key heads, width, bytes
    assert bytes_at[2] < every_token / 3
    assert bytes_at[2] - bytes_at[1] < (every_token / 2) / 4


def test_generate_fills_our_cache_unasked_or_given():
    model, ids = made(), tokens(2, 9)
    given = ours.ModewiseCache(model.config)
    out = model.generate(ids, max_new_tokens=20, do_sample=False, past_key_values=given, return_dict_in_generate=True)
    assert given.get_seq_length() == 28
    assert out.past_key_values is given
    unasked = model.generate(ids, max_new_tokens=20, do_sample=False, return_dict_in_generate=True)
    assert unasked.past_key_values.layers[0].bytes == given.layers[0].bytes > 0
    without = model.generate(ids, max_new_tokens=20, do_sample=False, use_cache=False)
    assert torch.equal(out.sequences, without)
    assert torch.equal(unasked.sequences, without)


def test_a_cache_goes_on_with_the_next_turn_and_reads_prompts_in_chunks():
    model, ids = made(), tokens(2, 9)
    wanted, cache = model.generate(ids, max_new_tokens=15, do_sample=False), ours.ModewiseCache(model.config)
    first = model.generate(ids, max_new_tokens=5, do_sample=False, past_key_values=cache)
    assert torch.equal(model.generate(first, max_new_tokens=10, do_sample=False, past_key_values=cache), wanted)
    assert torch.equal(model.generate(ids, max_new_tokens=15, do_sample=False, prefill_chunk_size=4), wanted)


PADDED = {"left": lambda row, pad: [*pad, *row], "right": lambda row, pad: [*row, *pad],
          "amid": lambda row, pad: [*row[:3], *pad, *row[3:]]}  # fmt: skip


@pytest.mark.parametrize("side", PADDED)
def test_padded_texts_have_the_logits_of_the_texts_alone(side):
    model, alone = made(), [tokens(1, count, seed=count)[0] for count in (31, 17, 5)]
    rows = [PADDED[side](row.tolist(), [0] * (31 - len(row))) for row in alone]
    valid = torch.tensor([PADDED[side]([1] * len(row), [0] * (31 - len(row))) for row in alone])
    found = logits(model, torch.tensor(rows), attention_mask=valid)
    for place, row in enumerate(alone):
        close(found[place][valid[place].bool()], logits(model, row[None])[0])


def test_padded_prompts_go_on_as_alone():
    model, alone = made(), [tokens(1, count, seed=count)[0] for count in (31, 17, 5)]
    rows = torch.tensor([PADDED["left"](row.tolist(), [0] * (31 - len(row))) for row in alone])
    valid = torch.tensor([PADDED["left"]([1] * len(row), [0] * (31 - len(row))) for row in alone])
    found = model.generate(rows, attention_mask=valid, max_new_tokens=40, do_sample=False, pad_token_id=0)[:, 31:]
    for place, row in enumerate(alone):
        assert torch.equal(found[place], model.generate(row[None], max_new_tokens=40, do_sample=False)[0, len(row) :])


def test_no_token_sees_a_later_one_and_each_sees_all_earlier():
    model = made().double()
    x = torch.randn(1, 29, 32, dtype=torch.float64, requires_grad=True)
    for token in (0, 6, 13, 28):
        (grad,) = torch.autograd.grad(model(inputs_embeds=x).logits[0, token].sum(), x)
        reached = grad[0].abs().sum(-1) > 0
        assert reached[: token + 1].all()
        assert not reached[token + 1 :].any()


def test_latents_begin_as_mean_pooling_in_a_model_that_is_loaded(tmp_path):
    torch.manual_seed(2)
    transformers.LlamaForCausalLM(CONFIGS["llama"]()).save_pretrained(tmp_path / "llama")
    one = AutoModelForCausalLM.from_pretrained(tmp_path / "llama", attn_implementation="modewise_causal")
    assert one.config.modewise == {"attention": {"type": "summary", "fold": [0, 4, 4], "window": 8, "summary_tokens": 1, "sinks": 0,
                                                 "density": 0.1}}
    latents = [parameter for name, parameter in one.named_parameters() if name.endswith(".latents")]
    assert [list(parameter.shape) for parameter in latents] == [[2, 2, 1, 8]] * 2
    assert all((parameter == 0).all() for parameter in latents)
    config = ours.configure(transformers.AutoConfig.from_pretrained(tmp_path / "llama"), fold=[0, 3, 4], summary_tokens=7)
    several = AutoModelForCausalLM.from_pretrained(tmp_path / "llama", config=config)
    drawn = several.model.layers[1].self_attn.latents
    assert list(drawn.shape) == [2, 2, 7, 8]
    assert 0.015 < drawn.std() < 0.025
    assert torch.equal(several.model.layers[1].mlp.up_proj.weight, one.model.layers[1].mlp.up_proj.weight)


def test_a_prepared_model_is_one_that_was_made_so():
    model, ids = made(), tokens(2, 40)
    plain = transformers.LlamaForCausalLM(CONFIGS["llama"]()).eval()
    plain.load_state_dict({name: value for name, value in model.state_dict().items() if "latents" not in name})
    before = logits(plain, ids)
    assert ours.prepare(plain, fold=[0, 3, 4], summary_tokens=2) is plain
    plain.load_state_dict(model.state_dict())
    assert torch.equal(logits(plain, ids), logits(model, ids))
    assert not torch.allclose(logits(plain, ids), before, atol=1e-2)
    kept = plain.model.layers[0].self_attn.latents[:1, :, :1].clone()
    ours.prepare(plain, fold=[0, 5], summary_tokens=1)
    assert torch.equal(plain.model.layers[0].self_attn.latents, kept)


@pytest.mark.parametrize("family", CONFIGS)
def test_saved_models_open_again(tmp_path, family):
    model, ids = made(family), tokens(2, 40)
    model.save_pretrained(tmp_path / "saved")
    again = AutoModelForCausalLM.from_pretrained(tmp_path / "saved")
    assert type(again) is type(model)
    assert torch.equal(logits(again, ids), logits(model, ids))
    again.save_pretrained(tmp_path / "twice")
    assert (tmp_path / "twice/config.json").read_bytes() == (tmp_path / "saved/config.json").read_bytes()
    assert torch.equal(logits(copy.deepcopy(again), ids), logits(model, ids))


def test_the_library_alone_refuses_what_was_saved(tmp_path):
    made().save_pretrained(tmp_path / "saved")
    program = "import sys, transformers; transformers.AutoModelForCausalLM.from_pretrained(sys.argv[1])"
    run = subprocess.run([sys.executable, "-c", program, tmp_path / "saved"], capture_output=True, text=True,
                         env={**os.environ, "PYTHONPATH": str(ROOT / "python")})  # fmt: skip
    assert run.returncode == 1
    assert 'Specified `attn_implementation="modewise_causal"` is not supported.' in run.stderr


def losses(model, ids, steps):
    optimizer = torch.optim.AdamW(model.parameters(), lr=3e-3)
    model.train()
    for _ in range(steps):
        loss = model(ids, labels=ids).loss
        loss.backward()
        optimizer.step()
        optimizer.zero_grad()
        yield float(loss.detach())


@pytest.mark.parametrize("checkpointed", [False, True])
def test_it_trains(checkpointed):
    model, ids = made(spread=0.02), tokens(4, 30)
    if checkpointed:
        model.activation_checkpointing_enable()
    before = copy.deepcopy(model.state_dict())
    seen = list(losses(model, ids, 12))
    assert seen[-1] < 0.8 * seen[0]
    assert all((model.state_dict()[name] != before[name]).any() for name in before)


def test_gradients_are_those_of_the_packages_model():
    model, ids = made(), tokens(2, 31)
    own = own_model(model)
    wanted = torch.nn.functional.cross_entropy(own(ids)[:, :-1].flatten(0, 1), ids[:, 1:].flatten())
    wanted.backward()
    loss = model(ids, labels=ids).loss
    loss.backward()
    close(loss, wanted)
    grads = dict(own.named_parameters())
    for name, parameter in model.named_parameters():
        torch.testing.assert_close(parameter.grad, grads[name].grad, rtol=1e-3, atol=1e-5)


def test_the_trainer_trains_saves_and_loads(tmp_path):
    pytest.importorskip("accelerate", reason="transformers.Trainer needs accelerate")
    rows = [{"input_ids": row, "labels": row} for row in tokens(16, 30)]
    arguments = transformers.TrainingArguments(output_dir=tmp_path / "out", max_steps=50, per_device_train_batch_size=4, learning_rate=3e-3,
                                               logging_steps=5, report_to="none", disable_tqdm=True, use_cpu=True, save_steps=50)  # fmt: skip
    trainer = transformers.Trainer(model=made(spread=0.02), args=arguments, train_dataset=rows)
    trainer.train()
    seen = [entry["loss"] for entry in trainer.state.log_history if "loss" in entry]
    assert seen[-1] < 0.8 * seen[0]
    again = AutoModelForCausalLM.from_pretrained(tmp_path / "out/checkpoint-50")
    ids = tokens(2, 40)
    assert torch.equal(logits(again, ids), logits(trainer.model.eval(), ids))
    close(logits(again, ids), own_model(again)(ids).detach())


CONFIGURED = {
    "one size": (lambda: ours.configure(CONFIGS["llama"](), fold=[8]),
                 "fold [8] has no blocks to summarise: give at least two sizes, such as [0, 8, 8]"),
    "a size of 0": (lambda: ours.configure(CONFIGS["llama"](), fold=[0, 0, 4]),
                    "fold [0, 0, 4]: sizes must be at least 1, except that the first may be 0 (as large as the text needs)"),
    "a small window": (lambda: ours.configure(CONFIGS["llama"](), fold=[0, 8], window=7),
                       "window 7 is smaller than the last size of fold [0, 8]: tokens of the partial block would not be "
                       "attended to"),
    "no summary tokens": (lambda: ours.configure(CONFIGS["llama"](), summary_tokens=0), "summary_tokens must be at least 1, got 0"),
    "another architecture": (lambda: ours.configure(transformers.GPT2Config()),
                             "models of type 'gpt2' are not supported; supported: llama, mistral, qwen2, qwen3, modewise"),
    "another architecture, made": (
        lambda: AutoModelForCausalLM.from_config(transformers.GPT2Config(n_layer=1, n_embd=8, n_head=2, vocab_size=9),
                                                 attn_implementation="modewise_causal"),
        "models of type 'gpt2' are not supported; supported: llama, mistral, qwen2, qwen3, modewise"),
    "dropout": (lambda: made(attention_dropout=0.1), "attention_dropout is 0.1, but attention weights are never materialized: set it to 0"),
    "an odd head": (lambda: made(head_dim=7), "a rotary embedding needs an even head width, got 7"),
    "dynamic scaling": (lambda: made(rope_parameters={"rope_type": "dynamic", "rope_theta": 1e4, "factor": 2.0}),
                      "rope_type 'dynamic' is not supported; supported: default, linear, yarn, llama3"),
    "another attention": (lambda: AutoModelForCausalLM.from_config(ours.ModewiseConfig(**SIZES), attn_implementation="sdpa"),
                          "a modewise model has no attention 'sdpa'"),
}  # fmt: skip


@pytest.mark.parametrize("name", CONFIGURED)
def test_wrong_configurations_are_sentences(name):
    make, sentence = CONFIGURED[name]
    with pytest.raises(ValueError) as error:
        make()
    assert str(error.value) == f"modewise_causal: {sentence}"


def unprepared():
    model = transformers.LlamaForCausalLM(CONFIGS["llama"]())
    model.set_attn_implementation("modewise_causal")
    return model(tokens(1, 5))


def filled(model):
    cache = transformers.DynamicCache()
    for layer in range(2):
        cache.update(torch.zeros(1, 2, 3, 8), torch.zeros(1, 2, 3, 8), layer)
    return model(tokens(1, 5), past_key_values=cache)


def stepped_with_gradients(model):
    first = model(tokens(1, 5), use_cache=True)
    return model(tokens(1, 5), past_key_values=first.past_key_values)


def masked_late(model):
    with torch.no_grad():
        first = model(tokens(1, 5), use_cache=True)
        return model(tokens(1, 1), past_key_values=first.past_key_values, attention_mask=torch.tensor([[0, 1, 1, 1, 1, 1]]))


GIVE = "pass past_key_values=modewise.transformers.ModewiseCache(model.config), or none"
ASKED = {
    "not prepared": (lambda model: unprepared(), "this model was made for another attention: convert it with "
                                                 "modewise.transformers.prepare(model)"),
    "a filled cache": (filled, f"a DynamicCache is not supported: {GIVE}"),
    "a cache of another kind": (lambda model: model.generate(tokens(1, 5), max_new_tokens=3, cache_implementation="static"),
                                f"a StaticCache is not supported: {GIVE}"),
    "beams": (lambda model: model.generate(tokens(1, 5), max_new_tokens=3, num_beams=2),
              "beam search is not supported: rows of a cache cannot be reordered"),
    "gradients through a cache": (stepped_with_gradients, "a cache has no gradients: use it under torch.no_grad()"),
    "a mask of pairs": (lambda model: model(tokens(1, 5), attention_mask=torch.ones(1, 1, 5, 5)),
                        "attention_mask must be [B, n], a padding mask; a mask of pairs of tokens is not supported"),
    "a short mask": (lambda model: model(tokens(1, 5), attention_mask=torch.ones(1, 4)),
                     "attention_mask must be [B, 5], all tokens so far, got [1, 4]"),
    "a mask that changes": (masked_late, "attention_mask masks tokens that are cached already"),
    "packed texts": (lambda model: model(tokens(1, 5), position_ids=torch.tensor([[0, 1, 2, 0, 1]])),
                     "position_ids must count the tokens of one text per row; texts packed into one row are not supported"),
    "going back": (lambda model: ours.ModewiseCache(model.config).crop(-1),
                   "a summary cache cannot be cropped: tokens of complete blocks are not cached"),
}  # fmt: skip


@pytest.mark.parametrize("name", ASKED)
def test_what_cannot_be_read_is_a_sentence(name):
    ask, sentence = ASKED[name]
    with pytest.raises(ValueError) as error:
        ask(made())
    assert str(error.value) == f"modewise_causal: {sentence}"


class PackedLinear(torch.nn.Module):
    """A frozen matrix of 4 bits a weight, two in a byte, with a scale a row, as quantised models have them."""

    def __init__(self, linear):
        super().__init__()
        weight = linear.weight.detach()
        self.bias, self.out_features, self.in_features = None, *weight.shape
        scale = weight.abs().amax(1, keepdim=True) / 7
        levels = (weight / scale).round().clamp(-8, 7).to(torch.int64) + 8
        self.register_buffer("scale", scale)
        self.weight = torch.nn.Parameter((levels[:, ::2] * 16 + levels[:, 1::2]).to(torch.uint8).flatten().unsqueeze(1), requires_grad=False)

    def matrix(self):
        bytes_of = self.weight.view(self.out_features, -1).to(torch.int64)
        return (torch.stack([bytes_of // 16, bytes_of % 16], 2).flatten(1) - 8) * self.scale

    def forward(self, x):
        return torch.nn.functional.linear(x, self.matrix())


class LowRank(torch.nn.Module):
    """The layer, and a trained product of two thin matrices beside it."""

    def __init__(self, layer, rank=2):
        super().__init__()
        self.layer = layer
        self.down = torch.nn.Parameter(torch.randn(rank, layer.in_features) / 8)
        self.up = torch.nn.Parameter(torch.zeros(layer.out_features, rank))

    def forward(self, x):
        return self.layer(x) + torch.nn.functional.linear(torch.nn.functional.linear(x, self.down), self.up)


def packed_llama():
    torch.manual_seed(4)
    model = transformers.LlamaForCausalLM(CONFIGS["llama"]())
    for layer in model.model.layers:
        for block, name in [*((layer.self_attn, f"{one}_proj") for one in "qkvo"), *((layer.mlp, f"{one}_proj") for one in ("gate", "up", "down"))]:
            setattr(block, name, PackedLinear(getattr(block, name)))
    return model


def with_low_rank(model):
    """Freezes the model and adds trained parts to q and v, as adapters do."""
    model.requires_grad_(False)
    for layer in model.model.layers:
        for name in ("q_proj", "v_proj"):
            setattr(layer.self_attn, name, LowRank(getattr(layer.self_attn, name)))
    return model


@pytest.mark.parametrize("attention", ["summary", "axial"])
def test_a_packed_model_with_adapters_trains_saves_loads_and_generates(attention, tmp_path):
    fold = {"fold": [0, 2, 4]}
    model = with_low_rank(ours.prepare(packed_llama(), attention=attention, **fold))
    queries = ours.summary_queries(model)
    assert [tuple(value.shape) for value in queries.values()] == ([(2, 2, 1, 8)] * 2 if attention == "summary" else [])
    trained_names = {name for name, value in model.named_parameters() if value.requires_grad}
    assert len(trained_names) == 8 + len(queries)
    optimizer = torch.optim.Adam([value for value in model.parameters() if value.requires_grad], lr=0.02)
    ids = tokens(4, 24, words=7)
    before = {name: value.detach().clone() for name, value in model.named_parameters()}
    losses = []
    for _ in range(20):
        loss = model(ids, labels=ids).loss
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        losses.append(loss.item())
    assert losses[-1] < losses[0] - 0.1
    changed = {name for name, value in model.named_parameters() if not torch.equal(value, before[name])}
    assert changed == trained_names
    torch.save(model.state_dict(), tmp_path / "state.pt")
    again = with_low_rank(ours.prepare(packed_llama(), attention=attention, **fold))
    again.load_state_dict(torch.load(tmp_path / "state.pt"))
    model.eval(), again.eval()
    assert torch.equal(logits(model, ids), logits(again, ids))
    out = again.generate(ids[:, :5], max_new_tokens=20, do_sample=False)
    assert out.shape == (4, 25) and torch.equal(out, model.generate(ids[:, :5], max_new_tokens=20, do_sample=False))
    whole = logits(again, out[:, :-1]).argmax(-1)[:, 4:]  # the cache's tokens are those of the whole text
    assert torch.equal(whole, out[:, 5:])


def test_axial_attention_is_the_operators():
    model, ids = made(), tokens(1, 29)
    plain = ours.prepare(transformers.LlamaForCausalLM(CONFIGS["llama"]()), attention="axial", fold=[0, 2, 4]).eval()
    plain.load_state_dict({name: value for name, value in model.state_dict().items() if "latents" not in name})
    assert plain.config.modewise["attention"]["type"] == "axial" and not ours.summary_queries(plain)
    changed = ids.clone()
    changed[0, 6] = (ids[0, 6] + 1) % WORDS  # position (0, 1, 2) of the fold
    moved = (logits(plain, ids) - logits(plain, changed)).abs().amax(-1)[0] > 1e-6
    places = [(t // 8, t // 4 % 2, t % 4) for t in range(29)]
    assert moved.tolist() == [all(a >= b for a, b in zip(place, (0, 1, 2))) for place in places]


@pytest.mark.parametrize(("options", "words"), [
    ({"attention": "pooled"}, "lets each token see later ones"), ({"attention": "sparse"}, "is not one of summary, axial"),
    ({"attention": "axial", "window": 4}, "attention 'axial' has no window, got 4")])  # fmt: skip
def test_attention_types_that_do_not_fit_are_sentences(options, words):
    with pytest.raises(ValueError, match=words):
        ours.prepare(transformers.LlamaForCausalLM(CONFIGS["llama"]()), **options)


@pytest.mark.parametrize("given", ["cache", "past_key_values"])
def test_the_cache_of_models_that_name_it_cache(given):
    """transformers 5.24 renamed the argument of its models."""
    from modewise.transformers import attention

    class Decoder(torch.nn.Module):
        config = ours.configure(transformers.LlamaConfig(hidden_size=32, num_attention_heads=2, num_key_value_heads=2, num_hidden_layers=3))

        def forward(self, tokens, cache=None, use_cache=None):
            return tokens

    Decoder.config._attn_implementation = attention.NAME
    _, kwargs = attention.with_cache(Decoder(), (), {given: None, "use_cache": True})
    assert kwargs.keys() == {"cache", "use_cache"} and len(kwargs["cache"].layers) == 3
    _, again = attention.with_cache(Decoder(), (), {given: kwargs["cache"], "use_cache": True})
    assert again["cache"] is kwargs["cache"]
