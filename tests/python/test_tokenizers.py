"""The tokenizers against sentencepiece and Hugging Face's tokenizers, on models trained here on local text.

Needs the test program `text_dump`: MODEWISE_BUILD names the build folder (build/ by default), MODEWISE_DATA the data.
"""

import copy
import io
import json
import os
import pathlib
import random
import struct
import subprocess

import pytest

from programs import ROOT, built

PROGRAM = built("text_dump")
DATA = pathlib.Path(os.environ.get("MODEWISE_DATA", ROOT.parent / "shared" / "data")) / "language"

pytestmark = pytest.mark.skipif(not DATA.exists(), reason=f"{DATA} is not there")


def unicode_mix(characters, seed=1):
    """Words, emoji with joiners, CJK, combining marks, controls, spaces of every kind, digits, contractions."""
    rng = random.Random(seed)
    ranges = [(0x20, 0x7E)] * 8 + [(0xA0, 0x24F), (0x300, 0x36F), (0x370, 0x52F), (0x590, 0x6FF), (0x900, 0x97F), (0xE00, 0xE7F),
              (0x1100, 0x11FF), (0x1E00, 0x1FFF), (0x2000, 0x206F), (0x2070, 0x2BFF), (0x3000, 0x30FF), (0x4E00, 0x9FFF), (0xAC00, 0xD7A3),
              (0xFB00, 0xFDFF), (0xFE00, 0xFFFD), (0x10330, 0x1034A), (0x1D400, 0x1D7FF), (0x1F300, 0x1FAFF), (0x20000, 0x2A6DF), (0xE0100, 0xE01EF), (0, 0x1F)]
    pieces = ["'s", "'S", "'ll", "'ſ", "n't", "'RE", " ", "  ", "   ", "\n", "\r\n", "\n\n", " \n", "\t", "\u00a0", "\u2003", "\u3000", "\u0085", "\u2028",
              "\u180e", "\u200b", "\ufeff", "\u200d", "👩‍👩‍👧‍👦", "🏳️‍🌈", "🇩🇪", "e\u0301", "ﷺ", "ﬁ", "½", "Ⅷ", "²", "１２３", "١٢٣", "12345", "3.14", "１", "Å", "ñ", "İ", "ß", "ǅ",
              "\U0001d7d8", "▁", "_", "x_y", "don't", "the ", " the", " of", "hello", "…", "—", "\x00", "\x7f", "\x1f", "\x0b", "\x0c", "\x1c", "\x85"]
    out = []
    while len(out) < characters:
        if rng.random() < 0.4:
            out.append(rng.choice(pieces))
        else:
            low, high = rng.choice(ranges)
            out.extend(chr(rng.randint(low, high)) for _ in range(rng.randint(1, 6)))
    return "".join(out)


def mixed_texts():
    """More than 1 MB of prose, mathematics and everything else, in parts from a line to a book."""
    shakespeare = (DATA / "tinyshakespeare.txt").read_text()
    wikitext = (DATA / "wikitext2_valid.txt").read_text()
    stacks = (DATA / "stacks" / "etale-cohomology.tex").read_text()
    mix = unicode_mix(150_000)
    texts = [shakespeare[:250_000], wikitext[:300_000], stacks[:300_000], mix]
    texts += [line for text in (shakespeare[250_000:300_000], wikitext[300_000:400_000], stacks[300_000:350_000]) for line in text.splitlines(keepends=True)]
    rng = random.Random(2)
    at = 0
    while at < len(mix):
        length = rng.randint(1, 60)
        texts.append(mix[at:at + length])
        at += length
    return texts + ["", " ", "\n", "a" * 3000, " " * 3000, "ab" * 2000, "\n \n" * 500, "🙂" * 700]


def write_records(path, texts):
    path.write_bytes(b"".join(struct.pack("<I", len(text)) + text for text in texts))


def read_records(path, numbers):
    content = path.read_bytes()
    records, at = [], 0
    while at < len(content):
        (length,) = struct.unpack_from("<I", content, at)
        at += 4
        if numbers:
            records.append(list(struct.unpack_from(f"<{length}i", content, at)))
            at += 4 * length
        else:
            records.append(content[at:at + length])
            at += length
    return records


