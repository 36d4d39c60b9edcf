"""The text that a person sends: typed, from a file, or from standard input."""

import sys
from pathlib import Path
from typing import Final

from peerline.cli.hot_output import Failure, usage
from peerline.core.limits import CONTENT
from peerline.core.text import trim, utf16_length

BYTES: Final = 262_144


def body(words: tuple[str, ...], file: str | None) -> str:
    """The words joined by spaces; `-` alone or --file - reads standard input.

    Raises:
        Failure: there is no text, or it is none that a hub would take.
    """
    if file is not None and words:
        raise usage("the text comes from --file or from the command line, not from both")
    source = "-" if words == ("-",) else file
    text = " ".join(words) if source is None else _read(source)
    if not trim(text):
        raise usage("there is no text to send; type it, or use --file FILE, or - for standard input")
    if "\0" in text:
        raise usage("the text holds a NUL byte (U+0000); a message is text")
    if any("\ud800" <= c <= "\udfff" for c in text):
        raise usage("the text is not UTF-8")
    if utf16_length(trim(text)) > CONTENT:
        # Of a longer file only so much was read.
        length = f"more than {BYTES}" if len(text) > BYTES else str(utf16_length(trim(text)))
        raise Failure(f"the text has {length} characters; a message takes {CONTENT}. Name a file in it instead")
    return text


def _read(source: str) -> str:
    try:
        if source == "-":
            data = sys.stdin.buffer.read(BYTES + 1)
        else:
            with Path(source).open("rb") as file:
                data = file.read(BYTES + 1)
        return data.decode(errors="strict" if len(data) <= BYTES else "replace")
    except OSError as error:
        raise usage(f"{source} cannot be read: {error.strerror}") from None
    except UnicodeDecodeError:
        raise usage(f"{'standard input' if source == '-' else source} is not UTF-8") from None
