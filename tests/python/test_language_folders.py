"""Folders of language models as people have them: begin tokens, end ids, padded vocabularies, several tokenizer files. The oracle is
transformers; the models are random and the tokenizers made here."""

import io
import json
import os
import pathlib
import shutil

import pytest

import modewise
from cli_helpers import fails, ok
from programs import ROOT
from test_generate import small_folder

torch = pytest.importorskip("torch")
transformers = pytest.importorskip("transformers", reason="transformers is not installed: folders are not compared with it")

WORDS = ["the cat went home over the hill because it was late and the rain fell on the old walls of the town"] * 20


def byte_level(*special, template=None):
    """A byte-level BPE with these special tokens; `template`: the token that the post-processor puts before a text."""
    import tokenizers
    from tokenizers import pre_tokenizers as pre

    made = tokenizers.Tokenizer(tokenizers.models.BPE())
    made.pre_tokenizer, made.decoder = pre.ByteLevel(add_prefix_space=False), tokenizers.decoders.ByteLevel()
    trainer = tokenizers.trainers.BpeTrainer(vocab_size=258 + len(special), special_tokens=list(special), initial_alphabet=pre.ByteLevel.alphabet(),
                                             show_progress=False)  # fmt: skip
    made.train_from_iterator(WORDS, trainer)
    made.post_processor = tokenizers.processors.ByteLevel(trim_offsets=False)
    if template:
        made.post_processor = tokenizers.processors.TemplateProcessing(single=f"{template} $A", special_tokens=[(template, made.token_to_id(template))])
    return made


def folder_of(path, tokenizer, settings=None, padding=0, **config):
    """A random model with this tokenizer.json and tokenizer_config.json."""
    folder = small_folder(path, vocab_size=tokenizer.get_vocab_size() + padding, **config)
    tokenizer.save(str(folder / "tokenizer.json"))
    if settings is not None:
        (folder / "tokenizer_config.json").write_text(json.dumps(settings))
    return folder


def generated(folder, *options, prompt="the cat", tokens=12):
    return json.loads(ok("generate", folder, "--prompt", prompt, "--tokens", tokens, "--temperature", 0, "--json", *options).stdout)


def theirs(folder, prompt="the cat", tokens=12):
    """The ids of transformers: of the prompt, and greedily generated ones."""
    tokenizer = transformers.AutoTokenizer.from_pretrained(folder)
    model = transformers.AutoModelForCausalLM.from_pretrained(folder, dtype=torch.float32)
    inputs = tokenizer(prompt, return_tensors="pt", return_token_type_ids=False)
    ids = model.generate(**inputs, max_new_tokens=tokens, do_sample=False)[0].tolist()
    length = inputs["input_ids"].shape[1]
    return ids[:length], ids[length:]


BEGIN = {  # special tokens, the token of the template, tokenizer_config.json
    "neither": (("<s>", "</s>"), None, {"bos_token": "<s>", "eos_token": "</s>"}),
    "false": (("<|endoftext|>",), None, {"bos_token": "<|endoftext|>", "add_bos_token": False}),
    "no config": (("<|endoftext|>",), None, None),
    "template": (("<|begin_of_text|>", "<|end_of_text|>"), "<|begin_of_text|>", {"bos_token": "<|begin_of_text|>"}),
    "template, no config": (("<s>",), "<s>", None),
    "both": (("<s>", "</s>"), "<s>", {"bos_token": "<s>", "add_bos_token": True}),
    "template against false": (("<s>", "</s>"), "<s>", {"bos_token": "<s>", "add_bos_token": False}),
    "true against no template": (("<s>", "</s>"), None, {"bos_token": "<s>", "add_bos_token": True, "tokenizer_class": "PreTrainedTokenizerFast"}),
}


