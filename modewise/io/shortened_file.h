#pragma once
// Mapped files that another program cuts while they are read. The system answers the first touch of a page
// that is gone with SIGBUS, and no exception can be thrown from there.

namespace modewise::io {

/// From now on such a read ends the process with a sentence that names the file, and with the exit code of
/// failed reads (74). For programs: within another's process, a library leaves its signals alone.
void end_at_shortened_files();

}  // namespace modewise::io
