#pragma once
#include <string>

#include "emplace/proto/saved_model.pb.h"

namespace emplace {

// The file of a SavedModel's folder, binary or text.
proto::SavedModel read_saved_model(const std::string& folder);

}  // namespace emplace
