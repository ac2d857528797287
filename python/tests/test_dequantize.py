"""dequantize against plain NumPy: types, granularities, layouts, outputs."""

import itertools
import math

import ml_dtypes
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from reference import (
    FLOATS,
    SCALE_TYPES,
    X_TYPES,
    assert_same,
    bits_of,
    dequantized,
    every_code,
    is_integer,
    pack,
)

import dql

SCALES = [1.0, 0.1, -3.0, 0.0, -0.0, math.inf, math.nan, 1e-40, 3e38, 65504.0, 6e-8]


# ---- every type ----


@pytest.mark.parametrize("name", X_TYPES)
def test_is_what_ml_dtypes_converts(name):
    """With scale 1 it is a conversion, and that is the one of ml_dtypes and NumPy."""
    x = every_code(name, 1 << 16)
    with np.errstate(all="ignore"):
        for dtype in FLOATS.values():
            assert_same(dql.dequantize(x, np.float32(1), dtype=dtype), x.astype(np.float32).astype(dtype))


@pytest.mark.parametrize(("x_type", "scale_type", "y_type"), [*itertools.product(X_TYPES, SCALE_TYPES, FLOATS)])
def test_types(x_type, scale_type, y_type):
    x = every_code(x_type, 7 * 300).reshape(7, 300)
    scale = np.array(SCALES[:7]).astype(np.float32).astype(SCALE_TYPES[scale_type])
    zero = every_code(x_type, 7, seed=1) if is_integer(x_type) else None
    y = dql.dequantize(x, scale, zero, axis=0, dtype=y_type)
    assert_same(y, dequantized(x, scale, zero, axis=0, dtype=FLOATS[y_type]))


@pytest.mark.parametrize("name", [name for name in X_TYPES if bits_of(name) < 8])
@pytest.mark.parametrize("size", [0, 1, 2, 3, 5, 8, 9, 63, 64, 65, 1 << 17, (1 << 17) + 3])
def test_packed_bytes_are_what_one_a_byte_is(name, size):
    x = every_code(name, size)
    packed = pack(x, bits_of(name))
    y = dql.dequantize(packed, np.float32(0.3), x_type=name, shape=size)
    assert_same(y, dequantized(x, np.float32(0.3)))
    assert_same(dql.dequantize(x, np.float32(0.3)), y)
    assert_same(dql.dequantize(packed.tobytes(), np.float32(0.3), x_type=X_TYPES[name], shape=(size,)), y)


@pytest.mark.parametrize("name", [name for name in X_TYPES if bits_of(name) < 8])
def test_bits_beyond_an_element_mean_nothing(name):
    bytes_ = np.arange(256, dtype=np.uint8)
    x = bytes_.view(X_TYPES[name])
    clean = (bytes_ & ((1 << bits_of(name)) - 1)).view(X_TYPES[name])
    assert_same(dql.dequantize(x, np.float32(1)), dql.dequantize(clean, np.float32(1)))


def test_every_isa_gives_the_same():
    x, scale = every_code("uint4", 3000).reshape(10, 300), np.random.default_rng(0).random((10, 10), np.float32)
    expected = dequantized(x, scale, block_size=30)
    for isa in dql.isas():
        assert_same(dql.dequantize(x, scale, block_size=30, isa=isa), expected)


# ---- any call ----


