"""dql.onnx: tensors, the reference evaluator as judge, models."""

import ml_dtypes
import numpy as np
import pytest
from hypothesis import assume, given, settings
from reference import FLOATS, SCALE_TYPES, X_TYPES, assert_same, bits_of, dequantized, every_code, is_integer
from test_dequantize import calls

import dql

onnx = pytest.importorskip("onnx", reason="onnx is not installed")
from onnx import TensorProto, helper, numpy_helper  # noqa: E402
from onnx.reference import ReferenceEvaluator  # noqa: E402

OPSET = 25
# The command notes that it doesn't know the newest IR version; that is no failure.
pytestmark = pytest.mark.filterwarnings("ignore:.*IR version")
ONNX_TYPES = {
    name: TensorProto.DataType.Value("FLOAT" if name == "float32" else name.upper())
    for name in {**X_TYPES, **FLOATS}
    if name == "float32" or name.upper() in [*TensorProto.DataType.keys()]
}


def allowed_x_types():
    schema = onnx.defs.get_schema("DequantizeLinear", OPSET)
    (allowed,) = (c.allowed_type_strs for c in schema.type_constraints if c.type_param_str == schema.inputs[0].type_str)
    return [name for name in X_TYPES if f"tensor({name})" in allowed]


def operands(name, scale_type="float32"):
    x = every_code(name, 4 * 70).reshape(4, 70)
    scale = np.random.default_rng(1).random((4, 5), np.float32).astype(SCALE_TYPES[scale_type])
    return x, scale, every_code(name, 20, seed=2).reshape(4, 5) if is_integer(name) and name != "int32" else None


def model_of(x, scale, zero=None, domain="", constant=False, opset=OPSET, **attributes):
    arrays = {"x": x, "scale": scale} | ({} if zero is None else {"zero": zero})
    tensors = [numpy_helper.from_array(a, n) for n, a in arrays.items()]
    node = helper.make_node("DequantizeLinear", list(arrays), ["y"], domain=domain, **attributes)
    infos = [helper.make_tensor_value_info(t.name, t.data_type, t.dims) for t in tensors]
    y_type = attributes.get("output_dtype") or tensors[1].data_type
    graph = helper.make_graph(
        [node], "one_node", [] if constant else infos, [helper.make_tensor_value_info("y", y_type, x.shape)],
        tensors if constant else [],
    )  # fmt: skip
    opsets = [helper.make_opsetid("", opset)] + ([helper.make_opsetid(domain, 1)] if domain else [])
    return helper.make_model(graph, opset_imports=opsets, ir_version=11), arrays


@pytest.mark.parametrize("name", allowed_x_types())
@pytest.mark.parametrize("y_type", FLOATS)
def test_reference_evaluator(name, y_type):
    """With our operators it gives the bits that it gives without."""
    for scale_type in ("float32", "float16", "bfloat16"):
        x, scale, zero = operands(name, scale_type)
        model, feeds = model_of(x, scale, zero, axis=1, block_size=16, output_dtype=ONNX_TYPES[y_type])
        with np.errstate(all="ignore"):
            (expected,) = ReferenceEvaluator(model).run(None, feeds)
        (y,) = ReferenceEvaluator(model, new_ops=dql.onnx.operators()).run(None, feeds)
        if name == "int32" and y_type != "float32":
            expected = dequantized(x, scale, block_size=16, dtype=FLOATS[y_type])  # docs/semantics.md: it rounds once
        assert_same(y, expected)


@settings(max_examples=150, deadline=None)
@given(calls())
def test_any_node(call):
    """Random nodes have the evaluator's bits, but where docs/semantics.md says that it differs."""
    name, x, scale, zero, keywords = call
    assume(name in allowed_x_types() and x.size > 0 and name != "int32")
    dtype = keywords.pop("dtype")
    y_type = next(n for n in FLOATS if FLOATS[n] == dtype)
    model, feeds = model_of(x, scale, zero, output_dtype=ONNX_TYPES[y_type], **keywords)
    with np.errstate(all="ignore"):
        (expected,) = ReferenceEvaluator(model).run(None, feeds)
    (y,) = ReferenceEvaluator(model, new_ops=dql.onnx.operators()).run(None, feeds)
    assert_same(y, np.asarray(expected).reshape(x.shape))