@pytest.mark.parametrize("name", BEGIN)
def test_a_begin_token_stands_where_the_tokenizer_puts_one(tmp_path, name):
    special, template, settings = BEGIN[name]
    folder = folder_of(tmp_path / "m", byte_level(*special, template=template), settings)
    prompt, ids = theirs(folder)
    said = generated(folder)
    assert (said["prompt_tokens"], said["ids"]) == (len(prompt), ids)
    assert ("add_bos_token is" in ok("tokenize", "--tokenizer", folder, folder / "config.json").stderr) == ("against" in name)
    assert generated(folder, "--bos", "yes")["prompt_tokens"] == len(prompt) + (0 if template else 1)
    assert generated(folder, "--bos", "no")["prompt_tokens"] == len(prompt) - (1 if template else 0)
    with_begin = generated(folder, prompt=special[0] + "the cat", tokens=1)
    assert with_begin["prompt_tokens"] == len(theirs(folder, special[0] + "the cat", 1)[0])


def test_a_doubled_begin_token_is_noted(tmp_path):
    folder = folder_of(tmp_path / "m", byte_level("<s>", template="<s>"))
    command = ["generate", folder, "--prompt", "<s>the cat", "--tokens", 1]
    assert "the prompt begins with the begin token <s>, and another is put before it" in ok(*command).stderr
    assert "begins with" not in ok(*command, "--bos", "no").stderr
    assert "begins with" not in ok("generate", folder, "--prompt", "the cat", "--tokens", 1).stderr


def test_a_begin_token_that_is_asked_for_must_exist(tmp_path):
    folder = folder_of(tmp_path / "m", byte_level("<pad>"))
    fails(2, "bos = yes, but the tokenizer (byte-level BPE, 259 tokens) has no begin token", arguments=["generate", folder, "--bos", "yes", "--prompt", "a"])
    fails(2, "the prompt must not be empty", arguments=["generate", folder])
    other = folder_of(tmp_path / "o", byte_level("<s>"))
    fails(2, "puts no BOS token before a text (--bos yes puts one)", arguments=["generate", other])
    assert json.loads(ok("generate", other, "--bos", "yes", "--tokens", 2, "--json").stdout)["prompt_tokens"] == 1


def test_evaluate_takes_the_same_begin_token(tmp_path):
    folder = folder_of(tmp_path / "m", byte_level("<s>", "</s>"), {"bos_token": "<s>"})
    (tmp_path / "t.txt").write_text(" ".join(WORDS))
    command = ["evaluate", folder, "--data", tmp_path / "t.txt", "--lengths", 32, "--json", "--bos"]
    losses = [[one["loss"] for one in json.loads(ok(*command, bos).stdout)["perplexity"]["results"]] for bos in ("auto", "no", "yes")]
    assert losses[0] == losses[1] != losses[2]


YARN, LINEAR = {"type": "yarn", "factor": 4.0}, {"type": "linear", "factor": 4.0}
LLAMA3 = {"rope_type": "llama3", "factor": 4.0, "low_freq_factor": 1.0, "high_freq_factor": 4.0}
MISTRAL = {"architectures": ["MistralForCausalLM"], "model_type": "mistral", "sliding_window": 8}
# With layer_types, transformers takes Ministral for Mistral, which needs the head width.
LAYERS = {**MISTRAL, "head_dim": 8, "rope_parameters": {"rope_type": "default", "rope_theta": 500.0}}
CONFIGS = {
    "yarn, length of the config": {"original_max_position_embeddings": 16, "rope_scaling": YARN},
    "yarn, length of both": {"original_max_position_embeddings": 16, "rope_scaling": {**YARN, "original_max_position_embeddings": 64}},
    "yarn": {"rope_scaling": {**YARN, "original_max_position_embeddings": 16}},
    "llama3, length of the config": {"original_max_position_embeddings": 16, "rope_scaling": LLAMA3},
    "scaling beside parameters": {"rope_scaling": LINEAR, "rope_parameters": {"rope_type": "yarn", "factor": 4.0, "original_max_position_embeddings": 16, "rope_theta": 500.0}},
    "scaling and theta beside parameters": {"rope_theta": 500.0, "rope_scaling": LINEAR, "rope_parameters": {"rope_type": "default", "rope_theta": 10000.0}},
    "empty scaling beside parameters": {"rope_scaling": {}, "rope_parameters": {"rope_type": "linear", "factor": 4.0, "rope_theta": 500.0}},
    "window": MISTRAL,
    "windows of all layers": {**LAYERS, "layer_types": ["sliding_attention"] * 2},
    "full attention of all layers": {**LAYERS, "layer_types": ["full_attention"] * 2},
    "swish": {"rope_theta": 500.0, "hidden_act": "swish"},
}  # fmt: skip


