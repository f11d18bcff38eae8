"""generate and convert as their users meet them, and exported models read by transformers."""
import json
import os
import subprocess

import numpy as np
import pytest

from cli_helpers import DATA, PROGRAM, fails, ok

STORIES = DATA / "language" / "stories260K.bin"
needs_stories = pytest.mark.skipif(not STORIES.exists(), reason=f"{STORIES} is not there")


def small_folder(path, seed=0, **changes):
    """A random model of bytes in Hugging Face's layout, written by NumPy and safetensors alone."""
    from safetensors.numpy import save_file

    config = {"architectures": ["LlamaForCausalLM"], "model_type": "llama", "vocab_size": 258, "hidden_size": 32,
              "intermediate_size": 48, "num_hidden_layers": 2, "num_attention_heads": 4, "num_key_value_heads": 2,
              "hidden_act": "silu", "rms_norm_eps": 1e-5, "max_position_embeddings": 128, "tie_word_embeddings": True,
              "rope_theta": 10000.0, **changes}
    rng = np.random.default_rng(seed)
    d, h, kv, v = 32, 48, 16, config["vocab_size"]
    shapes = {"model.embed_tokens.weight": (v, d), "model.norm.weight": (d,)}
    if not config["tie_word_embeddings"]:
        shapes["lm_head.weight"] = (v, d)
    for i in range(2):
        parts = {"input_layernorm": (d,), "self_attn.q_proj": (d, d), "self_attn.k_proj": (kv, d), "self_attn.v_proj": (kv, d),
                 "self_attn.o_proj": (d, d), "post_attention_layernorm": (d,), "mlp.gate_proj": (h, d), "mlp.up_proj": (h, d),
                 "mlp.down_proj": (d, h)}
        shapes |= {f"model.layers.{i}.{name}.weight": shape for name, shape in parts.items()}
    path.mkdir()
    save_file({name: (np.ones(s) if len(s) == 1 else rng.normal(size=s) / np.sqrt(s[1])).astype("f4") for name, s in shapes.items()},
              path / "model.safetensors")
    (path / "config.json").write_text(json.dumps(config))
    return path


@needs_stories
def test_stories_are_those_of_llama2c():
    story = "Once upon a time, there was a little girl named Lily. She loved to play outside in the park."
    streamed = ok("generate", STORIES, "--tokens", 200, "--temperature", 0)
    assert streamed.stdout.startswith(story)
    assert "200 generated" in streamed.stderr and "caches of" in streamed.stderr
    result = json.loads(ok("generate", STORIES, "--tokens", 200, "--temperature", 0, "--json").stdout)
    assert result["text"] + "\n" == streamed.stdout
    assert result["tokens"] == 200 and result["stopped_by"] == "tokens" and result["prompt_tokens"] == 1
    stopped = json.loads(ok("generate", STORIES, "--temperature", 0, "--stop", "red ball", "--stop", "nothing", "--json").stdout)
    assert stopped["text"] == result["text"][: result["text"].index("red ball")]


@needs_stories
def test_seeds_and_threads():
    arguments = ["generate", STORIES, "--prompt", "One day", "--tokens", 60, "--top-p", 0.9, "--top-k", 50, "--temperature", 0.8, "-q"]
    first = ok(*arguments, "--seed", 7, "--threads", 1).stdout
    assert ok(*arguments, "--seed", 7, "--threads", 3).stdout == first
    assert ok(*arguments, "--seed", 8).stdout != first
    assert ok(*arguments, "--seed", 7, "--echo").stdout == "One day" + first


def test_options_without_effect_are_named(tmp_path):
    run = ["generate", small_folder(tmp_path / "m"), "--tokenizer", "bytes", "--prompt", "a", "--tokens", 3]
    fails(2, '--echo has no effect with --json, whose "text" is the continuation alone', arguments=[*run, "--echo", "--json"])
    greedy = ok(*run, "--temperature", 0, "--json")
    assert "no effect" not in greedy.stderr
    idle = ok(*run, "--temperature", 0, "--json", "--top-k", 4, "--top-p", 0.5, "--min-p", 0.1, "--seed", 3, "--repetition-penalty", 1)
    assert "no effect at temperature 0 (greedy decoding): top-k 4, top-p 0.5, min-p 0.1, seed 3\n" in idle.stderr
    assert json.loads(idle.stdout)["ids"] == json.loads(greedy.stdout)["ids"]
    fails(2, "the temperature must be finite and at least 0, got inf", arguments=[*run, "--temperature", "inf"])
    fails(2, "the repetition penalty must be finite and above 0 (1: none), got inf", arguments=[*run, "--repetition-penalty", "inf"])


