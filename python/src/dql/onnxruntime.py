"""dql in ONNX Runtime 1.24 and later: an execution provider that runs every DequantizeLinear node with dql.

    options = dql.onnxruntime.add_to(onnxruntime.SessionOptions())
    session = onnxruntime.InferenceSession("model.onnx", options)

`onnxruntime` is imported when a function needs it.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import onnxruntime

_LIBRARY = "dql"  # the name that ONNX Runtime knows the plug-in by
_PROVIDER = "DqlExecutionProvider"


def library_path() -> str:
    """The plug-in's absolute path, as register_execution_provider_library wants it."""
    library = Path(__file__).resolve().parent / "lib" / "libdql_onnxruntime.so"
    if not library.exists():
        raise FileNotFoundError(f"this dql was built without its plug-in for ONNX Runtime: no {library}")
    return str(library)


def add_to(
    session_options: onnxruntime.SessionOptions, *, isa: str = "auto", threads: bool = True
) -> onnxruntime.SessionOptions:
    """Gives dql the DequantizeLinear nodes of sessions made with these options.

    Registers the plug-in with ONNX Runtime, once a process. `isa` is one of dql.isas(), or "auto"; without `threads`,
    no tensor is cut for the session's threads. Returns the options. Raises RuntimeError where ONNX Runtime is older
    than 1.24. An isa that can't run here fails when the session is made.
    """
    import onnxruntime

    if not hasattr(onnxruntime, "get_ep_devices"):
        raise RuntimeError(f"dql needs ONNX Runtime 1.24 or later, this is {onnxruntime.__version__}")
    if not _devices():
        try:
            onnxruntime.register_execution_provider_library(_LIBRARY, library_path())
        except Exception as error:  # what ONNX Runtime raises has no public class
            version = onnxruntime.__version__
            raise RuntimeError(f"ONNX Runtime {version} does not take dql's plug-in: {error}") from error
    devices = _devices()
    if not devices:
        raise RuntimeError("ONNX Runtime has no device of dql's, though its plug-in is registered")
    session_options.add_provider_for_devices(devices[:1], {"isa": isa, "threads": "on" if threads else "off"})
    return session_options


def _devices() -> list[onnxruntime.OrtEpDevice]:
    import onnxruntime

    return [device for device in onnxruntime.get_ep_devices() if device.ep_name == _PROVIDER]
