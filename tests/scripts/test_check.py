"""cqbench check: a whole folder passes; a folder that was tampered with or picked from does not."""

from __future__ import annotations

import hashlib
import json
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import check_folders
import pytest
from check_folders import DATA, FIRST, change, failed, findings, rehash, runs_of
from cqbench.analysis.check import whole
from cqbench.analysis.check.model import State
from cqbench.cli import main
from cqbench.formats import manifest, sums

Json = dict[str, Any]


@pytest.fixture(scope="module")
def once(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return check_folders.finished(tmp_path_factory.mktemp("whole"))


@pytest.fixture
def folder(once: Path, tmp_path: Path) -> Path:
    return Path(shutil.copytree(once, tmp_path / once.name))


def point(data: Json) -> Json:
    first: Json = data["benchmarks"][0]
    return first


def test_a_whole_folder_passes(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """The hash of the list of hashes is in the second line."""
    assert main(["check", str(folder)]) == 0
    out = capsys.readouterr().out
    own = hashlib.sha256((folder / sums.FILE).read_bytes()).hexdigest()
    assert out.startswith(f"{folder}\n{sums.FILE} {own}\n") and max(map(len, out.splitlines()[1:])) <= 80
    assert "\npassed     hashes " in out and "\npassed     verdict " in out and "FAILED" not in out
    assert "\nNothing failed. Remarks: " in out


def test_json_has_each_finding_once(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (folder / FIRST).unlink()
    assert main(["check", "--format", "json", str(folder)]) == 1
    (found,) = json.loads(capsys.readouterr().out)
    rules = [one["rule"] for one in found["findings"]]
    assert len(set(rules)) == len(rules) == sum(found["counts"].values()) and found["counts"]["failed"] >= 2
    (complete,) = [one for one in found["findings"] if one["rule"] == "complete"]
    assert complete["state"] == "failed" and complete["examples"] == [f"{FIRST} is missing"]


def test_two_folders_are_two_answers(folder: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    other = Path(shutil.copytree(folder, tmp_path / "other"))
    (other / FIRST).unlink()
    assert main(["check", str(folder), str(other)]) == 1
    out = capsys.readouterr().out
    assert out.count("Nothing failed.") == 1 and out.count("Failed: hashes, complete") == 1
    assert main(["check", str(tmp_path)]) == 1  # their parent
    assert capsys.readouterr().out == out


@pytest.mark.parametrize("name", ["", "empty"])
def test_nothing_to_check_is_one_line(name: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / (name or "nothing-there")
    if name:
        path.mkdir()
    assert main(["check", str(path)]) == 2
    err = capsys.readouterr().err
    assert err.count("\n") == 1 and str(path) in err


# Each of these is tried twice: as it is, and with hashes written again, which leaves it to the other rules.
FIGURES: dict[str, tuple[Callable[[Json], Any], str]] = {
    "throughput": (lambda p: p.update(throughput_per_second=p["throughput_per_second"] * 1.1), "counts"),
    "calls": (lambda p: p.update(completed=p["completed"] + 10), "counts"),
    "failures": (lambda p: p.update(errors=[{"code": "UNKNOWN", "count": 3, "first_message": ""}]), "counts"),
    "client cpu": (lambda p: p.update(client_cores_used=p["client_cores_used"] / 2), "counts"),
    "server cpu": (lambda p: p.update(server_cpu_per_rpc_ns=p["server_cpu_per_rpc_ns"] / 2), "counts"),
    "p99": (lambda p: p.update(latency_p99_ns=p["latency_p50_ns"] - 1), "latencies"),
    "mean": (lambda p: p.update(latency_mean_ns=p["latency_mean_ns"] * 0.8), "littles-law"),
    "connections": (lambda p: p.update(connections=p["connections"] + 1), "connections"),
}


@pytest.mark.parametrize("what", FIGURES)
def test_a_changed_figure_is_found(what: str, folder: Path) -> None:
    changer, rule = FIGURES[what]
    change(folder / FIRST, lambda data: changer(point(data)))
    assert {"hashes", rule} <= failed(folder)
    rehash(folder)
    found = failed(folder)
    assert rule in found and "hashes" not in found
    assert FIRST in findings(folder)[rule].text


def test_consistently_changed_figures_are_found_by_what_was_made_from_them(folder: Path) -> None:
    def faster(data: Json) -> None:
        """Half the window: every count of calls stays right."""
        for key in ("window_ns", "real_time", "latency_mean_ns", "latency_min_ns", "latency_p50_ns"):
            point(data)[key] /= 2
        point(data)["throughput_per_second"] *= 2
        for end in ("client", "server"):
            point(data)[f"{end}_cores_used"] *= 2

    change(folder / FIRST, faster)
    rehash(folder)
    found = failed(folder)
    assert "counts" not in found and {"table", "verdict"} <= found


def test_a_deleted_run_is_found(folder: Path) -> None:
    (folder / FIRST).unlink()
    assert {"hashes", "complete", "table"} <= failed(folder)
    assert findings(folder)["hashes"].examples == (f"{FIRST} is missing",)
    rehash(folder)
    assert {"complete", "table"} <= failed(folder)


def test_an_extra_run_is_found(folder: Path) -> None:
    """A copy of a good repetition, under the name of an eighth."""
    shutil.copy(folder / FIRST, folder / "raw/installed/08-500.json")
    assert {"hashes", "complete", "origin"} <= failed(folder)
    rehash(folder)
    assert {"complete", "origin"} <= failed(folder)


def test_a_run_in_place_of_another_is_found(folder: Path) -> None:
    """A bad repetition is replaced by a good one; it has the other's command and time."""
    shutil.copy(folder / FIRST, folder / "raw/installed/02-500.json")
    rehash(folder)
    found = findings(folder)["origin"]
    assert found.state is State.FAILED and len(found.examples) >= 2


def without(folder: Path, keep: Callable[[Json], bool]) -> None:
    """Runs are taken out of the manifest, and their files deleted."""
    for run in runs_of(folder):
        if not keep(run):
            (folder / run["file"]).unlink()

    change(folder / manifest.FILE, lambda data: data.update(runs=[run for run in data["runs"] if keep(run)]))


def test_a_deleted_block_is_found(folder: Path) -> None:
    """Also where the manifest no longer has it."""
    without(folder, lambda run: run["repetition"] != 3)
    rehash(folder)
    assert {"blocks", "table", "verdict"} <= failed(folder)
    assert "repetition 3 of installed" in findings(folder)["blocks"].text


def test_a_block_that_lacks_a_configuration_is_found(folder: Path) -> None:
    without(folder, lambda run: (run["repetition"], run["configuration"]) != (3, "newest"))
    rehash(folder)
    assert findings(folder)["blocks"].examples == ("repetition 3 of newest, 500 in flight is missing",)


def test_blocks_that_were_numbered_again_are_found(folder: Path) -> None:
    """Without the third repetition those that are left are not in the order that the seed draws."""
    without(folder, lambda run: run["repetition"] != 3)

    def renumber(data: Json) -> None:
        data["repetitions"] = 6
        for run in data["runs"]:
            if run["repetition"] > 3:
                run["repetition"] -= 1
                name = f"raw/{run['configuration']}/{run['repetition']:02}-500.json"
                (folder / run["file"]).rename(folder / name)
                run["file"] = name

    change(folder / manifest.FILE, renumber)
    rehash(folder)
    assert {"blocks", "origin"} <= failed(folder)


def test_an_edited_manifest_is_found(folder: Path) -> None:
    def another_machine(data: Json) -> None:
        data["machine"]["cpu_model"] = "a better one"

    change(folder / manifest.FILE, another_machine)
    assert failed(folder) == {"hashes"}  # nothing else has it
    change(folder / manifest.FILE, lambda data: data.update(seed=data["seed"] + 1))
    rehash(folder)
    assert failed(folder) == {"blocks"}


@pytest.mark.parametrize("change_", [{"repetitions": 8}, {"repetitions": 10**9}, {"seed": None}, {"repetitions": None}])
def test_blocks_that_cannot_be_what_the_manifest_says_are_found(change_: Json, folder: Path) -> None:
    change(folder / manifest.FILE, lambda data: data.update(change_))
    rehash(folder)
    expected = State.NOT_KNOWN if change_.get("repetitions") == 10**9 else State.FAILED  # nobody draws as many
    assert findings(folder)["blocks"].state is expected


def test_the_order_is_not_known_where_the_experiment_is_of_another_version(folder: Path) -> None:
    change(folder / manifest.FILE, lambda data: data["experiment"]["experiment"].update(later=1))
    rehash(folder)
    found = findings(folder)["blocks"]
    assert found.state is State.NOT_KNOWN and "unknown key" in found.text


def test_a_run_that_is_called_unfinished_is_found(folder: Path) -> None:
    change(folder / manifest.FILE, lambda data: data["runs"][0].update(status="interrupted"))
    rehash(folder)
    assert failed(folder) == {"complete"}


def test_a_run_that_failed_is_a_remark_with_its_reason(folder: Path) -> None:
    change(folder / manifest.FILE, lambda data: data["runs"][0].update(status="failed", reason="the server ended"))
    rehash(folder)
    found = findings(folder)["complete"]
    assert found.state is State.REMARK and "1 run without a result" in found.text and "the server ended" in found.text


def test_an_edited_table_is_found(folder: Path) -> None:
    path = folder / "results.csv"
    head, first, *others = path.read_text().splitlines()
    path.write_text("\n".join([head, first.replace(",500,", ",501,"), *others]) + "\n")
    assert failed(folder) == {"hashes", "table"}
    rehash(folder)
    assert failed(folder) == {"table"}
    assert "line 2: inflight is 501, and 500 by the raw results" in findings(folder)["table"].text
    path.write_text("\n".join([head, *others]) + "\n")
    assert "table" in failed(folder)


def test_the_list_of_hashes_cannot_be_left_out(folder: Path) -> None:
    (folder / sums.FILE).unlink()
    assert failed(folder) == {"hashes"} and "the manifest names it" in findings(folder)["hashes"].text
    (folder / sums.FILE).write_text("no hash\n")
    assert failed(folder) == {"hashes"} and "line 1 is not a SHA-256" in findings(folder)["hashes"].text


def test_a_folder_from_before_hashes_is_not_known(folder: Path) -> None:
    change(folder / manifest.FILE, lambda data: data.pop("hashes"))
    (folder / sums.FILE).unlink()
    found = findings(folder)["hashes"]
    assert found.state is State.NOT_KNOWN and "before hashes were written" in found.text
    assert failed(folder) == set()


def test_raw_results_without_a_manifest_are_not_an_experiment(folder: Path) -> None:
    (folder / manifest.FILE).unlink()
    assert "there is no manifest.json" in findings(folder)["complete"].text
    assert "complete" in failed(folder)


def test_a_result_that_is_no_json_fails_and_the_others_are_checked(folder: Path) -> None:
    (folder / FIRST).write_text("{")
    found = failed(folder)
    assert {"schema", "hashes", "table"} <= found and "counts" not in found


def test_a_manifest_that_is_no_json_is_refused(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (folder / manifest.FILE).write_text("{")
    assert main(["check", str(folder)]) == 2
    assert capsys.readouterr().err.count("\n") == 1


def test_another_build_among_the_repetitions_is_found(folder: Path) -> None:
    change(folder / FIRST, lambda data: data["context"].update(compiler="g++ 99"))
    rehash(folder)
    assert "versions" in failed(folder)
    assert "installed: compiler is" in findings(folder)["versions"].text


def test_another_server_among_the_repetitions_is_found(folder: Path) -> None:
    change(folder / FIRST, lambda data: data["context"]["servers"][0].update(grpc_version="1.99.0"))
    rehash(folder)
    assert "versions" in failed(folder)
    assert "installed: the server's grpc_version is" in findings(folder)["versions"].text


@pytest.mark.parametrize(
    ("key", "value", "words"),
    [
        ("library_build_type", "asan", "the client is of build type 'asan'"),
        ("deadlock_detection", True, "the client looks for lock cycles"),
    ],
)
def test_a_build_that_is_not_for_measuring_is_found(key: str, value: object, words: str, folder: Path) -> None:
    for path in (folder / "raw").glob("*/*.json"):
        change(path, lambda data: data["context"].update({key: value}))
    rehash(folder)
    assert "versions" in failed(folder) and f"{FIRST}: {words}" in findings(folder)["versions"].text


def test_shared_cpus_are_found(folder: Path) -> None:
    def share(data: Json) -> None:
        data["context"]["affinity"] = "0-1"

    change(folder / FIRST, share)
    rehash(folder)
    assert f"{FIRST}: client and server share CPUs" in findings(folder)["cpus"].examples


def test_every_rule_is_tried_here_with_something_it_is_about(folder: Path) -> None:
    """And on a file with repetitions."""
    tried = {*findings(folder), *findings(DATA / "repetitions.json")}
    assert len(tried) == len(whole.RULES)
