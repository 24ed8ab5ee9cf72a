#pragma once
#include <memory>

#include "cluster/methods.h"
#include "cluster/task.h"
#include "cluster/transport.h"

namespace emplace::cluster {

// Answers a call of another task's; what may wait runs on the task's threads. False when there is no
// such method.
bool serve_task(Task& task, const std::shared_ptr<IncomingCall>& call);

// An error as a call's text: what is known of it beside code and words is put behind them, so that
// `unpacked` has it again. One that has nothing of it is the transport's own: it names the task.
Error packed(const Error& error);
Error unpacked(const Error& error, const std::string& task);

}  // namespace emplace::cluster