@st.composite
def calls(draw):
    """A name of an x type, x, scale, zero points, and keywords."""
    name = draw(st.sampled_from(sorted(X_TYPES)))
    shape = tuple(draw(st.lists(st.integers(0, 9), max_size=4)))
    keywords, scale_shape = {}, draw(st.sampled_from([(), (1,)]))
    granularity = draw(st.sampled_from(["tensor", "axis", "block"] if shape else ["tensor"]))
    if granularity != "tensor":
        axis = keywords["axis"] = draw(st.integers(-len(shape), len(shape) - 1))
        scale_shape = (shape[axis],)
    if granularity == "block":
        size = keywords["block_size"] = draw(st.integers(1, 12))
        scale_shape = tuple(-(-d // size) if k == axis % len(shape) else d for k, d in enumerate(shape))
    seed = draw(st.integers(0, 1 << 30))
    x = every_code(name, math.prod(shape), seed).reshape(shape)
    scale_type = SCALE_TYPES[draw(st.sampled_from(sorted(SCALE_TYPES)))]
    random = np.random.default_rng(seed)
    with np.errstate(all="ignore"):
        scale = random.choice(SCALES, scale_shape).astype(np.float32).astype(scale_type)
        scale = np.asarray(scale).reshape(scale_shape)
    zero = None
    if draw(st.booleans()):
        zero = every_code(name, scale.size, seed + 1).reshape(scale_shape)
        zero = zero if is_integer(name) else np.zeros(scale_shape, X_TYPES[name])
    keywords["dtype"] = FLOATS[draw(st.sampled_from(sorted(FLOATS)))]
    return name, x, scale, zero, keywords


def any_layout(draw, x):
    """The same elements, otherwise in memory."""
    layout = draw(st.sampled_from(["dense", "fortran", "reversed", "every other", "odd address", "read-only"]))
    if layout == "fortran":
        return x.copy(order="F")
    if layout == "reversed" and x.ndim:
        return x[::-1].copy()[::-1]
    if layout == "every other" and x.ndim:
        wide = np.zeros((*x.shape[:-1], 2 * x.shape[-1]), x.dtype)
        wide[..., ::2] = x
        return wide[..., ::2]
    if layout == "odd address":
        memory = np.empty(x.nbytes + 1, np.uint8)
        odd = memory[1:].view(x.dtype).reshape(x.shape)
        odd[...] = x
        return odd
    if layout == "read-only":
        x = x.copy()
        x.flags.writeable = False
    return x


@settings(max_examples=600, deadline=None)
@given(calls(), st.data())
def test_any_call(call, data):
    name, x, scale, zero, keywords = call
    expected = dequantized(x, scale, zero, **keywords)
    before = x.tobytes(), scale.tobytes()
    keywords |= {
        "isa": data.draw(st.sampled_from([None, *dql.isas()])),
        "threads": data.draw(st.sampled_from([None, 0, 1, 3])),
    }
    assert_same(dql.dequantize(any_layout(data.draw, x), any_layout(data.draw, scale), zero, **keywords), expected)
    packed = pack(x, bits_of(name)) if bits_of(name) < 8 else np.frombuffer(x.tobytes(), np.uint8)
    out = np.full(x.shape, 7, expected.dtype)
    y = dql.dequantize(packed, scale, zero, x_type=name, shape=x.shape, out=out, **keywords)
    assert y is out
    assert_same(out, expected)
    assert (x.tobytes(), scale.tobytes()) == before


def test_int32_differences_are_exact():
    x = np.array([2**31 - 1, -(2**31), 16777217, 5], np.int32)
    zero = np.array([-(2**31), 2**31 - 1, 1, -3], np.int32)
    y = dql.dequantize(x, np.ones(4, np.float32), zero, axis=0)
    assert_same(y, np.array([2**32 - 1, -(2**32) + 1, 16777216, 8], np.float32))


# ---- what a user types ----


def test_numbers_and_lists():
    x = np.array([[0, 1, 2], [3, 4, 5]], np.uint8)
    expected = dequantized(x, np.array([0.5, 1, 2], np.float32), np.array([1, 0, 255], np.uint8))
    assert_same(dql.dequantize(x, [0.5, 1, 2], [1, 0, 255]), expected)
    assert_same(dql.dequantize(x, 0.5, 3), dequantized(x, np.float32(0.5), np.uint8(3)))
    assert_same(dql.dequantize(x, 2), dequantized(x, np.float32(2)))
    assert_same(dql.dequantize(x.astype(ml_dtypes.int4), 0.5, -8), dequantized(x, np.float32(0.5), np.int8(-8)))
    assert_same(dql.dequantize(x.astype(ml_dtypes.float8_e5m2), 0.5, 0), dequantized(x, np.float32(0.5)))


def test_scalars_become_0d():
    y = dql.dequantize(np.int8(3), 0.5)
    assert_same(y, np.array(1.5, np.float32))
    assert_same(dql.dequantize(np.array(3, ml_dtypes.int4), np.float16(0.5)), np.array(1.5, np.float16))


@pytest.mark.parametrize("shape", [(0,), (0, 5), (5, 0), (2, 0, 3), (0, 1 << 40)])
def test_empty(shape):
    for x in (np.empty(shape, np.int8), np.empty(shape, ml_dtypes.int4)):
        y = dql.dequantize(x, 0.5, 1)
        assert y.shape == shape
        assert y.dtype == np.float32
    assert dql.dequantize(b"", 0.5, x_type="uint4", shape=shape).shape == shape


def test_spellings_of_dtype():
    for dtype in (np.float16, np.dtype(np.float16), "float16"):
        assert dql.dequantize(np.zeros(3, np.int8), 0.5, dtype=dtype).dtype == np.float16
    with pytest.raises(TypeError, match="dtype: dql has no element type 'half'"):
        dql.dequantize(np.zeros(3, np.int8), 0.5, dtype="half")  # one name a type
    assert dql.dequantize(np.zeros(3, np.int8), 0.5, dtype=ml_dtypes.bfloat16).dtype == ml_dtypes.bfloat16


def test_x_type_may_say_what_x_is():
    x = np.arange(8, dtype=np.int8)
    assert_same(dql.dequantize(x, 0.5, x_type=np.int8), dql.dequantize(x, 0.5))
    assert_same(dql.dequantize(x, 0.5, shape=(2, 4)), dql.dequantize(x.reshape(2, 4), 0.5))
    assert_same(dql.dequantize(x.astype(ml_dtypes.int4), 0.5, x_type="int4"), dql.dequantize(x, 0.5))
    e4m3 = np.arange(256, dtype=np.uint8).reshape(16, 16)
    assert_same(dql.dequantize(e4m3, 1, x_type="float8_e4m3fn"), dql.dequantize(e4m3.view(ml_dtypes.float8_e4m3fn), 1))


def test_byte_order():
    x, scale = np.arange(-9, 9, dtype=np.int16), np.array(0.25, np.float16)
    expected = dequantized(x, scale)
    assert_same(dql.dequantize(x.astype(">i2"), scale.astype(">f2"), np.array(0, ">i2")), expected)


def test_nan_in_scale_and_x():
    x = np.array([0, 0x7F, 0xFF, 1], np.uint8).view(ml_dtypes.float8_e4m3fn)
    assert np.isnan(dql.dequantize(x, math.inf)).tolist() == [True, True, True, False]
    assert np.isnan(dql.dequantize(x, math.nan)).all()


# ---- out ----


def test_out_may_be_x_itself():
    x = np.arange(-500, 500, dtype=np.int16)
    expected = dequantized(x, np.float32(0.5), dtype=np.float16)
    out = x.view(np.float16)
    assert dql.dequantize(x, 0.5, dtype=np.float16, out=out) is out
    assert_same(out, expected)
    x = np.arange(1 << 20, dtype=np.int32)
    expected = dequantized(x, np.float32(0.5))
    dql.dequantize(x, 0.5, out=x.view(np.float32), threads=2)
    assert_same(x.view(np.float32), expected)


def test_out_of_a_subclass_and_of_part_of_an_array():
    class Mine(np.ndarray):
        pass

    x, whole = np.arange(6, dtype=np.int8), np.zeros((3, 6), np.float32).view(Mine)
    row = whole[1]
    assert dql.dequantize(x, 0.5, out=row) is row
    assert whole.sum() == whole[1].sum() == 7.5
