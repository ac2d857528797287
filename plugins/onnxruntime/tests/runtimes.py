"""ONNX Runtime in two ways, alike for the tests and benchmarks: the Python module `onnxruntime`, and the C API of a
libonnxruntime.so by ctypes.

    runtime = open_runtime("module" or the path of a library, plugin's path)
    session = runtime.session(model's bytes, plugin=True, ...)
    session.run({"x": Tensor("float32", [2, 3], bytes)})  ->  [Tensor]   in the order of the model's outputs
    runtime.close()   unregisters the plug-in; sessions must be gone

An error of ONNX Runtime is a RuntimeProblem with its message.
"""
import ctypes
import glob
import json
import os
import re
import sys
import tempfile
from collections import namedtuple

sys.dont_write_bytecode = True
from onnx_models import output_names  # noqa: E402

PROVIDER = "DqlExecutionProvider"
REGISTRATION = "dql"

Tensor = namedtuple("Tensor", "type shape data")

# The types that tests feed and read: name: (number, which ONNX and the C API share, bytes)
TYPES = {"float32": (1, 4), "int64": (7, 8), "bool": (9, 1), "float16": (10, 2), "bfloat16": (16, 2)}


class RuntimeProblem(Exception):
    pass


def number_of_elements(shape):
    count = 1
    for dim in shape:
        count *= dim
    return count


class Profile:
    """A folder for a session's profile, and what it says."""
    def __init__(self):
        self.folder = tempfile.TemporaryDirectory()
        self.prefix = os.path.join(self.folder.name, "profile")

    def nodes(self):
        """[(operator, provider)], one for each time that a node was run."""
        (path,) = glob.glob(self.prefix + "*.json")
        with open(path, encoding="utf-8") as file:
            events = json.load(file)
        self.folder.cleanup()
        return [(e["args"]["op_name"], e["args"]["provider"]) for e in events
                if e.get("cat") == "Node" and e["name"].endswith("_kernel_time")]


# ---- the Python module ----

class ModuleSession:
    def __init__(self, module, session, names):
        self.module, self.session, self.names = module, session, names

    def run(self, feeds=None):
        import numpy
        kinds = {"float32": numpy.float32, "int64": numpy.int64, "bool": numpy.bool_, "float16": numpy.float16}
        values = {name: self.module.OrtValue.ortvalue_from_numpy(
            numpy.frombuffer(t.data, kinds[t.type]).reshape(t.shape)) for name, t in (feeds or {}).items()}
        try:
            outputs = self.session.run_with_ort_values(self.names, values)
        except Exception as error:  # the module's exceptions have no class in common
            raise RuntimeProblem(str(error)) from None
        return [self.read(value) for value in outputs]

    @staticmethod
    def read(value):
        name = re.fullmatch(r"tensor\((\w+)\)", value.data_type()).group(1)
        name, shape = {"float": "float32"}.get(name, name), list(value.shape())
        size = number_of_elements(shape) * TYPES[name][1]
        return Tensor(name, shape, ctypes.string_at(value.data_ptr(), size) if size else b"")

    def close(self):
        self.session = None


class ModuleRuntime:
    library = None

    def __init__(self, plugin):
        import onnxruntime
        self.module, self.version = onnxruntime, onnxruntime.__version__
        onnxruntime.set_default_logger_severity(4)
        try:
            onnxruntime.register_execution_provider_library(REGISTRATION, plugin)
        except Exception as error:
            raise RuntimeProblem(str(error)) from None
        (self.device,) = (d for d in onnxruntime.get_ep_devices() if d.ep_name == PROVIDER)

    def session(self, model, plugin=True, options=None, optimize=True, threads=1, save=None, profile=None, config=()):
        o = self.module.SessionOptions()
        o.log_severity_level = 4
        o.intra_op_num_threads = threads
        level = self.module.GraphOptimizationLevel
        o.graph_optimization_level = level.ORT_ENABLE_ALL if optimize else level.ORT_DISABLE_ALL
        if save:
            o.optimized_model_filepath = save
        if profile:
            o.enable_profiling, o.profile_file_prefix = True, profile.prefix
        for key, value in dict(config).items():
            o.add_session_config_entry(key, value)
        try:
            if plugin:
                o.add_provider_for_devices([self.device], options or {})
                session = self.module.InferenceSession(model, o, enable_fallback=False)
            else:
                session = self.module.InferenceSession(model, o, providers=["CPUExecutionProvider"])
        except Exception as error:
            raise RuntimeProblem(str(error)) from None
        return ModuleSession(self.module, session, output_names(model))

    def close(self):
        self.device = None
        self.module.unregister_execution_provider_library(REGISTRATION)


