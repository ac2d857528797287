"""Tests that dql inspect, expand and run say the same of a model: of good ones, of wrong ones, and of random ones.

    test_agreement.py DQL FOLDER...     DQL: the binary; FOLDERs: their models are looked at too, and damaged ones

inspect says how many nodes `dql expand` replaces, or that it fails and why: then expand does so, and leaves nothing
that it could replace. What run does to a model of one node of initializers, expand does too.
"""
import glob
import os
import random
import re
import shutil
import subprocess
import sys
import tempfile

RANDOM_MODELS, DAMAGED_MODELS = 300, 200


class Failure(Exception):
    pass


def dql(*arguments):
    done = subprocess.run([DQL, *arguments], stdin=subprocess.DEVNULL, capture_output=True, timeout=60)
    out, err = (text.decode("utf-8", "replace") for text in (done.stdout, done.stderr))
    errors = [line.split(": ", 2)[2] for line in err.splitlines() if ": note: " not in line]
    if done.returncode not in (0, 1) or (done.returncode == 1) != (len(errors) == 1):
        raise Failure(f"dql {' '.join(arguments)}: status {done.returncode}: {err}")
    return done.returncode, out.splitlines(), errors[0] if errors else None


SUMMARY = re.compile(r"(\d+) DequantizeLinear: (\d+) yes, (\d+) no, (\d+) \?; "
                     r"dql expand (?:replaces (\d+)|fails, as (\d+) )")


def inspect(path, *options):
    """What it says of each node; how many there are, how many can be expanded (None: expand fails)."""
    status, lines, error = dql("inspect", path, *options)
    if status != 0:
        return error, None, None
    found = SUMMARY.match(lines[-1])
    if not found:
        raise Failure(f"inspect {path}: {lines[-1]}")
    counts = [int(n) for n in found.group(1, 2, 3, 4)]
    if counts[0] != len(lines) - 1 or counts[0] != sum(counts[1:]):
        raise Failure(f"inspect {path}: {lines[-1]} after {len(lines) - 1} lines")
    return lines[:-1], counts[0], int(found.group(5)) if found.group(5) else None


def compare(path, *options):
    lines, nodes, replaced = inspect(path, *options)
    expanded = path + ".out"
    status, table, error = dql("expand", path, "-o", expanded, *options)
    if nodes is None:
        if error != lines:
            raise Failure(f"{path}: inspect says {lines}, expand {error}")
        return
    if replaced is None:
        reason = re.sub(r'^y ".*?": ', "", error or "", count=1)
        if status != 1 or not any(line.startswith("no ") and reason in line for line in lines):
            raise Failure(f"{path}: inspect says that expand fails, which says {error or 'nothing'}: {lines}")
        return
    if status != 0:
        raise Failure(f"{path}: inspect says that expand replaces {replaced}, which fails: {error}")
    done = next(int(line.split()[1]) for line in table if line.startswith("all "))
    _, left, again = inspect(expanded, *options)
    if done != replaced or left != nodes - replaced or again != 0:
        raise Failure(f"{path}: expand was to replace {replaced} of {nodes}, says {done}, and left {left}, "
                      f"of which it would replace {again}")
    constant = [line for line in lines if line.startswith("yes") and line.split("; ")[-2] == "constant"]
    if len(constant) != replaced:
        raise Failure(f"{path}: {replaced} are replaced, but constant are {constant}")
    os.unlink(expanded)


def compare_run(path):
    """A model of one node, and of initializers only."""
    status, _, error = dql("run", path)
    if error and re.search("input file|nodes, not one|the node is", error):
        return
    lines, nodes, replaced = inspect(path, "--constant-inputs")
    if nodes is None:
        if error != lines:
            raise Failure(f"{path}: inspect says {lines}, run {error}")
    elif status == 0 and replaced != 1:
        raise Failure(f"{path}: run takes it, but expand doesn't: {lines}")
    elif status == 1 and replaced == 1:
        raise Failure(f"{path}: run says {error}, but expand takes it")


# ---- random models, of which many are wrong ----

def random_dims(choose):
    return [choose.choice([0, 1, 1, 2, 3, 4, 7]) for _ in range(choose.choice([0, 1, 1, 2, 2, 2, 3]))]


