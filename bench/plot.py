"""Pictures and tables of what the benchmarks measured.

    plot.py FOLDER [CASE...]    from FOLDER/run-*.json: pictures (*.svg), results.json and results.md; prints a table.
                                CASE is x/y/granularity, for the bars
    plot.py --active FILE...    the ISA that dql runs on this CPU

Types, granularities and ISAs are those that the rows name, in their order.
"""
import json
import math
import sys
from pathlib import Path

LIMITS = ("of_fill", "of_stream", "of_stream_nt")
L1_BYTES = 1 << 15  # of y: 4,096 elements, not 256 Ki
SMALL, MIDDLE, LARGE = 4096, 1 << 18, 1 << 26
BLUE, ORANGE, PALE, INK = "#0072b2", "#e69f00", "#dcdcdc", "#222222"  # Okabe and Ito's: safe for colour-blind readers


# ---- the rows ----


class Row:
    """The best of all repetitions of one row: times in ns; those of the limits are for the same bytes."""

    def __init__(self, name):
        self.name, self.parts = name, name.split("/")
        self.ns, self.limits, self.elements, self.bytes, self.error = math.inf, {}, 0, 0, None

    def add(self, record):
        if record.get("error_occurred"):
            self.error = record.get("error_message", "skipped")
            return
        ns = record["min_ns"]
        if ns <= 0:  # less than the fixed cost that was taken off
            self.error = "too short to tell"
            return
        self.elements = record["Gelem/s"] * ns
        self.bytes = record.get("GB/s", record.get("GB", 0) * 1e9 / ns) * ns
        self.ns = min(self.ns, ns)
        for limit in LIMITS:
            # Not the largest quotient, which a disturbed limit makes: the shortest limit time.
            if limit in record:
                self.limits[limit] = min(self.limits.get(limit, math.inf), record[limit] * ns)

    def of(self, limit):
        return self.limits[limit] / self.ns if limit in self.limits else None

    @property
    def of_fill(self):
        return self.of("of_fill")

    @property
    def of_streams(self):
        """Of the faster way to move the bytes: beside the slower one, non-temporal stores look like wonders."""
        return min((self.of(k) for k in ("of_stream", "of_stream_nt") if k in self.limits), default=None)

    @property
    def rate(self):
        return self.elements / self.ns

    @property
    def limit_rate(self):
        """In the L1 cache what can be written there: the loops that read too are not always as fast."""
        of_limit = self.of_fill if self.bytes <= L1_BYTES else self.of_streams
        return self.rate / of_limit if of_limit else 0


def read(files, names=()):
    """names: all there are, in their order; they run in a random one."""
    rows, context = {name: None for name in names}, {}
    for file in files:
        run = json.loads(Path(file).read_text())
        context.update(run["context"])
        for record in run["benchmarks"]:
            if record.get("run_type") != "aggregate":
                rows[record["run_name"]] = rows.get(record["run_name"]) or Row(record["run_name"])
                rows[record["run_name"]].add(record)
    rows = {name: row for name, row in rows.items() if row}
    share_limits(rows.values())
    return rows, context


def share_limits(rows):
    """A limit is the same work for all rows of its bytes, so the shortest time that any of them saw is the limit's. In
    memory, where a row has few batches, one alone may see busy moments only."""
    best = {}
    for setting in (False, True):
        for row in rows:
            for limit in row.limits:
                # Filling doesn't depend on x.
                key = limit, row.parts[2], row.parts[-1], None if limit == "of_fill" else row.parts[1]
                if setting:
                    row.limits[limit] = best[key]
                else:
                    best[key] = min(best.get(key, math.inf), row.limits[limit])


def unique(items):
    return list(dict.fromkeys(items))


def mean(values):
    """Geometric."""
    values = [v for v in values if v]
    return math.exp(sum(map(math.log, values)) / len(values)) if values else 0


def measured(rows, family):
    return [r for r in rows.values() if r.parts[0] == family and not r.error]


def isa_of(row):
    return row.parts[4]


def active_isa(rows, context):
    """What the benchmarks say, or else the one whose calls are fastest."""
    calls = [r for r in measured(rows, "tensor") if r.parts[3] == "tensor"]
    return context.get("dql_isa") or max(unique(map(isa_of, calls)), default="none",
                                         key=lambda isa: mean(r.rate for r in calls if isa_of(r) == isa))


# ---- pictures ----


def percent(value):
    value *= 100
    return f"{value:.0f}" if value >= 9.95 else f"{value:.1f}"


