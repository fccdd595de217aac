"""The file server compared with ours."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from cqbench.run.peers import files
from cqbench.run.peers.adapters import BadOutput
from cqbench.run.peers.session import cpu_seconds

H2LOAD = """\
finished in 1.25s, 32.00 req/s, 512.30MB/s
requests: 40 total, 40 started, 40 done, 40 succeeded, 0 failed, 0 errored, 0 timeout
status codes: 40 2xx, 0 3xx, 0 4xx, 0 5xx
traffic: 641.37MB (672526380) total, 2.46KB (2520) headers (space savings 94.27%), 640.00MB (671088640) data
"""


def test_h2load_has_to_bring_whole_blobs() -> None:
    assert files.parse_h2load(H2LOAD, 40) == 1.25
    assert files.parse_h2load(H2LOAD.replace("1.25s", "900.5ms"), 40) == pytest.approx(0.9005)
    for old, new in (("40 2xx", "39 2xx"), ("671088640", "671088639"), ("finished", "began")):
        with pytest.raises(BadOutput, match="h2load"):
            files.parse_h2load(H2LOAD.replace(old, new), 40)


def test_ratios_of_the_servers_are_to_the_first() -> None:
    figures = {"file:nginx/rate": 10.0, "file:nginx/cost": 0.05, "file:bytes/rate": 8.0, "file:bytes/cost": 0.1}
    shown = [m for m in files.measurements() if m.key in ("file:nginx", "file:bytes", "file:fresh")]
    nginx, fresh, ours = files.render([figures] * 6, shown).splitlines()[1:4]
    assert "10.00" in nginx and "(" not in nginx
    assert fresh.split()[-4:] == ["-", "-", "-", "0"]
    assert "2.00 (2.00-2.00)" in ours


def test_nginx_keeps_to_its_folder() -> None:
    config = files.nginx_config(Path("/some/where"), 1234)
    assert "listen 127.0.0.1:1234 http2;" in config and "pid /some/where/pid;" in config
    assert config.count("_temp_path /some/where/") == 5


def test_the_cpu_time_of_this_process_is_some() -> None:
    assert cpu_seconds(os.getpid()) > 0
