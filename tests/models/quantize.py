#!/usr/bin/env python3
"""Quantizes the weights of an ONNX model: makes something real for `dql expand` to undo.

    quantize.py MODEL.onnx SCHEME OUT.onnx      SCHEME: see the table below

Every constant float32 tensor of rank 2 or more becomes a DequantizeLinear of constants, and an output of the graph. The model must be one whose
operators mean the same in opsets 21 to 25 as in its own. Needs nothing but Python 3.
"""
import bisect
import os
import struct
import sys

sys.dont_write_bytecode = True  # tests read every folder in vectors
sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "vectors"))
from generate import TYPES, message, pack, value_info, varint  # noqa: E402

FLOAT32, FLOAT16, BFLOAT16 = 1, 10, 16

# name: (type, granularity, its size, zero points, type of the scale, domain, where the tensors are)
SCHEMES = {
    "int8_per_axis": ("int8", "axis", 0, False, "float32", "", "initializers"),
    "uint8_per_tensor": ("uint8", "tensor", 0, True, "float32", "", "constants"),
    "uint8_per_axis_com_microsoft": ("uint8", "axis", 0, True, "float32", "com.microsoft", "initializers"),
    "int8_blocked": ("int8", "blocked", 8, True, "float32", "", "initializers"),
    "int4_blocked": ("int4", "blocked", 16, False, "float32", "", "external"),
    "uint4_blocked": ("uint4", "blocked", 5, True, "float32", "", "initializers"),
    "uint4_per_axis": ("uint4", "axis", 0, True, "float32", "", "constants"),
    "int16_per_axis": ("int16", "axis", 0, True, "float32", "", "initializers"),
    "uint16_per_tensor": ("uint16", "tensor", 0, True, "float32", "", "external"),
    "int32_per_tensor": ("int32", "tensor", 0, False, "float32", "", "initializers"),
    "float8e4m3fn_per_axis": ("float8e4m3fn", "axis", 0, False, "float32", "", "initializers"),
    "float8e4m3fnuz_per_tensor": ("float8e4m3fnuz", "tensor", 0, False, "float32", "", "constants"),
    "float8e5m2_per_tensor": ("float8e5m2", "tensor", 0, False, "float32", "", "initializers"),
    "float8e5m2fnuz_per_tensor": ("float8e5m2fnuz", "tensor", 0, True, "float32", "", "initializers"),
    "float4e2m1_blocked": ("float4e2m1", "blocked", 32, False, "float32", "", "initializers"),
    "int2_blocked": ("int2", "blocked", 16, False, "float32", "", "initializers"),
    "uint2_blocked": ("uint2", "blocked", 16, True, "float32", "", "initializers"),
    "int8_float16_scale": ("int8", "axis", 0, False, "float16", "", "initializers"),
    "int4_bfloat16_scale": ("int4", "blocked", 16, False, "bfloat16", "", "initializers"),
}

# The opset and the IR version that a type of x needs.
VERSIONS = {"float4e2m1": (23, 11), "int2": (25, 13), "uint2": (25, 13)}


# ---- protobuf ----

def fields(data):
    """(number, value, all its bytes) of each field."""
    i = 0

    def read_varint():
        nonlocal i
        value = shift = 0
        while True:
            byte = data[i]
            i += 1
            value |= (byte & 127) << shift
            shift += 7
            if byte < 128:
                return value

    while i < len(data):
        start = i
        tag = read_varint()
        if tag & 7 == 0:
            value = read_varint()
        else:
            size = {1: 8, 5: 4}.get(tag & 7) or read_varint()
            value = data[i:i + size]
            i += size
        yield tag >> 3, value, data[start:i]


def first(data, number, default=None):
    return next((value for n, value, _ in fields(data) if n == number), default)


def tensor(name, type_, dims, data, external=None):
    head = [(1, d) for d in dims] + [(2, type_), (8, name)]
    if external is None:
        return message(*head, (9, data))
    external.seek(-external.tell() % 64, 1)
    place = {"location": os.path.basename(external.name), "offset": external.tell(), "length": len(data)}
    external.write(data)
    return message(*head, *[(13, message((1, k), (2, str(v)))) for k, v in place.items()], (14, 1))


# ---- quantization; the way does not matter, only that it is plausible ----

def float8_table(type_):
    """The finite positive values in order, with their codes."""
    table = []
    for code in range(1 << (type_.bits - 1)):
        value = type_.decode(code)
        if value != "nan" and value[1] != "inf":
            table.append((value[1] * 2.0**value[2], code))
    return sorted(table)


def nearest(table, sign, values):
    keys = [value for value, _ in table]
    for v in values:
        i = bisect.bisect_left(keys, abs(v))
        if i == len(keys) or i > 0 and abs(v) - keys[i - 1] < keys[i] - abs(v):
            i -= 1
        yield table[i][1] + (sign if v < 0 and table[i][1] else 0)


def round_scale(scale, scale_type):
    """As bytes, and what these mean; never 0."""
    scale = max(scale, 2.0**-14)
    if scale_type == "float16":
        data = struct.pack("<e", scale)
        return data, struct.unpack("<e", data)[0]
    data = struct.pack("<f", scale)
    if scale_type == "bfloat16":
        return data[2:], struct.unpack("<f", b"\0\0" + data[2:])[0]
    return data, struct.unpack("<f", data)[0]


