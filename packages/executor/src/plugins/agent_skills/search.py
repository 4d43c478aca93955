"""Names of files, and lines in them."""

import fnmatch
import os

from .files import MAX_FILE_BYTES, check_folder, clipped, lines_of, read
from .refusal import Refused, reported
from .window import opened

MAX_MATCHES = 100
SKIPPED_FOLDERS = {".git", "node_modules", "__pycache__", ".venv"}


@reported
def search_dir(search_term, dir_path="./"):
    """Lists the lines below a folder that contain `search_term`, hidden files and dependencies left out."""
    check_folder(dir_path)
    found, files, is_cut = [], set(), False
    for path in _files(dir_path):
        for number, line in _matches(path, search_term):
            if len(found) == MAX_MATCHES:
                is_cut = True
                break
            found.append(f"{path} (line {number}): {clipped(line.strip())}")
            files.add(path)
        if is_cut:
            break
    _report(found, f'"{search_term}" in {os.path.abspath(dir_path)}', f"in {len(files)} files", is_cut)


@reported
def search_file(search_term, file_path=None):
    """Lists the lines of a file (of the open one when none is named) that contain `search_term`."""
    path = file_path or opened["path"]
    if path is None:
        raise Refused("no file is open; name one")
    lines = lines_of(read(path))
    found = [f"line {number}: {clipped(line)}" for number, line in enumerate(lines, 1) if search_term in line]
    _report(found[:MAX_MATCHES], f'"{search_term}" in {path}', "", len(found) > MAX_MATCHES)


@reported
def find_file(file_name, dir_path="./"):
    """Lists the files below a folder whose name contains `file_name`, or fits it when it is a pattern."""
    check_folder(dir_path)
    is_pattern = any(sign in file_name for sign in "*?[")
    fits = (lambda name: fnmatch.fnmatch(name, file_name)) if is_pattern else (lambda name: file_name in name)
    found = []
    for path in _files(dir_path):
        if fits(os.path.basename(path)):
            found.append(path)
            if len(found) > MAX_MATCHES:
                break
    _report(found[:MAX_MATCHES], f'files named "{file_name}" in {os.path.abspath(dir_path)}', "", len(found) > MAX_MATCHES)


def _files(folder):
    for root, folders, names in os.walk(folder):
        folders[:] = sorted(name for name in folders if name not in SKIPPED_FOLDERS and not name.startswith("."))
        for name in sorted(names):
            path = os.path.join(root, name)
            if not name.startswith(".") and os.path.isfile(path):
                yield path


def _matches(path, term):
    try:
        if os.path.getsize(path) > MAX_FILE_BYTES:
            return
        with open(path, encoding="utf-8", errors="strict") as file:
            for number, line in enumerate(file, 1):
                if term in line:
                    yield number, line
    except (OSError, UnicodeDecodeError):
        return  # gone, not ours to read, or not text


def _report(found, what, where, is_cut):
    if not found:
        print(f"[Nothing found: {what}]")
        return
    count = f"the first {len(found)}" if is_cut else str(len(found))
    print(f"[Found {count} of {what}{' ' + where if where else ''}]")
    print("\n".join(found))
    if is_cut:
        print("[There are more; search for something narrower.]")
