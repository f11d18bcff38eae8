"""Freezes small tokenizers and results of their libraries: sentencepiece models and tokenizer.json files trained on the lines
below, with the ids of some texts and their decodings."""

import io
import json
import pathlib
import tempfile

import sentencepiece
import tokenizers
from tokenizers import pre_tokenizers as pre

LINES = ["the quick brown fox jumps over the lazy dog", "she said: it's fine, isn't it?", "one two three 123 4567 89", "naïve café, déjà vu",
         "the the the of of and and to to", "in the beginning was the word", "they'll say we've done what I'd do", "Theorem 1.2. Let $X$ be a scheme."] * 6
LLAMA3 = r"(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+"
TEXTS = ["", " ", "the", " the", "the quick brown foxes", "  two  spaces  ", "isn't it 'S IT'LL", "a\nb\r\n\n c\t", "日本語のテキスト", "👩‍👩‍👧 x", "e\u0301e\u0302", "12345 6",
         "x\u00a0y\u3000z\u2028", "\u180e \u180e", "ﬁne ½ ² Ⅷ", "<s>the</s>", "<|end|>the <|end|>", "a<mark>b  <mark> c", "▁the▁", "zzzzzzzzzzzz", "\x00\x01", "ab" * 40,
         "the the the", "…—“quotes”", "ſ 'ſ", "don't stop, believing", "$X$ Theorem", "ABab A B", " \n \n ", "éÉ"]


def sentencepiece_case(**options):
    stream = io.BytesIO()
    sentencepiece.SentencePieceTrainer.train(sentence_iterator=iter(LINES), model_writer=stream, minloglevel=2, num_threads=1, hard_vocab_limit=False, **options)
    processor = sentencepiece.SentencePieceProcessor(model_proto=stream.getvalue())
    ids = processor.encode(TEXTS)
    return {"file": stream.getvalue().hex(), "cases": [{"text": text.encode().hex(), "ids": one, "decoded": processor.decode(one).encode().hex()}
                                                       for text, one in zip(TEXTS, ids)]}


def byte_level_case(steps, size=360, added=(), **options):
    tokenizer = tokenizers.Tokenizer(tokenizers.models.BPE(**options))
    tokenizer.pre_tokenizer = steps[0] if len(steps) == 1 else pre.Sequence(steps)
    tokenizer.decoder = tokenizers.decoders.ByteLevel()
    trainer = tokenizers.trainers.BpeTrainer(vocab_size=size, special_tokens=["<s>", "</s>", "<|end|>"], initial_alphabet=pre.ByteLevel.alphabet(), show_progress=False)
    tokenizer.train_from_iterator(LINES, trainer)
    tokenizer.add_tokens(list(added))
    tokenizer.post_processor = tokenizers.processors.TemplateProcessing(single="<s> $A </s>", special_tokens=[("<s>", 0), ("</s>", 1)])
    cases = []
    for text in TEXTS:
        ids = tokenizer.encode(text, add_special_tokens=False).ids
        cases.append({"text": text.encode().hex(), "ids": ids, "decoded": tokenizer.decode(ids, skip_special_tokens=False).encode().hex()})
    return {"file": json.loads(tokenizer.to_str()), "cases": cases}


def main():
    with tempfile.TemporaryDirectory() as folder:
        rules = pathlib.Path(folder) / "rules.tsv"
        # Code points: ½ becomes 1/2, the ligature fi two letters, a no-break space a space, e and an acute
        # accent é, a control character is removed.
        rules.write_text("BD\t31 2F 32\nFB01\t66 69\nA0\t20\n3000\t20 20\n65 301\tE9\n1\t\n")
        models = {
            "bpe": sentencepiece_case(model_type="bpe", vocab_size=360, byte_fallback=True, normalization_rule_name="identity", remove_extra_whitespaces=False,
                                      user_defined_symbols=["<|end|>", "ab"]),
            "bpe_rules": sentencepiece_case(model_type="bpe", vocab_size=110, normalization_rule_tsv=str(rules)),
            "unigram": sentencepiece_case(model_type="unigram", vocab_size=100, normalization_rule_tsv=str(rules), user_defined_symbols=["<|end|>", "ab"]),
            "unigram_bytes": sentencepiece_case(model_type="unigram", vocab_size=350, byte_fallback=True, normalization_rule_name="identity", remove_extra_whitespaces=False),
        }
    byte_level = {
        "gpt2": byte_level_case([pre.ByteLevel(add_prefix_space=False)]),
        "llama3": byte_level_case([pre.Split(tokenizers.Regex(LLAMA3), "isolated"), pre.ByteLevel(add_prefix_space=False, use_regex=False)], ignore_merges=True),
        "steps": byte_level_case([pre.Digits(individual_digits=True), pre.Split(tokenizers.Regex(r"[A-Z]|\s"), "merged_with_next"), pre.Split("t", "merged_with_previous"),
                                  pre.Split(tokenizers.Regex(r"\w"), "contiguous"), pre.ByteLevel(add_prefix_space=True)],
                                 added=[tokenizers.AddedToken("<mark>", lstrip=True, rstrip=True, normalized=False), tokenizers.AddedToken("  ")]),
    }
    folder = pathlib.Path(__file__).parent
    for name, vectors in (("sentencepiece.json", models), ("byte_level.json", byte_level)):
        (folder / name).write_text("{\n" + ",\n".join(f"{json.dumps(key)}:{json.dumps(value, separators=(',', ':'))}" for key, value in vectors.items()) + "\n}\n")


main()
