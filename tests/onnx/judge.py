#!/usr/bin/env python3
"""The official ONNX package as judge of the dql command.

    judge.py DQL FOLDER [--nodes N] [--seed S]

  DQL     the command
  FOLDER  for what is written; made anew
  N       random nodes to compare with the reference evaluator (20,000)

1. Runs every DequantizeLinear node test that the package carries through `dql test`.
2. Compares `dql test` with onnx.reference.ReferenceEvaluator, bit for bit (a NaN is a NaN), on N random nodes: every
   opset from 10 to the package's newest, all types that its schema allows, granularities, axes, remainder blocks, empty
   tensors, zero points and special values, as inputs and as initializers.
3. Shows that the differences which docs/semantics.md lists are still there.
4. Lets onnx.checker read what `dql expand` writes, and onnx.numpy_helper what `dql run -o` writes.

Exits with 1 if anything is wrong.
"""
import argparse
import shutil
import subprocess
import sys
from collections import Counter
from pathlib import Path

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper
from onnx.backend.test.case.node import collect_testcases
from onnx.reference import ReferenceEvaluator

OPSETS = range(10, onnx.defs.onnx_opset_version() + 1)
SPECIAL_SCALES = [0.0, -0.0, np.inf, -np.inf, np.nan, 1.0, -1.0, 1e-40, 1e-45, 3.4e38, 6e-8, 65504.0, 0.1]


# ---- folders of node tests, as `dql test` reads them ----

def write_node_test(folder, model, inputs, outputs):
    data = folder / "test_data_set_0"
    data.mkdir(parents=True)
    onnx.save(model, folder / "model.onnx")
    for kind, arrays in (("input", inputs), ("output", outputs)):
        for k, array in enumerate(arrays):
            tensor = array if isinstance(array, TensorProto) else numpy_helper.from_array(array)
            (data / f"{kind}_{k}.pb").write_bytes(tensor.SerializeToString())


def dql_test(dql, folder, count):
    """Runs `dql test` on a folder of `count` tests, all of which have to pass."""
    run = subprocess.run([dql, "test", folder], check=False, capture_output=True, text=True)
    if run.returncode != 0 or f"{count} passed, 0 failed, 0 skipped" not in run.stdout:
        sys.stdout.write("".join(line for line in run.stdout.splitlines(True) if not line.startswith("pass ")))
        sys.exit(f"dql test {folder}: not all of {count} tests passed")


def package_node_tests(dql, folder):
    with np.errstate(all="ignore"):  # the package makes the cases of all operators
        cases = collect_testcases("DequantizeLinear")
    for case in cases:
        (inputs, outputs), = case.data_sets
        write_node_test(folder / case.name, case.model, inputs, outputs)
    if not cases:
        sys.exit("the package has no node tests of DequantizeLinear")
    dql_test(dql, folder, len(cases))
    print(f"node tests of onnx {onnx.__version__}: all {len(cases)} pass")


# ---- random nodes ----

