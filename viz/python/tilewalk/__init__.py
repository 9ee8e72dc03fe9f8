"""Walk through attention tile by tile and see where every byte goes.

    >>> import tilewalk
    >>> run = tilewalk.sim(N=4096, gpu="h200", algorithm="standard,fa2")
    >>> run["runs"][1]["traffic"]["read_bytes"]

There is a function for each command of the program, and its options are keywords: ``seq_len_k=8192`` is
``--seq-len-k 8192``, ``causal=True`` is ``--causal``, and a list stands for words with commas between. A word that Python
keeps for itself ends in ``_``: ``from_=1024``. ``help(tilewalk.sim)`` shows them, with shapes and units. A function
returns an :class:`Answer`: a mapping with the keys of the program's JSON, which shows itself in a notebook.
:func:`table` returns the rows of a command as a :class:`Table`, for pandas. What is wrong with a question is an
:class:`Error`, in one line.

``kernel(ptx, grid, block, args)`` runs anybody's kernel, from its PTX (Triton's ``compiled.asm["ptx"]``) or a .cu file.
``render(...)`` is a scene, ``chart("sweep", ...)`` a chart. ``%load_ext tilewalk`` adds the cell magic ``%%walk``, which
judges a program. ``table("sweep", ..., executor=client)`` deals a command out to a cluster.
"""

from __future__ import annotations

import base64
import csv
import html
import inspect
import io
import json
import os
import re
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Protocol

from . import _library

_CHARTS = ("sweep", "roofline")

__version__ = _library.version()
__all__ = ["Answer", "Error", "Picture", "Table", "ask", "chart", "embed", "table", *_library.commands()]

if TYPE_CHECKING:  # they are made below, of the commands that the library has

    class _Command(Protocol):
        def __call__(self, *places: Any, **options: Any) -> Answer: ...

    advise: _Command
    algorithms: _Command
    check: _Command
    crosscheck: _Command
    eligible: _Command
    gpus: _Command
    kernels: _Command
    kvcache: _Command
    ranks: _Command
    replay: _Command
    roofline: _Command
    serve: _Command
    sim: _Command
    softmax: _Command
    sweep: _Command
    tour: _Command
    trace: _Command
    warp: _Command


class Error(ValueError):
    """A question that was refused: one line with what is wrong, why, and what would be right."""


class Answer(Mapping):
    """The document that a command answers with: a mapping, in the order in which the program prints it."""

    def __init__(self, words: Sequence[str], document: Mapping[str, Any], holds: bool, remarks: str, text: str = ""):
        self._words, self._document, self._text = list(words), document, text
        self.holds = holds  #: False where a comparison that was asked for did not hold
        self.remarks = remarks  #: what the command remarks beside its answer, "" for nothing

    def __getitem__(self, key: str) -> Any:
        return self._document[key]

    def __iter__(self) -> Iterator[str]:
        return iter(self._document)

    def __len__(self) -> int:
        return len(self._document)

    def __str__(self) -> str:
        return self._text or _asked([*self._words, "--text"])[1].decode()

    def __repr__(self) -> str:
        return f"<tilewalk {' '.join(self._words)}: {', '.join(self._document)}>"

    def _repr_html_(self) -> str:
        if self._words[0] in _CHARTS:  # the same lines, drawn
            return Picture(self._words)._repr_html_() + self.table()._repr_html_()
        return f'<pre style="line-height:1.2">{html.escape(str(self))}</pre>'

    def table(self) -> Table:
        """The rows of the command's CSV. Raises Error where the command has none."""
        return Table(_csv(self._words))

    def rows(self) -> list[dict[str, str]]:
        """They, as texts."""
        return self.table().rows()

    def frame(self):
        """They, as a pandas DataFrame."""
        return self.table().frame()


class Table:
    """Rows of a command: ``csv`` is what the program prints with --csv, to the byte; bytes and seconds are numbers."""

    SHOWN = 20  #: rows that a notebook shows, the first

    def __init__(self, text: str):
        self.csv = text

    def rows(self) -> list[dict[str, str]]:
        return list(csv.DictReader(io.StringIO(self.csv)))

    def frame(self):
        """As a pandas DataFrame."""
        import pandas

        return pandas.read_csv(io.StringIO(self.csv))

    def __len__(self) -> int:
        return sum(1 for _ in csv.reader(io.StringIO(self.csv))) - 1

    def __repr__(self) -> str:
        return f"<{len(self)} rows: {self.csv.splitlines()[0]}>"

    def _repr_html_(self) -> str:
        rows = list(csv.reader(io.StringIO(self.csv)))
        text = "".join(
            "<tr>" + "".join(f"<{cell}>{html.escape(word)}</{cell}>" for word in row) + "</tr>"
            for cell, part in (("th", rows[:1]), ("td", rows[1 : 1 + self.SHOWN]))
            for row in part
        )
        more = f"<p>{len(rows) - 1:,} rows</p>" if len(rows) - 1 > self.SHOWN else ""
        return f"<table>{text}</table>{more}"


