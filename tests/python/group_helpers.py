"""Commands in several processes, as torchrun starts them: a Python that has imported torch forks each process, so that it starts in
milliseconds. Tests of restarts and signals start torchrun itself."""

import atexit
import functools
import json
import os
import socket
import subprocess
import sys
import tempfile

from programs import BUILD, ROOT, built

ENVIRONMENT = {**os.environ, "PYTHONPATH": str(ROOT / "python"), "MODEWISE_BUILD": str(BUILD), "OMP_NUM_THREADS": "1",
               "OMP_WAIT_POLICY": "passive"}  # fmt: skip
# Answers a request, a line of JSON, with the exit code of the first process that failed, or 0. Like torchrun it then ends the others.
SERVER = """
import json, os, runpy, signal, sys, traceback
import modewise

def run(rank, asked):
    for number, file in ((0, "/dev/null"), (1, asked["stdout"]), (2, asked["stderr"])):
        os.dup2(os.open(file, os.O_RDWR | os.O_APPEND), number)
    signal.alarm(300)
    os.chdir(asked["folder"])
    os.environ.update(asked["environment"], RANK=str(rank), LOCAL_RANK=str(rank))
    sys.argv = ["modewise", *asked["arguments"]]
    try:
        runpy.run_module("modewise", run_name="__main__")
    except BaseException:
        traceback.print_exc()
    os._exit(1)  # the program ends the process itself

for line in sys.stdin:
    asked = json.loads(line)
    running, code = set(), 0
    for rank in range(asked["processes"]):
        child = os.fork()
        if child == 0:
            run(rank, asked)
        running.add(child)
    while running:
        child, status = os.wait()
        running.discard(child)
        if status and not code:
            code = os.waitstatus_to_exitcode(status)
            for other in running:
                os.kill(other, signal.SIGTERM)
    print(code, flush=True)
"""


@functools.cache
def server():
    started = subprocess.Popen([sys.executable, "-c", SERVER], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, env=ENVIRONMENT)
    atexit.register(lambda: (started.stdin.close(), started.wait(timeout=10)))
    return started


def free_port():
    with socket.socket() as found:
        found.bind(("127.0.0.1", 0))
        return found.getsockname()[1]


def in_group(processes, *arguments, cwd="."):
    """`torchrun -m modewise ARGUMENTS` with this number of processes, ended."""
    with tempfile.NamedTemporaryFile("r") as stdout, tempfile.NamedTemporaryFile("r") as stderr:
        size = str(processes)
        environment = {"WORLD_SIZE": size, "LOCAL_WORLD_SIZE": size, "MASTER_ADDR": "127.0.0.1", "MASTER_PORT": str(free_port()),
                       "TORCHELASTIC_RESTART_COUNT": "0"}  # fmt: skip
        asked = {"processes": processes, "arguments": [str(one) for one in arguments], "folder": str(cwd), "environment": environment,
                 "stdout": stdout.name, "stderr": stderr.name}  # fmt: skip
        started = server()
        started.stdin.write(json.dumps(asked) + "\n")
        started.stdin.flush()
        code = int(started.stdout.readline())
        return subprocess.CompletedProcess(asked["arguments"], code, stdout.read(), stderr.read())


def in_one_or_more(processes, *arguments):
    """As in_group; one process is the program by itself."""
    if processes > 1:
        return in_group(processes, *arguments)
    return subprocess.run([built("modewise"), *map(str, arguments)], capture_output=True, text=True, timeout=300, env=ENVIRONMENT)
