"""Generation of text in this process; part of modewise.tasks."""

import os
from collections.abc import Sequence

from modewise._calls import PathLike, Result, call
from modewise.errors import error_of


def generate(
    model: PathLike,
    prompt: str = "",
    *,
    tokens: int = 256,
    temperature: float = 1.0,
    top_k: int = 0,
    top_p: float = 1.0,
    min_p: float = 0.0,
    repetition_penalty: float = 1.0,
    seed: int = 0,
    stop: str | Sequence[str] = (),
    ignore_eos: bool = False,
    verbosity: int = 0,
) -> Result:
    """Continues a text with a language model: the tokens of the program's `generate` with the same options.

    Parameters
    ----------
    model
        A run, or another model with a tokenizer, as of the program.
    prompt
        The beginning of the text; empty only if the tokenizer has a BOS token.
    tokens
        Maximum number of new tokens.
    temperature
        0: greedy decoding.
    top_k
        Only the k most probable tokens; 0: all.
    top_p
        Nucleus sampling: then the most probable tokens with this total probability.
    min_p
        Then the tokens with at least this share of the largest probability.
    repetition_penalty
        Above 1 against repetitions; 1: none.
    seed
        Seed of the random numbers; the same one gives the same text.
    stop
        Texts before which the generation ends.
    ignore_eos
        Whether the text continues after an end token.
    verbosity
        −1: errors only, 0: the program's default, 1, 2: more.

    Returns
    -------
    dict
        "text", the continuation without the stop text; "ids", its tokens; "stopped_by": "tokens", "mark" (an end token) or "stop text".

    Raises
    ------
    ModewiseError
        With the program's message and exit code: DataError, ConfigError, UsageError, NoInputError, …

    Examples
    --------
    >>> generate("runs/books", "Call me", temperature=0.8, seed=1)["text"]  # doctest: +SKIP
    """
    if tokens < 0:
        raise error_of(2, f"generate: the number of tokens must not be negative, got {tokens}")
    reply = call("generate", run=os.fspath(model), prompt=prompt, tokens=tokens, temperature=temperature, top_k=top_k, top_p=top_p, min_p=min_p,
                 repetition_penalty=repetition_penalty, seed=seed, stop=[stop] if isinstance(stop, str) else list(stop), ignore_eos=ignore_eos,
                 verbosity=verbosity)  # fmt: skip
    return dict(reply["result"])
