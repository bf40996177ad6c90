// log.h: what the model prints, also kept for the report of a failure.
#pragma once

#include <string>

namespace nicloop {

// From now on stdout goes to descriptor 1 line by line and its last line is kept.
// printf of the Verilated code is caught too.
void tee_stdout();

// The last whole line that was printed since the last call.
std::string take_last_line();

}  // namespace nicloop
