#!/usr/bin/env python3
"""Writes the models of this folder: NAME.onnx, and NAME.expanded.onnx, which `dql expand NAME.onnx` must give;
NAME.TYPE.onnx is what `--dtype TYPE` must give, and NAME.constant.onnx what `--constant-inputs` must give.

    generate.py             write them
    generate.py --check     write nothing; exit with 1 if they are not what would be written

Both models of a pair are put together side by side from the same pieces, of which some are dropped or replaced in the
second one; its numbers come from the exact arithmetic of tests/vectors/generate.py.
"""
import math
import os
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
sys.dont_write_bytecode = True  # tests read every folder in vectors
sys.path.insert(0, os.path.join(HERE, "..", "vectors"))
import generate as vectors  # noqa: E402  (tests/vectors/generate.py; this file is __main__)
from generate import TYPES, message, tensor, value_info, varint  # noqa: E402

FLOAT32 = TYPES["float32"]


# ---- pairs: what is in the model, and in the expanded one ----

class Pair:
    """Fields of a message, before and after."""
    def __init__(self, before=b"", after=b""):
        self.before, self.after = before, after

    def __add__(self, other):
        return Pair(self.before + other.before, self.after + other.after)


def kept(*fields):
    content = message(*fields)
    return Pair(content, content)


def raw(content):
    return Pair(content, content)


def dropped(*fields):
    return Pair(message(*fields))


def replaced(before, after):
    return Pair(message(before), message(after))


def nested(number, pair):
    """A field of a message that changes inside."""
    return replaced((number, pair.before), (number, pair.after))


def overlong(number, pair):
    """The same, with a length of more bytes than it needs: only a message that changes gets a new one."""
    size = len(pair.before)
    length = bytes([size & 127 | 128, size >> 7 & 127 | 128, size >> 14 & 127 | 128, size >> 21])
    before = varint(number << 3 | 2) + length + pair.before
    return Pair(before, before if pair.before == pair.after else message((number, pair.after)))


def join(pairs):
    total = Pair()
    for pair in pairs:
        total += pair
    return total


UNKNOWN = (777, b"a field that nobody knows")


# ---- nodes ----

def node(op, inputs, outputs, attributes=(), domain="", name=None):
    return message(*[(1, i) for i in inputs], *[(2, o) for o in outputs], *([(3, name)] if name else []), (4, op),
                   *[(5, a) for a in attributes], *([(7, domain)] if domain else []))


def int_attribute(name, value):
    return message((1, name), (3, value), (20, 2))


def constant(name, content):
    """As anybody may write it."""
    return node("Constant", [], [name], [message((1, "value"), (5, content), (20, 4))])


def new_constant(name, content):
    """As dql writes it."""
    return message((2, name), (4, "Constant"), (5, message((1, "value"), (20, 4), (5, content))))


