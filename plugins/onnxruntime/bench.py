"""Measures inferences in ONNX Runtime with the plug-in and without, in turn, and writes a table and a picture.

    bench.py LIBONNXRUNTIME.so PLUGIN MODELS OUT [--quick]

MODELS is a folder with the quantized copies of the detection network of tests/models, or does not exist. OUT becomes a folder
with results.json, results.md and onnxruntime.svg. A time is the shortest of many runs: what others do on the machine
can only add to it.
"""
import glob
import json
import os
import random
import statistics
import struct
import sys
import time

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "tests"))
from onnx_models import (TYPES, fields, first, graph, message, model, node, tensor, value,  # noqa: E402
                         with_external_data)
from runtimes import PROVIDER, LibraryRuntime, Profile, RuntimeProblem, Tensor  # noqa: E402

LAYERS = [(4096, 4096), (4096, 11008)]  # inputs and outputs of a language model's products
BATCHES = (1, 16)
BLOCK = 32
FEWEST, MOST = 5, 200  # runs
BLUE, ORANGE, INK = "#0072b2", "#e69f00", "#222222"  # Okabe and Ito's: safe for colour-blind readers

# name: (type of x, granularity, has zero points, type of the scale, operator, opset). MatMul has weights of a row for each
# input; Gemm, as exporters of language models write it, of a row for each output. Blocks are of what is summed.
WEIGHTS = {
    "MatMul, int4, blocks of 32": ("int4", "blocks", False, "float32", "MatMul", 21),
    "MatMul, uint4, blocks of 32, zero points": ("uint4", "blocks", True, "float32", "MatMul", 21),
    "MatMul, int8, an output a scale": ("int8", "outputs", False, "float32", "MatMul", 21),
    "MatMul, uint8, one scale, zero point": ("uint8", "tensor", True, "float32", "MatMul", 21),
    "MatMul, float8e4m3fn, an output a scale": ("float8e4m3fn", "outputs", False, "float32", "MatMul", 21),
    "MatMul, MXFP8": ("float8e4m3fn", "blocks", False, "float8e8m0", "MatMul", 25),
    "MatMul, MXFP4": ("float4e2m1", "blocks", False, "float8e8m0", "MatMul", 25),
    "Gemm, int4, blocks of 32": ("int4", "blocks", False, "float32", "Gemm", 21),
    "Gemm, uint4, blocks of 32, zero points": ("uint4", "blocks", True, "float32", "Gemm", 21),
    "Gemm, int8, an output a scale": ("int8", "outputs", False, "float32", "Gemm", 21),
    "Gemm, float8e4m3fn, an output a scale": ("float8e4m3fn", "outputs", False, "float32", "Gemm", 21),
    "Gemm, MXFP8": ("float8e4m3fn", "blocks", False, "float8e8m0", "Gemm", 25),
    "Gemm, MXFP4": ("float4e2m1", "blocks", False, "float8e8m0", "Gemm", 25),
}


# ---- models ----

def random_bytes(count, seed, mask=0xff):
    numbers = random.Random(seed).randbytes(count)
    return numbers if mask == 0xff else bytes(b & mask for b in numbers)