def number(value):
    return f"{value:.0f}" if value >= 99.5 else f"{value:.1f}" if value >= 9.95 else f"{value:.2f}"


def save(figure, path):
    figure.savefig(path, metadata={"Date": None, "Creator": None})


def panel_of(axes, rows, share, x_types, columns, norm):
    from matplotlib import colormaps

    colours = colormaps["viridis"]
    for i, x in enumerate(x_types):
        for j, column in enumerate(columns):
            row = rows.get((x, column))
            value = getattr(row, share) if row else None
            colour = colours(norm(value)) if value is not None else "#f2f2f2"
            axes.fill([j, j + 1, j + 1, j], [i, i, i + 1, i + 1], color=colour, linewidth=0)
            dark = value is not None and sum(w * c for w, c in zip((0.3, 0.59, 0.11), colour)) < 0.5
            axes.text(j + 0.5, i + 0.52, "–" if value is None else percent(value), ha="center", va="center",
                      fontsize=9.5, color="white" if dark else INK)
    axes.set_xlim(0, len(columns))
    axes.set_ylim(len(x_types), 0)
    axes.set_xticks([j + 0.5 for j in range(len(columns))])
    axes.set_xticklabels([c.replace("_", " ") for c in columns], rotation=40, ha="right", rotation_mode="anchor")
    axes.set_yticks([i + 0.5 for i in range(len(x_types))])
    axes.tick_params(length=0)
    for spine in axes.spines.values():
        spine.set_visible(False)
    for i in range(1, len(x_types)):
        axes.axhline(i, color="white", linewidth=1)
    for j in range(1, len(columns)):
        axes.axvline(j, color="white", linewidth=1)


def heat_map(path, rows, share, title, subtitle):
    """x types down, granularities across, a panel for each y type. share: of_fill or of_streams."""
    import matplotlib.pyplot as plt
    from matplotlib.colors import Normalize
    from matplotlib.cm import ScalarMappable

    x_types, y_types = unique(r.parts[1] for r in rows), unique(r.parts[2] for r in rows)
    # A shape in a name depends on the number of elements; its columns say what it is: axis_last_1365x3.
    columns = [r.parts[3] for r in rows]
    most = max(map(columns.count, columns))
    columns = [c for c in unique(columns) if columns.count(c) > most / 2]  # not those of a few rows for the bars
    norm = Normalize(0, 1, clip=True)
    cell = 0.6 if len(columns) <= 4 else 0.42 if len(columns) <= 8 else 0.36
    left, right, top, gap = 1.35, 0.95, 1.05, 0.2
    bottom = 0.25 + 0.055 * max(map(len, columns))  # for slanted names
    panel, height = cell * len(columns), 0.31 * len(x_types)
    width = left + len(y_types) * panel + (len(y_types) - 1) * gap + right
    total = top + height + bottom
    figure = plt.figure(figsize=(width, total))
    for k, y in enumerate(y_types):
        axes = figure.add_axes([(left + k * (panel + gap)) / width, bottom / total, panel / width, height / total])
        panel_of(axes, {(r.parts[1], r.parts[3]): r for r in rows if r.parts[2] == y}, share, x_types, columns, norm)
        axes.set_yticklabels(x_types if k == 0 else [])
        axes.set_title(f"to {y}", fontsize=11, pad=5)
    bar = figure.add_axes([(width - right + 0.2) / width, bottom / total, 0.16 / width, height / total])
    scale = figure.colorbar(ScalarMappable(norm, "viridis"), cax=bar, ticks=[0, 0.25, 0.5, 0.75, 1])
    scale.ax.set_yticklabels(["0", "25", "50", "75", "100 %"])
    scale.outline.set_visible(False)
    figure.text(0.15 / width, 1 - 0.30 / total, title, fontsize=14, fontweight="bold", va="center")
    figure.text(0.15 / width, 1 - 0.56 / total, subtitle, fontsize=10, va="center", color="#555555")
    save(figure, path)
    plt.close(figure)


def label_of(case):
    x, y, granularity = case.split("/")
    return f"{x} to {y}, {granularity.replace('_', ' ')}"


