#pragma once
#include <memory>
#include <string>
#include <string_view>

#include "data/external_state.h"
#include "emplace/graph.h"
#include "emplace/tensor.h"

namespace emplace::data {

// ---- Datasets as graphs: an operation for each stage, constants for what it was given, and its
// functions. The graph's result is what its only node of type _Retval is given.

// For this process: constants may be handles, which stand for the same resources.
std::shared_ptr<Graph> graph_of(const Dataset& d);
// A GraphDef as TensorFlow writes it; variables and tables become operations that make others of
// the same value. Unimplemented for what can't be written (an iterator).
std::string serialized_graph(const Dataset& d, ExternalState policy, bool strip_devices = false);

// The way back. Throws InvalidArgument where the graph makes no dataset.
DatasetPtr dataset_of(const std::shared_ptr<Graph>& graph);
// … as the value that stands for it.
Tensor made_by(const std::shared_ptr<Graph>& graph);
std::shared_ptr<Graph> imported(const std::string& graph_def);

// What a graph that makes a dataset ends with: the node that makes it.
Node* result_of(const Graph& graph);

}  // namespace emplace::data
