"""Writes the good and bad ONNX files of test.sh into the current folder, byte by byte: no library would write them."""
import os
import struct


# ---- protobuf ----

def varint(n):
    n &= (1 << 64) - 1
    out = bytearray()
    while n > 127:
        out.append(n & 127 | 128)
        n >>= 7
    return bytes(out + bytes([n]))


def message(*fields):
    """Fields are (number, value): an int, or bytes, a str, or a list of them for a repeated field."""
    out = b""
    for number, value in fields:
        for v in value if isinstance(value, list) else [value]:
            v = v.encode() if isinstance(v, str) else v
            if isinstance(v, bytes):
                out += varint(number << 3 | 2) + varint(len(v)) + v
            else:
                out += varint(number << 3) + varint(v)
    return out


# ---- ONNX ----

FLOAT32, UINT8, INT8, INT32, INT64, FLOAT16, DOUBLE, BFLOAT16, FLOAT8E4M3FN = 1, 2, 3, 6, 7, 10, 11, 16, 17
FLOAT6E2M3, FLOAT6E3M2 = 27, 28


def floats(*values):
    return struct.pack("<%df" % len(values), *values)


def raw(data):
    return (9, data)


def int32_data(*values):
    return (5, b"".join(map(varint, values)))


def external(location, **entries):
    pairs = [] if location is None else [("location", location)]
    pairs += [(key, str(value)) for key, value in entries.items()]
    return (13, [message((1, k), (2, v)) for k, v in pairs]), (14, 1)


def tensor(name, type_, dims, *data):
    return message((1, list(dims)), (2, [type_] if type_ else []), *data, (8, name))


def value_info(name, type_, dims):
    shape = message((1, [message((1, d)) for d in dims]))
    return message((1, name), (2, message((1, message((1, type_), (2, shape))))))


def int_attribute(name, value):
    return message((1, name), (3, value), (20, 2))


X = [3, 4, 5, 10, 0, 127]
X_DATA = bytes(X)
SCALE = tensor("x_scale", FLOAT32, [2], raw(floats(1, 2)))
ZERO = tensor("x_zero_point", INT8, [2], raw(bytes([2, 5])))


def attributes(**values):
    return [int_attribute(*pair) for pair in values.items()]


def node(inputs=("x", "x_scale", "x_zero_point"), outputs=("y",), op="DequantizeLinear", domain="", attrs=None):
    attrs = attributes(axis=0) if attrs is None else attrs
    return message((1, list(inputs)), (2, list(outputs)), (4, op), (5, attrs), (7, domain))


def graph(nodes, initializers=(), inputs=(), name="graph"):
    return message((1, nodes), (2, name), (5, list(initializers)), (11, list(inputs)),
                   (12, value_info("y", FLOAT32, [2, 3])))


def opset(version, domain=""):
    return message((1, domain), (2, version))


def wrap(graph_, opsets=(opset(21),), ir_version=10):
    return message((1, ir_version), (7, graph_), (8, list(opsets)))


def model(initializers, opsets=(opset(21),), **of_node):
    """A model that has all its tensors inside."""
    return wrap(graph([node(**of_node)], initializers), opsets)


def x(type_=INT8, dims=(2, 3), *data):
    return tensor("x", type_, dims, *(data or (raw(X_DATA),)))


def nest(depth, *numbers):
    """An empty message inside fields of these numbers, again and again."""
    out = b""
    for _ in range(depth):
        for number in reversed(numbers):
            out = message((number, out))
    return out


def write(path, content):
    os.makedirs(os.path.dirname(path) or ".", exist_ok=True)
    with open(path, "wb") as file:
        file.write(content)


# ---- good models ----

INPUTS = [value_info("x", INT8, [2, 3]), value_info("x_scale", FLOAT32, [2]), value_info("x_zero_point", INT8, [2])]
GOOD = wrap(graph([node()], inputs=INPUTS))
Y = tensor("y", FLOAT32, [2, 3], raw(floats(1, 2, 3, 10, -10, 244)))
write("good.onnx", GOOD)
write("good_x.pb", x())
write("good_scale.pb", SCALE)
write("good_zero.pb", ZERO)
write("good_y.pb", message((1, [2, 3]), (2, FLOAT32), (8, "y"), raw(floats(1, 2, 3, 10, -10, 244))))

