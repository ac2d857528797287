#!/usr/bin/env python3
"""Writes the test vectors of this folder: ONNX's own node tests of DequantizeLinear, by their names, from the values that
the operator's examples are made of (https://onnx.ai/onnx/operators/onnx__DequantizeLinear.html#examples).

    generate.py [DIR]             write every folder into DIR (default: the folder of this script)
    generate.py --check [DIR]     write nothing; exit with 1 if DIR holds anything else than would be written
    generate.py --compare TESTS   exit with 1 if the test_dequantizelinear* folders in TESTS, such as those of a release of
                                  ONNX, are not these, or say something else: nodes, attributes, opsets, types, shapes, values

The expected outputs are the published ones, and have to be those of tests/vectors/generate.py too. That script also brings
the types and the files' format.
"""
import os
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
sys.dont_write_bytecode = True
sys.path.insert(0, os.path.join(HERE, "..", "vectors"))
import generate as vectors  # noqa: E402

OPSET, IR_VERSION = 25, 13

# x, scale, zero point and y of each test: type, shape, values; then its attributes.
BLOCKS = [1, 4, 3, 2]
CASES = {
    "": (
        ("uint8", [4], [0, 3, 128, 255]), ("float32", [], [2]), ("uint8", [], [128]),
        ("float32", [4], [-256, -250, 0, 254]), {}),
    "_axis": (
        ("uint8", [1, 3, 3, 2], [3, 89, 34, 200, 74, 59, 5, 24, 24, 87, 32, 13, 245, 99, 4, 142, 121, 102]),
        ("float32", [3], [2, 4, 5]), ("uint8", [3], [84, 24, 196]),
        ("float32", [1, 3, 3, 2],
         [-162, 10, -100, 232, -20, -50, -76, 0, 0, 252, 32, -44, 245, -485, -960, -270, -375, -470]), {}),
    "_blocked": (
        ("uint8", BLOCKS,
         [3, 89, 34, 200, 74, 59, 5, 24, 24, 87, 32, 13, 5, 12, 12, 33, 65, 42, 245, 99, 4, 142, 121, 102]),
        ("float32", [1, 2, 3, 2], [3, 2, 4, 1, 2, 2, 5, 2, 4, 3, 5, 2]),
        ("uint8", [1, 2, 3, 2], [1, 0, 0, 1, 2, 20, 3, 2, 4, 3, 15, 2]),
        ("float32", BLOCKS,
         [6, 178, 136, 199, 144, 78, 12, 48, 96, 86, 60, -14, 10, 20, 32, 90, 250, 80, 1210, 194, 0, 417, 530, 200]),
        {"axis": 1, "block_size": 2}),
    "_int16": (
        ("int16", [4], [-300, -30, -1025, 1270]), ("float32", [], [2]), ("int16", [], [-1024]),
        ("float32", [4], [1448, 1988, -2, 4588]), {}),
    "_uint16": (
        ("uint16", [4], [30000, 31000, 32768, 33000]), ("float32", [], [2]), ("uint16", [], [32767]),
        ("float32", [4], [-5534, -3534, 2, 466]), {}),
    "_int4": (
        ("int4", [5], [0, 1, 7, -4, -8]), ("float32", [], [2]), ("int4", [1], [1]),
        ("float32", [5], [-2, 0, 12, -10, -18]), {"axis": 0}),
    "_uint4": (
        ("uint4", [5], [0, 1, 7, 10, 15]), ("float32", [], [2]), ("uint4", [1], [1]),
        ("float32", [5], [-2, 0, 12, 18, 28]), {"axis": 0}),
    "_int2": (
        ("int2", [4], [0, 1, -1, -2]), ("float32", [], [2]), ("int2", [1], [1]),
        ("float32", [4], [-2, 0, -4, -6]), {"axis": 0}),
    "_uint2": (
        ("uint2", [4], [0, 1, 2, 3]), ("float32", [], [2]), ("uint2", [1], [1]),
        ("float32", [4], [-2, 0, 2, 4]), {"axis": 0}),
    "_e4m3fn": (
        ("float8e4m3fn", [5], [0, 0.5, 1, 448, -104]), ("float32", [], [2]), None,
        ("float32", [5], [0, 1, 2, 896, -208]), {"axis": 0}),
    "_e4m3fn_float16": (
        ("float8e4m3fn", [5], [0, 0.5, 1, 448, -104]), ("float16", [], [2]), None,
        ("float16", [5], [0, 1, 2, 896, -208]), {"axis": 0}),
    "_e4m3fn_zero_point": (
        ("float8e4m3fn", [5], [0, 0.5, 1, 448, -104]), ("float32", [], [2]), ("float8e4m3fn", [1], [0]),
        ("float32", [5], [0, 1, 2, 896, -208]), {"axis": 0}),
    "_e5m2": (
        ("float8e5m2", [5], [0, 0.5, 1, 49152, -96]), ("float32", [], [2]), None,
        ("float32", [5], [0, 1, 2, 98304, -192]), {"axis": 0}),
    "_float4e2m1": (
        ("float4e2m1", [5], [0, 1, -1, 1.5, -4]), ("float32", [], [2]), ("float4e2m1", [1], [0]),
        ("float32", [5], [0, 2, -2, 3, -8]), {"axis": 0}),
}


