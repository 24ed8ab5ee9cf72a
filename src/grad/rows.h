#pragma once
#include <functional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "emplace/ops.h"
#include "grad/build.h"

namespace emplace::grad {

// A node that the backward pass goes over, with what came back to each of its outputs.
struct Forward {
  Node& node;
  std::span<Gradient> grads;  // empty where nothing did

  Output x(int i = 0) const { return node.inputs()[i]; }
  Output y(int i = 0) const { return node.output(i); }
  Output dy(int i = 0) const;       // as a tensor; zeros stand for nothing
  std::vector<Output> dys() const;  // all of them
  int num_inputs() const { return static_cast<int>(node.inputs().size()); }
  template <class T>
  const T& attr(std::string_view name) const {
    return node.attr(name)->as<T>();
  }
  AttrList attrs(std::span<const std::string_view> names) const;  // a copy of these
  AttrList attrs(std::initializer_list<std::string_view> names) const {
    return attrs(std::span(names.begin(), names.size()));
  }
};

// What goes on to each input; an empty one, or a missing one at the end, is nothing.
struct Back : std::vector<Gradient> {
  using std::vector<Gradient>::vector;
  Back(const std::vector<Output>& tensors) : vector(tensors.begin(), tensors.end()) {}
};
using Row = std::function<Back(const Forward&)>;

// Which row goes back over which operation. Filled once, by the functions below.
class Rows {
 public:
  void add(std::initializer_list<const char*> ops, Row row);
  void add(std::string op, Row row) { rows_[std::move(op)] = std::move(row); }
  // For operations through which nothing flows back.
  void stop(std::initializer_list<const char*> ops);
  const Row* find(std::string_view op) const;  // null: nobody has said; an empty row: a stop

 private:
  std::unordered_map<std::string, Row> rows_;
};

void add_unary(Rows& rows);
void add_binary(Rows& rows);
void add_reductions(Rows& rows);
void add_arrays(Rows& rows);
void add_gathers(Rows& rows);
void add_products(Rows& rows);
void add_matrices(Rows& rows);
void add_nets(Rows& rows);
void add_calls(Rows& rows);
void add_loops(Rows& rows);
void add_lists(Rows& rows);

}  // namespace emplace::grad
