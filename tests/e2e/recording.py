"""Recordings, as `recorder.py` writes them: one JSON document per line."""

import gzip
import json


def read_recording(path):
    """The documents of a recording, compressed or not. The last line of one that goes on may be half written."""
    opener = gzip.open if str(path).endswith(".gz") else open
    with opener(path, "rt", encoding="utf-8") as file:
        for line in file:
            if line.endswith("\n"):
                yield json.loads(line)
