#include "graph/function_def.h"

#include <fmt/format.h>
#include <google/protobuf/util/message_differencer.h>

#include <algorithm>
#include <charconv>
#include <unordered_map>
#include <unordered_set>

#include "emplace/error.h"
#include "graph/attr_proto.h"
#include "graph/graph_def.h"
#include "graph/tensor_proto.h"

namespace emplace {
namespace {

// ---- Writing.

// Names of a function's inputs, by node.
using ArgNames = std::unordered_map<const Node*, std::string>;

std::string arg_name(const Function& f, size_t i) {
  return i < f.input_names.size() ? f.input_names[i] : f.inputs[i]->name();
}

std::string output_name(const Function& f, size_t i) {
  return i < f.output_names.size() ? f.output_names[i] : fmt::format("output_{}", i);
}

// "x" for an input, "node:out_arg:0" for a node's output.
std::string source_text(const Output& out, const ArgNames& args) {
  if (const auto it = args.find(out.node); it != args.end()) return it->second;
  const OpDef& op = out.node->op();
  for (size_t i = 0; i < op.outputs.size(); ++i) {
    const ArgRange r = output_range(op, out.node->attrs(), static_cast<int>(i));
    if (out.index >= r.begin && out.index < r.end)
      return fmt::format("{}:{}:{}", out.node->name(), op.outputs[i].name, out.index - r.begin);
  }
  throw internal_error(fmt::format("Node '{}' has no output {}", out.node->name(), out.index));
}

void write_node(const Node& node, const ArgNames& args, proto::NodeDef* out) {
  out->set_name(node.name());
  out->set_op(node.type());
  out->set_device(node.device());
  for (const Output& in : node.inputs()) out->add_input(source_text(in, args));
  for (const Node* before : node.control_inputs()) {
    const auto arg = args.find(before);
    out->add_input("^" + (arg == args.end() ? before->name() : arg->second));
  }
  attrs_to_proto(node.attrs(), out->mutable_attr());
}

void write_arg(const Function& f, size_t i, proto::FunctionDef* out) {
  proto::OpDef::ArgDef* arg = out->mutable_signature()->add_input_arg();
  arg->set_name(arg_name(f, i));
  arg->set_type(to_proto(f.inputs[i]->output_type(0)));
  const Shape& shape = f.inputs[i]->output_shape(0);
  if (!shape.has_rank()) return;
  auto& attrs = *(*out->mutable_arg_attr())[static_cast<uint32_t>(i)].mutable_attr();
  to_proto(shape, attrs["_output_shapes"].mutable_list()->add_shape());
}

// ---- Reading: the body is turned into a GraphDef with nodes for the inputs, then imported.

class Reader {
 public:
  Reader(const proto::FunctionDef& in, const OpRegistry& ops, const FunctionFinder& find)
      : in_(in), ops_(ops), find_(find), body_(std::make_shared<Graph>(ops)) {}

  std::shared_ptr<Function> read();

 private:
  void add_arg(int i);
  void add_node(const proto::NodeDef& node);
  const OpDef& op_of(const proto::NodeDef& node);
  std::string source(const std::string& text);  // "n:out:1" as GraphDefs spell it
  Output output(const std::string& text);
  [[noreturn]] void fail(const std::string& what) const {
    throw invalid_argument(fmt::format("Function '{}': {}", in_.signature().name(), what));
  }

