"""Makes three tasks, documents for pre-training and a tokenizer from novels: plain text files, one per novel, whose
chapters begin with lines such as "CHAPTER IV".

    python experiments/text/make_tasks.py NOVEL.txt NOVEL.txt … --out FOLDER

FOLDER/source: from which novel a passage of 40 words comes. FOLDER/order: whether the words of one sentence in a passage of up to 80
words were shuffled. FOLDER/next: whether the second passage follows the first or comes from another chapter of any of the
novels, each of up to 80 words. Each holds train.jsonl, validation.jsonl and test.jsonl, from different chapters: of ten consecutive chapters seven
go to training, one to validation (at most 1,000 random samples), two to the test (5,500). FOLDER/documents has the chapters of training and validation
(<|endoftext|> between them), FOLDER/tokenizer a WordPiece vocabulary of the training chapters.

Everything is a function of the files and --seed, except the order of the vocabulary, which `tokenizers` does not fix.
"""

import argparse
import json
import pathlib
import random
import re

CHAPTER = re.compile(r"^\s*(?:CHAPTER|Chapter) [IVXLC0-9]+.*$", re.M)
SENTENCE = re.compile(r"(?<=[.!?])[”’\"')]*\s+(?=[“‘\"'(]*[A-Z])")
PARTS = ["train"] * 7 + ["validation"] + ["test"] * 2
WORDS = 40  # of a passage
MAX_SAMPLES = {"train": None, "validation": 1000, "test": 5500}  # samples of a task


def chapters(path):
    """The texts of a novel's chapters, without the licence around it and the headings."""
    text = path.read_text(encoding="utf-8-sig")
    begin, end = text.find("*** START"), text.find("*** END")
    text = text[text.find("\n", begin) if begin >= 0 else 0 : end if end >= 0 else len(text)]
    parts = [" ".join(part.split()) for part in CHAPTER.split(text)[1:]]
    return [part for part in parts if len(part) > 1000]  # without the table of contents


def dealt(path):
    """{part: chapters of a novel}"""
    out = {"train": [], "validation": [], "test": []}
    for number, chapter in enumerate(chapters(path)):
        out[PARTS[number % len(PARTS)]].append(chapter)
    return out


def sentences(chapter):
    found = [one.strip() for one in SENTENCE.split(chapter)]
    return [one for one in found if 8 <= len(one.split()) <= 60]


def plain_words(sentence):
    """Its words in lower case without punctuation, which would show where it began and ended."""
    return re.findall(r"[^\W_]+(?:[’'][^\W_]+)*", sentence.lower())


def source(novels, part, rng):
    for label, novel in novels.items():
        for chapter in novel[part]:
            words = chapter.split()
            for begin in range(0, len(words) - WORDS, WORDS):
                yield {"text": " ".join(words[begin : begin + WORDS]), "label": label}


def passage(found, begin, words):
    """Sentences from `begin` on with at most `words` words in total; at least one."""
    end, count = begin + 1, len(found[begin].split())
    while end < len(found) and count + len(found[end].split()) <= words:
        count += len(found[end].split())
        end += 1
    return found[begin:end]


def order(novels, part, rng):
    for novel in novels.values():
        for chapter in novel[part]:
            found = sentences(chapter)
            for begin in range(len(found)):
                words = [plain_words(sentence) for sentence in passage(found, begin, 80)]
                chosen = rng.randrange(len(words))
                if len(words[chosen]) < 8:
                    continue
                shuffled = rng.random() < 0.5
                before = list(words[chosen])
                while shuffled and words[chosen] == before:
                    rng.shuffle(words[chosen])
                yield {"text": " ".join(word for one in words for word in one),
                       "label": "shuffled" if shuffled else "original"}  # fmt: skip


def next_one(novels, part, rng):
    found = [sentences(chapter) for novel in novels.values() for chapter in novel[part]]
    found = [chapter for chapter in found if len(chapter) >= 12]
    for chapter in found:
        for i in range(len(chapter) - 1):
            first = list(reversed(passage(chapter[i::-1], 0, 80)))
            follows = rng.random() < 0.5
            other = chapter
            while not follows and other is chapter:
                other = found[rng.randrange(len(found))]
            second = passage(other, i + 1 if follows else rng.randrange(len(other)), 80)
            yield {"text": " ".join(first), "text2": " ".join(second), "label": "next" if follows else "random"}


def write_lines(path, objects):
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("".join(json.dumps(one, ensure_ascii=False) + "\n" for one in objects), encoding="utf-8")


def write_tokenizer(folder, texts, size):
    from tokenizers import BertWordPieceTokenizer

    tokenizer = BertWordPieceTokenizer(lowercase=True)
    tokenizer.train_from_iterator(texts, vocab_size=size, min_frequency=2, show_progress=False)
    folder.mkdir(parents=True, exist_ok=True)
    tokenizer.save_model(str(folder))
    tokenizer.save(str(folder / "tokenizer.json"))
    (folder / "tokenizer_config.json").write_text(json.dumps({"tokenizer_class": "BertTokenizer", "do_lower_case": True}) + "\n")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("novels", nargs="+", type=pathlib.Path)
    parser.add_argument("--out", type=pathlib.Path, required=True)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--vocabulary", type=int, default=8192)
    options = parser.parse_args()
    novels = {path.stem.split("_")[0]: dealt(path) for path in options.novels}
    for name, make in {"source": source, "order": order, "next": next_one}.items():
        for part in ("train", "validation", "test"):
            rng = random.Random(f"{options.seed} {name} {part}")
            made = list(make(novels, part, rng))
            rng.shuffle(made)
            made = made[: MAX_SAMPLES[part]]
            write_lines(options.out / name / f"{part}.jsonl", made)
            print(f"{name} {part}: {len(made)}")
    for part in ("train", "validation"):
        texts = [chapter for novel in novels.values() for chapter in novel[part]]
        path = options.out / "documents" / f"{part}.txt"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text("\n<|endoftext|>\n".join(texts) + "\n", encoding="utf-8")
        print(f"documents {part}: {len(texts)} chapters, {path.stat().st_size} bytes")
        if part == "train":
            write_tokenizer(options.out / "tokenizer", texts, options.vocabulary)


if __name__ == "__main__":
    main()
