"""Run one notebook in a process of its own: python -m analysis.report.worker SOURCE EXECUTED DATA OUT.

Exit status 0, or 1 with one sentence on standard output.
"""

import os
import sys
from pathlib import Path

import papermill
from papermill.exceptions import PapermillExecutionError

from analysis.report.names import PAGE


def execute(source: Path, executed: Path, data: str, out: str) -> str | None:
    """Run a notebook with the parameters data and out; None, or the sentence that says what failed."""
    os.environ[PAGE] = source.stem
    try:
        papermill.execute_notebook(
            source, executed, {"data": data, "out": out}, kernel_name="python3", progress_bar=False, log_output=False
        )
    except PapermillExecutionError as error:
        place = f"cell {error.cell_index}"  # papermill counts from 0 and has put one cell of its own before
        line = next((line.strip() for line in error.source.splitlines() if line.strip()), "")
        return f"{source.name}, {place} ({line[:80]}): {_last_line(error.ename, error.evalue)}"
    except Exception as error:
        return f"{source.name}: {_last_line(type(error).__name__, str(error))}"
    return None


def _last_line(name: str, message: str) -> str:
    lines = [line.strip() for line in message.splitlines() if line.strip()]
    return f"{name}: {lines[-1][:400]}" if lines else name


if __name__ == "__main__":
    failure = execute(Path(sys.argv[1]), Path(sys.argv[2]), sys.argv[3], sys.argv[4])
    if failure is not None:
        print(failure)
        sys.exit(1)
