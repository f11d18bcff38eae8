"""Writes answers.json: scores of generated answers by the Python packages that LongBench's metrics.py uses (rouge 1.0.1,
fuzzywuzzy 0.18 on difflib) and by LongBench's own code for the rest.

    pip install rouge fuzzywuzzy && python tests/metrics/vectors/make_answer_vectors.py
"""

import collections
import difflib
import json
import pathlib
import random
import re
import string
import warnings

warnings.filterwarnings("ignore")
from fuzzywuzzy import fuzz  # noqa: E402
from rouge import Rouge  # noqa: E402


def normal(text):
    text = "".join(c for c in text.lower() if c not in set(string.punctuation))
    return re.sub(r"\b(a|an|the)\b", " ", text).split()


def qa_f1(prediction, answer):
    a, b = normal(prediction), normal(answer)
    same = sum((collections.Counter(a) & collections.Counter(b)).values())
    return 0.0 if same == 0 else 2 * (same / len(a)) * (same / len(b)) / (same / len(a) + same / len(b))


def rouge_l(prediction, answer):
    try:
        return Rouge().get_scores([prediction], [answer], avg=True)["rouge-l"]["f"]
    except ValueError:
        return 0.0


def classification(prediction, answer, classes):
    found = [c for c in classes if c in prediction]
    for name in found:
        if name in answer and name != answer:
            found.remove(name)
    return 1 / len(found) if answer in found else 0.0


def count(prediction, answer):
    numbers = re.findall(r"[0-9]+", prediction)
    return sum(n == answer for n in numbers) / len(numbers) if numbers else 0.0


def retrieval(prediction, answer):
    return count(prediction, re.findall(r"Paragraph ([0-9]+)", answer)[0])


def code_sim(prediction, answer):
    chosen = ""
    for line in prediction.lstrip("\n").split("\n"):
        if "`" not in line and "#" not in line and "//" not in line:
            chosen = line
            break
    return fuzz.ratio(chosen, answer) / 100


WORDS = "the a an cat dog Ran, ran. over hill; été naïve Москва fox's it's 42 7 und der\u00a0Hund x_y ß".split(" ")


def text(rng, words):
    return " ".join(rng.choice(WORDS) for _ in range(words))


def main():
    assert not hasattr(fuzz, "StringMatcher"), "python-Levenshtein would replace difflib"
    rng = random.Random(3)
    pairs = [("", ""), ("", "x"), ("x", ""), ("The cat.", "a cat"), ("...", "a."), (" . ", "b c"), ("É", "é"),
             ("one. two two. three", "two one. three four. one"), ("A man, the man", "man man man")]
    pairs += [(text(rng, rng.randrange(1, 25)), text(rng, rng.randrange(1, 25))) for _ in range(60)]
    out = {"pairs": [{"prediction": p, "answer": a, "qa_f1": qa_f1(p, a), "rouge_l": rouge_l(p, a)} for p, a in pairs]}
    names = ["Food", "Food and drink", "drink", "City", "Other city", "Other"]
    cases = [(p, a) for p in ["Food", "Food and drink", "drink or Food", "Other city Food and drink", "none", "City, Other city"]
             for a in names]
    out["classes"] = names
    out["classification"] = [{"prediction": p, "answer": a, "score": classification(p, a, names)} for p, a in cases]
    numbers = [("12", "12"), ("there are 12 or 13, no 12", "12"), ("none", "3"), ("012 12", "12"), ("Paragraph 7", "7")]
    out["count"] = [{"prediction": p, "answer": a, "score": count(p, a)} for p, a in numbers]
    out["retrieval"] = [{"prediction": p, "answer": f"Paragraph {a}", "score": retrieval(p, f"Paragraph {a}")}
                        for p, a in numbers]
    codes = [("\n\n# a comment\n```\nreturn x + 1\n", "return x+1"), ("", ""), ("// no", "x"), ("x = f(y)", "x = f(y)")]
    code = "".join(rng.choice("abcdef(){};= \n") for _ in range(4000)).replace("\n", " ")
    codes += [(code[i:i + n], code[i + k:i + k + m]) for i, n, k, m in
              [(0, 50, 5, 60), (100, 300, 40, 250), (700, 900, 300, 700), (2000, 150, 1, 210), (5, 199, 3, 200)]]
    out["code_sim"] = [{"prediction": p, "answer": a, "score": code_sim(p, a),
                        "ratio": difflib.SequenceMatcher(None, p, a).ratio()} for p, a in codes]
    path = pathlib.Path(__file__).with_name("answers.json")
    path.write_text(json.dumps(out, ensure_ascii=False, indent=0) + "\n")


main()
