"""What a user's type checker sees of dql: mypy --strict reads this, nothing runs it."""

from pathlib import Path
from typing import Any, assert_type

import ml_dtypes
import numpy as np
import onnx
import onnxruntime
from numpy.typing import NDArray

import dql
import dql.onnx

x = np.zeros((2, 6), np.int8)
scale = np.ones((2, 2), np.float32)
out = np.empty((2, 6), np.float32)

assert_type(dql.dequantize(x, scale, block_size=3), NDArray[Any])
assert_type(dql.dequantize(x, 0.5, 3, dtype=np.float16), NDArray[np.float16])
assert_type(dql.dequantize(x, [0.5, 1], [0, 1], axis=0, dtype=np.dtype(np.float32)), NDArray[np.float32])
assert_type(dql.dequantize(x, 0.5, dtype=ml_dtypes.bfloat16), NDArray[ml_dtypes.bfloat16])
assert_type(dql.dequantize(x, 0.5, dtype="bfloat16", threads=2, isa="scalar"), NDArray[Any])
assert_type(dql.dequantize(bytes(6), 0.5, x_type="uint4", shape=(2, 6)), NDArray[Any])
assert_type(dql.dequantize(memoryview(b""), np.float32(1), x_type=ml_dtypes.uint4, shape=[0]), NDArray[Any])
assert_type(dql.dequantize(x, scale, out=out), np.ndarray[tuple[int, int], np.dtype[np.float32]])

plan = dql.Plan((2, 6), (2, 2), x_type="int8", block_size=3)
assert_type(plan.run(x, scale, threads=0), NDArray[Any])
assert_type(plan.run_range(x, scale, begin=0, end=5), NDArray[Any])
assert_type(plan.rows(x, scale, begin=0, length=2, rows=2), NDArray[Any])
assert_type(plan.slice(2, 0), tuple[int, int])
assert_type(plan.dtype, np.dtype[Any])

assert_type(dql.info().x_types, tuple[str, ...])
assert_type(dql.isas(), tuple[str, ...])
assert_type(dql.get_include(), str)

assert_type(dql.onnx.expand(Path("model.onnx")), onnx.ModelProto)
assert_type(dql.onnx.expand("model.onnx", "floats.onnx", external_data="floats.bin"), str)
assert_type(dql.onnx.inspect(onnx.ModelProto())[0].taken, bool | None)
assert_type(dql.onnx.dequantize(onnx.TensorProto(), onnx.TensorProto()), NDArray[Any])
dql.onnxruntime.add_to(onnxruntime.SessionOptions(), isa="avx2")