  const proto::FunctionDef& in_;
  const OpRegistry& ops_;
  const FunctionFinder& find_;
  std::shared_ptr<Graph> body_;
  std::unordered_map<std::string_view, const proto::NodeDef*> nodes_;
  std::unordered_map<std::string, OpDef> called_;  // functions, as ops
  proto::GraphDef def_;
};

void Reader::add_arg(int i) {
  const proto::OpDef::ArgDef& arg = in_.signature().input_arg(i);
  if (arg.type() == proto::DT_INVALID)
    throw unimplemented(fmt::format("Function '{}': argument '{}' has no fixed type",
                                    in_.signature().name(), arg.name()));
  proto::NodeDef* node = def_.add_node();
  node->set_name(arg.name());
  node->set_op("_Arg");
  const auto attrs = in_.arg_attr().find(static_cast<uint32_t>(i));
  if (attrs != in_.arg_attr().end())
    for (const auto& [name, value] : attrs->second.attr()) (*node->mutable_attr())[name] = value;
  (*node->mutable_attr())["T"].set_type(arg.type());
  (*node->mutable_attr())["index"].set_i(i);
}

const OpDef& Reader::op_of(const proto::NodeDef& node) {
  if (const OpDef* op = ops_.find(node.op())) return *op;
  if (const auto it = called_.find(node.op()); it != called_.end()) return it->second;
  const auto f = find_(node.op());
  if (f == nullptr) return ops_.get(node.op());
  body_->add_function(f);
  OpDef op;  // only the outputs are looked at
  for (size_t i = 0; i < f->outputs.size(); ++i) op.outputs.emplace_back().name = output_name(*f, i);
  return called_.emplace(node.op(), std::move(op)).first->second;
}

std::string Reader::source(const std::string& text) {
  const size_t first = text.find(':');
  if (text.starts_with('^') || first == std::string::npos) return text;
  const size_t second = text.find(':', first + 1);
  if (second == std::string::npos) return text;
  const auto node = nodes_.find(std::string_view(text).substr(0, first));
  if (node == nodes_.end()) fail(fmt::format("unknown input '{}'", text));
  const OpDef& op = op_of(*node->second);
  const int arg = op.output_index(std::string_view(text).substr(first + 1, second - first - 1));
  int at = -1;
  std::from_chars(text.data() + second + 1, text.data() + text.size(), at);
  if (arg < 0 || at < 0) fail(fmt::format("unknown input '{}'", text));
  AttrList attrs = attrs_from_proto(node->second->attr());
  const ArgRange range = output_range(op, attrs, arg);
  if (at >= range.end - range.begin) fail(fmt::format("unknown input '{}'", text));
  return fmt::format("{}:{}", node->first, range.begin + at);
}

void Reader::add_node(const proto::NodeDef& node) {
  proto::NodeDef* out = def_.add_node();
  *out = node;
  out->clear_input();
  op_of(node);
  for (const std::string& input : node.input()) out->add_input(source(input));
}

Output Reader::output(const std::string& text) {
  const std::string flat = source(text);
  const SourceName name = parse_source(flat);
  Node* node = body_->find(name.node);
  if (node == nullptr || name.index < 0 || name.index >= node->num_outputs())
    fail(fmt::format("unknown output '{}'", text));
  return {node, name.index};
}

std::shared_ptr<Function> Reader::read() {
  const proto::OpDef& signature = in_.signature();
  for (const proto::NodeDef& node : in_.node_def()) nodes_.emplace(node.name(), &node);
  for (int i = 0; i < signature.input_arg_size(); ++i) add_arg(i);
  for (const proto::NodeDef& node : in_.node_def()) add_node(node);
  ImportOptions options;
  options.allow_internal_names = true;
  options.validate_colocation = false;
  import_graph_def(*body_, def_, options);

  auto f = std::make_shared<Function>();
  f->name = signature.name();
  f->stateful = signature.is_stateful();
  f->attrs = attrs_from_proto(in_.attr());
  for (const auto& arg : signature.input_arg()) {
    f->inputs.push_back(body_->find(arg.name()));
    f->input_names.push_back(arg.name());
  }
  for (const auto& arg : signature.output_arg()) {
    const auto ret = in_.ret().find(arg.name());
    if (ret == in_.ret().end()) fail(fmt::format("no value for output '{}'", arg.name()));
    f->outputs.push_back(output(ret->second));
    f->output_names.push_back(arg.name());
  }
  for (const auto& name : signature.control_output()) {
    const auto ret = in_.control_ret().find(name);
    Node* node = ret == in_.control_ret().end() ? nullptr : body_->find(ret->second);
    if (node == nullptr) fail(fmt::format("no node for control output '{}'", name));
    f->control_outputs.push_back(node);
  }
  f->body = std::move(body_);
  return f;
}

// Reads the functions of a library, those that others call first.
class LibraryReader {
 public:
  LibraryReader(const proto::FunctionDefLibrary& in, const OpRegistry& ops,
                const FunctionFinder& known)
      : ops_(ops), known_(known) {
    for (const auto& f : in.function()) {
      const auto [it, is_new] = defs_.emplace(f.signature().name(), &f);
      if (!is_new && !google::protobuf::util::MessageDifferencer::Equals(*it->second, f))
        throw invalid_argument(fmt::format("Cannot add function '{}' because a different function "
                                           "with the same name already exists.",
                                           f.signature().name()));
    }
  }

