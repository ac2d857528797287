"""Plan: whole tensors, ranges, panels."""

import threading

import ml_dtypes
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from reference import X_TYPES, assert_same, bits_of, dequantized, every_code, is_integer, pack

import dql

SHAPE, SCALE_SHAPE, BLOCK = (9, 70), (9, 3), 32


def operands(name):
    x = every_code(name, 9 * 70, seed=3).reshape(SHAPE)
    scale = np.random.default_rng(4).random(SCALE_SHAPE, np.float32)
    zero = every_code(name, 27, seed=5).reshape(SCALE_SHAPE) if is_integer(name) else None
    return x, scale, zero


@pytest.fixture(params=sorted(X_TYPES))
def name(request):
    return request.param


@pytest.fixture(params=["elements", "bytes"])
def given_x(request, name):
    """The operands, as elements or as bytes; what they give."""
    x, scale, zero = operands(name)
    expected = dequantized(x, scale, zero, block_size=BLOCK)
    if request.param == "bytes":
        bits = bits_of(name)
        x, zero = (
            None if a is None else pack(a, bits) if bits < 8 else np.frombuffer(a.tobytes(), np.uint8)
            for a in (x, zero)
        )
    return (x, scale, zero), expected


def plan_of(name, **keywords):
    return dql.Plan(SHAPE, SCALE_SHAPE, x_type=name, block_size=BLOCK, **keywords)


def test_run(name, given_x):
    arguments, expected = given_x
    plan = plan_of(name)
    assert_same(plan.run(*arguments), expected)
    out = np.empty(SHAPE, np.float32)
    assert plan.run(*arguments, out=out, threads=2) is out
    assert_same(out, expected)


def test_ranges(name, given_x):
    arguments, expected = given_x
    plan, flat = plan_of(name), expected.reshape(-1)
    for begin, end in [(0, 630), (0, 0), (630, 630), (1, 2), (3, 630), (5, 100), (77, 140), (0, 1)]:
        assert_same(plan.run_range(*arguments, begin=begin, end=end), flat[begin:end])
    out = np.zeros(630, np.float32)
    for k in range(4):
        begin, end = plan.slice(4, k)
        plan.run_range(*arguments, begin=begin, end=end, out=out[begin:end])
    assert_same(out, flat)


def test_rows(name, given_x):
    arguments, expected = given_x
    plan = plan_of(name)
    for row, column, rows, length in [
        (0, 0, 9, 70),
        (1, 3, 4, 32),
        (8, 69, 1, 1),
        (2, 64, 5, 6),
        (0, 0, 0, 5),
        (3, 1, 2, 0),
    ]:
        panel = plan.rows(*arguments, begin=row * 70 + column, length=length, rows=rows)
        assert_same(panel, expected[row : row + rows, column : column + length])
    matrix = np.zeros((6, 50), np.float32)
    view = matrix[1:5, 7:39]
    assert plan.rows(*arguments, begin=70 + 3, length=32, rows=4, out=view) is view
    assert_same(view.copy(), expected[1:5, 3:35])
    assert not matrix[:, :7].any()
    assert not matrix[:, 39:].any()
    assert_same(plan.rows(*arguments, begin=2, length=10, rows=3, stride=0), np.tile(expected[0, 2:12], (3, 1)))


@settings(max_examples=200, deadline=None)
@given(st.data())
def test_any_part(data):
    name = data.draw(st.sampled_from(sorted(X_TYPES)))
    arguments = operands(name)
    flat = dequantized(*arguments, block_size=BLOCK).reshape(-1)
    begin = data.draw(st.integers(0, 630))
    length = data.draw(st.integers(0, 630 - begin))
    stride = data.draw(st.integers(0, 80))
    most = (630 - begin - length) // stride + 1 if stride else 5
    rows = data.draw(st.integers(0, min(most, 9)))
    panel = plan_of(name).rows(*arguments, begin=begin, length=length, rows=rows, stride=stride)
    expected = [flat[begin + r * stride : begin + r * stride + length] for r in range(rows)]
    assert_same(panel, np.array(expected, np.float32).reshape(rows, length))


def test_what_it_is():
    plan = dql.Plan((2, 6), (2, 2), x_type=ml_dtypes.uint4, dtype="bfloat16", axis=-1, block_size=3, isa="scalar")
    assert (plan.shape, plan.scale_shape, plan.size) == ((2, 6), (2, 2), 12)
    assert (plan.x_type, plan.scale_type, plan.dtype) == ("uint4", "float32", ml_dtypes.bfloat16)
    assert (plan.axis, plan.block_size, plan.isa) == (-1, 3, "scalar")
    assert repr(plan) == (
        "dql.Plan((2, 6), (2, 2), x_type='uint4', scale_type='float32', dtype='bfloat16', axis=-1, block_size=3)"
    )
    assert dql.Plan(5, x_type="int8").shape == (5,)
    assert dql.Plan((), x_type="int8").run(np.int8(3), 2.0) == 6
    with pytest.raises(AttributeError):
        plan.axis = 0


