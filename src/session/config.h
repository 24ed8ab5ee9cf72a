#pragma once
#include "emplace/proto/config.pb.h"
#include "emplace/session.h"

namespace emplace {

SessionOptions session_options(const proto::ConfigProto& config);
// What a server needs to know of a client's options.
void to_proto(const SessionOptions& options, proto::ConfigProto* out);

}  // namespace emplace