def bars(path, sizes, lines, isa, subtitle):
    """Of each case: the limit, and in it dql and ONNX Runtime. lines: (case, {size: (dql row, peer row)})."""
    import matplotlib.pyplot as plt
    from matplotlib.patches import Patch

    left, right, panel, gap, top, bottom, height = 2.75, 0.45, 3.1, 0.35, 1.45, 0.55, 0.56
    width = left + len(sizes) * panel + (len(sizes) - 1) * gap + right
    total = top + height * len(lines) + bottom
    figure = plt.figure(figsize=(width, total))
    for k, (size, name) in enumerate(sizes):
        axes = figure.add_axes([(left + k * (panel + gap)) / width, bottom / total, panel / width,
                                height * len(lines) / total])
        most = max([max(d.rate, d.limit_rate) for _, at in lines for d, _ in [at.get(size, (None, None))] if d] or [1])
        for i, (case, at) in enumerate(lines):
            dql, peer = at.get(size, (None, None))
            if not dql:
                continue
            axes.barh(i, dql.limit_rate, 0.80, color=PALE)
            end = dql.limit_rate
            for row, at_y, colour in ((dql, i - 0.18, BLUE), (peer, i + 0.18, ORANGE)):
                if not row:
                    continue
                if row.error:
                    axes.text(most * 0.015, at_y, "not in ONNX Runtime" if "implementation" in row.error else row.error,
                              va="center", fontsize=8.5, style="italic", color="#555555")
                    continue
                axes.barh(at_y, row.rate, 0.30, color=colour)
                inside = row.rate > dql.limit_rate - 0.13 * most and row.rate > 0.13 * most
                axes.text(row.rate + most * (-0.012 if inside else 0.012), at_y + 0.01, number(row.rate), va="center",
                          ha="right" if inside else "left", fontsize=9,
                          color="white" if inside and colour == BLUE else INK)
                end = max(end, row.rate)
            axes.text(end + most * 0.015, i, number(dql.limit_rate), va="center", fontsize=9, color="#777777")
        axes.set_xlim(0, most * 1.13)
        axes.set_ylim(len(lines) - 0.5, -0.5)
        axes.set_yticks(range(len(lines)))
        axes.set_yticklabels([label_of(c) for c, _ in lines] if k == 0 else [], fontsize=10)
        axes.tick_params(axis="y", length=0)
        axes.set_title(name, fontsize=11, pad=6)
        axes.set_xlabel("billion elements a second", fontsize=9)
        for side in ("top", "right", "left"):
            axes.spines[side].set_visible(False)
    figure.text(0.15 / width, 1 - 0.30 / total, f"dql ({isa}) beside ONNX Runtime and the machine's limit, one thread",
                fontsize=14, fontweight="bold", va="center")
    figure.text(0.15 / width, 1 - 0.56 / total, subtitle, fontsize=10, va="center", color="#555555")
    figure.legend(handles=[Patch(color=BLUE, label=f"dql, {isa}"), Patch(color=ORANGE, label="ONNX Runtime"),
                           Patch(color=PALE, label="limit: the same bytes moved without arithmetic")],
                  loc="center left", bbox_to_anchor=(0.10 / width, 1 - 0.88 / total), ncol=3, frameon=False,
                  fontsize=10, handlelength=1.2, borderpad=0.2)
    save(figure, path)
    plt.close(figure)


STORES = ("_cached", "_stream")


def store_curves(rows, isa):
    """{case: {way to store: [(bytes of y, GB/s)]}} of the cases that were measured at many sizes."""
    curves = {}
    for row in rows:
        for way in STORES:
            if isa_of(row) == isa and row.parts[3].endswith(way):
                case = "/".join(row.parts[1:4])[:-len(way)]
                curves.setdefault(case, {}).setdefault(way, []).append((row.bytes, row.bytes / row.ns))
    return {case: ways for case, ways in curves.items() if len(ways) == 2 and min(map(len, ways.values())) > 4}


def size_name(size):
    return f"{size / 2**20:.0f} MiB" if size >= 2**20 else f"{size / 2**10:.0f} KiB"


