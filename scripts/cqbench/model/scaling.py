"""gRPC's own answer to a full connection (gRFC A105): a channel that opens a further one when all it has are at the
server's limit of concurrent streams. Which runs ask for it, and what of their settings does nothing else.
"""

from __future__ import annotations

import json
from typing import Any

SCALING = "scaling"
VARIABLE = "GRPC_EXPERIMENTAL_MAX_CONCURRENT_STREAMS_CONNECTION_SCALING"  # gRPC 1.83 asks for it
CAP = "grpc.max_connections_per_subchannel_cap"
DEFAULT_CAP = 10  # gRPC's
CONFIG, MOST = "connectionScaling", "maxConnectionsPerSubchannel"
MAX_DIGITS = 10


def most_connections(context: dict[str, Any]) -> int | None:
    """Returns the maximum connections of a channel; None if it is not allowed to grow. The points have the real
    number.
    """
    config = _config(context).get(CONFIG)
    asked = _number(config.get(MOST)) if isinstance(config, dict) else None
    cap = _number((context.get("channel_args") or {}).get(CAP))
    most = None if asked is None else min(asked, DEFAULT_CAP if cap is None else cap)
    return most if most is not None and most > 1 else None


def without(context: dict[str, Any]) -> dict[str, Any]:
    """The context of a run that scales, without what asks for it."""
    config = {key: value for key, value in _config(context).items() if key != CONFIG}
    arguments = {key: value for key, value in (context.get("channel_args") or {}).items() if key != CAP}
    return {**context, "channel_args": arguments, "service_config": json.dumps(config) if config else ""}


def is_scaling(policy: str) -> bool:
    """policy: of a series."""
    return policy.partition(":")[0] == SCALING


def _config(context: dict[str, Any]) -> dict[str, Any]:
    """Empty when there is none, or none that can be read."""
    try:
        config = json.loads(context.get("service_config") or "{}")
    except (TypeError, ValueError, RecursionError):
        return {}
    return config if isinstance(config, dict) else {}


def _number(value: Any) -> int | None:
    """JSON has it as a number or, as for protocol buffers, in quotes."""
    if isinstance(value, int) and not isinstance(value, bool):
        return value
    if isinstance(value, str) and len(value) <= MAX_DIGITS and value.isascii() and value.isdigit():
        return int(value)
    return None
