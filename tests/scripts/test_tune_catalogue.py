"""The catalogue: what it says of the installed library is so, and what is wrong with a file is said in one line."""

from __future__ import annotations

import os
import re
from pathlib import Path

import pytest
from cqbench.analysis.tune import catalogue, select, workloads
from cqbench.analysis.tune.catalogue import ALLOCATOR, CHANNEL_ARG, EXPERIMENT, GENERATIONS, BadSettings, Setting
from cqbench.analysis.tune.library import Library
from cqbench.analysis.tune.select import Wanted
from cqbench.analysis.tune.workloads import Workload
from cqbench.measure import library as libraries
from tune_simulated import setting

ROOT = Path(__file__).parents[2]
CATALOGUE = catalogue.load(catalogue.SHIPPED)
CLIENT = Path(os.environ.get("CQBENCH_BIN_DIR", ROOT / "build/release/bin")) / "grpc_ping_client"
HEADERS = (Path("/usr/include/grpc/impl/codegen/grpc_types.h"), Path("/usr/include/grpc/impl/channel_arg_names.h"))
SHIPPED = Workload(("--api", "cq", "--channel-policy", "shared"), ("--api", "cq"))


@pytest.fixture(scope="module")
def installed() -> Library:
    found = libraries.installed(CLIENT)
    assert found.files and re.fullmatch(r"\d+\.\d+\.\d+", found.version)
    return found


def test_what_has_a_reader_occurs_in_the_library_and_nothing_else_does(installed: Library) -> None:
    """Both ways, for every setting that gRPC reads, if it is a generation that the catalogue was written for."""
    assert {version for k in CATALOGUE for version in k.readers or []} == set(GENERATIONS)
    check(installed, installed.generation)


def check(found: Library, generation: str) -> None:
    """Strings alone decide: the version of what is looked into is not told."""
    bare = Library("", found.files)
    for k in (k for k in CATALOGUE if k.readers is not None):
        if generation in (k.readers or []):
            assert bare.reads(k), f"{k.name}: no reader"
        elif k.control or (generation in GENERATIONS and k.kind == CHANNEL_ARG):
            assert not bare.reads(k), f"{k.name}: a reader"


def test_the_newest_generation_if_its_root_is_here() -> None:
    """scripts/newgrpc.sh makes it; on machines without it there is nothing to look into."""
    root = Path(os.environ.get("CQBENCH_SID_ROOT", libraries.SID_ROOT))
    found = libraries.of_sid(Path("/nonexistent"), root)
    if found.files:
        check(found, "1.83")


def test_controls_are_documented_and_read_by_nobody(installed: Library) -> None:
    header = "".join(path.read_text() for path in HEADERS if path.exists())
    controls = [k for k in CATALOGUE if k.control]
    assert len(controls) >= 5 and {"grpc.optimization_target", "grpc.census"} <= {k.key for k in controls}
    for k in controls:
        assert f'"{k.key}"' in header and not installed.has(k.key), k.name


def test_a_string_is_found_whole_only(tmp_path: Path) -> None:
    (tmp_path / "lib").write_bytes(b"\0grpc.one_two\0_grpc_small\0grpc_poll\0")
    some = Library("1.51.1", (tmp_path / "lib",))
    assert some.has("grpc.one_two") and some.has("grpc_poll")
    assert not some.has("grpc.one") and not some.has("one_two") and not some.has("grpc_small")
    assert some.reads(setting("x", kind="environment", key="GRPC_POLL")) and some.generation == "1.51"


def test_what_is_tried_of_the_shipped_workload(installed: Library) -> None:
    chosen, left_out = select.select(CATALOGUE, SHIPPED, installed, Wanted())
    names = {c.name for c in chosen}
    assert {c.name for k in CATALOGUE for c in catalogue.candidates(k)} == names | set(left_out)
    assert {"optimization-target", "census-off", "retries-off"} <= names
    assert left_out["connections-pool-2"] == "the workload says --channel-policy itself"
    assert "deadlines" in left_out["minimal-stack-without-deadlines"]
    if installed.generation == "1.51":
        assert left_out["fuse-filters"] == f"gRPC {installed.version} has no reader for it"
        assert "minimal-stack" in names


