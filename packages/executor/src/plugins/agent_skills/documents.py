"""Text out of documents."""

import re
import shutil
import subprocess
import zipfile
from xml.etree import ElementTree

from .files import MAX_FILE_BYTES, check_file, read
from .refusal import Refused, reported

MAX_DOCUMENT_CHARS = 200_000


@reported
def parse_pdf(file_path):
    """Prints the text of a PDF, page by page. Needs the package pypdf, or the program pdftotext."""
    check_file(file_path)
    try:
        from pypdf import PdfReader
    except ImportError:
        PdfReader = None
    if PdfReader is not None:
        try:
            pages = [page.extract_text() or "" for page in PdfReader(file_path).pages]
        except Exception as error:  # it raises what it likes at files that are no PDF
            raise Refused(f"{file_path} can not be read as PDF: {error}") from None
    elif shutil.which("pdftotext"):
        done = subprocess.run(["pdftotext", "-layout", "--", file_path, "-"], capture_output=True, timeout=120)
        if done.returncode:
            raise Refused(f"{file_path} can not be read as PDF: {done.stderr.decode('utf-8', 'replace').strip()}")
        pages = done.stdout.decode("utf-8", "replace").rstrip("\f\n").split("\f")
    else:
        raise Refused("nothing here reads PDF; run `%pip install pypdf` first")
    _print_document(file_path, [f"@@ page {number} @@\n{page.strip()}" for number, page in enumerate(pages, 1)])


@reported
def parse_docx(file_path):
    """Prints the paragraphs of a Word document, those in tables too."""
    root = _xml_in(file_path, "word/document.xml")
    paragraphs = ["".join(_docx_text(paragraph)) for paragraph in root.iter() if _name(paragraph) == "p"]
    _print_document(file_path, paragraphs)


@reported
def parse_pptx(file_path):
    """Prints the text of a PowerPoint file, slide by slide."""
    check_file(file_path)
    with _zip(file_path) as archive:
        numbers = sorted(int(match[1]) for match in map(re.compile(r"ppt/slides/slide(\d+)\.xml").fullmatch, archive.namelist()) if match)
    slides = []
    for number in numbers:
        root = _xml_in(file_path, f"ppt/slides/slide{number}.xml")
        texts = ["".join(part.text or "" for part in each.iter() if _name(part) == "t") for each in root.iter() if _name(each) == "p"]
        slides.append(f"@@ slide {number} @@\n" + "\n".join(text for text in texts if text))
    _print_document(file_path, slides)


@reported
def parse_latex(file_path):
    """Prints a LaTeX file without its comments and preamble."""
    text = re.sub(r"(?<!\\)%.*", "", read(file_path))
    body = re.search(r"\\begin\{document\}(.*?)(\\end\{document\}|\Z)", text, re.DOTALL)
    _print_document(file_path, [re.sub(r"\n{3,}", "\n\n", body[1] if body else text).strip()])


def _docx_text(paragraph):
    for part in paragraph.iter():
        if _name(part) == "t":
            yield part.text or ""
        elif _name(part) == "tab":
            yield "\t"
        elif _name(part) == "br":
            yield "\n"


def _xml_in(file_path, member):
    check_file(file_path)
    with _zip(file_path) as archive:
        try:
            if archive.getinfo(member).file_size > MAX_FILE_BYTES:
                raise Refused(f"{file_path} is too large inside")
            data = archive.read(member)
        except (KeyError, zipfile.BadZipFile) as error:
            raise Refused(f"{file_path} is not of that kind: {error}") from None
    if b"<!DOCTYPE" in data[:1024]:  # entities could be made to grow without end
        raise Refused(f"{file_path} declares a document type, which such files never do")
    try:
        return ElementTree.fromstring(data)
    except ElementTree.ParseError as error:
        raise Refused(f"{file_path} is damaged: {error}") from None


def _zip(file_path):
    try:
        return zipfile.ZipFile(file_path)
    except zipfile.BadZipFile:
        raise Refused(f"{file_path} is not of that kind") from None


def _name(element):
    return element.tag.rpartition("}")[2]


def _print_document(path, parts):
    text = "\n".join(parts).encode("utf-8", "replace").decode("utf-8")
    print(f"[Text of {path}]")
    print(text[:MAX_DOCUMENT_CHARS])
    if len(text) > MAX_DOCUMENT_CHARS:
        print(f"[{len(text) - MAX_DOCUMENT_CHARS} more characters were left out]")