def code(type_, number):
    """The code of a number that the type has."""
    if isinstance(type_, vectors.Integer) or type_.special == "ieee":
        return vectors.code(type_, number if isinstance(type_, vectors.Integer) else float(number))
    return next(c for c in range(1 << type_.bits) if value(type_.decode(c)) == number)


def value(parts):
    if parts == vectors.NAN:
        return None
    sign, significand, exponent = parts
    return (-1) ** sign * significand * 2.0**exponent


def coded(type_, shape, numbers):
    return vectors.TYPES[type_], shape, [code(vectors.TYPES[type_], number) for number in numbers]


def case(name, x, scale, zero, y, attributes):
    tensors = {"x": coded(*x), "x_scale": coded(*scale)}
    if zero:
        tensors["x_zero_point"] = coded(*zero)
    y = coded(*y)
    axis, block = attributes.get("axis"), attributes.get("block_size")
    assert vectors.dequantize(tensors, y[0], axis, block) == y[2], name
    if name.endswith("_zero_point"):
        tensors["zero_point"] = tensors.pop("x_zero_point")
    encoding = "zero_extended" if vectors.TYPES[x[0]].bits < 8 or "float" in x[0] else "raw"
    return vectors.files_of(name, tensors, y, dict(attributes), opset=OPSET, ir_version=IR_VERSION, encoding=encoding)


def cases():
    for name, tensors in CASES.items():
        yield case("test_dequantizelinear" + name, *tensors)


# ---- what a file says ----

def read_varint(data, at):
    number = shift = 0
    while True:
        number |= (data[at] & 127) << shift
        at, shift = at + 1, shift + 7
        if data[at - 1] < 128:
            return number, at


def fields(data):
    """{number: its values}. Numbers are varints or bytes; no other wire type is in these files."""
    at, found = 0, {}
    while at < len(data):
        key, at = read_varint(data, at)
        content, at = read_varint(data, at)
        if key & 7 == 2:
            content, at = data[at:at + content], at + content
        elif key & 7:
            raise ValueError(f"wire type {key & 7}")
        found.setdefault(key >> 3, []).append(content)
    return found


def said_by_tensor(data):
    """Name, type, dims, and the elements' bytes, wherever they are kept."""
    tensor = fields(data)
    content = b"".join(tensor.get(9, [])) or b"".join(tensor.get(4, []))
    packed = b"".join(tensor.get(5, []))
    at, size = 0, {4: 2, 5: 2, 10: 2}.get(tensor[2][0], 1)
    while at < len(packed):
        number, at = read_varint(packed, at)
        content += (number & (1 << 8 * size) - 1).to_bytes(size, "little")
    return tensor[8], tensor[2], tensor.get(1, []), content


def said_by_value_info(data):
    info = fields(data)
    tensor = fields(fields(info[2][0])[1][0])
    return info[1], tensor[1], [fields(dim)[1] for dim in fields(tensor[2][0]).get(1, [])]


def said_by_model(data):
    model = fields(data)
    graph = fields(model[7][0])
    node = fields(graph[1][0])
    attributes = sorted((a[1][0], a[3][0], a[20][0]) for a in map(fields, node.get(5, [])))
    opsets = [(o.get(1, [b""]), o[2]) for o in map(fields, model[8])]
    return {"IR version": model[1], "opsets": opsets, "graph": graph[2], "nodes": len(graph[1]), "inputs": node[1],
            "outputs": node[2], "operator": node[4], "attributes": attributes,
            "types of inputs": list(map(said_by_value_info, graph[11])),
            "types of outputs": list(map(said_by_value_info, graph[12]))}


def said_by(path, data):
    return said_by_model(data) if path.endswith(".onnx") else said_by_tensor(data)


def files_in(folder):
    """The DequantizeLinear tests of a folder, as {path: bytes}."""
    found = {}
    for parent, _, names in os.walk(folder):
        for path in (os.path.relpath(os.path.join(parent, name), folder).replace(os.sep, "/") for name in names):
            if path.startswith("test_dequantizelinear"):
                with open(os.path.join(folder, path), "rb") as file:
                    found[path] = file.read()
    return found


def compare(folder, files):
    """Prints what the two say differently; returns whether there was any."""
    theirs = files_in(folder)
    wrong = [f"not in {folder}: {path}" for path in files.keys() - theirs.keys()]
    wrong += [f"only in {folder}: {path}" for path in theirs.keys() - files.keys()]
    for path in files.keys() & theirs.keys():
        here, there = said_by(path, files[path]), said_by(path, theirs[path])
        if here != there:
            wrong.append(f"{path}\n  here: {here}\n  there: {there}")
    print(*sorted(wrong), sep="\n", end="\n" if wrong else "")
    return bool(wrong)


if __name__ == "__main__":
    if sys.argv[1:2] == ["--compare"] and len(sys.argv) == 3:
        sys.exit(compare(sys.argv[2], vectors.collect(cases())))
    vectors.main(sys.argv[1:], HERE, cases(), __doc__)
