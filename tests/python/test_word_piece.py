"""WordPiece with BERT's normalizer against Hugging Face's tokenizers, on vocabularies trained here on local text.

Needs the test program `text_dump`: MODEWISE_BUILD names the build folder (build/ by default), MODEWISE_DATA the data.
"""

import json
import subprocess
import unicodedata

import pytest

from test_tokenizers import DATA, PROGRAM, expect_equal_ids, mixed_texts, ours, read_records, unicode_mix, write_records

tokenizers = pytest.importorskip("tokenizers")
pytestmark = pytest.mark.skipif(not DATA.exists(), reason=f"{DATA} is not there")

SPECIAL = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]"]
NORMALIZERS = {
    "uncased": dict(),
    "cased": dict(lowercase=False),
    "accents": dict(strip_accents=False),
    "cased_stripped": dict(lowercase=False, strip_accents=True),
    "as_it_is": dict(clean_text=False, handle_chinese_chars=False, strip_accents=False, lowercase=False),
    "no_spaces": dict(handle_chinese_chars=False),
}


def with_template(tokenizer):
    tokenizer.post_processor = tokenizers.processors.TemplateProcessing(
        single="[CLS] $A [SEP]", pair="[CLS] $A [SEP] $B:1 [SEP]:1",
        special_tokens=[("[CLS]", tokenizer.token_to_id("[CLS]")), ("[SEP]", tokenizer.token_to_id("[SEP]"))])
    return tokenizer


@pytest.fixture(scope="module")
def trained():
    corpus = [(DATA / "tinyshakespeare.txt").read_text()[:400_000], (DATA / "wikitext2_valid.txt").read_text()[:400_000], unicode_mix(60_000, 5)]
    made = {}
    for name, options in NORMALIZERS.items():
        tokenizer = tokenizers.Tokenizer(tokenizers.models.WordPiece(unk_token="[UNK]"))
        tokenizer.normalizer = tokenizers.normalizers.BertNormalizer(**options)
        tokenizer.pre_tokenizer = tokenizers.pre_tokenizers.BertPreTokenizer()
        tokenizer.decoder = tokenizers.decoders.WordPiece()
        tokenizer.train_from_iterator(corpus, tokenizers.trainers.WordPieceTrainer(vocab_size=6000, special_tokens=SPECIAL, show_progress=False))
        made[name] = with_template(tokenizer)
    return made


TRICKS = ["a [SEP] b", "[CLS][SEP]", "[cls] x", " [MASK]s", "unaffable" * 12, "a" * 100, "a" * 101, "é" * 100, "e\u0301" * 60, "İstanbul ΣΑΣ ß ǅ",
          "中文 text漢字。かな", "\u0958\u09cb\u1b06 한국어 각", "x\u302e\U00016ff0y \u0301\u0327q", "\x00\ufffd\u200b\u00ad", "don't — stop...", "$5+3=8^2~`|<>"]


@pytest.mark.parametrize("name", NORMALIZERS)
def test_word_piece_agrees(trained, name, tmp_path):
    oracle = trained[name]
    path = tmp_path / "tokenizer.json"
    oracle.save(str(path))
    texts = mixed_texts() + TRICKS
    assert sum(len(text.encode()) for text in texts) > 1_000_000
    ids, _, seconds = ours(path, texts, tmp_path)
    wanted = [one.ids for one in oracle.encode_batch(texts, add_special_tokens=False)]
    expect_equal_ids(ids, wanted, texts)
    print(f"{sum(len(text.encode()) for text in texts) / seconds / 1e6:.1f} MB/s")


@pytest.mark.parametrize("options", [dict(), dict(do_lower_case=False), dict(strip_accents=False, tokenize_chinese_chars=False)], ids=["default", "cased", "accents"])
def test_vocab_txt_agrees(trained, options, tmp_path):
    """BERT's own files: vocab.txt and tokenizer_config.json, as transformers reads them."""
    transformers = pytest.importorskip("transformers")
    vocabulary = trained["cased"].get_vocab()
    (tmp_path / "vocab.txt").write_text("".join(token + "\n" for token, _ in sorted(vocabulary.items(), key=lambda item: item[1])))
    if options:
        (tmp_path / "tokenizer_config.json").write_text(json.dumps({"tokenizer_class": "BertTokenizer", "mask_token": {"content": "[MASK]"}, **options}))
    texts = mixed_texts()[:6] + TRICKS
    ids, _, _ = ours(tmp_path, texts, tmp_path)
    oracle = transformers.BertTokenizer(str(tmp_path / "vocab.txt"), **options)._tokenizer
    expect_equal_ids(ids, [one.ids for one in oracle.encode_batch(texts, add_special_tokens=False)], texts)


def test_every_character_agrees(tmp_path):
    """A vocabulary with every character that there is, so that no difference hides behind an unknown word."""
    characters = [chr(c) for c in range(0x110000) if unicodedata.category(chr(c)) not in ("Cn", "Cs", "Co") and not chr(c).isspace() and c != 0]
    vocabulary = {token: i for i, token in enumerate(SPECIAL + characters + ["##" + c for c in characters])}
    texts = [" ".join(f"a{chr(c)}b" for c in range(first, first + 256)) for first in range(0, 0x110000, 256) if not 0xD800 <= first < 0xE000]
    for options in (dict(), dict(lowercase=False), dict(strip_accents=False)):
        oracle = tokenizers.Tokenizer(tokenizers.models.WordPiece(vocabulary, unk_token="[UNK]"))
        oracle.normalizer = tokenizers.normalizers.BertNormalizer(**options)
        oracle.pre_tokenizer = tokenizers.pre_tokenizers.BertPreTokenizer()
        oracle.save(str(tmp_path / "tokenizer.json"))
        ids, _, _ = ours(tmp_path / "tokenizer.json", texts, tmp_path)
        expect_equal_ids(ids, [one.ids for one in oracle.encode_batch(texts, add_special_tokens=False)], texts)


