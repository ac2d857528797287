"""dql for ONNX's own types: tensors, the reference evaluator, and whole models.

    y = dql.onnx.dequantize(x, scale, zero_point, axis=0)             # of TensorProtos
    ReferenceEvaluator(model, new_ops=dql.onnx.operators())           # runs DequantizeLinear with dql
    floats = dql.onnx.expand(model)                                   # no DequantizeLinear of constants any more
    for node in dql.onnx.inspect("model.onnx"): print(node)           # what it has, and whether dql takes it

`expand` and `inspect` run the `dql` command in a process of its own. The onnx package is imported only by what needs
its types.
"""

from __future__ import annotations

import os
import re
import subprocess
import sys
import tempfile
import warnings
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple, TypeAlias, overload

import numpy as np

from dql import _command, _core

if TYPE_CHECKING:
    import onnx
    from numpy.typing import NDArray

    from dql._onnx_operators import DequantizeLinear as DequantizeLinear
    from dql._onnx_operators import MicrosoftDequantizeLinear as MicrosoftDequantizeLinear

__all__ = ["DequantizeLinear", "MicrosoftDequantizeLinear", "Node", "dequantize", "expand", "inspect", "operators"]

StrPath: TypeAlias = str | os.PathLike[str]


def __getattr__(name: str) -> Any:
    """The OpRun classes need onnx to be defined."""
    if name in ("DequantizeLinear", "MicrosoftDequantizeLinear"):
        from dql import _onnx_operators

        return getattr(_onnx_operators, name)
    raise AttributeError(f"module 'dql.onnx' has no attribute {name!r}")


# ---- tensors ----


def dequantize(
    x: onnx.TensorProto,
    scale: onnx.TensorProto,
    zero_point: onnx.TensorProto | None = None,
    *,
    axis: int = 1,
    block_size: int = 0,
    dtype: Any = None,
    out: NDArray[Any] | None = None,
    threads: int | None = None,
    isa: str | None = None,
    base_dir: StrPath = "",
) -> NDArray[Any]:
    """`dql.dequantize` of TensorProtos, as arrays. `base_dir` is the model's folder, where tensors keep external data.

    Returns an array of x's shape. raw_data is read as it is, packed or not. Raises TypeError and ValueError as
    dql.dequantize does, and what onnx raises for tensors that can't be read.
    """
    kwargs: dict[str, Any] = {"axis": axis, "block_size": block_size, "dtype": dtype, "threads": threads, "isa": isa}
    if out is not None:
        kwargs["out"] = out
    zero = None if zero_point is None else _array(zero_point, base_dir)
    x = _with_data(x, base_dir)
    if x.HasField("raw_data") and sys.byteorder == "little":
        codes = np.frombuffer(x.raw_data, np.uint8)
        kwargs |= {"x_type": type_name(x.data_type), "shape": x.dims}
    else:
        codes = _array(x, base_dir)
    y: NDArray[Any] = _core.dequantize(codes, _array(scale, base_dir), zero, **kwargs)
    return y


def type_name(data_type: int) -> str:
    """The name that dql has for one of TensorProto's data types, such as 'float32'. Raises TypeError for others."""
    from onnx import TensorProto

    try:
        name: str = TensorProto.DataType.Name(data_type).lower()
    except ValueError as error:
        raise TypeError(f"onnx has no data type {data_type}") from error
    return "float32" if name == "float" else name


def _with_data(tensor: onnx.TensorProto, base_dir: StrPath) -> onnx.TensorProto:
    from onnx import TensorProto, external_data_helper

    if not external_data_helper.uses_external_data(tensor):
        return tensor
    loaded = TensorProto()
    loaded.CopyFrom(tensor)
    external_data_helper.load_external_data_for_tensor(loaded, os.fspath(base_dir))
    return loaded


def _array(tensor: onnx.TensorProto, base_dir: StrPath) -> NDArray[Any]:
    from onnx import numpy_helper

    array: NDArray[Any] = numpy_helper.to_array(tensor, os.fspath(base_dir))
    return array


def operators() -> list[Any]:
    """The OpRun classes of ONNX's operator and of com.microsoft's, for ReferenceEvaluator(model, new_ops=...)."""
    from dql import _onnx_operators

    return [_onnx_operators.DequantizeLinear, _onnx_operators.MicrosoftDequantizeLinear]


# ---- models ----


class Node(NamedTuple):
    """A DequantizeLinear node of a model, as `dql inspect` lists it."""

    taken: bool | None
    """Whether dql takes it; None where the model doesn't tell."""
    name: str
    """Of y, after those of the graphs or the function around the node."""
    description: str
    """Types, shapes, granularity, what isn't constant, the opset, and why dql doesn't take it."""


