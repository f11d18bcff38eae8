#pragma once
// Pipes whose reader has gone (SIGPIPE, EPIPE), such as stdout in `modewise … | head`.

namespace modewise {

/// To be called early in main: writing to such a pipe then fails instead of ending the process at once. So a
/// closed stderr ends nothing: what is logged is lost.
void survive_closed_pipes();

/// For work that saves files: it is finished although nobody reads its stdout, and that write fails at the
/// end.
void finish_without_reader();

/// To be called when a write has failed with EPIPE, before that is reported. Ends the process by SIGPIPE, as
/// a filter ends, where survive_closed_pipes() prevented that; returns after finish_without_reader(), where
/// SIGPIPE was ignored at the start, and in other programs that use the library.
void end_without_reader();

}  // namespace modewise
