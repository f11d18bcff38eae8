"""Benchmark of greedy generation by a decoder of 110 M parameters: modewise's program and its language model in Python
against transformers' Llama, in one run.

One sequence, token by token with a KV cache, after a prompt of 16 tokens, with random weights of equal size (width 768, 12 layers, 12
heads, vocabulary 32,000, tied). Each token reads every weight once: "bound" is the time to read as many bytes at the rate at which
torch sums a tensor of that size and dtype, measured in the same process. Kinds alternate, each in a separate process; medians of
milliseconds per token, as Markdown.

    python benchmarks/generation.py [--build build] [--threads N] [--tokens 64]
"""

import argparse
import json
import os
import pathlib
import statistics
import subprocess
import sys
import tempfile
import time

import decoders

SIZES = {"width": 768, "layers": 12, "heads": 12, "hidden": 2048, "vocabulary": 32000}
KINDS = {"llama": "Llama, SDPA", "program": "`modewise generate`, full", "program-summary": "summary 0·32·32", "full": "Python, full",
         "summary": "summary 0·32·32"}  # fmt: skip
PRECISIONS = ("float32", "bf16")
PROMPT = 16


def peer(dtype):
    import transformers

    model = decoders.llama(SIZES).to(dtype).eval()
    cache = transformers.DynamicCache(config=model.config)

    def step(tokens):
        return model(tokens, past_key_values=cache, use_cache=True, logits_to_keep=1).logits[:, -1]

    return model, step


def own(kind, dtype):
    model = decoders.modewise(SIZES, kind, 2048).to(dtype).eval()
    caches = model.new_cache()
    return model, lambda tokens: model.step(tokens, caches)


def tokenizer_of(vocabulary):
    """A byte-level tokenizer.json with a name for every token."""
    plain = [*range(33, 127), *range(161, 173), *range(174, 256)]
    others = [byte for byte in range(256) if byte not in plain]
    letters = [chr(byte) if byte in plain else chr(256 + others.index(byte)) for byte in range(256)]
    names = [*letters, *(a + b for a in letters for b in letters)][:vocabulary]
    byte_level = {"type": "ByteLevel", "add_prefix_space": False, "trim_offsets": True, "use_regex": True}
    return {"version": "1.0", "added_tokens": [], "normalizer": None, "pre_tokenizer": byte_level, "decoder": byte_level,
            "model": {"type": "BPE", "vocab": {name: place for place, name in enumerate(names)}, "merges": []}}  # fmt: skip


def run_program(options):
    """Seconds per token of the program, with the peer's weights."""
    with tempfile.TemporaryDirectory() as folder:
        model, _ = peer(torch_type(options.precision))
        model.save_pretrained(folder)
        bound = seconds_to_read(model.parameters())
        del model
        tokenizer = pathlib.Path(folder) / "tokenizer.json"
        tokenizer.write_text(json.dumps(tokenizer_of(SIZES["vocabulary"])))
        command = [options.build / "bin" / "modewise", "generate", folder, "--prompt", "x" * PROMPT, "--ignore-eos", "--json", "--tokens",
                   str(options.tokens), "--temperature", "0", "--threads", str(options.threads), "--precision", options.precision]  # fmt: skip
        if options.case == "program-summary":
            command += ["--attention", "summary", "--fold", "0,32,32", "--window", "64"]
        said = json.loads(subprocess.run(command, check=True, capture_output=True, text=True).stdout)
    return {"seconds": [said["seconds"] / said["tokens"]], "bound": bound}


def torch_type(precision):
    import torch

    return torch.bfloat16 if precision == "bf16" else torch.float32


def seconds_to_read(parameters):
    """Seconds to read as many bytes as the parameters have."""
    import torch

    bytes_read = sum(p.numel() * p.element_size() for p in parameters)
    memory = torch.ones(bytes_read // 4)
    times = []
    for _ in range(5):
        start = time.perf_counter()
        memory.sum()
        times.append(time.perf_counter() - start)
    return statistics.median(times)


def case(options):
    """Child process: one kind and precision."""
    import torch

    torch.set_num_threads(options.threads)
    torch.manual_seed(0)
    if options.case.startswith("program"):
        return print(json.dumps(run_program(options)))
    dtype = torch_type(options.precision)
    model, step = peer(dtype) if options.case == "llama" else own(options.case, dtype)
    bound = seconds_to_read(model.parameters())
    seconds = []
    with torch.no_grad():
        tokens = step(torch.randint(0, SIZES["vocabulary"], (1, PROMPT))).argmax(-1, keepdim=True)
        for _ in range(options.tokens):
            start = time.perf_counter()
            tokens = step(tokens).argmax(-1, keepdim=True)
            seconds.append(time.perf_counter() - start)
    print(json.dumps({"seconds": seconds, "bound": bound}))


def run(options, kind, precision):
    package = pathlib.Path(__file__).resolve().parents[1] / "python"
    command = [sys.executable, __file__, "--case", kind, "--precision", precision, "--threads", str(options.threads),
               "--tokens", str(options.tokens)]  # fmt: skip
    environment = {**os.environ, "PYTHONPATH": str(package), "MODEWISE_BUILD": str(options.build.resolve())}
    return json.loads(subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True, env=environment).stdout)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--build", type=pathlib.Path, default=pathlib.Path(__file__).parent.parent / "build")
    parser.add_argument("--threads", type=int, default=os.cpu_count())
    parser.add_argument("--tokens", type=int, default=64)
    parser.add_argument("--rounds", type=int, default=2)
    parser.add_argument("--case", choices=KINDS, help=argparse.SUPPRESS)
    parser.add_argument("--precision", choices=PRECISIONS, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.case:
        return case(options)
    print(f"{options.threads} threads, medians of {options.rounds * options.tokens} tokens, for the program of {options.rounds} means of {options.tokens} tokens\n")
    print("| weights | bound ms | " + " | ".join(f"{name}: ms, × bound" for name in KINDS.values()) + " |")
    print("|---|---|" + "---|" * len(KINDS))
    for precision in PRECISIONS:
        seconds, bounds = {kind: [] for kind in KINDS}, []
        for _ in range(options.rounds):
            for kind in KINDS:
                found = run(options, kind, precision)
                seconds[kind] += found["seconds"]
                bounds.append(found["bound"])
        bound = statistics.median(bounds)
        cells = (f"{1e3 * statistics.median(times):.1f}, {statistics.median(times) / bound:.2f}×" for times in seconds.values())
        print(f"| {precision} | {1e3 * bound:.1f} | " + " | ".join(cells) + " |", flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