def inspect(model: onnx.ModelProto | StrPath, *, constant_inputs: bool = False, base_dir: StrPath = "") -> list[Node]:
    """The DequantizeLinear nodes of a model, in order; the arguments are those of expand.

    Raises ValueError if the model can't be read.
    """
    with tempfile.TemporaryDirectory() as folder:
        text = _run("inspect", _path_of(model, folder, base_dir), constant_inputs, [])
    nodes = []
    for line in text.splitlines()[:-1]:  # the last one counts them
        match = re.fullmatch(r"(yes|no|\?) +(.*)  ((?:\?|[a-z0-9]+\[).*)", line)
        if not match:
            raise RuntimeError(f"dql inspect says what this package can't read: {line!r}")
        nodes.append(Node({"yes": True, "no": False, "?": None}[match[1]], match[2], match[3]))
    return nodes


@overload
def expand(
    model: onnx.ModelProto | StrPath,
    output: None = None,
    *,
    dtype: str | None = None,
    jobs: int | None = None,
    constant_inputs: bool = False,
    base_dir: StrPath = "",
) -> onnx.ModelProto: ...


@overload
def expand(
    model: onnx.ModelProto | StrPath,
    output: StrPath,
    *,
    external_data: str | None = None,
    dtype: str | None = None,
    jobs: int | None = None,
    constant_inputs: bool = False,
    base_dir: StrPath = "",
) -> str: ...


def expand(
    model: onnx.ModelProto | StrPath,
    output: StrPath | None = None,
    *,
    external_data: str | None = None,
    dtype: str | None = None,
    jobs: int | None = None,
    constant_inputs: bool = False,
    base_dir: StrPath = "",
) -> onnx.ModelProto | str:
    """Replaces the DequantizeLinear nodes of constants by what they compute: float initializers.

    model            A path or a ModelProto; whose external data, if it has any that is not loaded, is in `base_dir`.
    output           Where to write the new model. Without it the model is returned.
    external_data    The name of a file beside output, for tensors of 1 KiB or more.
    dtype            Makes y 'float32', 'float16' or 'bfloat16', where the model stays valid.
    jobs             Threads; one for each usable CPU if not given.
    constant_inputs  Initializers that are also inputs of the graph are constants.

    Returns the new ModelProto, or what the command says it did if there is an output. Raises ValueError for what the
    command refuses, with its words; nothing is written then.
    """
    options = [] if dtype is None else ["--dtype", dtype]
    options += [] if jobs is None else ["--jobs", str(jobs)]
    if external_data is not None:
        if output is None:
            raise ValueError("external_data is a file beside output, which is not given")
        options += ["--external-data", external_data]
    with tempfile.TemporaryDirectory() as folder:
        path = _path_of(model, folder, base_dir)
        written = Path(folder) / "expanded.onnx" if output is None else Path(output).absolute()
        report = _run("expand", path, constant_inputs, [*options, "-o", str(written)])
        if output is not None:
            return report
        import onnx

        return onnx.load(written)


def _path_of(model: onnx.ModelProto | StrPath, folder: str, base_dir: StrPath) -> Path:
    """A ModelProto goes through a file of its own, with the data that it keeps elsewhere."""
    if isinstance(model, (str, os.PathLike)):
        return Path(model).absolute()
    import onnx

    if not isinstance(model, onnx.ModelProto):
        raise TypeError(f"model is a path or a ModelProto, not {type(model)}")
    if any(map(onnx.external_data_helper.uses_external_data, onnx.external_data_helper._get_all_tensors(model))):
        loaded = onnx.ModelProto()
        loaded.CopyFrom(model)
        onnx.load_external_data_for_model(loaded, os.fspath(base_dir))
        model = loaded
    path = Path(folder) / "model.onnx"
    path.write_bytes(model.SerializeToString())
    return path


def _run(command: str, model: Path, constant_inputs: bool, options: list[str]) -> str:
    options = [*options, "--constant-inputs"] if constant_inputs else options
    done = subprocess.run(
        [_command.path(), command, *options, "--", str(model)],
        check=False, capture_output=True, encoding="utf-8", errors="replace",
    )  # fmt: skip
    said = done.stderr.strip().removeprefix("dql: ")
    if done.returncode != 0:
        raise ValueError(said.partition("\nusage:")[0] or f"dql {command} ended with status {done.returncode}")
    if said:
        warnings.warn(said.replace(str(model), model.name), stacklevel=3)
    return done.stdout
