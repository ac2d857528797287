"""Writes the files of test_expand.sh into the current folder, beside those of test_files.py, which it runs."""
import os

from test_files import (FLOAT32, INT8, SCALE, TWO, ZERO, external, floats, graph, message, model,
                        node, opset, raw, tensor, value_info, wrap, write, x)

FLOAT16 = 10


# ---- external data, and files that are long in the making ----
def big_model(x_, extra=()):
    """x is [512], y twice that."""
    two = tensor("x_scale", FLOAT32, [], raw(floats(2)))
    return wrap(message((1, [node(inputs=TWO, attrs=[])]), (5, [x_, two, *extra])))


BIG_X = bytes(i % 100 for i in range(512))
BIG_Y = floats(*[2 * v for v in BIG_X])
write("big.onnx", big_model(tensor("x", INT8, [512], raw(BIG_X))))
write("big_y.bin", BIG_Y)
place = external("y.bin", offset=0, length=len(BIG_Y))
write("big_external.onnx", wrap(message((5, message((1, 512), (2, FLOAT32), (8, "y"), *place)))))

# y at two places of the file, on pages; a small one stays in the model.
pages = [tensor("x", INT8, [512], raw(BIG_X)), tensor("x_scale", FLOAT32, [], raw(floats(2)))]
write("pages.onnx", wrap(message((1, [node(inputs=("x", "x_scale"), outputs=("y%d" % i,), attrs=[]) for i in (0, 1)] +
                                  [node(inputs=("small", "x_scale"), outputs=("z",), attrs=[])]),
                                 (5, pages + [tensor("small", INT8, [255], raw(bytes(255)))]))))
write("pages_y.bin", BIG_Y + bytes(4096 - len(BIG_Y)) + BIG_Y)
places = [message((1, 512), (2, FLOAT32), (8, "y%d" % i), *external("y.bin", offset=4096 * i, length=len(BIG_Y)))
          for i in (0, 1)]
small = message((1, 255), (2, FLOAT32), (8, "z"), raw(bytes(1020)))
write("pages_external.onnx", wrap(message((5, [*places, small]))))

# Two locations of one tensor: the command reads the first, others read the last.
write("two_locations.onnx", big_model(tensor("x", INT8, [512], *external("y.bin"),
                                             (13, message((1, "location"), (2, "elsewhere.bin"))))))

with open("sparse.bin", "wb") as file:
    file.truncate(600 << 20)
write("sparse.onnx", big_model(tensor("x", INT8, [600 << 20], *external("sparse.bin"))))
def shared(x_, count):
    """Nodes that all have the same x."""
    return wrap(message((1, [node(inputs=TWO, outputs=["y%d" % i], attrs=[]) for i in range(count)]),
                        (5, [x_, tensor("x_scale", FLOAT32, [], raw(floats(2)))])))


write("external_twice.onnx", wrap(message((1, [node(inputs=("x%d" % i, "x_scale"), outputs=["y%d" % i], attrs=[])
                                               for i in range(4)]),
                                          (5, [tensor("x%d" % i, INT8, [6], *external(("data/x.bin", "link.bin")[i % 2]))
                                               for i in range(4)]),
                                          (5, tensor("x_scale", FLOAT32, [], raw(floats(2)))))))
write("external_stays.onnx", wrap(graph([message((1, "x"), (2, "y"), (4, "Abs"))],
                                        [tensor("x", INT8, [6], *external("data/x.bin"))])))