class Weight:
    """A DequantizeLinear of constants, of random numbers."""
    def __init__(self, y, x_type, y_type, shape, scale_shape=(), axis=None, block=None, scale_type=None, zero=True,
                 domain="", encoding="raw"):
        self.y, self.domain, self.encoding = y, domain, encoding
        self.attributes = {"axis": axis, "block_size": block}
        types = TYPES[x_type], TYPES[scale_type or y_type]
        if scale_type:
            self.attributes["output_dtype"] = TYPES[y_type].number
        random = vectors.random_numbers(y)
        count, scale_count = math.prod(shape), math.prod(scale_shape)
        self.tensors = {
            "x": (types[0], list(shape), [next(random) % (1 << types[0].bits) for _ in range(count)]),
            "x_scale": (types[1], list(scale_shape),
                        [vectors.ordinary_scale(types[1], random) for _ in range(scale_count)]),
        }
        if zero:
            integer = isinstance(types[0], vectors.Integer)
            self.tensors["x_zero_point"] = (types[0], list(scale_shape), [
                next(random) % (1 << types[0].bits) if integer else 0 for _ in range(scale_count)])
        self.y_type, self.shape = TYPES[y_type], shape
        self.axis, self.block = axis, block

    def scaled_by(self, other):
        """Makes the scale another's y, whose name must be that of the scale."""
        assert other.y == self.name("x_scale")
        return self.with_tensors(x_scale=(other.y_type, list(other.shape), other.codes()))

    def with_tensors(self, **tensors):
        self.tensors.update(tensors)
        return self

    def codes(self, y_type=None):
        return vectors.dequantize(self.tensors, y_type or self.y_type, self.axis, self.block)

    def result(self, y_type=None):
        y_type = TYPES[y_type] if y_type else self.y_type
        return tensor(self.y, y_type, self.shape, vectors.pack(y_type, self.codes(y_type)))

    def name(self, role):
        return f"{self.y}.{role}"

    def stored(self, role):
        type_, shape, codes = self.tensors[role]
        encoding = "raw" if type_ in (TYPES["float16"], TYPES["bfloat16"]) else self.encoding
        return tensor(self.name(role), type_, shape, vectors.pack(type_, codes), encoding)

    def node(self, names=None, attributes=None):
        attributes = attributes or [int_attribute(k, v) for k, v in self.attributes.items() if v is not None]
        return node("DequantizeLinear", names or [self.name(role) for role in self.tensors], [self.y], attributes,
                    self.domain, self.y + " node")

    def initializers(self, make=dropped, but=None, leave_out=None):
        """`but` is kept."""
        return join((kept if role == but else make)((5, self.stored(role))) for role in self.tensors
                    if role != leave_out)

    def constants(self):
        return join(dropped((1, constant(self.name(role), self.stored(role)))) for role in self.tensors)

    def to_nothing(self):
        return dropped((1, self.node()))

    def to_initializer(self, names=None, y_type=None):
        return replaced((1, self.node(names)), (5, self.result(y_type)))

    def to_constant(self, number=1):
        return replaced((number, self.node()), (number, new_constant(self.y, self.result())))

    def ordinary(self):
        return self.initializers() + self.to_initializer()


def use(name):
    """A node that needs a value."""
    return kept((1, node("Abs", [name], [name + " used"])))


# ---- the models ----

def graph(name, *pairs, outputs=()):
    return join(pairs) + kept((2, name), *[(12, value_info(n, type_, shape)) for n, type_, shape in outputs])


def model(graph_pair, ir_version=10, opset=25, functions=()):
    opsets = [(8, message((1, ""), (2, opset))), (8, message((1, "com.microsoft"), (2, 1)))]
    return (kept((1, ir_version), (2, "dql"), UNKNOWN) + overlong(7, graph_pair) + kept(*opsets) +
            join(nested(25, f) for f in functions) + raw(b"\x9a\x31\x80\x00"))  # an unknown empty field, oddly long


def weights():
    """All types, granularities and encodings, and both domains."""
    yield Weight("int8 axis", "int8", "float32", [4, 3], [4], axis=0)
    yield Weight("uint8 default axis", "uint8", "float32", [2, 3, 2], [3])
    yield Weight("uint4 blocked", "uint4", "float32", [3, 7], [3, 3], axis=1, block=3)
    yield Weight("int4 odd", "int4", "float16", [5], encoding="sign_extended")
    yield Weight("int16 typed", "int16", "float32", [2, 5], [5], encoding="zero_extended")
    yield Weight("uint16 microsoft", "uint16", "float16", [3, 2], [3], axis=0, domain="com.microsoft")
    yield Weight("int32", "int32", "float32", [3], zero=False)
    yield Weight("float8e4m3fn", "float8e4m3fn", "bfloat16", [2, 4], [2], axis=-2, scale_type="float32")
    yield Weight("float8e4m3fnuz", "float8e4m3fnuz", "float32", [7], zero=False)
    yield Weight("float8e5m2", "float8e5m2", "float16", [7])
    yield Weight("float8e5m2fnuz", "float8e5m2fnuz", "float32", [7])
    yield Weight("mxfp4", "float4e2m1", "float32", [2, 40], [2, 2], axis=1, block=32, scale_type="float8e8m0", zero=False)
    yield Weight("mxfp6", "float6e2m3", "bfloat16", [2, 39], [2, 2], axis=1, block=32, scale_type="float8e8m0", zero=False)
    yield Weight("float6e3m2 typed", "float6e3m2", "float32", [3, 5], [3], axis=0, encoding="zero_extended")
    yield Weight("int2", "int2", "float32", [3, 3], [3], axis=0)
    yield Weight("uint2 blocked", "uint2", "bfloat16", [2, 9], [2, 3], axis=-1, block=4, encoding="zero_extended")
    yield Weight("empty", "int8", "float32", [0, 3], [3])
    yield Weight("scalar", "uint8", "float32", [])


