#include "cluster/file_rules.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "base/file.h"

namespace emplace::cluster {
namespace {

constexpr std::string_view kStream = "file://";  // of PrintV2

Error not_allowed(const proto::NodeDef& node, const std::string& why) {
  Error e(Code::kPermissionDenied, fmt::format("{}\n\t [[{{{{node {}}}}}]]", why, node.name()));
  e.at_node(node.name(), node.op());
  return e;
}

const FileOp* find_file_op(const std::string& op) {
  const auto all = file_ops();
  const auto it = std::ranges::find(all, op, &FileOp::op);
  return it == all.end() ? nullptr : &*it;
}

void check_code(const proto::NodeDef& node, const PeerRules& rules) {
  if (std::ranges::find(code_ops(), node.op()) == code_ops().end() ||
      std::ranges::find(rules.operations, node.op()) != rules.operations.end())
    return;
  throw not_allowed(node, fmt::format("{} runs code of this server's process, which clients from elsewhere may "
                                      "not, unless it is allowed by name (`emplace serve --allow {}`).",
                                      node.op(), node.op()));
}

void check_attributes(const proto::NodeDef& node, const FileOp& op, const PeerRules& rules) {
  for (const std::string_view name : op.attributes) {
    const auto it = node.attr().find(std::string(name));
    if (it == node.attr().end()) continue;
    if (!it->second.placeholder().empty())
      throw not_allowed(node, fmt::format("{} names a file by an attribute of its function's", node.op()));
    std::string_view file = it->second.s();
    if (node.op() == "PrintV2") {
      if (!file.starts_with(kStream)) continue;
      file.remove_prefix(kStream.size());
    }
    if (file.empty()) continue;
    try {
      check_below(std::string(file), rules.folders);
    } catch (const Error& e) {
      throw not_allowed(node, e.message());
    }
  }
}

void set_folders(proto::AttrValue& value, const PeerRules& rules) {
  value.Clear();
  value.mutable_list();
  for (const std::string& f : rules.folders) value.mutable_list()->add_s(f);
}

// `output`: how what a node gives is named where it stands.
template <class Nodes>
void confine_nodes(Nodes& nodes, const PeerRules& rules, const std::string& device, const char* output) {
  const int count = nodes.size();
  for (int n = 0; n < count; ++n) {
    check_code(nodes[n], rules);
    const FileOp* const op = find_file_op(nodes[n].op());
    if (!op) continue;
    check_attributes(nodes[n], *op, rules);
    if (op->names_come_later) set_folders((*nodes[n].mutable_attr())["_folders"], rules);
    for (const int i : op->inputs) {
      if (i >= nodes[n].input_size() || nodes[n].input(i).starts_with('^'))
        throw not_allowed(nodes[n], "It lacks the name of its file.");
      proto::NodeDef* const check = nodes.Add();  // moves no node: they are pointers
      check->set_name(fmt::format("{}/_checked_path_{}", nodes[n].name(), i));
      check->set_op("_CheckedPath");
      check->set_device(device);
      check->add_input(nodes[n].input(i));
      set_folders((*check->mutable_attr())["folders"], rules);
      nodes[n].set_input(i, check->name() + output);
    }
  }
}

}  // namespace

std::span<const FileOp> file_ops() {
  static const std::vector<FileOp> ops{
      {"SaveV2", {0}},
      {"RestoreV2", {0}},
      {"MergeV2Checkpoints", {0, 1}},
      {"Save", {0}},
      {"SaveSlices", {0}},
      {"Restore", {0}},
      {"RestoreSlice", {0}},
      {"ReadFile", {0}},
      {"WriteFile", {0}},
      {"MatchingFiles", {0}},
      {"InitializeTableFromTextFile", {1}},
      {"InitializeTableFromTextFileV2", {1}},
      {"WholeFileReader", {}, {}, true},
      {"WholeFileReaderV2", {}, {}, true},
      {"TextLineReader", {}, {}, true},
      {"TextLineReaderV2", {}, {}, true},
      {"TFRecordReader", {}, {}, true},
      {"TFRecordReaderV2", {}, {}, true},
      {"FixedLengthRecordReader", {}, {}, true},
      {"FixedLengthRecordReaderV2", {}, {}, true},
      {"PrintV2", {}, {"output_stream"}},
      {"FixedUnigramCandidateSampler", {}, {"vocab_file"}},
      {"CreateSummaryFileWriter", {1}},
      {"CreateSummaryDbWriter", {1}},
      // Of input pipelines.
      {"TextLineDataset", {0}},
      {"TFRecordDataset", {0}},
      {"TFRecordDatasetV2", {0}},
      {"FixedLengthRecordDataset", {0}},
      {"FixedLengthRecordDatasetV2", {0}},
      {"MatchingFilesDataset", {0}},
      {"ExperimentalMatchingFilesDataset", {0}},
      {"CSVDataset", {0}},
      {"CSVDatasetV2", {0}},
      {"CacheDataset", {1}},
      {"CacheDatasetV2", {1}},
      {"SaveDataset", {1}},
      {"SaveDatasetV2", {1}},
      {"LoadDataset", {0}},
      {"SnapshotDataset", {1}},
      {"SnapshotDatasetV2", {1}},
      {"ExperimentalCSVDataset", {0}},
      {"DatasetToTFRecord", {1}},
      {"ExperimentalDatasetToTFRecord", {1}},
      {"SqlDataset", {1}},
      {"ExperimentalSqlDataset", {1}},
  };
  return ops;
}

std::span<const std::string_view> code_ops() {
  static constexpr std::array<std::string_view, 3> ops{"PyFunc", "PyFuncStateless", "EagerPyFunc"};
  return ops;
}

void confine(proto::GraphDef& graph, const PeerRules& rules, const std::string& device) {
  confine_nodes(*graph.mutable_node(), rules, device, "");
  for (proto::FunctionDef& f : *graph.mutable_library()->mutable_function())
    confine_nodes(*f.mutable_node_def(), rules, device, ":checked:0");
}

}  // namespace emplace::cluster