SHIFTED = x(INT8, (2, 3), raw(bytes([1, 2, 3, 5, 251, 122])))  # x without its zero points
BLOCKED_SCALE = tensor("x_scale", FLOAT32, [2, 2], raw(floats(1, 2, 3, 4)))
TWO = ("x", "x_scale")
write("initializers.onnx", model([x(), SCALE, ZERO]))
write("com_microsoft.onnx", model([x(), SCALE, ZERO], [opset(21), opset(1, "com.microsoft")], domain="com.microsoft"))
write("no_zero.onnx", model([SHIFTED, SCALE], inputs=TWO))
write("empty_zero_name.onnx", model([SHIFTED, SCALE], inputs=TWO + ("",)))
write("typed_data.onnx", model([x(INT8, (2, 3), int32_data(*X)), ZERO,
                                tensor("x_scale", FLOAT32, [2], (4, floats(1, 2)))]))
write("proto3_axis.onnx", model([x(), SCALE, ZERO], attrs=[message((1, "axis"), (20, 2))]))
write("blocked.onnx", model([x(), BLOCKED_SCALE], inputs=TWO, attrs=attributes(block_size=2)))
write("bfloat16.onnx", model([x(), SCALE, ZERO], attrs=attributes(axis=0, output_dtype=BFLOAT16)))
write("scalar.onnx", model([tensor("x", INT8, [], raw(b"\7")), tensor("x_scale", FLOAT32, [1], raw(floats(2)))],
                           inputs=TWO))
write("no_elements.onnx", model([tensor("x", INT8, [0, 1 << 62, 1 << 62]), tensor("x_scale", FLOAT32, [0])],
                                inputs=TWO))

for version in (10, 25, 26, 27, 28, 29, 1000):  # 10 is too old for the axis, but says nothing of it
    write("opset_%d.onnx" % version, model([x(), SCALE, ZERO], [opset(version, "ai.onnx")]))
for version in (14, 15, 1000):
    write("ir_version_%d.onnx" % version, wrap(graph([node()], [x(), SCALE, ZERO]), ir_version=version))
write("opset_29_attribute.onnx", model([x(), SCALE, ZERO], [opset(29)], attrs=attributes(axis=0, speed=11)))
write("opset_29_type.onnx", model([tensor("x", 99, [2, 3], raw(bytes(6))), SCALE], [opset(29)], inputs=TWO))
# Six codes are 36 bits. The pad bits of raw_data may hold anything; int32_data has a code each.
CODES = 0x00, 0x20, 0x01, 0x08, 0x1F, 0x3F
PACKED = sum(code << 6 * i for i, code in enumerate(CODES))


def float6(path, *data, type_=FLOAT6E2M3, dims=(2, 3), zero=(), version=28):
    zeros = [tensor("x_zero_point", type_, [2], zero)] if zero else []
    write(path, wrap(graph([node(TWO + ("x_zero_point",) * len(zeros))], [tensor("x", type_, dims, *data), SCALE, *zeros]),
                     [opset(version)], 14 if version == 28 else 15))


for pad in range(16):
    float6("float6_pad_%d.onnx" % pad, raw((PACKED | pad << 36).to_bytes(5, "little")))
float6("float6_numbers.onnx", int32_data(*CODES))
float6("float6_fields.onnx", (5, list(CODES)))
float6("float6_opset_29.onnx", int32_data(*CODES), version=29)
float6("float6_zeros.onnx", int32_data(*CODES), zero=int32_data(0x20, 0))
float6("float6_zeros_packed.onnx", int32_data(*CODES), zero=raw(b"\x20\xf8"))
float6("float6e3m2.onnx", raw(PACKED.to_bytes(5, "little")), type_=FLOAT6E3M2)
float6("float6_large.onnx", int32_data(*CODES[:5], 64))
float6("float6_negative.onnx", int32_data(*CODES[:5], -1))
float6("float6_high_bits.onnx", int32_data(*CODES[:5], 1 << 31))
float6("float6_packed_numbers.onnx", int32_data(*PACKED.to_bytes(5, "little")))
float6("float6_short.onnx", raw(PACKED.to_bytes(5, "little")[:4]))
float6("float6_byte_each.onnx", raw(bytes(CODES)))
float6("float6_zero.onnx", int32_data(*CODES), zero=int32_data(0, 1))
float6("float6_many.onnx", int32_data(1), dims=(1 << 62, 2, 3))
# Strings that nobody uses, and names: any bytes will do.
write("latin_1.onnx", wrap(graph([node()], [x(), SCALE, ZERO], name=b"gr\xe4ph")))
write("nul.onnx", wrap(graph([node()], [x(), SCALE, ZERO], name=b"x\0")))
write("latin_1_names.onnx", model([tensor(b"\xe4", INT8, [2, 3], raw(X_DATA)), SCALE, ZERO],
                                  inputs=(b"\xe4", "x_scale", "x_zero_point"), outputs=(b"\xff\xfe",)))