def refused(kind, text, *arguments, **keywords):
    with pytest.raises(kind, match=text):
        dql.Plan(*arguments, **keywords)


def test_errors_of_making():
    refused(TypeError, "x_type", (2, 6))
    refused(TypeError, "x is float32", (2, 6), x_type="float32")
    refused(TypeError, "scale is int8", (2, 6), x_type="int8", scale_type="int8")
    refused(TypeError, "dtype is int8", (2, 6), x_type="int8", dtype="int8")
    refused(ValueError, r"scale float32 \(5,\)", (2, 6), (5,), x_type="int8")
    refused(ValueError, "axis: .* beyond 64 bits", (2, 6), x_type="int8", axis=1 << 63)
    refused(TypeError, "block_size is an int", (2, 6), x_type="int8", block_size=0.5)
    refused(ValueError, "store is", (2, 6), x_type="int8", store="fast")
    refused(ValueError, "isa", (2, 6), x_type="int8", isa="fast")
    refused(ValueError, "is no dim", (-2, 6), x_type="int8")
    refused(ValueError, "x int8", (1 << 40, 1 << 40), x_type="int8")
    refused(TypeError, "nonsense", (2, 6), x_type="int8", nonsense=1)


def test_errors_of_running():
    plan, (x, scale, zero) = plan_of("int8"), operands("int8")
    for text, call in {
        r"x has shape \(70, 9\)": lambda: plan.run(x.T, scale, zero),
        r"scale has shape \(3, 9\)": lambda: plan.run(x, scale.T, zero),
        r"zero_point has shape \(27,\)": lambda: plan.run(x, scale, zero.reshape(-1)),
        "out has shape": lambda: plan.run_range(x, scale, zero, begin=1, end=5, out=np.empty(5, np.float32)),
        "begin and end are not in": lambda: plan.run_range(x, scale, zero, begin=5, end=4),
        "begin and end are not in the tensor's 630": lambda: plan.run_range(x, scale, zero, begin=5, end=631),
        "begin is at least 0": lambda: plan.run_range(x, scale, zero, begin=-1),
        "rows are not in": lambda: plan.rows(x, scale, zero, begin=71, length=70, rows=9),
        "rows are not in the": lambda: plan.rows(x, scale, zero, begin=0, length=2**63 - 1, rows=2**63 - 1),
        "its rows are not dense": lambda: plan.rows(
            x, scale, zero, begin=0, length=4, rows=2, out=np.empty((4, 2), np.float32).T
        ),
        "its rows are not dense, or": lambda: plan.rows(
            x,
            scale,
            zero,
            begin=0,
            length=4,
            rows=2,
            out=np.lib.stride_tricks.as_strided(np.empty(9, np.float32), (2, 4), (4, 4)),
        ),
        "there is no slice 4 of 4": lambda: plan.slice(4, 4),
        "there is no slice": lambda: plan.slice(0, 0),
    }.items():
        with pytest.raises(ValueError, match=text):
            call()
    with pytest.raises(TypeError, match="scale is float16, not float32"):
        plan.run(x, scale.astype(np.float16), zero)
    with pytest.raises(TypeError, match="zero_point is uint8, not int8"):
        plan.run(x, scale, zero.astype(np.uint8))
    with pytest.raises(TypeError, match="missing required argument"):
        plan.rows(x, scale, zero, begin=0, length=5)


def test_overlap_of_rows():
    plan = dql.Plan((4, 8), x_type="int16", dtype="float16")
    memory = np.arange(32, dtype=np.int16).reshape(4, 8)
    expected = dequantized(memory, np.float32(0.5), dtype=np.float16)
    with pytest.raises(ValueError, match="out overlaps x"):
        plan.rows(memory, 0.5, begin=0, length=4, rows=2, out=memory.view(np.float16)[1:3, 2:6])
    panel = memory.view(np.float16)[:, :8]
    plan.rows(memory, 0.5, begin=0, length=8, rows=4, out=panel)
    assert_same(panel, expected)


def test_threads_share_a_plan():
    x = every_code("uint4", 1 << 18).reshape(256, 1024)
    scale = np.random.default_rng(0).random((256, 32), np.float32)
    plan = dql.Plan(x.shape, scale.shape, x_type="uint4", block_size=32)
    out = np.empty(x.size, np.float32)

    def work(k):
        for _ in range(20):
            begin, end = plan.slice(4, k)
            plan.run_range(x, scale, begin=begin, end=end, out=out[begin:end])

    threads = [threading.Thread(target=work, args=(k,)) for k in range(4)]
    for t in threads:
        t.start()
    for t in threads:
        t.join()
    assert_same(out.reshape(x.shape), dequantized(x, scale, block_size=32))
