"""What dequantize has to give, in plain NumPy and ml_dtypes; and the types that there are."""

import ml_dtypes
import numpy as np

import dql

FLOATS = {"float32": np.dtype(np.float32), "float16": np.dtype(np.float16), "bfloat16": np.dtype(ml_dtypes.bfloat16)}


def dtype_of(name):
    """The dtype that holds dql's type, an element in bytes of its own."""
    for candidate in dir(ml_dtypes):
        plain = candidate.replace("_", "")
        if name in (plain, plain.removesuffix("fn"), plain.removesuffix("fnu")):
            return np.dtype(getattr(ml_dtypes, candidate))
    return np.dtype(name)


X_TYPES = {name: dtype_of(name) for name in dql.info().x_types}
SCALE_TYPES = {name: dtype_of(name) for name in dql.info().scale_types}


def bits_of(name):
    return int("".join(c if c.isdigit() else " " for c in name).split()[0])


def is_integer(name):
    return "int" in name


def every_code(name, size, seed=0):
    """An array of `size` elements: all codes in turn, or random ones where a type has more codes than that."""
    bits, dtype = bits_of(name), X_TYPES.get(name) or SCALE_TYPES[name]
    random = np.random.default_rng(seed)
    codes = np.resize(np.arange(1 << bits), size) if size >= 1 << bits else random.integers(0, 1 << bits, size)
    return codes.astype(f"u{dtype.itemsize}").view(dtype)


def spread(values, shape, axis, block_size):
    """Scales or zero points, one for each element of x."""
    if values.size == 1:
        return np.broadcast_to(values.reshape(()), shape)
    if block_size == 0:
        return np.broadcast_to(values.reshape([-1 if k == axis % len(shape) else 1 for k in range(len(shape))]), shape)
    return values.repeat(block_size, axis=axis).take(np.arange(shape[axis]), axis=axis)


def exact(x):
    """As numbers that differences of are exact."""
    return x.astype(np.int64) if x.dtype.kind in "iu" or "int" in x.dtype.name else x.astype(np.float32)


def dequantized(x, scale, zero_point=None, *, axis=1, block_size=0, dtype=None):
    """(x - zero_point) * scale, rounded to float32 and then to dtype."""
    difference = exact(x)
    if zero_point is not None and x.dtype.name != "bool" and is_integer(x.dtype.name):
        difference = difference - spread(exact(zero_point), x.shape, axis, block_size)
    with np.errstate(all="ignore"):
        product = difference.astype(np.float32) * spread(scale.astype(np.float32), x.shape, axis, block_size)
        return np.asarray(product).astype(dtype or scale.dtype)


def pack(x, bits):
    """Bytes of a stream of bits, the first element in the lowest ones; as slow as it is plain."""
    stream = (x.reshape(-1).view(np.uint8)[:, None] >> np.arange(bits)) & 1
    return np.packbits(stream.reshape(-1).astype(np.uint8), bitorder="little")


def assert_same(y, expected):
    """Every bit, but for the sign and payload of NaNs."""
    assert isinstance(y, np.ndarray)
    assert y.dtype == expected.dtype
    assert y.shape == expected.shape
    y, expected = np.atleast_1d(np.ascontiguousarray(y)), np.atleast_1d(np.ascontiguousarray(expected))
    with np.errstate(all="ignore"):
        is_nan = np.isnan(y.astype(np.float32))
        assert np.array_equal(is_nan, np.isnan(expected.astype(np.float32)))
    kind = f"u{y.dtype.itemsize}"
    np.testing.assert_array_equal(y.view(kind)[~is_nan], expected.view(kind)[~is_nan])
