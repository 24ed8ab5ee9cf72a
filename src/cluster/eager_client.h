#pragma once
#include <memory>
#include <string>

#include "cluster/transport.h"
#include "session/remote_eager.h"

namespace emplace::cluster {

// The task called `name` at that address, for an eager engine. Waits until it is up.
std::shared_ptr<RemoteTask> remote_task(std::string name, const std::string& address,
                                        Transport& transport);

}  // namespace emplace::cluster
