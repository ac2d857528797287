"""A float model from a 4-bit one, the error of quantizing one layer, and how long it takes: dql in Python.

    python four_bits.py [FOLDER]      # FOLDER is where the picture goes: docs/python, or here

Needs dql, onnx and matplotlib; onnxruntime and PyTorch are measured where they are installed.
"""

# %% A layer with 4-bit weights, a scale for every 32 of a row: what quantizers make of language models.
import sys
import time
from collections.abc import Callable
from pathlib import Path

import matplotlib as mpl
import ml_dtypes
import numpy as np
import onnx
from numpy.typing import NDArray
from onnx import helper, numpy_helper

import dql
import dql.onnx

Floats = NDArray[np.float32]
ROWS, COLUMNS, BLOCK = 1024, 4096, 32


def weights() -> Floats:
    """Normal weights with a few outliers, as trained layers have them."""
    random = np.random.default_rng(1)
    w = random.standard_normal((ROWS, COLUMNS), np.float32) * np.float32(0.02)
    w[random.random(w.shape) < 0.001] *= 8
    return w


def quantize(w: Floats, block: int) -> tuple[NDArray[ml_dtypes.int4], Floats]:
    """Symmetric: the largest of each block becomes 7 or -7."""
    blocks = w.reshape(ROWS, -1, block)
    scale = np.abs(blocks).max(axis=2) / np.float32(7)
    codes = np.rint(blocks / scale[:, :, None]).reshape(w.shape).astype(ml_dtypes.int4)
    return codes, scale


w = weights()
codes, scale = quantize(w, BLOCK)

# %% The model, its layer y = x @ dequantized(codes); and the float model that dql makes of it.
nodes = [
    helper.make_node("DequantizeLinear", ["codes", "scale"], ["w"], axis=1, block_size=BLOCK),
    helper.make_node("MatMul", ["x", "w"], ["y"]),
]
graph = helper.make_graph(
    nodes,
    "layer",
    [helper.make_tensor_value_info("x", onnx.TensorProto.FLOAT, ["n", ROWS])],
    [helper.make_tensor_value_info("y", onnx.TensorProto.FLOAT, ["n", COLUMNS])],
    [numpy_helper.from_array(codes, "codes"), numpy_helper.from_array(scale, "scale")],
)
model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 21)], ir_version=10)
for node in dql.onnx.inspect(model):
    print(node.name, node.description)
floats = dql.onnx.expand(model)
print(f"4 bits: {model.ByteSize():,} bytes; floats: {floats.ByteSize():,} bytes")
initializer = next(t for t in floats.graph.initializer if t.name == "w")
assert np.array_equal(numpy_helper.to_array(initializer), dql.dequantize(codes, scale, block_size=BLOCK))

# %% What quantizing costs in precision, for blocks of several lengths.
errors = {block: dql.dequantize(*quantize(w, block), block_size=block) - w for block in (16, 32, 128, 1024)}
for block, error in errors.items():
    print(f"blocks of {block}: root mean square error {np.sqrt(np.mean(error**2)) / w.std():.4f} of the weights'")


# %% How long dequantizing takes, beside what else can do it.
def best_ms(function: Callable[[], object]) -> float:
    """The shortest of many runs, in milliseconds."""
    function()
    times = []
    stop = time.perf_counter() + 1.5
    while len(times) < 5 or time.perf_counter() < stop:
        start = time.perf_counter()
        function()
        times.append(time.perf_counter() - start)
    return min(times) * 1e3


def numpy_packed(packed: NDArray[np.uint8], out: Floats) -> Floats:
    """Two elements a byte, by NumPy alone."""
    q = np.empty((packed.size, 2), np.int8)
    q[:, 0] = (packed << 4).view(np.int8) >> 4
    q[:, 1] = packed.view(np.int8) >> 4
    return np.multiply(
        q.reshape(ROWS, -1, BLOCK), scale[:, :, None], out=out.reshape(ROWS, -1, BLOCK), dtype=np.float32
    )


