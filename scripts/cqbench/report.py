"""scripts/report.sh: results -> report.html, a page to look at and to send to somebody.

Exit status: 0; 1 something could not be written; 2 usage or unreadable results.
"""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

from cqbench import report_data, report_hgrm, report_page, results
from cqbench.documents import BadDocument, one_line
from cqbench.options import Parser
from cqbench.report_model import Report

PROGRAM = "report.sh"
NAME = "report.html"


def write(folder: Path) -> Path:
    """Makes the report of a folder of results in it, with hgrm/ beside it. The page. Raises BadDocument, OSError."""
    made = report_data.make_all([folder])
    return write_made(made, folder / NAME)


def write_made(made: report_data.Made, page: Path) -> Path:
    """The page comes last: where it is new, so is what is beside it. Raises OSError."""
    text = report_page.render(made.report)
    report_hgrm.write(page.parent, made.hgrm)
    results.write(page, text)
    return page


def write_figures(report: Report, folder: Path) -> None:
    """--figures. Raises OSError."""
    from cqbench import report_figures  # loads a renderer of some size that nothing else needs

    folder.mkdir(parents=True, exist_ok=True)
    written = report_figures.write(report, folder)
    say(f"figures: {len(written)} files in {folder}")


def say(text: str) -> None:
    """To people; standard output carries the page's path only."""
    print(f"== {text}", file=sys.stderr, flush=True)


def page_path(text: str) -> Path:
    """An argparse type. The ending keeps it from replacing a result."""
    path = Path(text)
    if path.suffix.lower() not in (".html", ".htm") or path.is_dir() or not path.parent.is_dir():
        raise argparse.ArgumentTypeError(f"'{text}' is not the name of an .html file in a folder that exists")
    return path


def parse_arguments(arguments: list[str]) -> argparse.Namespace:
    """Exits with status 2 on bad ones."""
    parser = Parser(PROGRAM)
    parser.add_argument("--output", type=page_path)
    parser.add_argument("--figures", type=Path)
    parser.add_argument("results", nargs="+", type=Path, metavar="RESULTS")
    options = parser.parse_args(arguments)
    if options.figures and options.figures.exists() and not options.figures.is_dir():
        parser.error(f"argument --figures: '{options.figures}' is not a folder")
    if not options.output:
        if len(options.results) > 1 or options.results[0].is_file():
            parser.error(f"argument --output: FILE.html is needed where RESULTS is not one folder, which gets {NAME}")
        options.output = options.results[0] / NAME
    return options


def main(arguments: list[str]) -> int:
    """The exit status."""
    options = parse_arguments(arguments)
    try:
        made = report_data.make_all(options.results)
        page = write_made(made, options.output)
        if options.figures:
            write_figures(made.report, options.figures)
    except BadDocument as error:
        print(f"{PROGRAM}: {error}", file=sys.stderr)
        return 2
    except OSError as error:
        where = f"{one_line(str(error.filename))}: " if error.filename else ""
        print(f"{PROGRAM}: {where}{error.strerror or error}", file=sys.stderr)
        return 1
    if made.hgrm:
        say(f"latency distributions: {len(made.hgrm)} files in {page.parent / report_hgrm.FOLDER}")
    if made.report.partial:
        say(f"partial: {made.report.partial}")
    print(page)
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
