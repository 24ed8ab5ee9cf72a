#include "data/auto_shard.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "data/dataset_graph.h"
#include "data/kernels.h"

namespace emplace::data {
namespace {

constexpr int64_t kHint = -1;  // tf.data.experimental.SHARD_HINT

bool reads_files(const Node& n) {
  static constexpr std::string_view kReaders[] = {"CSVDataset",
                                                  "CSVDatasetV2",
                                                  "FixedLengthRecordDataset",
                                                  "FixedLengthRecordDatasetV2",
                                                  "TFRecordDataset",
                                                  "TFRecordDatasetV2",
                                                  "TextLineDataset",
                                                  "SqlDataset",
                                                  "LMDBDataset"};
  return std::ranges::find(kReaders, n.type()) != std::end(kReaders);
}

bool hands_through(const Node& n) {
  return n.type() == "OptionsDataset" || n.type() == "ModelDataset" ||
         n.type() == "PrefetchDataset" || n.type() == "FinalizeDataset";
}

class Sharding {
 public:
  Sharding(Graph& graph, int64_t shards, int64_t index)
      : graph_(graph), shards_(shards), index_(index) {}

  void by_data() {
    Node* n = &user();
    while (hands_through(*n->inputs()[0].node)) n = n->inputs()[0].node;
    put_before(*n, false);
  }

  // Places first, so that a graph is left as it is where one source can't be divided.
  void by_file() {
    find_files(*user().inputs()[0].node, user());
    for (Node* n : before_) put_before(*n, true);
  }

  void by_hint() {
    for (Node* n : graph_.nodes())
      if (n->type() == "ShardDataset" && is_hint(*n->inputs()[1].node)) {
        graph_.update_input(n, 1, number(shards_));
        graph_.update_input(n, 2, number(index_));
      }
  }

 private:
  Node& user() const {
    for (Node* n : graph_.nodes())
      if (n->type() == "_Retval") return *n;
    throw invalid_argument("The graph makes no dataset: it has no node of type _Retval.");
  }

  static bool is_hint(const Node& n) {
    for (const auto& [name, value] : n.attrs())
      if (name == "value" && value.is<Tensor>()) {
        const Tensor& t = value.as<Tensor>();
        return t.dtype() == DType::kInt64 && t.num_elements() == 1 && *t.data<int64_t>() == kHint;
      }
    return false;
  }

  Output number(int64_t v) {
    return graph_.add("Const", {}, {{"dtype", DType::kInt64}, {"value", Tensor::scalar(v)}})
        ->output();
  }

  // Between the node and the dataset that it takes elements from.
  void put_before(Node& n, bool must_be_some) {
    const Output all = n.inputs()[0];
    AttrList attrs{{"require_non_empty", must_be_some}};
    for (const auto& [name, value] : all.node->attrs())
      if (name == "output_types" || name == "output_shapes")
        attrs.emplace_back(name, value);
      else if (name == "Toutput_types")
        attrs.emplace_back("output_types", value);
    const Output given[] = {all, number(shards_), number(index_)};
    graph_.update_input(&n, 0, graph_.add("ShardDataset", given, std::move(attrs))->output());
  }

  void find_files(Node& n, Node& used_by) {
    if (reads_files(n)) {
      before_.insert(&used_by);
      return;
    }
    if (calls_reader(n)) {
      before_.insert(&n);
      return;
    }
    bool some = false;
    for (const Output& in : n.inputs())
      if (in.dtype() == DType::kVariant && in.node->type().find("Dataset") != std::string::npos) {
        find_files(*in.node, n);
        some = true;
      }
    if (!some) throw not_found(fmt::format("Found an unshardable source dataset: {}", n.name()));
  }

  // Does one of the functions that it calls, or that they call, read files?
  bool calls_reader(const Node& n) {
    for (const auto& [name, value] : n.attrs())
      if (value.is<FunctionName>()) {
        const auto f = graph_.find_function(value.as<FunctionName>().name);
        if (!f) continue;
        for (const Node* inner : f->body->nodes())
          if (reads_files(*inner) || calls_reader(*inner)) return true;
      }
    return false;
  }

  Graph& graph_;
  const int64_t shards_, index_;
  std::set<Node*> before_;
};

// ---- The kernel.

struct MakeAutoShard {
  explicit MakeAutoShard(const KernelInit& init)
      : policy(ShardPolicy{init.attr<int64_t>("auto_shard_policy")}) {}
  void operator()(KernelContext& c) const {
    const DatasetPtr all = dataset_in(c.input(0));
    const int64_t shards = int_input(c, 1, "num_workers"), index = int_input(c, 2, "index");
    if (shards < 1 || index < 0 || index >= shards)
      throw invalid_argument(
          fmt::format("Invalid auto-sharding input: num_workers is {}, index {}", shards, index));
    if (policy == ShardPolicy::kOff) return c.set_output(0, c.input(0));
    const auto graph = graph_of(*all);
    auto_shard(*graph, shards, index, policy);
    c.set_output(0, made_by(graph));
  }
  ShardPolicy policy;
};

Prepared make_auto_shard(const KernelInit& init) { return prepared(MakeAutoShard(init)); }

}  // namespace

void auto_shard(Graph& graph, int64_t shards, int64_t index, ShardPolicy policy) {
  Sharding sharding(graph, shards, index);
  switch (policy) {
    case ShardPolicy::kOff:
      return;
    case ShardPolicy::kFile:
      return sharding.by_file();
    case ShardPolicy::kData:
      return sharding.by_data();
    case ShardPolicy::kHint:
      return sharding.by_hint();
    case ShardPolicy::kAuto:
      break;
  }
  try {
    sharding.by_file();
  } catch (const Error& e) {
    if (e.code() != Code::kNotFound) throw;
    sharding.by_data();
  }
}

void add_shard_kernels(KernelList& rows) {
  add_row(rows, "AutoShardDataset", make_auto_shard, true);
}

}  // namespace emplace::data