def stores(path, curves, cache, title, subtitle):
    """How fast y is written, by its size, with ordinary and with non-temporal stores."""
    import matplotlib.pyplot as plt
    from matplotlib.lines import Line2D

    figure = plt.figure(figsize=(8.2, 4.6))
    axes = figure.add_axes([0.08, 0.13, 0.60, 0.68])
    names = []
    for (case, ways), colour in zip(curves.items(), (BLUE, ORANGE, "#009e73", "#cc79a7", INK)):
        for way, style in zip(STORES, ("-", "--")):
            axes.plot(*zip(*sorted(ways[way])), style, color=colour, marker="o", markersize=3, linewidth=1.6)
        names.append(Line2D([], [], color=colour, label=label_of(case)))
    points = [point for ways in curves.values() for way in ways.values() for point in way]
    sizes = sorted({2**round(math.log2(size)) for size, _ in points})
    if cache:
        axes.axvline(cache, color="#777777", linewidth=1, linestyle=":")
        axes.text(cache / 1.07, axes.get_ylim()[1] * 0.97, "last-level cache", fontsize=9, va="top", ha="right",
                  color="#555555")
    axes.set_xscale("log", base=2)
    axes.set_xticks(sizes, [size_name(size) for size in sizes], rotation=40, ha="right", rotation_mode="anchor",
                    fontsize=9)
    axes.set_ylim(0)
    axes.set_ylabel("GB/s written")
    for side in ("top", "right"):
        axes.spines[side].set_visible(False)
    ways = [Line2D([], [], color=INK, linestyle="-", label="DQL_STORE_CACHED"),
            Line2D([], [], color=INK, linestyle="--", label="DQL_STORE_STREAM")]
    figure.legend(handles=ways + names, loc="upper left", bbox_to_anchor=(0.68, 0.82), frameon=False, fontsize=9)
    figure.text(0.02, 0.95, title, fontsize=14, fontweight="bold", va="center")
    figure.text(0.02, 0.89, subtitle, fontsize=10, va="center", color="#555555")
    save(figure, path)
    plt.close(figure)


# ---- tables ----


def limits_table(rows):
    """The clock and how fast bytes are written, at the sizes that were run."""
    lines = []
    clock = rows.get("limit/clock")
    if clock and not clock.error:
        lines.append(["clock (a chain of additions)", f"{clock.rate:.2f} GHz"])
    for row in rows.values():
        if row.parts[0] == "limit" and row.parts[1] in ("fill", "memcpy") and not row.error:
            size = int(row.parts[2])
            what = "L1" if size <= 1 << 15 else "memory" if size >= 1 << 26 else "L2"
            size = f"{size >> 20} MiB" if size >= 1 << 20 else f"{size >> 10} KiB"
            lines.append([f"{row.parts[1]}, {size} ({what})", f"{row.rate:.1f} GB/s written"])
    return ["limit", "best"], lines


def isa_table(rows):
    """Kernels at the cache size: means over x types and granularities."""
    kernels = [r for r in measured(rows, "kernel") if int(r.parts[5]) == SMALL]
    y_types = unique(r.parts[2] for r in kernels)
    head = ["kernels, 4,096 elements"] + [f"to {y}" for y in y_types]
    lines = []
    for isa in unique(map(isa_of, kernels)):
        line = [isa]
        for y in y_types:
            some = [r for r in kernels if isa_of(r) == isa and r.parts[2] == y]
            line.append(f"{number(mean(r.rate for r in some))} Gelem/s, "
                        f"{percent(mean(r.of_fill for r in some))} % of fill")
        lines.append(line)
    return head, lines


def bars_table(sizes, lines):
    head = ["Gelem/s: dql / limit / ONNX Runtime"] + [name for _, name in sizes]
    table = []
    for case, at in lines:
        line = [label_of(case)]
        for size, _ in sizes:
            dql, peer = at.get(size, (None, None))
            ours = f"{number(dql.rate)} / {number(dql.limit_rate)}" if dql else "–"
            theirs = "–"
            if dql and peer and not peer.error:
                times = dql.rate / peer.rate
                theirs = f"{number(peer.rate)} ({times:.{1 if times < 9.95 else 0}f}×)"
            line.append(f"{ours} / {theirs}")
        table.append(line)
    return head, table


def rows_table(rows):
    head = ["row", "ns", "Gelem/s", "GB/s"] + [f"{k} %" for k in LIMITS]
    return head, [[r.name] + (["", "", "", r.error[:40], "", ""] if r.error else
                              [number(r.ns), number(r.rate), number(r.bytes / r.ns)] +
                              ["" if r.of(k) is None else percent(r.of(k)) for k in LIMITS]) for r in rows.values()]


def as_text(head, lines):
    widths = [max(len(line[k]) for line in [head] + lines) for k in range(len(head))]
    return "\n".join("  ".join(cell.ljust(w) for cell, w in zip(line, widths)).rstrip() for line in [head] + lines)


def as_markdown(head, lines):
    return "\n".join("| " + " | ".join(line) + " |" for line in [head, ["---"] * len(head)] + lines)


# ---- all of it ----


