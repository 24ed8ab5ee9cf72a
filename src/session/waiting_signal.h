#pragma once

namespace emplace {

// Where EMPLACE_WAITING_SIGNAL names a signal, USR1 or USR2: from the first session or operation on, whoever sends it to
// the process has it say on stderr who waits for what in all of its work. Elsewhere it changes nothing: no handler is
// installed, no thread started. Any number of calls, from any thread.
void heed_waiting_signal();

}  // namespace emplace
