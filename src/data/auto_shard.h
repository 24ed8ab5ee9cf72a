#pragma once
#include <cstdint>

#include "emplace/graph.h"

namespace emplace::data {

// tf.data.experimental.AutoShardPolicy.
enum class ShardPolicy : int64_t { kOff = -1, kAuto, kFile, kData, kHint };

// Rewrites a graph that makes a dataset (data/dataset_graph.h) so that it makes number `index` of
// `shards`: by files where a function reads them, by elements at its end otherwise, or where the
// program says. NotFound where files are asked for and none are found.
void auto_shard(Graph& graph, int64_t shards, int64_t index, ShardPolicy policy);

}  // namespace emplace::data
