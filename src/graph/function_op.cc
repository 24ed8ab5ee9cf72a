#include "graph/function_op.h"

#include <fmt/format.h>

#include <algorithm>

namespace emplace {
namespace {

std::string name_or(const std::vector<std::string>& names, size_t i, std::string_view fallback) {
  return i < names.size() && !names[i].empty() ? names[i] : fmt::format("{}_{}", fallback, i);
}

bool same_output(const Output& a, const Output& b) {
  return a.index == b.index && a.node->name() == b.node->name();
}

bool same_name(const Node* a, const Node* b) { return a->name() == b->name(); }

bool same_node(const Node* a, const Node* b) {
  const auto same_attr = [](const auto& x, const auto& y) {
    return x.first == y.first && x.second == y.second;
  };
  return a->name() == b->name() && a->type() == b->type() && a->device() == b->device() &&
         std::ranges::equal(a->attrs(), b->attrs(), same_attr) &&
         std::ranges::equal(a->inputs(), b->inputs(), same_output) &&
         std::ranges::equal(a->control_inputs(), b->control_inputs(), same_name);
}

}  // namespace

OpDef op_of_function(const Function& f) {
  OpDef op;
  op.name = f.name;
  op.stateful = f.stateful;
  for (size_t i = 0; i < f.inputs.size(); ++i) {
    ArgDef& arg = op.inputs.emplace_back();
    arg.name = name_or(f.input_names, i, "input");
    arg.type = f.inputs[i]->output_type(0);
  }
  for (size_t i = 0; i < f.outputs.size(); ++i) {
    ArgDef& arg = op.outputs.emplace_back();
    arg.name = name_or(f.output_names, i, "output");
    arg.type = f.outputs[i].dtype();
  }
  return op;
}

void check_complete(const Function* f) {
  if (f == nullptr) throw invalid_argument("Function is null");
  if (f->name.empty()) throw invalid_argument("Function '' has no name");
  if (f->body == nullptr)
    throw invalid_argument(fmt::format("Function '{}' has no body", f->name));
  const auto fail = [&](std::string_view what, size_t i, std::string_view why) {
    throw invalid_argument(fmt::format("Function '{}': {} {} {}", f->name, what, i, why));
  };
  const auto check_node = [&](const Node* n, std::string_view what, size_t i) {
    if (n == nullptr || &n->graph() != f->body.get()) fail(what, i, "is not a node of its body");
  };
  for (size_t i = 0; i < f->inputs.size(); ++i) {
    check_node(f->inputs[i], "input", i);
    if (f->inputs[i]->num_outputs() == 0) fail("input", i, "has no output");
  }
  for (size_t i = 0; i < f->outputs.size(); ++i) {
    const Output& o = f->outputs[i];
    check_node(o.node, "output", i);
    if (o.index < 0 || o.index >= o.node->num_outputs())
      fail("output", i, fmt::format("is '{}:{}', and that node has {} outputs", o.node->name(),
                                    o.index, o.node->num_outputs()));
  }
  for (size_t i = 0; i < f->control_outputs.size(); ++i)
    check_node(f->control_outputs[i], "control output", i);
}

bool calls_by_name(const Node& node) { return node.graph().ops().find(node.type()) == nullptr; }

bool same_function(const Function& a, const Function& b) {
  if (&a == &b || a.body == b.body) return true;
  if (a.name != b.name || a.input_names != b.input_names || a.output_names != b.output_names)
    return false;
  return std::ranges::equal(a.inputs, b.inputs, same_name) &&
         std::ranges::equal(a.outputs, b.outputs, same_output) &&
         std::ranges::equal(a.control_outputs, b.control_outputs, same_name) &&
         std::ranges::equal(a.body->nodes(), b.body->nodes(), same_node);
}

}  // namespace emplace
