"""What `evaluate` of a language model reads, counts and refuses."""

import json
import math

import numpy as np
import pytest

from cli_helpers import fails, ok
from test_generate import small_folder
from test_language_folders import byte_level, folder_of

WORDS = "once upon a time there was a model of bytes and it read every text to its end".split()


@pytest.fixture(scope="module")
def model(tmp_path_factory):
    return small_folder(tmp_path_factory.mktemp("models") / "plain")


@pytest.fixture(scope="module")
def run(tmp_path_factory):
    folder = tmp_path_factory.mktemp("run")
    (folder / "train.txt").write_text(" ".join(WORDS * 30))
    ok("train", "language", "--data", folder / "train.txt", "--out", folder / "run", "--set", "model.context=32", "--set", "model.width=16",
       "--set", "model.layers=1", "--set", "train.max_steps=1", "--set", "output.report=false", "--threads", 1)  # fmt: skip
    return folder / "run"


def perplexities(model, path, *options):
    made = json.loads(ok("evaluate", model, "--tokenizer", "bytes", "--data", path, *options, "--json").stdout)
    return made["perplexity"] if "perplexity" in made else made


def test_the_text_of_a_run_is_read_by_its_options(run, tmp_path):
    (tmp_path / "a.jsonl").write_text(json.dumps({"text": "other", "foo": " ".join(WORDS)}) + "\n")
    (tmp_path / "b.txt").write_text("one two\n\nthree four\n")
    bytes_of = [json.loads(ok("evaluate", run, "--data", tmp_path / "a.jsonl", *options, "--json").stdout)["own"]["scores"]["bytes"]
                for options in ([], ["--text-field", "foo"])]  # fmt: skip
    assert bytes_of == [len("other"), len(" ".join(WORDS))]
    scores = json.loads(ok("evaluate", run, "--data", tmp_path / "b.txt", "--separator", "blank", "--json").stdout)["own"]["scores"]
    assert scores["bytes"] == len("one two") + len("three four")


@pytest.mark.parametrize("options, needs", [(["--tokens", 100], "without --convention"), (["--stride", 4], "without --convention sliding or spread"),
    (["--convention", "rolling", "--windows", 4], "without --convention spread"), (["--text-field", "foo"], "without --data"),
    (["--separator", "blank"], "without --data"), (["--depths", "0.5"], "without --passkey"), (["--trials", 2], "without --passkey"),
    (["--limit", 2], "without --tasks"), (["--task-data", "."], "without --tasks"),
    (["--data", __file__, "--split", "train"], "with --data, which is evaluated whole"),
    (["--convention", "sliding", "--data", __file__, "--split", "validation"], "with --data, which is evaluated whole"),
    (["--passkey", "--split", "train"], "with --passkey and --tasks: add --convention"),
    (["--passkey", "--data", __file__], "with --passkey and --tasks: add --convention"),
    (["--convention", "stream", "--lengths", 64], "on the convention stream, whose length is that of the text")])  # fmt: skip
def test_options_without_effect_are_refused(run, options, needs):
    fails(2, f"{options[-2]} has no effect {needs}", arguments=["evaluate", run, *options])


def test_options_that_no_language_model_has_are_refused(run, model):
    fails(2, "--detail has no effect on language models, which have no further tables", arguments=["evaluate", run, "--detail"])
    fails(2, f"--masks is only for segmentation; {run} is a language model", arguments=["evaluate", run, "--data", __file__, "--masks", __file__])
    fails(2, "--split has no effect on a model, which has no data: only runs have splits",
          arguments=["evaluate", model, "--tokenizer", "bytes", "--passkey", "--split", "train"])
    assert json.loads(ok("evaluate", run, "--split", "all", "--data", __file__, "--json").stdout)["own"]["split"] == "all"


@pytest.mark.parametrize("options, sentence", [
    (["--depths", "1.5"], "--depths: must be a number from 0 to 1, got '1.5'"), (["--convention", "Sliding"], "--convention: must be one of"),
    (["--lengths", "1"], "--lengths: must be"), (["--rope", "llama3"], "--rope: must be one of linear, ntk, yarn, got 'llama3'"),
    (["--attention", "foo"], "--attention: must be one of"), (["--summary-tokens", "0", "--attention", "summary"], "--summary-tokens: must be")])  # fmt: skip
def test_errors_name_the_option(model, options, sentence):
    text = fails(2, sentence, arguments=["evaluate", model, "--tokenizer", "bytes", "--data", __file__, *options])
    assert "--set" not in text


