#include "graph/node_store.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <set>
#include <vector>

namespace emplace {
namespace {

TEST(NodeStoreTest, EveryNodeHasALineOfItsOwnAndAPlaceOfItsOwn) {
  NodeStore store;
  std::vector<NodeStore::Owned> nodes;
  std::set<const Node*> places;
  for (int i = 0; i < 1000; ++i) {
    nodes.push_back(store.make());
    EXPECT_EQ(reinterpret_cast<uintptr_t>(nodes.back().get()) % 64, 0u);
    places.insert(nodes.back().get());
  }
  EXPECT_EQ(places.size(), 1000u);
}

TEST(NodeStoreTest, WhatWasGivenBackIsUsedAgain) {
  NodeStore store;
  const NodeStore::Owned kept = store.make();
  const Node* const first = store.make().get();
  const NodeStore::Owned second = store.make();
  EXPECT_EQ(second.get(), first);
  EXPECT_NE(second.get(), kept.get());
}

}  // namespace
}  // namespace emplace
