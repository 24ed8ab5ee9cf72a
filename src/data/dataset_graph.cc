#include "data/dataset_graph.h"

#include <fmt/format.h>

#include "data/kernels.h"
#include "data/saved_state.h"
#include "emplace/session.h"
#include "graph/graph_def.h"
#include "kernel/called_function.h"
#include "kernel/lookup_table.h"
#include "kernel/resources.h"
#include "session/local_devices.h"

namespace emplace::data {
namespace {

constexpr std::string_view kNotWritten = "Failed to serialize the input pipeline graph: ";

class GraphMaker {
 public:
  // `portable`: for other processes.
  GraphMaker(Graph& graph, bool portable) : graph_(graph), portable_(portable) {}

  Output add(const Dataset& d) {
    const Origin& origin = d.origin();
    if (!origin.operation)
      throw unimplemented(
          fmt::format("{}elements of {} are no operation's", kNotWritten, d.spec().node));
    if (origin.operation->op == "RewriteDataset") return add_rewritten(d);
    std::vector<Output> inputs;
    for (const Tensor& t : origin.inputs) inputs.push_back(add(t));
    for (const auto& f : origin.operation->functions)
      for (const auto& needed : f->definitions().functions()) graph_.add_function(needed);
    AttrList attrs = origin.operation->attrs;
    for (auto& [name, value] : attrs)
      if (name == kWhole) value = replicated_ || value.as<bool>();
    return node(origin.operation->op, inputs, std::move(attrs))->output();
  }

  Node* node(const std::string& op, std::span<const Output> inputs, AttrList attrs = {},
             Node* after = nullptr) {
    NodeOptions options;
    options.name = fmt::format("{}/_{}", op.substr(op.starts_with('_')), count_++);
    options.exact_name = true;
    if (after) options.control_inputs.push_back(after);
    return graph_.add(op, inputs, std::move(attrs), std::move(options));
  }

 private:
  static constexpr std::string_view kWhole = "replicate_on_split";

  // A rewrite is done with when a dataset is written: of the one that there is, the sources say so.
  Output add_rewritten(const Dataset& d) {
    const bool outer = std::exchange(replicated_, true);
    const Output made = add(*d.inputs().at(0));
    replicated_ = outer;
    return made;
  }

  Output add(const Tensor& t) {
    if (t.dtype() == DType::kVariant && t.num_elements() == 1)
      if (const auto* d = dynamic_cast<const Dataset*>(t.data<Variant>()->value.get()))
        return add(*d);
    if (portable_ && t.dtype() == DType::kVariant) {
      const Output bytes = constant(Tensor::string(packed_element({t})));
      return node("_UnpackedValue", {&bytes, 1})->output();
    }
    if (portable_ && t.dtype() == DType::kResource && t.num_elements() == 1)
      if (const auto made = add_maker(*t.data<ResourceHandle>()); made.node) return made;
    return constant(t);
  }

  Output constant(const Tensor& t) {
    const Tensor here = in_memory_of(t, nullptr);
    return node("Const", {}, {{"dtype", here.dtype()}, {"value", here}})->output();
  }

  // Operations that make a resource of the same value; none for those that datasets make
  // themselves.
  Output add_maker(const ResourceHandle& h) {
    if (const auto table = std::dynamic_pointer_cast<LookupTable>(h.resource))
      return add_table(*table);
    if (const auto v = std::dynamic_pointer_cast<Variable>(h.resource)) return add_variable(*v);
    return {};
  }

  Output add_table(const LookupTable& table) {
    const DType keys = table.options().key_dtype, values = table.options().value_dtype;
    const bool scalars = table.options().value_shape.rank() == 0;
    AttrList attrs{{"key_dtype", keys}, {"value_dtype", values}, {"use_node_name_sharing", true}};
    if (!scalars) attrs.push_back({"value_shape", table.options().value_shape});
    Node* const made = node(table.options().fixed ? "HashTableV2"
                            : scalars             ? "MutableHashTableV2"
                                                  : "MutableHashTableOfTensorsV2",
                            {}, std::move(attrs));
    const auto [k, v] = table.entries();
    const Output filling[] = {made->output(), constant(k), constant(v)};
    return filled(made, node("LookupTableImportV2", filling, {{"Tin", keys}, {"Tout", values}}));
  }

  Output add_variable(const Variable& v) {
    const Tensor value = v.snapshot();
    Node* const made = node("VarHandleOp", {},
                            {{"dtype", v.dtype()},
                             {"shape", v.shape()},
                             {"shared_name", fmt::format("{}/_{}", v.name(), count_)}});
    const Output filling[] = {made->output(), constant(value)};
    return filled(made, node("AssignVariableOp", filling, {{"dtype", v.dtype()}}));
  }