write("nul_names.onnx", model([tensor(b"x\0", INT8, [2, 3], raw(X_DATA)), tensor(b"x\0no", UINT8, [1], raw(b"\1")),
                               SCALE, ZERO], inputs=(b"x\0", "x_scale", "x_zero_point")))

# ---- files that are not what they should be ----
os.mkdir("folder")
os.mkfifo("fifo")
write("empty.onnx", b"")
write("huge.onnx", b"")
os.truncate("huge.onnx", 3 << 30)
write("text.onnx", b"This is no model.\n")
write("long_text.onnx", b"<html>\r\n\t<p>404: no such model</p>\r\n</html>\r\n" * 9)
write("tensor.onnx", x())
write("typed_tensor.onnx", x(INT8, (2, 3), int32_data(*X)))
write("truncated.onnx", GOOD[:-9])
write("group.onnx", b"\x0b" + GOOD)
write("long_varint.onnx", b"\x08" + b"\xff" * 11)
write("field_0.onnx", b"\0\0")
write("wrong_wire_type.onnx", b"\x0a\0")
write("deep_graphs.onnx", message((7, nest(20000, 1, 5, 6))))
write("deep_types.onnx", wrap(graph([node()], inputs=[message((2, nest(20000, 4, 1)))])))
write("memory.onnx", message((7, message((1, b"\x2a\0" * (3 << 20))))))  # empty attributes
write("two_graphs.onnx", GOOD + message((7, graph([node()]))))

# ---- models that are out of scope, or wrong ----
ALL = [x(), SCALE, ZERO]
write("x_twice.onnx", model([*ALL, x()]))
write("input_twice.onnx", wrap(graph([node()], inputs=INPUTS + INPUTS[:1])))
write("scale_missing_data.onnx", model([x(), tensor("x_scale", FLOAT32, [2]), ZERO]))
write("many_missing.onnx", model([tensor("x", INT8, [1 << 40]), tensor("x_scale", FLOAT32, [], raw(floats(2)))],
                                 inputs=TWO))
write("float16_in_float_data.onnx", model([x(), tensor("x_scale", FLOAT16, [2], (4, floats(1, 2)))], inputs=TWO))
write("no_graph.onnx", message((1, 10), (8, opset(21))))
write("two_nodes.onnx", wrap(graph([node(), node()], ALL)))
write("quantize.onnx", model(ALL, op="QuantizeLinear"))
write("other_domain.onnx", model(ALL, domain="my.domain"))
write("no_opset.onnx", model(ALL, []))
write("com_microsoft_not_imported.onnx", model(ALL, domain="com.microsoft"))
write("opset_9.onnx", model(ALL, [opset(9)]))
write("attribute_unknown.onnx", model(ALL, attrs=attributes(speed=11)))
write("attribute_twice.onnx", model(ALL, attrs=2 * attributes(axis=0)))
write("attribute_float.onnx", model(ALL, attrs=[message((1, "axis"), (3, 0), (20, 1))]))
write("output_dtype_negative.onnx", model(ALL, attrs=attributes(axis=0, output_dtype=-1)))
write("output_dtype_int64.onnx", model(ALL, attrs=attributes(axis=0, output_dtype=INT64)))
write("one_input.onnx", model(ALL, inputs=["x"]))
write("four_inputs.onnx", model(ALL, inputs=["x"] * 4))
write("two_outputs.onnx", model(ALL, outputs=["y", "z"]))
write("no_output.onnx", model(ALL, outputs=[""]))
write("unknown_name.onnx", model(ALL, inputs=["who", "x_scale"]))
write("control_characters.onnx", model(ALL, inputs=["a\nb", "x_scale"]))
INT64_X = tensor("x", INT64, [2, 3], raw(bytes(48)))
write("int64.onnx", model([INT64_X, SCALE], inputs=TWO))
write("double_scale.onnx", model([x(), tensor("x_scale", DOUBLE, [2], raw(bytes(16)))], inputs=TWO))

