"""Registers the plug-in in an ONNX Runtime that is too old: that must be refused, with a message that says so.

    refused.py LIBONNXRUNTIME.so PLUGIN
"""
import os
import sys

sys.dont_write_bytecode = True
from runtimes import LibraryRuntime, RuntimeProblem  # noqa: E402


def main(library, plugin):
    try:
        LibraryRuntime(library, os.path.abspath(plugin))
    except RuntimeProblem as problem:
        print(problem)
        return 0 if "needs ONNX Runtime 1.24 or later" in str(problem) else 1
    print("it is not refused")
    return 1


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
