#!/usr/bin/env python3
"""Writes the test vectors of this folder: ONNX node tests of DequantizeLinear that the official ones leave out.

    generate.py [DIR]           write every folder into DIR (default: the folder of this script)
    generate.py --check [DIR]   write nothing; exit with 1 if DIR holds anything else than would be written

The expected outputs come from the definition alone,

    y = round_y(round_f32(f32(x - zero) * f32(scale)))          round: to nearest, ties to even

in integer arithmetic: no float is ever added, multiplied or rounded by the machine. Only Python's smallest library is
used (Debian's python3-minimal runs this), and the bytes depend on nothing but this file.
"""
import itertools
import math
import os
import sys

# ---- values: (sign, significand, exponent) means (-1)^sign * significand * 2^exponent ----

NAN = "nan"
INF = "inf"  # as the significand


def integer(n):
    return (int(n < 0), abs(n), 0)


def multiply(a, b):
    if NAN in (a, b):
        return NAN
    sign = a[0] ^ b[0]
    if INF in (a[1], b[1]):
        return NAN if 0 in (a[1], b[1]) else (sign, INF, 0)
    return (sign, a[1] * b[1], a[2] + b[2])


# ---- types: `number` is TensorProto.DataType's; a code is the bit pattern of an element, as a non-negative int ----

class Integer:
    def __init__(self, number, bits, signed):
        self.number, self.bits, self.signed = number, bits, signed

    def subtract(self, x, zero):
        """The exact difference of two codes; a difference of 0 is +0."""
        x, zero = (c - (1 << self.bits) if self.signed and c >> (self.bits - 1) else c for c in (x, zero or 0))
        return integer(x - zero)


class Float:
    """`special` says which codes are no numbers:
        ieee     top exponent: infinity if the fraction is 0, else NaN
        fn       no infinity, NaN where exponent and fraction are all ones
        fnuz     no infinity, no -0: the code that -0 would have is the one NaN
        finite   none
    """
    def __init__(self, number, exponent_bits, fraction_bits, bias, special):
        self.number, self.fraction_bits, self.bias, self.special = number, fraction_bits, bias, special
        self.bits = 1 + exponent_bits + fraction_bits
        self.sign = 1 << (self.bits - 1)
        self.infinity = self.sign - (1 << fraction_bits)  # ieee only
        self.nan = self.infinity + (1 << fraction_bits >> 1)  # ieee only: the usual quiet one

    def decode(self, code):
        sign, magnitude = divmod(code, self.sign)
        if self.special == "ieee" and magnitude >= self.infinity:
            return (sign, INF, 0) if magnitude == self.infinity else NAN
        if self.special == "fn" and magnitude == self.sign - 1 or self.special == "fnuz" and code == self.sign:
            return NAN
        exponent, fraction = divmod(magnitude, 1 << self.fraction_bits)
        if exponent == 0:
            return (sign, fraction, 1 - self.bias - self.fraction_bits)  # a subnormal: no leading 1
        return (sign, fraction + (1 << self.fraction_bits), exponent - self.bias - self.fraction_bits)

    def encode(self, value):
        """Rounds to nearest, ties to even; ieee only."""
        if value == NAN:
            return self.nan
        sign, significand, exponent = value
        if significand in (0, INF):
            return sign * self.sign + (self.infinity if significand else 0)
        lowest = 1 - self.bias - self.fraction_bits  # the exponent of a subnormal's last bit
        last = max(lowest, exponent + significand.bit_length() - 1 - self.fraction_bits)  # of this result's last bit
        if last <= exponent:
            kept = significand << (exponent - last)
        else:
            unit = 1 << (last - exponent)
            kept, rest = divmod(significand, unit)
            kept += 2 * rest > unit or (2 * rest == unit and kept % 2)
        # A leading 1 in `kept` adds one to the exponent field, and so does a carry out of the rounding.
        magnitude = kept + ((last - lowest) << self.fraction_bits)
        return sign * self.sign + min(magnitude, self.infinity)

    def round(self, value):
        return self.decode(self.encode(value))

    def subtract(self, x, zero):
        """Only zeros may be zero points of float types, and they count as absent: -0 - -0 would be +0."""
        assert zero is None or self.decode(zero)[1] == 0
        return self.decode(x)


