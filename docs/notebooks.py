"""Run the notebooks of the documentation and store their outputs: ``python docs/notebooks.py``, by `make notebooks`.

``python docs/notebooks.py --check`` compares the stored outputs with new ones and changes nothing. It draws no
pictures, for which the extra `tools` has vl-convert.
"""

from __future__ import annotations

import base64
import difflib
import io
import json
import os
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

DOCS = Path(__file__).parent.resolve()
SCALE = 1.5
"""Pixels of a picture by pixel of its chart."""
KINDS = ("text/html", "text/plain")
"""Types of outputs that are stored, besides pictures."""


def run(notebook: dict[str, Any], *, pictures: bool = True) -> dict[str, Any]:
    """A copy of a notebook with new outputs; its cells run in a new shell, in an empty folder."""
    from IPython.core.interactiveshell import InteractiveShell

    shell = InteractiveShell.instance()
    shell.history_manager.enabled = False
    displayed: list[Any] = []
    shell.display_trap.hook = displayed.append
    cells = []
    before = Path.cwd()
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        try:
            for number, cell in enumerate(notebook["cells"], 1):
                new = cell | {"id": f"cell-{number}"}
                if cell["cell_type"] == "code":
                    displayed.clear()
                    new |= _executed(shell, cell, displayed, pictures)
                cells.append(new)
        finally:
            os.chdir(before)
    shell.reset()
    return notebook | {"cells": cells}


def _executed(shell: Any, cell: dict[str, Any], displayed: list[Any], pictures: bool) -> dict[str, Any]:
    """Number and outputs of a cell, which the shell adds to `displayed`."""
    from altair import TopLevelMixin
    from IPython.utils.capture import capture_output

    with capture_output(stderr=False, display=False) as captured:
        done = shell.run_cell("".join(cell["source"]), store_history=True)
    done.raise_error()
    outputs: list[dict[str, Any]] = []
    if captured.stdout:
        outputs.append({"name": "stdout", "output_type": "stream", "text": _lines(captured.stdout)})
    for value in displayed:
        if value is None:
            continue
        formats, _ = shell.display_formatter.format(value)
        is_chart = isinstance(value, TopLevelMixin)  # whose HTML has random names, and loads scripts from the network
        data: dict[str, Any] = {kind: _lines(formats[kind]) for kind in KINDS[is_chart:] if kind in formats}
        if is_chart and pictures:
            data["image/png"] = _picture(value)
        about = {"data": data, "execution_count": done.execution_count, "metadata": {}}
        outputs.append(about | {"output_type": "execute_result"})
    return {"execution_count": done.execution_count, "outputs": outputs}


def _picture(chart: Any) -> str:
    import vl_convert
    from PIL import Image

    picture = Image.open(io.BytesIO(vl_convert.vegalite_to_png(chart.to_json(), scale=SCALE)))
    small = io.BytesIO()
    picture.convert("RGB").quantize(64).save(small, "png", optimize=True)  # a tenth of the size
    return base64.b64encode(small.getvalue()).decode()


def _lines(text: str) -> list[str]:
    return text.splitlines(keepends=True)


def written(notebook: dict[str, Any]) -> str:
    """The file of a notebook."""
    return json.dumps(notebook, indent=1, ensure_ascii=False, sort_keys=True) + "\n"


def without_pictures(notebook: dict[str, Any]) -> dict[str, Any]:
    """The notebook without what :func:`run` leaves out where it draws no pictures."""
    copy: dict[str, Any] = json.loads(json.dumps(notebook))
    for cell in copy["cells"]:
        for output in cell.get("outputs", ()):
            output.get("data", {}).pop("image/png", None)
    return copy


def differences(path: Path) -> Iterator[str]:
    """Lines of the difference between the stored outputs of a notebook and new ones."""
    stored = json.loads(path.read_text("utf-8"))
    new = run(stored, pictures=False)
    files = [written(without_pictures(each)).splitlines() for each in (stored, new)]
    yield from difflib.unified_diff(*files, f"{path.name}, stored", f"{path.name}, new", lineterm="", n=1)


def main() -> None:
    """Run every notebook, or, with --check, compare."""
    os.environ["IPYTHONDIR"] = tempfile.mkdtemp()
    check = sys.argv[1:2] == ["--check"]
    paths = [Path(each).resolve() for each in sys.argv[1 + check :]] or sorted(DOCS.glob("*/*.ipynb"))
    different = False
    for path in paths:
        if check:
            for line in differences(path):
                different = True
                print(line)
        else:
            path.write_text(written(run(json.loads(path.read_text("utf-8")))), "utf-8")
    sys.exit(different)


if __name__ == "__main__":
    main()
