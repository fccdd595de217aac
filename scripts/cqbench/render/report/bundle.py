"""The scripts that draw a report's plots: Vega, Vega-Lite and Vega-Embed as one text.

Making the text takes more than a second of CPU, so it is kept in the user's cache, in a file for each version.
"""

from __future__ import annotations

import contextlib
import os
from functools import lru_cache
from importlib.metadata import version
from pathlib import Path

import vl_convert

from cqbench.formats import storage

SNIPPET = "window.vegaEmbed = vegaEmbed;"


def _file() -> Path:
    cache = os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache"
    return Path(cache) / "cqbench" / f"vega-{version('vl-convert-python')}.js"


@lru_cache(maxsize=1)
def scripts() -> str:
    with contextlib.suppress(OSError, RuntimeError, ValueError):  # RuntimeError: there is no home
        return _file().read_text(encoding="utf-8")
    text = vl_convert.javascript_bundle(SNIPPET)
    with contextlib.suppress(OSError, RuntimeError):
        file = _file()
        file.parent.mkdir(parents=True, exist_ok=True)
        storage.write(file, text)
    return text
