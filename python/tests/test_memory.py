"""Memory maps, other libraries' tensors, buffers, references, leaks, threads."""

import array
import contextlib
import gc
import mmap
import sys
import threading
import time
import tracemalloc

import ml_dtypes
import numpy as np
import pytest
from reference import assert_same, dequantized, every_code, pack

import dql

# ---- maps and buffers ----


def test_read_only_map_is_not_copied(tmp_path):
    every_code("uint8", 1 << 22).tofile(tmp_path / "x")
    x = np.memmap(tmp_path / "x", np.uint8, "r")
    expected = dequantized(np.asarray(x), np.float32(0.5))
    out = np.empty(x.shape, np.float32)
    tracemalloc.start()
    try:
        dql.dequantize(x, 0.5, out=out)
        assert tracemalloc.get_traced_memory()[1] < 1 << 16
        tracemalloc.reset_peak()
        dql.dequantize(x.view(ml_dtypes.uint4), 0.5, out=out)  # packed in slices, on the stack
        assert tracemalloc.get_traced_memory()[1] < 1 << 16
    finally:
        tracemalloc.stop()
    assert_same(dql.dequantize(x, 0.5), expected)
    with pytest.raises(ValueError, match="read-only"):
        dql.dequantize(np.zeros(1 << 20, np.int8), 0.5, out=x.view(np.float32))


def test_mmap_with_an_odd_offset(tmp_path):
    codes = every_code("int4", 1001)
    (tmp_path / "x").write_bytes(b"head1" + pack(codes, 4).tobytes())
    with open(tmp_path / "x", "rb") as file, mmap.mmap(file.fileno(), 0, prot=mmap.PROT_READ) as map_:
        x = memoryview(map_)[5:]
        assert_same(dql.dequantize(x, 0.5, x_type="int4", shape=1001), dequantized(codes, np.float32(0.5)))
        x.release()


def test_buffers():
    expected = dequantized(np.arange(8, dtype=np.int8), np.float32(0.5))
    assert_same(dql.dequantize(array.array("b", range(8)), 0.5), expected)
    assert_same(dql.dequantize(bytearray(range(8)), 0.5), expected)
    assert_same(dql.dequantize(bytes(range(8)), 0.5, x_type="int8"), expected)
    assert_same(dql.dequantize(memoryview(array.array("h", range(8)))[::2], 0.5), expected[::2])
    assert_same(dql.dequantize(bytes(range(8)), array.array("f", [0.5])), expected)
    with pytest.raises(TypeError, match="x is float64"):
        dql.dequantize(array.array("d", [1]), 0.5)


# ---- DLPack ----


class Foreign:
    """A tensor of a library that speaks DLPack and nothing else."""

    def __init__(self, tensor, versioned=True):
        self.tensor, self.versioned, self.exports = tensor, versioned, 0

    def __dlpack__(self, **keywords):
        self.exports += 1
        if not self.versioned:
            if keywords:
                raise TypeError("what is max_version?")
            return self.tensor.__dlpack__()
        try:
            return self.tensor.__dlpack__(max_version=(1, 0))
        except TypeError:
            return self.tensor.__dlpack__()

    def __dlpack_device__(self):
        return self.tensor.__dlpack_device__()


@pytest.mark.parametrize("versioned", [True, False])
def test_dlpack(versioned):
    x, scale = np.arange(-30, 30, dtype=np.int16).reshape(6, 10), np.random.default_rng(0).random(10, np.float32)
    foreign, expected = Foreign(x, versioned), dequantized(x, scale)
    count = sys.getrefcount(x)
    y = dql.dequantize(foreign, Foreign(scale, versioned), Foreign(np.zeros(10, np.int16), versioned))
    assert_same(y, expected)
    assert_same(dql.dequantize(Foreign(x[:, ::2], versioned), scale[::2]), expected[:, ::2])
    assert_same(dql.dequantize(Foreign(x[::-1].T, versioned), scale, axis=0), expected[::-1].T)
    out = Foreign(np.zeros((6, 10), np.float32), versioned)
    assert dql.dequantize(x, scale, out=out) is out
    assert_same(out.tensor, expected)
    assert foreign.exports == 1 + (not versioned)
    del y
    gc.collect()
    assert sys.getrefcount(x) == count


