"""Exceptions of the tasks: the message is the program's error message, `exit_code` its exit code."""


class ModewiseError(Exception):
    """Any error of the tasks; `exit_code` is the exit code of the program for it."""

    exit_code = 1


class UsageError(ModewiseError, ValueError):
    """Unknown or incompatible arguments (2)."""

    exit_code = 2


class DataError(ModewiseError, ValueError):
    """Invalid data (65)."""

    exit_code = 65


class NoInputError(ModewiseError, FileNotFoundError):
    """A file or run does not exist or cannot be read (66)."""

    exit_code = 66


class InternalError(ModewiseError, RuntimeError):
    """A bug in modewise (70)."""

    exit_code = 70


class CannotCreateError(ModewiseError, FileExistsError):
    """The output exists already, or its parent folder does not (73)."""

    exit_code = 73


class ReadWriteError(ModewiseError, OSError):
    """A read or a write failed (74)."""

    exit_code = 74


class ConfigError(ModewiseError, ValueError):
    """An invalid setting, or one that does not fit the other settings or the data (78)."""

    exit_code = 78


class Stopped(KeyboardInterrupt):
    """The call was interrupted by SIGINT (130), or by SIGTERM (143) or SIGHUP (129) whose Python handler returned; a training
    has saved a checkpoint."""

    def __init__(self, signal: int, sentence: str) -> None:
        super().__init__(sentence)
        self.signal = signal
        self.exit_code = 128 + signal


KINDS: tuple[type[ModewiseError], ...] = (UsageError, DataError, NoInputError, InternalError, CannotCreateError,
                                          ReadWriteError, ConfigError)  # fmt: skip


def with_text(error: ModewiseError, text: str) -> ModewiseError:
    """The same exception with another sentence."""
    made = type(error)(text)
    made.exit_code = error.exit_code
    return made


def error_of(exit_code: int, sentence: str) -> ModewiseError:
    """The exception of an exit code."""
    for kind in KINDS:
        if kind.exit_code == exit_code:
            return kind(sentence)
    return ModewiseError(sentence)