class Picture:
    """A scene or a chart: ``svg`` is its text, ``png()`` its pixels; a notebook shows it."""

    def __init__(self, words: Sequence[str]):
        if any(word == "-o" or word.startswith("--output") for word in words):
            raise Error("leave out output=; a picture is written by its save(): render(...).save('x.png')")
        self._words = list(words)
        self.svg: str = _asked([*words, "-o", "-.svg"])[1].decode()

    def _repr_svg_(self) -> str:
        return self.svg[self.svg.index("<svg") :]  # a declaration has no place within a page

    def _repr_html_(self) -> str:  # as a file of its own: what shows notebooks to others strips inline drawings
        data = base64.b64encode(self.svg.encode()).decode()
        return f'<img style="max-width:100%" src="data:image/svg+xml;base64,{data}">'

    def png(self) -> bytes:
        return _asked([*self._words, "-o", "-.png"])[1]

    def save(self, path: str | os.PathLike) -> None:
        """Writes an .svg or a .png."""
        name = os.fspath(path)
        if not name.endswith((".svg", ".png")):
            raise Error(f"a picture is saved as .svg or .png, not as {os.path.basename(name)!r}")
        with open(name, "wb") as file:
            file.write(self.png() if name.endswith(".png") else self.svg.encode())


def _asked(words: Sequence[str]) -> tuple[int, bytes, str]:
    status, text, error = _library.ask(words)
    if status == 2:
        raise Error(error)
    return status, text, error


def _value(value: Any) -> str:
    if isinstance(value, (list, tuple)):
        return ",".join(_value(v) for v in value)
    return os.fspath(value) if isinstance(value, os.PathLike) else str(value)


def _words(command: str, places: Sequence[Any], options: Mapping[str, Any]) -> list[str]:
    words = [command]
    for name, value in options.items():
        name = name.rstrip("_")
        option = f"-{name}" if len(name) == 1 else "--" + name.replace("_", "-")
        if value is None or value is False:
            continue
        if value is True and len(name) == 1:
            raise TypeError(f"{name}=True: {name} takes a value")
        if option == "--args":  # one a parameter of a kernel, each with commas of its own
            words += [f"--arg={arg}" for arg in value]
        elif value is True:
            words.append(option)
        elif len(name) == 1:
            words += [option, _value(value)]
        else:
            words.append(f"{option}={_value(value)}")
    places = [_value(place) for place in places]
    return words + (["--", *places] if any(place.startswith("-") for place in places) else places)


def ask(*words: str) -> Answer | str:
    """Asks with the words that one would type behind ``tilewalk``: ``ask("sim", "-N", "4096")``. An Answer where the
    command answers in JSON, else its text."""
    status, text, remarks = _asked(words)
    if not text.lstrip().startswith(b"{"):
        return text.decode()
    return Answer(words, json.loads(text), status == 0, remarks)


def _signature(text: str) -> inspect.Signature:
    """The options in a command's help as keywords, which completion then offers."""
    found = re.findall(r"^  (?:-(\w)(?:, )?)? *(?:--([\w-]+))?", text, re.MULTILINE)
    names = dict.fromkeys((name or letter).replace("-", "_") for letter, name in found if name or letter)
    words = [name + "_" if name in ("from", "lambda") else name for name in names if name.isidentifier()]
    keyword, every = inspect.Parameter.KEYWORD_ONLY, inspect.Parameter.VAR_POSITIONAL
    return inspect.Signature(
        [inspect.Parameter("places", every), *(inspect.Parameter(word, keyword, default=None) for word in words)]
    )


def _function(command: str):
    def function(*places: Any, **options: Any) -> Answer | str:
        return ask(*_words(command, places, options))

    function.__name__ = function.__qualname__ = command
    function.__doc__ = _asked([command, "--help=all"])[1].decode()
    function.__signature__ = _signature(function.__doc__)
    return function


for _command in _library.commands():
    if _command not in ("render", "kernel"):
        globals()[_command] = _function(_command)


