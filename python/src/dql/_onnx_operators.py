"""DequantizeLinear for onnx.reference.ReferenceEvaluator; `dql.onnx` imports it when it is asked for it."""

from typing import Any

from numpy.typing import NDArray
from onnx.reference.op_run import OpRun

from dql import _core
from dql.onnx import type_name


class DequantizeLinear(OpRun):  # the evaluator goes by the name
    """ONNX's operator, of every opset."""

    op_domain = ""

    def _run(
        self,
        x: NDArray[Any],
        x_scale: NDArray[Any],
        x_zero_point: NDArray[Any] | None = None,
        axis: int | None = None,
        block_size: int | None = None,
        output_dtype: int | None = None,
    ) -> tuple[NDArray[Any]]:
        dtype = type_name(output_dtype) if output_dtype else None
        return (_core.dequantize(x, x_scale, x_zero_point, axis=axis, block_size=block_size, dtype=dtype),)


class MicrosoftDequantizeLinear(DequantizeLinear):
    """The operator of com.microsoft."""

    op_domain = "com.microsoft"


MicrosoftDequantizeLinear.__name__ = "DequantizeLinear"
__all__ = ["DequantizeLinear", "MicrosoftDequantizeLinear"]
