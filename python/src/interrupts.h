#pragma once

namespace emplace::python {

// Signals while Python's main thread is at work in the engine. A thread of ours notices work that
// lasts (20 ms) and puts itself before Python's handler of each signal: it asks the engine to look
// (set_look), which runs the program's own handlers on the main thread, as Python would.
// What they raise ends the work, and is raised where that was called. Short work costs a load.

// To be called by a thread that leaves Python for the engine.
void hear_signals();

// To be called while the module is imported.
void remember_main_thread();
// A child of fork has no such thread; it starts its own when needed.
void forget_watcher();


}  // namespace emplace::python
