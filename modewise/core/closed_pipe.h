#pragma once
// Broken pipes (SIGPIPE, EPIPE): the reader has exited, as in `modewise … | head`.

namespace modewise {

/// Call early in main: writing to a broken pipe then fails instead of ending the process. A broken stderr
/// only loses log lines.
void survive_closed_pipes();

/// For commands that save files: they finish their work although nobody reads stdout; the write to stdout
/// fails at the end.
void finish_without_reader();

/// Call after a write failed with EPIPE, before reporting it. Ends the process by SIGPIPE, as filters end, if
/// survive_closed_pipes() had prevented that. Returns after finish_without_reader(), if SIGPIPE was ignored
/// at the start, and in other programs that use the library.
void end_without_reader();

}  // namespace modewise
