"""What is wrong is a TypeError or ValueError that says what, and y is not touched."""

import ml_dtypes
import numpy as np
import pytest

import dql

X = np.zeros((2, 6), np.int8)
S = np.float32(0.5)
X4 = X.astype(ml_dtypes.int4)


def refused(kind, text, *arguments, **keywords):
    with pytest.raises(kind, match=text):
        dql.dequantize(*arguments, **keywords)


@pytest.mark.parametrize(
    "x",
    [X.astype(np.int64), X.astype(np.float32), X.astype(bool), X.astype(complex), X.astype(ml_dtypes.float8_e4m3),
     X.astype(object), np.array(["a"]), X.astype("M8[s]"), np.zeros(3, [("a", "i1")])],
)  # fmt: skip
def test_types_of_x(x):
    refused(TypeError, "^x is .*(not of a type of dql|dql takes)", x, S)


@pytest.mark.parametrize("x", [None, 3, 0.5, [1, 2], "abc", object(), {}])
def test_what_is_no_tensor(x):
    refused(TypeError, "^x is an array", x, S)


def test_types_of_others():
    refused(TypeError, "^scale is float64", X, np.float64(0.5))
    refused(TypeError, r"^scale is int8; dql takes \('float32'", X, np.int8(1))
    refused(TypeError, "^scale is an array", X, "0.5")
    for scale in ([None], ["a"], 10**400, [True], [1j]):
        refused(TypeError, "^scale is an array, a number or a list", X, scale)
    refused(TypeError, "^zero_point is uint8, not int8", X, S, np.uint8(1))
    refused(TypeError, "^zero_point is uint8, not int4", X4, S, np.uint8(1))
    refused(TypeError, "^zero_point is an array, an int", X, S, 0.5)
    refused(TypeError, "^zero_point is an array, an int", X, S, [0.5])
    refused(ValueError, "^zero_point 128 is no int8: these are from -128 to 127", X, S, 128)
    refused(ValueError, "^zero_point -1 is no uint8", X.astype(np.uint8), S, -1)
    refused(ValueError, "^zero_point 8 is no int4", X4, S, [8])
    refused(ValueError, "^zero_point 1 is no float8e5m2", X.astype(ml_dtypes.float8_e5m2), S, 1)
    refused(ValueError, "zero", X.astype(ml_dtypes.float8_e5m2), S, np.array(1, ml_dtypes.float8_e5m2))
    refused(TypeError, r"^dtype is int8; dql takes \('float32', 'float16', 'bfloat16'\)", X, S, dtype=np.int8)
    refused(TypeError, "^dtype: dql has no element type", X, S, dtype=float)
    refused(TypeError, "^dtype: dql has no element type 'nonsense'", X, S, dtype="nonsense")
    refused(TypeError, "^dtype has to be given", X, np.array(1, ml_dtypes.float8_e8m0fnu))
    refused(TypeError, "^x_type: dql has no element type", X, S, x_type="int5")
    refused(TypeError, "^x_type: dql has no element type", X, S, x_type=3.5)
    refused(TypeError, "^x is int8, not uint4", X, S, x_type="uint4", shape=(2, 6))
    refused(TypeError, r"^x is float16; dql takes", X.astype(np.uint8), S, x_type="float16", shape=6)


def test_shapes():
    refused(ValueError, r"x int8 \(2, 6\), scale float32 \(5,\), axis 1, block_size 0", X, np.ones(5, np.float32))
    refused(ValueError, "axis", X, np.ones(6, np.float32), axis=2)
    refused(ValueError, "axis", X, np.ones(6, np.float32), axis=-3)
    refused(ValueError, "axis: .* beyond 64 bits", X, np.ones(6, np.float32), axis=1 << 70)
    refused(ValueError, "block", X, np.ones((2, 2), np.float32))
    refused(ValueError, "block", X, np.ones((2, 2), np.float32), block_size=2)
    refused(ValueError, "block", X, np.ones((2, 2), np.float32), block_size=-3)
    refused(
        ValueError, r"^zero_point has shape \(1, 6\), not \(6,\)", X, np.ones(6, np.float32), np.zeros((1, 6), np.int8)
    )
    refused(ValueError, r"^zero_point has shape \(5,\), not \(6,\)", X, np.ones(6, np.float32), [0] * 5)
    refused(ValueError, r"^x has shape \(2, 6\), not \(3, 4\)", X, S, shape=(3, 4))


@pytest.mark.filterwarnings("ignore:Creating an ndarray from ragged")  # which NumPy refuses from 1.24 on
def test_ragged_lists():
    refused((ValueError, TypeError), "inhomogeneous|list of numbers", X, [[1, 2], [3]])


