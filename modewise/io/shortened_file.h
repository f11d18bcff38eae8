#pragma once
// Handling of SIGBUS: a mapped file that another program truncates raises it at the first read of a missing
// page, and no exception can be thrown from there.

namespace modewise::io {

/// Installs a handler that ends the process with a message that names the file and the exit code of failed
/// reads (74). For programs only: a library leaves the signals of its process alone.
void end_at_shortened_files();

}  // namespace modewise::io
