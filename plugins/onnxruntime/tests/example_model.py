"""Writes the model that the examples of docs/onnxruntime.md run: y = x · w, where w is int4 with a bfloat16 scale for every
16 elements of a row, and a Cast to float32. Plain ONNX Runtime has no kernel for that.

    example_model.py OUT.onnx
"""
import sys

sys.dont_write_bytecode = True
from onnx_models import graph, message, model, node, tensor, value  # noqa: E402

FLOAT32 = 1


def main(path):
    codes = bytes(i * 73 % 256 for i in range(64 * 32 // 2))
    scale = b"\x80\x3d" * (64 * 2)  # 1/16
    cast = message((1, "w16"), (2, "w"), (4, "Cast"), (5, message((1, "to"), (3, FLOAT32), (20, 2))))
    nodes = [node("DequantizeLinear", ["w_x", "w_scale"], ["w16"], name="weights", axis=1, block_size=16), cast,
             node("MatMul", ["x", "w"], ["y"])]
    content = model(graph(nodes, [value("x", "float32", ["batch", 64])], [value("y", "float32", ["batch", 32])],
                          [tensor("w_x", "int4", [64, 32], codes), tensor("w_scale", "bfloat16", [64, 2], scale)]))
    with open(path, "wb") as file:
        file.write(content)


if __name__ == "__main__":
    main(*sys.argv[1:])