@pytest.mark.parametrize("name", CONFIGS)
def test_configs_are_read_as_by_transformers(tmp_path, name):
    tokenizer = byte_level("<s>", template="<s>")
    text = " ".join(WORDS)[:150]
    (tmp_path / "t.txt").write_text(text)
    ids = torch.tensor([tokenizer.encode(text).ids])
    losses = {}
    for folder, config in (("m", CONFIGS[name]), ("plain", {})):
        folder_of(tmp_path / folder, tokenizer, **config)
        made = json.loads(ok("evaluate", tmp_path / folder, "--data", tmp_path / "t.txt", "--convention", "stream", "--json").stdout)
        losses[folder] = made["perplexity"]["results"][0]["loss"]
        model = transformers.AutoModelForCausalLM.from_pretrained(tmp_path / folder, dtype=torch.float64, attn_implementation="eager")
        assert losses[folder] == pytest.approx(model(ids, labels=ids).loss.item(), abs=2e-5)
    assert abs(losses["m"] - losses["plain"]) > 2e-4


@pytest.mark.parametrize("where", ["config", "generation", "both"])
def test_every_end_id_ends_a_text(tmp_path, where):
    tokenizer = byte_level("<s>", "</s>")
    plain = folder_of(tmp_path / "plain", tokenizer)
    ids = generated(plain, tokens=40, prompt="the rain")["ids"]
    assert "stopped_by" in generated(plain)
    second = ids[3]
    folder = folder_of(tmp_path / "m", tokenizer, eos_token_id=[1, second] if where == "config" else 1)
    if where != "config":
        (folder / "generation_config.json").write_text(json.dumps({"eos_token_id": [second, 5] if where == "both" else second}))
    said = generated(folder, tokens=40, prompt="the rain")
    assert said["ids"] == ids[: ids.index(second) + 1] == theirs(folder, "the rain", 40)[1] and said["stopped_by"] == "mark"
    assert generated(folder, "--ignore-eos", tokens=40, prompt="the rain")["ids"] == ids
    ok("convert", folder, tmp_path / "out")
    assert generated(tmp_path / "out", tokens=40, prompt="the rain")["ids"] == said["ids"]


def test_ids_without_a_token(tmp_path):
    """Greedy decoding takes them as transformers does, and they have no text; random sampling never does."""
    tokenizer = byte_level("<s>")
    folder = folder_of(tmp_path / "m", tokenizer, padding=300)
    size = tokenizer.get_vocab_size()
    said = generated(folder, tokens=60)
    assert said["ids"] == theirs(folder, tokens=60)[1] and max(said["ids"]) >= size
    assert said["text"].encode() == "".join(tokenizer.decode([i for i in said["ids"] if i < size], skip_special_tokens=False)).encode()
    for seed in range(5):
        random = json.loads(ok("generate", folder, "--prompt", "the", "--tokens", 60, "--seed", seed, "--json", "--ignore-eos").stdout)
        assert len(random["ids"]) == 60 and max(random["ids"]) < size


@pytest.fixture(scope="module")
def llama(tmp_path_factory):
    """tokenizer.model of sentencepiece and tokenizer.json as transformers converts it."""
    sentencepiece = pytest.importorskip("sentencepiece")
    path = tmp_path_factory.mktemp("llama")
    stream = io.BytesIO()
    sentencepiece.SentencePieceTrainer.train(sentence_iterator=iter(WORDS), model_writer=stream, minloglevel=2, num_threads=1, model_type="bpe", vocab_size=300,
                                             byte_fallback=True, normalization_rule_name="identity", remove_extra_whitespaces=False)  # fmt: skip
    (path / "tokenizer.model").write_bytes(stream.getvalue())
    transformers.LlamaTokenizer.from_pretrained(path, legacy=False, add_bos_token=True).save_pretrained(path / "saved")
    shutil.copy(path / "saved" / "tokenizer.json", path)
    return path


