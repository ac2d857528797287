"""What the wheel brings, and what it imports."""

import ctypes
import importlib.metadata
import inspect
import os
import re
import shutil
import subprocess
import sys
import sysconfig
from pathlib import Path

import pytest

import dql


def run(*command, **keywords):
    return subprocess.run(command, check=True, capture_output=True, text=True, **keywords).stdout


def test_info():
    info = dql.info()
    assert info.version == dql.__version__ == importlib.metadata.version("dql")
    assert info.isa in info.isas == dql.isas()
    assert {"int8", "uint4", "float8e4m3fn", "float4e2m1"} <= {*info.x_types}
    assert info.scale_types == ("float32", "float16", "bfloat16", "float8e8m0")
    assert info.y_types == ("float32", "float16", "bfloat16")


def test_types_are_those_of_the_command():
    said = run(command(), "info")
    assert sorted(re.search(r"x types +(.*)", said)[1].split()) == sorted(dql.info().x_types)


def test_library_is_the_one_that_runs():
    library = ctypes.CDLL(dql.get_library())
    library.dql_isa_name.restype = library.dql_version.restype = ctypes.c_char_p
    assert library.dql_version().decode() == dql.__version__
    scalar = next(k for k in range(20) if library.dql_isa_name(k) == b"scalar")
    assert library.dql_isa_force(scalar) == 0
    assert dql.info().isa == "scalar"
    assert library.dql_isa_force(0) == 0


@pytest.mark.skipif(not shutil.which("cc"), reason="there is no C compiler")
def test_header_and_library_make_a_program(tmp_path):
    source = tmp_path / "program.c"
    source.write_text("#include <dql/dql.h>\n#include <stdio.h>\nint main(void) { return puts(dql_version()) < 0; }\n")
    library = Path(dql.get_library())
    run("cc", "-I", dql.get_include(), source, library, f"-Wl,-rpath,{library.parent}", "-o", tmp_path / "program")
    assert run(tmp_path / "program").strip() == dql.__version__


def command():
    path = Path(sysconfig.get_path("scripts")) / "dql"
    assert path.exists()
    return path


def test_command():
    assert run(command(), "--version") == f"dql {dql.__version__}\n"
    assert subprocess.run([command(), "nonsense"], check=False, capture_output=True).returncode == 2


def test_imports_no_more_than_it_needs():
    heavy = ("onnx", "onnxruntime", "torch", "ml_dtypes")
    code = f"import sys, dql; dql.onnx.inspect; print([m for m in {heavy} if m in sys.modules])"
    assert run(sys.executable, "-c", code) == "[]\n"


def test_missing_names():
    with pytest.raises(AttributeError, match="module 'dql' has no attribute 'nonsense'"):
        dql.nonsense  # noqa: B018
    with pytest.raises(AttributeError, match=r"module 'dql.onnx' has no attribute 'nonsense'"):
        dql.onnx.nonsense  # noqa: B018


def test_wheel_has_no_foreign_libraries():
    """Only libc: of what auditwheel would have to copy there is nothing."""
    folder = Path(dql.__file__).parent
    assert not (folder.parent / "dql.libs").exists()
    assert (folder / "py.typed").exists()
    assert os.access(folder / "bin" / "dql", os.X_OK)


@pytest.mark.parametrize("function", [dql.dequantize, dql.Plan.run, dql.Plan.run_range, dql.Plan.rows, dql.isas])
def test_signatures(function):
    """Those of the stubs, so that help() shows them."""
    names = list(inspect.signature(function).parameters)
    stubs = (Path(dql.__file__).parent / "_core.pyi").read_text()
    definition = re.search(rf"def {function.__name__}\(([^)]*(?:\(\)[^)]*)?)\) ->", stubs)[1]
    stub_names = re.findall(r"(?:^|,\s*|\(\s*|\s)(\w+)(?=:|,|$)", re.sub(r":[^,\n]*", ":", definition))
    assert [n for n in names if n != "self"] == [n for n in stub_names if n != "self"]
    assert len(function.__doc__) > 50
