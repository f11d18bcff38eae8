"""Options of tokenizer_config.json beside tokenizer.json, against AutoTokenizer of transformers."""

import json

import pytest

from cli_helpers import ok
from test_word_piece import framed

transformers, tokenizers = pytest.importorskip("transformers"), pytest.importorskip("tokenizers")

TEXT = "Good é FILM 电影 naïve"
SPECIAL = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]"]
NAMES = dict(unk_token="[UNK]", pad_token="[PAD]", cls_token="[CLS]", sep_token="[SEP]", mask_token="[MASK]")


def word_pieces(**options):
    characters = sorted(set(TEXT + TEXT.lower() + "ei"))
    vocabulary = SPECIAL + characters + ["##" + one for one in characters]
    tokenizer = tokenizers.Tokenizer(tokenizers.models.WordPiece({token: i for i, token in enumerate(vocabulary)}, unk_token="[UNK]"))
    tokenizer.normalizer = tokenizers.normalizers.BertNormalizer(**options)
    tokenizer.pre_tokenizer = tokenizers.pre_tokenizers.BertPreTokenizer()
    tokenizer.post_processor = tokenizers.processors.TemplateProcessing(
        single="[CLS] $A [SEP]", pair="[CLS] $A [SEP] $B:1 [SEP]:1", special_tokens=[("[CLS]", 2), ("[SEP]", 3)])
    tokenizer.add_special_tokens(SPECIAL)
    return tokenizer


def byte_pairs(space):
    alphabet = ["<s>", "<pad>", "</s>", "<unk>", "<mask>", *sorted(tokenizers.pre_tokenizers.ByteLevel.alphabet())]
    tokenizer = tokenizers.Tokenizer(tokenizers.models.BPE({token: i for i, token in enumerate(alphabet)}, []))
    tokenizer.pre_tokenizer = tokenizers.pre_tokenizers.ByteLevel(add_prefix_space=space)
    tokenizer.decoder = tokenizers.decoders.ByteLevel()
    return tokenizer


def expect_equal_tokens(folder, tokenizer, kind, config):
    folder.mkdir()
    tokenizer.save(str(folder / "tokenizer.json"))
    (folder / "config.json").write_text(json.dumps({"model_type": kind}))
    (folder / "tokenizer_config.json").write_text(json.dumps(config))
    (folder / "text").write_text(TEXT)
    said = ok("tokenize", folder / "text", "--tokenizer", folder)
    wanted = transformers.AutoTokenizer.from_pretrained(folder).encode(TEXT, add_special_tokens=False)
    assert [int(one) for one in said.stdout.split()] == wanted
    replaced = wanted != tokenizer.encode(TEXT, add_special_tokens=False).ids
    assert replaced <= ("instead of the options of tokenizer.json, as in transformers 5" in said.stderr)


@pytest.mark.parametrize("lower", [True, False])
@pytest.mark.parametrize("name", [None, "BertTokenizer", "DistilBertTokenizerFast", "PreTrainedTokenizerFast"])
@pytest.mark.parametrize("options", [{}, {"do_lower_case": True}, {"do_lower_case": False}, {"strip_accents": False},
                                     {"do_lower_case": False, "strip_accents": True}, {"tokenize_chinese_chars": False}], ids=str)
def test_normalization_of_bert_is_that_of_its_class(lower, name, options, tmp_path):
    config = NAMES | options | ({} if name is None else {"tokenizer_class": name})
    expect_equal_tokens(tmp_path / "m", word_pieces(lowercase=lower), "bert", config)


@pytest.mark.parametrize("space", [True, False])
@pytest.mark.parametrize("name", [None, "RobertaTokenizer", "GPT2TokenizerFast", "PreTrainedTokenizerFast"])
@pytest.mark.parametrize("option", [True, False])
def test_the_space_before_a_text_is_that_of_its_class(space, name, option, tmp_path):
    config = {"add_prefix_space": option} | ({} if name is None else {"tokenizer_class": name})
    expect_equal_tokens(tmp_path / "m", byte_pairs(space), "roberta", config)


