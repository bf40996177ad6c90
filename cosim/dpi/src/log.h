// log.h: what the model prints, also kept for the report of a failure.
#pragma once

#include <string>

namespace nicloop {

// From now on stdout goes to a descriptor line by line and its last line is kept.
// printf of the Verilated code is caught too. A negative descriptor: only the last line is kept.
void tee_stdout(int descriptor);

// Ends that; stdout is null then.
void end_tee();

// The last whole line that was printed since the last call.
std::string take_last_line();

}  // namespace nicloop