def test_operators_are_ours():
    seen = []

    class Spy(dql.onnx.DequantizeLinear):
        def _run(self, *arguments, **keywords):
            seen.append(keywords)
            return super()._run(*arguments, **keywords)

    Spy.__name__ = "DequantizeLinear"
    x = np.zeros((2, 3), np.int8)
    model, feeds = model_of(x, np.ones(3, np.float32), opset=13)
    ReferenceEvaluator(model, new_ops=[Spy]).run(None, feeds)
    assert seen
    assert seen[0]["axis"] == 1


def test_operator_of_microsoft():
    x, scale, zero = np.arange(6, dtype=np.int8).reshape(2, 3), np.array([1, 2], np.float32), np.array([1, 0], np.int8)
    model, feeds = model_of(x, scale, zero, domain="com.microsoft", axis=0)
    (y,) = ReferenceEvaluator(model, new_ops=dql.onnx.operators()).run(None, feeds)
    assert_same(y, dequantized(x, scale, zero, axis=0))


@pytest.mark.parametrize("name", allowed_x_types())
def test_tensors(name):
    x, scale, zero = operands(name)
    expected = dequantized(x, scale, zero, block_size=16)
    raw = [None if a is None else numpy_helper.from_array(a) for a in (x, scale, zero)]
    assert raw[0].HasField("raw_data")
    assert_same(dql.onnx.dequantize(*raw, block_size=16), expected)
    codes = x.view(f"u{x.dtype.itemsize}").reshape(-1)
    typed = TensorProto(data_type=ONNX_TYPES[name], dims=x.shape)
    if bits_of(name) < 8:
        per_byte = 8 // bits_of(name)
        masked = codes & ((1 << bits_of(name)) - 1)
        packed = sum(masked[k::per_byte].astype(int) << (k * bits_of(name)) for k in range(per_byte))
        typed.int32_data.extend(packed.tolist())
    else:
        typed.int32_data.extend((x if is_integer(name) else codes).reshape(-1).astype(int).tolist())
    assert_same(dql.onnx.dequantize(typed, raw[1], raw[2], block_size=16, dtype="float16"),
                dequantized(x, scale, zero, block_size=16, dtype=np.float16))  # fmt: skip


def test_tensors_with_external_data(tmp_path):
    x, scale, _ = operands("uint4")
    tensor = numpy_helper.from_array(x, "x")
    (tmp_path / "data").write_bytes(b"abc" + tensor.raw_data)
    onnx.external_data_helper.set_external_data(tensor, "data", offset=3, length=len(tensor.raw_data))
    tensor.ClearField("raw_data")
    before = tensor.SerializeToString()
    y = dql.onnx.dequantize(tensor, numpy_helper.from_array(scale), block_size=16, base_dir=tmp_path)
    assert_same(y, dequantized(x, scale, block_size=16))
    assert tensor.SerializeToString() == before


def test_tensors_that_are_wrong():
    good = numpy_helper.from_array(np.ones(6, np.int8))
    scale = numpy_helper.from_array(np.float32(1).reshape(()))
    short = TensorProto(data_type=TensorProto.INT8, dims=[7], raw_data=bytes(6))
    with pytest.raises(ValueError, match=r"x has 6 bytes, but int8 of shape \(7,\) takes 7"):
        dql.onnx.dequantize(short, scale)
    with pytest.raises(TypeError, match="double"):
        dql.onnx.dequantize(numpy_helper.from_array(np.zeros(3)), scale)
    with pytest.raises(TypeError, match="scale is float64"):
        dql.onnx.dequantize(good, numpy_helper.from_array(np.zeros(())))
    with pytest.raises(TypeError, match="no data type 99"):
        dql.onnx.dequantize(TensorProto(data_type=99, dims=[1], raw_data=b"1"), scale)