def test_dlpack_refuses():
    with pytest.raises(TypeError, match=r"DLPack's code 2 of 64 bits|is float64"):
        dql.dequantize(Foreign(np.zeros(3)), 0.5)
    read_only = np.zeros(3, np.float32)
    read_only.flags.writeable = False
    with pytest.raises((ValueError, TypeError), match=r"read-?only|writeable"):  # an old NumPy doesn't export it at all
        dql.dequantize(np.zeros(3, np.int8), 0.5, out=Foreign(read_only))

    class NoCapsule:
        def __dlpack__(self, **keywords):
            return 3

    with pytest.raises(TypeError, match="gives no tensor"):
        dql.dequantize(NoCapsule(), 0.5)


# ---- PyTorch ----


class TestTorch:
    """CPU tensors of PyTorch, where it is installed."""

    @pytest.fixture(autouse=True)
    def _torch(self):
        self.torch = pytest.importorskip("torch", reason="PyTorch is not installed (CI does not install it)")

    def test_integers(self):
        x, scale = self.torch.arange(-30, 30, dtype=self.torch.int8).reshape(6, 10), self.torch.rand(10)
        assert_same(dql.dequantize(x, scale), dequantized(x.numpy(), scale.numpy()))
        assert_same(dql.dequantize(x.T, scale, axis=0), dequantized(x.numpy().T, scale.numpy(), axis=0))

    @pytest.mark.parametrize("name", ["float8_e4m3fn", "float8_e4m3fnuz", "float8_e5m2", "float8_e5m2fnuz"])
    def test_float8(self, name):
        codes = np.arange(256, dtype=np.uint8)
        x = self.torch.from_numpy(codes).view(getattr(self.torch, name))
        expected = codes.view(getattr(ml_dtypes, name)).astype(np.float32)
        assert_same(dql.dequantize(x, 1.0), expected)
        np.testing.assert_array_equal(x.to(self.torch.float32).numpy(), expected)

    def test_bfloat16(self):
        x, scale = np.arange(64, dtype=np.int8).reshape(8, 8), self.torch.rand(8).to(self.torch.bfloat16)
        expected = dql.dequantize(x, scale)
        assert expected.dtype == ml_dtypes.bfloat16
        out = self.torch.empty(8, 8, dtype=self.torch.bfloat16)
        assert dql.dequantize(x, scale, out=out) is out
        assert out.view(self.torch.uint16).numpy().tobytes() == expected.tobytes()

    def test_gradients_are_refused(self):
        with pytest.raises(ValueError, match="gradient"):
            dql.dequantize(np.zeros(3, np.int8), self.torch.ones(3, requires_grad=True), axis=0)


# ---- references and leaks ----


def calls():
    """Calls of every kind, those that fail too."""
    x, scale = np.zeros((4, 6), np.int8), np.ones(6, np.float32)
    zero, out = np.zeros(6, np.int8), np.empty((4, 6), np.float32)
    x4, packed = x.astype(ml_dtypes.int4), np.zeros(12, np.uint8)
    plan = dql.Plan((4, 6), (6,), x_type="int4")
    arrays = x, scale, zero, out, x4, packed
    return arrays, [
        lambda: dql.dequantize(x, scale, zero, dtype="bfloat16"),
        lambda: dql.dequantize(x, scale, zero, out=out, threads=2),
        lambda: dql.dequantize(x[:, ::-1], scale, zero),
        lambda: dql.dequantize(x4, [1.0] * 6, [0] * 6, dtype=ml_dtypes.bfloat16),
        lambda: dql.dequantize(packed, scale, bytes(3), x_type="uint4", shape=(4, 6)),
        lambda: dql.dequantize(Foreign(x), Foreign(scale), out=Foreign(out)),
        lambda: dql.dequantize(memoryview(packed), 0.5),
        lambda: plan.run(x4, scale, out=out),
        lambda: plan.run_range(packed, scale, begin=3),
        lambda: plan.rows(x4, scale, begin=3, length=2, rows=2),
        lambda: repr(dql.Plan(4, x_type="int8")),
        lambda: dql.info(),
        lambda: dql.dequantize(x, scale, out=x4),
        lambda: dql.dequantize(x, scale, zero[:5], out=out),
        lambda: dql.dequantize(x, scale, isa="none"),
        lambda: dql.dequantize(x, scale, 1000),
        lambda: dql.dequantize(x, scale, dtype=np.int8),
        lambda: dql.dequantize(x, scale, nonsense=1),
        lambda: dql.dequantize(Foreign(np.zeros(3)), scale),
        lambda: dql.Plan((4, 6), 5, x_type="int8"),
        lambda: plan.rows(x4, scale, begin=300, length=2, rows=2),
    ]


