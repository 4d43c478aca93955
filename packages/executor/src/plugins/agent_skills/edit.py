"""Edits that are checked before anything is written."""

import json
import os
import re
import shutil
import subprocess

from .files import MAX_LINE, as_lines, check_line, lines_of, newline, read, write
from .refusal import Refused, reported
from .window import WINDOW, opened, show


@reported
def create_file(filename, content=""):
    """Makes a new file with `content`, and opens it."""
    if os.path.lexists(filename):
        raise Refused(f"{filename} is there already")
    write(filename, None, content)
    opened.update(path=os.path.abspath(filename), line=1, window=WINDOW)
    show(read(filename))


@reported
def append_file(file_name, content):
    """Adds lines to the end of a file."""
    before = read(file_name)
    joint = "" if before == "" or before.endswith(("\n", "\r")) else newline(before)
    _edit(file_name, before, before + joint + as_lines(content, before), len(lines_of(before)) + 1)


@reported
def insert_content_at_line(file_name, line_number, content):
    """Adds lines before line `line_number`; one more than there are lines means the end."""
    before = read(file_name)
    lines = lines_of(before)
    check_line(line_number, len(lines) + 1)
    if line_number == len(lines) + 1 and lines and not lines[-1].endswith(("\n", "\r")):
        lines[-1] += newline(before)
    lines.insert(line_number - 1, as_lines(content, before))
    _edit(file_name, before, "".join(lines), line_number)


@reported
def edit_file_by_line(file_name, start, end, new_content):
    """Puts `new_content` in the place of the lines `start` to `end`, both included; empty content takes them away."""
    before = read(file_name)
    lines = lines_of(before)
    check_line(start, max(len(lines), 1))
    check_line(end, max(len(lines), 1))
    if end < start:
        raise Refused(f"line {end} is before line {start}")
    lines[start - 1:end] = [as_lines(new_content, before)] if new_content else []
    _edit(file_name, before, "".join(lines), start)


@reported
def edit_file_by_replace(file_name, to_replace, new_content):
    """Replaces the one place where `to_replace` stands. None or several places are refused, with their lines."""
    before = read(file_name)
    if to_replace == "":
        raise Refused("there is no text to replace")
    if to_replace == new_content:
        raise Refused("the new text is the old one")
    ending = newline(before)
    old, new = (re.sub("\r\n?|\n", lambda _: ending, text) for text in (to_replace, new_content))
    places = [match.start() for match in re.finditer(re.escape(old), before)]
    lines = [before.count("\n", 0, place) + 1 for place in places]
    if not places:
        raise Refused(f"the text does not stand in {file_name}; look at the file, white space counts")
    if len(places) > 1:
        raise Refused(f"the text stands {len(places)} times in {file_name}, at lines {', '.join(map(str, lines[:20]))}; take more of its surroundings")
    _edit(file_name, before, before[:places[0]] + new + before[places[0] + len(old):], lines[0])


def _edit(path, before, after, line):
    """Refuses an edit that breaks a file which was whole before; a file that was broken may be worked on."""
    fault = _fault(path, after)
    if fault and not _fault(path, before):
        raise Refused(f"the edit was not made, {os.path.basename(path)} would not parse any more: {fault}")
    write(path, before, after)
    opened.update(path=os.path.abspath(path), line=max(1, min(line, len(lines_of(after)) or 1)), window=opened["window"])
    show(after)
    if fault:
        print(f"[It does not parse, as before: {fault}]")


def _fault(path, text):
    """Why the text is no file of its kind; nothing where it is one, or where that can not be reported cheaply."""
    kind = os.path.splitext(path)[1].lower()
    try:
        if kind in (".py", ".pyi"):
            compile(text, path, "exec", dont_inherit=True)
        elif kind == ".json":
            json.loads(text)
        elif kind == ".toml":
            import tomllib
            tomllib.loads(text)
        elif kind in (".sh", ".bash") and shutil.which("bash"):
            checked = subprocess.run(["bash", "-n"], input=text.encode("utf-8", "surrogateescape"), capture_output=True, timeout=10)
            return checked.stderr.decode("utf-8", "replace").strip()[:MAX_LINE] if checked.returncode else None
    except SyntaxError as error:
        return f"line {error.lineno}: {error.msg}"
    except ValueError as error:
        return str(error)[:MAX_LINE]
    except (ImportError, subprocess.SubprocessError, OSError):
        return None
    return None