def chart(command: str, **options: Any) -> Picture:
    """The chart of "sweep" or "roofline", or the picture of "kernel": ``chart("sweep", over="N", gpu="h200")``."""
    return Picture(_words(command, (), options))


def render(**options: Any) -> Picture:
    """A scene at a step: ``render(scene="hierarchy", step=100, N=64, d=16, block=8, causal=True)``."""
    return Picture(_words("render", (), options))


class _Embed:
    def __init__(self, text: str):
        self._text = text

    def _repr_html_(self) -> str:
        return self._text


def embed(page: str, *, width: int = 900, height: int = 560, **state: Any) -> _Embed:
    """The viewer, to be played in a notebook: ``embed("http://localhost:8000/embed.html", N=64, d=16, causal=True)``.
    ``page``: where embed.html of the web pages lies; `make web-serve` says. ``state``: as ``render`` takes it."""
    words = "&".join(
        f"{name.rstrip('_').replace('_', '-')}={int(v) if isinstance(v, bool) else _value(v)}" for name, v in state.items()
    )
    address = html.escape(f"{page}#{words}")
    return _Embed(f'<iframe src="{address}" width="{width}" height="{height}" title="Attention, tile by tile"></iframe>')


def kernel(source: str | os.PathLike, *, grid: Any = None, block: Any = None, args: Sequence[str] = (), **options: Any):
    """Runs a kernel and counts its bytes. ``source``: PTX or CUDA as text, or the path of a .ptx or .cu file. ``grid``, ``block``:
    numbers or up to three of them. ``args``: one text a parameter, as ``--arg`` takes them ("f32[65536]:normal:1",
    "i32:256"). A Triton kernel's text is ``compiled.asm["ptx"]``."""
    name, text = os.fspath(source), None
    if "\n" in name:
        text, name = name, None
    options = {"grid": grid, "block": block, "args": args, **options}
    with tempfile.TemporaryDirectory() as folder:
        if text is not None:
            name = os.path.join(folder, "kernel.cu" if "__global__" in text else "kernel.ptx")
            with open(name, "w", encoding="utf-8") as file:
                file.write(text)
        words = [*_words("kernel", (), options), name]
        status, answer, remarks = _asked(words)
        return Answer(words, json.loads(answer), status == 0, remarks, _asked([*words, "--text"])[1].decode())


def _csv(words: Sequence[str]) -> str:
    return _asked([words[0], "--csv", *words[1:]])[1].decode()


def _sum(parts: Sequence[str]) -> str:
    """Counts of lines, added up; the rows of all parts are the same lines, and their last column is the source."""
    tables = [list(csv.reader(io.StringIO(part))) for part in parts]
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\n")
    writer.writerow(tables[0][0])
    for same in zip(*(table[1:] for table in tables)):
        counts = [sum(map(int, column)) for column in zip(*(row[1:-1] for row in same))]
        writer.writerow([same[0][0], *counts, same[0][-1]])
    return out.getvalue()


def table(command: str, *places: Any, executor: Any = None, shards: int = 8, **options: Any) -> Table:
    """The rows of a command: ``table("sweep", over="N", from_=64, step=1, to=100_063, gpu="h200")``.

    With an ``executor`` (a Dask client, one of concurrent.futures, anything with ``submit``) a sweep, a crosscheck or a
    kernel is dealt out in ``shards``; the parts put together are the rows of one run, to the byte. What one core does in
    a second is not faster so: a sweep of 100,000 points takes three."""
    words = _words(command, (), options)
    places = _words(command, places, {})[1:]
    if executor is None:
        return Table(_csv([*words, *(["--shard=1/1"] if command == "kernel" else []), *places]))
    futures = [executor.submit(_csv, [*words, f"--shard={k + 1}/{shards}", *places]) for k in range(shards)]
    parts = [future.result() for future in futures]
    return Table(_sum(parts) if command == "kernel" else "".join(parts))


def load_ipython_extension(ipython: Any) -> None:
    """``%load_ext tilewalk``: a cell that begins with ``%%walk`` is a program; it is judged, and seen. What follows on the
    line are options of ``tilewalk list algorithms``."""
    from IPython.display import display

    def walk(line: str, cell: str) -> None:
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "cell.walk")
            with open(path, "w", encoding="utf-8") as file:
                file.write(cell)
            try:
                print(_asked(["algorithms", path, *line.split(), "--text"])[1].decode())
                display(Picture(["render", f"--algorithm={path}", "--step=100"]))
            except Error as error:
                print(error)

    ipython.register_magic_function(walk, magic_kind="cell")