def ours(tokenizer, texts, folder):
    """The ids of each text, what they decode to, and the seconds that encoding took."""
    texts = [text if isinstance(text, bytes) else text.encode() for text in texts]
    path = folder / "texts"
    write_records(path, texts)
    result = subprocess.run([PROGRAM], input=f"{tokenizer}\t{path}\n", capture_output=True, text=True, check=True)
    assert not result.stdout.startswith("error"), result.stdout
    return read_records(folder / "texts.ids", True), read_records(folder / "texts.text", False), float(result.stdout)


def expect_equal_ids(got, wanted, texts):
    for text, one, other in zip(texts, got, wanted, strict=True):
        if one == other:
            continue
        at = next((i for i, (a, b) in enumerate(zip(one, other)) if a != b), min(len(one), len(other)))
        raise AssertionError(f"text {text[:80]!r}: token {at} differs: {one[max(0, at - 3):at + 3]} and {other[max(0, at - 3):at + 3]}")


SENTENCEPIECE_MODELS = {
    "unigram_nmt_nfkc": dict(model_type="unigram", vocab_size=2000),
    "unigram_bytes": dict(model_type="unigram", vocab_size=2000, byte_fallback=True, normalization_rule_name="identity", remove_extra_whitespaces=False),
    "unigram_nfkc_cf": dict(model_type="unigram", vocab_size=1500, normalization_rule_name="nfkc_cf", user_defined_symbols=["<sep>", "ab", "▁of▁the"]),
    "bpe_llama": dict(model_type="bpe", vocab_size=3000, byte_fallback=True, normalization_rule_name="identity", remove_extra_whitespaces=False, split_digits=True,
                      allow_whitespace_only_pieces=True, user_defined_symbols=["<|user|>", "\n\n"]),
    "bpe_nmt_nfkc": dict(model_type="bpe", vocab_size=1500),
    "bpe_across_spaces": dict(model_type="bpe", vocab_size=1500, split_by_whitespace=False, byte_fallback=True),
    "bpe_suffix": dict(model_type="bpe", vocab_size=1500, treat_whitespace_as_suffix=True),
    "unigram_no_prefix": dict(model_type="unigram", vocab_size=1500, add_dummy_prefix=False, bos_piece="<begin>", pad_id=3),
}


@pytest.mark.parametrize("name", SENTENCEPIECE_MODELS)
def test_sentencepiece_agrees(name, tmp_path):
    sentencepiece = pytest.importorskip("sentencepiece")
    lines = (DATA / "tinyshakespeare.txt").read_text().splitlines()[:8000] + (DATA / "wikitext2_valid.txt").read_text().splitlines()[:800]
    stream = io.BytesIO()
    sentencepiece.SentencePieceTrainer.train(sentence_iterator=iter(lines), model_writer=stream, minloglevel=2, num_threads=1, **SENTENCEPIECE_MODELS[name])
    path = tmp_path / "tokenizer.model"
    path.write_bytes(stream.getvalue())
    oracle = sentencepiece.SentencePieceProcessor(model_proto=stream.getvalue())
    texts = mixed_texts()
    if "unigram" in name:  # longer texts lose the digits that decide in the oracle's float32 sums
        texts = texts[4:] + [text[at:at + 10_000] for text in texts[:4] for at in range(0, len(text), 10_000)]
    ids, decoded, _ = ours(path, texts, tmp_path)
    expect_equal_ids(ids, oracle.encode(texts), texts)
    for text, one, back in zip(texts, ids, decoded, strict=True):
        assert back.decode() == oracle.decode(one), text[:80]


LLAMA3_PATTERN = (r"(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+")
SPECIAL = ["<|endoftext|>", "<|begin_of_text|>", "<|end_of_text|>"]


