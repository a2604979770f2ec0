#!/usr/bin/env python3
"""Write the quickstart's text: the first 2,000,000 bytes of the King James Bible, one verse a line, no references.

    recipes/data/make-kjv.py -o OUT.txt [--bible-data /usr/lib/bible.data]

The source is the file that Debian's package bible-kjv-text installs. docs/data.md describes both formats.
"""
import argparse
import hashlib
import os
import re
import struct
import subprocess
import sys

TEXT_BYTES = 2_000_000
TEXT_SHA256 = "d9559307f6003d443a0c97d50bdd9a249314b497c17d1f4df28d243f6539b732"

MAGIC = b"EC02Compressed Data File"
FIELDS_AT = 0x54  # big-endian: bytes of text in a block, number of blocks, then a table of block ends
COMPRESS_HEADER = b"\x1f\x9d\x90"  # of compress(1), 16 bits, block mode: stored once in the file, missing in each block


class CorpusError(Exception):
    pass


def read_blocks(path):
    """The decompressed text blocks of a bible.data, in order."""
    with open(path, "rb") as file:
        data = file.read()
    if not data.startswith(MAGIC):
        raise CorpusError(f"{path}: not the data file of bible-kjv-text (it must start with {MAGIC.decode()!r})")
    block_bytes, count = struct.unpack_from(">II", data, FIELDS_AT)
    if FIELDS_AT + 8 + 4 * (count + 1) > len(data):
        raise CorpusError(f"{path}: truncated, {count} blocks announced in a file of {len(data)} bytes")
    bounds = struct.unpack_from(f">{count + 1}I", data, FIELDS_AT + 8)
    for number, (begin, end) in enumerate(zip(bounds, bounds[1:])):
        result = subprocess.run(["gzip", "-dc"], input=COMPRESS_HEADER + data[begin:end], capture_output=True)
        if result.returncode != 0:
            raise CorpusError(f"{path}: block {number} cannot be decompressed: {result.stderr.decode().strip()}")
        if number + 1 < count and len(result.stdout) != block_bytes:
            raise CorpusError(f"{path}: block {number} must hold {block_bytes} bytes, got {len(result.stdout)}")
        yield result.stdout


def read_lines(path):
    rest = b""
    for block in read_blocks(path):
        lines = (rest + block).split(b"\n")
        rest = lines.pop()
        yield from lines
    if rest:
        yield rest


def make_text(path):
    lines = read_lines(path)
    next(lines, None)  # the title of the edition, not a verse
    text = bytearray()
    for line in lines:
        verse = re.fullmatch(rb"[0-9A-Za-z]+:[0-9]+ (.*)", line)
        if not verse:
            raise CorpusError(f"{path}: a line must be a reference and a verse, got {line[:60]!r}")
        text += verse[1] + b"\n"
        if len(text) >= TEXT_BYTES:
            return bytes(text[:TEXT_BYTES])
    raise CorpusError(f"{path}: the text must have at least {TEXT_BYTES} bytes, got {len(text)}")


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("-o", "--output", required=True, metavar="OUT.txt")
    parser.add_argument("--bible-data", default="/usr/lib/bible.data", metavar="FILE")
    args = parser.parse_args()
    try:
        text = make_text(args.bible_data)
        found = hashlib.sha256(text).hexdigest()
        if found != TEXT_SHA256:
            raise CorpusError(f"{args.bible_data}: the SHA-256 of the text must be {TEXT_SHA256}, got {found}")
        temporary = f"{args.output}.tmp-{os.getpid()}"
        with open(temporary, "wb") as file:
            file.write(text)
        os.replace(temporary, args.output)
    except FileNotFoundError as error:
        hint = " (apt-get install bible-kjv-text)" if error.filename == args.bible_data else ""
        print(f"make-kjv.py: {error.filename}: no such file{hint}", file=sys.stderr)
        return 1
    except (OSError, CorpusError) as error:
        print(f"make-kjv.py: {error}", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
