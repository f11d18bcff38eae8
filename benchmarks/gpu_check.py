"""What modewise does on a CUDA device: operators and tasks against the CPU, the demo, and times beside torch's attention.

    MODEWISE_PYTHON=/path/of/a/python/with/a/CUDA/torch ./dev gpu [--minutes 60] [--parts operators tasks demo times]

Writes a report in Markdown after each part, to attach to a bug report. A test that takes too long, or ends its process, is
named, and the tests after it run. The exit status is 1 if a comparison failed or a part did not end, 2 without a CUDA device.
"""

import argparse
import collections
import importlib.util
import json
import os
import pathlib
import platform
import signal
import subprocess
import sys
import tempfile
import time

ROOT = pathlib.Path(__file__).resolve().parent.parent
EVENTS = "GPU_CHECK_EVENTS"  # file of the events of a pytest process, of which this module is a plugin
NEEDED = ("torch", "numpy", "pytest", "pandas", "safetensors", "rasterio")
LOOK = """
import importlib.metadata, json, torch
triton = [d.version for d in importlib.metadata.distributions() if d.metadata["Name"] == "triton"]
print(json.dumps({"torch": torch.__version__, "CUDA": torch.version.cuda, "triton": triton[0] if triton else "none", "devices": [
    f"{p.name}, {p.total_memory / 2**30:.0f} GiB, compute capability {p.major}.{p.minor}"
    for p in map(torch.cuda.get_device_properties, range(torch.cuda.device_count()))]}))
"""


def write_event(**event):
    with open(os.environ[EVENTS], "a") as file:
        file.write(json.dumps(event) + "\n")


def pytest_collection_finish(session):
    write_event(collected=[item.nodeid for item in session.items])


def pytest_collectreport(report):
    if report.failed:
        write_event(test=report.nodeid, outcome="failed", text=report.longreprtext)


def pytest_runtest_logstart(nodeid, location):
    write_event(begun=nodeid)


def pytest_runtest_logreport(report):
    if report.when == "call" or report.outcome != "passed":
        text = report.longrepr[-1] if report.skipped and isinstance(report.longrepr, tuple) else report.longreprtext
        write_event(test=report.nodeid, outcome=report.outcome, text=text)
    if report.when == "teardown":
        write_event(ended=report.nodeid)


def run(command, seconds, env=None, stalled=lambda: False):
    """(exit status or None if it was ended after so many seconds or when stalled, its output, its errors)."""
    with tempfile.TemporaryFile("w+") as out, tempfile.TemporaryFile("w+") as err:
        end = time.monotonic() + seconds
        child = subprocess.Popen(command, stdout=out, stderr=err, text=True, env={**os.environ, **(env or {})}, start_new_session=True)
        try:
            while child.poll() is None and time.monotonic() < end and not stalled():
                time.sleep(0.1)
            status = child.poll()
        finally:
            try:
                os.killpg(child.pid, signal.SIGKILL)  # with what it started
            except ProcessLookupError:
                pass
            child.wait()
        out.seek(0), err.seek(0)
        return status, out.read(), err.read()


def commit():
    status, text, _ = run(["git", "-C", str(ROOT), "describe", "--always", "--dirty", "--abbrev=12"], 20)
    return text.strip() if status == 0 else "unknown"


def processor():
    try:
        with open("/proc/cpuinfo") as lines:
            name = next(line.partition(":")[2].strip() for line in lines if line.startswith("model name"))
    except (OSError, StopIteration):
        name = platform.processor() or platform.machine()
    return f"{name}, {os.cpu_count()} cores"


def machine():
    """Lines of the report: versions, devices, driver, CPU, commit. Ends this program with a sentence without a CUDA device."""
    missing = [name for name in NEEDED if importlib.util.find_spec(name) is None]
    if missing:
        stop(f"{sys.executable} has no {', '.join(missing)}: {sys.executable} -m pip install {' '.join(missing)}")
    status, out, err = run([sys.executable, "-c", LOOK], 120)
    if status != 0:
        stop(f"torch cannot be asked for its devices: {(err.strip().splitlines() or ['no answer in 120 s'])[-1]}")
    found = json.loads(out)
    if not found["devices"]:
        stop(f"torch {found['torch']} finds no CUDA device; give a Python with a CUDA build of torch in MODEWISE_PYTHON, on a machine with a GPU")
    try:
        driver = run(["nvidia-smi", "--query-gpu=driver_version", "--format=csv,noheader"], 30)[1].split()
    except FileNotFoundError:
        driver = []
    return [f"torch {found['torch']}, CUDA {found['CUDA']}, triton {found['triton']}, Python {platform.python_version()}",
            *(f"cuda:{i}: {text}" for i, text in enumerate(found["devices"])), f"driver {driver[0] if driver else 'unknown'}",
            f"CPU {processor()}", f"commit {commit()}", time.strftime("%Y-%m-%d %H:%M UTC", time.gmtime())]  # fmt: skip


def stop(sentence):
    print(f"gpu_check: {sentence}", file=sys.stderr)
    sys.exit(2)


