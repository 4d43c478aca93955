"""Text files: read whole, written whole or not at all."""

import io
import os
import re
import shutil
import tempfile

from .refusal import Refused

MAX_FILE_BYTES = 20 * 1024 * 1024
MAX_LINE = 500


def read(path):
    """The text with its line ends as they are; bytes that are no UTF-8 are kept for the way back."""
    if not os.path.isfile(path):
        raise Refused(f"there is no file {path}")
    if os.path.getsize(path) > MAX_FILE_BYTES:
        raise Refused(f"{path} is larger than {MAX_FILE_BYTES // 1024 // 1024} MiB")
    with open(path, "rb") as file:
        data = file.read()
    if b"\0" in data[:8192]:
        raise Refused(f"{path} is not text")
    return data.decode("utf-8", "surrogateescape")


def write(path, before, after):
    """A file beside it, synced, in its place: whole or not at all, with its mode. Through a link the file it leads to is meant."""
    path = os.path.realpath(path)
    if before is not None and read(path) != before:
        raise Refused(f"{path} has changed meanwhile; look again")
    handle, fresh = tempfile.mkstemp(prefix=".edit-", dir=os.path.dirname(path))
    try:
        with os.fdopen(handle, "wb") as file:
            file.write(after.encode("utf-8", "surrogateescape"))
            file.flush()
            os.fsync(file.fileno())
        if before is not None:
            shutil.copymode(path, fresh)
        else:
            mask = os.umask(0)
            os.umask(mask)
            os.chmod(fresh, 0o666 & ~mask)
        os.replace(fresh, path)
    except BaseException:
        os.unlink(fresh)
        raise


def newline(text):
    return "\r\n" if "\r\n" in text else "\n"


def as_lines(content, neighbours):
    """With the line ends of its neighbours, and one at its end."""
    ending = newline(neighbours)
    text = re.sub("\r\n?|\n", lambda _: ending, content)
    return text if text.endswith(ending) else text + ending


def check_line(number, count):
    if not isinstance(number, int) or isinstance(number, bool) or not 1 <= number <= count:
        raise Refused(f"there is no line {number}; lines go from 1 to {count}")


def check_folder(path):
    if not os.path.isdir(path):
        raise Refused(f"there is no folder {path}")


def clipped(line):
    shown = line.rstrip("\r\n").encode("utf-8", "replace").decode("utf-8")
    return shown if len(shown) <= MAX_LINE else f"{shown[:MAX_LINE]}… ({len(shown)} characters)"


def check_file(path):
    if not os.path.isfile(path):
        raise Refused(f"there is no file {path}")


def lines_of(text):
    """With their ends, which are those of files: other separators of Unicode do not count."""
    return list(io.StringIO(text, newline=""))
