"""The Python of the documents runs, and gives what they say."""

import contextlib
import io
import re
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
FENCE = re.compile(r"^```python\n(.*?)^```", re.M | re.S)


def blocks():
    for path in ("README.md", "docs/python.md", "python/README.md"):
        for number, block in enumerate(FENCE.findall((ROOT / path).read_text(encoding="utf-8")), 1):
            if "import dql" in block:
                yield pytest.param(block, id=f"{path}-{number}")


@pytest.mark.parametrize("block", [*blocks()])
def test_block(block):
    if "import onnxruntime" in block:
        pytest.importorskip("onnxruntime", reason="onnxruntime is not installed")
    said = io.StringIO()
    with contextlib.redirect_stdout(said):
        exec(compile(block, "block", "exec"), {})
    expected = re.findall(r"^# (\s*\[.*)$", block, re.M)
    assert not expected or said.getvalue().splitlines() == expected