# ---- the C API ----

pointer, size_t, int64 = ctypes.c_void_p, ctypes.c_size_t, ctypes.c_int64
FATAL, ALL_OPTIMIZATIONS = 4, 99

# name: (slot in the table of functions, result, arguments)
FUNCTIONS = {
    "get_error_message": (2, ctypes.c_char_p, [pointer]),
    "create_env": (3, pointer, [ctypes.c_int, ctypes.c_char_p, pointer]),
    "create_session": (8, pointer, [pointer, ctypes.c_char_p, size_t, pointer, pointer]),
    "run": (9, pointer, [pointer, pointer, pointer, pointer, size_t, pointer, size_t, pointer]),
    "create_session_options": (10, pointer, [pointer]),
    "set_optimized_model_path": (11, pointer, [pointer, ctypes.c_char_p]),
    "enable_profiling": (14, pointer, [pointer, ctypes.c_char_p]),
    "set_log_severity": (22, pointer, [pointer, ctypes.c_int]),
    "set_optimization_level": (23, pointer, [pointer, ctypes.c_int]),
    "set_threads": (24, pointer, [pointer, ctypes.c_int]),
    "create_tensor": (49, pointer, [pointer, pointer, size_t, pointer, size_t, ctypes.c_int, pointer]),
    "get_tensor_data": (51, pointer, [pointer, pointer]),
    "create_cpu_memory_info": (69, pointer, [ctypes.c_int, ctypes.c_int, pointer]),
    "release_env": (92, None, [pointer]),
    "release_status": (93, None, [pointer]),
    "release_memory_info": (94, None, [pointer]),
    "release_session": (95, None, [pointer]),
    "release_value": (96, None, [pointer]),
    "release_session_options": (100, None, [pointer]),
    "add_config_entry": (130, pointer, [pointer, ctypes.c_char_p, ctypes.c_char_p]),
    "register_library": (301, pointer, [pointer, ctypes.c_char_p, ctypes.c_char_p]),
    "unregister_library": (302, pointer, [pointer, ctypes.c_char_p]),
    "get_devices": (303, pointer, [pointer, pointer, pointer]),
    "append_provider": (304, pointer, [pointer, pointer, pointer, size_t, pointer, pointer, size_t]),
    "get_device_provider": (312, ctypes.c_char_p, [pointer]),
    "get_type_and_shape": (414, pointer, [pointer, pointer, pointer, pointer]),
}


class Base(ctypes.Structure):
    _fields_ = [("get_api", ctypes.CFUNCTYPE(pointer, ctypes.c_uint32)),
                ("get_version", ctypes.CFUNCTYPE(ctypes.c_char_p))]


class Api:
    """The functions, as methods that raise a RuntimeProblem for a status; and `version`."""
    def __init__(self, library):
        get_base = ctypes.CDLL(library).OrtGetApiBase
        get_base.restype = ctypes.POINTER(Base)
        base = get_base().contents
        self.version = base.get_version().decode()
        minor = int(self.version.split(".")[1])
        table = ctypes.cast(base.get_api(min(minor, 24)), ctypes.POINTER(pointer))
        for name, (slot, result, arguments) in FUNCTIONS.items():
            if slot > 318 and minor < 24:
                continue
            function = ctypes.CFUNCTYPE(result, *arguments)(table[slot])
            setattr(self, name, self.checked(function) if result is pointer else function)

    def checked(self, function):
        def call(*arguments):
            status = function(*arguments)
            if status:
                message = self.get_error_message(status).decode(errors="replace")
                self.release_status(status)
                raise RuntimeProblem(message)
        return call


def out(kind=pointer):
    return kind()


def strings(items):
    return (ctypes.c_char_p * max(1, len(items)))(*[i.encode() for i in items])


