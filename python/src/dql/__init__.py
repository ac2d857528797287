"""dql: ONNX DequantizeLinear on every CPU, bit for bit the same.

    import dql, numpy as np
    y = dql.dequantize(np.array([[0, 1, 2], [3, 4, 5]], np.uint8), np.array([0.5, 1, 2], np.float32))

`dequantize` computes a tensor, `Plan` many of one shape or parts of one; `isas` and `info` say what this machine can
do, `get_include` and `get_library` where the C library is. `dql.onnx` takes ONNX's tensors and models,
`dql.onnxruntime` gives ONNX Runtime the plug-in.
"""

from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from types import ModuleType
from typing import TYPE_CHECKING

from dql import _core
from dql._core import Plan, dequantize, isas

if TYPE_CHECKING:
    from dql import onnx as onnx
    from dql import onnxruntime as onnxruntime

__all__ = ["Info", "Plan", "__version__", "dequantize", "get_include", "get_library", "info", "isas"]

__version__: str = _core.version()

_FOLDER = Path(__file__).resolve().parent


def __getattr__(name: str) -> ModuleType:
    """`dql.onnx` and `dql.onnxruntime` are imported when they are first used."""
    if name in ("onnx", "onnxruntime"):
        return import_module(f"dql.{name}")
    raise AttributeError(f"module 'dql' has no attribute {name!r}")


@dataclass(frozen=True)
class Info:
    """What this build of dql takes, and what it runs on; types and ISAs have dql's names, such as 'uint4', 'avx2'."""

    version: str
    isa: str
    """The ISA that runs where none is asked for."""
    isas: tuple[str, ...]
    """The ISAs that this CPU can run."""
    x_types: tuple[str, ...]
    scale_types: tuple[str, ...]
    y_types: tuple[str, ...]
    library: str
    """The path of the C library."""


def info() -> Info:
    """What this build of dql takes, and what it runs on. The `dql info` command says more of the CPU."""
    x_types, scale_types, y_types = _core.types()
    return Info(__version__, _core.active_isa(), isas(), x_types, scale_types, y_types, get_library())


def get_include() -> str:
    """The folder for a C compiler's -I: `#include <dql/dql.h>`."""
    return str(_FOLDER / "include")


def get_library() -> str:
    """The path of the shared library, for a linker or ctypes. It is the one that this package runs."""
    libraries = sorted((_FOLDER / "lib").glob("libdql.so.*"))
    if len(libraries) != 1:
        raise FileNotFoundError(f"no libdql.so, or several, in {_FOLDER / 'lib'}")
    return str(libraries[0])
