#pragma once
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "emplace/proto/graph.pb.h"

namespace emplace::cluster {

// What those may do who are not the server's own user on its machine.
struct PeerRules {
  std::vector<std::string> folders = {};     // files below these alone
  std::vector<std::string> operations = {};  // of those that run code of this process's, these
};

// An operation that touches files: the inputs and the attributes that name them.
struct FileOp {
  std::string_view op;
  std::vector<int> inputs = {};
  std::vector<std::string_view> attributes = {};
  bool names_come_later = false;  // from a queue: the kernel looks at them
};
std::span<const FileOp> file_ops();
// Operations that run code of the process's, which is no graph.
std::span<const std::string_view> code_ops();

// Puts a check before every name of a file, in function bodies too. `device`: where the checks run.
// Throws PermissionDenied for what is not allowed at all.
void confine(proto::GraphDef& graph, const PeerRules& rules, const std::string& device);

}  // namespace emplace::cluster
