"""Whose an instruction is: a shared library's, an archive's in the program, or the program's; by family."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass, field
from pathlib import PurePath

# How names of shared objects begin -> whose they are. The first that fits.
FAMILIES = (
    (("libgrpc", "libgpr", "libaddress_sorting", "libupb", "libutf8_range_lib"), "gRPC"),
    (("libprotobuf", "libutf8"), "protobuf"),
    (("libabsl_",), "abseil"),
    (("libstdc++", "libgcc_s"), "libstdc++"),
    (("libc.", "libc-", "libm.", "libpthread", "ld-linux", "ld-2", "librt", "libdl"), "libc"),
)
# How names of functions begin -> the library that they are a template or an inline function of.
NAMESPACES = (
    (("grpc::", "grpc_", "gpr_"), "gRPC"),
    (("google::protobuf::", "upb_"), "protobuf"),
    (("absl::",), "abseil"),
    (("std::", "__gnu_cxx::", "operator new", "operator delete"), "libstdc++"),
)
OURS, UNKNOWN = "program", "unknown"
COMPILED_IN = "{} in the program"
# A function in the output of `nm --print-file-name`: of an archive's member, global, local or weak.
SYMBOL = re.compile(r"^(?P<archive>[^:]+):[^:]+:[0-9a-f]+ [TtWw] (?P<name>.+)$")
CLONE = re.compile(r" \[clone [^]]*\]")  # how demanglers show what a compiler made of a function, such as .cold


@dataclass(frozen=True)
class Program:
    """The measured program. archives: the family of each function that it has from an archive of a library."""

    name: str  # of its file
    archives: dict[str, str] = field(default_factory=dict)


def library(path: str, name: str, program: Program) -> str:
    """path: of the object that a function is in."""
    file = PurePath(path).name
    if not file or file == "???":
        return UNKNOWN
    if file != program.name:
        return _family(file)
    if family := program.archives.get(CLONE.sub("", name)):
        return family
    inside = next((family for begins, family in NAMESPACES if qualified(name).startswith(begins)), "")
    return COMPILED_IN.format(inside) if inside else OURS


def _family(file: str) -> str:
    return next((family for begins, family in FAMILIES if file.startswith(begins)), re.split(r"\.(?:so|a)\b", file)[0])


def functions(symbols: Iterable[str]) -> dict[str, str]:
    """Families by function. symbols: what `nm --demangle --defined-only --print-file-name` prints of the archives, in
    their order on the command line: the first that has a function counts."""
    found: dict[str, str] = {}
    for symbol in filter(None, map(SYMBOL.match, symbols)):
        found.setdefault(CLONE.sub("", symbol["name"]), _family(PurePath(symbol["archive"]).name))
    return found


def qualified(name: str) -> str:
    """Without the return type that names of function templates begin with: 'void a::f<int>(int)' -> 'a::f<int>(int)'.

    What stands between brackets is not looked at.
    """
    depth = begin = 0
    if name.startswith("operator"):
        return name
    name = name.replace("(anonymous namespace)", "{anonymous}")
    for place, character in enumerate(name):
        if character in "<[{":
            depth += 1
        elif character in ">]}":
            depth -= 1
        elif character == "(" and depth == 0:
            break
        elif character == " " and depth == 0 and not name.endswith("operator", 0, place):
            begin = place + 1
    return name[begin:]