def byte_level_tokenizers():
    """Trained here: GPT-2's split, Llama 3's (whole words first), and splits that nobody uses together."""
    tokenizers = pytest.importorskip("tokenizers")
    from tokenizers import pre_tokenizers as pre

    made = {}
    llama3 = [pre.Split(tokenizers.Regex(LLAMA3_PATTERN), "isolated"), pre.ByteLevel(add_prefix_space=False, use_regex=False)]
    odd = [pre.Digits(individual_digits=True), pre.Split(tokenizers.Regex(r"[\u4e00-\u9fff]{1,2}|\w+_"), "merged_with_next"),
           pre.Split(tokenizers.Regex(r"\p{L}+|\P{L}+"), "removed", invert=True), pre.Split(",", "merged_with_previous"),
           pre.Split(tokenizers.Regex(r"\p{Lu}"), "contiguous"), pre.ByteLevel(add_prefix_space=True, use_regex=True)]
    for name, steps, size in (("gpt2", [pre.ByteLevel(add_prefix_space=False)], 8000), ("llama3", llama3, 6000), ("odd", odd, 3000)):
        tokenizer = tokenizers.Tokenizer(tokenizers.models.BPE(ignore_merges=name == "llama3"))
        tokenizer.pre_tokenizer = steps[0] if len(steps) == 1 else pre.Sequence(steps)
        tokenizer.decoder = tokenizers.decoders.ByteLevel()
        trainer = tokenizers.trainers.BpeTrainer(vocab_size=size, special_tokens=SPECIAL, initial_alphabet=pre.ByteLevel.alphabet(), show_progress=False)
        corpus = [(DATA / "tinyshakespeare.txt").read_text()[:400_000], (DATA / "wikitext2_valid.txt").read_text()[:400_000],
                  (DATA / "stacks" / "etale-cohomology.tex").read_text()[:300_000], unicode_mix(30_000, 5)]
        tokenizer.train_from_iterator(corpus, trainer)
        if name == "odd":
            tokenizer.add_tokens([tokenizers.AddedToken("<left>", lstrip=True), tokenizers.AddedToken("  ", normalized=False), "<word>", "<word>s", "é"])
            tokenizer.add_special_tokens([tokenizers.AddedToken("<both>", lstrip=True, rstrip=True), "<both>x"])
        else:
            tokenizer.post_processor = tokenizers.processors.TemplateProcessing(single="<|begin_of_text|> $A", special_tokens=[("<|begin_of_text|>", 1)])
        made[name] = tokenizer
    return made


@pytest.fixture(scope="module")
def byte_level():
    return byte_level_tokenizers()


@pytest.mark.parametrize("name", ["gpt2", "llama3", "odd"])
def test_byte_level_agrees(byte_level, name, tmp_path):
    oracle = byte_level[name]
    path = tmp_path / "tokenizer.json"
    oracle.save(str(path))
    texts = mixed_texts()
    texts += ["a<|endoftext|>b", "<|begin_of_text|>", " <|endoftext|> <|endoftext|>\n", "x <left> y <both> \n z<both>x<word>s<words>", "<|endoftext", "  <both>  é   a"]
    assert sum(len(text.encode()) for text in texts) > 1_000_000
    ids, decoded, seconds = ours(path, texts, tmp_path)
    wanted = [one.ids for one in oracle.encode_batch(texts, add_special_tokens=False)]
    expect_equal_ids(ids, wanted, texts)
    print(f"{sum(len(text.encode()) for text in texts) / seconds / 1e6:.1f} MB/s")
    if name != "odd":
        assert decoded == [text.encode() for text in texts]


@pytest.mark.parametrize("name", ["gpt2", "llama3"])
def test_byte_level_gives_any_bytes_back(byte_level, name, tmp_path):
    path = tmp_path / "tokenizer.json"
    byte_level[name].save(str(path))
    rng = random.Random(7)
    texts = [rng.randbytes(rng.randint(0, 300)) for _ in range(500)] + [rng.randbytes(300_000), bytes(range(256)) * 9]
    mix = bytearray(unicode_mix(50_000, 8).encode())
    for _ in range(5000):
        mix[rng.randrange(len(mix))] = rng.randrange(256)
    texts += [bytes(mix), b"\xff" * 100_000, b"\xe2\x82" * 1000, b" \xf0\x9f\x98 a"]
    ids, decoded, _ = ours(path, texts, tmp_path)
    assert decoded == texts


def metaspace(prepend_scheme, split=False):
    return {"type": "Metaspace", "replacement": "▁", "prepend_scheme": prepend_scheme, "split": split}