def with_files(path, llama, *names, **settings):
    folder = small_folder(path, vocab_size=300)
    for name in names:
        shutil.copy(llama / name, folder)
    if settings:
        (folder / "tokenizer_config.json").write_text(json.dumps(settings))
    return folder


def tokens_of(folder, text):
    (folder / "text").write_text(text)
    return json.loads(ok("tokenize", "--tokenizer", folder, folder / "text", "--json").stdout)


def test_a_folder_with_two_tokenizers_has_the_tokens_of_both(tmp_path, llama):
    import sentencepiece

    text = "Rain fell on 27 old walls;  the cat\nnaïve 雨 🌍 "
    wanted = sentencepiece.SentencePieceProcessor(model_file=str(llama / "tokenizer.model")).encode(text)
    for names in (["tokenizer.json"], ["tokenizer.model"], ["tokenizer.json", "tokenizer.model"]):
        folder = with_files(tmp_path / "+".join(names), llama, *names, tokenizer_class="LlamaTokenizer", add_bos_token=True)
        said = tokens_of(folder, text)
        assert said["ids"] == wanted and said["begin_before_text"] == 1
        assert generated(folder)["prompt_tokens"] == len(theirs(folder)[0])


def test_a_sentencepiece_model_follows_add_bos_token(tmp_path, llama):
    for name, settings, begin in (("default", {}, 1), ("true", {"add_bos_token": True}, 1), ("false", {"add_bos_token": False}, None)):
        assert tokens_of(with_files(tmp_path / name, llama, "tokenizer.model", **settings), "the cat")["begin_before_text"] == begin
    command = ["generate", tmp_path / "default", "--prompt", "<s>the cat", "--tokens", 1]
    assert "the prompt begins with <s>, which the tokenizer (sentencepiece BPE, 300 tokens) reads as ordinary text" in ok(*command).stderr


def test_a_refused_tokenizer_is_followed_by_the_next(tmp_path, llama):
    folder = with_files(tmp_path / "m", llama, "tokenizer.model")
    (folder / "tokenizer.json").write_text('{"model": {"type": "Unigram"}}')
    said = ok("tokenize", "--tokenizer", folder, folder / "config.json")
    assert f"the tokenizer is {folder}/tokenizer.model; {folder}/tokenizer.json: the tokenizer.json is wrong at byte 19: unsupported model" in said.stderr
    assert generated(folder)["tokens"] == 12
    (folder / "tokenizer.model").write_bytes(b"\xff\xff")
    fails(65, f"{folder}: none of its 2 tokenizer files can be read: {folder}/tokenizer.json: ", f"; {folder}/tokenizer.model: ",
          arguments=["tokenize", "--tokenizer", folder, folder / "config.json"])  # fmt: skip


def test_conversion_keeps_the_files_beside_a_tokenizer(tmp_path):
    folder = folder_of(tmp_path / "m", byte_level("<s>", "</s>"), {"bos_token": "<s>", "chat_template": "{{ messages }}"}, eos_token_id=[1, 7])
    beside = {"special_tokens_map.json": "{}", "chat_template.jinja": "{{ messages }}", "generation_config.json": '{"eos_token_id": [1, 9]}'}
    for name, text in beside.items():
        (folder / name).write_text(text)
    (folder / "additional_chat_templates").mkdir()
    (folder / "additional_chat_templates" / "tool.jinja").write_text("tool")
    ok("convert", folder, tmp_path / "out")
    text = tmp_path / "t.txt"
    text.write_text("\n".join(WORDS))
    train = ["train", "language", "--data", text, "--init", folder, "--set", "train.max_steps=1", "--set", "model.context=16", "--set", "output.report=false"]
    ok(*train, "--out", tmp_path / "run")
    for kept in (tmp_path / "out", tmp_path / "run" / "model"):
        for name in (*beside, "tokenizer_config.json", "additional_chat_templates/tool.jinja"):
            assert (kept / name).read_bytes() == (folder / name).read_bytes(), (kept, name)
        assert json.loads((kept / "config.json").read_text())["bos_token_id"] == 0
    assert json.loads((tmp_path / "out" / "config.json").read_text())["eos_token_id"] == [1, 7, 9]
    assert generated(tmp_path / "run", tokens=2)["prompt_tokens"] == generated(folder, tokens=2)["prompt_tokens"]


