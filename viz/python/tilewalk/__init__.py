"""Walk through attention tile by tile and see where every byte goes.

    >>> import tilewalk
    >>> run = tilewalk.sim(N=4096, gpu="h200", algorithm="standard,fa2")
    >>> run["runs"][1]["traffic"]["read_bytes"]

There is a function for each command of the program, and its options are keywords: ``seq_len_k=8192`` is
``--seq-len-k 8192``, ``causal=True`` is ``--causal``, and a list stands for words with commas between. ``help(tilewalk.sim)``
shows them. A function returns an :class:`Answer`: a mapping with the keys of the program's JSON, which shows itself as a
table in a notebook; ``answer.frame()`` is the table as a pandas DataFrame, ``answer.rows()`` as a list of dicts. What is
wrong with a question is a :class:`Error`, in one line.

``kernel(ptx, grid, block, args)`` runs anybody's kernel, from its PTX (Triton's ``compiled.asm["ptx"]``) or a .cu file.
``render(...)`` is a scene. ``%load_ext tilewalk`` adds the cell magic ``%%walk``, which judges a program.
"""

from __future__ import annotations

import csv
import html
import io
import json
import os
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from . import _library

__version__ = _library.version()
__all__ = ["Answer", "Error", "Picture", "ask", "kernel", "render", "sweep", *_library.commands()]


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
        return f'<pre style="line-height:1.2">{html.escape(str(self))}</pre>'

    def rows(self) -> list[dict[str, str]]:
        """The rows of the command's CSV, as texts. Raises Error where the command has none."""
        text = _asked([*self._words, "--csv"])[1].decode()
        return list(csv.DictReader(io.StringIO(text)))

    def frame(self):
        """The command's CSV as a pandas DataFrame."""
        import pandas

        return pandas.read_csv(io.StringIO(_asked([*self._words, "--csv"])[1].decode()))


class Picture:
    """A scene: ``svg`` is its text, ``png()`` its pixels; a notebook shows it."""

    def __init__(self, words: Sequence[str]):
        self._words = list(words)
        self.svg: str = _asked([*words, "-o", "-.svg"])[1].decode()

    def _repr_svg_(self) -> str:
        return self.svg

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
        option = f"-{name}" if len(name) == 1 else "--" + name.replace("_", "-")
        if value is None or value is False:
            continue
        if value is True:
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


def _function(command: str):
    def function(*places: Any, **options: Any) -> Answer | str:
        return ask(*_words(command, places, options))

    function.__name__ = function.__qualname__ = command
    function.__doc__ = _asked([command, "-h"])[1].decode()
    return function


for _command in _library.commands():
    if _command not in ("render", "kernel", "sweep"):
        globals()[_command] = _function(_command)


def render(**options: Any) -> Picture:
    """A scene at a step: ``render(scene="hierarchy", step=100, N=64, d=16, block=8, causal=True)``."""
    return Picture(_words("render", (), options))


def kernel(source: str | os.PathLike, *, grid: Any = None, block: Any = None, args: Sequence[str] = (), **options: Any):
    """Runs a kernel and counts its bytes. ``source``: PTX as text, or the path of a .ptx or .cu file. ``grid``, ``block``:
    numbers or up to three of them. ``args``: one text a parameter, as ``--arg`` takes them ("f32[65536]:normal:1",
    "i32:256"). A Triton kernel's text is ``compiled.asm["ptx"]``."""
    name, text = os.fspath(source), None
    if "\n" in name:
        text, name = name, None
    words = [f"--arg={arg}" for arg in args]
    options = {"grid": grid, "block": block, **options}
    with tempfile.TemporaryDirectory() as folder:
        if text is not None:
            name = os.path.join(folder, "kernel.ptx")
            with open(name, "w", encoding="utf-8") as file:
                file.write(text)
        words = [*_words("kernel", (), options), *words, name]
        status, answer, remarks = _asked(words)
        return Answer(words, json.loads(answer), status == 0, remarks, _asked([*words, "--text"])[1].decode())


def sweep(*, values: Sequence[Any] | str, executor: Any = None, shards: int = 8, **options: Any) -> Answer:
    """One run at many values: ``sweep(over="N", values=[1024, 2048], gpu="h200")``. With an ``executor`` (one of
    concurrent.futures, or a Dask client) the values are dealt out in ``shards`` and the points put together again in
    their order: the same document, point for point."""
    if executor is None:
        return ask(*_words("sweep", (), {"values": values, **options}))
    values = values.split(",") if isinstance(values, str) else list(values)
    n = max(1, min(shards, len(values)))
    parts = [values[len(values) * k // n : len(values) * (k + 1) // n] for k in range(n)]
    futures = [executor.submit(_document, _words("sweep", (), {"values": part, **options})) for part in parts]
    documents = [future.result() for future in futures]
    whole = dict(documents[0])
    whole["points"] = [point for document in documents for point in document["points"]]
    return Answer(_words("sweep", (), {"values": values, **options}), whole, True, "")


def _document(words: Sequence[str]) -> dict[str, Any]:
    return json.loads(_asked(words)[1])


def load_ipython_extension(ipython: Any) -> None:
    """``%load_ext tilewalk``: a cell that begins with ``%%walk`` is a program; it is judged, and seen. What follows on the
    line are options of ``tilewalk algorithms``."""
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
