"""ONNX models as bytes, for the tests and benchmarks of the plug-in: what tests/vectors/generate.py has, and some more."""
import os
import sys

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "..", "tests", "models"))
from quantize import fields, first  # noqa: E402
from generate import TYPES, message, varint  # noqa: E402,F401

INT, FLOAT, GRAPH, TENSOR = 2, 1, 5, 4  # AttributeProto's types
NUMBERS = {**{name: t.number for name, t in TYPES.items()}, "int64": 7, "bool": 9}


def tensor(name, type_, shape, data):
    return message(*[(1, d) for d in shape], (2, NUMBERS[type_]), (8, name), (9, data))


def value(name, type_, shape=None):
    """`shape`: dims are numbers, or names of what is not known; None: not even how many."""
    if shape is None:
        return message((1, name), (2, message((1, message((1, NUMBERS[type_]))))))
    dims = message(*[(1, message((2, d) if isinstance(d, str) else (1, d))) for d in shape])
    return message((1, name), (2, message((1, message((1, NUMBERS[type_]), (2, dims))))))


def attribute(name, content):
    """An int, or a graph's bytes."""
    if isinstance(content, int):
        return message((1, name), (3, content % (1 << 64)), (20, INT))
    return message((1, name), (6, content), (20, GRAPH))


def node(op, inputs, outputs, domain="", name=None, **attributes):
    return message(*[(1, i) for i in inputs], *[(2, o) for o in outputs], (3, op + "_" + outputs[0] if name is None else name),
                   (4, op), *[(5, attribute(k, v)) for k, v in attributes.items()], *([(7, domain)] if domain else []))


def graph(nodes, inputs=(), outputs=(), initializers=(), values=()):
    return message(*[(1, n) for n in nodes], (2, "graph"), *[(5, i) for i in initializers], *[(11, i) for i in inputs],
                   *[(12, o) for o in outputs], *[(13, v) for v in values])


def model(graph_bytes, opset=21, ir_version=10, domains=("com.microsoft",), functions=()):
    opsets = [message((1, ""), (2, opset)), *[message((1, d), (2, 1)) for d in domains]]
    return message((1, ir_version), (7, graph_bytes), *[(8, o) for o in opsets], *[(25, f) for f in functions])


def function(name, domain, inputs, outputs, nodes, opset=21):
    return message((1, name), *[(4, i) for i in inputs], *[(5, o) for o in outputs], *[(7, n) for n in nodes],
                   (9, message((1, ""), (2, opset))), (10, domain))


def output_names(model_bytes):
    return [first(v, 1).decode() for n, v, _ in fields(first(model_bytes, 7)) if n == 12]


def operators(model_bytes):
    """The op_types of the main graph's nodes, in their order."""
    return [first(v, 4).decode() for n, v, _ in fields(first(model_bytes, 7)) if n == 1]


def varints(data):
    number = shift = 0
    for byte in data:
        number |= (byte & 127) << shift
        shift += 7
        if byte < 128:
            yield number
            number = shift = 0


def with_raw_data(tensor_bytes):
    """A tensor whose elements may be in int32_data, as anything may be that is extended to 32 bits (which ONNX Runtime takes
    for an overflow in initializers), with the same in raw_data."""
    size = {16: 2, 6: 4, 10: 2, 5: 2, 4: 2}.get(first(tensor_bytes, 2), 1)  # by type; those below a byte are packed
    content = data = b""
    for number, field, whole in fields(tensor_bytes):
        if number == 5:
            entries = [field] if isinstance(field, int) else varints(field)
            data += b"".join((e % (1 << 8 * size)).to_bytes(size, "little") for e in entries)
        else:
            content += whole
    return content + message((9, data)) if data else tensor_bytes


def with_external_data(model_bytes, folder):
    """The model, with what lies in files of this folder in it."""
    content = b""
    for number, field, whole in fields(model_bytes):
        if number == 7:
            field = b"".join(message((5, with_file(t, folder))) if n == 5 else w for n, t, w in fields(field))
            whole = message((7, field))
        content += whole
    return content


def with_file(tensor_bytes, folder):
    place = {first(e, 1).decode(): first(e, 2).decode() for n, e, _ in fields(tensor_bytes) if n == 13}
    if not place:
        return tensor_bytes
    with open(os.path.join(folder, place["location"]), "rb") as file:
        file.seek(int(place.get("offset", 0)))
        data = file.read(int(place.get("length", -1)))
    return b"".join(w for n, _, w in fields(tensor_bytes) if n not in (13, 14)) + message((9, data))


def with_initializers(model_bytes, tensors):
    """The model, whose graph now has these tensors as defaults of its inputs: what can't be fed needs no feeding, and yet is
    not constant."""
    content = b""
    for number, field, whole in fields(model_bytes):
        if number == 7:
            field += message(*[(5, with_raw_data(t)) for t in tensors])
            whole = varint(7 << 3 | 2) + varint(len(field)) + field
        content += whole
    return content
