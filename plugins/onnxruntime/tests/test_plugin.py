"""The plug-in in ONNX Runtime.

    test_plugin.py RUNTIME PLUGIN [MODELS]
        RUNTIME   "module", Python's onnxruntime, or the path of a libonnxruntime.so
        PLUGIN    the path of libdql_onnxruntime.so
        MODELS    a folder with the float network and its quantized copies of tests/models, to be compared too
"""
import glob
import os
import random
import struct
import subprocess
import sys
import tempfile
import threading
import unittest

sys.dont_write_bytecode = True
from onnx_models import (NUMBERS, fields, first, function, graph, model, node, operators, tensor,  # noqa: E402
                         value, with_external_data, with_initializers)
from runtimes import PROVIDER, Profile, RuntimeProblem, Tensor, number_of_elements, open_runtime  # noqa: E402

HERE = os.path.dirname(os.path.abspath(__file__))
VECTORS = os.path.join(HERE, "..", "..", "..", "tests", "vectors")

# The first version of ONNX Runtime whose type system has a type; the test of vectors says when one comes to know float6.
NO_VERSION_YET = (float("inf"),)
SINCE = {"float8e8m0": (1, 27), "float6": NO_VERSION_YET}

runtime = plugin_path = models_folder = None


def runtime_version():
    return tuple(map(int, runtime.version.split(".")[:2]))


def read(path):
    with open(path, "rb") as file:
        return file.read()


def floats(*values):
    return struct.pack(f"<{len(values)}f", *values)


def ramp(*shape):
    """A float32 tensor of small numbers that are all different."""
    return Tensor("float32", list(shape), floats(*[(i * 37 % 101 - 50) / 16 for i in range(number_of_elements(shape))]))


def run(model_bytes, feeds=None, **options):
    session = runtime.session(model_bytes, **options)
    try:
        return session.run(feeds)
    finally:
        session.close()


def providers_of(model_bytes, feeds=None, **options):
    """What ran the DequantizeLinear nodes, one for each time that one ran."""
    profile = Profile()
    run(model_bytes, feeds, profile=profile, **options)
    return [provider for op, provider in profile.nodes() if op == "DequantizeLinear"]


# ---- comparing bits ----

def is_nan(type_, code):
    exponent, fraction = {"float32": (0x7f800000, 0x7fffff), "float16": (0x7c00, 0x3ff), "bfloat16": (0x7f80, 0x7f)}[type_]
    return code & exponent == exponent and code & fraction != 0


def same_bits(type_, a, b):
    """Any NaN is any NaN."""
    letter = "I" if type_ == "float32" else "H"
    a, b = (struct.unpack(f"<{len(data) // struct.calcsize(letter)}{letter}", data) for data in (a, b))
    return len(a) == len(b) and all(p == q or (is_nan(type_, p) and is_nan(type_, q)) for p, q in zip(a, b))


# ---- models ----

