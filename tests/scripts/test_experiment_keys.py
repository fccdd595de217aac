"""The reference of the keys and the template: both come with the program and agree with what it reads."""

from __future__ import annotations

from pathlib import Path

from cqbench.experiment import flags, reference, spec
from cqbench.experiment.tables import PLACES
from cqbench.measure.cpus import Placement
from cqbench.measure.programs import Programs
from experiment_standin import ask
from result_schema import programs


def test_every_key_has_a_description_and_a_kind() -> None:
    for model in PLACES.values():
        assert model.__doc__, model
        for name, field in model.model_fields.items():
            assert field.description, (model, name)


def test_the_reference_names_every_key() -> None:
    text = reference.keys()
    lines = [line.split() for line in text.splitlines()]
    for place, model in PLACES.items():
        for name in model.model_fields if place else ():
            assert any(words[:1] == [name] for words in lines), name
    assert all(len(line) <= 120 for line in text.splitlines())
    (seed,) = [line for line in text.splitlines() if line.startswith("  seed ")]
    assert "integer" in seed and "drawn" in seed


def test_the_template_can_be_run_and_its_remarks_are_keys() -> None:
    experiment = spec.parse(reference.TEMPLATE, "template")
    assert [v.name for v in experiment.configurations] == ["shared", "pool-2", "pool-4"]
    shown = [line.lstrip("# ").split(" = ")[0] for line in reference.TEMPLATE.splitlines() if " = " in line]
    known = {name for model in PLACES.values() for name in model.model_fields}
    assert [name for name in shown if name not in known and not name.startswith("{")] == []


def test_the_real_programs_take_the_flags_of_the_template() -> None:
    experiment = spec.parse(reference.TEMPLATE, "template")
    nowhere = {v.name: Placement((), (), "") for v in experiment.configurations}
    assert flags.problems(experiment, nowhere, Programs(programs(), Path("/none"))) == []


def test_they_are_printed() -> None:
    assert ask("--template") == (0, reference.TEMPLATE, "")
    assert ask("--keys") == (0, reference.keys(), "")
