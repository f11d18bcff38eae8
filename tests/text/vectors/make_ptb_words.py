"""Writes ptb_words.json: captions and their words by the Stanford tokenizer, called as in pycocoevalcap 1.2. Needs Java.

    pip install pycocoevalcap && python tests/text/vectors/make_ptb_words.py
"""

import json
import pathlib
import sys
import tempfile

sys.path.insert(0, str(pathlib.Path(__file__).parents[2] / "metrics" / "vectors"))
from make_caption_metrics import words_of

CAPTIONS = [
    "A man's dog isn't here; it's the boys' (and the \"dog\" - a 'small' one) who'll run!",
    "cannot gonna gotta wanna lemme gimme 'tis 'twas can't won't don't ain't n't 's she'd've",
    "A well-dressed man, multi-colored kites,well-made; old- and one--two ---- ----- black/white either/or/and on-off/in-out 1/2-inch",
    "1,000 3.5 5:30 5pm 5:30pm 10x10 1st '90s 80's 80s '85 -5 +5 5-6 3.5-4 1-2-2003 11/01/2009 22 3/4 2 1/2-inch 22-3/4 12/345",
    "$5 5$ US$5 New$ 50% £5 5¢ #1 #tag @name M&M's AT&T R&B a&b Q&A a+b a*b ** @@ ## __ _x",
    "T.V. on U.S. soil, the U.S.A. at 5 p.m. and a.m., e.g. i.e. x.y.z a.k.a. Ph.D. row A. The man, row B. of",
    "St. Mary's, Mr. X, Dr. y, mt. Foo, 5th Ave. and Blvd. at Rd. etc. go vs. no. 5 No. five, fig. 3 fig. a",
    "The end.A new one. St.a blvd.b rd.a Pa. pa. Wash. wash. Miss. miss. co. ltd fence., x-y., man.;",
    "O'Brien d'Angelo o'clock he'said l'xy l'x ma'am c'mon ol' 'em 'cause 'til rock'n'roll rock 'n' roll Cap'n c'est y'all somethin' li'l",
    "it’s isn’t o’clock dogs’ ‘hi’ “x” «y» x—y x–y wait… naïve ÉCOLE Ñandú ΑΒΓ ДОМ ĀŽŸ ß 日本 語 a‐b 5°C 1½ ¼ ×  • ★ 😀 x",
    "(paren) [br] {cu} < > \\ ^ ~ | = == :) ;-) =D :P x:( <3 =) !! ?! ?? ... .. . b.. c...",
    "'quoted words' 'a b' don't' it's' 'small' \"a\"b\" `x` ''y'' s's",
    "http://x.y/z?a=b, www.abc.com foo.com a.b@c.d pro- anti- pro-life foo_bar a_b_ C.D.s",
    "soft\u00adhyphen nb\u00a0sp tab\there line\nend two  spaces ",
    "", " ", ".", "K.", "a b.",
]


def main():
    with tempfile.TemporaryDirectory() as folder:
        words = words_of(CAPTIONS, folder)
    path = pathlib.Path(__file__).with_name("ptb_words.json")
    path.write_text(json.dumps([{"caption": c, "words": w} for c, w in zip(CAPTIONS, words, strict=True)], ensure_ascii=False, indent=0) + "\n")


main()