def main(folder, cases):
    import matplotlib

    matplotlib.use("Agg")
    matplotlib.rcParams.update({"svg.hashsalt": "dql", "font.family": "DejaVu Sans", "text.color": INK,
                                "axes.labelcolor": INK, "xtick.color": INK, "ytick.color": INK})
    files = sorted(folder.glob("run-*.json"))
    names = folder / "rows.txt"
    rows, context = read(files, names.read_text().split() if names.exists() else ())
    isa = active_isa(rows, context)
    machine = (folder / "machine.md").read_text() if (folder / "machine.md").exists() else ""
    # "- CPU: name, family ..., cores": the pictures carry it, since they are looked at alone.
    cpu = machine.partition("CPU: ")[2].partition("\n")[0] or "unknown CPU"
    sections = []  # of the page
    tables = []  # of the terminal

    def picture(name, draw, *arguments):
        draw(folder / name, *arguments)
        sections.append(f"![{name.partition('.')[0].replace('-', ' ')}](performance/{name})")

    def table(head, lines):
        if lines:
            sections.append(as_markdown(head, lines))
            tables.append(as_text(head, lines))

    sections.append("### Machine and command")
    sections.append(machine.rstrip())
    table(*limits_table(rows))

    sizes = [(SMALL, "4,096 elements: L1"), (MIDDLE, "256 Ki elements: L2"), (LARGE, "64 Mi elements: memory")]
    lines = []
    for case in cases:
        at = {}
        for size, _ in sizes:
            dql, peer = rows.get(f"tensor/{case}/{isa}/{size}"), rows.get(f"onnxruntime/{case}/{size}")
            if dql and not dql.error:
                at[size] = (dql, peer)
        if at:
            lines.append((case, at))
    sizes = [s for s in sizes if any(s[0] in at for _, at in lines)]
    if lines:
        sections.append("### dql, ONNX Runtime and the limit")
        picture("bars.svg", bars, sizes, lines, isa, cpu)
        table(*bars_table(sizes, lines))

    calls = [r for r in measured(rows, "tensor") if isa_of(r) == isa and not r.parts[3].endswith("_nozero")]
    small = [r for r in calls if SMALL - 64 < int(r.parts[5]) <= SMALL]
    large = [r for r in calls if int(r.parts[5]) == LARGE and not r.parts[3].endswith(("_cached", "_stream"))]
    if small or large:
        sections.append("### Calls")
    if small:
        picture(f"calls-cache-{isa}.svg", heat_map, small, "of_fill",
                f"{isa}: calls in L1, % of the fill limit", f"about 4,096 elements · {cpu}")
    if large:
        picture(f"calls-memory-{isa}.svg", heat_map, large, "of_streams",
                f"{isa}: calls in memory, % of the stream limit", f"64 Mi elements · {cpu}")

    curves = store_curves(measured(rows, "tensor"), isa)
    if curves:
        sections.append("### Ways to store")
        picture("stores.svg", stores, curves, int(context.get("last_level_cache", 0)),
                f"{isa}: two ways to store, by the bytes of y", cpu)

    kernels = [r for r in measured(rows, "kernel") if int(r.parts[5]) == SMALL]
    if kernels:
        sections.append("### Kernels")
        table(*isa_table(rows))
    for name in unique(map(isa_of, kernels)):
        picture(f"kernels-{name}.svg", heat_map, [r for r in kernels if isa_of(r) == name], "of_fill",
                f"{name}: kernels in L1, % of the fill limit", f"4,096 elements · {cpu}")

    (folder / "results.md").write_text("\n" + "\n\n".join(sections) + "\n\n")
    (folder / "results.json").write_text(json.dumps({r.name: {
        "error": r.error} if r.error else {
        "ns": r.ns, "Gelem/s": r.rate, "GB/s": r.bytes / r.ns, **{k: r.of(k) for k in LIMITS if k in r.limits}}
        for r in rows.values()}, indent=1) + "\n")
    print("\n" + "\n\n".join(tables if lines or len(rows) > 100 else [as_text(*rows_table(rows))]))
    wrong = [[r.name, r.error] for r in rows.values() if r.error and r.error.startswith("wrong")]
    if wrong:
        sys.exit("\nWrong results:\n" + as_text(["row", "why"], wrong))


if __name__ == "__main__":
    if len(sys.argv) < 2 or sys.argv[1] in ("-h", "--help"):
        sys.exit(__doc__)
    elif sys.argv[1] == "--active":
        print(active_isa(*read(sys.argv[2:])))
    else:
        main(Path(sys.argv[1]), sys.argv[2:])
