"""Writes events.json: events as serialized by TensorBoard's protobuf messages, framed by its record writer.

    python tests/io/vectors/make_event_vectors.py   (needs tensorboard)
"""

import io
import json
import pathlib

from tensorboard.compat.proto import event_pb2, summary_pb2
from tensorboard.summary.writer.record_writer import RecordWriter

PNG = bytes(range(200)) + b"\0\xff"  # longer than 127 bytes, so that its length takes two bytes


def record(event):
    out = io.BytesIO()
    RecordWriter(out).write(event.SerializeToString())
    return out.getvalue().hex()


def summary(time, step, values):
    return event_pb2.Event(wall_time=time, step=step, summary=summary_pb2.Summary(value=[
        summary_pb2.Summary.Value(tag=tag, simple_value=value) if isinstance(value, float) else
        summary_pb2.Summary.Value(tag=tag, image=summary_pb2.Summary.Image(
            height=value[1], width=value[0], colorspace=3, encoded_image_string=PNG))
        for tag, value in values]))


numbers = [
    {"time": 1700000000.25, "step": 0, "values": [["train/loss", 0.1]]},
    {"time": 1.5, "step": 127, "values": [["a", 0.0], ["b/ü", -2.5e-30], ["c", 1e39]]},
    {"time": 3.0, "step": 1 << 40, "values": [["nothing", float("nan")], ["picture", [300, 7]], ["e", 3.0]]},
    {"time": 4.0, "step": 128, "values": []},
]
for one in numbers:
    event = summary(one["time"], one["step"], one["values"])
    one["record"] = record(event)
    one["values"] = [[tag, "nan" if value != value else value] for tag, value in one["values"]]
start = event_pb2.Event(wall_time=2.5, step=301, session_log=event_pb2.SessionLog(status=event_pb2.SessionLog.START))
vectors = {
    "png": PNG.hex(),
    "version": {"time": 12.125, "record": record(event_pb2.Event(wall_time=12.125, file_version="brain.Event:2"))},
    "start": {"time": 2.5, "step": 301, "record": record(start)},
    "summaries": numbers,
}
(pathlib.Path(__file__).parent / "events.json").write_text(json.dumps(vectors, indent=1, ensure_ascii=False) + "\n")
