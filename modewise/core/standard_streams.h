#pragma once
// stdin, stdout and stderr of a program that was started without some of them.

namespace modewise {

/// To be called first in main. Where one of them is closed, the first file that is opened would get its
/// number, and what is logged would land in that file. Afterwards all three numbers are taken: reading the
/// missing stdin and writing the missing stdout fail as they did, the missing stderr takes everything and
/// keeps nothing.
void hold_standard_streams();

}  // namespace modewise
