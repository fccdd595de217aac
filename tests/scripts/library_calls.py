"""Requests to the library over HTTP, and what every server of it has to answer."""

from __future__ import annotations

import http.client
import json
import subprocess
from dataclasses import dataclass
from datetime import datetime, timedelta, timezone
from typing import Any

from tools import need

AUTHORS = ("F. Scott Fitzgerald", "Mary Shelley", "Herman Melville", "Charlotte Bronte")
TITLES = ("The Great Gatsby", "Frankenstein", "Moby Dick", "Jane Eyre", "The Last Man")
FIRST_DAY = datetime.fromtimestamp(1_000_000_000, tz=timezone.utc)
NOT_FOUND, INVALID, EXISTS, UNIMPLEMENTED = 5, 3, 6, 12


def book(number: int, shelf: int = 1, **changed: Any) -> dict[str, Any]:
    published = FIRST_DAY + timedelta(days=number)
    return {
        "name": f"shelves/{shelf}/books/{number}",
        "author": AUTHORS[number % 4],
        "title": TITLES[number % 5],
        "read": True,
        "pageCount": 100 + number % 900,
        "publishTime": published.strftime("%Y-%m-%dT%H:%M:%SZ"),
        "subjects": ["fiction", "classics"],
        **changed,
    }


@dataclass(frozen=True)
class Call:
    """want: the answer's JSON; of an error its code alone, as its words are the server's own."""

    name: str
    method: str
    path: str
    body: dict[str, Any] | None = None
    want: Any = None
    code: int = 0
    status: int = 200


# Every route.
RIGHT = (
    Call("get", "GET", "shelves/1/books/1", want=book(1)),
    Call("get the last", "GET", "shelves/100/books/1000000", want=book(1_000_000, 100)),
    Call("list", "GET", "shelves/2/books?page_size=2", want={"books": [book(1, 2), book(2, 2)], "nextPageToken": "2"}),
    Call(
        "list more",
        "GET",
        "shelves/2/books?pageSize=1&page_token=2",
        want={"books": [book(3, 2)], "nextPageToken": "3"},
    ),
    Call(
        "create",
        "POST",
        "shelves/3/books?book_id=mine",
        {**book(7), "name": ""},
        want=book(7, name="shelves/3/books/mine"),
    ),
    Call("update", "PATCH", "shelves/1/books/1?update_mask=title", {"title": "X"}, want=book(1, title="X")),
    Call(
        "update what is given",
        "PATCH",
        "shelves/1/books/2",
        {"pageCount": 3, "subjects": ["a"]},
        want=book(2, pageCount=3, subjects=["a"]),
    ),
    Call("delete", "DELETE", "shelves/1/books/1", want={}),
)
WRONG = (
    Call("no such book", "GET", "shelves/1/books/0", code=NOT_FOUND, status=404),
    Call("no such shelf", "GET", "shelves/101/books", code=NOT_FOUND, status=404),
    Call("nothing to delete", "DELETE", "shelves/1/books/x", code=NOT_FOUND, status=404),
    Call("a page of -1", "GET", "shelves/1/books?page_size=-1", code=INVALID, status=400),
    Call("not a number", "GET", "shelves/1/books?page_size=x", code=INVALID, status=400),
    Call("a mask of nothing", "PATCH", "shelves/1/books/1?update_mask=isbn", {"title": "X"}, code=INVALID, status=400),
    Call("there already", "POST", "shelves/1/books?book_id=5", {"title": "X"}, code=EXISTS, status=409),
    Call("no such route", "GET", "nothing", code=NOT_FOUND, status=404),
)


def http1(address: str, call: Call) -> tuple[int, str]:
    """Status and body."""
    connection = http.client.HTTPConnection(address, timeout=10)
    try:
        body = None if call.body is None else json.dumps(call.body)
        connection.request(call.method, f"/v1/{call.path}", body, {"Content-Type": "application/json"})
        response = connection.getresponse()
        return response.status, response.read().decode()
    finally:
        connection.close()


def h2c(address: str, call: Call) -> tuple[int, str]:
    """The same by curl, which begins with HTTP/2."""
    curl = need("curl")
    body = [] if call.body is None else ["--data-binary", json.dumps(call.body)]
    asked = ["--request", call.method, "--header", "Content-Type: application/json", *body]
    told = ["--silent", "--show-error", "--max-time", "10", "--write-out", "\n%{http_version} %{http_code}"]
    done = subprocess.run(
        [curl, "--http2-prior-knowledge", *told, *asked, f"http://{address}/v1/{call.path}"],
        capture_output=True,
        text=True,
        timeout=20,
        check=True,
    )
    answer, _, said = done.stdout.rpartition("\n")
    version, status = said.split()
    assert version == "2", said
    return int(status), answer
