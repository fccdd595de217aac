"""tune.json: what was asked, and what came out. Resuming reads what was asked."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any, Literal

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from cqbench.analysis.tune import workloads
from cqbench.analysis.tune.catalogue import Candidate
from cqbench.analysis.tune.judge import Finding
from cqbench.analysis.tune.procedure import Outcome
from cqbench.formats import problems
from cqbench.formats.offered import Load, closed, open_loop, searched
from cqbench.formats.source import BadDocument, decode, read_bytes
from cqbench.render.tune.text import Heading, detectable
from cqbench.stats.ratios import Ratio

FILE = "tune.json"
VERSION = 1


class BadTune(ValueError):
    """A folder that cannot be resumed; one line."""


class Asked(BaseModel):
    """Durations in seconds. inflight, rate or find_rate (what the highest rate has to meet): the others are None."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    objective: Literal["throughput", "p50", "p99", "cpu", "rate"]
    inflight: int | None = Field(default=None, ge=1)
    rate: float | None = Field(default=None, gt=0)
    find_rate: str | None = Field(default=None, min_length=1)
    budget_s: float = Field(gt=0)
    warmup_s: float = Field(gt=0)
    interval_s: float = Field(gt=0)
    seed: int = Field(ge=0)
    client: tuple[str, ...]
    server: tuple[str, ...]
    start: dict[str, str]
    build: Literal["release", "sid"]
    end: Literal["client", "server", "both"]
    only: tuple[str, ...]
    exclude: tuple[str, ...]
    risk: Literal["none", "some", "all"]

    @property
    def load(self) -> Load:
        if self.find_rate is not None:
            return searched(self.find_rate)
        return open_loop(self.rate) if self.rate is not None else closed(self.inflight or 1)


def read(folder: Path) -> Asked:
    """Raises BadTune."""
    path = folder / FILE
    try:
        data = decode(read_bytes(path), str(path))
        if not isinstance(data, dict) or data.get("tune_version") != VERSION:
            raise BadTune(f"{path}: not a file of cqbench tune, version {VERSION}")
        return Asked.model_validate(data.get("asked"))
    except BadDocument as error:
        raise BadTune(str(error)) from None
    except ValidationError as error:
        raise BadTune(f"{path}: {problems.first(error, data.get('asked'), 'asked')}") from None


def document(asked: Asked, heading: Heading, not_tried: dict[str, str], outcome: Outcome | None) -> dict[str, Any]:
    """outcome: None while nothing is known yet."""
    data: dict[str, Any] = {"tune_version": VERSION, "asked": asked.model_dump(mode="json"), "grpc": heading.grpc}
    data["not_tried"] = not_tried
    return data if outcome is None else {**data, **_outcome(outcome, heading)}


def _outcome(outcome: Outcome, heading: Heading) -> dict[str, Any]:
    wrong, controls = outcome.controls
    passed, screened = outcome.screened_controls
    return {
        "partial": outcome.partial or None,
        "nothing_worth_setting": outcome.nothing and not outcome.partial,
        "repetitions": outcome.repetitions,
        "tried": [_candidate(c) for c in outcome.candidates],
        "left_out": outcome.left_out,
        "screening": [
            {"name": e.candidate.name, "ratio": math.exp(e.value), "log_standard_error": e.error, "t": e.t}
            for e in outcome.effects
        ],
        "survivors": [c.name for c in outcome.survivors],
        "findings": [_finding(f, heading) for f in outcome.findings],
        "sets": [_finding(f, heading) for f in outcome.sets],
        "best_set": _finding(outcome.best, heading) if outcome.best else None,
        "controls": {
            "confirmed": controls,
            "false_alarms": wrong,
            "screened": screened,
            "passed_screening": passed,
        },
        "detectable_ratio": detectable(outcome),
    }


def _candidate(candidate: Candidate) -> dict[str, Any]:
    setting = candidate.setting
    return {
        "name": candidate.name,
        "kind": setting.kind,
        "end": setting.end,
        "settings": dict(candidate.pairs),
        "risk": setting.risk,
        "control": setting.control,
    }


def _finding(finding: Finding, heading: Heading) -> dict[str, Any]:
    return {
        "name": finding.name,
        "settings": [c.name for c in finding.chosen],
        "ratio": _ratio(finding.ratio),
        "p_adjusted": finding.adjusted,
        "gain_confirmed": finding.confirmed,
        "control": finding.control,
        "costs": {name: _ratio(ratio) for name, ratio in finding.costs.items()},
        "paste": workloads.paste(finding.chosen, heading.ends),
    }


def _ratio(ratio: Ratio | None) -> dict[str, Any] | None:
    if ratio is None:
        return None
    return {"value": ratio.value, "low": ratio.low, "high": ratio.high, "p": ratio.p, "repetitions": ratio.n}
