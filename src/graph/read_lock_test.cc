#include "graph/read_lock.h"

#include <gtest/gtest.h>

#include <thread>

namespace emplace {
namespace {

// Whether some other thread could write now.
bool writable(std::shared_mutex& m) {
  bool got = false;
  std::thread([&] {
    got = m.try_lock();
    if (got) m.unlock();
  }).join();
  return got;
}

TEST(ReadLock, KeepsWritersOutUntilTheOutermostEnds) {
  std::shared_mutex m;
  {
    const ReadLock outer(m);
    EXPECT_FALSE(writable(m));
    { const ReadLock inner(m); }
    EXPECT_FALSE(writable(m));
  }
  EXPECT_TRUE(writable(m));
}

TEST(ReadLock, TellsMutexesApart) {
  std::shared_mutex a, b;
  const ReadLock one(a);
  {
    const ReadLock other(b);
    const ReadLock again(a);
    EXPECT_FALSE(writable(b));
  }
  EXPECT_TRUE(writable(b));
  EXPECT_FALSE(writable(a));
}

TEST(ReadLock, AWaitingWriterDoesNotStopAThreadThatReadsAlready) {
  std::shared_mutex m;
  std::thread writer;
  {
    const ReadLock outer(m);
    writer = std::thread([&] { const std::unique_lock lock(m); });
    for (int i = 0; i < 1000; ++i) const ReadLock inner(m);
  }
  writer.join();
}

}  // namespace
}  // namespace emplace
