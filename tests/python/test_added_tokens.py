"""Added tokens in the files beside a tokenizer: added_tokens_decoder of tokenizer_config.json, and added_tokens.json. The oracle is transformers."""

import json

import pytest

from cli_helpers import fails, ok
from test_generate import small_folder
from test_language_folders import byte_level, folder_of, generated, llama, theirs, tokens_of, with_files  # noqa: F401 (llama is a fixture)

transformers = pytest.importorskip("transformers", reason="transformers is not installed: folders are not compared with it")


def token(content, **flags):
    return {"content": content, "lstrip": False, "rstrip": False, "normalized": False, "single_word": False, "special": True, **flags}


def decoder(*tokens, first, base=()):
    return {str(i): one for i, one in enumerate(map(token, base))} | {str(first + i): one for i, one in enumerate(tokens)}


CHAT = [token("<|im_start|>"), token("<|im_end|>"), token("<n>", special=False, normalized=True), token("<l>", lstrip=True, rstrip=True)]
TEXTS = ["the <|im_start|>the cat", "<|im_start|> the", "the<|im_end|> ", "a<s>b</s>c", "<n>the <l> cat", "a<l><l>  b", "<unk>a", "rain <n><n> fell", "é<|im_end|>é",
         "<|im_start|>", "<|im_start|user\nthe old town<|im_end|>\n"]  # fmt: skip


def compared(folder, texts):
    oracle = transformers.AutoTokenizer.from_pretrained(folder)
    for text in texts:
        said = tokens_of(folder, text)
        assert said["ids"] == oracle(text, add_special_tokens=False)["input_ids"], text
    assert said["vocabulary"] == len(oracle)
    return oracle, said


@pytest.mark.parametrize("legacy", [None, False, True])
def test_a_sentencepiece_model_has_the_added_tokens(tmp_path, llama, legacy):
    settings = {"tokenizer_class": "LlamaTokenizer", "add_bos_token": True, "bos_token": "<s>", "eos_token": "<|im_end|>"} | ({} if legacy is None else {"legacy": legacy})
    folder = with_files(tmp_path / "m", llama, "tokenizer.model", **settings, added_tokens_decoder=decoder(*CHAT, first=300, base=("<unk>", "<s>", "</s>")))
    oracle, said = compared(folder, TEXTS)
    assert (said["begin"], said["end"]) == (oracle.bos_token_id, oracle.eos_token_id) == (1, 301)
    ids = [300, *oracle("the cat", add_special_tokens=False)["input_ids"], 301, 302]
    (folder / "ids").write_text(" ".join(map(str, ids)))
    assert ok("tokenize", "--tokenizer", folder, folder / "ids", "--decode").stdout.rstrip("\n") == oracle.decode(ids)


def test_added_tokens_of_a_sentencepiece_model_are_found_in_their_own_file(tmp_path, llama):
    folder = with_files(tmp_path / "m", llama, "tokenizer.model", tokenizer_class="LlamaTokenizer", eos_token="<|im_end|>")
    (folder / "added_tokens.json").write_text(json.dumps({"<|im_end|>": 301, "<|im_start|>": 300, "<n>": 302}))
    oracle, said = compared(folder, [text for text in TEXTS if "<l>" not in text and "<s>" not in text and "<unk>" not in text])
    assert said["end"] == oracle.eos_token_id == 301


VOCABULARY = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]", "the", "rain", "co", "##vid", "e", "##1", "<", ">", "cov"]
BERT_TEXTS = ["the <e1>rain", "the covid COVID", "[MASK] the  [MASK]rain", "<E1> <e1>", "the Zo é zoe"]


def vocabulary_folder(path, **settings):
    path.mkdir()
    (path / "vocab.txt").write_text("\n".join(VOCABULARY) + "\n")
    (path / "tokenizer_config.json").write_text(json.dumps({"tokenizer_class": "BertTokenizer", "do_lower_case": True, **settings}))
    return path


def test_a_vocabulary_has_the_added_tokens(tmp_path):
    more = [token("<e1>"), token("covid", special=False), token("Zoé", special=False, normalized=True)]
    folder = vocabulary_folder(tmp_path / "decoder", added_tokens_decoder={"4": token("[MASK]", lstrip=True), **decoder(*more, first=len(VOCABULARY))})
    compared(folder, BERT_TEXTS)
    folder = vocabulary_folder(tmp_path / "list", additional_special_tokens=["<e1>"])
    (folder / "added_tokens.json").write_text(json.dumps({"<e1>": len(VOCABULARY), "covid": len(VOCABULARY) + 1, "[MASK]": 4}))
    compared(folder, BERT_TEXTS)