def test_bytes():
    packed = np.zeros(6, np.uint8)
    refused(TypeError, "^x is bytes that hold uint4: shape has to say", packed, S, x_type="uint4")
    refused(ValueError, r"^x has 6 bytes, but uint4 of shape \(2, 7\) takes 7", packed, S, x_type="uint4", shape=(2, 7))
    refused(ValueError, r"^x has 6 bytes, but uint4 of shape \(2, 5\) takes 5", packed, S, x_type="uint4", shape=(2, 5))
    refused(ValueError, "no memory holds", packed, S, x_type="uint4", shape=(1 << 40, 1 << 40))
    refused(ValueError, "no memory holds", packed, S, x_type="uint4", shape=(1 << 62,))
    refused(ValueError, "is no dim", packed, S, x_type="uint4", shape=(-1,))
    refused(ValueError, "is no dim", packed, S, x_type="uint4", shape=(1 << 63,))
    refused(ValueError, "shape has 65 dims", packed, S, x_type="uint4", shape=(1,) * 65)
    refused(TypeError, "^shape is an int or a sequence", packed, S, x_type="uint4", shape="12")
    refused(TypeError, "float", packed, S, x_type="uint4", shape=(2.0, 6))
    scale = np.ones(6, np.float32)
    zero = np.zeros(6, np.uint8)
    refused(ValueError, "^zero_point has 6 bytes, but uint4", packed, scale, zero, x_type="uint4", shape=(2, 6))


def test_out():
    good = np.full((2, 6), 7, np.float32)
    read_only = good.copy()
    read_only.flags.writeable = False
    refused(ValueError, "^out is read-only", X, S, out=read_only)
    refused(ValueError, r"^out has shape \(6, 2\), not \(2, 6\)", X, S, out=good.reshape(6, 2))
    refused(ValueError, "^out is not C-contiguous", X, S, out=np.asfortranarray(good))
    refused(ValueError, "^out is not C-contiguous", X, S, out=np.zeros((2, 12), np.float32)[:, ::2])
    refused(TypeError, "^out is float16, not float32", X, S, out=good.astype(np.float16))
    refused(TypeError, "^out is float64, not float32", X, S, out=good.astype(np.float64))
    refused(TypeError, "^out is not in the CPU's byte order", X, S, out=good.astype(good.dtype.newbyteorder()))
    refused(TypeError, "^out is an array", X, S, out=[0.0] * 12)
    refused(TypeError, "^out is an array", X, S, out=bytearray(48))
    refused(TypeError, "^out is an array", np.int8(1), S, out=np.float32(0))
    refused(ValueError, "scale", X, np.ones(5, np.float32), out=good)
    assert (good == 7).all()


def test_overlap():
    memory = np.zeros(100, np.uint8)
    x, out = memory[4:16].view(np.int8), memory[8:56].view(np.float32)
    refused(ValueError, "^out overlaps x", x, S, out=out)
    dql.dequantize(x.copy(), S, out=out)
    dql.dequantize(memory[:8].view(np.int8), S, out=memory[8:40].view(np.float32))  # beside it
    refused(
        ValueError, "^out overlaps x", memory[:4].view(np.int16), S, dtype=np.float16, out=memory[2:6].view(np.float16)
    )
    refused(ValueError, "^out overlaps scale", x.copy(), memory[52:56].view(np.float32).reshape(()), out=out)
    zero = memory[55:56].view(np.int8)
    refused(ValueError, "^out overlaps zero_point", x.copy(), S, zero, out=out)


def test_options():
    refused(ValueError, r"^isa: 'nonsense' is not available here; \('scalar'", X, S, isa="nonsense")
    refused(ValueError, "^isa: 'sve2' is not available", X, S, isa="sve2")
    refused(TypeError, "^isa is a string", X, S, isa=2)
    refused(ValueError, "^threads is at least 0", X, S, threads=-1)
    refused(TypeError, "^threads is an int", X, S, threads=1.5)
    refused(TypeError, "^axis is an int", X, S, axis="1")
    refused(TypeError, "^block_size is an int", X, S, block_size=1.0)
    refused(TypeError, r"^dequantize\(\) got an unexpected keyword argument 'axes'", X, S, axes=1)
    refused(TypeError, r"^dequantize\(\) got multiple values for argument 'scale'", X, S, scale=S)
    refused(TypeError, r"^dequantize\(\) missing required argument 'scale'", X)
    refused(TypeError, r"^dequantize\(\) takes 3 positional arguments but 4", X, S, None, 1)
    dql.dequantize(
        X, S, None, axis=None, block_size=None, dtype=None, x_type=None, shape=None, out=None, threads=None, isa=None
    )


def test_what_can_not_be_allocated():
    with pytest.raises((MemoryError, ValueError)):
        dql.dequantize(np.broadcast_to(np.int8(0), (1 << 31, 1 << 31)), S)


@pytest.mark.parametrize("bad", ["__dlpack__", "__array__"])
def test_errors_of_others_come_through(bad):
    class Broken:
        pass

    def broken(self, *arguments, **keywords):
        raise KeyError("broken")

    setattr(Broken, bad, broken)
    with pytest.raises(KeyError, match="broken"):
        dql.dequantize(Broken(), S)
