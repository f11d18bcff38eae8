#pragma once
// Standard streams: of a program that was started with some of them closed, and reading stdin.

#include <string>

namespace modewise {

/// Call first in main. Otherwise the first opened file gets the number of a closed stream, and log lines land
/// in that file. Afterwards all three descriptors are open: reading a missing stdin and writing a missing
/// stdout still fail, a missing stderr discards its output.
void hold_standard_streams();

/// All bytes of stdin. Throws io with the system's reason, such as for a folder or a stdin that was closed;
/// std::cin ends there as if the text did.
std::string read_standard_input();

/// The text of a file, of stdin for "-", after a byte order mark. Throws io.
std::string read_text(const std::string& path);

}  // namespace modewise
