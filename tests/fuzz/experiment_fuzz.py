"""TOML files of experiments: each is an experiment, or raises BadExperiment with the place."""

import sys

import atheris

with atheris.instrument_imports(include=["cqbench"]):
    from cqbench.experiment import spec


def check(data: bytes) -> None:
    text = data.decode("utf-8", "replace")
    try:
        experiment = spec.parse(text, "FILE")
    except spec.BadExperiment as error:
        assert all(line.startswith("FILE: ") for line in str(error).split("\n")), "every line says where"
        return
    names = [configuration.name for configuration in experiment.configurations]
    assert names and len(names) == len(set(names)), "every configuration has a name of its own"


atheris.Setup(sys.argv, check)
atheris.Fuzz()
