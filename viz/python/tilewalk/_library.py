"""libtilewalk by ctypes: viz/library/tilewalk.h says what its functions do."""

from __future__ import annotations

import ctypes
import os
import threading
from collections.abc import Sequence

ABI = 1


def _load() -> ctypes.CDLL:
    """The library of this package, else that of TILEWALK_LIBRARY, else the system's."""
    own = os.path.join(os.path.dirname(os.path.abspath(__file__)), "lib", "libtilewalk.so")
    path = os.environ.get("TILEWALK_LIBRARY") or (own if os.path.exists(own) else "libtilewalk.so.1")
    try:
        library = ctypes.CDLL(path)
    except OSError as error:
        raise ImportError(
            f"Tilewalk's library could not be loaded ({error}); it needs cairo, pango, jansson and Lua 5.4: on Debian and "
            "Ubuntu, apt install libpangocairo-1.0-0 libjansson4 liblua5.4-0 libwebpmux3 libgif7 libgomp1"
        ) from None
    answer, text = ctypes.c_void_p, ctypes.c_void_p
    for name, result, arguments in (
        ("tilewalk_abi", ctypes.c_int, []),
        ("tilewalk_version", ctypes.c_char_p, []),
        ("tilewalk_command", ctypes.c_char_p, [ctypes.c_size_t]),
        ("tilewalk_ask", answer, [ctypes.c_size_t, ctypes.POINTER(ctypes.c_char_p)]),
        ("tilewalk_status", ctypes.c_int, [answer]),
        ("tilewalk_text", text, [answer]),
        ("tilewalk_length", ctypes.c_size_t, [answer]),
        ("tilewalk_error", ctypes.c_char_p, [answer]),
        ("tilewalk_free", None, [answer]),
    ):
        function = getattr(library, name)
        function.restype, function.argtypes = result, arguments
    if library.tilewalk_abi() != ABI:
        raise ImportError(f"{path} has the interface {library.tilewalk_abi()}, and this package needs {ABI}")
    return library


_LIBRARY = _load()
_ONE_AT_A_TIME = threading.Lock()


def version() -> str:
    return _LIBRARY.tilewalk_version().decode()


def commands() -> list[str]:
    names: list[str] = []
    while name := _LIBRARY.tilewalk_command(len(names)):
        names.append(name.decode())
    return names


def ask(words: Sequence[str]) -> tuple[int, bytes, str]:
    """The status, the text, and the error or the remarks."""
    encoded = [word.encode() for word in words]
    if any(b"\0" in word for word in encoded):
        return 2, b"", "a word of the question holds a zero byte"
    with _ONE_AT_A_TIME:
        answer = _LIBRARY.tilewalk_ask(len(encoded), (ctypes.c_char_p * len(encoded))(*encoded))
    try:
        text = ctypes.string_at(_LIBRARY.tilewalk_text(answer), _LIBRARY.tilewalk_length(answer))
        return _LIBRARY.tilewalk_status(answer), text, _LIBRARY.tilewalk_error(answer).decode()
    finally:
        _LIBRARY.tilewalk_free(answer)