def test_bytes_and_words_are_those_of_the_first_tokens(model, tmp_path):
    """Bytes as tokens: 100 tokens are 100 bytes, also where the text behind them has longer words."""
    (tmp_path / "a.txt").write_text("a b c " * 20 + "é" * 500)
    made = perplexities(model, tmp_path / "a.txt", "--convention", "stream", "--tokens", 100)
    assert made["bytes"] == made["tokens"] == 100
    one = made["results"][0]
    assert one["bytes"] == 100 and one["bits_per_byte"] == pytest.approx(one["loss"] * one["tokens"] / 100 / math.log(2), rel=1e-6)
    assert one["words"] == len(("a b c " * 20)[:100].split(" "))


def test_bytes_and_words_are_those_of_the_predicted_tokens(tmp_path):
    """Without a begin token the first token of a document is not predicted; lengths of tokens are those of tokenizers."""
    tokenizer = byte_level()
    folder = folder_of(tmp_path / "m", tokenizer)
    texts = ["the cat", "wall", "over the hill", "the", "rain fell on the old walls of the town", "é"] * 5
    (tmp_path / "a.jsonl").write_text("".join(json.dumps({"text": text}) + "\n" for text in texts))
    made = json.loads(ok("evaluate", folder, "--data", tmp_path / "a.jsonl", "--convention", "stream,sliding,rolling", "--lengths", 16, "--json").stdout)["perplexity"]
    encoded = [tokenizer.encode(text) for text in texts]
    rest = sum(len(text[one.offsets[0][1]:].encode()) for text, one in zip(texts, encoded, strict=True) if len(one.ids) > 1 and text != "é")
    rest += 5  # "é" are two tokens of a byte each, with equal offsets
    whole = sum(len(text.encode()) for text in texts)
    for one in made["results"]:
        assert one["tokens"] == sum(len(text.ids) - 1 for text in encoded)
        assert one["bytes"] == rest < whole == made["bytes"]
        assert one["bits_per_byte"] == pytest.approx(one["loss"] * one["tokens"] / rest / math.log(2), rel=1e-6)
        assert one["words"] == round(made["words"] * rest / whole)
    begun = folder_of(tmp_path / "b", byte_level("<s>"), {"bos_token": "<s>"})  # rolling puts BOS before a text
    one = json.loads(ok("evaluate", begun, "--data", tmp_path / "a.jsonl", "--convention", "rolling", "--json").stdout)["perplexity"]["results"][0]
    assert one["bytes"] == whole and one["tokens"] == sum(len(text.ids) for text in encoded)


@pytest.mark.parametrize("special", [("<s>", "</s>"), ("</s>",)])
@pytest.mark.parametrize("context", ["", "  "])
def test_options_without_context_follow_the_begin_token_or_the_end_token(special, context, tmp_path):
    """As in lm-eval, also where the tokenizer puts no token before texts; a space separates them. The oracle is transformers."""
    torch, transformers = pytest.importorskip("torch"), pytest.importorskip("transformers")
    tokenizer = byte_level(*special)
    folder = folder_of(tmp_path / "m", tokenizer, {"eos_token": "</s>", **({"bos_token": "<s>"} if "<s>" in special else {})})
    options = ["t", "the cat went", "on the hill"]
    (tmp_path / "q.jsonl").write_text(json.dumps({"q": context, "options": options, "answer": 1}) + "\n")
    (tmp_path / "q.toml").write_text('kind = "choice"\ndata = "q.jsonl"\ncontext = "{q}"\nchoices = ["{options}"]\nanswer_kind = "number"\n')
    answer = json.loads(ok("evaluate", folder, "--tasks", tmp_path / "q.toml", "--json").stdout)["tasks"][0]["answers"][0]
    model = transformers.AutoModelForCausalLM.from_pretrained(folder, dtype=torch.float32)
    expected = []
    for option in options:
        ids = torch.tensor([[tokenizer.token_to_id(special[0]), *tokenizer.encode(f"{context} {option}").ids]])
        with torch.no_grad():
            logs = torch.log_softmax(model(ids).logits[0, :-1].double(), -1)
        expected.append(logs.gather(1, ids[0, 1:, None]).sum().item())
    assert answer["log_likelihoods"] == pytest.approx(expected, abs=1e-4)
    assert answer["chosen"] == int(np.argmax(expected))


def test_an_option_without_any_token_before_it_is_refused(tmp_path):
    folder = folder_of(tmp_path / "m", byte_level())
    (tmp_path / "q.jsonl").write_text(json.dumps({"q": "", "options": ["t", "the cat"], "answer": 1}) + "\n")
    (tmp_path / "q.toml").write_text('kind = "choice"\ndata = "q.jsonl"\ncontext = "{q}"\nchoices = ["{options}"]\n')
    fails(65, "the option ' t' has no context, and the tokenizer neither a begin nor an end token", arguments=["evaluate", folder, "--tasks", tmp_path / "q.toml"])


