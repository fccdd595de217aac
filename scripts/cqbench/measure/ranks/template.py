"""--launch: the words that a client's command is put behind, and how a shell on the other machine gets that command.

ssh and programs like it join their arguments with spaces, and a shell on the other machine parses that line. So the
command's words are quoted once if such a program is named, whatever stands before it (env, timeout, nice), and are not
quoted otherwise. {command} in the words decides it where their names do not.
"""

from __future__ import annotations

import re
import shlex
from collections.abc import Sequence

HOST = "{host}"
COMMAND = "{command}"  # the command as one word, quoted for a shell
THROUGH_A_SHELL = ("ssh", "slogin", "autossh", "rsh", "pdsh", "clush", "pssh", "parallel-ssh")
# As a word, or in one that is itself a command line (sh -c '...'), with or without a path; not as a variable's value.
NAMED = re.compile(rf"(?:^|(?<=[\s;&|(]))(?:[^\s;&|(=]*/)?(?:{'|'.join(THROUGH_A_SHELL)})(?=$|[\s;&|)])")


def why_not(template: str) -> str:
    """Why it cannot be used, for a message that has named it; '' when it can."""
    try:
        words = shlex.split(template)
    except ValueError as error:
        return f"is not a command line: {error}"
    named = _named(words)
    if len(named) < 2 or _says_where(words):
        return ""
    return (
        f"hands the client's command to {' and to '.join(named)}: how often it is to be quoted is not known; put "
        f"{COMMAND} where the command goes, which is quoted once (through a gateway: 'ssh -J GATEWAY {HOST}')"
    )


def filled(template: str, host: str, command: Sequence[str]) -> list[str]:
    """Returns the command that starts `command` on that host. template: one that why_not() accepts."""
    words = shlex.split(template)
    whole = shlex.join(command)
    found = [word.replace(HOST, host).replace(COMMAND, whole) for word in words]
    if _says_where(words):
        return found
    return [*found, *(map(shlex.quote, command) if _named(words) else command)]


def _says_where(words: Sequence[str]) -> bool:
    return any(COMMAND in word for word in words)


def _named(words: Sequence[str]) -> list[str]:
    """Programs that hand a command to a shell on another machine."""
    return [found[0].rpartition("/")[2] for word in words for found in NAMED.finditer(word)]
