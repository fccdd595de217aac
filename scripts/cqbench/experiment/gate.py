"""--gate BEFORE_BIN AFTER_BIN: any experiment, with the two builds of the programs as its last axis.

What differs in the last axis only is measured one right after the other, so the builds are compared in pairs.
"""

from __future__ import annotations

import copy
from collections.abc import Iterator

from cqbench.experiment import spec
from cqbench.experiment.spec import BadExperiment, Data, Experiment
from cqbench.experiment.tables import BUILDS
from cqbench.formats.text import show
from cqbench.measure.programs import AFTER, BEFORE

AXIS = "build"
QUESTION = "And is the build after slower than the build before (the gate at the end)?"


def apply(experiment: Experiment) -> Experiment:
    """The experiment with both builds; as it is where it has them already. Raises BadExperiment."""
    if is_gate(experiment):
        return experiment
    if experiment.open:
        raise BadExperiment(
            f"argument --gate: '{experiment.name}' is not accepted: it is an open loop, whose throughput is the rate "
            "that was asked for; experiments with calls in flight are (--inflight)"
        )
    if experiment.budget_s is not None:
        raise BadExperiment(
            f"argument --gate: '{experiment.name}' is not accepted: it measures within a budget until its verdict "
            "decides, and a gate takes a fixed number of repetitions (--repetitions)"
        )
    data = copy.deepcopy(experiment.data)
    for where in _taken(data):
        raise BadExperiment(f"argument --gate: '{experiment.name}' is not accepted: {where}")
    data["experiment"]["title"] = f"{experiment.title}, before and after"
    data["experiment"]["question"] = f"{experiment.question} {QUESTION}"
    if listed := data.pop("configuration", None):
        data["axis"] = [{"name": "configuration", "values": [_as_value(one) for one in listed]}]
    data["axis"].append({"name": AXIS, "values": [{"name": build, "build": build} for build in (BEFORE, AFTER)]})
    return spec.make(data, experiment.name)


def is_gate(experiment: Experiment) -> bool:
    return {build for c in experiment.configurations for build in c.builds} == {BEFORE, AFTER}


def _taken(data: Data) -> Iterator[str]:
    """Yields why the builds cannot be an axis."""
    for axis in data.get("axis", []):
        if axis["name"] == AXIS:
            yield f"it has an axis '{AXIS}' of its own"
    values = [*data.get("configuration", []), *(value for axis in data.get("axis", []) for value in axis["values"])]
    named = ((value, key) for value in values for key in BUILDS if key in value)
    yield from (f"its '{value['name']}' has the {key} {show(value[key])}" for value, key in named)


def _as_value(configuration: Data) -> Data:
    """As a value of an axis, whose name has no dots."""
    return {**configuration, "name": configuration["name"].replace(".", "-")}
