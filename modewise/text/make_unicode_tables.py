"""Writes unicode_ranges.cpp and unicode_decompositions.cpp: what BERT's normalizer asks of characters.

Hugging Face's tokenizers takes general categories from Unicode 8, decompositions from Unicode 12 and lower case from Unicode
17, and models were trained on what it made of texts; so these tables hold the same. Python 3.11 brings Unicode 14 and Perl
5.36 says in which version a character came; what changed otherwise is listed here.
"""

import pathlib
import subprocess
import sys
import unicodedata

HERE = pathlib.Path(__file__).parent
assert unicodedata.unidata_version == "14.0.0", "this takes Python 3.11"


def present_in(version):
    """The code points that this version of Unicode had."""
    program = f"for my $c (0..0x10FFFF) {{ next if $c >= 0xD800 && $c < 0xE000; print \"$c\\n\" if chr($c) =~ /\\p{{Present_In: {version}}}/ }}"
    return {int(line) for line in subprocess.run(["perl", "-e", program], capture_output=True, check=True).stdout.split()}


# Category in Unicode 8 of characters that have another one in Unicode 14.
OLD_CATEGORIES = {0x166D: "Po", 0x1734: "Mn", 0x1885: "Lo", 0x1886: "Lo", 0xA9BD: "Mc", 0x111C9: "Po"}
# Lower case of letters that came with Unicode 15 to 17: first, last, distance.
NEW_LETTERS = [(0x1C89, 0x1C89, 1), (0xA7CB, 0xA7CB, 0x264 - 0xA7CB), (0xA7CC, 0xA7CC, 1), (0xA7CE, 0xA7CE, 1), (0xA7D2, 0xA7D2, 1),
               (0xA7D4, 0xA7D4, 1), (0xA7DA, 0xA7DA, 1), (0xA7DC, 0xA7DC, 0x19B - 0xA7DC), (0x10D50, 0x10D65, 0x20), (0x16EA0, 0x16EB8, 0x1B)]


def ranges(points):
    """First and last of each stretch."""
    out = []
    for point in sorted(points):
        if out and out[-1][1] == point - 1:
            out[-1][1] = point
        else:
            out.append([point, point])
    return out


def lower_ranges():
    """[first, last, step, distance]: every step-th character has its lower case that far away."""
    distances = {c: ord(chr(c).lower()) - c for c in range(0x110000) if len(chr(c).lower()) == 1 and chr(c).lower() != chr(c)}
    distances.update({c: distance for first, last, distance in NEW_LETTERS for c in range(first, last + 1)})
    out = []
    for point, distance in sorted(distances.items()):
        last = out[-1] if out else None
        if last and last[3] == distance and point - last[1] in (1, 2) and (last[0] == last[1] or last[2] == point - last[1]):
            last[2] = point - last[1]
            last[1] = point
        else:
            out.append([point, point, 1, distance])
    return out


def class_ranges(points):
    """[first, last, canonical combining class]."""
    out = []
    for point in sorted(points):
        value = unicodedata.combining(chr(point))
        if value and out and out[-1][1] == point - 1 and out[-1][2] == value:
            out[-1][1] = point
        elif value:
            out.append([point, point, value])
    return out


def lines(items, start="    "):
    line = start
    for item in items:
        if len(line) + len(item) > 108:
            yield line.rstrip()
            line = start
        line += item + " "
    yield line.rstrip()


def table(name, kind, rows):
    return "\n".join([f"constexpr {kind} {name}[] = {{", *lines("{" + ", ".join(row) + "}," for row in rows), "};"])


def hexadecimal(numbers):
    return [f"0x{number:X}" for number in numbers]


OPEN = """// Written by make_unicode_tables.py, which says where it comes from.

#include "modewise/text/unicode.h"
#include "modewise/text/unicode_range.h"

namespace modewise::text {
namespace {

"""


def write_ranges():
    old = present_in("8.0")
    category = {c: OLD_CATEGORIES.get(c, unicodedata.category(chr(c))) for c in old}
    parts = [OPEN + "struct Range {\n  char32_t first, last;\n};\nstruct LowerRange {\n  char32_t first, last, step;\n  int32_t distance;\n};\n",
             "// clang-format off"]
    for name, wanted in (("kOther", lambda kind: kind[0] == "C" and kind != "Cn"), ("kPunctuation", lambda kind: kind[0] == "P"), ("kNonspacingMarks", lambda kind: kind == "Mn")):
        parts.append(table(name, "Range", [hexadecimal(pair) for pair in ranges(c for c, kind in category.items() if wanted(kind))]))
    parts.append(table("kLower", "LowerRange", [[*hexadecimal(row[:2]), str(row[2]), str(row[3])] for row in lower_ranges()]))
    parts.append("""// clang-format on

}  // namespace

bool is_other_character(char32_t c) {
  return range_of(kOther, c) != nullptr;
}
bool is_punctuation(char32_t c) {
  return range_of(kPunctuation, c) != nullptr;
}
bool is_nonspacing_mark(char32_t c) {
  return range_of(kNonspacingMarks, c) != nullptr;
}
char32_t lower_case(char32_t c) {
  const LowerRange* range = range_of(kLower, c);
  if (range == nullptr || (c - range->first) % range->step != 0) return c;
  return static_cast<char32_t>(static_cast<int32_t>(c) + range->distance);
}

}  // namespace modewise::text
""")
    (HERE / "unicode_ranges.cpp").write_text("\n".join(parts))


def write_decompositions():
    old = present_in("12.1")
    steps = {}
    for c in old:
        text = unicodedata.decomposition(chr(c))
        if text and not text.startswith("<"):
            steps[c] = [int(part, 16) for part in text.split()] + [0]
    runs, values = [], []
    for first, last in ranges(steps):
        runs.append([f"0x{first:X}", f"0x{last:X}", str(len(values))])
        values += [hexadecimal(steps[c][:2]) for c in range(first, last + 1)]
    parts = [OPEN + "struct Run {\n  char32_t first, last;\n  size_t begin;  // of its steps\n};\n"
             "struct ClassRange {\n  char32_t first, last;\n  int value;\n};\n", "// clang-format off", table("kRuns", "Run", runs),
             table("kSteps", "Decomposition", values),
             table("kClasses", "ClassRange", [[*hexadecimal(row[:2]), str(row[2])] for row in class_ranges(old)])]
    parts.append("""// clang-format on

}  // namespace

Decomposition decomposition_step(char32_t c) {
  const Run* run = range_of(kRuns, c);
  return run == nullptr ? Decomposition() : kSteps[run->begin + (c - run->first)];
}

int combining_class(char32_t c) {
  const ClassRange* range = range_of(kClasses, c);
  return range == nullptr ? 0 : range->value;
}

}  // namespace modewise::text
""")
    (HERE / "unicode_decompositions.cpp").write_text("\n".join(parts))


if __name__ == "__main__":
    write_ranges()
    write_decompositions()
    sys.exit(0)
