"""The fenced blocks of the documentation, each with a word that says who runs it.

    ```sh run             as an ordinary user, beside stand-ins for Grid Engine's tools
    ```sh cluster         as user1 on the cluster's first host
    ```sh admin           as root there
    ```sh by=FILE         FILE of the repository runs it: each line is found there
    ```sh file=NAME       written into the folder in which the document's blocks run
    ```text output        what the block before it prints
    ```text picture       a drawing

`rc=N` behind run, cluster and admin is the exit code that is wanted, else 0. In an output any number
stands for any number, blanks for blanks, `...` for any text, and a line `...` for any lines.
Every block of a document has such a word: what is not run cannot stand there unnoticed.
"""
import dataclasses
import pathlib
import re

ROOT = pathlib.Path(__file__).resolve().parents[2]
RUNNERS = ("run", "cluster", "admin")


@dataclasses.dataclass
class Block:
    path: str  # of the document, from the root
    line: int
    language: str
    kind: str  # run, cluster, admin, by, file, output, picture
    value: str  # of by= and file=
    rc: int
    text: str

    @property
    def place(self):
        return f"{self.path}:{self.line}"


def documents():
    """All pages that people read, from the root of the tree."""
    found = [*ROOT.glob("*.md"), *ROOT.glob("docs/**/*.md"), *ROOT.glob("demo/*.md")]
    return sorted(str(path.relative_to(ROOT)) for path in found if path.name != "compatibility.md")


def parse(path, text):
    """The blocks of one document, and what is wrong with its marks."""
    blocks, problems = [], []
    lines = text.split("\n")
    number = 0
    in_list = False
    while number < len(lines):
        line = lines[number]
        if re.match(r"\s*(?:[*+-]|\d+\.)\s", line):
            in_list = True
        elif line.strip() and not line.startswith(" "):
            in_list = False
        if re.match(r"(?: {4}|\t)\s*\S", line) and not in_list:
            problems.append(f"{path}:{number + 1}: an indented block: fence it and say who runs it")
        fence = re.match(r"(\s*)```(.*)$", line)
        number += 1
        if not fence:
            continue
        first = number
        while number < len(lines) and lines[number].strip() != "```":
            number += 1
        if number == len(lines):
            problems.append(f"{path}:{first}: the block has no end")
            break
        body = "\n".join(row.removeprefix(fence[1]) for row in lines[first:number]) + "\n"
        number += 1
        block = block_of(path, first, fence[2].split(), body, problems)
        if block:
            blocks.append(block)
    check_order(blocks, problems)
    return blocks, problems


def block_of(path, line, words, body, problems):
    language, marks = (words[0] if words else ""), words[1:]
    rc = 0
    if marks and re.fullmatch(r"rc=\d+", marks[-1]):
        rc = int(marks.pop()[3:])
    mark = marks[0] if len(marks) == 1 else ""
    kind, _, value = mark.partition("=")
    known = (mark in RUNNERS + ("output", "picture")) or (kind in ("by", "file") and value)
    if not known or (rc and kind not in RUNNERS):
        problems.append(f"{path}:{line}: nobody runs this block: ```{' '.join(words)}")
        return None
    if kind == "picture" and language != "text":
        problems.append(f"{path}:{line}: a picture is text, not {language}")
    return Block(path, line, language, kind, value, rc, body)


def check_order(blocks, problems):
    before = None
    for block in blocks:
        if block.kind == "output" and (before is None or before.kind not in RUNNERS):
            problems.append(f"{block.place}: an output behind no block that is run")
        before = block


def read(path):
    return parse(path, (ROOT / path).read_text(encoding="utf-8"))


def matches(pattern, seen):
    """Whether the output of a document describes what was seen."""
    parts = []
    for line in pattern.rstrip("\n").split("\n"):
        if line.strip() == "...":
            parts.append(r"(?:.*\n)*?")
            continue
        text = re.escape(" ".join(line.split()))
        text = re.sub(r"(?:\\?[0-9])+", r"[0-9]+", text).replace(r"\.\.\.", ".*").replace(r"\ ", r" +")
        parts.append(r" *" + text + r" *\n")
    seen = "\n".join(" ".join(line.split()) for line in seen.rstrip("\n").split("\n")) + "\n"
    return re.fullmatch("".join(parts), seen) is not None


def groups(blocks):
    """(block, its wanted output or None) for what is run or written, in order."""
    result = []
    for index, block in enumerate(blocks):
        if block.kind in RUNNERS + ("file",):
            follows = blocks[index + 1] if index + 1 < len(blocks) else None
            result.append((block, follows if follows and follows.kind == "output" else None))
    return result
