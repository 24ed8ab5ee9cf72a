// Graphs from files: GraphDef, MetaGraphDef, SavedModel.
#include <fmt/format.h>
#include <google/protobuf/io/tokenizer.h>
#include <google/protobuf/stubs/logging.h>
#include <google/protobuf/text_format.h>

#include <algorithm>
#include <map>
#include <set>

#include "base/file.h"
#include "base/parse_limits.h"
#include "emplace/proto/saved_model.pb.h"
#include "emplace/session.h"
#include "format/model.h"
#include "graph/graph_def.h"
#include "graph/parse_message.h"
#include "graph/tensor_proto.h"

namespace emplace {
namespace {

constexpr const char* kInitKey = "__saved_model_init_op";

class FirstError : public google::protobuf::io::ErrorCollector {
 public:
  void AddError(int line, int column, const std::string& message) override {
    if (text.empty()) text = fmt::format("{}:{}: {}", line + 1, column + 1, message);
  }
  std::string text;
};

template <class Message>
Message from_binary(const std::string& path, std::string_view bytes) {
  Message m;
  if (!parse_message(m, bytes))
    throw invalid_argument(fmt::format("{}: Cannot parse {}: malformed bytes", path,
                                       Message::descriptor()->name()));
  return m;
}

template <class Message>
Message from_text(const std::string& path, const std::string& text) {
  Message m;
  google::protobuf::TextFormat::Parser parser;
  FirstError error;
  parser.RecordErrorsTo(&error);
  if (!parse_message_text(m, text, parser))
    throw invalid_argument(fmt::format("{}:{} (in the text of a {})", path, error.text,
                                       Message::descriptor()->name()));
  return m;
}

bool is_text_name(const std::string& path) { return path.ends_with("txt"); }

template <class Message>
Message message_from(const std::string& path) {
  const std::string bytes = read_to_parse(path);
  return is_text_name(path) ? from_text<Message>(path, bytes) : from_binary<Message>(path, bytes);
}

std::string tag_list(const std::vector<std::string>& tags) {
  return fmt::format("{{ {} }}", fmt::join(tags, ", "));
}

std::vector<std::string> tags_of(const proto::MetaGraphDef& meta) {
  return {meta.meta_info_def().tags().begin(), meta.meta_info_def().tags().end()};
}

const proto::MetaGraphDef& chosen(const proto::SavedModel& saved, const std::string& folder,
                                  std::span<const std::string> tags) {
  if (tags.empty() && saved.meta_graphs_size() == 1) return saved.meta_graphs(0);
  std::set<std::string> wanted(tags.begin(), tags.end());
  if (wanted.empty()) wanted.insert("serve");
  std::string there;
  for (const proto::MetaGraphDef& meta : saved.meta_graphs()) {
    const std::vector<std::string> list = tags_of(meta);
    if (std::set<std::string>(list.begin(), list.end()) == wanted) return meta;
    there += (there.empty() ? "" : ", ") + tag_list(list);
  }
  throw not_found(fmt::format(
      "Could not find meta graph def matching supplied tags: {} in SavedModel '{}', which has: {}",
      tag_list({wanted.begin(), wanted.end()}), folder, there));
}

std::vector<Model::Argument> arguments(
    const google::protobuf::Map<std::string, proto::TensorInfo>& infos) {
  std::map<std::string, Model::Argument> sorted;
  for (const auto& [key, info] : infos)
    sorted[key] = {key, info.name(), from_proto(info.dtype()), from_proto(info.tensor_shape())};
  std::vector<Model::Argument> out;
  for (auto& [key, argument] : sorted) out.push_back(std::move(argument));
  return out;
}

std::string node_of(const std::string& tensor) { return tensor.substr(0, tensor.find(':')); }

// The operation that loading runs last: named by a signature (TensorFlow 2) or a collection.
std::string init_op_of(const proto::MetaGraphDef& meta) {
  if (const auto it = meta.signature_def().find(kInitKey); it != meta.signature_def().end())
    if (const auto out = it->second.outputs().find(kInitKey); out != it->second.outputs().end())
      return node_of(out->second.name());
  for (const char* key : {"saved_model_main_op", "legacy_init_op"})
    if (const auto it = meta.collection_def().find(key); it != meta.collection_def().end())
      if (it->second.node_list().value_size() > 0)
        return node_of(it->second.node_list().value(0));
  return {};
}

void read_signatures(const proto::MetaGraphDef& meta, Model& model) {
  for (const auto& [name, def] : meta.signature_def())
    if (name != kInitKey)
      model.signatures.push_back(
          {name, def.method_name(), arguments(def.inputs()), arguments(def.outputs())});
  std::ranges::sort(model.signatures, {}, &Model::Signature::name);
}

Model model_of(const proto::MetaGraphDef& meta) {
  Model model;
  model.graph = std::make_shared<Graph>();
  model.tags = tags_of(meta);
  import_graph_def(*model.graph, meta.graph_def(), {});
  read_signatures(meta, model);
  model.filename_tensor = meta.saver_def().filename_tensor_name();
  model.restore_op = meta.saver_def().restore_op_name();
  model.init_op = init_op_of(meta);
  return model;
}

Model from_saved_model(const std::string& folder, std::span<const std::string> tags) {
  const proto::SavedModel saved = read_saved_model(folder);
  const proto::MetaGraphDef& meta = chosen(saved, folder, tags);
  Model model = model_of(meta);
  const std::string variables = folder + "/variables/variables";
  if (file_exists(variables + ".index")) model.checkpoint = variables;
  for (const proto::AssetFileDef& asset : meta.asset_file_def())
    model.assets.emplace_back(asset.tensor_info().name(), folder + "/assets/" + asset.filename());
  return model;
}

Model from_graph_def(const std::string& path) {
  Model model;
  model.graph = std::make_shared<Graph>();
  import_graph_def(*model.graph, message_from<proto::GraphDef>(path), {});
  return model;
}

Output output_of(Graph& graph, const std::string& tensor) {
  return graph.tensor(tensor.find(':') == std::string::npos ? tensor + ":0" : tensor);
}

Node* operation(Graph& graph, const std::string& name) {
  Node* node = graph.find(name);
  if (node == nullptr) throw not_found(fmt::format("The graph has no operation '{}'", name));
  return node;
}

}  // namespace

proto::SavedModel read_saved_model(const std::string& folder) {
  for (const char* name : {"/saved_model.pb", "/saved_model.pbtxt"})
    if (file_exists(folder + name)) return message_from<proto::SavedModel>(folder + name);
  throw not_found(fmt::format("SavedModel file does not exist at: {}/{{saved_model.pbtxt|"
                              "saved_model.pb}}",
                              folder));
}

Model load_model(const std::string& path, std::span<const std::string> tags) {
  if (is_folder(path)) return from_saved_model(path, tags);
  for (const char* name : {"saved_model.pb", "saved_model.pbtxt"})
    if (path == name || path.ends_with(std::string("/") + name)) {
      const std::string folder = parent_folder(path);
      return load_model(folder.empty() ? "." : folder, tags);
    }
  if (path.ends_with(".meta") || path.ends_with(".meta.txt"))
    return model_of(message_from<proto::MetaGraphDef>(path));
  return from_graph_def(path);
}

void Model::initialize(Session& session) const {
  if (!checkpoint.empty() && !restore_op.empty())
    session.run(operation(*graph, restore_op),
                {{output_of(*graph, filename_tensor), Tensor::string(checkpoint)}});
  if (init_op.empty()) return;
  Feeds feeds;
  for (const auto& [tensor, file] : assets)
    feeds.emplace_back(output_of(*graph, tensor), Tensor::string(file));
  session.run(operation(*graph, init_op), feeds);
}

}  // namespace emplace