  std::shared_ptr<const Function> get(const std::string& name) {
    if (const auto done = done_.find(name); done != done_.end()) return done->second;
    const auto def = defs_.find(name);
    if (def == defs_.end()) return known_ ? known_(name) : nullptr;
    if (!open_.insert(name).second)
      throw invalid_argument(fmt::format("Function '{}' calls itself", name));
    if (++depth_ > kMaxDepth)
      throw invalid_argument(fmt::format(
          "Function '{}': calls of functions nest deeper than {}", name, kMaxDepth));
    auto f = from_proto(*def->second, ops_, [this](const std::string& n) { return get(n); });
    --depth_;
    return done_.emplace(name, std::move(f)).first->second;
  }

 private:
  static constexpr int kMaxDepth = 500;  // each level takes a share of the stack

  const OpRegistry& ops_;
  const FunctionFinder& known_;
  int depth_ = 0;  // of the function being read
  std::unordered_map<std::string, const proto::FunctionDef*> defs_;
  std::unordered_map<std::string, std::shared_ptr<const Function>> done_;
  std::unordered_set<std::string> open_;
};

}  // namespace

void to_proto(const Function& f, proto::FunctionDef* out) {
  out->Clear();
  proto::OpDef* signature = out->mutable_signature();
  signature->set_name(f.name);
  signature->set_is_stateful(f.stateful);
  ArgNames args;
  for (size_t i = 0; i < f.inputs.size(); ++i) {
    write_arg(f, i, out);
    args.emplace(f.inputs[i], arg_name(f, i));
  }
  for (const Node* node : f.body->nodes())
    if (!args.contains(node) && node->type() != "_Retval")
      write_node(*node, args, out->add_node_def());
  for (size_t i = 0; i < f.outputs.size(); ++i) {
    proto::OpDef::ArgDef* arg = signature->add_output_arg();
    arg->set_name(output_name(f, i));
    arg->set_type(to_proto(f.outputs[i].dtype()));
    (*out->mutable_ret())[arg->name()] = source_text(f.outputs[i], args);
  }
  for (const Node* node : f.control_outputs) {
    signature->add_control_output(node->name());
    (*out->mutable_control_ret())[node->name()] = node->name();
  }
  attrs_to_proto(f.attrs, out->mutable_attr());
}

std::shared_ptr<Function> from_proto(const proto::FunctionDef& in, const OpRegistry& ops,
                                     const FunctionFinder& find) {
  return Reader(in, ops, find).read();
}

std::vector<std::shared_ptr<const Function>> from_proto(const proto::FunctionDefLibrary& in,
                                                        const OpRegistry& ops,
                                                        const FunctionFinder& known) {
  LibraryReader reader(in, ops, known);
  std::vector<std::shared_ptr<const Function>> out;
  for (const auto& f : in.function()) out.push_back(reader.get(f.signature().name()));
  return out;
}

}  // namespace emplace
