"""Whose an instruction is: that of a shared object, or of a library's templates in the program; by family."""

from __future__ import annotations

import re
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


def library(path: str, name: str, program: str) -> str:
    """path: of the object that a function is in. program: the file name of what is measured."""
    file = PurePath(path).name
    if not file or file == "???":
        return UNKNOWN
    if file == program:
        inside = next((family for begins, family in NAMESPACES if qualified(name).startswith(begins)), "")
        return COMPILED_IN.format(inside) if inside else OURS
    return next((family for begins, family in FAMILIES if file.startswith(begins)), re.split(r"\.so\b", file)[0])


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