class Exponent:
    """float8e8m0: the exponent of a power of two, for scales only."""
    number, bits, fraction_bits, bias = 24, 8, 0, 127

    def decode(self, code):
        return NAN if code == 0xFF else (0, 1, code - self.bias)

    def encode(self, value):
        """Of a power of two; a scale has no sign."""
        return value[1].bit_length() - 1 + value[2] + self.bias


Y_TYPES = {  # and those of scales
    "float32": Float(1, 8, 23, 127, "ieee"),
    "float16": Float(10, 5, 10, 15, "ieee"),
    "bfloat16": Float(16, 8, 7, 127, "ieee"),
}
X_TYPES = {
    "int8": Integer(3, 8, True),
    "uint8": Integer(2, 8, False),
    "int16": Integer(5, 16, True),
    "uint16": Integer(4, 16, False),
    "int32": Integer(6, 32, True),
    "int4": Integer(22, 4, True),
    "uint4": Integer(21, 4, False),
    "float8e4m3fn": Float(17, 4, 3, 7, "fn"),
    "float8e4m3fnuz": Float(18, 4, 3, 8, "fnuz"),
    "float8e5m2": Float(19, 5, 2, 15, "ieee"),
    "float8e5m2fnuz": Float(20, 5, 2, 16, "fnuz"),
    "float4e2m1": Float(23, 2, 1, 1, "finite"),
    "float6e2m3": Float(27, 2, 3, 1, "finite"),
    "float6e3m2": Float(28, 3, 2, 3, "finite"),
    "int2": Integer(26, 2, True),
    "uint2": Integer(25, 2, False),
}
SINCE = {"float4e2m1": 23, "int2": 25, "uint2": 25, "float6e2m3": 28, "float6e3m2": 28}  # the opset that brought a type of x
TYPES = {**Y_TYPES, **X_TYPES, "float8e8m0": Exponent()}
F32 = TYPES["float32"]


def code(type_, number):
    """In the table of cases an int is a code (-1: all ones), a float is a value."""
    if isinstance(number, int):
        return number & ((1 << type_.bits) - 1)
    if number != number:
        return type_.nan
    sign = type_.sign * number.hex().startswith("-")
    if number in (float("inf"), float("-inf")):
        return sign + type_.infinity
    numerator, denominator = abs(number).as_integer_ratio()
    return sign + type_.encode((0, numerator, 1 - denominator.bit_length()))


# ---- the operator ----