class LibrarySession:
    def __init__(self, runtime, session, names):
        self.runtime, self.api, self.session, self.names = runtime, runtime.api, session, names

    def bind(self, tensor):
        value, data = out(), ctypes.create_string_buffer(tensor.data, max(1, len(tensor.data)))
        self.api.create_tensor(self.runtime.memory, data, len(tensor.data), (int64 * len(tensor.shape))(*tensor.shape),
                               len(tensor.shape), TYPES[tensor.type][0], ctypes.byref(value))
        return value, data

    def prepare(self, feeds=None):
        """A function that runs the session once and returns its outputs as a C array of values."""
        feeds = feeds or {}
        bound = [self.bind(t) for t in feeds.values()]
        inputs = (pointer * max(1, len(bound)))(*[v.value for v, _ in bound])
        input_names, names = strings(list(feeds)), strings(self.names)

        def run():
            outputs = (pointer * len(self.names))()
            self.api.run(self.session, None, input_names, inputs, len(bound), names, len(self.names), outputs)
            return outputs
        run.keep = bound
        return run

    def release(self, values):
        for value in values:
            self.api.release_value(value)

    def run(self, feeds=None):
        run = self.prepare(feeds)
        try:
            outputs = run()
            result = [self.read(value) for value in outputs]
            self.release(outputs)
        finally:
            self.release([value for value, _ in run.keep])
        return result

    def read(self, value):
        number, shape, rank, data = out(ctypes.c_int), out(ctypes.POINTER(int64)), out(size_t), out()
        self.api.get_type_and_shape(value, ctypes.byref(number), ctypes.byref(shape), ctypes.byref(rank))
        self.api.get_tensor_data(value, ctypes.byref(data))
        name = next(name for name, (n, _) in TYPES.items() if n == number.value)
        shape = shape[:rank.value] if rank.value else []
        size = number_of_elements(shape) * TYPES[name][1]
        return Tensor(name, shape, ctypes.string_at(data, size) if size else b"")

    def close(self):
        if self.session:
            self.api.release_session(self.session)
        self.session = None


class LibraryRuntime:
    def __init__(self, library, plugin):
        self.library, self.api = library, Api(library)
        api = self.api
        self.version = api.version
        self.env, self.memory = out(), out()
        api.create_env(FATAL, b"tests", ctypes.byref(self.env))
        api.create_cpu_memory_info(0, 0, ctypes.byref(self.memory))
        self.device = None
        if plugin:
            api.register_library(self.env, REGISTRATION.encode(), plugin.encode())
            self.device = self.find_device()

    def find_device(self):
        devices, count = out(ctypes.POINTER(pointer)), out(size_t)
        self.api.get_devices(self.env, ctypes.byref(devices), ctypes.byref(count))
        (device,) = (d for d in devices[:count.value] if self.api.get_device_provider(d) == PROVIDER.encode())
        return pointer(device)

    def session(self, model, plugin=True, options=None, optimize=True, threads=1, save=None, profile=None, config=()):
        api, o, session = self.api, out(), out()
        api.create_session_options(ctypes.byref(o))
        try:
            api.set_log_severity(o, FATAL)
            api.set_threads(o, threads)
            api.set_optimization_level(o, ALL_OPTIMIZATIONS if optimize else 0)
            if save:
                api.set_optimized_model_path(o, save.encode())
            if profile:
                api.enable_profiling(o, profile.prefix.encode())
            for key, value in dict(config).items():
                api.add_config_entry(o, key.encode(), value.encode())
            if plugin:
                options = options or {}
                api.append_provider(o, self.env, ctypes.byref(self.device), 1, strings(list(options)),
                                    strings(list(options.values())), len(options))
            api.create_session(self.env, model, len(model), o, ctypes.byref(session))
        finally:
            api.release_session_options(o)
        return LibrarySession(self, session, output_names(model))

    def close(self):
        if self.device:
            self.api.unregister_library(self.env, REGISTRATION.encode())
        self.api.release_memory_info(self.memory)
        self.api.release_env(self.env)


def open_runtime(name, plugin):
    """Unlike the module, a library may be opened without the plug-in: then `plugin` is None."""
    return ModuleRuntime(plugin) if name == "module" else LibraryRuntime(name, plugin)
