"""`python -m modewise …` is the program `modewise …`; under torchrun its processes train one model together,
`sweep --launcher ray` hands the runs of a sweep to Ray, and `--cmake-dir` prints the folder for CMake's `modewise_DIR`."""

import datetime
import os
import signal
import sys

import torch
import torch.distributed as dist
from torch._C._distributed_c10d import PrefixStore
from torch.distributed.rendezvous import rendezvous

from modewise import ray_sweep
from modewise._native import PACKAGE, PROGRAM, library_path, load_library


def replace_process() -> None:
    """Replaces this process by the program."""
    os.environ["LD_LIBRARY_PATH"] = library_path()
    signal.signal(signal.SIGPIPE, signal.SIG_DFL)  # Python ignores it, and the program would inherit that
    os.execv(PROGRAM, [PROGRAM, *sys.argv[1:]])


def join_group() -> str:
    """Joins the process group of torchrun's variables -> its name. The store keeps the keys of processes before a restart, so
    each start has a prefix of its own: Gloo would wait for the addresses of dead processes. A process that is killed while it
    connects keeps the others waiting half a minute (five times the timeout).
    """
    store, rank, size = next(rendezvous("env://"))
    start = PrefixStore(f"modewise_{os.environ.get('TORCHELASTIC_RESTART_COUNT', '0')}", store)
    start.set(f"here_{rank}", "")
    start.wait([f"here_{other}" for other in range(size)], datetime.timedelta(minutes=5))
    backend = "cpu:gloo,cuda:nccl" if torch.cuda.is_available() and dist.is_nccl_available() else "gloo"
    dist.init_process_group(backend, store=start, rank=rank, world_size=size, timeout=datetime.timedelta(seconds=6))
    group = dist.group.WORLD
    assert group is not None
    return group.group_name


def run_in_group() -> None:
    """Runs the program in this process, a member of a group; ends with its exit code."""
    load_library("modewise_python")
    try:
        code: int = torch.ops.modewise_tasks.run(sys.argv[1:], join_group())
    except (RuntimeError, ValueError) as error:
        print(f"error: {str(error).splitlines()[0]}", file=sys.stderr)
        code = 1
    sys.stdout.flush()
    # Skips the shutdown of the group, which would wait for a member that has failed.
    os._exit(code)


def cmake_folder() -> str:
    """The folder of modewiseConfig.cmake; ends with an error in a clone, which has none."""
    folder = PACKAGE / "lib" / "cmake" / "modewise"
    if not (folder / "modewiseConfig.cmake").is_file():
        sys.exit(f"error: {folder} has no modewiseConfig.cmake: install a wheel, or in a clone `cmake --install build --prefix P`, and use P/lib/cmake/modewise")
    return str(folder)


if sys.argv[1:] == ["--cmake-dir"]:
    print(cmake_folder())
elif int(os.environ.get("WORLD_SIZE", "1")) > 1 and "RANK" in os.environ:
    run_in_group()
elif ray_sweep.wanted(sys.argv[1:]):
    sys.exit(ray_sweep.main(sys.argv[1:]))
else:
    replace_process()