def weights(name, inputs, outputs, kind):
    """The tensors and the node of one layer's weights."""
    x_type, granularity, has_zero, scale_type, operator, _ = kind
    shape, axis = ([inputs, outputs], 0) if operator == "MatMul" else ([outputs, inputs], 1)  # axis: what is summed
    scale_shape = {"tensor": [], "outputs": [outputs],
                   "blocks": [dim // BLOCK if d == axis else dim for d, dim in enumerate(shape)]}[granularity]
    scales = 1
    for dim in scale_shape:
        scales *= dim
    bits = TYPES[x_type].bits
    # Without the codes of NaN, and with scales of which products stay small.
    codes = random_bytes(inputs * outputs * bits // 8, name, 0xbf if x_type.startswith("float8") else 0xff)
    scale = bytes([115]) * scales if scale_type == "float8e8m0" else struct.pack("<f", 2.0**-12) * scales
    tensors = [tensor(name + "_x", x_type, shape, codes), tensor(name + "_scale", scale_type, scale_shape, scale)]
    if has_zero:
        tensors.append(tensor(name + "_zero", x_type, scale_shape, random_bytes((scales * bits + 7) // 8, name + "_zero")))
    attributes = {"axis": axis, "block_size": BLOCK} if granularity == "blocks" else {"axis": 1 - axis}
    if scale_type == "float8e8m0":
        attributes["output_dtype"] = 1
    names = [name + part for part in ("_x", "_scale", "_zero")[:2 + has_zero]]
    return tensors, node("DequantizeLinear", names, [name], **attributes)


def stack(kind):
    """The products of LAYERS, one after another."""
    tensors, nodes, source, operator = [], [], "a", kind[4]
    for i, (inputs, outputs) in enumerate(LAYERS):
        layer, dequantize = weights(f"w{i}", inputs, outputs, kind)
        tensors += layer
        attributes = {"transB": 1} if operator == "Gemm" else {}
        nodes += [dequantize, node(operator, [source, f"w{i}"], [f"y{i}"], **attributes)]
        source = f"y{i}"
    return model(graph(nodes, [value("a", "float32", ["batch", LAYERS[0][0]])], [value(source, "float32")], tensors),
                 kind[-1])


def network(path):
    """A quantized detection network; of its outputs, which for tests are its weights too, only its own."""
    content = b""
    for number, field, whole in fields(with_external_data(read(path), os.path.dirname(path))):
        if number == 7:
            outputs = [w for n, _, w in fields(field) if n == 12]
            kept = [w for n, _, w in fields(field) if n != 12] + outputs[:1]
            whole = message((7, b"".join(kept)))
        content += whole
    return content


def read(path):
    with open(path, "rb") as file:
        return file.read()


def image():
    count = 3 * 96 * 96
    return Tensor("float32", [1, 3, 96, 96], struct.pack(f"<{count}f", *[(i * 7919 % 1000) / 250 - 2 for i in range(count)]))


def cases(models):
    """(group, name, what makes the model, its input)"""
    for path in sorted(glob.glob(os.path.join(models, "*.quantized.onnx"))):
        yield "detection network", os.path.basename(path).split(".")[0], lambda p=path: network(p), image()
    for batch in BATCHES:
        inputs = LAYERS[0][0]
        x = Tensor("float32", [batch, inputs], struct.pack("<f", 0.5) * batch * inputs)
        for name, kind in WEIGHTS.items():
            yield f"products, batch {batch}", name, lambda k=kind: stack(k), x


# ---- measuring ----

def input_name(content):
    """Of the graph's first input that is no initializer."""
    initializers = {first(t, 8) for n, t, _ in fields(first(content, 7)) if n == 5}
    return next(first(v, 1).decode() for n, v, _ in fields(first(content, 7)) if n == 11 and first(v, 1) not in initializers)


def open_session(runtime, content, threads, plugin, **options):
    """None if the runtime can't."""
    try:
        # The threads of the session that has just run must not spin while the other one does.
        return runtime.session(content, plugin=plugin, threads=threads, config={"session.force_spinning_stop": "1"}, **options)
    except RuntimeProblem:
        return None


def how_many_run(runtime, content, feeds):
    """The DequantizeLinear nodes that ONNX Runtime has not fused into others."""
    profile = Profile()
    session = runtime.session(content, profile=profile)
    session.run(feeds)
    session.close()
    return sum(provider == PROVIDER for _, provider in profile.nodes())


def measure(runtime, content, feeds, threads, seconds):
    """{with the plug-in, or not: (shortest, median) in milliseconds, or None}; in turn, after runs that warm up, for about so
    long, but FEWEST times at least and MOST at most."""
    sessions = {plugin: open_session(runtime, content, threads, plugin) for plugin in (False, True)}
    runs = {plugin: s.prepare(feeds) for plugin, s in sessions.items() if s}
    times = {plugin: [] for plugin in runs}
    end = time.monotonic() + seconds
    for number in range(-2, MOST):
        if number >= FEWEST and time.monotonic() > end:
            break
        for plugin, run in runs.items():
            begin = time.perf_counter_ns()
            try:
                outputs = run()
            except RuntimeProblem:
                times[plugin] = None
                break
            if number >= 0:
                times[plugin].append((time.perf_counter_ns() - begin) / 1e6)
            sessions[plugin].release(outputs)
        runs = {plugin: run for plugin, run in runs.items() if times[plugin] is not None}
    for plugin, run in runs.items():
        sessions[plugin].release([v for v, _ in run.keep])
    for s in filter(None, sessions.values()):
        s.close()
    return {plugin: (min(t), statistics.median(t)) if t else None for plugin, t in ((p, times.get(p)) for p in (False, True))}


def measure_all(runtime, models, quick):
    seconds = 0.5 if quick else 5
    results = []
    for group, name, build, x in cases(models):
        content = build()
        feeds = {input_name(content): x}
        running = how_many_run(runtime, content, feeds)
        for threads in sorted({1, os.cpu_count()}):
            found = measure(runtime, content, feeds, threads, seconds)
            row = {"group": group, "name": name, "threads": threads, "nodes": running,
                   "without": found[False], "with": found[True]}
            results.append(row)
            print(f"{group:22} {name:42} {threads} threads, {running} nodes: "
                  f"{number(row['without'])} -> {number(row['with'])} ms", flush=True)
    return results


# ---- telling ----

def number(times):
    if times is None:
        return "–"
    ms = times[0]
    return f"{ms:.0f}" if ms >= 100 else f"{ms:.1f}" if ms >= 10 else f"{ms:.2f}"


def gain(row):
    return row["without"][0] / row["with"][0] if row["without"] and row["with"] else None


def table(results):
    """A row for each model, with columns for each number of threads."""
    counts = sorted({r["threads"] for r in results})
    rows = {}
    for r in results:
        rows.setdefault((r["group"], r["name"]), {})[r["threads"]] = r
    head = [f"{n} thread{'s' * (n > 1)}, {what}" for n in counts for what in ("without", "with", "gain")]
    lines, group = [], None
    for (row_group, name), by_threads in rows.items():
        if row_group != group:
            group = row_group
            lines += ["", f"**{group[0].upper() + group[1:]}**, milliseconds an inference:", "",
                      "| | nodes that dql runs | " + " | ".join(head) + " |", "|---" * (2 + len(head)) + "|"]
        cells = []
        for n in counts:
            r = by_threads[n]
            cells += [number(r["without"]), number(r["with"]), f"{gain(r):.2f}" if gain(r) else "only with"]
        lines.append(f"| {name} | {by_threads[counts[0]]['nodes']} | " + " | ".join(cells) + " |")
    return "\n".join(lines) + "\n"


def draw(results, path, title):
    """Bars of the times on one thread."""
    import matplotlib
    matplotlib.use("svg")
    import matplotlib.pyplot as plot
    plot.rcParams.update({"svg.hashsalt": "dql", "svg.fonttype": "none", "font.size": 9, "text.color": INK,
                          "axes.labelcolor": INK})
    groups = list(dict.fromkeys(r["group"] for r in results))
    shown = [[r for r in results if r["group"] == g and r["threads"] == 1] for g in groups]
    figure, axes = plot.subplots(len(groups), 1, figsize=(9, 0.34 * sum(map(len, shown)) + 1.2 * len(groups)), squeeze=False,
                                 gridspec_kw={"height_ratios": list(map(len, shown))}, layout="constrained")
    for axis, group, rows in zip(axes[:, 0], groups, shown):
        for i, r in enumerate(rows):
            for offset, key, color in ((-0.2, "without", ORANGE), (0.2, "with", BLUE)):
                if r[key]:
                    axis.barh(i + offset, r[key][0], 0.38, color=color, label=key if i == len(rows) - 1 else None)
                    axis.text(r[key][0], i + offset, " " + number(r[key]), va="center", fontsize=7)
                else:
                    axis.text(0, i + offset, " can't", va="center", fontsize=7)
        axis.set_yticks(range(len(rows)), [r["name"] for r in rows])
        axis.invert_yaxis()
        axis.set_title(group, loc="left", fontsize=10)
        axis.spines[["top", "right"]].set_visible(False)
    axes[0, 0].legend([plot.Rectangle((0, 0), 1, 1, color=c) for c in (ORANGE, BLUE)], ["without the plug-in", "with it"],
                      frameon=False, loc="lower right")
    axes[-1, 0].set_xlabel("milliseconds an inference, one thread")
    figure.suptitle(title, fontsize=11)
    figure.savefig(path, metadata={"Date": None})


def main(library, plugin, models, out, quick=None):
    os.makedirs(out, exist_ok=True)
    runtime = LibraryRuntime(library, os.path.abspath(plugin))
    results = measure_all(runtime, models, quick == "--quick")
    with open(os.path.join(out, "results.json"), "w", encoding="utf-8") as file:
        json.dump({"version": runtime.version, "rows": results}, file, indent=1)
    with open(os.path.join(out, "results.md"), "w", encoding="utf-8") as file:
        file.write(table(results))
    draw(results, os.path.join(out, "onnxruntime.svg"), f"ONNX Runtime {runtime.version}")
    runtime.close()


if __name__ == "__main__":
    if len(sys.argv) not in (5, 6):
        sys.exit(__doc__)
    main(*sys.argv[1:])