def run_all(functions):
    for function in functions:
        with contextlib.suppress(TypeError, ValueError):
            function()


def test_references_and_leaks():
    arrays, functions = calls()
    watched = [*arrays, *(a.dtype for a in arrays), np.dtype(ml_dtypes.bfloat16), np.dtype(np.float32), None, dql.Plan]
    for _ in range(3):
        run_all(functions)
    gc.collect()
    before = [sys.getrefcount(a) for a in watched]
    tracemalloc.start()
    try:
        run_all(functions)
        gc.collect()
        size = tracemalloc.get_traced_memory()[0]
        for _ in range(300):
            run_all(functions)
        gc.collect()
        grown = tracemalloc.get_traced_memory()[0] - size
    finally:
        tracemalloc.stop()
    after = [sys.getrefcount(a) for a in watched]
    assert all(abs(b - a) < 50 for a, b in zip(before, after, strict=True)), [*zip(before, after, strict=True)]
    assert grown < 300 * 8, "less than a pointer a call"


# ---- threads ----


@pytest.mark.parametrize("threads", [0, 1, 2, 3, 1000])
@pytest.mark.parametrize("dtype", ["float32", "float16"])
def test_threads(threads, dtype):
    for name in ("int8", "uint4"):
        x = every_code(name, 3_000_001)
        expected = dequantized(x, np.float32(0.7), dtype=dtype)
        assert_same(dql.dequantize(x, 0.7, dtype=dtype, threads=threads), expected)


def test_more_than_the_last_level_cache():
    x = every_code("uint4", 40_000_003)
    y = dql.dequantize(x, 0.5, threads=2)
    np.testing.assert_array_equal(y, x.view(np.uint8).astype(np.float32) * np.float32(0.5))


def test_errors_on_threads():
    x, zero = np.zeros((8, 1 << 20), ml_dtypes.float8_e5m2), np.zeros(8, ml_dtypes.float8_e5m2)
    zero[7] = 1
    with pytest.raises(ValueError, match="zero point"):
        dql.dequantize(x, np.ones(8, np.float32), zero, axis=0, threads=3)


def test_other_threads_run_meanwhile():
    """While long calls run, a thread that only counts goes on."""
    x, out, counts, stop = np.zeros(1 << 25, np.int8), np.empty(1 << 25, np.float32), [0], threading.Event()

    def count():
        while not stop.is_set():
            counts[0] += 1
            time.sleep(0)

    thread = threading.Thread(target=count)
    thread.start()
    try:
        seen = []
        for _ in range(5):
            before = counts[0]
            dql.dequantize(x, 0.5, out=out)
            seen.append(counts[0] - before)
    finally:
        stop.set()
        thread.join()
    assert max(seen) > 10


def test_many_threads_at_once():
    arrays, functions = calls()
    threads = [threading.Thread(target=lambda: [run_all(functions) for _ in range(50)]) for _ in range(8)]
    for t in threads:
        t.start()
    for t in threads:
        t.join()
    assert arrays