@pytest.mark.parametrize("penalty", [1.0, 1.3, 0.7])
def test_repetition_penalties_are_those_of_transformers(penalty, tmp_path):
    """Greedily; the penalty changes the text, and counts prompt and begin token."""
    torch, transformers = pytest.importorskip("torch"), pytest.importorskip("transformers")
    folder = small_folder(tmp_path / "m", bos_token_id=256, eos_token_id=257)
    prompt = "abcabc"
    run = ["generate", folder, "--tokenizer", "bytes", "--prompt", prompt, "--tokens", 40, "--temperature", 0, "--ignore-eos", "--json"]
    result = json.loads(ok(*run, "--repetition-penalty", penalty).stdout)
    ids = torch.tensor([[256, *prompt.encode()][-result["prompt_tokens"]:]])
    model = transformers.AutoModelForCausalLM.from_pretrained(folder, dtype=torch.float32)
    theirs = model.generate(ids, max_new_tokens=40, do_sample=False, repetition_penalty=penalty, eos_token_id=None, pad_token_id=0)
    assert result["ids"] == theirs[0, ids.shape[1]:].tolist()
    assert (penalty == 1) == (result["ids"] == json.loads(ok(*run).stdout)["ids"])


def test_sampling_of_generation_config_is_named_where_it_differs(tmp_path):
    folder = small_folder(tmp_path / "m")
    run = ["generate", folder, "--tokenizer", "bytes", "--prompt", "a", "--tokens", 3, "--json"]
    note = "the sampling options of the model's generation_config.json are not used: "
    for config, options, noted in [({"do_sample": True, "temperature": 0.6, "top_k": 0, "top_p": 0.9}, [], "--temperature 0.6 --top-p 0.9"),
                                   ({"do_sample": True, "temperature": 0.6, "top_k": 20, "min_p": 0.1}, ["--temperature", 0.6, "--top-k", 20], "--min-p 0.1"),
                                   ({"temperature": 0.6, "repetition_penalty": 1.1}, [], "--temperature 0 --repetition-penalty 1.1"),
                                   ({"repetition_penalty": 1.1}, ["--temperature", 0], "--repetition-penalty 1.1"),
                                   ({"do_sample": False}, ["--temperature", 0], None), ({"bos_token_id": 256, "eos_token_id": 257}, ["--temperature", 0], None),
                                   ({"do_sample": True, "temperature": None, "eos_token_id": 257}, [], "--top-k 50"), ({}, [], None)]:
        (folder / "generation_config.json").write_text(json.dumps(config))
        stderr = ok(*run, *options).stderr
        assert (note + noted + "\n" in stderr) if noted else note not in stderr
    (folder / "generation_config.json").write_text(json.dumps({"num_beams": 1, "no_repeat_ngram_size": 2, "suppress_tokens": [], "bad_words_ids": [[3]]}))
    assert "generation_config.json has options that modewise does not support: no_repeat_ngram_size, bad_words_ids\n" in ok(*run).stderr
    (folder / "generation_config.json").write_text('{"do_sample": true, "temperature": "hot"}')
    fails(65, "generation_config.json", "temperature", "hot", arguments=run)


@needs_stories
def test_a_text_beyond_the_training_length_is_noted():
    """That of the model is 512 tokens."""
    prompt = json.loads(ok("generate", STORIES, "--prompt", "One day", "--tokens", 1, "--json").stdout)["prompt_tokens"]
    for length, noted in ((512, False), (513, True)):
        stderr = ok("generate", STORIES, "--prompt", "One day", "--tokens", length - prompt, "--ignore-eos", "--temperature", 0).stderr
        assert (f"the text ({length} tokens) is longer than the training length of the model (512)" in stderr) == noted


