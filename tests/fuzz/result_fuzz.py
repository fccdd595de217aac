"""Results as files from other people: each is a document, or raises BadDocument with one line."""

import sys

import atheris

with atheris.instrument_imports(include=["cqbench"]):
    from cqbench.formats import result
    from cqbench.formats.source import BadDocument


def check(data: bytes) -> None:
    try:
        document = result.parse(data, "FILE")
    except BadDocument as error:
        assert "\n" not in str(error), "an error is one line"
        return
    for point in document.points:
        assert point.load.words, "a point has a load"
    assert "\n" not in document.how, "what is said of it is one line"


atheris.Setup(sys.argv, check)
atheris.Fuzz()
