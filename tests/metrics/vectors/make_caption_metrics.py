"""Writes caption_metrics.json: the scores of small captions by pycocoevalcap 1.2 (BLEU, ROUGE-L, CIDEr), by its meteor-1.5.jar with
`-l en -m "exact stem"` (no -norm: words are given), and stems by the stemmer of that jar. Needs Java.

    pip install pycocoevalcap && python tests/metrics/vectors/make_caption_metrics.py

    python tests/metrics/vectors/make_caption_metrics.py captions_val2017.json   prints the values of tests/python/test_score.py
"""

import contextlib
import io
import json
import pathlib
import random
import subprocess
import sys
import tempfile

import pycocoevalcap
from pycocoevalcap.bleu.bleu import Bleu
from pycocoevalcap.cider.cider import Cider
from pycocoevalcap.rouge.rouge import Rouge

JARS = pathlib.Path(pycocoevalcap.__path__[0])
METEOR = JARS / "meteor" / "meteor-1.5.jar"
TOKENIZER = JARS / "tokenizer" / "stanford-corenlp-3.4.1.jar"
PUNCTUATION = {"''", "'", "``", "`", "-LRB-", "-RRB-", "-LCB-", "-RCB-", ".", "?", "!", ",", ":", "-", "--", "...", ";"}


def words_of(captions, folder):
    """The words of each caption, each surrounded by separate lines: at the end of a caption the tokenizer reads the next line."""
    path = pathlib.Path(folder) / "captions.txt"
    path.write_text("\n".join(line.replace("\n", " ") for caption in captions for line in (caption, "zebra")))
    out = subprocess.run(["java", "-cp", TOKENIZER, "edu.stanford.nlp.process.PTBTokenizer", "-preserveLines", "-lowerCase", path],
                         capture_output=True, check=True).stdout.decode().split("\n")
    return [" ".join(word for word in line.split(" ") if word not in PUNCTUATION).split() for line in out[:2 * len(captions):2]]


def meteor(candidates, references):
    process = subprocess.Popen(["java", "-jar", METEOR, "-", "-", "-stdio", "-l", "en", "-m", "exact stem"], stdin=subprocess.PIPE,
                               stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)

    def ask(line):
        process.stdin.write(line + "\n")
        process.stdin.flush()
        return process.stdout.readline().strip()

    counts = [ask(" ||| ".join(["SCORE", *references[i], candidates[i][0]])) for i in candidates]
    first = float(ask(" ||| ".join(["EVAL", *counts])))
    rest = [float(process.stdout.readline()) for _ in counts]  # the other images, then the corpus
    process.stdin.close()
    process.wait()
    return [first, *rest]


def scores(candidates, references):
    """{image: [caption]}, {image: [captions]}, words separated by spaces; METEOR is 0 if a side has no words."""
    with contextlib.redirect_stdout(io.StringIO()):
        bleu, bleu_images = Bleu(4).compute_score(references, candidates)
    rouge, rouge_images = Rouge().compute_score(references, candidates)
    cider, cider_images = Cider().compute_score(references, candidates)
    *meteor_images, meteor_all = meteor(candidates, references)
    images = [{"bleu": [b[i] for b in bleu_images], "meteor": meteor_images[i], "rouge_l": rouge_images[i], "cider_d": cider_images[i]}
              for i in range(len(candidates))]
    return {"all": {"bleu": bleu, "meteor": meteor_all, "rouge_l": float(rouge), "cider_d": float(cider)}, "images": images}


CASES = [
    ("a dog runs on the beach", ["a dog is running on the beach", "the dog runs along a beach", "two dogs on a sandy beach"]),
    ("the the the the the the the", ["the cat is on the mat", "there is a cat on the mat"]),
    ("a man riding a wave on top of a surfboard", ["a man riding a wave on top of a surfboard"]),
    ("mat the on cat", ["the cat sat on the mat", "cats sit on mats"]),
    ("a", ["a", "a b"]),
    ("", ["a cat", "the dog"]),
    ("a plate of food", [""]),
    ("people standing around people who stand around standing people", ["a stand where people stand", "standing people stand around"]),
    ("cat dog cat dog cat dog cat dog cat dog", ["dog cat dog cat dog cat", "dogs and cats and dogs and cats", "cat"]),
    ("wholly other things", ["nothing in common here at all"]),
    ("it is the man 's hat and he ca n't find it", ["the man 's hat is one which he can not find", "the hats of men"]),
    ("a very long caption which goes on and on and on about a man on a bench on a street in a city in a country in the world",
     ["a man on a bench", "on a street a man on a bench on a street on a bench"]),
    ("generously skiing skis", ["the general skies ski generously", "communication of skis dying"]),
]
STEMS = """generously communication communism arsenal arsenic generate skis skies dying news inning proceeding exceeds herrings ' 's '' a's' yy y'all say
days dyed hopping hoping fizzed fizzing tanned failing filing agreed feed fatted rate cease controll roll hopefulness goodness relational conditional
rational valenci hesitanci digitizer conformabli radicalli differentli vileli analogousli vietnamization predication operator feudalism decisiveness
callousness formaliti sensitiviti sensibiliti triplicate formative formalize electriciti electrical revival allowance inference airliner gyroscopic
adjustable defensible irritant replacement adjustment dependent adoption homologou activate angulariti effective bowdlerize probate analogi logi ugly
owed bed sky yes youth boy boyish eyed saying ies ied ties tied cries cried by bee beed eed succeeding happily fully lessli nationally organizational
bli li café gas this kiwis misses caress consist consistently knightly bodily motorcyclists kites frisbees skateboarding umbrellas giraffes""".split()


def made_up(rng, words):
    """Captions of few distinct words, so that many have several matches."""
    vocabulary = ["a", "the", "dog", "dogs", "cat", "cats", "run", "running", "on", "sits"]
    return " ".join(rng.choice(vocabulary) for _ in range(words))


def main():
    rng = random.Random(5)
    cases = [*CASES, *((made_up(rng, rng.randrange(1, 30)), [made_up(rng, rng.randrange(1, 30)) for _ in range(rng.randrange(1, 6))]) for _ in range(40))]
    out = scores({i: [candidate] for i, (candidate, _) in enumerate(cases)}, dict(enumerate(references for _, references in cases)))
    for image, (candidate, references) in zip(out["images"], cases):
        image.update(candidate=candidate, references=references)
    stems = subprocess.run(["java", "-cp", METEOR, "Stemmer", "en"], input="\n".join(STEMS) + "\n", capture_output=True, text=True, check=True)
    out["stems"] = dict(zip(STEMS, stems.stdout.split("\n")))
    path = pathlib.Path(__file__).with_name("caption_metrics.json")
    path.write_text(json.dumps(out, ensure_ascii=False, indent=0) + "\n")


def of_file(path):
    """The caption of each image with the smallest id is the candidate, the others are its references."""
    captions = {}
    for annotation in sorted(json.loads(pathlib.Path(path).read_text())["annotations"], key=lambda one: one["id"]):
        captions.setdefault(annotation["image_id"], []).append(annotation["caption"])
    with tempfile.TemporaryDirectory() as folder:
        words = iter(words_of([caption for some in captions.values() for caption in some], folder))
    captions = {image: [" ".join(next(words)) for _ in some] for image, some in captions.items()}
    print(scores({image: some[:1] for image, some in captions.items()}, {image: some[1:] for image, some in captions.items()})["all"])


if __name__ == "__main__":
    of_file(sys.argv[1]) if len(sys.argv) > 1 else main()