@pytest.mark.parametrize("kind", ["cased", "uncased", "byte pairs"])
def test_exported_tokenizers_are_read_as_they_are(kind, tmp_path):
    tokenizer = byte_pairs(False) if kind == "byte pairs" else word_pieces(lowercase=kind == "uncased")
    tokenizer.save(str(tmp_path / "tokenizer.json"))
    (tmp_path / "train.csv").write_text("text,label\n" + "".join(f"{word} film,{i % 2}\n" for i, word in enumerate("a good bad cat dog tree".split() * 4)))
    small = [part for option in ("width=8", "layers=1", "heads=1", "max_positions=32") for part in ("--set", f"model.{option}")]
    ok("train", "text", "--data", tmp_path / "train.csv", "--tokenizer", tmp_path / "tokenizer.json", "--out", tmp_path / "r", *small,
       "--set", "train.epochs=1", "--set", "output.report=false", "--threads", 1)
    theirs = transformers.AutoTokenizer.from_pretrained(tmp_path / "r" / "model")
    assert theirs.encode(TEXT, add_special_tokens=False) == tokenizer.encode(TEXT, add_special_tokens=False).ids
    if kind != "byte pairs":
        assert (theirs.pad_token, theirs.mask_token) == ("[PAD]", "[MASK]")


@pytest.mark.parametrize("of_file", [None, "left", "right"])
@pytest.mark.parametrize("beside", [{}, {"truncation_side": "left"}, {"truncation_side": "right"}], ids=str)
@pytest.mark.parametrize("form", ["tokenizer.json", "vocab.txt"])
def test_texts_are_truncated_at_the_side_of_the_tokenizer(of_file, beside, form, tmp_path):
    tokenizer = word_pieces(lowercase=True)
    if of_file:
        tokenizer.enable_truncation(7, direction=of_file)
    if form == "vocab.txt":
        vocabulary = sorted(tokenizer.get_vocab().items(), key=lambda item: item[1])
        (tmp_path / "vocab.txt").write_text("".join(token + "\n" for token, _ in vocabulary))
    else:
        tokenizer.save(str(tmp_path / "tokenizer.json"))
    (tmp_path / "config.json").write_text('{"model_type": "bert"}')
    (tmp_path / "tokenizer_config.json").write_text(json.dumps(NAMES | beside))
    theirs = transformers.AutoTokenizer.from_pretrained(tmp_path)
    pairs = [(TEXT, None), (TEXT, "good film"), ("good", TEXT), (TEXT, TEXT)]
    ids, types, _ = framed(tmp_path, pairs, 12, tmp_path)
    for pair, own, own_types in zip(pairs, ids, types, strict=True):
        wanted = theirs(*[text for text in pair if text], truncation="longest_first", max_length=12)
        assert (own, own_types) == (wanted["input_ids"], wanted["token_type_ids"])


@pytest.mark.parametrize("own, length", [(20, 20), (100, 32), (1000000000000000019884624838656, 32), (None, 32)])
def test_texts_have_no_more_tokens_than_the_tokenizer_says(own, length, tmp_path):
    word_pieces(lowercase=True).save(str(tmp_path / "tokenizer.json"))
    (tmp_path / "tokenizer_config.json").write_text(json.dumps(NAMES | {"model_max_length": own}))
    data = tmp_path / "train.csv"
    data.write_text("text,label\n" + "".join(f"{'good film ' * 6},{i % 2}\n" for i in range(24)))
    small = [part for option in ("width=8", "layers=1", "heads=1", "max_positions=32") for part in ("--set", f"model.{option}")]
    quick = ["--set", "train.epochs=1", "--set", "output.report=false", "--threads", 1, "--overwrite", "--out", tmp_path / "r"]
    train = ["train", "text", "--data", data, "--tokenizer", tmp_path, *small, *quick]
    assert f"24 of 24 texts are cut to {length} tokens (data.length)" in ok(*train).stderr
    assert "cut to 30 tokens" in ok(*train, "--set", "data.length=30").stderr  # the user's