class Quantizer:
    """One scheme. A group is the numbers that share a scale."""
    def __init__(self, type_name, scale_type, has_zero):
        self.type, self.scale_type, self.has_zero = TYPES[type_name], scale_type, has_zero
        self.is_float = type_name.startswith("float")
        self.table = float8_table(self.type) if self.is_float else None

    def group(self, values):
        """(codes, scale as bytes, code of the zero point)"""
        low, high = min(values + [0.0]), max(values + [0.0])
        if self.is_float:
            data, scale = round_scale(max(-low, high) / self.table[-1][0] or 1.0, self.scale_type)
            return list(nearest(self.table, self.type.sign, [v / scale for v in values])), data, 0
        bits, signed = self.type.bits, self.type.signed
        least, most = (-(1 << bits - 1), (1 << bits - 1) - 1) if signed else (0, (1 << bits) - 1)
        if self.has_zero:
            data, scale = round_scale((high - low) / (most - least) or 1.0, self.scale_type)
            zero = min(max(round(least - low / scale), least), most)
        else:
            data, scale = round_scale(max(-low, high) / min(most, 1 << 24) or 1.0, self.scale_type)
            zero = 0
        mask = (1 << bits) - 1
        return [min(max(round(v / scale) + zero, least), most) & mask for v in values], data, zero & mask

    def quantize(self, values, groups, count):
        """`groups` tells for each number which of the `count` scales is its."""
        members = [[] for _ in range(count)]
        for i, g in enumerate(groups):
            members[g].append(i)
        codes, scales, zeros = [0] * len(values), [], []
        for indices in members:
            group, scale, zero = self.group([values[i] for i in indices])
            for i, code in zip(indices, group):
                codes[i] = code
            scales.append(scale)
            zeros.append(zero)
        return pack(self.type, codes), b"".join(scales), pack(self.type, zeros)


def product(dims):
    result = 1
    for d in dims:
        result *= d
    return result


def granularity(kind, size, dims):
    """(shape of the scales, the scale of each element, attributes). The axis is 0 or, for blocks, 1."""
    inner = product(dims[1:])
    if kind == "tensor":
        return [], [0] * product(dims), {}
    if kind == "axis":
        return [dims[0]], [i // inner for i in range(product(dims))], {"axis": 0}
    blocks, rest = -(-dims[1] // size), product(dims[2:])
    groups = [(i // inner * blocks + i // rest % dims[1] // size) * rest + i % rest for i in range(product(dims))]
    return [dims[0], blocks] + dims[2:], groups, {"axis": 1, "block_size": size}


# ---- the model ----

def attribute_int(name, value):
    return message((1, name), (3, value), (20, 2))


def constant(name, content):
    return message((2, name), (4, "Constant"), (5, message((1, "value"), (5, content), (20, 4))))


def weights(node):
    """(name, dims, numbers) if a node is a Constant of a float32 tensor of rank 2 or more."""
    if first(node, 4) != b"Constant":
        return None
    content = first(first(node, 5), 5)
    if content is None or first(content, 2) != FLOAT32:
        return None
    dims = [value for number, value, _ in fields(content) if number == 1]
    raw = first(content, 9, b"")
    if len(dims) < 2 or len(raw) != 4 * product(dims):
        return None
    return first(node, 2).decode(), dims, list(struct.unpack("<%df" % product(dims), raw))


def replace(name, dims, values, scheme, external):
    """The fields of the graph that compute a tensor instead of its Constant node."""
    type_name, kind, size, has_zero, scale_type, domain, place = scheme
    shape, groups, attributes = granularity(kind, size, dims)
    x, scale, zero = Quantizer(type_name, scale_type, has_zero).quantize(values, groups, product(shape))
    number = TYPES[type_name].number
    tensors = [(name + "_x", number, dims, x), (name + "_scale", TYPES[scale_type].number, shape, scale)]
    if has_zero:
        tensors.append((name + "_zero", number, shape, zero))
    out = []
    for t in tensors:
        if place == "constants":
            out.append((1, constant(t[0], tensor(*t))))
        else:
            out.append((5, tensor(*t, external=external)))
    cast = scale_type != "float32"
    out.append((1, message(*[(1, t[0]) for t in tensors], (2, name + "_small" if cast else name),
                           (4, "DequantizeLinear"), *[(5, attribute_int(*a)) for a in attributes.items()],
                           *([(7, domain)] if domain else []))))
    if cast:
        out.append((1, message((1, name + "_small"), (2, name), (4, "Cast"), (5, attribute_int("to", FLOAT32)))))
    return out


def quantize_graph(graph, scheme, external):
    out = []
    for number, value, whole in fields(graph):
        found = weights(value) if number == 1 else None
        out.append(message(*replace(*found, scheme, external)) if found else whole)
        if found:  # an output too: what it becomes can be compared
            out.append(message((12, value_info(found[0], TYPES["float32"], found[1]))))
    return b"".join(out)


def quantize_model(model, scheme, external):
    opset, ir_version = VERSIONS.get(scheme[0], (21, 10))
    out = [message((1, ir_version))]
    for number, value, whole in fields(model):
        if number == 7:
            value = quantize_graph(value, scheme, external)
            whole = varint(7 << 3 | 2) + varint(len(value)) + value
        if number not in (1, 8):
            out.append(whole)
    out += [message((8, message((1, ""), (2, opset)))), message((8, message((1, "com.microsoft"), (2, 1))))]
    return b"".join(out)


def main(arguments):
    if arguments == ["--list"]:
        print("\n".join(SCHEMES))
        return
    if len(arguments) != 3 or arguments[1] not in SCHEMES:
        sys.exit(__doc__)
    source, name, target = arguments
    scheme = SCHEMES[name]
    with open(source, "rb") as file:
        model = file.read()
    external = open(target + ".bin", "wb") if scheme[-1] == "external" else None
    quantized = quantize_model(model, scheme, external)
    if external:
        external.close()
    with open(target, "wb") as file:
        file.write(quantized)


if __name__ == "__main__":
    main(sys.argv[1:])
