#!/usr/bin/env python3
"""Fail on an #include that points up the layer diagram in docs/architecture.md."""
import pathlib
import re
import sys

MAY_INCLUDE = {  # folder -> what it may include besides itself
    "runtime/abi": [],
    "runtime/simulate": ["runtime/abi"],
    "runtime": ["runtime/abi", "runtime/simulate"],
    "dialects": ["runtime/abi"],
    "models": ["dialects"],
    "passes": ["dialects", "runtime/abi"],
    "passes/plan": ["dialects", "runtime/abi", "runtime/simulate", "passes"],
    "compiler": ["dialects", "models", "passes", "passes/plan", "runtime/abi", "runtime/simulate"],
    # recipec interpret feeds the interpreter with the runtime's batches and writes safetensors.
    "compiler/tools": ["compiler", "compiler/interp", "dialects", "models", "passes", "runtime", "runtime/abi"],
    "compiler/interp": ["compiler", "dialects", "passes", "runtime/abi"],
}
# Phase folders do not include each other: what two share lives in dialects/ or directly in passes/.
PHASES = {"grad", "precision", "shard", "fusion", "select", "recompute", "plan", "codegen"}


def layer(path):
    return max((k for k in MAY_INCLUDE if path == k or path.startswith(k + "/")), key=len, default=None)


def phase(path):
    parts = path.split("/")
    return parts[1] if len(parts) > 2 and parts[0] == "passes" and parts[1] in PHASES else None


def main(root):
    failed = False
    for path in sorted(root.rglob("*")):
        rel = path.relative_to(root).as_posix()
        if path.suffix not in {".h", ".cpp", ".c", ".td"} or rel.startswith(("build", "tests/", ".")):
            continue
        here = layer(rel)
        for number, line in enumerate(path.read_text().splitlines(), 1):
            m = re.match(r'\s*#?\s*include "([^"]+)"', line)
            there = m and layer(m.group(1))
            if here and there and there != here and there not in MAY_INCLUDE[here]:
                print(f"{rel}:{number}: {here} may not include {there}")
                failed = True
            if m and phase(rel) and phase(m.group(1)) and phase(rel) != phase(m.group(1)):
                print(f"{rel}:{number}: phase {phase(rel)} may not include phase {phase(m.group(1))}")
                failed = True
    return failed


if __name__ == "__main__":
    sys.exit(main(pathlib.Path(sys.argv[1])))