out = np.empty(w.shape, np.float32)
packed = np.frombuffer(numpy_helper.from_array(codes).raw_data, np.uint8)
plan = dql.Plan(codes.shape, scale.shape, x_type="int4", block_size=BLOCK)
assert np.array_equal(numpy_packed(packed, out.copy()).reshape(w.shape), plan.run(packed, scale))
times = {
    "dql, packed": best_ms(lambda: plan.run(packed, scale, out=out)),
    "dql, packed, 2 threads": best_ms(lambda: plan.run(packed, scale, out=out, threads=2)),
    "dql, int4 of ml_dtypes": best_ms(lambda: plan.run(codes, scale, out=out)),
    "NumPy, packed": best_ms(lambda: numpy_packed(packed, out)),
    "ml_dtypes": best_ms(lambda: codes.astype(np.float32).reshape(ROWS, -1, BLOCK) * scale[:, :, None]),
}

try:
    import torch
except ImportError:
    print("PyTorch is not installed, and not measured")
else:
    torch.set_num_threads(1)
    as_int8, torch_scale = (
        torch.from_numpy(codes.astype(np.int8)).view(ROWS, -1, BLOCK),
        torch.from_numpy(scale)[:, :, None],
    )
    torch_out = torch.empty(as_int8.shape)
    times["PyTorch, int8"] = best_ms(lambda: torch.mul(as_int8, torch_scale, out=torch_out))

try:
    import onnxruntime
except ImportError:
    print("onnxruntime is not installed, and not measured")
else:
    only = helper.make_graph(
        nodes[:1], "only", [], [helper.make_tensor_value_info("w", 1, w.shape)], list(graph.initializer)
    )
    only_model = helper.make_model(only, opset_imports=model.opset_import, ir_version=10).SerializeToString()
    for label, plugged in (("onnxruntime", False), ("onnxruntime with dql", True)):
        options = onnxruntime.SessionOptions()
        options.intra_op_num_threads = 1
        options.graph_optimization_level = onnxruntime.GraphOptimizationLevel.ORT_DISABLE_ALL  # or it is computed once
        if plugged:
            dql.onnxruntime.add_to(options)
        session = onnxruntime.InferenceSession(only_model, options)
        assert np.array_equal(session.run(None, {})[0], plan.run(packed, scale))
        times[label] = best_ms(lambda session=session: session.run(None, {}))  # type: ignore[misc]

for label, ms in times.items():
    print(f"{label:24} {ms:8.2f} ms  {w.size / ms / 1e6:6.2f} elements a ns")

# %% The picture.
mpl.use("svg")
mpl.rcParams["svg.hashsalt"] = "dql"
import matplotlib.pyplot as plt  # noqa: E402

BLUE, ORANGE = "#0072b2", "#e69f00"  # Okabe and Ito's: safe for colour-blind readers
figure, (left, right) = plt.subplots(1, 2, figsize=(11, 3.8), layout="constrained")
for block, error in errors.items():
    heights, edges = np.histogram(error / w.std(), bins=201, range=(-0.6, 0.6), density=True)
    left.plot((edges[1:] + edges[:-1]) / 2, heights, label=f"blocks of {block}")
left.set(
    xlabel="error / standard deviation of the weights", ylabel="density", title="Error of 4-bit weights of one layer"
)
left.set_ylim(bottom=0)
left.legend(frameon=False)
bars = right.barh(list(times), list(times.values()), color=[BLUE if "dql" in label else ORANGE for label in times])
right.bar_label(bars, fmt="%.2g ms", padding=3)
right.set(xscale="log", title=f"Dequantizing its {w.size / 1e6:.1f} million elements", xlabel="milliseconds")
right.margins(x=0.25)
right.invert_yaxis()
for axes in (left, right):
    axes.spines[["top", "right"]].set_visible(False)
folder = Path(sys.argv[1] if len(sys.argv) > 1 else ".")
figure.savefig(folder / "four_bits.svg", metadata={"Date": None})
print(f"the picture is {folder / 'four_bits.svg'}")