# ---- tensors that are wrong ----
write("raw_short.pb", x(INT8, (2, 3), raw(X_DATA[:5])))
write("raw_long.pb", x(INT8, (2, 3), raw(X_DATA + b"\0")))
write("int32_short.pb", x(INT8, (2, 3), int32_data(*X[:5])))
write("int32_large.pb", x(INT8, (2, 3), int32_data(1, 255, -128, 127, 2, 256)))
write("int32_small.pb", x(INT8, (2, 3), int32_data(1, 255, -128, 127, 2, -129)))
write("no_data.pb", tensor("x", INT8, [2, 3]))
write("two_fields.pb", x(INT8, (2, 3), int32_data(*X), raw(X_DATA)))
write("segment.pb", x(INT8, (2, 3), (3, message((1, 0), (2, 6))), raw(X_DATA)))
write("location_7.pb", x(INT8, (2, 3), raw(X_DATA), (14, 7)))
write("no_type.pb", x(0))
write("uint8.pb", x(UINT8))
write("transposed.pb", x(INT8, (3, 2)))
write("float_data.pb", tensor("x", INT8, [2, 3], (4, floats(*X))))
write("int64_data.pb", tensor("x", INT8, [2, 3], (7, bytes(X))))
write("text.pb", b"[[3, 4, 5], [10, 0, 127]]\n")
write("model.pb", GOOD)
write("no_producer.pb", GOOD[2:])
write("zero_dim_raw.pb", x(INT8, (0, 3), raw(b"\0\0\0")))
write("zero_dim_int32.pb", x(INT8, (0, 3), int32_data(1)))
write("external_nul.pb", tensor("x", INT8, [2, 3], *external("data/x.bin\0")))
write("pb_truncated.pb", x()[:-4])
write("pb_garbage.pb", x() + b"\xff\xff\xff")
write("negative_dim.onnx", model([x(INT8, (2, -3)), SCALE], inputs=TWO))
write("many_elements.onnx", model([x(INT8, (2, 1 << 62, 8)), SCALE], inputs=TWO))

# ---- shapes that do not fit ----
def shapes(path, scale_dims, zero=(), x_=x(), **attrs):
    count = 1
    for dim in scale_dims:
        count *= dim
    scale = tensor("x_scale", FLOAT32, scale_dims, raw(floats(*[1] * count)))
    names = TWO + ("x_zero_point",) * len(zero)
    write(path + ".onnx", model([x_, scale, *zero], inputs=names, attrs=attributes(**attrs)))


shapes("scale_length", [4])
shapes("axis_2", [4], axis=2)
shapes("scalar_x", [2], x_=tensor("x", INT8, [], raw(b"\0")))
shapes("block_size_negative", [2, 2], block_size=-2)
shapes("block_size_2", [2, 3], block_size=2)
shapes("block_off_axis", [1, 2], block_size=2)
shapes("block_size_missing", [2, 2])
shapes("block_size_missing_several", [2, 2], x_=tensor("x", INT8, [2, 10], raw(bytes(20))))
shapes("block_size_missing_one", [2, 1])
shapes("block_size_missing_none", [1, 2])
shapes("block_size_missing_gap", [1, 5], x_=tensor("x", INT8, [1, 7], raw(bytes(7))))
shapes("scale_rank", [1, 2, 2])
shapes("scale_rank_blocked", [2], block_size=2)
shapes("zero_type", [2], [tensor("x_zero_point", UINT8, [2], raw(bytes(2)))], axis=0)
shapes("zero_shape", [2], [tensor("x_zero_point", INT8, [3], raw(bytes(3)))], axis=0)
shapes("zero_float8", [], [tensor("x_zero_point", FLOAT8E4M3FN, [], raw(b"\1"))], x_=x(FLOAT8E4M3FN))


# ---- external data ----
def external_model(path, location, *more, **entries):
    write(path + ".onnx", model([x(INT8, (2, 3), *external(location, **entries), *more), SCALE, ZERO]))