def test_a_tokenizer_json_is_compared_with_the_files_beside_it(tmp_path):
    made = byte_level("<s>", "</s>")
    size = made.get_vocab_size()
    listed = decoder(token("<s>"), token("</s>"), first=0)
    plain = folder_of(tmp_path / "plain", made)
    equal = folder_of(tmp_path / "equal", made, {"tokenizer_class": "PreTrainedTokenizerFast", "added_tokens_decoder": listed})
    assert compared(plain, TEXTS)[1]["hash"] == compared(equal, TEXTS)[1]["hash"]
    more = {"tokenizer_class": "PreTrainedTokenizerFast", "eos_token": "<|im_end|>", "added_tokens_decoder": listed | {"0": token("<s>", lstrip=True)} | decoder(*CHAT, first=size)}
    folder = folder_of(tmp_path / "more", made, more, padding=len(CHAT), bos_token_id=0, eos_token_id=None)
    oracle, said = compared(folder, TEXTS + ["a <s> b"])
    assert said["end"] == oracle.eos_token_id == size + 1 and said["hash"] != compared(plain, ["a"])[1]["hash"]
    assert generated(folder, prompt="<|im_start|>the cat")["ids"] == theirs(folder, "<|im_start|>the cat")[1]
    listed = folder_of(tmp_path / "list", made, {"tokenizer_class": "PreTrainedTokenizerFast", "eos_token": "<|im_end|>"})
    (listed / "added_tokens.json").write_text(json.dumps({"<n>": size, "<|im_end|>": size + 1, "<s>": 0}))
    compared(listed, [text for text in TEXTS if "<l>" not in text])


def test_conversion_keeps_the_added_tokens(tmp_path, llama):
    beside = json.dumps({"<n>": 300})
    small = with_files(tmp_path / "small", llama, "tokenizer.model")
    (small / "added_tokens.json").write_text(beside)
    fails(65, "the tokenizer (sentencepiece BPE, 301 tokens) has 301 tokens, but the model only 300", arguments=["generate", small, "--prompt", "a"])
    folder = small_folder(tmp_path / "m", vocab_size=301)
    for name in ("tokenizer.model", "added_tokens.json"):
        (folder / name).write_bytes((small / name).read_bytes())
    ok("convert", folder, tmp_path / "out")
    assert (tmp_path / "out" / "added_tokens.json").read_text() == beside
    assert tokens_of(tmp_path / "out", "a<n>b") == tokens_of(folder, "a<n>b") and 300 in tokens_of(folder, "a<n>b")["ids"]


WRONG = {
    "an id of the vocabulary": (decoder(token("<n>"), first=5), "/tokenizer_config.json: the added token '<n>' has the id 5, but that is the id of '"),
    "another id": (decoder(token("</s>"), first=300), "/tokenizer_config.json: the added token '</s>' has the id 300, but the tokenizer gives it 2"),
    "a gap": (decoder(token("<n>"), first=305), "/tokenizer_config.json: the added token '<n>' has the id 305, but the next free id is 300, which transformers gives it"),
    "two tokens of an id": ({"300": token("<n>"), "0300": token("<m>")}, "/tokenizer_config.json: the added token '<m>' has the id 300, but that is the id of '<n>'"),
    "single words": (decoder(token("<n>", single_word=True), first=300), "added tokens with single_word are not supported"),
    "no content": (decoder({"special": True}, first=300), "an added token must have an id and a content"),
    "no id": ({"x": token("<n>")}, "added_tokens_decoder has the key 'x'; expected an id"),
    "a large id": ({"2097152": token("<n>")}, "the id of an added token is 2097152; expected 0 to 2097151"),
}


@pytest.mark.parametrize("name", WRONG)
def test_what_cannot_be_added_is_refused(tmp_path, llama, name):
    tokens, sentence = WRONG[name]
    folder = with_files(tmp_path / "m", llama, "tokenizer.model", added_tokens_decoder=tokens)
    (folder / "text").write_text("a")
    fails(65, sentence, arguments=["tokenize", "--tokenizer", folder, folder / "text"])


def test_a_model_that_normalizes_has_no_added_tokens(tmp_path):
    import io

    sentencepiece = pytest.importorskip("sentencepiece")
    from test_language_folders import WORDS

    stream = io.BytesIO()
    sentencepiece.SentencePieceTrainer.train(sentence_iterator=iter(WORDS), model_writer=stream, minloglevel=2, num_threads=1, model_type="bpe", vocab_size=60)
    folder = tmp_path
    (folder / "tokenizer.model").write_bytes(stream.getvalue())
    (folder / "text").write_text("the  <s>cat")
    command = ["tokenize", "--tokenizer", folder, folder / "text"]
    before = ok(*command).stdout
    for tokens, refused in ((decoder(first=0, base=("<unk>", "<s>", "</s>")), False), (decoder(token("<n>"), first=60), True)):
        (folder / "tokenizer_config.json").write_text(json.dumps({"added_tokens_decoder": tokens}))
        if refused:
            fails(65, f"{folder}/tokenizer_config.json: the added token '<n>' cannot be matched as by transformers: {folder}/tokenizer.model must be a BPE model "
                  "without normalization", arguments=command)  # fmt: skip
        else:
            assert ok(*command).stdout == before
