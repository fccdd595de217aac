"""Makes a cost profile: runs its steps, and says what could not be counted and why. A signal leaves what is done."""

from __future__ import annotations

import shlex
from collections import defaultdict
from collections.abc import Iterable
from typing import Any

from cqbench.analysis.cost import perf, stacks
from cqbench.analysis.cost.counts import Key, Run, slope, total
from cqbench.analysis.cost.profile import (
    ALLOCATIONS,
    CLIENT,
    INSTRUCTIONS,
    PROGRAM,
    SAMPLED_NS,
    SAMPLES,
    SCHEMA_VERSION,
    SERVER,
    SYSCALLS,
    TIME,
    Absent,
    Figure,
    Profile,
    figures,
)
from cqbench.formats import storage
from cqbench.formats.point import Measured
from cqbench.formats.result import Document
from cqbench.formats.source import BadDocument
from cqbench.measure.processes import Failed
from cqbench.measure.session import say
from cqbench.run.cost import plan
from cqbench.run.cost.kept import Folder
from cqbench.run.cost.plan import Asked, Step
from cqbench.run.cost.session import Session

# Figures of a result's point, per window or per call -> names in a profile.
PER_WINDOW = {"cpu_user_ns": "cpu-user-ns", "cpu_system_ns": "cpu-system-ns"}
PER_CALL = {
    TIME: {
        "voluntary_context_switches_per_rpc": "voluntary-switches",
        "involuntary_context_switches_per_rpc": "involuntary-switches",
    },
    ALLOCATIONS: {
        "allocations_per_rpc": "allocations",
        "allocated_bytes_per_rpc": "allocated-bytes",
        "frees_elsewhere_per_rpc": "frees-elsewhere",
    },
}
NOT_COUNTED = {
    TIME: "the server does not say what it used",
    ALLOCATIONS: "this end does not count them",
}
# Keys of a result's context that must agree where two cost profiles are compared.
WORK = ("workload", "method", "shape", "request_bytes", "response_bytes", "content", "payload", "stream_messages")
WORK_OF_DATA = ("data_hash",)
SETTING = (
    *("grpc_version", "protobuf_version", "cqbench_version", "compiler", "api", "channel_policy", "messages", "stub"),
    *("poll", "cpu_model", "kernel"),
)


UNITS = {SAMPLES: "ns of CPU", SYSCALLS: "system calls", INSTRUCTIONS: "instructions"}