class Weight:
    """Random constants and the DequantizeLinear node of them, as parts of a graph."""
    def __init__(self, name, type_, shape, scale_shape, y=None, zero=False, domain="", **attributes):
        self.y = y or name
        bits = {"int4": 4, "uint4": 4, "int16": 16}.get(type_, 8)
        numbers = random.Random(name)
        count, scales = number_of_elements(shape), number_of_elements(scale_shape)
        # Without the codes of NaN, so that results can be compared as they are.
        codes = bytes(numbers.randrange(256) & (0xbf if type_.startswith("float8") else 0xff)
                      for _ in range((count * bits + 7) // 8))
        self.tensors = [tensor(name + "_x", type_, shape, codes),
                        tensor(name + "_scale", "float32", scale_shape,
                               floats(*[numbers.uniform(0.01, 0.1) for _ in range(scales)]))]
        inputs = [name + "_x", name + "_scale"]
        if zero:
            self.tensors.append(tensor(name + "_zero", type_, scale_shape, bytes([3] * ((scales * bits + 7) // 8))))
            inputs.append(name + "_zero")
        self.node = node("DequantizeLinear", inputs, [self.y], domain, **attributes)


def one_node(inputs, attributes=None, y="float32", y_shape=None, domain="", opset=21, name="the_node"):
    """A DequantizeLinear node of initializers. inputs: [(type, shape, data) or None]"""
    names = [f"input_{i}" if t else "" for i, t in enumerate(inputs)]
    initializers = [tensor(n, *t) for n, t in zip(names, inputs) if t]
    return model(graph([node("DequantizeLinear", names, ["y"], domain, name, **(attributes or {}))],
                       outputs=[value("y", y, y_shape)], initializers=initializers), opset)


# ---- tests ----

class Vectors(unittest.TestCase):
    """tests/vectors, by bits, with inputs that are not constant."""

    @staticmethod
    def load(folder):
        model_bytes = with_external_data(read(os.path.join(folder, "model.onnx")), folder)
        inputs = [first(v, 1) for n, v, _ in fields(first(model_bytes, 7)) if n == 11]
        defaults = {first(v, 8) for n, v, _ in fields(first(model_bytes, 7)) if n == 5}
        data = [read(path) for path in sorted(glob.glob(os.path.join(folder, "test_data_set_0", "input_*.pb")))]
        missing = [name for name in inputs if name not in defaults]
        assert len(data) == len(missing), folder
        model_bytes = with_initializers(model_bytes, data)
        return model_bytes, read(os.path.join(folder, "test_data_set_0", "output_0.pb"))

    @staticmethod
    def unknown_type(folder):
        """A type of the vector that this runtime does not know, or None."""
        name = os.path.basename(folder)
        return next((t for t, since in SINCE.items() if t in name and runtime_version() < since), None)

    def check(self, folder):
        model_bytes, expected = self.load(folder)
        unknown = self.unknown_type(folder)
        if unknown:
            with self.assertRaises(RuntimeProblem, msg=f"{unknown} is known: correct SINCE"):
                run(model_bytes)
            return False
        (got,) = run(model_bytes)
        self.assertEqual(got.shape, [d for n, d, _ in fields(expected) if n == 1])
        self.assertEqual(NUMBERS[got.type], first(expected, 2))
        self.assertTrue(same_bits(got.type, got.data, first(expected, 9, b"")), "other bits")
        return True

    def test_vectors(self):
        folders = sorted(glob.glob(os.path.join(VECTORS, "*/")))
        right = 0
        for folder in (f.rstrip("/") for f in folders):
            with self.subTest(os.path.basename(folder)):
                right += self.check(folder)
        self.assertGreater(len(folders), 100)
        rest = "" if right == len(folders) else "; the others have types that it does not know"
        print(f"ONNX Runtime {runtime.version}: {right} of {len(folders)} vectors{rest}")

    def test_without_the_plugin_many_fail(self):
        """That the plug-in is what makes them right."""
        if runtime_version() < (1, 30):
            self.skipTest(f"{runtime.version} without the plug-in crashes on float4e2m1_float16_blocked_first_axis_remainder")
        def is_right(folder):
            model_bytes, expected = self.load(folder)
            try:
                (got,) = run(model_bytes, plugin=False)
            except RuntimeProblem:
                return False
            return same_bits(got.type, got.data, first(expected, 9, b""))
        folders = [f.rstrip("/") for f in glob.glob(os.path.join(VECTORS, "*/"))]
        right = sum(map(is_right, folders))
        print(f"ONNX Runtime {runtime.version} without the plug-in: {right} of {len(folders)} vectors")
        self.assertLess(right, len(folders) - 20)


class Graphs(unittest.TestCase):
    def same_with_and_without(self, model_bytes, feeds, **options):
        with_plugin = run(model_bytes, feeds, **options)
        self.assertEqual(with_plugin, run(model_bytes, feeds, plugin=False, **options))
        return with_plugin

    def test_takes_every_version(self):
        """From opset 10 on, and com.microsoft's."""
        u8 = ("uint8", [4], bytes([1, 2, 3, 4]))
        scalar, zero = ("float32", [], floats(0.5)), ("uint8", [], bytes([2]))
        for opset, domain in [(v, "") for v in range(10, 26)] + [(21, "com.microsoft")]:
            with self.subTest(opset=opset, domain=domain):
                m = one_node([u8, scalar, zero], opset=opset, domain=domain)
                self.assertEqual(providers_of(m, optimize=False), [PROVIDER])
                self.assertEqual(run(m)[0].data, floats(-0.5, 0, 0.5, 1))

    def qdq_model(self):
        """Groups that ONNX Runtime fuses: a quantized convolution, a quantized product, and a product with 4-bit weights."""
        weights = [Weight("conv", "int8", [4, 3, 3, 3], [4], axis=0), Weight("b", "int8", [4, 8], []),
                   Weight("w4", "uint4", [32, 16], [2, 16], zero=True, axis=0, block_size=16)]
        scale, zero = tensor("s", "float32", [], floats(0.05)), tensor("z", "uint8", [], bytes([128]))

        def qdq(name, source):
            return [node("QuantizeLinear", [source, "s", "z"], [name + "_q"]),
                    node("DequantizeLinear", [name + "_q", "s", "z"], [name])]
        nodes = [*qdq("image_dq", "image"), node("Conv", ["image_dq", "conv"], ["c"]), *qdq("c_dq", "c"),
                 *qdq("a_dq", "a"), node("MatMul", ["a_dq", "b"], ["m"]), *qdq("m_dq", "m"),
                 node("MatMul", ["t", "w4"], ["n"])]
        return model(graph([w.node for w in weights] + nodes,
                           [value("image", "float32", [1, 3, 8, 8]), value("a", "float32", [2, 4]),
                            value("t", "float32", ["batch", 32])],
                           [value("c_dq", "float32"), value("m_dq", "float32"), value("n", "float32")],
                           [scale, zero] + [t for w in weights for t in w.tensors]))

    def test_fusions_stay(self):
        """The optimized graph that is saved is the same with the plug-in and without."""
        feeds = {"image": ramp(1, 3, 8, 8), "a": ramp(2, 4), "t": ramp(5, 32)}
        m, saved = self.qdq_model(), {}
        with tempfile.TemporaryDirectory() as folder:
            for plugin in (True, False):
                path = os.path.join(folder, f"{plugin}.onnx")
                run(m, feeds, plugin=plugin, save=path)
                saved[plugin] = read(path)
        self.assertEqual(saved[True], saved[False])
        for op in ("QLinearConv", "QLinearMatMul", "MatMulNBits"):
            self.assertIn(op, operators(saved[True]))
        self.same_with_and_without(m, feeds)
        self.same_with_and_without(m, feeds, optimize=False)

    def test_no_copies(self):
        profile = Profile()
        run(self.qdq_model(), {"image": ramp(1, 3, 8, 8), "a": ramp(2, 4), "t": ramp(5, 32)}, optimize=False, profile=profile)
        found = profile.nodes()
        self.assertEqual({p for op, p in found if op == "DequantizeLinear"}, {PROVIDER})
        self.assertFalse([op for op, _ in found if op.startswith("Memcpy")])

    def test_if_and_loop_bodies(self):
        """The branches' weights are their own, the loop's is that of the graph around it."""
        then, other = (Weight("w_" + n, "int8", [4, 4], [4], zero=True, axis=1) for n in "te")
        # (Of 8 bits it would make ONNX Runtime 1.32 fail, with the plug-in or without: it looks for it in the body only.)
        shared = Weight("w_l", "int16", [4, 4], [4], zero=True, axis=1)

        def branch(w):
            return graph([w.node, node("MatMul", ["x", w.y], ["b"])], outputs=[value("b", "float32")], initializers=w.tensors)
        body = graph([shared.node, node("MatMul", ["v", "w_l"], ["v_out"]), node("Identity", ["go"], ["go_out"])],
                     [value("i", "int64", []), value("go", "bool", []), value("v", "float32", [2, 4])],
                     [value("go_out", "bool", []), value("v_out", "float32", [2, 4])])
        m = model(graph([node("If", ["yes"], ["b"], then_branch=branch(then), else_branch=branch(other)),
                         node("Loop", ["three", "yes2", "b"], ["y"], body=body)],
                        [value("x", "float32", [2, 4]), value("yes", "bool", [])], [value("y", "float32")],
                        [tensor("three", "int64", [], struct.pack("<q", 3)), tensor("yes2", "bool", [], b"\1"),
                         *shared.tensors]))
        for yes in (b"\0", b"\1"):
            feeds = {"x": ramp(2, 4), "yes": Tensor("bool", [], yes)}
            self.same_with_and_without(m, feeds)
            self.assertEqual(providers_of(m, feeds, optimize=False), [PROVIDER] * 4)

    def test_functions(self):
        """A model-local function with a DequantizeLinear in it."""
        w = Weight("w", "int4", [4, 6], [4, 3], axis=1, block_size=2)
        f = function("Dense", "local", ["a", "w_x", "w_scale"], ["out"], [w.node, node("MatMul", ["a", "w"], ["out"])])
        m = model(graph([node("Dense", ["x", "w_x", "w_scale"], ["y"], domain="local")], [value("x", "float32", ["n", 4])],
                        [value("y", "float32")], w.tensors), domains=["local"], functions=[f])
        self.same_with_and_without(m, {"x": ramp(3, 4)})
        self.assertEqual(providers_of(m, {"x": ramp(3, 4)}, optimize=False), [PROVIDER])

    def test_dynamic_shapes(self):
        """x is computed: its shape is known when it is there, and changes from run to run."""
        m = model(graph([node("QuantizeLinear", ["a", "s", "z"], ["q"]), node("DequantizeLinear", ["q", "s", "z"], ["y"])],
                        [value("a", "float32", ["batch", 3])], [value("y", "float32")],
                        [tensor("s", "float32", [3], floats(0.1, 0.2, 0.3)), tensor("z", "uint8", [3], bytes([1, 128, 250]))]))
        session, plain = runtime.session(m, optimize=False), runtime.session(m, plugin=False, optimize=False)
        for batch in (1, 7, 0, 300, 7, 40000):
            feeds = {"a": ramp(batch, 3)}
            self.assertEqual(session.run(feeds), plain.run(feeds))
        session.close(), plain.close()

    def test_large_tensors(self):
        """In slices on threads, and streamed: the same bits as in one piece."""
        for shape, scale_shape, attributes in (([1000, 1031], [1000], {"axis": 0}),
                                               ([5000, 2000], [5000, 63], {"block_size": 32})):
            w = Weight("w", "uint4", shape, scale_shape, zero=True, **attributes)
            m = model(graph([w.node], outputs=[value("w", "float32")], initializers=w.tensors))
            plain = run(m, plugin=False)
            for threads in (1, 2, 3):
                for options in ({}, {"threads": "off"}):
                    self.assertTrue(run(m, threads=threads, options=options) == plain, "other bits")

    def test_sessions_at_once(self):
        """Two sessions on several threads each, run by several threads."""
        w = [Weight("w", "uint4", [512, 1500], [512], zero=True, axis=0), Weight("v", "float8e4m3fn", [512, 1500], [1500])]
        sessions, expected, problems = [], [], []
        for weight in w:
            m = model(graph([weight.node, node("MatMul", ["x", weight.y], ["y"])], [value("x", "float32", [3, 512])],
                            [value("y", "float32")], weight.tensors))
            sessions.append(runtime.session(m, threads=2, optimize=False))
            expected.append(run(m, {"x": ramp(3, 512)}, threads=2, plugin=False, optimize=False))

        def work(number):
            for i in range(20):
                if sessions[(number + i) % 2].run({"x": ramp(3, 512)}) != expected[(number + i) % 2]:
                    problems.append((number, i))
        threads = [threading.Thread(target=work, args=(n,)) for n in range(4)]
        for t in threads:
            t.start()
        for t in threads:
            t.join()
        self.assertEqual(problems, [])
        for s in sessions:
            s.close()


class Options(unittest.TestCase):
    model = one_node([("uint8", [3], bytes([1, 2, 3])), ("float32", [], floats(2))])

    def test_isa(self):
        for options in ({}, {"isa": "auto"}, {"isa": "scalar"}, {"isa": "scalar", "threads": "off"}, {"threads": "on"}):
            self.assertEqual(run(self.model, options=options)[0].data, floats(2, 4, 6))

    def refused(self, options, *words):
        with self.assertRaises(RuntimeProblem) as caught:
            run(self.model, options=options)
        for word in words:
            self.assertIn(word, str(caught.exception))

    def test_wrong_options(self):
        self.refused({"isa": "avx1024"}, "isa", "avx1024", "auto scalar")
        self.refused({"isa": ""}, "isa", "auto scalar")
        self.refused({"threads": "2"}, "threads", "on or off")
        self.refused({"thread": "off"}, "thread", "isa and threads")


class Hostile(unittest.TestCase):
    """Models that lie. What a model says wrong is an error, and nothing is read that is not there."""

    def refused(self, model_bytes, feeds=None, words=(), **options):
        with self.assertRaises(RuntimeProblem) as caught:
            run(model_bytes, feeds, optimize=False, **options)
        for word in words:
            self.assertIn(word, str(caught.exception))

    def defaults(self, inputs, attributes=None, name="the_node"):
        """A node of inputs that nothing is declared of but their types, so that the runtime can't tell before it runs."""
        names = [f"input_{i}" for i in range(len(inputs))]
        g = graph([node("DequantizeLinear", names, ["y"], name=name, **(attributes or {}))],
                  [value(n, t[0]) for n, t in zip(names, inputs)], [value("y", "float32")],
                  [tensor(n, *t) for n, t in zip(names, inputs)])
        return model(g)

    x = ("int8", [2, 3], bytes(range(6)))

    @staticmethod
    def scales(*shape):
        return ramp(*shape)

    def test_scale_shapes(self):
        x = self.x
        for scale, attributes, words in (
                (self.scales(5), {"axis": 1}, ["x int8[2,3]", "x_scale float32[5]", "axis 1", "block_size 0"]),
                (self.scales(2, 2), {"axis": 1, "block_size": 7}, ["block_size 7"]),
                (self.scales(2, 1, 1), {}, ["x_scale float32[2,1,1]"]),
                (self.scales(3), {"axis": 5}, ["axis 5"]),
                (self.scales(3), {"axis": -3}, ["axis -3"]),
                (self.scales(3), {"axis": -(1 << 63)}, ["axis -9223372036854775808"]),
                (self.scales(2, 2), {"axis": 1, "block_size": (1 << 63) - 1}, ["block_size 9223372036854775807"]),
                (self.scales(2, 2), {"axis": 1, "block_size": -2}, ["block_size -2"])):
            with self.subTest(words=words):
                self.refused(self.defaults([x, scale], attributes), words=["the_node"] + words)

    def test_zero_points_of_other_shape(self):
        """One that is shorter than the scale would be read past its end."""
        for zero_shape, scale_shape in (([1], [3]), ([], [3]), ([3], [1]), ([3, 1], [3]), ([2], [3])):
            zero = ("int8", zero_shape, bytes(number_of_elements(zero_shape)))
            m = self.defaults([self.x, self.scales(*scale_shape), zero], {"axis": 1})
            with self.subTest(zero=zero_shape, scale=scale_shape):
                self.refused(m, words=["the_node", "x_zero_point has another shape", "x_zero_point int8["])

    def test_one_zero_point_of_any_rank(self):
        m = self.defaults([self.x, self.scales(1), ("int8", [], b"\1")])
        self.assertEqual(run(m)[0].shape, [2, 3])

    def test_zero_point_of_another_type(self):
        self.refused(self.defaults([self.x, self.scales(3), ("uint8", [3], bytes(3))]))
        self.refused(one_node([self.x, self.scales(3), ("int16", [3], bytes(6))]))

    def test_zero_point_of_a_float_type(self):
        m = self.defaults([("float8e4m3fn", [4], bytes(4)), self.scales(1), ("float8e4m3fn", [1], b"\x38")])
        self.refused(m, words=["the_node", "zero point", "float8e4m3fn[4]"])

    def test_missing_inputs(self):
        for inputs in ([None, self.scales(3)], [self.x, None], [self.x], [], [None, None, self.x]):
            with self.subTest(inputs=[t and t[0] for t in inputs]):
                self.refused(one_node(inputs))
        self.assertEqual(run(one_node([self.x, self.scales(1), None]))[0].shape, [2, 3])

    def test_wrong_types(self):
        for x_type, size in (("float32", 4), ("int64", 8), ("bool", 1), ("float16", 2)):
            self.refused(one_node([(x_type, [3], bytes(3 * size)), self.scales(1)]))
        self.refused(one_node([self.x, ("int64", [1], bytes(8))]))
        self.refused(one_node([self.x, self.scales(1)], y="int64"))
        self.refused(one_node([self.x, self.scales(1)], {"output_dtype": 7}, opset=23))

    def test_declared_shapes_that_are_not_true(self):
        """The computed x has another shape than the graph says; what is run is what is there."""
        m = model(graph([node("Reshape", ["a", "shape"], ["r"]), node("QuantizeLinear", ["r", "s", "z"], ["q"]),
                         node("DequantizeLinear", ["q", "s", "z"], ["y"], name="the_node")],
                        [value("a", "float32", ["n"]), value("shape", "int64", ["rank"])], [value("y", "float32")],
                        [tensor("s", "float32", [3], floats(1, 2, 4)), tensor("z", "int8", [3], bytes(3))],
                        values=[value("q", "int8", [2, 3]), value("r", "float32", [2, 3])]))

        def shape(*dims):
            return Tensor("int64", [len(dims)], struct.pack(f"<{len(dims)}q", *dims))
        session = runtime.session(m, optimize=False)
        for dims in ((2, 3), (4, 3), (1, 3), (2, 3)):
            (y,) = session.run({"a": ramp(dims[0] * dims[1]), "shape": shape(*dims)})
            self.assertEqual(y.shape, list(dims))
        for dims in ((3, 2), (6,), (1, 1, 6)):
            with self.assertRaises(RuntimeProblem):
                session.run({"a": ramp(6), "shape": shape(*dims)})
        session.close()

    def test_too_few_bytes(self):
        self.refused(one_node([("uint4", [100], bytes(3)), self.scales(1)]))
        self.refused(one_node([("uint4", [1 << 40], bytes(3)), self.scales(1)]))
        self.refused(one_node([("uint4", [1 << 62, 8], bytes(3)), self.scales(1)]))

    def test_names(self):
        """Of any length, and none: then the output's tells which node it is."""
        for name, shown in (("", "y"), ("é" * 500, "é" * 100 + "..."), ("a\nb\x1b[1m\x7f", "a?b?[1m?")):
            with self.subTest(name=name[:10]):
                self.refused(self.defaults([self.x, self.scales(5)], name=name), words=[f"DequantizeLinear {shown}:"])

    def test_many_dims(self):
        rank = 3000
        m = self.defaults([("int8", [1] * rank, b"\1"), self.scales(2)])
        self.refused(m, words=["the_node", "x int8[1,1,1,", ",...]"])


class Network(unittest.TestCase):
    """The detection network in the schemes of tests/models: the same outputs by bits, and those that only the plug-in runs."""

    def test_schemes(self):
        if not models_folder:
            self.skipTest("no network: scripts/test --onnxruntime gets it")
        image = Tensor("float32", [1, 3, 96, 96], struct.pack("<27648f", *[(i * 7919 % 1000) / 250 - 2 for i in range(27648)]))
        schemes = sorted(glob.glob(os.path.join(models_folder, "*.quantized.onnx")))
        self.assertGreater(len(schemes), 15)
        for path in schemes:
            with self.subTest(os.path.basename(path)):
                self.compare(with_external_data(read(path), models_folder), {"x": image}, os.path.basename(path))

    def compare(self, model_bytes, feeds, name):
        for optimize in (False, True):
            how = "optimized" if optimize else "as it is"
            try:
                expected = run(model_bytes, feeds, plugin=False, optimize=optimize)
            except RuntimeProblem as problem:
                expected = None
                print(f"{name}, {how}: only with the plug-in: {str(problem).splitlines()[0][:100]}")
            got = run(model_bytes, feeds, optimize=optimize)
            self.assertGreater(len(got), 1)
            if expected is not None:
                self.assertEqual(got, expected)
                print(f"{name}, {how}: the same {len(got)} outputs")


@unittest.skipUnless(sys.platform == "linux", "reads /proc")
class Loading(unittest.TestCase):
    """Registered, run and unregistered again and again, without a leak. In a process of its own, by the C API."""

    def test_again_and_again(self):
        library = runtime.library
        if not library:
            self.skipTest("the Python module has one environment: this needs a library")
        command = [sys.executable, os.path.join(HERE, "cycle.py"), library, plugin_path]
        # What the runtime itself leaves behind varies from process to process; a leak would be there in each.
        for _ in range(3):
            done = subprocess.run(command, timeout=300, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
            print(done.stdout, end="")
            if done.returncode == 0:
                return
        self.fail(done.stdout)


def main(name, plugin, models=None):
    global runtime, plugin_path, models_folder
    plugin_path, models_folder = os.path.abspath(plugin), models
    runtime = open_runtime(name, plugin_path)
    result = unittest.main(argv=[sys.argv[0]], exit=False).result
    runtime.close()
    return 0 if result.wasSuccessful() else 1


if __name__ == "__main__":
    if len(sys.argv) not in (3, 4):
        sys.exit(__doc__)
    sys.exit(main(*sys.argv[1:]))