def test_a_run_generates_with_the_begin_token_of_its_training(tmp_path):
    tokenizer = tmp_path / "tokenizer.json"
    byte_level("<s>", "</s>").save(str(tokenizer))
    text = tmp_path / "t.txt"
    text.write_text("\n".join(WORDS))
    small = ["--set", "train.max_steps=1", "--set", "model.context=16", "--set", "model.width=16", "--set", "output.report=false"]
    counts = {}
    for bos in ("auto", "yes", "no"):
        run = tmp_path / bos
        ok("train", "language", "--data", text, "--tokenizer", tokenizer, "--bos", bos, "--out", run, *small)
        counts[bos] = json.loads(ok("generate", run, "--prompt", "the cat", "--tokens", 1, "--json").stdout)["prompt_tokens"]
        assert modewise.load(run).begin_before_text == (0 if bos == "yes" else None)
        assert f"begin_token = '{bos}'" in (run / "config.toml").read_text()
    assert counts["yes"] == counts["auto"] + 1 == counts["no"] + 1
    older = tmp_path / "no" / "config.toml"  # of a version in which the key was boolean
    older.write_text(older.read_text().replace("begin_token = 'no'", "begin_token = true"))
    assert modewise.load(tmp_path / "no").begin_before_text == 0
    ok("evaluate", tmp_path / "no")


NULLS = ["head_dim", "rope_scaling", "rope_theta", "rope_parameters", "pad_token_id", "sliding_window", "quantization_config", "attention_bias", "mlp_bias",
         "layer_types", "bos_token_id", "hidden_act", "partial_rotary_factor", "tie_word_embeddings", "modewise", "pretraining_tp"]  # fmt: skip


def test_null_means_absent(tmp_path):
    tokenizer = byte_level("<s>")
    plain = folder_of(tmp_path / "plain", tokenizer, tie_word_embeddings=False)
    nulls = folder_of(tmp_path / "nulls", tokenizer, **dict.fromkeys(NULLS) | {"tie_word_embeddings": False})
    oldest = folder_of(tmp_path / "oldest", tokenizer, architectures=["LLaMAForCausalLM"], tie_word_embeddings=False)
    assert generated(nulls)["ids"] == generated(oldest)["ids"] == generated(plain)["ids"]


def test_weights_in_other_formats_are_named_with_a_remedy(tmp_path):
    folder = small_folder(tmp_path / "m")
    (folder / "model.safetensors").unlink()
    (folder / "pytorch_model.bin").write_bytes(b"PK")
    fails(66, "pytorch_model.bin is not read: weights must be safetensors", f'from_pretrained("{folder}").save_pretrained("NEW_FOLDER")',
          arguments=["generate", folder])  # fmt: skip


def test_a_config_is_read_without_the_weights(tmp_path):
    folder = small_folder(tmp_path / "m")
    shown = ok("config", "show", "language", "--set", f"init={folder}").stdout
    (folder / "model.safetensors").unlink()
    assert ok("config", "show", "language", "--set", f"init={folder}").stdout == shown


CASES = pathlib.Path(os.environ.get("MODEWISE_CASES", ROOT.parent / "shared" / "cases"))