def tests(path, seconds, test_seconds, env):
    """(all passed, summary, lines) of a file of tests, in as many processes as are ended by a test."""
    end, results, texts, wanted, outside = time.monotonic() + seconds, {}, {}, None, ""
    with tempfile.TemporaryDirectory() as folder:
        while (left := end - time.monotonic()) > 0 and wanted != []:
            events = pathlib.Path(folder, "events")
            events.unlink(missing_ok=True)
            events.touch()
            targets = [f"{path}::{name.partition('::')[2]}" for name in wanted or []] or [str(path)]
            command = [sys.executable, "-m", "pytest", "-q", "-p", "gpu_check", "-p", "no:cacheprovider", "--tb=short", *targets]
            status, out, err = run(command, left, {**env, EVENTS: str(events), "PYTHONPATH": str(pathlib.Path(__file__).parent)},
                                   lambda: events.stat().st_size > 0 and time.time() - events.stat().st_mtime > test_seconds)  # fmt: skip
            begun = None
            for event in map(json.loads, events.read_text().splitlines()):
                if "collected" in event and wanted is None:
                    wanted = event["collected"]
                begun = event.get("begun", None if event.get("ended") else begun)
                if "test" in event:
                    results[event["test"]], texts[event["test"]] = event["outcome"], event["text"]
            if begun is None:
                outside = "" if status in (0, 1) else f"pytest: {'did not end' if status is None else f'exit {status}'}\n{out[-2000:]}{err[-2000:]}"
                break
            results[begun] = f"did not end in {min(left, test_seconds):.0f} s" if status is None else f"ended its process (exit {status})"
            texts[begun] = err[-2000:]
            wanted = [name for name in wanted if name not in results]
    results |= {name: "not run" for name in wanted or [] if name not in results}
    counts = collections.Counter("ended its process" if text.startswith("ended") else "did not end" if text.startswith("did") else text for text in results.values())
    bad = {name: text for name, text in results.items() if text not in ("passed", "skipped")}
    lines = [f"- {text}: `{name}`" for name, text in bad.items()]
    lines += [f"- skipped, {count}: {reason}" for reason, count in collections.Counter(texts[n] for n, t in results.items() if t == "skipped").items()]
    shown = [f"{name}\n{texts[name][-3000:]}" for name in bad if texts.get(name)][:20]
    if outside:
        shown.append(outside)
    lines += ["", "```", "\n\n".join(shown), "```"] if shown else []
    return not bad and not outside and bool(results), ", ".join(f"{count} {text}" for text, count in counts.items()) or "no test ran", lines


def ended(status, seconds):
    return f"did not end in {seconds:.0f} s" if status is None else f"exit {status}"


def demo(options, seconds):
    with tempfile.TemporaryDirectory() as folder:
        began = time.monotonic()
        status, _, err = run([str(options.build / "bin" / "modewise"), "demo", "--device", "cuda", "--out", folder + "/demo"], seconds)
    return status == 0, f"{ended(status, seconds)} after {time.monotonic() - began:.0f} s", [] if status == 0 else ["```", *err.splitlines()[-20:], "```"]


def times(options, seconds):
    """The tables of gpu_times.py, as far as they came."""
    status, out, err = run([sys.executable, str(ROOT / "benchmarks" / "gpu_times.py")], seconds)
    return status == 0, ended(status, seconds), [*out.splitlines(), *([] if status == 0 else ["```", *err.splitlines()[-20:], "```"])]


def tests_of(name):
    def part(options, seconds):
        env = {"MODEWISE_TEST_DEVICE": "cuda", "MODEWISE_BUILD": str(options.build)}
        return tests(ROOT / "tests" / "python" / name, seconds, options.test_seconds, env)
    return part


# Parts of the report: name, function of (options, seconds left) that gives (good, summary, lines), and its limit in minutes.
PARTS = [("operators", tests_of("on_a_device.py"), 20), ("tasks", tests_of("test_device_option.py"), 30), ("demo", demo, 10), ("times", times, 20)]


def report(options, about, parts):
    """Runs the parts and writes the report after each. Whether all were good."""
    end, lines, passed = time.monotonic() + 60 * options.minutes, ["# modewise on a GPU", "", *(f"- {line}" for line in about), ""], True
    for name, part, minutes in parts:
        seconds = min(60 * minutes, end - time.monotonic())
        print(f"gpu_check: {name}, at most {max(seconds, 0) / 60:.0f} minutes", file=sys.stderr)
        try:
            good, summary, more = part(options, seconds) if seconds > 0 else (False, f"not run: {options.minutes} minutes were over", [])
        except Exception as error:  # noqa: BLE001 — a part must not end the report
            good, summary, more = False, f"{type(error).__name__}: {error}", []
        passed = passed and good
        lines += [f"## {name}: {summary}", "", *more, ""]
        options.out.write_text("\n".join(lines) + "\n")
    return passed


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--build", type=pathlib.Path, default=ROOT / "build")
    parser.add_argument("--out", type=pathlib.Path, default=ROOT / "build" / "gpu-report.md")
    parser.add_argument("--parts", nargs="+", choices=[name for name, _, _ in PARTS], default=[name for name, _, _ in PARTS])
    parser.add_argument("--minutes", type=float, default=60, help="limit of all parts (default 60)")
    parser.add_argument("--test-seconds", type=float, default=300, help="limit of one test (default 300)")
    parser.add_argument("--look", action="store_true", help="only name the devices")
    options = parser.parse_args()
    about = machine()
    if options.look:
        return print("\n".join(about))
    passed = report(options, about, [part for part in PARTS if part[0] in options.parts])
    print(options.out.read_text())
    print(f"report: {options.out}", file=sys.stderr)
    sys.exit(0 if passed else 1)


if __name__ == "__main__":
    main()