def test_a_stream_is_stretched_for_its_longest_document(model, tmp_path):
    rows = [" ".join(WORDS[:8])] * 10
    (tmp_path / "a.jsonl").write_text("".join(json.dumps({"text": row}) + "\n" for row in rows))
    plain, scaled = (perplexities(model, tmp_path / "a.jsonl", "--convention", "stream", *rope) for rope in ([], ["--rope", "linear"]))
    assert plain["tokens"] > 128  # the context
    assert plain["results"][0]["loss"] == scaled["results"][0]["loss"]
    (tmp_path / "long.jsonl").write_text(json.dumps({"text": " ".join(WORDS * 3)}) + "\n")
    plain, scaled = (perplexities(model, tmp_path / "long.jsonl", "--convention", "stream", *rope) for rope in ([], ["--rope", "linear"]))
    assert plain["results"][0]["loss"] != scaled["results"][0]["loss"]


@pytest.mark.parametrize("value", [math.nan, math.inf])
def test_weights_that_are_not_finite_have_no_scores(value, tmp_path):
    from safetensors.numpy import load_file, save_file

    broken = small_folder(tmp_path / "m")
    weights = load_file(broken / "model.safetensors")
    weights["model.norm.weight"] = np.where(np.arange(32) == 3, value, 1).astype("f4")
    save_file(weights, broken / "model.safetensors")
    (tmp_path / "a.txt").write_text(" ".join(WORDS * 10))
    (tmp_path / "q.jsonl").write_text(json.dumps({"q": "a", "options": ["x", "y"], "answer": 1}) + "\n")
    (tmp_path / "q.toml").write_text('kind = "choice"\ndata = "q.jsonl"\ncontext = "{q}"\nchoices = ["{options}"]\n')
    sentence = "the model's outputs are not finite: its weights overflow or are damaged"
    for options in (["--data", tmp_path / "a.txt", "--convention", "rolling"], ["--tasks", tmp_path / "q.toml"], ["--passkey", "--trials", 1, "--lengths", 256]):
        fails(65, sentence, arguments=["evaluate", broken, "--tokenizer", "bytes", *options])
    fails(65, "is not finite before the first step: the weights that the training starts from are damaged",
          arguments=["train", "language", "--data", tmp_path / "a.txt", "--init", broken, "--tokenizer", "bytes", "--out", tmp_path / "run", "--no-test"])  # fmt: skip


def test_test_texts_that_were_trained_on_are_counted(tmp_path):
    (tmp_path / "a.jsonl").write_text("".join(json.dumps({"text": f"{word} " * 40}) + "\n" for word in WORDS[:6]))
    (tmp_path / "b.jsonl").write_text("".join(json.dumps({"text": f"{word} " * 40}) + "\n" for word in [*WORDS[:2], "new"]))
    said = ok("data", "show", tmp_path / "a.jsonl", "--task", "language_modeling", "--set", f"data.test={tmp_path / 'b.jsonl'}").stdout
    assert "2 of the 3 test documents are identical to documents of the training or validation split" in said


def test_lines_of_end_of_text_separate_the_files_of_a_folder(tmp_path):
    (tmp_path / "texts").mkdir()
    (tmp_path / "texts" / "a.txt").write_text("one\n<|endoftext|>\ntwo\n")
    (tmp_path / "texts" / "b.txt").write_text("three\n\nfour\n")
    made = json.loads(ok("tokenize", tmp_path / "texts", "--out", tmp_path / "t.safetensors", "--json").stdout)
    assert (made["documents"], made["bytes"]) == (3, len("one" "two" "three\n\nfour\n"))


def test_tokenize_reads_files_as_training_does(tmp_path):
    text = " ".join(WORDS)
    (tmp_path / "a.txt").write_bytes(text.encode("utf-16"))
    assert ok("tokenize", tmp_path / "a.txt", "--count").stdout.strip() == str(len(text))
    (tmp_path / "b.bin").write_bytes(bytes(range(256)))
    fails(65, "b.bin", arguments=["tokenize", tmp_path / "b.bin", "--count"])
    assert ok("tokenize", tmp_path / "b.bin", "--count", "--allow-binary").stdout.strip() == "256"
    (tmp_path / "c.jsonl").write_text(json.dumps({"text": text}) + "\n")
    fails(2, "the texts of JSON lines are tokenized into a file: --out FILE.safetensors", arguments=["tokenize", tmp_path / "c.jsonl"])
    fails(2, "--text-field, --separator and --overwrite need --out FILE", arguments=["tokenize", tmp_path / "a.txt", "--separator", "blank"])