REPLACE = {"type": "Replace", "pattern": {"String": " "}, "content": "▁"}
CONVERTED = {  # normalizer, pre_tokenizer; whether the decoder drops a space at the start
    "legacy": ({"type": "Sequence", "normalizers": [{"type": "Prepend", "prepend": "▁"}, REPLACE]}, None, True),
    "first": (None, metaspace("first"), True),
    "always": (None, metaspace("always"), True),
    "split": (None, metaspace("first", split=True), True),
    "no prefix": (REPLACE, None, False),
}


@pytest.fixture(scope="module")
def converted():
    """BPE with byte fallback, trained by tokenizers on text in which spaces are U+2581, as sentencepiece does."""
    tokenizers = pytest.importorskip("tokenizers")
    text = (DATA / "tinyshakespeare.txt").read_text()[:200_000]
    made = tokenizers.Tokenizer(tokenizers.models.BPE(byte_fallback=True, fuse_unk=True, unk_token="<unk>"))
    made.pre_tokenizer = tokenizers.pre_tokenizers.Metaspace()
    special = ["<unk>", "<s>", "</s>", *(f"<0x{byte:02X}>" for byte in range(256))]
    made.train_from_iterator([text], tokenizers.trainers.BpeTrainer(vocab_size=2000, special_tokens=special, show_progress=False))
    state = json.loads(made.to_str())
    state["added_tokens"] = [one for one in state["added_tokens"] if not one["content"].startswith("<0x")]
    return state


@pytest.mark.parametrize("across", [False, True], ids=["", "tokens across spaces"])
@pytest.mark.parametrize("name", CONVERTED)
def test_converted_sentencepiece_agrees(converted, name, across, tmp_path):
    tokenizers = pytest.importorskip("tokenizers")
    normalizer, pre_tokenizer, strips = CONVERTED[name]
    state = copy.deepcopy(converted)
    vocabulary, size = state["model"]["vocab"], len(state["model"]["vocab"])
    if across:
        vocabulary["e▁"] = size
        state["model"]["merges"].insert(3, ["e", "▁"])
        size += 1
    plain = {"single_word": False, "lstrip": False, "rstrip": False}
    state["added_tokens"] += [{"id": size, "content": "<user>", "special": True, "normalized": False, **plain},
                              {"id": size + 1, "content": "<raw>", "special": False, "normalized": False, **plain, "rstrip": True},
                              {"id": size + 2, "content": "of the", "special": False, "normalized": True, **plain},
                              {"id": size + 3, "content": "<old>", "special": True, "normalized": True, **plain}]  # fmt: skip
    strip = [{"type": "Strip", "content": " ", "start": 1, "stop": 0}] if strips else []
    replace = {"type": "Replace", "pattern": {"String": "▁"}, "content": " "}
    state |= {"normalizer": normalizer, "pre_tokenizer": pre_tokenizer,
              "decoder": {"type": "Sequence", "decoders": [replace, {"type": "ByteFallback"}, {"type": "Fuse"}, *strip]}}  # fmt: skip
    path = tmp_path / "tokenizer.json"
    path.write_text(json.dumps(state))
    oracle = tokenizers.Tokenizer.from_str(json.dumps(state))
    texts = [text for text in mixed_texts() if len(text) < 100_000][::3]
    texts += ["<s>a b", "a<user>b <user> c", " <user>", "x <raw>  y", "of the", "one of the two", "a <old> b<old>", " of the of the ", "<s><s>", "  a", "▁a ▁ b", "</s> a</s>"]
    ids, decoded, _ = ours(path, texts, tmp_path)
    expect_equal_ids(ids, [one.ids for one in oracle.encode_batch(texts, add_special_tokens=False)], texts)
    for text, one, back in zip(texts, ids, decoded, strict=True):
        assert back.decode(errors="replace") == oracle.decode(one, skip_special_tokens=False), text[:80]
    any_bytes = [b"\xff\xfe a", bytes(range(128, 256)), b"a \xe2\x82"]
    assert [back.removeprefix(b" ") for back in ours(path, any_bytes, tmp_path)[1]] == any_bytes
