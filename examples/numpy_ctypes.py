#!/usr/bin/env python3
"""dql from Python: dequantize(x, scale, zero, ...) on NumPy arrays, through ctypes and the shared library.

    python3 numpy_ctypes.py [libdql.so]
"""
import ctypes
import ctypes.util
import sys

import numpy as np

# The numbers of ONNX's TensorProto.DataType. NumPy has no type for some: bfloat16 is an array of uint16, what is smaller an
# array of uint8 (2-, 4- and 6-bit elements are packed), and the type says what they are.
FLOAT32, UINT8, INT8, UINT16, INT16, INT32, FLOAT16, BFLOAT16 = 1, 2, 3, 4, 5, 6, 10, 16
FLOAT8E4M3FN, FLOAT8E4M3FNUZ, FLOAT8E5M2, FLOAT8E5M2FNUZ, UINT4, INT4 = 17, 18, 19, 20, 21, 22
FLOAT4E2M1, FLOAT8E8M0, UINT2, INT2, FLOAT6E2M3, FLOAT6E3M2 = 23, 24, 25, 26, 27, 28

TYPE_OF = {"float32": FLOAT32, "uint8": UINT8, "int8": INT8, "uint16": UINT16, "int16": INT16, "int32": INT32,
           "float16": FLOAT16}
BITS_OF = {UINT2: 2, INT2: 2, UINT4: 4, INT4: 4, FLOAT4E2M1: 4, FLOAT6E2M3: 6, FLOAT6E3M2: 6, UINT16: 16, INT16: 16,
           FLOAT16: 16, BFLOAT16: 16, INT32: 32, FLOAT32: 32}
DTYPE_OF = {FLOAT32: np.float32, FLOAT16: np.float16, BFLOAT16: np.uint16}


class Spec(ctypes.Structure):
    """dql_spec."""

    _fields_ = [
        ("x_type", ctypes.c_int32),
        ("scale_type", ctypes.c_int32),
        ("y_type", ctypes.c_int32),
        ("store", ctypes.c_int32),
        ("isa", ctypes.c_int32),
        ("reserved0", ctypes.c_int32),
        ("rank", ctypes.c_size_t),
        ("shape", ctypes.POINTER(ctypes.c_int64)),
        ("scale_rank", ctypes.c_size_t),
        ("scale_shape", ctypes.POINTER(ctypes.c_int64)),
        ("axis", ctypes.c_int64),
        ("block_size", ctypes.c_int64),
        ("reserved", ctypes.c_uint64 * 4),
    ]


class Dql:
    def __init__(self, path=None):
        path = path or ctypes.util.find_library("dql") or "libdql.so.0.1"
        self.library = ctypes.CDLL(path)
        self.library.dql_dequantize.argtypes = [ctypes.POINTER(Spec)] + [ctypes.c_void_p] * 4
        self.library.dql_status_text.restype = ctypes.c_char_p
        self.library.dql_version.restype = ctypes.c_char_p

    def version(self):
        return self.library.dql_version().decode()

    def dequantize(self, x, scale, zero=None, *, axis=1, block_size=0, shape=None, x_type=None, scale_type=None,
                   y_type=None):
        """(x - zero) * scale. `shape` is x's; packed elements need it, since their array doesn't tell."""
        x, scale = np.asarray(x, order="C"), np.asarray(scale, order="C")
        zero = None if zero is None else np.asarray(zero, order="C")
        shape = x.shape if shape is None else shape
        scale_type = scale_type or TYPE_OF[scale.dtype.name]
        spec = Spec(x_type=x_type or TYPE_OF[x.dtype.name], scale_type=scale_type, y_type=y_type or scale_type,
                    rank=len(shape), shape=(ctypes.c_int64 * len(shape))(*shape),
                    scale_rank=scale.ndim, scale_shape=(ctypes.c_int64 * scale.ndim)(*scale.shape),
                    axis=axis, block_size=block_size)
        y = np.empty(shape, DTYPE_OF.get(spec.y_type, np.uint8))
        self.check_size("x", x, spec.x_type, y.size)
        self.check_size("scale", scale, scale_type, scale.size)
        if zero is not None:
            self.check_size("zero", zero, spec.x_type, scale.size)
        status = self.library.dql_dequantize(spec, x.ctypes.data, scale.ctypes.data,
                                             None if zero is None else zero.ctypes.data, y.ctypes.data)
        if status != 0:
            raise ValueError(self.library.dql_status_text(status).decode())
        return y

    @staticmethod
    def check_size(name, array, element_type, count):
        """The library trusts its pointers, so Python has to look."""
        bits = BITS_OF.get(element_type, 8)
        if array.nbytes < (count * bits + 7) // 8:
            raise ValueError(f"{name} has {array.nbytes} bytes: too few for {count} elements")


def main():
    dql = Dql(*sys.argv[1:])
    random = np.random.default_rng(1)

    # A scale and a zero point for each channel.
    x = random.integers(-128, 128, (64, 3, 5), np.int8)
    scale, zero = random.random(3, np.float32), random.integers(-128, 128, 3, np.int8)
    y = dql.dequantize(x, scale, zero, axis=1)
    expected = (x.astype(np.float32) - zero.astype(np.float32)[:, None]) * scale[:, None]
    assert y.dtype == np.float32 and y.tobytes() == expected.tobytes()

    # 4-bit weights in blocks of 32, packed two a byte, low nibble first.
    q = random.integers(0, 16, (16, 100), np.uint8)
    packed = q.reshape(-1, 2)[:, 0] | q.reshape(-1, 2)[:, 1] << 4
    scale = random.random((16, 4), np.float32).astype(np.float16)
    y = dql.dequantize(packed, scale, shape=q.shape, x_type=UINT4, axis=1, block_size=32)
    expected = (q.astype(np.float32) * scale.astype(np.float32).repeat(32, axis=1)[:, :100]).astype(np.float16)
    assert y.dtype == np.float16 and y.tobytes() == expected.tobytes()

    # MXFP6: float6e2m3, four elements in three bytes, and a power of two for every 32.
    codes = random.integers(0, 64, (16, 100), np.uint8)
    bits = np.unpackbits(codes.reshape(-1, 1), axis=1, count=6, bitorder="little")
    exponent = random.integers(120, 135, (16, 4), np.uint8)
    y = dql.dequantize(np.packbits(bits, bitorder="little"), exponent, shape=codes.shape, x_type=FLOAT6E2M3,
                       scale_type=FLOAT8E8M0, y_type=FLOAT32, axis=1, block_size=32)
    magnitude = codes & 31
    x = np.where(magnitude < 8, magnitude, np.ldexp(8.0 + magnitude % 8, magnitude // 8 - 1)) / 8
    expected = np.copysign(np.ldexp(x, exponent.astype(int).repeat(32, axis=1)[:, :100] - 127), 31.5 - codes).astype(np.float32)
    assert y.tobytes() == expected.tobytes()

    # Errors are exceptions.
    for arguments in [dict(axis=7), dict(axis=1, block_size=32, shape=(16, 200))]:
        try:
            dql.dequantize(packed, scale, x_type=UINT4, **{"shape": q.shape, **arguments})
        except ValueError as error:
            print(f"refused, as it should be: {error}")
        else:
            raise AssertionError(f"not refused: {arguments}")
    print(f"dql {dql.version()}")


if __name__ == "__main__":
    main()
