"""Options of tokenizer_config.json beside tokenizer.json, against AutoTokenizer of transformers."""

import json

import pytest

from cli_helpers import ok

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