write("data/x.bin", X_DATA + b"\0\0")
write("outside/x.bin", X_DATA)
os.makedirs("inside")
os.symlink("data/x.bin", "link.bin")
external_model("external", "data/x.bin", offset=0, length=6, checksum="of no interest")
external_model("external_link", "link.bin")
external_model("external_absolute", os.path.abspath("data/x.bin"))
external_model("external_parent", "../%s/data/x.bin" % os.path.basename(os.getcwd()))
external_model("external_parent_and_back", "data/../../%s/data/x.bin" % os.path.basename(os.getcwd()))
external_model("external_parent_inside", "data/../data/x.bin")
external_model("external_dots", "./data/.././data//x.bin")
external_model("external_backslash", "data\\x.bin")
external_model("external_drive", "C:x.bin")
external_model("external_no_location_name", "")
os.symlink("/etc/passwd", "escape.bin")
os.symlink("/etc", "escape")
external_model("external_symlink", "escape.bin")
external_model("external_symlink_folder", "escape/passwd")
external_model("external_no_location", None, offset=0)
external_model("external_missing", "data/y.bin")
external_model("external_beyond", "data/x.bin", offset=3)
external_model("external_overflow", "data/x.bin", offset=(1 << 64) - 16)
external_model("external_length", "data/x.bin", length=5)
external_model("external_number", "data/x.bin", offset="-1")
external_model("external_big_number", "data/x.bin", offset=1 << 64)
external_model("external_and_raw", "data/x.bin", raw(X_DATA))
external_model("external_folder", "folder")

write("external_x.pb", x(INT8, (2, 3), *external("data/x.bin", offset=0)))
write("external_input.onnx", wrap(graph([node()], [SCALE, ZERO], inputs=INPUTS[:1])))

# A Hugging Face cache: all files of a snapshot are links to blobs, which is where the data of the model's real path is.
external_model("hub/blobs/model", "m.onnx_data")
os.rename("hub/blobs/model.onnx", "hub/blobs/1111")
write("hub/blobs/2222", X_DATA)
os.makedirs("hub/snapshots/abc")
os.symlink("../../blobs/1111", "hub/snapshots/abc/m.onnx")
os.symlink("../../blobs/2222", "hub/snapshots/abc/m.onnx_data")
write("hub/secret/3333", X_DATA)
external_model("hub/blobs/escape", "escape.onnx_data")
os.symlink("../../blobs/escape.onnx", "hub/snapshots/abc/escape.onnx")
os.symlink("../../secret/3333", "hub/snapshots/abc/escape.onnx_data")

# A link to a model elsewhere, which has its data beside it.
external_model("target/model", "x.bin")
write("target/x.bin", X_DATA)
os.symlink("target/model.onnx", "symbolic_model.onnx")


# ---- node tests ----
def node_test(name, model_, *sets):
    write("tests/%s/model.onnx" % name, model_)
    for i, (inputs, outputs) in enumerate(sets):
        for what, files in (("input", inputs), ("output", outputs)):
            for k, content in enumerate(files):
                write("tests/%s/test_data_set_%d/%s_%d.pb" % (name, i, what, k), content)


def y(*values):
    return tensor("y", FLOAT32, [2, 3], raw(floats(*values)))


IN = [x(), SCALE, ZERO]
node_test("good", GOOD, (IN, [Y]))
node_test("quantize", model(ALL, op="QuantizeLinear"))
node_test("opset_9", model(ALL, [opset(9)]))
node_test("int64", model([INT64_X, SCALE], inputs=TWO), ([], [Y]))
node_test("bits", GOOD, (IN, [y(1, 2, 3, 10, -10, struct.unpack("<f", b"\x01\x00\x74\x43")[0])]))
node_test("minus_0", GOOD, ([x(INT8, (2, 3), raw(b"\2" + X_DATA[1:])), SCALE, ZERO], [y(-0.0, 2, 3, 10, -10, 244)]))
node_test("shape", GOOD, (IN, [tensor("y", FLOAT32, [3, 2], raw(bytes(24)))]))
node_test("type", GOOD, (IN, [tensor("y", INT32, [2, 3], raw(bytes(24)))]))
node_test("input_missing", GOOD, (IN[:2], [Y]))
node_test("input_excess", GOOD, (IN + [ZERO], [Y]))
node_test("output_missing", GOOD, (IN, []))
node_test("no_set", GOOD)
node_test("second_set", GOOD, (IN, [Y]), (IN, [y(0, 2, 3, 10, -10, 244)]))
node_test("malformed", GOOD[:-9], (IN, [Y]))