def types_model():
    return model(graph("types", *[w.ordinary() for w in weights()]), ir_version=14, opset=28)


def branches(*pairs):
    """An If node whose branches are these graphs."""
    names = "then_branch", "else_branch"
    attributes = [kept((1, name), (20, 5)) + nested(6, pair) for name, pair in zip(names, pairs)]
    return nested(1, kept((1, "condition"), (2, "if"), UNKNOWN, (4, "If")) + join(overlong(5, a) for a in attributes))


def function():
    """One that has an attribute. There are no initializers in a function, but in a graph in it."""
    inside, below, referring = (Weight(name, "int4", "float32", [2, 3], [3])
                                for name in ("in function", "below function", "referring"))
    store = {w: {role: (7, constant(w.name(role), w.stored(role))) for role in w.tensors} for w in (inside, referring)}
    reference = message((1, "axis"), (21, "the function's axis"), (20, 2))
    branch = graph("in if", below.ordinary(), use("below function"))
    return join([
        kept((1, "function"), (4, "argument"), (5, "in function"), (6, "the function's axis")),
        dropped(store[inside]["x"]), kept(store[inside]["x_scale"]), dropped(store[inside]["x_zero_point"]),
        inside.to_constant(7),
        nested(7, kept((1, "argument"), (2, "y"), (4, "If")) +
               nested(5, kept((1, "then_branch"), (20, 5)) + nested(6, branch))),
        kept(*store[referring].values(), (7, referring.node(attributes=[reference]))),
        kept((7, node("DequantizeLinear", ["argument", inside.name("x_scale")], ["not constant"]))),
        kept((9, message((1, ""), (2, 21))), (10, "functions of its own"), UNKNOWN)])


def scopes_model():
    """Names in graphs of graphs, and in functions."""
    captured = Weight("captured", "int8", "float32", [2, 3], [2], axis=0)
    inner = Weight("inner", "uint4", "float32", [3], encoding="zero_extended")
    deep, shadow = (Weight(name, "int8", "float32", [2]) for name in ("deep", "shadow"))
    twice = Weight("twice", "uint8", "float32", [3])
    then_graph = graph("then", captured.to_initializer(), use("captured"),
                       branches(graph("deeper", deep.ordinary(), use("deep"), outputs=[("deep", FLOAT32, [2])]),
                                graph("nothing")))
    # The names of shadow's tensors mean others here, and none of them is a constant.
    else_graph = graph("else", inner.constants(), inner.to_initializer(), twice.to_initializer(),
                       kept(*[(1, node("Abs", ["condition"], [shadow.name(role)])) for role in shadow.tensors]),
                       kept((1, shadow.node())), outputs=[("inner", FLOAT32, [3])])
    # The outer deep is hidden by the inner one: nobody ever used it.
    main = graph("main", captured.initializers(), deep.initializers(kept), twice.initializers(),
                 branches(then_graph, else_graph), shadow.initializers(kept), outputs=[("if", FLOAT32, [])])
    return model(main, functions=[function()])


