"""Functions for cells: look at files in windows, search, edit with a check, and read documents.

They print what they show and return nothing. Lines count from 1. Paths are as Python takes them: relative to the kernel's folder.
What is refused is said in one line that begins with `ERROR:`, and then nothing was changed.
"""

from .documents import parse_docx, parse_latex, parse_pdf, parse_pptx
from .edit import append_file, create_file, edit_file_by_line, edit_file_by_replace, insert_content_at_line
from .search import find_file, search_dir, search_file
from .window import goto_line, open_file, scroll_down, scroll_up

__all__ = [
    "open_file", "goto_line", "scroll_down", "scroll_up",
    "search_dir", "search_file", "find_file",
    "create_file", "append_file", "insert_content_at_line", "edit_file_by_replace", "edit_file_by_line",
    "parse_pdf", "parse_docx", "parse_pptx", "parse_latex",
]