def scale_index(index, scale_shape, axis, block):
    """The place in the flattened scales of the scale of the element at `index`, as the ONNX text has it."""
    if block:
        place = [i // block if d == axis else i for d, i in enumerate(index)]
    elif all(dim == 1 for dim in scale_shape):
        place = [0] * len(scale_shape)
    else:
        place = [index[axis]]
    flat = 0
    for i, dim in zip(place, scale_shape):
        assert i < dim
        flat = flat * dim + i
    return flat


def dequantize(tensors, y_type, axis=None, block=None):
    """The codes of y. `tensors` has (type, shape, codes) for x, x_scale, and x_zero_point where there is one."""
    x_type, shape, x = tensors["x"]
    scale_type, scale_shape, scale = tensors["x_scale"]
    _, _, zero = tensors.get("x_zero_point", (None, None, None))
    positive_axis = (1 if axis is None else axis) % max(len(shape), 1)
    y = []
    for element, index in zip(x, itertools.product(*map(range, shape))):
        i = scale_index(index, scale_shape, positive_axis, block)
        difference = F32.round(x_type.subtract(element, zero[i] if zero else None))
        y.append(y_type.encode(F32.round(multiply(difference, scale_type.decode(scale[i])))))
    return y


# ---- protobuf and ONNX: field numbers are onnx.proto's ----

def varint(n):
    n &= (1 << 64) - 1
    out = bytearray()
    while n >= 128:
        out.append(n % 128 + 128)
        n //= 128
    return bytes(out) + bytes([n])


def message(*fields):
    """Fields are (number, int), a varint, or (number, bytes or str or message)."""
    out = b""
    for number, value in fields:
        if isinstance(value, int):
            out += varint(number << 3) + varint(value)
        else:
            value = value.encode() if isinstance(value, str) else value
            out += varint(number << 3 | 2) + varint(len(value)) + value
    return out


def pack(type_, codes, pad=0):
    """raw_data: little endian; elements below a byte are one stream of bits, low bits first, in which elements `pad` fill up
    the last byte."""
    size, stream = (len(codes) * type_.bits + 7) // 8, 0
    codes = codes + [pad % (1 << type_.bits)] * (-len(codes) % 8)
    for c in reversed(codes):
        stream = stream << type_.bits | c
    return stream.to_bytes(-(-len(codes) * type_.bits // 8), "little")[:size]


def tensor(name, type_, shape, data, encoding="raw"):
    """`encoding`: "raw", or how an element below 32 bits is extended, or "unpacked": one field for each element."""
    head = [(1, dim) for dim in shape] + [(2, type_.number)]
    if encoding == "raw":
        return message(*head, (8, name), (9, data))
    if type_ is F32:
        return message(*head, (4, data), (8, name))
    size = max(type_.bits // 8, 1)  # of 4 and 2 bits int32_data has one number for each packed byte, of 6 one for each element
    signed = encoding == "sign_extended" or type_.bits == 32
    numbers = [int.from_bytes(data[i:i + size], "little", signed=signed) for i in range(0, len(data), size)]
    if type_.bits == 6:
        numbers = [int.from_bytes(data, "little") >> 6 * i & 63 for i in range(math.prod(shape))]
    if encoding == "unpacked":
        return message(*head, *[(5, n) for n in numbers], (8, name))
    return message(*head, (5, b"".join(map(varint, numbers))), (8, name))


def external_tensor(name, type_, shape, place):
    entries = [(13, message((1, key), (2, str(value)))) for key, value in place.items()]
    return message(*[(1, dim) for dim in shape], (2, type_.number), (8, name), *entries, (14, 1))


def value_info(name, type_, shape):
    dims = message(*[(1, message((1, dim))) for dim in shape])
    return message((1, name), (2, message((1, message((1, type_.number), (2, dims))))))


def model(name, node_inputs, attributes, domain, opset, ir_version, initializers, inputs, output):
    node = message(*[(1, n) for n in node_inputs], (2, "y"), (4, "DequantizeLinear"),
                   *[(5, message((1, key), (3, i), (20, 2))) for key, i in attributes.items() if i is not None],
                   *([(7, domain)] if domain else []))
    graph = message((1, node), (2, name), *[(5, i) for i in initializers], *[(11, i) for i in inputs], (12, output))
    opsets = [message((1, ""), (2, opset))] + ([message((1, domain), (2, 1))] if domain else [])
    return message((1, ir_version), (2, "dql"), (7, graph), *[(8, o) for o in opsets])


# ---- cases ----

def random_numbers(seed):
    """Seeded with the name of a case, so that a new case changes no other."""
    state = int.from_bytes(seed.encode(), "big") % (2**61 - 1)
    while True:
        state = (state * 6364136223846793005 + 1442695040888963407) % (1 << 64)
        yield state >> 32


def random_bits(random, bits):
    """A number of exactly so many bits."""
    return 1 << (bits - 1) | next(random) % (1 << (bits - 1))


def ordinary_scale(type_, random):
    """A code of any sign and fraction, and a magnitude from 2^-7 to 2."""
    significand = random_bits(random, type_.fraction_bits + 1)
    return type_.encode((next(random) % 2, significand, -type_.fraction_bits - next(random) % 8))


def case(x_type, y_type, what, shape, scale_shape=(), x=None, scale=None, zero=(), scale_type=None, axis=None,
         block=None, **options):
    """The files of one folder, as {path: bytes}. Data that is not given is random; zero=None leaves the zero point out
    (so do float types without one), "" leaves it empty. axis=None and block=None leave the attribute out. For
    `options` see files_of()."""
    name = f"{x_type}_{y_type}_{what}"
    random = random_numbers(name)
    options["opset"] = max(options.get("opset", 21), SINCE.get(x_type, 0))
    x_type, scale_type, y_type = TYPES[x_type], TYPES[scale_type or y_type], TYPES[y_type]
    indices, scale_indices = (list(itertools.product(*map(range, dims))) for dims in (shape, scale_shape))
    x = [code(x_type, n) for n in x or [next(random) for _ in indices]]
    scale = [code(scale_type, n) for n in scale or [ordinary_scale(scale_type, random) for _ in scale_indices]]
    tensors = {"x": (x_type, shape, x), "x_scale": (scale_type, scale_shape, scale)}
    if zero == "":
        tensors[""] = None  # an optional input's empty name
    elif zero or (zero is not None and isinstance(x_type, Integer)):
        zero = [code(x_type, n) for n in zero or [next(random) for _ in scale_indices]]
        tensors["x_zero_point"] = (x_type, scale_shape, zero)
    assert len(x) == len(indices) and len(scale) == len(scale_indices) and len(zero or scale) == len(scale)

    y = dequantize(tensors, y_type, axis, block)
    return files_of(name, tensors, (y_type, shape, y), {"axis": axis, "block_size": block}, **options)


def files_of(name, tensors, y, attributes, output_dtype=None, opset=None, domain="", ir_version=None, pad=0,
             encoding="raw", initializers=(), initializers_are_inputs=False, external=None):
    """`encoding` is that of all tensors but y; `external` tells where an initializer x_scale lies."""
    files, stored, inputs = {}, [], []
    ir_version = ir_version or (14 if opset >= 28 else 10)
    for key in filter(None, tensors):
        type_, shape, codes = tensors[key]
        data = pack(type_, codes, pad)
        if key not in initializers:
            files[f"{name}/test_data_set_0/input_{len(inputs)}.pb"] = tensor(key, type_, shape, data, encoding)
        elif external and key == "x_scale":
            stored.append(external_tensor(key, type_, shape, external))
            rest = b"not part of it" if "length" in external else b""
            files[f"{name}/{external['location']}"] = b"-" * external.get("offset", 0) + data + rest
        else:
            stored.append(tensor(key, type_, shape, data, encoding))
        if key not in initializers or initializers_are_inputs:
            inputs.append(value_info(key, type_, shape))
    attributes["output_dtype"] = output_dtype
    y_type, shape, codes = y
    files[f"{name}/model.onnx"] = model(name, tensors, attributes, domain, opset, ir_version, stored, inputs,
                                        value_info("y", y_type, shape))
    files[f"{name}/test_data_set_0/output_0.pb"] = tensor("y", y_type, shape, pack(y_type, codes))
    return files


def edge_codes(type_):
    """Every code, or those around 0, the ends, and where a float32 or float16 runs out of bits."""
    if type_.bits <= 8:
        return list(range(1 << type_.bits))
    edges = [0, 1 << (type_.bits - 1)] + [(1 << p) * m for p in (8, 11, 12, 24, 25) for m in (1, -1) if p < type_.bits]
    return sorted({code(type_, e + d) for e in edges for d in range(-3, 4)})


def hard_scales(type_):
    """Exact, ordinary, subnormal (so that products are or are not), so big that products overflow, and special."""
    one = 1 << type_.fraction_bits
    return [1.0, -0.1, 3, one * 2 // 3 | 1, type_.sign + one, 1.37 * 2.0**(type_.bias - 2), 0.0, -0.0,
            float("-inf"), float("nan")]


def double_roundings(x_bits, scale_type, y_type, count):
    """x and scales whose products lie so near to the middle of two y that rounding to float32 first decides."""
    random, scale_type, y_type = random_numbers(scale_type + y_type), TYPES[scale_type], TYPES[y_type]
    scale_bits = scale_type.fraction_bits + 1
    small, big = sorted((x_bits, scale_bits))
    found = []
    while len(found) < count:
        a = random_bits(random, small)
        middle = random_bits(random, y_type.fraction_bits + 2) | 1
        b = (middle << (small + big - middle.bit_length())) // a + next(random) % 2
        x, scale = (a, b) if x_bits == small else (b, a)
        value = (0, scale, -24)  # so that float16 scales are normal and float16 products finite
        product = multiply(integer(x), value)
        if b.bit_length() == big and y_type.encode(product) != y_type.encode(F32.round(product)):
            found.append((x, scale_type.encode(value)))
    return {"x": [x if i % 2 else -x for i, (x, _) in enumerate(found)], "scale": [s for _, s in found]}


INT32_EDGES = [-2**31, -2**31 + 1, -2**24 - 1, -2**24, -1, 0, 1, 2**24, 2**24 + 1, 2**24 + 2, 2**24 + 3, 2**25 + 2,
               2**25 + 6, 2**31 - 65, 2**31 - 64, 2**31 - 2, 2**31 - 1]
PARAMETERS = ("x_scale", "x_zero_point")


def cases():
    # Every pair of types. One code more lets rows of packed elements start in the middle of a byte.
    for x, y in itertools.product(X_TYPES, Y_TYPES):
        bits, codes, scales = X_TYPES[x].bits, edge_codes(X_TYPES[x]), hard_scales(Y_TYPES[y])
        codes += codes[:1] if bits < 8 else []
        yield case(x, y, "every_code" if bits <= 8 else "edge_codes", [len(scales), len(codes)], [len(scales)],
                   x=codes * len(scales), scale=scales, axis=0,
                   zero=[(0, 1, 1 << (bits - 1), -1)[i % 4] if isinstance(X_TYPES[x], Integer) else 0
                         for i in range(len(scales))])

    # Arithmetic.
    ties = [1, 2, 3, 5, 255, 257, 259, 511, 513, 2047, 2048, 2049, 2051, 4093, 4094, 4095, 65503, 65504, 65519, 65520]
    for y, scale in (("float16", [1.0, -2.0, 16.0, 2.0**-24, -2.0**-25, 2.0**-26]),
                     ("bfloat16", [1.0, -1.5, 2.0**119, 2.0**-133, -2.0**-134, 2.0**-135])):
        dtype = Y_TYPES[y].number
        yield case("uint16", y, "ties_float32_scale", [6, len(ties)], [6], x=ties * 6, scale=scale, zero=None, axis=0,
                   scale_type="float32", opset=23, output_dtype=dtype)
        yield case("int32", y, "double_rounding", [16], [16], axis=0, zero=None, **double_roundings(24, y, y, 16))
        yield case("int16", y, "double_rounding_float32_scale", [16], [16], axis=0, zero=None, scale_type="float32",
                   opset=23, output_dtype=dtype, **double_roundings(15, "float32", y, 16))
    yield case("int32", "float32", "no_zero_point", [17], x=INT32_EDGES, scale=[1.0], zero=None)
    yield case("int32", "float32", "zero_points", [17, 17], [17], x=[n for n in INT32_EDGES for _ in INT32_EDGES],
               scale=[1.0] * 17, zero=INT32_EDGES, axis=1)
    yield case("float8e4m3fn", "float32", "zero_point_minus_0", [6], x=[0, 0x80, 1, 0x81, 0x7E, 0x7F], zero=[0x80])
    yield case("float8e5m2", "float16", "zero_points_0_and_minus_0", [2, 4], [2], x=[0, 0x80, 1, 0xFC] * 2,
               zero=[0x00, 0x80], axis=0)
    yield case("float4e2m1", "float32", "zero_points_0_and_minus_0", [3, 5], [3], zero=[0x0, 0x8, 0x8], axis=0, pad=0x5)
    for x, y in (("float6e2m3", "float32"), ("float6e3m2", "bfloat16")):
        yield case(x, y, "zero_points_0_and_minus_0", [3, 5], [3], x=[0, 0x20, 1, 0x3F, 0x21] * 3, zero=[0x00, 0x20, 0x20],
                   axis=0, pad=0x15)

    # Types of scale and y that differ. output_dtype 0 is no type: the scale's.
    for x, scale, y in (("int4", "float16", "float32"), ("float8e5m2", "float16", "bfloat16"),
                        ("int16", "bfloat16", "float32"), ("uint4", "bfloat16", "float16"),
                        ("float6e2m3", "float16", "float32"), ("float6e3m2", "float32", "float16")):
        yield case(x, y, scale + "_scale", [3, 11], [3], axis=0, scale_type=scale, opset=25,
                   output_dtype=TYPES[y].number)
    for x, y in (("float8e4m3fn", "float32"), ("float4e2m1", "bfloat16"), ("int4", "float16"), ("int32", "float32"),
                 ("float6e2m3", "float32"), ("float6e3m2", "float16")):
        yield case(x, y, "float8e8m0_scale_every_code", [256, 2], [256], scale=list(range(256)), axis=0, zero=None,
                   scale_type="float8e8m0", opset=25, output_dtype=TYPES[y].number)
    for x, y, block in (("float8e5m2", "bfloat16", 32), ("float8e4m3fn", "float16", 32), ("float4e2m1", "float32", 32),
                        ("float4e2m1", "float16", 16), ("uint2", "bfloat16", 16),
                        ("float6e2m3", "float32", 32), ("float6e2m3", "bfloat16", 32), ("float6e3m2", "float16", 32)):
        yield case(x, y, f"float8e8m0_scale_blocked_{block}", [2, 96], [2, 96 // block], axis=1, block=block, zero=None,
                   scale_type="float8e8m0", opset=25, output_dtype=TYPES[y].number)
    yield case("uint8", "float16", "output_dtype_0", [2, 3], opset=23, output_dtype=0)

    # Shapes and granularities.
    yield case("int8", "float32", "rank_0", [])
    yield case("uint4", "float16", "rank_1_scale_1", [7], [1], pad=0x6)
    yield case("uint16", "float32", "rank_2_scale_1", [2, 3], [1])
    yield case("int8", "bfloat16", "rank_2_scale_1x1", [3, 5], [1, 1])
    yield case("uint8", "float32", "per_axis_default_axis", [2, 3, 2, 3], [3])
    yield case("uint8", "float16", "per_axis_last_3_channels", [1, 501, 3], [3], axis=-1)
    yield case("int4", "bfloat16", "per_axis_odd_rows", [3, 5, 67], [5], axis=1, pad=0xB)
    yield case("int8", "float32", "blocked_first_axis_remainder", [5, 7], [3, 7], axis=0, block=2)
    yield case("uint4", "bfloat16", "blocked_first_axis_remainder", [5, 9], [2, 9], axis=-2, block=3)
    yield case("uint8", "float16", "blocked_middle_axis_remainder", [3, 7, 5], [3, 3, 5], axis=1, block=3)
    yield case("int4", "float32", "blocked_middle_axis_remainder", [3, 7, 5], [3, 3, 5], block=3, pad=0x9)
    yield case("float8e4m3fn", "bfloat16", "blocked_last_axis_remainder", [3, 39], [3, 3], axis=1, block=16)
    yield case("int4", "float16", "blocked_last_axis_remainder", [5, 39], [5, 3], axis=-1, block=15, pad=0xF)
    yield case("int4", "float16", "blocked_last_axis_32", [3, 96], [3, 3], axis=1, block=32)
    yield case("int8", "float16", "blocked_block_1", [3, 5], [3, 5], axis=1, block=1)
    yield case("int16", "bfloat16", "blocked_block_beyond_axis", [3, 5, 2], [3, 1, 2], axis=1, block=1000)
    yield case("uint4", "float16", "blocked_rank_1", [19], [5], axis=0, block=4, pad=0xC)
    yield case("uint8", "float32", "per_axis_rank_8_with_ones", [1, 2, 1, 3, 1, 1, 2, 1], [3], axis=3)
    yield case("int4", "float16", "blocked_rank_9_with_ones", [1, 2, 1, 5, 1, 1, 3, 1, 1], [1, 2, 1, 3, 1, 1, 3, 1, 1],
               axis=-6, block=2)
    yield case("float4e2m1", "float32", "blocked_last_axis_16", [3, 48], [3, 3], axis=1, block=16)
    yield case("float4e2m1", "bfloat16", "blocked_last_axis_32_remainder", [3, 71], [3, 3], axis=1, block=32)
    yield case("float4e2m1", "float16", "blocked_first_axis_remainder", [5, 9], [2, 9], axis=0, block=3, pad=0x7)
    yield case("int2", "float32", "blocked_last_axis_remainder", [5, 39], [5, 3], axis=1, block=15, pad=0x2)
    yield case("int2", "float16", "per_axis_odd_rows", [3, 5, 67], [5], axis=1, pad=0x1)
    yield case("uint2", "bfloat16", "blocked_middle_axis_remainder", [3, 7, 5], [3, 3, 5], axis=1, block=3, pad=0x3)
    yield case("uint2", "float32", "blocked_last_axis_32", [3, 98], [3, 4], axis=1, block=32, pad=0x1)
    yield case("float6e2m3", "float32", "rank_0", [], pad=0x2)
    yield case("float6e3m2", "float32", "rank_1_scale_1", [7], [1], pad=0x2A)
    yield case("float6e2m3", "bfloat16", "per_axis_odd_rows", [3, 5, 67], [5], axis=1, pad=0x1)
    yield case("float6e3m2", "float16", "per_axis_rows_of_half_packs", [3, 3, 6], [3], axis=1, pad=0x3F)
    yield case("float6e2m3", "float32", "blocked_last_axis_32_remainder", [3, 71], [3, 3], axis=1, block=32, pad=0x3C)
    yield case("float6e3m2", "bfloat16", "blocked_last_axis_remainder", [5, 39], [5, 3], axis=-1, block=15, pad=0x1)
    yield case("float6e2m3", "float16", "blocked_first_axis_remainder", [5, 9], [2, 9], axis=0, block=3, pad=0x7)
    yield case("float6e3m2", "float32", "blocked_middle_axis_remainder", [3, 7, 5], [3, 3, 5], axis=1, block=3, pad=0x3)
    yield case("float6e3m2", "bfloat16", "empty", [0])
    yield case("int8", "float32", "empty", [0])
    yield case("uint4", "float16", "empty_per_axis", [3, 0, 2], [3], axis=0)
    yield case("uint8", "bfloat16", "empty_axis", [3, 0, 2], [0])
    yield case("int4", "float32", "empty_blocked", [3, 0], [3, 0], axis=1, block=32)

    # Models and files.
    yield case("uint8", "float32", "opset_10", [2, 3], opset=10)
    yield case("float8e4m3fnuz", "float16", "opset_19", [4], opset=19, x=[0, 0x80, 1, 0xFF], zero=[0])
    yield case("uint16", "float16", "com_microsoft", [3, 4], [3], axis=0, domain="com.microsoft")
    yield case("int8", "float32", "zero_point_empty_name", [2, 3], zero="")
    for x, y, encoding in (("int8", "float32", "sign_extended"), ("int8", "float16", "zero_extended"),
                           ("int16", "bfloat16", "sign_extended"), ("uint16", "float32", "zero_extended"),
                           ("int4", "float32", "sign_extended"), ("uint4", "float16", "zero_extended"),
                           ("uint2", "bfloat16", "zero_extended"), ("int32", "float32", "unpacked"),
                           ("float6e2m3", "float32", "zero_extended"), ("float6e3m2", "float16", "zero_extended")):
        yield case(x, y, "int32_data_" + encoding, [3, 5], [5], encoding=encoding, pad=0xE)
    yield case("int8", "float32", "initializers_are_inputs", [2, 3], [3], opset=13, ir_version=3,
               initializers=PARAMETERS, initializers_are_inputs=True)
    yield case("int4", "float16", "x_initializer", [3, 5], [3, 2], block=3, initializers=("x",))
    yield case("uint8", "bfloat16", "all_initializers", [2, 3], initializers=("x",) + PARAMETERS)
    yield case("int8", "float32", "external_scale", [2, 3], [3], initializers=PARAMETERS,
               external={"location": "scale.bin"})
    yield case("uint8", "float16", "external_scale_offset_length", [2, 3], [3], initializers=PARAMETERS,
               external={"location": "scale.bin", "offset": 5, "length": 6})


# ---- files ----

NOT_GENERATED = {"generate.py", "README.md", ".gitattributes"}


def check(folder, files):
    """Prints what is missing, differs or does not belong into `folder`; returns whether there was any."""
    present = set()
    for parent, folders, names in os.walk(folder):
        folders[:] = [f for f in folders if f != "__pycache__"]
        paths = [os.path.relpath(os.path.join(parent, name), folder) for name in names]
        present.update(path.replace(os.sep, "/") for path in paths)
    wrong = [f"stray: {path}" for path in present - files.keys() - NOT_GENERATED]
    wrong += [f"missing: {path}" for path in files.keys() - present]
    for path in files.keys() & present:
        with open(os.path.join(folder, path), "rb") as file:
            if file.read() != files[path]:
                wrong.append(f"differs: {path}")
    for line in sorted(wrong):
        print(line)
    return bool(wrong)


def write(folder, files):
    for path, data in files.items():
        os.makedirs(os.path.dirname(os.path.join(folder, path)), exist_ok=True)
        with open(os.path.join(folder, path), "wb") as file:
            file.write(data)


def collect(cases):
    files = {}
    for one in cases:
        assert not files.keys() & one.keys(), "two cases have one name"
        files.update(one)
    return files


def main(arguments, folder, cases, usage):
    checking = arguments[:1] == ["--check"]
    arguments = arguments[checking:]
    if len(arguments) > 1 or any(a.startswith("-") for a in arguments):
        sys.exit(usage)
    folder, files = (arguments or [folder])[0], collect(cases)
    sys.exit(check(folder, files) if checking else write(folder, files))


if __name__ == "__main__":
    main(sys.argv[1:], os.path.dirname(os.path.abspath(__file__)), cases(), __doc__)