def test_controls_are_tried_whatever_kinds_are_asked_for(installed: Library) -> None:
    chosen, _ = select.select(CATALOGUE, SHIPPED, installed, Wanted(only=(EXPERIMENT,)))
    assert {c.setting.kind for c in chosen if not c.setting.control} == {EXPERIMENT}
    assert sum(c.setting.control for c in chosen) >= 5
    none = select.select(CATALOGUE, SHIPPED, installed, Wanted(risk="none"))[0]
    assert none and {c.setting.risk for c in none} == {"none"}
    every = select.select(CATALOGUE, SHIPPED, installed, Wanted(risk="all"))[0]
    assert {c.setting.risk for c in every} == {"none", "some", "breaks"}


def test_one_end_only(installed: Library) -> None:
    workload = Workload(SHIPPED.client, SHIPPED.server, ends="server")
    chosen, left_out = select.select(CATALOGUE, workload, installed, Wanted())
    assert left_out["retries-off"] == "it is the client's, and only the server is tuned"
    for candidate in chosen:
        made = workloads.configuration("x", [candidate], workload)
        assert made["client_flags"] == [*SHIPPED.client] and made["client_env"] == {}


def test_settings_that_set_the_same_exclude_each_other() -> None:
    """Otherwise the screening would set both and measure one."""
    every = [c for k in CATALOGUE for c in catalogue.candidates(k) if not k.alone]
    for one in every:
        for other in every:
            same_generation = (
                one.setting.readers is None
                or other.setting.readers is None
                or set(one.setting.readers) & set(other.setting.readers)
            )
            if one.setting.factor != other.setting.factor and same_generation:
                assert not workloads.clash(one, other), (one.name, other.name)


GOOD = """[[setting]]
name = "a"
kind = "channel-arg"
key = "grpc.a"
values = ["1"]
default = "0"
end = "client"
readers = ["1.51"]
effect = "e"
risk = "none"
source = "s"
"""


@pytest.mark.parametrize(
    ("change", "said"),
    [
        (('kind = "channel-arg"', 'kind = "thing"'), 'kind: "thing"'),
        (('end = "client"\n', ""), "'end' is missing"),
        (('values = ["1"]', "values = []"), "values"),
        (('values = ["1"]', 'values = ["1 2", "1-2"]'), 'values: ["1 2", "1-2"] is not accepted because two'),
        (('name = "a"', 'name = "A b"'), "a name of small letters"),
        (('risk = "none"', 'risk = "some"'), "'costs' is missing"),
        (('readers = ["1.51"]\n', ""), "'readers' is missing"),
        (('source = "s"', 'source = "s"\nmore = 1'), 'unknown key "more"'),
        (('kind = "channel-arg"', 'kind = "flag"'), 'key: "grpc.a" is not accepted as a flag'),
        (
            ('kind = "channel-arg"', 'kind = "environment"'),
            'key: "grpc.a" is not accepted as a name of an environment variable',
        ),
        (('kind = "channel-arg"', 'kind = "experiment"'), "'on' or 'off'"),
        (("[[setting]]", "[[settings]]"), "unknown key 'settings'"),
        (("[[setting]]", "[[setting"), "not TOML"),
    ],
)
def test_what_is_wrong_is_one_line(change: tuple[str, str], said: str) -> None:
    with pytest.raises(BadSettings) as error:
        catalogue.parse(GOOD.replace(*change), "x.toml")
    assert str(error.value).startswith("x.toml: ") and said in str(error.value) and "\n" not in str(error.value)


def test_names_are_there_once() -> None:
    with pytest.raises(BadSettings, match="name: 'a' is there already"):
        catalogue.parse(GOOD + GOOD, "x.toml")
    assert [k.name for k in catalogue.parse(GOOD, "x.toml")] == ["a"]


def test_what_is_not_installed_is_said(tmp_path: Path) -> None:
    (tmp_path / "libthere.so").touch()
    here = Library("1.51.1", (), (tmp_path,))
    there = Setting.model_validate(
        {**setting("x").model_dump(), "kind": ALLOCATOR, "key": "libthere.so", "readers": None}
    )
    absent = there.model_copy(update={"key": "libabsent.so", "source": "Debian: libabsent"})
    assert select.reader(there, here) == ""
    assert select.reader(absent, here) == "libabsent.so is not installed (Debian: libabsent)"
    assert select.reader(setting("y", kind=CHANNEL_ARG, readers=["1.83"]), here) == "gRPC 1.51.1 has no reader for it"