def framed(tokenizer, pairs, max_tokens, folder):
    """Ids, token types and positions of pairs (single texts if the second is None) with their special tokens."""
    path = folder / "pairs"
    write_records(path, [(text or "").encode() for pair in pairs for text in pair])
    result = subprocess.run([PROGRAM], input=f"{tokenizer}\t{path}\t{max_tokens}\n", capture_output=True, text=True, check=True)
    assert not result.stdout.startswith("error"), result.stdout
    places = [[tuple(one[at:at + 3]) for at in range(0, len(one), 3)] for one in read_records(folder / "pairs.places", True)]
    return read_records(folder / "pairs.ids", True), read_records(folder / "pairs.types", True), places


def expect_same_frames(oracle, path, pairs, max_tokens, tmp_path):
    ids, types, places = framed(path, pairs, max_tokens, tmp_path)
    oracle.enable_truncation(max_tokens, strategy="longest_first")
    for pair, one_ids, one_types, one_places in zip(pairs, ids, types, places, strict=True):
        wanted = oracle.encode(pair[0]) if pair[1] is None else oracle.encode(pair[0], pair[1])
        assert one_ids == wanted.ids, (pair, max_tokens)
        assert one_types == wanted.type_ids, (pair, max_tokens)
        assert [-1 if text == 255 else text for _, _, text in one_places] == [-1 if mark else which for mark, which in zip(wanted.special_tokens_mask, wanted.sequence_ids)]
        for (begin, end, text), (first, last) in zip(one_places, wanted.offsets):
            if text != 255:
                assert pair[text].encode()[begin:end].decode() == pair[text][first:last], (pair, max_tokens)
    oracle.no_truncation()


def text_pairs():
    lines = [line for line in (DATA / "wikitext2_valid.txt").read_text().splitlines() if len(line) > 40][:60] + ["Ünïcödé 中文 mix—ed", "x", "a [MASK] of"]
    pairs = [(line, None) for line in lines] + [(a, b[:len(b) // 3]) for a, b in zip(lines, lines[1:])] + [(a[:9], b) for a, b in zip(lines, lines[1:])]
    return [pair for pair in pairs if pair[1] != ""]


@pytest.mark.parametrize("max_tokens", [pytest.param(5, marks=pytest.mark.long), pytest.param(16, marks=pytest.mark.long), 17, pytest.param(63, marks=pytest.mark.long), 512])
def test_pairs_get_their_marks(trained, tmp_path, max_tokens):
    path = tmp_path / "tokenizer.json"
    trained["uncased"].save(str(path))
    pairs = text_pairs()[::6] if max_tokens == 5 else text_pairs()  # the oracle makes an encoding of each five tokens that it cuts
    expect_same_frames(trained["uncased"], path, pairs, max_tokens, tmp_path)


def test_pairs_of_roberta_get_their_marks(tmp_path):
    tokenizer = tokenizers.Tokenizer(tokenizers.models.BPE())
    tokenizer.pre_tokenizer = tokenizers.pre_tokenizers.ByteLevel(add_prefix_space=False)
    tokenizer.decoder = tokenizers.decoders.ByteLevel()
    trainer = tokenizers.trainers.BpeTrainer(vocab_size=2000, special_tokens=["<s>", "<pad>", "</s>", "<unk>", "<mask>"],
                                             initial_alphabet=tokenizers.pre_tokenizers.ByteLevel.alphabet(), show_progress=False)
    tokenizer.train_from_iterator([(DATA / "wikitext2_valid.txt").read_text()[:200_000]], trainer)
    tokenizer.post_processor = tokenizers.processors.RobertaProcessing(("</s>", 2), ("<s>", 0), trim_offsets=False, add_prefix_space=False)
    path = tmp_path / "tokenizer.json"
    tokenizer.save(str(path))
    pairs = [pair for pair in text_pairs() if all(ord(c) < 128 for text in pair if text for c in text)]  # a token may be part of a character
    for max_tokens in (8, 17, 64, 512):
        expect_same_frames(tokenizer, path, pairs, max_tokens, tmp_path)


def refusal(path, tmp_path):
    (tmp_path / "texts").write_bytes(b"")
    return subprocess.run([PROGRAM], input=f"{path}\t{tmp_path / 'texts'}\n", capture_output=True, text=True, check=True).stdout.strip()


VOCABULARIES = {
    "twice": ("[UNK]\na\nb\na\n", "vocab.txt, line 4: the token 'a' is a duplicate of line 2"),
    "empty line": ("[UNK]\n\nb\n", "vocab.txt, line 2: expected a token, got an empty line"),
    "no unknown": ("a\nb\n", "vocab.txt: none of the 2 tokens is '[UNK]', the token for unknown words"),
}


@pytest.mark.parametrize("name", VOCABULARIES)
def test_a_bad_vocabulary_is_refused(name, tmp_path):
    content, sentence = VOCABULARIES[name]
    (tmp_path / "vocab.txt").write_text(content)
    assert refusal(tmp_path, tmp_path) == f"error 65 {tmp_path}/{sentence}"