def uses_model():
    """What is dropped, and what is not."""
    shared = Weight("shared", "int8", "float32", [2, 3], [2], axis=0)
    other = Weight("other", "int8", "float32", [2, 3], [2], axis=0).with_tensors(
        x_scale=shared.tensors["x_scale"], x_zero_point=shared.tensors["x_zero_point"])
    lonely, output, exported, annotated, dynamic, default = (
        Weight(name, "uint8", "float32", [3])
        for name in ("lonely", "output", "exported", "annotated", "dynamic", "default"))
    annotation = message((1, "annotated"), (2, message((1, "SCALE_TENSOR"), (2, annotated.name("x_scale")))))
    return model(graph(
        "uses",
        # Two nodes are done with one scale.
        shared.initializers(), dropped((5, other.stored("x"))), shared.to_initializer(),
        other.to_initializer([other.name("x"), shared.name("x_scale"), shared.name("x_zero_point")]),
        # One tensor of each of these has another use: by a node, as an output, in an annotation.
        lonely.initializers(but="x"), lonely.to_initializer(), use(lonely.name("x")),
        output.initializers(but="x_scale"), output.to_initializer(),
        annotated.initializers(but="x_scale"), annotated.to_initializer(), kept((14, annotation)),
        # An output, and an initializer that nobody ever used.
        exported.ordinary(), kept((5, tensor("unused", FLOAT32, [1], b"\0\0\x80\x3f"))),
        # x is computed, or an input with a default: these nodes stay.
        kept((1, node("Abs", ["argument"], [dynamic.name("x")]))), dynamic.initializers(kept, leave_out="x"),
        kept((1, dynamic.node())), default.initializers(kept), kept((1, default.node())),
        kept((11, value_info(default.name("x"), TYPES["uint8"], [3])),
             (11, value_info("argument", TYPES["uint8"], [3])),
             (13, value_info("shared", FLOAT32, [2, 3]))),
        outputs=[("output", FLOAT32, [3]), (output.name("x_scale"), FLOAT32, []), ("exported", FLOAT32, [3])]))


def constants_model():
    """Forms of Constant nodes."""
    half, two = (vectors.code(FLOAT32, n) for n in (0.5, 2.0))
    one = Weight("one float", "int8", "float32", [2, 2], zero=False).with_tensors(x_scale=(FLOAT32, [], [half]))
    two = Weight("floats", "int8", "float32", [2, 2], [2], axis=0, zero=False).with_tensors(
        x_scale=(FLOAT32, [2], [half, two]))
    strange = Weight("strange", "int8", "float32", [2], zero=False)
    value_float = message((1, "value_float"), (20, 1)) + varint(2 << 3 | 5) + b"\0\0\0\x3f"
    value_floats = message((1, "value_floats"), (20, 6), (7, b"\0\0\0\x3f\0\0\0\x40"))
    value_int = message((1, "value_int"), (20, 2), (3, 1))
    return model(graph(
        "constants",
        dropped((5, one.stored("x")), (1, node("Constant", [], [one.name("x_scale")], [value_float]))),
        one.to_initializer(),
        dropped((5, two.stored("x")), (1, node("Constant", [], [two.name("x_scale")], [value_floats]))),
        two.to_initializer(),
        kept((5, strange.stored("x")), (1, node("Constant", [], [strange.name("x_scale")], [value_int])),
             (1, strange.node()))))


