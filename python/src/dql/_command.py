"""The `dql` command, as the console script that pip installs."""

import os
import sys
from pathlib import Path
from typing import NoReturn


def path() -> str:
    """Where the command is. Raises FileNotFoundError if this package was built without it."""
    command = Path(__file__).resolve().parent / "bin" / "dql"
    if not command.exists():
        raise FileNotFoundError(f"this dql was built without its command: no {command}")
    return str(command)


def main() -> NoReturn:
    """Becomes the command."""
    try:
        os.execv(path(), sys.argv)
    except OSError as error:
        sys.exit(f"dql: {error}")
