"""dql.onnxruntime: the plug-in in the ONNX Runtime of this environment."""

import subprocess
import sys

import numpy as np
import pytest
from reference import assert_same, dequantized

import dql

ort = pytest.importorskip("onnxruntime", reason="onnxruntime is not installed")
onnx = pytest.importorskip("onnx", reason="onnx is not installed")
from onnx import helper  # noqa: E402


def model_bytes():
    node = helper.make_node("DequantizeLinear", ["x", "scale"], ["y"], axis=0)
    infos = [
        helper.make_tensor_value_info(n, t, s) for n, t, s in [("x", 3, [2, 6]), ("scale", 1, [2]), ("y", 1, [2, 6])]
    ]
    graph = helper.make_graph([node], "one_node", infos[:2], infos[2:])
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 21)], ir_version=10).SerializeToString()


@pytest.mark.parametrize("keywords", [{}, {"threads": False}, {"isa": "scalar"}])
def test_runs_nodes(keywords):
    options = ort.SessionOptions()
    assert dql.onnxruntime.add_to(options, **keywords) is options
    options.add_session_config_entry("session.record_ep_graph_assignment_info", "1")
    session = ort.InferenceSession(model_bytes(), options, enable_fallback=False)
    assert [part.ep_name for part in session.get_provider_graph_assignment_info()] == ["DqlExecutionProvider"]
    x, scale = np.arange(12, dtype=np.int8).reshape(2, 6), np.array([0.5, 2], np.float32)
    assert_same(session.run(None, {"x": x, "scale": scale})[0], dequantized(x, scale, axis=0))


def test_wrong_isa():
    options = dql.onnxruntime.add_to(ort.SessionOptions(), isa="nonsense")
    with pytest.raises(Exception, match="nonsense"):
        ort.InferenceSession(model_bytes(), options, enable_fallback=False)


def test_old_runtime():
    code = (
        "import types, sys; sys.modules['onnxruntime'] = types.SimpleNamespace(__version__='1.20.0')\n"
        "import dql\n"
        "try: dql.onnxruntime.add_to(None)\n"
        "except RuntimeError as error: print(error)"
    )
    said = subprocess.run([sys.executable, "-c", code], check=True, capture_output=True, text=True).stdout
    assert said == "dql needs ONNX Runtime 1.24 or later, this is 1.20.0\n"