  Output filled(Node* made, Node* filling) {
    const Output handle = made->output();
    return node("Identity", {&handle, 1}, {{"T", DType::kResource}}, filling)->output();
  }

  Graph& graph_;
  const bool portable_;
  bool replicated_ = false;
  int count_ = 0;
};

std::shared_ptr<Graph> made_of(const Dataset& d, bool portable) {
  auto graph = std::make_shared<Graph>();
  const Output made = GraphMaker(*graph, portable).add(d);
  NodeOptions options;
  options.name = "dataset";
  options.exact_name = true;
  graph->add("_Retval", {made}, {{"T", DType::kVariant}, {"index", 0}}, std::move(options));
  return graph;
}

// ---- Kernels.

struct ToGraph {
  explicit ToGraph(const KernelInit& init) : strip(init.attr<bool>("strip_device_assignment")) {
    if (init.find("external_state_policy"))
      policy = ExternalState{init.attr<int64_t>("external_state_policy")};
    else
      policy = init.attr<bool>("allow_stateful") ? ExternalState::kIgnore : ExternalState::kFail;
  }
  void operator()(KernelContext& c) const {
    c.set_output(0, Tensor::string(serialized_graph(*dataset_in(c.input(0)), policy, strip)));
  }
  ExternalState policy = ExternalState::kWarn;
  bool strip;
};

Prepared make_to_graph(const KernelInit& init) { return prepared(ToGraph(init)); }

void from_graph(KernelContext& c) {
  const Tensor& t = c.input(0);
  if (t.num_elements() != 1) throw invalid_argument("graph_def must be a scalar");
  c.set_output(0, made_by(imported(*t.data<std::string>())));
}

}  // namespace

std::shared_ptr<Graph> graph_of(const Dataset& d) { return made_of(d, false); }

std::string serialized_graph(const Dataset& d, ExternalState policy, bool strip_devices) {
  heed_external_state(d, policy, kNotWritten);
  proto::GraphDef def;
  to_proto(*made_of(d, true), {}, &def);
  if (strip_devices) {
    for (auto& n : *def.mutable_node()) n.clear_device();
    for (auto& f : *def.mutable_library()->mutable_function())
      for (auto& n : *f.mutable_node_def()) n.clear_device();
  }
  return def.SerializeAsString();
}

Node* result_of(const Graph& graph) {
  for (Node* n : graph.nodes())
    if (n->type() == "_Retval" && n->inputs()[0].dtype() == DType::kVariant)
      return n->inputs()[0].node;
  throw invalid_argument("The graph makes no dataset: it has no node of type _Retval.");
}

// A dataset with the session that holds what its functions use.
class LoadedDataset final : public Dataset {
 public:
  LoadedDataset(DatasetPtr made, std::shared_ptr<Session> session)
      : Dataset(made->spec()), session_(std::move(session)), made_(std::move(made)) {
    set_origin(made_->origin());
  }
  int64_t cardinality() const override { return made_->cardinality(); }
  std::vector<const Dataset*> inputs() const override { return {made_.get()}; }
  bool hands_on() const override { return true; }
  std::unique_ptr<Iterator> make_iterator(Caller& c) const override { return made_->iterator(c); }

 private:
  const std::shared_ptr<Session> session_;  // goes last
  const DatasetPtr made_;
};

Tensor made_by(const std::shared_ptr<Graph>& graph) {
  SessionOptions options;
  options.device_count["GPU"] = 0;
  options.virtual_gpus = 0;
  options.allow_soft_placement = true;
  options.placer = "simple";
  const auto session = std::make_shared<Session>(graph, options);
  Tensor made = session->run(result_of(*graph)->output());
  for (const Node* n : graph->nodes())
    if (n->type() == "VarHandleOp")
      return dataset_tensor(std::make_shared<LoadedDataset>(dataset_in(made), session));
  return made;
}

std::shared_ptr<Graph> imported(const std::string& def) {
  auto graph = std::make_shared<Graph>();
  ImportOptions options;
  options.validate_colocation = false;
  options.allow_internal_names = true;
  import_graph_def(*graph, def, options);
  return graph;
}

DatasetPtr dataset_of(const std::shared_ptr<Graph>& graph) { return dataset_in(made_by(graph)); }

void add_graph_kernels(KernelList& rows) {
  add_row(rows, "DatasetToGraph", make_to_graph);
  add_row(rows, "DatasetToGraphV2", make_to_graph);
  add_row(rows, "DatasetFromGraph", stateless<from_graph>, true);
}

}  // namespace emplace::data