class Node:
    """A random model of one DequantizeLinear node, and its operands. x has one of `x_types` (names that dql has)."""

    def __init__(self, random, x_types):
        self.random = random
        self.opset = int(random.choice(OPSETS if random.random() < 0.4 else OPSETS[-6:]))  # new types need the new ones
        schema = onnx.defs.get_schema("DequantizeLinear", self.opset)
        self.version = schema.since_version
        allowed = {c.type_param_str: sorted(c.allowed_type_strs) for c in schema.type_constraints}
        self.x_type = self.one_of_types([t for t in allowed[schema.inputs[0].type_str] if name_of(t) in x_types])
        self.scale_type = self.one_of_types(allowed.get(schema.inputs[1].type_str, ["tensor(float)"]))
        self.y_types = allowed.get(schema.outputs[0].type_str, ["tensor(float)"])
        self.attributes = {}
        self.choose_shapes()
        self.choose_y_type()
        self.x = self.any_codes(self.x_type, self.shape)
        self.scale = self.any_scales()
        self.zero = self.any_zeros()
        if self.zero is not None and "FLOAT6" in TensorProto.DataType.Name(self.x_type):  # see DIFFERENCES
            codes = np.asarray(self.x).view(np.uint8)
            self.x = np.where(codes == 0x20, 0, codes).astype(np.uint8).view(self.x.dtype)

    def one_of_types(self, strings):
        return TensorProto.DataType.Value(name_of(str(self.random.choice(strings))).upper())

    def choose_shapes(self):
        r = self.random
        rank = int(r.integers(0, 6))
        longest = {0: 1, 1: 600, 2: 70, 3: 20, 4: 9, 5: 6}[rank]
        shape = [int(r.integers(1, longest + 1)) for _ in range(rank)]
        if rank and r.random() < 0.04:
            shape[int(r.integers(rank))] = 0
        self.shape, self.scale_shape = tuple(shape), ()
        granularities = ["tensor"] + ["axis"] * (self.version >= 13 and rank > 0)
        granularities += ["block"] * (2 * (self.version >= 21 and rank > 0))
        granularity = str(r.choice(granularities))
        if granularity == "tensor":
            if rank and r.random() < 0.3 and self.version >= 13:
                self.scale_shape = (1,)
            return
        axis = int(r.integers(rank))
        if axis != 1 or r.random() < 0.5:
            self.attributes["axis"] = axis - rank if r.random() < 0.3 else axis
        if granularity == "axis":
            self.scale_shape = (shape[axis],)
            return
        size = max(1, int(r.integers(1, shape[axis] + 2)) if r.random() < 0.5 else int(r.choice([2, 3, 8, 16, 32])))
        self.attributes["block_size"] = size
        self.scale_shape = tuple(-(-d // size) if k == axis else d for k, d in enumerate(shape))

    def choose_y_type(self):
        self.y_type = self.scale_type
        if self.version >= 23 and (self.scale_type == TensorProto.FLOAT8E8M0 or self.random.random() < 0.5):
            self.y_type = self.one_of_types(self.y_types)
            self.attributes["output_dtype"] = self.y_type

    def any_codes(self, type, shape):
        """Every code alike: random bytes, seen as elements of this type."""
        dtype = helper.tensor_dtype_to_np_dtype(type)
        bits = bits_of(dtype)
        codes = self.random.integers(0, 1 << bits, size=shape, dtype=np.uint64)
        if np.dtype(dtype).kind in "iu":
            return codes.astype({8: np.uint8, 16: np.uint16, 32: np.uint32}[bits]).view(dtype)
        if bits in (2, 4) and "int" in np.dtype(dtype).name:
            signed = np.dtype(dtype).name.startswith("int")
            return (codes.astype(np.int64) - (codes.astype(np.int64) >> (bits - 1) << bits if signed else 0)).astype(dtype)
        return codes.astype(np.uint16 if bits == 16 else np.uint8).view(dtype)

    def any_scales(self):
        r = self.random
        if self.scale_type == TensorProto.FLOAT8E8M0:
            return self.any_codes(self.scale_type, self.scale_shape)
        scale = r.standard_normal(self.scale_shape) * 2.0 ** r.integers(-20, 20, size=self.scale_shape)
        special = r.random(self.scale_shape) < 0.1
        scale = np.where(special, r.choice(SPECIAL_SCALES, size=self.scale_shape), scale)
        with np.errstate(over="ignore"):  # to infinity
            return np.asarray(scale).astype(helper.tensor_dtype_to_np_dtype(self.scale_type))

    def any_zeros(self):
        if self.random.random() < 0.4:
            return None
        if self.x_type == TensorProto.INT32:  # see DIFFERENCES
            return None
        name = TensorProto.DataType.Name(self.x_type)
        if "FLOAT" in name:
            sign = self.random.choice([0.0, 0.0 if name.endswith("FNUZ") else -0.0], size=self.scale_shape)
            return np.asarray(sign).astype(helper.tensor_dtype_to_np_dtype(self.x_type))
        return self.any_codes(self.x_type, self.scale_shape)

    def model_and_inputs(self):
        arrays = {"x": self.x, "scale": self.scale} | ({} if self.zero is None else {"zero": self.zero})
        constant = [name for name in arrays if name != "x" and self.random.random() < 0.3]
        return make_model(arrays, constant, self.y_type, self.opset, self.attributes), {
            name: array for name, array in arrays.items() if name not in constant}


def name_of(type):
    """Of a schema's "tensor(...)"."""
    return type.removeprefix("tensor(").removesuffix(")")


def x_types_of(dql):
    """The names of the x types that dql has; those of the package that it lacks are said."""
    info = subprocess.run([dql, "info"], check=True, capture_output=True, text=True).stdout
    have = set(next(line for line in info.splitlines() if line.startswith("x types")).split()[2:])
    schema = onnx.defs.get_schema("DequantizeLinear", OPSETS[-1])
    x_types, = [{name_of(t) for t in c.allowed_type_strs} for c in schema.type_constraints
                if c.type_param_str == schema.inputs[0].type_str]
    if x_types - have:
        print(f"skipped: x of {', '.join(sorted(x_types - have))}, which dql does not have")
    return have


def make_model(arrays, constant, y_type, opset, attributes):
    """One DequantizeLinear node of these operands, of which those named in `constant` are initializers."""
    tensors = {name: numpy_helper.from_array(array, name) for name, array in arrays.items()}
    node = helper.make_node("DequantizeLinear", list(arrays), ["y"], **attributes)
    graph = helper.make_graph(
        [node], "one_node",
        [helper.make_tensor_value_info(n, t.data_type, t.dims) for n, t in tensors.items() if n not in constant],
        [helper.make_tensor_value_info("y", y_type, arrays["x"].shape)], [tensors[name] for name in constant])
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", opset)])


def bits_of(dtype):
    name = np.dtype(dtype).name
    for prefix, bits in (("float4", 4), ("float6", 6), ("float8", 8)):
        if name.startswith(prefix):
            return bits
    if name in ("int2", "uint2", "int4", "uint4"):
        return int(name[-1])
    return 8 * np.dtype(dtype).itemsize


def evaluate(model, feeds):
    """The reference evaluator's y. It has no implementation for opsets before 19, which mean the same by these nodes."""
    import_ = model.opset_import[0]
    opset, import_.version = import_.version, max(import_.version, 19)
    try:
        with np.errstate(all="ignore"):
            return np.asarray(ReferenceEvaluator(model).run(None, feeds)[0])
    finally:
        import_.version = opset


def random_nodes(dql, folder, x_types, count, seed):
    random = np.random.default_rng(seed)
    compared, refused, types, opsets = 0, Counter(), Counter(), Counter()
    batch, in_batch = folder / "batch", 0
    while compared < count:
        node = Node(random, x_types)
        model, feeds = node.model_and_inputs()
        onnx.checker.check_model(model)
        try:
            y = evaluate(model, feeds)
        except ValueError as error:  # such as no elements of a float8 type; counted, and bounded below
            refused[str(error)] += 1
            continue
        write_node_test(batch / f"{compared:06}", model, feeds.values(), [y.reshape(node.shape)])
        types[TensorProto.DataType.Name(node.x_type)] += 1
        opsets[node.opset] += 1
        compared, in_batch = compared + 1, in_batch + 1
        if in_batch == 1000 or compared == count:
            dql_test(dql, batch, in_batch)
            shutil.rmtree(batch)
            in_batch = 0
    print(f"random nodes: {compared} have the evaluator's bits; x types: "
          + ", ".join(f"{n} {t.lower()}" for t, n in sorted(types.items())))
    for reason, n in refused.most_common():
        print(f"  the evaluator refuses {n}: {reason}")
    if set(opsets) != set(OPSETS) or sum(refused.values()) > count / 10:
        sys.exit("too few kinds of nodes were compared")


# ---- differences ----

def operands(x_type, x, zero, scale=1.0, scale_type=TensorProto.FLOAT):
    dtype = helper.tensor_dtype_to_np_dtype(x_type)
    return {"x": np.array([x], dtype), "scale": np.array(scale, helper.tensor_dtype_to_np_dtype(scale_type)),
            "zero": np.array(zero, dtype)}


REFUSED = None
# What docs/semantics.md says of the evaluator: what, operands, its y, the y of dql.
DIFFERENCES = [
    ("int32: the evaluator rounds x before it subtracts", operands(TensorProto.INT32, 2**24 + 1, 1), 2.0**24 - 1, 2.0**24),
    ("int32: the evaluator multiplies in float64", operands(TensorProto.INT32, 2096129, 0, 1025 * 2.0**-20,
     TensorProto.FLOAT16), 2050, 2048),
    ("float8e4m3fn: the evaluator takes zero points that truncate to 0", operands(TensorProto.FLOAT8E4M3FN, 1, 0.5), 1,
     REFUSED),
    ("float4e2m1: the evaluator ignores zero points, of any value", operands(TensorProto.FLOAT4E2M1, 2, 1), 2, REFUSED),
    ("float6e2m3: the evaluator subtracts zero points", operands(TensorProto.FLOAT6E2M3, 2, 0.5), 1.5, REFUSED),
    ("float6e2m3: the evaluator subtracts -0", operands(TensorProto.FLOAT6E2M3, -0.0, -0.0), 0.0, -0.0),
    ("float6e3m2: the evaluator subtracts -0", operands(TensorProto.FLOAT6E3M2, -0.0, -0.0), 0.0, -0.0),
]


def dequantize(dql, folder, model, feeds):
    """y of `dql run -o`; None if it is refused."""
    shutil.rmtree(folder, ignore_errors=True)
    write_node_test(folder, model, feeds.values(), [])
    inputs = sorted((folder / "test_data_set_0").glob("input_*.pb"))
    run = subprocess.run([dql, "run", folder / "model.onnx", *inputs, "-o", folder / "y.pb"], check=False,
                         capture_output=True)
    return numpy_helper.to_array(onnx.load_tensor(folder / "y.pb")) if run.returncode == 0 else REFUSED


def said(y):
    """A y of one element, or expected of one; unlike numbers, the two zeros differ."""
    return "nothing" if y is REFUSED else str(np.float32(np.ravel(y)[0]))


def differences(dql, folder):
    for what, arrays, evaluated, dequantized in DIFFERENCES:
        y_type = helper.np_dtype_to_tensor_dtype(arrays["scale"].dtype)
        model = make_model(arrays, [], y_type, OPSETS[-1], {})
        try:
            theirs = evaluate(model, arrays)
        except ValueError:
            theirs = REFUSED
        ours = dequantize(dql, folder / "difference", model, arrays)
        if (said(theirs), said(ours)) != (said(evaluated), said(dequantized)):
            sys.exit(f"{what}: the evaluator gives {said(theirs)}, dql {said(ours)}; docs/semantics.md has another story")
    print(f"differences that docs/semantics.md lists: all {len(DIFFERENCES)} are there")


# ---- what dql writes ----

def written_files(dql, folder, x_types, count, seed):
    random = np.random.default_rng(seed)
    for _ in range(count):
        node = Node(random, x_types)
        arrays = {"x": node.x, "scale": node.scale} | ({} if node.zero is None else {"zero": node.zero})
        model = make_model(arrays, list(arrays), node.y_type, node.opset, node.attributes)
        shutil.rmtree(folder, ignore_errors=True)
        folder.mkdir()
        onnx.save(model, folder / "model.onnx")
        subprocess.run([dql, "expand", folder / "model.onnx", "-o", folder / "y.onnx"], check=True, capture_output=True)
        expanded = onnx.load(folder / "y.onnx")
        onnx.checker.check_model(expanded, full_check=True)
        initializer, = expanded.graph.initializer
        y = dequantize(dql, folder / "run", make_model(arrays, [], node.y_type, node.opset, node.attributes), arrays)
        if expanded.graph.node or not same(numpy_helper.to_array(initializer), y) or y.shape != node.shape:
            sys.exit(f"dql expand {folder / 'model.onnx'}: not what dql run writes")
    print(f"files that dql writes: onnx.checker and onnx.numpy_helper read all {count} models and tensors")


def same(a, b):
    """Whether two arrays have the same type, shape and bits, but for those of NaN."""
    a_bits, b_bits = a.view(np.dtype(f"u{a.itemsize}")), b.view(np.dtype(f"u{b.itemsize}"))
    return a.dtype == b.dtype and a.shape == b.shape and bool(((a_bits == b_bits) | (np.isnan(a) & np.isnan(b))).all())


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("dql")
    parser.add_argument("folder", type=Path)
    parser.add_argument("--nodes", type=int, default=20000)
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()
    shutil.rmtree(options.folder, ignore_errors=True)
    package_node_tests(options.dql, options.folder / "package")
    have = x_types_of(options.dql)
    random_nodes(options.dql, options.folder, have, options.nodes, options.seed)
    differences(options.dql, options.folder)
    written_files(options.dql, options.folder / "written", have, options.nodes // 50, options.seed)