def nvfp4(name, shape, block=16):
    """A weight as exporters write NVFP4, and its scales, which have a scale."""
    blocks = [*shape[:-1], -(-shape[-1] // block)]
    weight = Weight(name, "float4e2m1", "float32", shape, blocks, axis=-1, block=block, zero=False)
    scales = Weight(weight.name("x_scale"), "float8e4m3fn", "float32", blocks, zero=False)
    return weight.scaled_by(scales), scales


def chains_model():
    """Scales that other DequantizeLinear nodes compute."""
    ordinary, scales = nvfp4("ordinary", [4, 32])
    backwards, late = nvfp4("backwards", [2, 20])
    shared, used = nvfp4("shared", [1, 16])
    exported, output = nvfp4("exported", [3, 5])
    captured, outer = nvfp4("captured", [2, 16])
    deepest = Weight("deep.x_scale.x_scale.x_scale", "int8", "float16", [2])
    deeper = Weight("deep.x_scale.x_scale", "uint16", "float32", [2], [2], axis=0, scale_type="float16")
    deeper.scaled_by(deepest)
    deep = Weight("deep.x_scale", "int4", "bfloat16", [2], [2], axis=0, scale_type="float32").scaled_by(deeper)
    top = Weight("deep", "uint8", "float32", [3, 2], [2], axis=1, scale_type="bfloat16").scaled_by(deep)
    dynamic, computed = nvfp4("dynamic", [1, 16])
    without_scale = {w: dropped((5, w.stored("x"))) for w in (ordinary, backwards, shared, exported, captured)}
    two = node("DequantizeLinear", [ordinary.y, "one"], ["x is a float"])
    cycle = [node("DequantizeLinear", ["eight", a], [b]) for a, b in (("a", "b"), ("b", "a"), ("self", "self"))]
    main = graph(
        "chains",
        scales.initializers(), without_scale[ordinary], scales.to_nothing(), ordinary.to_initializer(),
        late.initializers(), without_scale[backwards], backwards.to_initializer(), late.to_nothing(),
        used.initializers(), without_scale[shared], used.to_initializer(), shared.to_initializer(), use(used.y),
        output.ordinary(), without_scale[exported], exported.to_initializer(),
        outer.initializers(), outer.to_nothing(),
        branches(graph("then", without_scale[captured], captured.to_initializer(), use(captured.y)), graph("else")),
        deepest.initializers(), deepest.to_nothing(), deeper.initializers(leave_out="x_scale"), deeper.to_nothing(),
        deep.initializers(leave_out="x_scale"), deep.to_nothing(), top.initializers(leave_out="x_scale"),
        top.to_initializer(),
        # The scale's own x is computed, x itself is, or everything is by itself: these stay.
        kept((1, node("Abs", ["argument"], [computed.name("x")]))), computed.initializers(kept, leave_out="x"),
        kept((1, computed.node()), (5, dynamic.stored("x")), (1, dynamic.node())),
        kept((1, two), (5, tensor("one", FLOAT32, [], b"\0\0\x80\x3f")),
             (5, tensor("eight", TYPES["int8"], [], b"\x08"))),
        kept(*[(1, n) for n in cycle]),
        outputs=[(output.y, FLOAT32, list(output.shape))])
    inside, below = nvfp4("inside", [2, 16])
    body = join([kept((1, "function"), (5, "inside")), dropped((7, constant(below.name("x"), below.stored("x")))),
                 dropped((7, constant(below.name("x_scale"), below.stored("x_scale")))), dropped((7, below.node())),
                 dropped((7, constant(inside.name("x"), inside.stored("x")))), inside.to_constant(7),
                 kept((9, message((1, ""), (2, 25))), (10, "functions of its own"))])
    return model(main, functions=[body])


def inputs_model():
    """Initializers that are inputs too, which callers may leave out: defaults, or, if somebody says so, constants."""
    listed, used = (Weight(name, "uint8", "float32", [3]) for name in ("listed", "used"))
    inputs = {w: {role: (11, value_info(w.name(role), *w.tensors[role][:2])) for role in w.tensors}
              for w in (listed, used)}
    in_graph = Weight("in graph", "uint8", "float32", [3])
    body = graph("then", in_graph.initializers(kept), kept((1, in_graph.node())),
                 kept(*[(11, value_info(in_graph.name(role), type_, shape))
                        for role, (type_, shape, _) in in_graph.tensors.items()]))
    return model(graph(
        "inputs", dropped(*inputs[listed].values()), kept((11, value_info("argument", FLOAT32, [3]))),
        kept(inputs[used]["x"]), dropped(inputs[used]["x_scale"]), dropped(inputs[used]["x_zero_point"]),
        listed.ordinary(), used.initializers(but="x"), used.to_initializer(), use(used.name("x")),
        branches(body, graph("else")), outputs=[("listed", FLOAT32, [3]), ("used", FLOAT32, [3])]))


def strings_model():
    """Bytes that are not UTF-8, or NUL, in names and in what nobody reads."""
    weight = Weight("weight", "int8", "float32", [2, 3], [2], axis=0)

    def rename(content):
        return content.replace(b"weight", b"w\xe4\0\xffgt")

    before, after = rename(weight.ordinary().before), weight.ordinary().after
    text = (10, b"a NUL: \0, and Latin-1: \xe4")
    y = b"\xfe y \xff\n"
    before = before.replace(b"\x12\x06w\xe4\0\xffgt", message((2, y)))
    return Pair(message((1, 10), (6, b"\0\xff"), (7, before + message(text)), (8, message((1, ""), (2, 25)))),
                message((1, 10), (6, b"\0\xff"), (7, after.replace(b"\x42\x06weight", message((8, y))) + message(text)),
                        (8, message((1, ""), (2, 25)))))


def cast_model(y_type=None):
    """Only Cast nodes use y, so it may have any type. A scale of another type is still used as it was."""
    wide, narrow = Weight("wide", "int8", "float32", [2, 3], [2], axis=0), Weight("narrow", "uint4", "float16", [5])
    weight, scales = nvfp4("weight", [2, 20])
    chain = (scales.initializers() + scales.to_initializer(y_type=y_type) + dropped((5, weight.stored("x"))) +
             weight.to_initializer(y_type=y_type))
    casts = [node("Cast", [w.y], [w.y + " cast"], [int_attribute("to", FLOAT32.number)])
             for w in (wide, narrow, weight, scales)]
    return model(graph("cast", *[w.initializers() + w.to_initializer(y_type=y_type) for w in (wide, narrow)], chain,
                       kept(*[(1, c) for c in casts])))


def old_model(make=kept):
    """IR version 3: the initializers are inputs, and there can't be others."""
    weight = Weight("weight", "uint8", "float32", [3])
    inputs = [(11, value_info(weight.name(role), *weight.tensors[role][:2])) for role in weight.tensors]
    return model(graph("old", weight.initializers(make), weight.to_constant(), make(*inputs),
                       outputs=[("weight", FLOAT32, [3])]), ir_version=3, opset=13)


def external_model():
    """Two tensors have their data in external_data.bin, from its bytes 3 and 9 on; another keeps its there."""
    weight = Weight("weight", "int8", "float32", [2, 3], [2], axis=0)
    other = vectors.external_tensor("other", FLOAT32, [1], {"location": "external_data.bin"})
    x, scale = (vectors.external_tensor(weight.name(role), *weight.tensors[role][:2],
                                        {"location": "external_data.bin", "offset": offset})
                for role, offset in (("x", 3), ("x_scale", 9)))
    data = b"---" + b"".join(vectors.pack(type_, codes) for type_, _, codes in list(weight.tensors.values())[:2])
    main = graph("external", dropped((5, x), (5, scale), (5, weight.stored("x_zero_point"))), weight.to_initializer(),
                 kept((5, other)))
    return model(main), {"external_data.bin": data}


def files():
    out = {}
    for name, make in (("types", types_model), ("scopes", scopes_model), ("uses", uses_model), ("cast", cast_model),
                       ("constants", constants_model), ("old", old_model), ("external_data", external_model),
                       ("chains", chains_model),
                       ("strings", strings_model)):
        pair = make()
        if isinstance(pair, tuple):
            pair, more = pair
            out.update(more)
        out[name + ".onnx"], out[name + ".expanded.onnx"] = pair.before, pair.after
    pair = inputs_model()
    out["inputs.onnx"], out["inputs.expanded.onnx"], out["inputs.constant.onnx"] = pair.before, pair.before, pair.after
    out["old.constant.onnx"] = old_model(dropped).after
    for y_type in ("float32", "float16", "bfloat16"):
        out["cast.%s.onnx" % y_type] = cast_model(y_type).after
    return out


def main(arguments):
    if arguments not in ([], ["--check"]):
        sys.exit(__doc__)
    if arguments:
        vectors.NOT_GENERATED.add("generate.py")
        sys.exit(vectors.check(HERE, files()))
    vectors.write(HERE, files())


if __name__ == "__main__":
    main(sys.argv[1:])