def test_the_shared_cases(tmp_path):
    folder = CASES / "36-begin-token"
    if not CASES.is_dir():
        pytest.skip("the folder of cases is missing (MODEWISE_CASES)")
    for name in ("smol", "phi", "llama3"):
        assert generated(folder / name, tokens=8)["ids"] == theirs(folder / name, tokens=8)[1]


def untied_folder(path, **config):
    """A config that ties, and a file whose lm_head differs."""
    import safetensors.torch

    folder = folder_of(path, byte_level("<s>"), tie_word_embeddings=True, **config)
    tensors = safetensors.torch.load_file(folder / "model.safetensors")
    torch.manual_seed(5)
    tensors["lm_head.weight"] = torch.randn_like(tensors["model.embed_tokens.weight"])
    safetensors.torch.save_file(tensors, folder / "model.safetensors", metadata={"format": "pt"})
    return folder


def test_a_head_that_differs_from_the_embedding_is_kept(tmp_path):
    folder = untied_folder(tmp_path / "m")
    wanted = theirs(folder)[1]
    assert generated(folder)["ids"] == wanted
    note = "lm_head.weight is kept, as by transformers 5: tie_word_embeddings is true, but the tensor differs from model.embed_tokens.weight"
    assert note in ok("convert", folder, tmp_path / "out").stderr
    assert json.loads((tmp_path / "out" / "config.json").read_text())["tie_word_embeddings"] is False
    assert generated(tmp_path / "out")["ids"] == theirs(tmp_path / "out")[1] == wanted
    text = tmp_path / "t.txt"
    text.write_text("\n".join(WORDS))
    ok("train", "language", "--data", text, "--init", folder, "--out", tmp_path / "run", "--set", "train.max_steps=1", "--set", "model.context=16",
       "--set", "output.report=false", "--set", "train.optimizer.learning_rate=1e-12")  # fmt: skip
    assert generated(tmp_path / "run" / "model")["ids"] == wanted
    assert "tied = false" in (tmp_path / "run" / "config.toml").read_text()


@pytest.mark.parametrize("tied", [True, False])
def test_tied_embeddings_are_a_matter_of_the_weights(tmp_path, tied):
    folder = folder_of(tmp_path / "m", byte_level("<s>"), tie_word_embeddings=tied)
    other, had = ("false", "true") if tied else ("true", "false")
    fails(78, f"tied = {other} does not match the weights of {folder}, which have {had}", arguments=["generate", folder, "--prompt", "a", "--set", f"tied={other}"])


def test_several_begin_tokens_are_refused_until_bos_decides(tmp_path):
    import tokenizers

    made = byte_level("<s>", "<tool>")
    made.post_processor = tokenizers.processors.TemplateProcessing(single="<s> <tool> $A", special_tokens=[("<s>", 0), ("<tool>", 1)])
    folder = folder_of(tmp_path / "m", made)
    assert transformers.AutoTokenizer.from_pretrained(folder)("the")["input_ids"][:2] == [0, 1]
    assert tokens_of(folder, "the")["begin_before_text"] == [0, 1]
    sentence = f"{folder}/tokenizer.json: its post-processor puts 2 tokens before a text, of which only one is supported; --bos no (data.begin_token) puts none, --bos yes the first"
    text = tmp_path / "t.txt"
    text.write_text("\n".join(WORDS))
    train = ["train", "language", "--data", text, "--init", folder, "--set", "train.max_steps=1", "--set", "model.context=16", "--set", "output.report=false"]
    for command in (["generate", folder, "--prompt", "the", "--tokens", 2, "--json"], ["evaluate", folder, "--data", text, "--lengths", 16], [*train, "--out", tmp_path / "run"]):
        fails(65, sentence, arguments=command)
        for bos in ("no", "yes"):
            ok(*command[:-1], f"{command[-1]}-{bos}", "--bos", bos) if "train" in command else ok(*command, "--bos", bos)
    for bos, count in (("no", 0), ("yes", 1)):
        for model in (tmp_path / f"run-{bos}", tmp_path / f"run-{bos}" / "model"):
            assert generated(model, prompt="<tool>")["prompt_tokens"] == 1 + count
