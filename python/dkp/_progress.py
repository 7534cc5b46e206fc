"""Progress, in terminals and elsewhere."""

from __future__ import annotations

import sys
import time
from typing import Any

#: Seconds between lines, where a line can be written over and where it cannot.
_OVERWRITTEN, _APART = 0.2, 10.0


class Progress:
    """Tells on standard error how a fit is going on."""

    def __init__(self) -> None:
        self._over = sys.stderr.isatty() or "ipykernel" in sys.modules
        self._told = time.monotonic() if not self._over else 0.0
        self._written = False

    def __call__(self, event: dict[str, Any]) -> None:
        phase, what = event["phase"], event["what"]
        if phase in ("decided", "cold start"):
            self._line(what, stays=True)
            return
        last = phase == "train" and event["step"] == event["steps"]
        now = time.monotonic()
        if not last and now - self._told < (_OVERWRITTEN if self._over else _APART):
            return
        self._told = now
        name = f"{phase} {what}".strip()
        bound = "" if event["bound"] is None else f": bound {event['bound']:.4f} nats a row"
        self._line(f"{name} {event['step']} of {event['steps']}{bound}", stays=last or not self._over)

    def _line(self, text: str, *, stays: bool) -> None:
        begin = "\r\033[K" if self._over and self._written else ""
        sys.stderr.write(begin + text + ("\n" if stays else ""))
        sys.stderr.flush()
        self._written = not stays