LONG = 16 << 20
write("long.onnx", shared(tensor("x", INT8, [LONG], raw(bytes(LONG))), 30))
write("long.bin", b"before" + (bytes(i * 7 % 251 for i in range(251)) * (LONG // 251 + 1))[:LONG])
write("long_external.onnx", shared(tensor("x", INT8, [LONG], *external("long.bin", offset=6)), 3))
write("kept.onnx", wrap(graph([message((1, "x"), (2, "y"), (4, "Abs"))],
                              [tensor("x", INT8, [LONG + i], raw(bytes([i]) * (LONG + i))) for i in range(4)])))
def ranks(path, rank, count):
    write(path, shared(message((1, b"\1" * rank), (2, INT8), (8, "x"), raw(b"\7")), count))


# What takes time or memory in the square of the file's size, if it is done again for each node.
ranks("ranks.onnx", 1024, 20000)
ranks("rank_1025.onnx", 1025, 1)
ranks("rank_500000.onnx", 500000, 2000)
dims = value_info("x", INT8, [1] * 500000)
write("declared_dims.onnx", wrap(message((1, [node(inputs=TWO, outputs=["y%d" % i], attrs=[]) for i in range(2000)]),
                                         (5, tensor("x_scale", FLOAT32, [], raw(floats(2)))), (11, dims))))
write("opsets.onnx", wrap(message((1, [node(inputs=TWO, outputs=["y%d" % i], attrs=[]) for i in range(40000)]),
                                  (5, [x(INT8, [], raw(b"\7")), tensor("x_scale", FLOAT32, [], raw(floats(2)))])),
                          [opset(1, "domain%d" % i) for i in range(40000)] + [opset(21)]))
write("entries.onnx", shared(tensor("x", INT8, [1], (13, [message((1, "k"), (2, "v"))] * 40000),
                                    *external("data/x.bin")), 40000))

# ---- --dtype ----
ALL = [x(), SCALE, ZERO]
ABS = message((1, "y"), (2, "used"), (4, "Abs"))
CAST = message((1, "y"), (2, "cast"), (4, "Cast"), (5, [message((1, "to"), (3, FLOAT32), (20, 2))]))


def typed(path, nodes, declared=(), version=21):
    write(path, wrap(message((1, [node(), *nodes]), (5, ALL), (13, list(declared))), [opset(version)]))


typed("abs.onnx", [ABS, CAST])
typed("cast.onnx", [CAST])
typed("cast_opset_10.onnx", [CAST], version=10)
typed("declared.onnx", [CAST], [value_info("y", FLOAT32, [2, 3])])
typed("declared_float16.onnx", [CAST], [value_info("y", FLOAT16, [2, 3])])

def constant(name, content):
    return message((2, name), (4, "Constant"), (5, [message((1, "value"), (5, content), (20, 4))]))


def in_function(path, declared):
    body = [constant("x", x()), constant("x_scale", SCALE), constant("x_zero_point", ZERO), node(), CAST]
    function = message((1, "f"), (5, "cast"), (7, body), (9, opset(21)), (10, "my.domain"), (12, declared))
    call = message((2, "z"), (4, "f"), (7, "my.domain"))
    write(path, message((1, 10), (7, message((1, call))), (8, [opset(21)]), (25, function)))


in_function("declared_in_function.onnx", value_info("y", FLOAT32, [2, 3]))
deep = b""
for _ in range(200):
    deep = message((4, message((1, deep))))  # a type: a sequence of such a type
in_function("deep_in_function.onnx", message((1, "y"), (2, deep)))

# ---- hostile ----
write("training.onnx", wrap(graph([node()], ALL)) + message((20, b"")))
write("function_replaces.onnx", model(ALL) + message((25, message((1, "DequantizeLinear"), (10, "")))))
write("constant_replaced.onnx",
      wrap(graph([message((2, "x"), (4, "Constant"), (5, [message((1, "value"), (5, x()), (20, 4))])), node()],
                 [SCALE, ZERO])) + message((25, message((1, "Constant"), (10, "ai.onnx")))))
write("two_outputs_constant.onnx",
      wrap(graph([message((2, ["x", "z"]), (4, "Constant"), (5, [message((1, "value"), (5, x()), (20, 4))])), node()],
                 [SCALE, ZERO])))
write("x_twice.onnx", model([*ALL, x()]))
write("sparse_initializer.onnx", wrap(message((1, [node()]), (5, [SCALE, ZERO]), (15, [message((1, x()))]))))
write("same_operand.onnx", wrap(graph([node(inputs=("x", "x_scale", "x"))],
                                      [x(INT8, (2,), raw(bytes(2))), tensor("x_scale", FLOAT32, [2], raw(floats(1, 2)))])))
write("default_scale.onnx", wrap(graph([node()], ALL, [value_info("x_scale", FLOAT32, [2])])))
write("unread.onnx", wrap(graph([node(), node(outputs=["z"], attrs=[message((1, "axis"), (3, 0), (20, 1))]),
                                 node(outputs=["zz"], domain="my.domain")], ALL)))
write("wrong_constant.onnx", wrap(graph([node(inputs=("a", "x_scale", "x_zero_point"))],
                                        [tensor("x_scale", FLOAT32, [2]), ZERO], [value_info("a", INT8, [2, 3])])))
write("raw_number.onnx", wrap(graph([node()], [message((1, 2), (2, INT8), (8, "x"), (9, 5)), SCALE, ZERO])))
write("constant_without_value.onnx", wrap(graph([message((2, "x"), (4, "Constant")), node()], [SCALE, ZERO])))
NODES = 20000
write("many_nodes.onnx", wrap(message((1, [node(outputs=["y%d" % i]) for i in range(NODES)]), (5, ALL))))
write("many_names.onnx", wrap(message((1, [node()]), (5, ALL), (11, [message((1, "n")) for _ in range(NODES)]))))
write("memory_names.onnx", message((7, message((1, b"\x12\1a" * (5 << 20))))))  # outputs of a node
# Each node's y is the scale of the one before it in the file; the same again, in a circle.
def chain(path, last):
    scaled = [node(inputs=("x", "y%d" % (i + 1) if i + 1 < NODES else last), outputs=["y%d" % i], attrs=[])
              for i in range(NODES)]
    write(path, wrap(message((1, scaled), (5, [tensor("x", INT8, [], raw(b"\1")),
                                               tensor("x_scale", FLOAT32, [], raw(floats(0.5)))]),
                             (12, value_info("y0", FLOAT32, [])))))


chain("deep_chain.onnx", "x_scale")
chain("deep_cycle.onnx", "y0")
inner = b""
for depth in range(30):  # of names that no graph has: each is looked for in all of them
    nodes = [message((1, ["who"] * 1000), (5, [message((1, "body"), (6, inner))]))]
    inner = message((1, nodes))
write("deep_names.onnx", wrap(inner))
no_shape = message((1, "x_scale"), (2, message((1, message((1, FLOAT32))))))
write("shapes_only.onnx", wrap(graph([node()], [ZERO], [value_info("x", INT8, [2, 3]), no_shape])))
def dims(*values):
    return message((1, [message((2, v)) if isinstance(v, str) else message((1, v)) for v in values]))


def typed_input(path, shape, scale_dims, **attrs):
    """x is an input of which not all dims are known, and the scale an initializer of ones."""
    count = 1
    for dim in scale_dims:
        count *= dim
    known_shape = [(2, dims(*shape))] if shape is not None else []
    known = message((1, "x"), (2, message((1, message((1, INT8), *known_shape)))))
    scale = tensor("x_scale", FLOAT32, scale_dims, raw(floats(*[1] * count)))
    nodes = [node(inputs=TWO, attrs=[message((1, k), (3, v), (20, 2)) for k, v in attrs.items()])]
    write("partial_%s.onnx" % path, wrap(graph(nodes, [scale], [known])))


typed_input("axis_known", ["batch", 3], [3], axis=1)
typed_input("axis_known_wrong", ["batch", 4], [3], axis=1)
typed_input("axis_unknown", ["batch", 3], [3], axis=0)
typed_input("axis_outside", ["batch", 3], [3], axis=2)
typed_input("tensor", ["batch", "n"], [], axis=7)
typed_input("tensor_rank_2", ["batch", "n"], [1, 1])
typed_input("tensor_rank_3", ["batch", "n"], [1, 1, 1])
typed_input("blocked", ["n", 8], [2, 4], axis=1, block_size=2)
typed_input("blocked_wrong", ["n", 8], [2, 3], axis=1, block_size=2)
typed_input("blocked_rank", ["n", 8], [2, 3, 4], axis=1, block_size=2)
typed_input("blocked_negative", ["n", "m"], [2, 4], axis=1, block_size=-1 << 63)
typed_input("blocked_huge", ["n", "m"], [2, 4], axis=1, block_size=(1 << 63) - 1)
typed_input("blocked_no_size", ["n", 8], [2, 4], axis=1)
typed_input("no_shape_no_size", None, [2, 4], axis=1)
typed_input("no_shape_axis", None, [2], axis=1)
typed_input("no_shape_blocked", None, [2, 4], axis=1, block_size=2)
no_shape_x = message((1, "x"), (2, message((1, message((1, INT8))))))
write("no_shape_x.onnx", wrap(graph([node()], [SCALE, ZERO], [no_shape_x])))
os.makedirs("elsewhere", exist_ok=True)
os.symlink("big.onnx", "symbolic.onnx")
os.link("big.onnx", "hard.onnx")
os.link("data/x.bin", "data/hard.bin")
os.symlink("x.bin", "data/link.bin")