# ---- models ----


@pytest.fixture
def model(tmp_path):
    x, scale, zero = operands("uint4")
    proto, _ = model_of(x, scale, zero, constant=True, block_size=16)
    onnx.save(proto, tmp_path / "model.onnx")
    return proto, tmp_path / "model.onnx", dequantized(x, scale, zero, block_size=16)


def test_expand(model, tmp_path):
    proto, path, expected = model
    before = proto.SerializeToString()
    for source in (proto, path, str(path)):
        expanded = dql.onnx.expand(source, jobs=2)
        onnx.checker.check_model(expanded)
        assert [n.op_type for n in expanded.graph.node] == []
        assert_same(numpy_helper.to_array(expanded.graph.initializer[0]), expected)
    assert proto.SerializeToString() == before
    report = dql.onnx.expand(path, tmp_path / "floats.onnx", external_data="floats.bin")
    assert "uint4" in report
    assert (tmp_path / "floats.bin").stat().st_size >= 4 * 280
    assert_same(numpy_helper.to_array(onnx.load(tmp_path / "floats.onnx").graph.initializer[0]), expected)


def test_expand_of_external_data(tmp_path):
    x = every_code("uint8", 4096)
    proto, _ = model_of(x, np.float32(0.5).reshape(()), constant=True)
    onnx.save(proto, tmp_path / "m.onnx", save_as_external_data=True, location="m.bin", size_threshold=0)
    bare = onnx.load(tmp_path / "m.onnx", load_external_data=False)
    for source, folder in ((tmp_path / "m.onnx", ""), (bare, tmp_path)):
        expanded = dql.onnx.expand(source, base_dir=folder)
        assert_same(numpy_helper.to_array(expanded.graph.initializer[0]), dequantized(x, np.float32(0.5)))


def test_expand_refuses(model, tmp_path):
    proto, path, _ = model
    (tmp_path / "text").write_text("hello")
    with pytest.raises(ValueError, match="not an ONNX"):
        dql.onnx.expand(tmp_path / "text")
    with pytest.raises(ValueError, match=r"No such file"):
        dql.onnx.expand(tmp_path / "missing")
    with pytest.raises(ValueError, match=r"model\.onnx"):
        dql.onnx.expand(path, path)
    with pytest.raises(ValueError, match="beside output"):
        dql.onnx.expand(path, external_data="x")
    with pytest.raises(ValueError, match="jobs"):
        dql.onnx.expand(path, jobs=0)
    with pytest.raises(ValueError, match="dtype"):
        dql.onnx.expand(path, dtype="int8")
    with pytest.raises(TypeError, match="model is a path or a ModelProto"):
        dql.onnx.expand(3)
    del proto.graph.initializer[0].dims[:]
    with pytest.raises(ValueError, match=r"x|bytes"):
        dql.onnx.expand(proto)


def test_inspect(model):
    proto, path, _ = model
    (node,) = dql.onnx.inspect(path)
    assert (node.taken, node.name) == (True, "y")
    assert node.description.startswith("uint4[4,70] * float32[4,5] -> float32; blocked")
    assert dql.onnx.inspect(proto) == [node]
    proto.graph.node[0].attribute.append(helper.make_attribute("unknown", 3))
    proto.graph.node[0].output[0] = proto.graph.output[0].name = "a  b  c"
    (node,) = dql.onnx.inspect(proto)
    assert (node.taken, node.name) == (False, "a  b  c")
    assert "unknown" in node.description
    with pytest.raises(ValueError, match=r"No such file"):
        dql.onnx.inspect("/nowhere")


def test_ml_dtypes_come_out_of_onnx():
    """What onnx gives for its small types is what dequantize takes."""
    tensor = numpy_helper.from_array(np.array([1, -2], ml_dtypes.int4))
    assert_same(dql.dequantize(numpy_helper.to_array(tensor), 1), np.array([1, -2], np.float32))
