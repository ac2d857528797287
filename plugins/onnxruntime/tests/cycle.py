"""Registers the plug-in, runs it and unregisters it 100 times in one process; fails if memory grows.

    cycle.py LIBONNXRUNTIME.so PLUGIN

What a cycle without the plug-in leaves behind, which is ONNX Runtime's, does not count. (That nothing of less than LEAST_LEAK
bytes is left either, test_faults.c verifies.)
"""
import ctypes
import gc
import statistics
import sys

sys.dont_write_bytecode = True
from onnx_models import graph, model, node, tensor, value  # noqa: E402
from runtimes import LibraryRuntime, Tensor  # noqa: E402

CYCLES, LEAST_LEAK = 100, 256


class Mallinfo2(ctypes.Structure):
    _fields_ = [(name, ctypes.c_size_t) for name in (
        "arena", "ordblks", "smblks", "hblks", "hblkhd", "usmblks", "fsmblks", "uordblks", "fordblks", "keepcost")]


def bytes_in_use():
    libc = ctypes.CDLL(None)
    libc.mallinfo2.restype = Mallinfo2
    info = libc.mallinfo2()
    return info.uordblks + info.hblkhd


def product():
    return model(graph([node("DequantizeLinear", ["x", "s"], ["w"], axis=0), node("MatMul", ["a", "w"], ["y"])],
                       [value("a", "float32", ["n", 16])], [value("y", "float32")],
                       [tensor("x", "int16", [16, 8], bytes(range(256))), tensor("s", "float32", [16], bytes(64))]))


def cycle(library, plugin):
    runtime = LibraryRuntime(library, plugin)
    session = runtime.session(product(), plugin=bool(plugin), options={"isa": "scalar"})
    session.run({"a": Tensor("float32", [3, 16], bytes(192))})
    session.close()
    runtime.close()


def growth(library, plugin):
    """Bytes that a cycle leaves behind."""
    before = bytes_in_use()
    cycle(library, plugin)
    return bytes_in_use() - before


def main(library, plugin):
    """In turn, since what the runtime leaves behind may grow with time; medians, since a cycle may make room for many."""
    gc.collect()
    grown = [(growth(library, None), growth(library, plugin)) for _ in range(CYCLES)]
    plain, with_plugin = map(statistics.median, zip(*grown))
    print(f"{CYCLES} cycles: {with_plugin:.0f} bytes stay behind in each, {plain:.0f} without the plug-in")
    # 1.30 leaves some 13 KB itself, and not always the same.
    return 0 if with_plugin - plain < (LEAST_LEAK if plain < 1 << 13 else plain) else 1


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