@needs_stories
def test_other_attention_generates_and_caches_less():
    sizes = {}
    for attention, options in {"full": [], "summary": ["--fold", "8,8,8"], "window": ["--window", "32"], "axial": ["--fold", "0,16"]}.items():
        result = json.loads(ok("generate", STORIES, "--attention", attention, *options, "--tokens", 300, "--ignore-eos", "--json").stdout)
        assert result["tokens"] == 300 and result["attention"] == attention
        sizes[attention] = result["cache_bytes"]
    assert sizes["summary"] < sizes["full"] / 3 and sizes["window"] < sizes["full"] / 3


@needs_stories
def test_layouts_convert_to_the_same_model(tmp_path):
    said = ok("convert", STORIES, tmp_path / "folder", "--shard-gigabytes", 0.0002).stdout
    assert "260,032 parameters" in said and "with its tokenizer" in said
    assert (tmp_path / "folder" / "model.safetensors.index.json").exists()
    for version in (0, 1):
        ok("convert", tmp_path / "folder", tmp_path / f"v{version}.bin", "--llama2c-version", version)
    text = ok("generate", STORIES, "--tokens", 50, "--temperature", 0, "-q").stdout
    assert ok("generate", tmp_path / "folder", "--tokens", 50, "--temperature", 0, "-q").stdout == text
    for version in (0, 1):
        assert ok("generate", tmp_path / f"v{version}.bin", "--tokens", 50, "--temperature", 0, "-q", "--tokenizer",
                  tmp_path / "folder").stdout == text
    ok("convert", STORIES, tmp_path / "summary", "--attention", "summary", "--fold", "8,8,8")
    assert json.loads((tmp_path / "summary" / "config.json").read_text())["architectures"] == ["ModewiseForCausalLM"]
    assert ok("generate", tmp_path / "summary", "--tokens", 20, "--temperature", 0, "-q").stdout
    fails(73, "already contains a model: choose another folder, or replace it with --overwrite", arguments=["convert", STORIES, tmp_path / "summary"])
    fails(73, "exists already", arguments=["convert", STORIES, tmp_path / "v0.bin"])
    fails(65, "attention types other than full", arguments=["convert", tmp_path / "summary", tmp_path / "c.bin"])


def test_conversion_replaces_a_model_with_overwrite(tmp_path):
    """Also one of several shards with another tokenizer; files of others stay."""
    source = small_folder(tmp_path / "m", seed=1)
    (tmp_path / "m" / "tokenizer.txt").write_text("bytes\n")
    ok("convert", source, tmp_path / "plain")
    ok("convert", small_folder(tmp_path / "old"), tmp_path / "out", "--shard-gigabytes", 0.00001)
    for name in ("tokenizer.json", "vocab.txt", "special_tokens_map.json", "generation_config.json"):
        (tmp_path / "out" / name).write_text("{}")
    (tmp_path / "out" / "README.md").write_text("mine")
    ok("convert", source, tmp_path / "out", "--overwrite")
    files = {path.name: path.read_bytes() for path in (tmp_path / "out").iterdir()}
    assert files.pop("README.md") == b"mine"
    assert files == {path.name: path.read_bytes() for path in (tmp_path / "plain").iterdir()}
    fails(2, "is the model that is read: convert it to another folder", arguments=["convert", source, source, "--overwrite"])
    fails(2, "models are written as Hugging Face folders or as llama2.c's .bin, not as .gguf files", arguments=["convert", source, tmp_path / "a.gguf"])


def test_prompts_of_any_bytes(tmp_path):
    folder = small_folder(tmp_path / "m")
    (tmp_path / "prompt").write_bytes(b"\xff\xfe\x00 broken \xe2\x82")
    for options in (["--prompt-file", tmp_path / "prompt"], ["--prompt", "plain"]):
        result = subprocess.run([PROGRAM, "generate", folder, "--tokenizer", "bytes", "--tokens", "30", *map(str, options)],
                                capture_output=True)
        assert result.returncode == 0, result.stderr
        json.loads(ok("generate", folder, "--tokenizer", "bytes", "--tokens", 30, "--json", *options).stdout)
    piped = subprocess.run([PROGRAM, "generate", folder, "--tokenizer", "bytes", "--tokens", "5", "--prompt-file", "-"],
                           input=b"abc", capture_output=True)
    assert piped.returncode == 0


