"""The lines of C++ that apply a recommended setting, by the flags of our programs that measured it.

tests/scripts/test_verdict_cpp.py compiles nothing; it holds every name of gRPC in them against the headers.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence

from cqbench.model.scaling import CAP, VARIABLE, is_scaling

Lines = tuple[str, ...]
WIDTH = 74  # characters of a line, so that it fits a terminal with its indent

ARGUMENTS = "grpc::ChannelArguments args;"
CREATE = "auto channel = grpc::CreateCustomChannel(target, credentials, args);"
LOCAL_POOL = (ARGUMENTS, "args.SetInt(GRPC_ARG_USE_LOCAL_SUBCHANNEL_POOL, 1);")
API: Mapping[str, Lines] = {
    "sync": ("grpc::Status status = stub->Method(&context, request, &response);", "// in a thread for each call"),
    "cq": (
        "grpc::CompletionQueue queue;  // one thread in queue.Next(&tag, &ok)",
        "auto call = stub->AsyncMethod(&context, request, &queue);",
        "call->Finish(&response, &status, tag);",
        "// a stream: AsyncMethod(&context, &queue, tag), then Read(), Write()",
    ),
    "callback": (
        "stub->async()->Method(&context, &request, &response,",
        "                      [](grpc::Status status) {});",
        "// a stream: Method(&context, &reactor), a grpc::ClientBidiReactor",
    ),
}
SERVER_API: Mapping[str, Lines] = {
    "cq": ("class Server : public Service::AsyncService",),
    "callback": ("class Server : public Service::CallbackService",),
    "sync": ("class Server : public Service::Service",),
    "generic": ("class Server : public grpc::AsyncGenericService",),
}
COMPRESSION = {"gzip": "GRPC_COMPRESS_GZIP", "deflate": "GRPC_COMPRESS_DEFLATE", "none": "GRPC_COMPRESS_NONE"}


CHANNELS, SERVER_LIMITS = "src/channel/channel_pool.cc", "src/server/limits/listener.cc"
SOURCES: Mapping[str, str] = {
    "--api sync": "src/load/engines/sync_engine.cc",
    "--api cq": "src/load/engines/cq_unary.cc",
    "--api callback": "src/load/engines/callback_unary.cc",
}


def connections(way: str, policies: Sequence[str] = ()) -> Lines:
    """way: 'separate', 'pool:4', 'scaling:10'. policies: channel policies that were measured under that name."""
    size = way.rpartition(":")[2]
    if is_scaling(way):
        config = f'R"({{"connectionScaling": {{"maxConnectionsPerSubchannel": {size}}}}})"'
        return (
            f"setenv({quoted(VARIABLE)},",
            '       "true", 1);  // before gRPC starts',
            ARGUMENTS,
            f"args.SetInt({quoted(CAP)}, {size});",
            "args.SetServiceConfigJSON(",
            f"    {config});",
            CREATE,
        )
    if way.startswith("pool:"):
        many = f"// {size} such channels, each call on the next: channels[n++ % {size}]"
        return (*LOCAL_POOL, CREATE, many)
    many = "// one such channel for each call in flight"
    if "distinct-args" in policies and "local-pool" not in policies:
        return (ARGUMENTS, 'args.SetInt("my.channel", number);  // another number for each channel', CREATE, many)
    return (*LOCAL_POOL, CREATE, many)


def stream_limit(most: int) -> Lines:
    """most: concurrent streams that the server is to allow on a connection."""
    return (f"builder.AddChannelArgument(GRPC_ARG_MAX_CONCURRENT_STREAMS, {most});",)


def source(flags: str) -> str:
    """Where cqbench does what these flags of the client ask for; '' where no one place does."""
    return SOURCES.get(flags.replace("=", " ", 1), "")


def of_flags(flags: str) -> Lines:
    """Returns the C++ for flags of one end, '--api cq' or 'server: --num-cqs 2'; empty where a flag has none."""
    end, _, rest = flags.rpartition(": ")
    given = re.fullmatch(r"--([a-z-]+)[= ] *(\S+|'[^']*')", rest)
    if end not in ("", "server") or not given:
        return ()
    made = (SERVER if end else CLIENT).get(given[1])
    return made(given[2].strip("'")) if made else ()


def _channel_policy(value: str) -> Lines:
    if value in ("shared", "per-slot"):
        return ()
    return connections(value if value.startswith("pool:") else "separate", (value,))


def _argument(receiver: str) -> Callable[[str], Lines]:
    def made(text: str) -> Lines:
        key, _, value = text.partition("=")
        shown = value if re.fullmatch(r"-?\d{1,10}", value) else quoted(value)
        return (receiver.format(quoted(key), shown, "Int" if shown == value else "String"),) if value else ()

    return made


def _compression(receiver: str) -> Callable[[str], Lines]:
    return lambda value: (receiver.format(COMPRESSION[value]),) if value in COMPRESSION else ()


def _times(text: str) -> Callable[[str], Lines]:
    return lambda value: (text.format(value),) if value.isdigit() else ()


CLIENT: Mapping[str, Callable[[str], Lines]] = {
    "api": lambda value: API.get(value, ()),
    "channel-policy": _channel_policy,
    "channel-arg": _argument("args.Set{2}({0}, {1});"),
    "compression": _compression("args.SetCompressionAlgorithm({});"),
}
SERVER: Mapping[str, Callable[[str], Lines]] = {
    "api": lambda value: SERVER_API.get(value, ()),
    "num-cqs": _times("auto queue = builder.AddCompletionQueue();  // {} times"),
    "workers-per-cq": _times("// {} threads in queue->Next(&tag, &ok) for each queue"),
    "max-concurrent-streams": lambda value: stream_limit(int(value)) if value.isdigit() else (),
    "channel-arg": _argument("builder.AddChannelArgument({0}, {1});"),
    "compression": _compression("builder.SetDefaultCompressionAlgorithm({});"),
}


def quoted(text: str) -> str:
    """A C++ string literal: what a file says is text, whatever is in it."""
    return '"' + text.replace("\\", "\\\\").replace('"', '\\"') + '"'
