"""What goes wrong, as exceptions: the message is the program's sentence, `exit_code` its exit code."""


class ModewiseError(Exception):
    """Any error of the tasks; `exit_code` is what the program would end with."""

    exit_code = 1


class UsageError(ModewiseError, ValueError):
    """Arguments that do not go together, or that no command has (2)."""

    exit_code = 2


class DataError(ModewiseError, ValueError):
    """The content of the data is wrong (65)."""

    exit_code = 65


class NoInputError(ModewiseError, FileNotFoundError):
    """A file or run is not there or cannot be read (66)."""

    exit_code = 66


class InternalError(ModewiseError, RuntimeError):
    """A mistake of modewise itself (70)."""

    exit_code = 70


class CannotCreateError(ModewiseError, FileExistsError):
    """What was to be made is there already, or its folder is not (73)."""

    exit_code = 73


class ReadWriteError(ModewiseError, OSError):
    """A read or a write failed (74)."""

    exit_code = 74


class ConfigError(ModewiseError, ValueError):
    """A setting is wrong, or does not fit the others or the data (78)."""

    exit_code = 78


class Stopped(KeyboardInterrupt):
    """SIGINT (130) stopped the work, or SIGTERM (143) or SIGHUP (129), whose handler in Python ran before and returned; a
    training saved a checkpoint before."""

    def __init__(self, signal: int, sentence: str) -> None:
        super().__init__(sentence)
        self.signal = signal
        self.exit_code = 128 + signal


KINDS: tuple[type[ModewiseError], ...] = (UsageError, DataError, NoInputError, InternalError, CannotCreateError,
                                          ReadWriteError, ConfigError)  # fmt: skip


def error_of(exit_code: int, sentence: str) -> ModewiseError:
    """The exception of an exit code."""
    for kind in KINDS:
        if kind.exit_code == exit_code:
            return kind(sentence)
    return ModewiseError(sentence)