def test_a_byte_order_mark_is_no_prompt(tmp_path):
    (tmp_path / "prompt").write_bytes(b"\xef\xbb\xbfonce")
    assert ok("tokenize", tmp_path / "prompt").stdout.split() == [str(byte) for byte in b"once"]
    options = [small_folder(tmp_path / "m"), "--tokenizer", "bytes", "--tokens", 8, "--temperature", 0, "--json"]
    marked, bare = (json.loads(ok("generate", *options, *prompt).stdout) for prompt in (["--prompt-file", tmp_path / "prompt"], ["--prompt", "once"]))
    assert marked["text"] == bare["text"]


def test_what_cannot_be_done_is_said(tmp_path):
    folder = small_folder(tmp_path / "m")
    run = ["generate", folder, "--tokenizer", "bytes", "--prompt", "a"]
    fails(66, "nowhere", arguments=["generate", tmp_path / "nowhere"])
    fails(2, "has no tokenizer: set --tokenizer", arguments=["generate", folder])
    fails(1, "of memory are free", "--attention summary", arguments=[*run, "--tokens", 10**15])
    fails(2, "--prompt and --prompt-file are exclusive: give one", arguments=[*run, "--prompt-file", folder / "config.json"])
    fails(2, "top-p", arguments=[*run, "--top-p", 2])
    fails(2, "min-p must be between 0 and 1, got 2", arguments=[*run, "--min-p", 2])
    fails(2, "the repetition penalty must be finite and above 0 (1: none), got 0", arguments=[*run, "--repetition-penalty", 0])
    fails(78, "is not causal", arguments=[*run, "--attention", "pooled"])
    fails(78, "smaller than the last size of attention.fold", arguments=[*run, "--attention", "summary", "--fold", "4,8", "--window", 3])
    fails(78, "exceeds 62 bits", arguments=[*run, "--attention", "summary", "--fold", "2147483647,2147483647,2147483647"])
    fails(2, "attention.fold", arguments=[*run, "--attention", "summary", "--fold", "a,b"])
    lying = small_folder(tmp_path / "lying", num_key_value_heads=4)
    fails(65, "num_key_value_heads 4", "k_proj.weight", arguments=["generate", lying])
    other = small_folder(tmp_path / "gpt", architectures=["GPTNeoXForCausalLM"])
    fails(65, "GPTNeoXForCausalLM", arguments=["generate", other])
    (tmp_path / "x.bin").write_bytes(b"not a model at all, really, it is not one")
    fails(65, "x.bin", arguments=["generate", tmp_path / "x.bin"])
    if STORIES.exists():
        (tmp_path / "cut.bin").write_bytes(STORIES.read_bytes()[:-1])
        fails(65, "truncated", arguments=["generate", tmp_path / "cut.bin"])


def test_a_model_of_bytes_keeps_its_tokenizer_when_converted(tmp_path):
    folder = small_folder(tmp_path / "m")
    ok("convert", folder, tmp_path / "out", "--tokenizer", "bytes")
    assert json.loads(ok("generate", tmp_path / "out", "--prompt", "a", "--tokens", 5, "--ignore-eos", "--json").stdout)["tokens"] == 5


ROPES = {
    "plain": {},
    "linear": {"rope_scaling": {"type": "linear", "factor": 2.0}},
    "llama3": {"rope_parameters": {"rope_type": "llama3", "rope_theta": 500.0, "factor": 8.0, "low_freq_factor": 1.0,
                                   "high_freq_factor": 4.0, "original_max_position_embeddings": 32}},
    "yarn": {"rope_parameters": {"rope_type": "yarn", "rope_theta": 500.0, "factor": 4.0, "original_max_position_embeddings": 32}},
    "untied": {"tie_word_embeddings": False},
    "window": {"architectures": ["MistralForCausalLM"], "model_type": "mistral", "sliding_window": 9},
}


