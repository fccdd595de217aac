"""The one command: `cqbench COMMAND ...`. Each command has a module, which is loaded when it is called.

Bad usage is one line on stderr that names the flag, the value and what is accepted, and exit status 2.
"""

from __future__ import annotations

import importlib
import signal
import sys
from collections.abc import Sequence

import click

from cqbench.formats.text import one_line

PROGRAM = "cqbench"
# Name -> what it is for. The module has the command's name, and the click command in it is `command`.
COMMANDS = {
    "run": "Run an experiment: configurations of client and server, repeated, in random order; then the verdict.",
    "verdict": "What holds this machine back, and what to set instead, from results with repetitions.",
    "check": "May these results be believed? Complete, unchanged, consistent, measured soundly.",
    "report": "One page to look at and to send to somebody.",
    "compare": "Is B faster or slower than A, point by point, beyond noise?",
    "tune": "What is worth setting here: every setting tried on a workload, those whose gain is real ranked.",
    "cost": "What one call costs: system calls, allocations, instructions by library and function.",
    "merge": "One result of the files of several client processes that measured together.",
    "soak": "Everything in random order for hours: does anything grow?",
    "peers": "Our client against h2load, ghz and sockperf on the same server.",
}


class Commands(click.Group):
    """Loads a command's module only when it is called: --help answers at once."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        return list(COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        return load(cmd_name) if cmd_name in COMMANDS else None

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        with formatter.section("Commands"):
            formatter.write_dl(list(COMMANDS.items()))


def load(name: str) -> click.Command:
    """One of COMMANDS."""
    command: click.Command = importlib.import_module(f"{PROGRAM}.cli.{name}").command
    return command


@click.group(cls=Commands, context_settings={"help_option_names": ["-h", "--help"]})
def group() -> None:
    """Experiments with the gRPC benchmark programs, and analysis of their results.

    The scripts next to the package install what is missing and build first; then they call this command.
    """


def main(arguments: Sequence[str] | None = None) -> int:
    """The exit status. Without arguments as a program of its own: those of the command line."""
    if arguments is None:
        # Until there is something to keep, a Ctrl-C ends it without a word, even while modules are loaded.
        signal.signal(signal.SIGINT, signal.SIG_DFL)
    return invoke(group, PROGRAM, sys.argv[1:] if arguments is None else arguments)


def invoke(command: click.Command, name: str, arguments: Sequence[str]) -> int:
    """The exit status: the command's own, 2 for bad usage, 1 where the system refuses, 130 after Ctrl-C."""
    try:
        return command.main(list(arguments), prog_name=name, standalone_mode=False) or 0
    except click.UsageError as error:
        path = error.ctx.command_path if error.ctx else name
        say(path, f"{_words(error)} (see {path} --help)")
        return 2
    except click.ClickException as error:
        say(_path(name, arguments), error.message)
        return error.exit_code
    except click.Abort:
        return 128 + signal.SIGINT
    except BrokenPipeError:
        sys.stderr.close()  # Python would complain about the same pipe once more
        return 128 + signal.SIGPIPE
    except OSError as error:
        where = f"{one_line(str(error.filename))}: " if error.filename else ""
        say(_path(name, arguments), f"{where}{error.strerror or error}")
        return 1


def _path(name: str, arguments: Sequence[str]) -> str:
    """As people typed it: 'cqbench verdict'."""
    return f"{name} {arguments[0]}" if name == PROGRAM and arguments and arguments[0] in COMMANDS else name


def _words(error: click.UsageError) -> str:
    """In one line; of a bad value with the flag as it is typed."""
    if isinstance(error, click.BadParameter) and not isinstance(error, click.MissingParameter) and error.param:
        named = isinstance(error.param, click.Option)
        flag = max(error.param.opts, key=len) if named else error.param.human_readable_name
        return f"argument {flag}: {error.message}"
    return " ".join(error.format_message().split())


def say(name: str, text: str) -> None:
    """A line for each of the text."""
    for line in text.splitlines():
        print(f"{name}: {line}", file=sys.stderr)
