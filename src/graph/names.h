#pragma once
#include <cstdint>
#include <deque>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

namespace emplace {

class Node;

// The names of a graph's nodes and scopes, made unique as TensorFlow does: compared without regard
// to case, numbered `_1`, `_2`, … in the order of asking. One flat table serves the numbering and
// the look-up of nodes, since building a large graph is mostly misses of the cache here.
class NameTable {
 public:
  // `name` (a full one, with its scopes), or the first numbered form of it that is free.
  std::string unique(std::string_view name) const;
  // Takes `given`, which unique(asked) has answered, for a scope or for a node of that name. A
  // name chosen elsewhere is its own `asked`.
  void take(std::string_view asked, std::string_view given);
  void take(std::string_view asked, Node* node);
  // The node of exactly that name; null if none.
  Node* find(std::string_view name) const;
  // Is the name, in any case, a node's or a scope's?
  bool is_taken(std::string_view name) const;
  // Forgets the nodes for which `gone` holds: slow, for what failed half-way.
  void drop(const std::function<bool(const Node*)>& gone);

 private:
  struct Entry {
    uint64_t hash = 0;         // of the name in lower case; 0: the slot is free
    std::string_view name;     // the node's own, or one of owned_
    Node* node = nullptr;      // null: a scope's
    uint32_t next_number = 1;  // to try when the name is asked for again
  };
  Entry* find_any_case(std::string_view name, uint64_t hash) const;
  Entry& insert(std::string_view name, uint64_t hash);
  void grow();

  mutable std::vector<Entry> slots_;
  size_t used_ = 0;
  std::deque<std::string> owned_;
};

// `[A-Za-z0-9.][A-Za-z0-9_.\/>-]*`; scopes within scopes may begin with any of these.
bool is_valid_node_name(std::string_view name);
bool is_valid_scope_name(std::string_view name);
// Throw InvalidArgument in TensorFlow's words.
void check_node_name(std::string_view name);
void check_scope_name(std::string_view name, bool at_root);

}  // namespace emplace