def random_tensor(choose, name, type_, dims):
    count = 1
    for dim in dims:
        count *= dim
    bits = BITS.get(type_, 8)
    data = bytes(choose.choice([0, 0, 0x38, 0x3f, 0x80]) for _ in range((count * bits + 7) // 8))
    fault = choose.randrange(100)
    if fault == 0:
        data = data[:-1]
    elif fault == 1:
        data += b"\0"
    elif fault == 2:
        return files.tensor(name, type_, dims, *files.external("missing.bin"))
    elif fault == 3:
        return files.tensor(name, type_, dims, (4, data))
    elif fault == 4:
        return files.tensor(name, type_, dims, files.int32_data(*data))
    elif fault == 5:
        dims = dims + [choose.choice([-1, 1 << 40])]
    elif fault == 6:
        return files.tensor(name, type_, dims)
    return files.tensor(name, type_, dims, files.raw(data)) if data else files.tensor(name, type_, dims)


BITS = {1: 32, 2: 8, 3: 8, 5: 16, 6: 32, 7: 64, 10: 16, 16: 16, 17: 8, 21: 4, 22: 4, 23: 4, 24: 8, 25: 2, 27: 6, 28: 6, 99: 8}


def random_scale_dims(choose, dims, axis, block):
    if not dims or choose.randrange(4) == 0:
        return choose.choice([[], [1], [1] * len(dims)])
    if block:
        return [-(-d // block) if i == axis else d for i, d in enumerate(dims)]
    return [dims[axis]]


def random_model(choose):
    nodes, initializers, inputs, names = [], [], [], []

    def define(name, type_, dims):
        content = random_tensor(choose, name, type_, dims)
        kind = choose.randrange(20)
        if kind == 0:
            inputs.append(files.value_info(name, type_, dims))
        elif kind == 1:
            value = files.message((1, "value"), (5, content), (20, 4))
            nodes.append(files.message((2, name), (4, "Constant"), (5, value)))
        else:
            initializers.append(content)
        if kind == 2:
            inputs.append(files.value_info(name, type_, dims))
        elif kind == 3 and choose.randrange(3) == 0:
            initializers.append(content)

    for i in range(choose.choice([1, 1, 2, 3, 5])):
        y = f"y{i}"
        dims = random_dims(choose)
        axis = choose.randrange(len(dims)) if dims else 0
        block = choose.choice([0, 0, 1, 2, 3, 16])
        x_type = choose.choice([2, 3, 5, 6, 17, 21, 22, 23, 25, 27, 28] * 4 + [7, 99])
        scale_dims = random_scale_dims(choose, dims, axis, block)
        scale, attributes = y + ".scale", {"axis": axis, "block_size": block}
        if choose.randrange(8) == 0:
            del attributes[choose.choice(["axis", "block_size"])]
        scale_type = choose.choice([1, 10, 16, 24] * 8 + [7])
        if choose.randrange(50) == 0:
            attributes["speed"] = 11
        if scale_type == 24 or choose.randrange(6) == 0:
            attributes["output_dtype"] = choose.choice([1, 10, 16] * 5 + [7])
        define(y + ".x", x_type, dims)
        if names and choose.randrange(3) == 0:
            scale = choose.choice(names + [y])
        else:
            define(scale, scale_type, scale_dims)
        operands = [y + ".x", scale]
        if choose.randrange(3) == 0:
            define(y + ".zero", x_type if choose.randrange(20) else 2, scale_dims)
            operands.append(y + ".zero")
        nodes.append(files.node(operands, [y] if choose.randrange(100) else [], attrs=files.attributes(**attributes),
                                domain=choose.choice([""] * 40 + ["ai.onnx", "com.microsoft", "my.domain"])))
        names.append(y)
    choose.shuffle(nodes)
    opsets = [files.opset(choose.choice([10, 21, 25, 26, 27, 28, 29] * 4 + [9]))] if choose.randrange(25) else []
    return files.wrap(files.graph(nodes, initializers, inputs), opsets, choose.choice([3, 10, 13, 14, 15]))


def damage(choose, content):
    content = bytearray(content)
    for _ in range(choose.choice([1, 1, 2, 4])):
        at = choose.randrange(len(content))
        action = choose.randrange(3)
        if action == 0:
            content[at] ^= 1 << choose.randrange(8)
        elif action == 1:
            content[at] = choose.randrange(256)
        else:
            content[at:at + 1] = b""
        if not content:
            return b"\0"
    return bytes(content)


def all_models(folders):
    """Paths of models, one after another."""
    paths = [path for folder in folders for path in glob.glob(f"{folder}/**/*.onnx", recursive=True)]
    for i, path in enumerate(sorted(paths)):
        shutil.copy(path, f"copy{i}.onnx")
    for path in glob.glob("*/x.bin") + [p for folder in folders for p in glob.glob(folder + "/*.bin")]:
        if not os.path.exists(os.path.basename(path)):
            shutil.copy(path, ".")
    known = sorted(p for p in glob.glob("*.onnx") if os.path.getsize(p) < 1 << 20)
    yield from known
    small = [p for p in known if 0 < os.path.getsize(p) < 8192]
    choose = random.Random(15)
    for i in range(RANDOM_MODELS + DAMAGED_MODELS):
        path = f"random{i}.onnx"
        if i < RANDOM_MODELS:
            content = random_model(choose)
        else:
            with open(choose.choice(small), "rb") as file:
                content = damage(choose, file.read())
        with open(path, "wb") as file:
            file.write(content)
        yield path
        os.unlink(path)


def main(folders):
    failures = models = 0
    for path in all_models(folders):
        models += 1
        try:
            compare(path)
            compare(path, "--constant-inputs")
            compare_run(path)
        except Failure as failure:
            failures += 1
            print("FAIL ", failure)
            shutil.copy(path, KEPT)
    print(f"{models - failures} models agree, {failures} don't" + (f": they are in {KEPT}" if failures else ""))
    return failures > 0


if __name__ == "__main__":
    DQL = os.path.abspath(sys.argv[1])
    FOLDERS = [os.path.abspath(folder) for folder in sys.argv[2:]]
    KEPT = tempfile.mkdtemp(prefix="dql-agreement-")
    sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
    sys.dont_write_bytecode = True
    with tempfile.TemporaryDirectory() as work:
        os.chdir(work)
        import test_files as files  # writes its files here
        STATUS = main(FOLDERS)
        os.chdir("/")
    if not os.listdir(KEPT):
        os.rmdir(KEPT)
    sys.exit(STATUS)
