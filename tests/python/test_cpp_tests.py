"""The C++ tests compare the sentences of errors. Reads sources only: nothing needs to be built."""

import pathlib
import re

TESTS = pathlib.Path(__file__).resolve().parents[1]
ANY_EXCEPTION = re.compile(r"\b(?:EXPECT|ASSERT)_(?:ANY_)?THROW\b|\bThrows<")


def places(pattern):
    for path in sorted([*TESTS.rglob("*.cpp"), *TESTS.rglob("*.h")]):
        for number, line in enumerate(path.read_text().splitlines(), 1):
            if pattern.search(line):
                yield f"tests/{path.relative_to(TESTS)}:{number}: {line.strip()}"


def test_no_cpp_test_is_content_with_any_exception():
    found = list(places(ANY_EXCEPTION))
    assert not found, "\n".join(["", *found, "compare error_of(kind, action) or exception_of<Type>(action) (tests/error_of.h) with the sentence"])


def test_the_pattern_finds_them():
    for line in ("EXPECT_THROW(f(), Error);", "  ASSERT_THROW(f(), c10::Error);", "EXPECT_ANY_THROW(f());", "EXPECT_THAT(f, Throws<Error>());"):
        assert ANY_EXCEPTION.search(line), line
    for line in ("EXPECT_NO_THROW(f());", "EXPECT_THAT(f, ThrowsMessage<Error>(wanted));", "// what it throws"):
        assert not ANY_EXCEPTION.search(line), line
