// Graphs written as GraphDefs.
#include "graph/graph_def.h"

#include <fmt/format.h>
#include <google/protobuf/io/coded_stream.h>
#include <google/protobuf/io/tokenizer.h>
#include <google/protobuf/io/zero_copy_stream_impl_lite.h>
#include <google/protobuf/stubs/logging.h>
#include <google/protobuf/text_format.h>

#include <charconv>

#include "emplace/error.h"
#include "graph/attr_proto.h"
#include "graph/function_def.h"
#include "graph/graph_state.h"
#include "graph/parse_message.h"
#include "graph/read_lock.h"
#include "graph/tensor_proto.h"

namespace emplace {
namespace {

// The same bytes for the same message: maps are written in the order of their keys.
std::string stable_bytes(const google::protobuf::MessageLite& message) {
  std::string bytes;
  google::protobuf::io::StringOutputStream stream(&bytes);
  google::protobuf::io::CodedOutputStream out(&stream);
  out.SetSerializationDeterministic(true);
  message.SerializeToCodedStream(&out);
  out.Trim();
  return bytes;
}

// What programs of our op definitions are as readers of graphs.
constexpr int kConsumer = 2474;
constexpr int kMinProducer = 0;

void add_shapes(const Node& node, proto::NodeDef* out) {
  auto* list = (*out->mutable_attr())["_output_shapes"].mutable_list();
  for (int i = 0; i < node.num_outputs(); ++i) to_proto(node.output_shape(i), list->add_shape());
}

void strip_defaults(const Node& node, proto::NodeDef* out) {
  for (const AttrDef& def : node.op().attrs) {
    const AttrValue* value = node.attr(def.name);
    if (value != nullptr && def.default_value.is_set() && *value == def.default_value)
      out->mutable_attr()->erase(def.name);
  }
}

// "file.py:12" as a trace of one frame.
void add_source(const Node& node, proto::GraphDebugInfo* info) {
  const size_t colon = node.source().rfind(':');
  if (node.source().empty() || colon == std::string::npos) return;
  const std::string file = node.source().substr(0, colon);
  int line = 0;
  std::from_chars(node.source().data() + colon + 1, node.source().data() + node.source().size(),
                  line);
  int index = 0;
  while (index < info->files_size() && info->files(index) != file) ++index;
  if (index == info->files_size()) info->add_files(file);
  auto* frame = (*info->mutable_traces())[node.name()].add_file_line_cols();
  frame->set_file_index(index);
  frame->set_line(line);
}

// Remembers where the text stops making sense.
class TextErrors : public google::protobuf::io::ErrorCollector {
 public:
  void AddError(int line, int column, const std::string& message) override {
    if (text_.empty()) text_ = fmt::format("{}:{}: {}", line + 1, column + 1, message);
  }
  const std::string& text() const { return text_; }

 private:
  std::string text_;
};

template <class Message>
Message parsed(std::string_view bytes, std::string_view what) {
  Message m;
  if (!parse_message(m, bytes))
    throw invalid_argument(fmt::format("Cannot parse {}: malformed bytes", what));
  return m;
}

}  // namespace

SourceName parse_source(std::string_view text) {
  if (text.starts_with('^')) return {text.substr(1), -1};
  const size_t colon = text.rfind(':');
  if (colon == std::string_view::npos || colon == 0 || colon + 1 == text.size()) return {text, 0};
  int index = 0;
  const char* end = text.data() + text.size();
  if (text[colon + 1] == '-') return {text, 0};
  const auto read = std::from_chars(text.data() + colon + 1, end, index);
  if (read.ec != std::errc() || read.ptr != end) return {text, 0};
  return {text.substr(0, colon), index};
}

void check_versions(const proto::VersionDef& v) {
  if (v.producer() < kMinProducer)
    throw invalid_argument(
        fmt::format("GraphDef producer version {} below min producer {} supported by Emplace.  "
                    "Please regenerate your graph.",
                    v.producer(), kMinProducer));
  if (kConsumer < v.min_consumer())
    throw invalid_argument(fmt::format("GraphDef min consumer version {} above current version {} "
                                       "for Emplace.  Please upgrade Emplace.",
                                       v.min_consumer(), kConsumer));
  for (int bad : v.bad_consumers())
    if (bad == kConsumer)
      throw invalid_argument(fmt::format("GraphDef disallows consumer version {}.  Please upgrade "
                                         "Emplace: this version is likely buggy.",
                                         bad));
}

void to_proto(const Node& node, proto::NodeDef* out) {
  out->Clear();
  out->set_name(node.name());
  out->set_op(node.type());
  for (const Output& in : node.inputs()) out->add_input(input_text(in));
  for (const Node* before : node.control_inputs()) out->add_input("^" + before->name());
  out->set_device(node.device());
  attrs_to_proto(node.attrs(), out->mutable_attr());
}

void to_proto(const Graph& graph, const ExportOptions& options, proto::GraphDef* out) {
  out->Clear();
  const std::vector<Node*> nodes = graph.nodes();
  const GraphVersions versions = graph.versions();
  out->mutable_versions()->set_producer(versions.producer);
  out->mutable_versions()->set_min_consumer(versions.min_consumer);
  for (int bad : versions.bad_consumers) out->mutable_versions()->add_bad_consumers(bad);
  if (options.functions)
    for (const auto& f : graph.functions()) to_proto(*f, out->mutable_library()->add_function());
  const ReadLock lock(graph.mutex());
  for (const Node* node : nodes) {
    proto::NodeDef* def = out->add_node();
    to_proto(*node, def);
    if (options.strip_default_attrs) strip_defaults(*node, def);
    if (options.add_shapes && node->num_outputs() > 0) add_shapes(*node, def);
    if (options.sources) add_source(*node, out->mutable_debug_info());
  }
}

std::string graph_def(const Graph& graph, const ExportOptions& options) {
  proto::GraphDef def;
  to_proto(graph, options, &def);
  return stable_bytes(def);
}

std::string graph_def_text(const Graph& graph, const ExportOptions& options) {
  proto::GraphDef def;
  to_proto(graph, options, &def);
  std::string out;
  google::protobuf::TextFormat::PrintToString(def, &out);
  return out;
}

std::string node_def(const Node& node) {
  proto::NodeDef def;
  to_proto(node, &def);
  return stable_bytes(def);
}

ImportResult import_graph_def(Graph& graph, std::string_view bytes, const ImportOptions& options) {
  return import_graph_def(graph, parsed<proto::GraphDef>(bytes, "GraphDef"), options);
}

ImportResult import_graph_def_text(Graph& graph, std::string_view text,
                                   const ImportOptions& options) {
  proto::GraphDef def;
  google::protobuf::TextFormat::Parser parser;
  TextErrors errors;
  parser.RecordErrorsTo(&errors);
  if (!parse_message_text(def, text, parser))
    throw invalid_argument(fmt::format("Cannot parse GraphDef text: {}", errors.text()));
  return import_graph_def(graph, def, options);
}

std::string function_def(const Function& f) {
  proto::FunctionDef def;
  to_proto(f, &def);
  return stable_bytes(def);
}

std::shared_ptr<Function> function_from_def(std::string_view bytes, const Graph& library) {
  return from_proto(parsed<proto::FunctionDef>(bytes, "FunctionDef"), library.ops(),
                    [&](const std::string& name) { return library.find_function(name); });
}

}  // namespace emplace
