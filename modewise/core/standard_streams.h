#pragma once
// Standard streams of a program that was started with some of stdin, stdout and stderr closed.

namespace modewise {

/// Call first in main. Otherwise the first opened file gets the number of a closed stream, and log lines land
/// in that file. Afterwards all three descriptors are open: reading a missing stdin and writing a missing
/// stdout still fail, a missing stderr discards its output.
void hold_standard_streams();

}  // namespace modewise
