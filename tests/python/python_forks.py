"""Python processes that start in milliseconds, since a Python that has imported modewise forks them: scripts, and the processes of a
command as torchrun starts them. Tests of restarts and signals start torchrun itself."""

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
# A request is a line of JSON: a script, or the arguments of a command. The answer is the exit code of the first process that failed,
# or 0. Like torchrun the server then ends the others.
SERVER = """
import json, os, runpy, signal, sys, traceback
import modewise

def run(rank, asked):
    for number, file in ((0, "/dev/null"), (1, asked["stdout"]), (2, asked["stderr"])):
        os.dup2(os.open(file, os.O_RDWR | os.O_APPEND), number)
    signal.alarm(300)
    os.chdir(asked["folder"])
    os.environ.update(asked["environment"], RANK=str(rank), LOCAL_RANK=str(rank))
    code = 1
    try:
        if "script" in asked:
            exec(asked["script"], {"__name__": "__main__"})
            code = 0
        else:
            sys.argv = ["modewise", *asked["arguments"]]
            runpy.run_module("modewise", run_name="__main__")  # ends the process
    except BaseException:
        traceback.print_exc()
    sys.stdout.flush()
    os._exit(code)

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


def answer(asked):
    with tempfile.NamedTemporaryFile("r") as stdout, tempfile.NamedTemporaryFile("r") as stderr:
        started = server()
        started.stdin.write(json.dumps({"processes": 1, "folder": ".", "stdout": stdout.name, "stderr": stderr.name, **asked}) + "\n")
        started.stdin.flush()
        code = int(started.stdout.readline())
        return subprocess.CompletedProcess(asked, code, stdout.read(), stderr.read())


def run_script(script, **variables):
    """`python -c SCRIPT`, ended, with these variables of the environment; those that libraries read when they are loaded have no effect."""
    return answer({"script": script, "environment": variables})


def in_group(processes, *arguments, cwd="."):
    """`torchrun -m modewise ARGUMENTS` with this number of processes, ended."""
    size = str(processes)
    environment = {"WORLD_SIZE": size, "LOCAL_WORLD_SIZE": size, "MASTER_ADDR": "127.0.0.1", "MASTER_PORT": str(free_port()),
                   "TORCHELASTIC_RESTART_COUNT": "0"}  # fmt: skip
    return answer({"processes": processes, "arguments": [str(one) for one in arguments], "folder": str(cwd), "environment": environment})


def in_one_or_more(processes, *arguments):
    """As in_group; one process is the program by itself."""
    if processes > 1:
        return in_group(processes, *arguments)
    return subprocess.run([built("modewise"), *map(str, arguments)], capture_output=True, text=True, timeout=300, env=ENVIRONMENT)