class Making:
    """One profile as it grows."""

    def __init__(self, asked: Asked, session: Session) -> None:
        self.asked = asked
        self.session = session
        self.kept: Folder = session.kept
        self.slopes: dict[tuple[str, str], list[dict[Key, float]]] = defaultdict(list)
        self.supervision: dict[tuple[str, str], list[float]] = defaultdict(list)  # what the clock asked for, per call
        self.absent: dict[tuple[str, str], str] = {}
        self.pairs: dict[tuple[str, str], list[tuple[Run, Run]]] = defaultdict(list)  # less and more, by repetition
        self.shorter: dict[tuple[str, str], Run] = {}
        self.stopped = False

    def run(self, missing: dict[str, str]) -> None:
        """All steps. missing: by part, why it cannot be counted here."""
        for part, reason in missing.items():
            self.absent.update(dict.fromkeys(((part, side) for side in self.asked.sides), reason))
        for step in plan.steps(self.asked):
            sides = [step.side] if step.side else list(self.asked.sides)
            if not all((step.part, side) in self.absent for side in sides):
                self._step(step, sides)

    def _step(self, step: Step, sides: Iterable[str]) -> None:
        """From the folder what is there. A signal ends nothing but what has yet to be run."""
        if not self.kept.has(step) and self.session.interrupt.signum:
            self.stopped = True
            return
        try:
            if not self.kept.has(step):
                self._run(step)
            if step.side:
                self._count(step)
            else:
                self._together(step, self.kept.document(step))
        except (Failed, BadDocument) as error:
            if self.session.interrupt.signum:
                self.stopped = True
                return
            self.absent.update(dict.fromkeys(((step.part, side) for side in sides), str(error)))
            say(f"{step.part}{f' of the {step.side}' * bool(step.side)}: {error}")

    def _run(self, step: Step) -> None:
        """It is in the folder as soon as it is over. Raises Failed, OSError."""
        if step.side:
            self.kept.keep(step, self.session.measure(step))
        else:
            self.kept.keep_result(step, self.session.together(step))

    def _count(self, step: Step) -> None:
        run, where = self.kept.run(step), (step.part, step.side)
        if not step.longer:
            self.shorter[where] = run
            return
        if not (less := self.shorter.pop(where, None)):
            return
        if run.calls <= less.calls:
            raise Failed(f"{run.calls} calls where more than {less.calls} were asked for")
        self.pairs[where].append((less, run))
        self.slopes[where].append(slope(less, run))
        key = total(SAMPLED_NS if step.part == SAMPLES else step.part)
        self.supervision[where].append(slope(less, run, "supervision").get(key, 0.0))
        each = self.slopes[where][-1].get(key)
        if each is not None:
            say(f"{step.part} of the {step.side}, {step.repetition + 1} of {self.asked.repetitions}: {each:,.2f}")

    def _together(self, step: Step, document: Document) -> None:
        for side in self.asked.sides:
            found = [_direct(step.part, side, point) for point in document.points]
            found = [one for one in found if one]
            self.slopes[step.part, side] += found
            if not found:
                self.absent[step.part, side] = NOT_COUNTED[step.part]

    def folded(self) -> str:
        """The samples' stacks of all ends, as ns of a call; '' where there are none."""
        text = ""
        for side in self.asked.sides:
            pairs = self.pairs.get((SAMPLES, side), [])
            calls = sum(more.calls - less.calls for less, more in pairs)
            if calls:
                runs = ([less.stacks for less, _ in pairs], [more.stacks for _, more in pairs])
                text += stacks.folded(side, *runs, perf.EACH_NS / calls)
        return text

    def profile(self) -> Profile:
        """Makes the profile from the existing runs."""
        asked = self.asked
        made: list[Figure] = []
        for side in asked.sides:
            for part in asked.parts:
                if found := self.slopes.get((part, side)):
                    made += figures(side, found)
        context = self.kept.context()
        return Profile(
            cqbench_cost_profile=SCHEMA_VERSION,
            date=storage.now(),
            title=self._title(context),
            calls={p: asked.n(SYSCALLS if p == TIME else p) for p in asked.parts if p != TIME or asked.program},
            inflight=None if asked.program else asked.inflight,
            messages_per_call=context.get("stream_messages") if context.get("shape") != "bidi" else None,
            work=self._work(context),
            setting=self._setting(context),
            means=plan.means(asked),
            figures=made,
            absent=[
                Absent.model_validate({"side": s, "part": p, "reason": why}) for (p, s), why in self.absent.items()
            ],
            notes=self._notes(context),
            partial=self.stopped,
        )

    def _title(self, context: dict[str, Any]) -> str:
        if self.asked.program:
            return shlex.join(self.asked.words)[:150]
        if not context:
            return "nothing was counted"
        what = f"{context['workload']}/{context['method']}, client {context['api']}, {context['channel_policy']}"
        through = context.get("http_version") or f"gRPC {context['grpc_version']}"
        return f"{what}, {self.asked.inflight} in flight, {through}"

    def _work(self, context: dict[str, Any]) -> dict[str, str]:
        if self.asked.program:
            return {"program": self.asked.words[0].rpartition("/")[2]}
        found = {key: str(context[key]) for key in (*WORK, *WORK_OF_DATA) if context.get(key) is not None}
        return {**found, "inflight": str(self.asked.inflight)}

    def _setting(self, context: dict[str, Any]) -> dict[str, str]:
        found = {key: str(context[key]) for key in SETTING if context.get(key) is not None}
        found["client_flags" if not self.asked.program else "arguments"] = shlex.join(self.asked.words)
        if not self.asked.program:
            found |= {"server_flags": shlex.join(self.asked.server_flags), "build": self.asked.build}
        found["addresses"] = "fixed" if self.session.fixed else "random"
        if self.session.port:
            found["port"] = f"{self.session.port}"
        return found

    def _notes(self, context: dict[str, Any]) -> list[str]:
        notes = self.kept.notes()
        if context.get("shape") == "bidi":
            notes.append("a call is a message there and back on a stream that stays open")
        if SAMPLES in self.asked.parts and not perf.sees_kernel():
            notes.append("samples are of user mode only: /proc/sys/kernel/perf_event_paranoid hides the kernel's")
        if not self.session.fixed:
            notes.append(
                "addresses are random (setarch -R is refused here), so that hash tables differ from run to run"
            )
        for (part, side), values in self.supervision.items():
            if (most := max(values)) > 0:
                unit = UNITS[part]
                threads = "the library's timers" if side == PROGRAM else "its main thread and the library's timers"
                notes.append(
                    f"not in the profile of the {side}: {threads}, which follow the clock: up to {most:.3g} {unit} "
                    "per call while a tool slows it down"
                )
        if self.asked.inflight > 1 and INSTRUCTIONS in self.asked.parts:
            notes.append(
                "with several calls in flight, how many share a wake-up or a segment depends on how fast either end "
                "is; under a tool that is not as it is without"
            )
        return notes


def _direct(part: str, side: str, point: Measured) -> dict[Key, float]:
    """Returns the figures of one repetition; {} if it has none."""
    found = {}
    for key, name in PER_CALL[part].items():
        if (value := point.figures.get(f"{side}_{key}")) is not None:
            found[total(name)] = value
    for key, name in PER_WINDOW.items() if part == TIME else ():
        if (value := point.figures.get(f"{side}_{key}")) is not None and point.completed:
            found[total(name)] = value / point.completed
    return found


BOTH = (CLIENT, SERVER)