@pytest.mark.parametrize("name", ROPES)
def test_transformers_reads_what_is_exported_and_writes_the_same_text(tmp_path, name):
    transformers = pytest.importorskip("transformers", reason="transformers is not installed: exports are not read back by it")
    import torch

    folder = small_folder(tmp_path / "m", seed=3, **ROPES[name])
    ok("convert", folder, tmp_path / "out", "--tokenizer", "bytes", "--shard-gigabytes", 0.00003)
    model = transformers.AutoModelForCausalLM.from_pretrained(tmp_path / "out", dtype=torch.float32, attn_implementation="eager").eval()
    prompt = b"The quick brown fox jumps over the lazy dog"
    result = json.loads(ok("generate", tmp_path / "out", "--prompt", prompt.decode(), "--tokens", 40, "--temperature", 0, "--ignore-eos",
                           "--json").stdout)
    begin = [] if result["prompt_tokens"] == len(prompt) else [256]
    ids = torch.tensor([begin + list(prompt)])
    assert ids.size(1) == result["prompt_tokens"]
    with torch.no_grad():
        for _ in range(40):
            ids = torch.cat([ids, model(ids).logits[:, -1:].argmax(-1)], 1)
    assert ids[0, result["prompt_tokens"] :].tolist() == result["ids"]


def test_tokenize_shows_the_pieces(tmp_path):
    (tmp_path / "a.txt").write_text("aé", encoding="utf-8")
    assert ok("tokenize", tmp_path / "a.txt", "--pieces").stdout == "97\t'a'\n195\t'\\xc3'\n169\t'\\xa9'\n"
    found = json.loads(ok("tokenize", tmp_path / "a.txt", "--pieces", "--json").stdout)
    assert found["ids"] == [97, 195, 169] and found["pieces"][0] == "a" and found["count"] == found["bytes"] == 3
    assert "ids" not in json.loads(ok("tokenize", tmp_path / "a.txt", "--count", "--json").stdout)


@pytest.mark.parametrize("command", [["tokenize", "-"], ["tokenize", "--decode", "-"], ["generate", "MODEL", "--tokenizer", "bytes", "--prompt-file", "-"]],
                         ids=" ".join)  # fmt: skip
def test_an_input_that_cannot_be_read_is_not_an_empty_text(tmp_path, command):
    model = small_folder(tmp_path / "model")
    command = [PROGRAM, *(model if word == "MODEL" else word for word in command)]
    folder = os.open(tmp_path, os.O_RDONLY)
    try:
        for prepare, reason in ((lambda: os.dup2(folder, 0), "Is a directory"), (lambda: os.close(0), "Bad file descriptor")):
            done = subprocess.run(command, capture_output=True, text=True, preexec_fn=prepare)
            assert (done.returncode, done.stdout) == (74, "")
            assert done.stderr.endswith(f"error: cannot read standard input: {reason}\n")
    finally:
        os.close(folder)
    assert subprocess.run([PROGRAM, "tokenize", "--count", "-"], capture_output=True, text=True, input="héllo").stdout == "6\n"


def test_ids_that_are_no_numbers_are_named(tmp_path):
    (tmp_path / "ids").write_text("104, 105\n 33")
    assert ok("tokenize", "--decode", tmp_path / "ids").stdout == "hi!"
    for text, place in (("104 x9", "byte 4, got 'x9'"), ("99999999999", "byte 0, got"), ("-", "byte 0, got")):
        (tmp_path / "ids").write_text(text)
        fails(65, f"expected a token id at {place}", arguments=["tokenize", "--decode", tmp_path / "ids"])


def test_names_of_task_files_may_hold_commas(tmp_path):
    small_folder(tmp_path / "model")
    fails(66, "no, such.toml", arguments=["evaluate", tmp_path / "model", "--tokenizer", "bytes", "--tasks", tmp_path / "no, such.toml"])


def test_a_scaling_by_one_is_refused_where_it_is_asked_for_and_opens_from_a_file(tmp_path):
    plain = small_folder(tmp_path / "plain")
    for command in (["generate", plain, "--tokenizer", "bytes", "--tokens", 2], ["convert", plain, tmp_path / "out"]):
        for kind in ("linear", "ntk", "yarn", "llama3"):
            fails(78, f'rope.scaling = "{kind}" with rope.factor = 1', "set rope.factor", arguments=[*command, "--set", f"rope.scaling={kind}"])
    fails(2, "--factor 2 has no effect without --rope",
          arguments=["evaluate", plain, "--tokenizer", "bytes", "--data", plain / "config.json", "--factor", 2])  # fmt: skip
    by_one = small_folder(tmp_path / "one", rope_scaling={"type": "linear", "factor": 1.0})
    ok("generate", by_one, "--tokenizer", "bytes", "--tokens", 2)
