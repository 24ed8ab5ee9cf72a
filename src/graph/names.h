#pragma once
#include <string>
#include <string_view>
#include <unordered_map>

namespace emplace {

// The names a graph has given out, nodes' and scopes' alike, made unique as TensorFlow does:
// compared without regard to case, numbered `_1`, `_2`, … in the order of asking.
class NameTable {
 public:
  // `name` (a full one, with its scopes) or the first numbered form that is free. Without `mark`
  // the answer is what the next caller would get.
  std::string unique(std::string_view name, bool mark);
  // Takes a name that was chosen elsewhere.
  void mark(std::string_view name);

 private:
  std::unordered_map<std::string, int> used_;  // lower case -> the next number to try
};

// `[A-Za-z0-9.][A-Za-z0-9_.\/>-]*`; scopes within scopes may begin with any of these.
bool is_valid_node_name(std::string_view name);
bool is_valid_scope_name(std::string_view name);
// Throw InvalidArgument in TensorFlow's words.
void check_node_name(std::string_view name);
void check_scope_name(std::string_view name, bool at_root);

}  // namespace emplace
