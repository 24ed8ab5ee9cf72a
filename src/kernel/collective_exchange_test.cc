#include "kernel/collective_exchange.h"

#include <gtest/gtest.h>

#include <condition_variable>
#include <cstring>
#include <map>
#include <random>
#include <thread>

namespace emplace {
namespace {

using Kind = CollectiveCall::Kind;

// The tasks' mail, each a thread.
class Mail {
 public:
  class Way final : public PartWay {
   public:
    Way(Mail& mail, size_t me) : mail_(mail), me_(me) {}
    void send(size_t task, int32_t from, int32_t phase, const Tensor& value) override {
      mail_.put({task, from, phase}, value.copy());
    }
    Tensor receive(int32_t from, int32_t phase) override { return mail_.take({me_, from, phase}); }
    void settle() override {}

   private:
    Mail& mail_;
    const size_t me_;
  };

 private:
  using Address = std::tuple<size_t, int32_t, int32_t>;
  void put(const Address& to, Tensor value) {
    const std::lock_guard lock(mutex_);
    EXPECT_TRUE(box_.emplace(to, std::move(value)).second);
    changed_.notify_all();
  }
  Tensor take(const Address& to) {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [&] { return box_.contains(to); });
    return std::move(box_.extract(to).mapped());
  }
  std::mutex mutex_;
  std::condition_variable changed_;
  std::map<Address, Tensor> box_;
};

CollectiveGroup group_of(int tasks, int members) {
  CollectiveMembers all;
  for (int t = 0; t < tasks; ++t)
    for (int m = 0; m < members; ++m)
      all.push_back("/job:w/replica:0/task:" + std::to_string(t) +
                    "/device:CPU:" + std::to_string(m));
  return CollectiveGroup(all);
}

// What each task of the group has at the end.
std::vector<Tensor> made(const CollectiveGroup& group,
                         const std::function<CollectiveCall(int member)>& call) {
  Mail mail;
  std::vector<Tensor> results(group.tasks.size());
  std::vector<std::thread> threads;
  for (size_t me = 0; me < group.tasks.size(); ++me)
    threads.emplace_back([&, me] {
      std::vector<CollectiveCall> calls;
      for (const int32_t m : group.tasks[me].members) calls.push_back(call(m));
      std::vector<const CollectiveCall*> own;
      for (const CollectiveCall& c : calls) own.push_back(&c);
      Mail::Way way(mail, me);
      results[me] = exchanged(group, me, own, way);
    });
  for (std::thread& t : threads) t.join();
  return results;
}

void add(Tensor& to, const Tensor& from) {
  for (int64_t i = 0; i < to.num_elements(); ++i) to.data<float>()[i] += from.data<float>()[i];
}

Tensor drawn(int member, int64_t elements) {
  std::minstd_rand random(static_cast<unsigned>(member + 1));
  Tensor t(DType::kFloat, Shape{elements});
  for (int64_t i = 0; i < elements; ++i)
    t.data<float>()[i] = static_cast<float>(random() % 10'000) / 7;
  return t;
}

TEST(CollectiveExchange, ASumHasTheSameBitsOnEveryTask) {
  for (const auto& [tasks, members] : {std::pair{1, 3}, {2, 1}, {3, 2}, {5, 1}})
    for (const int64_t elements : {0, 1, 2, 1000, 16'384, 16'385, 100'003}) {
      const CollectiveGroup group = group_of(tasks, members);
      const auto results = made(
          group, [&](int m) { return CollectiveCall{.value = drawn(m, elements), .merge = &add}; });
      for (const Tensor& r : results) {
        ASSERT_EQ(r.num_elements(), elements);
        EXPECT_TRUE(elements == 0 || std::memcmp(r.raw(), results[0].raw(), r.bytes()) == 0)
            << tasks << ' ' << elements;
      }
      for (const int64_t i : {int64_t{0}, elements / 2, elements - 1}) {
        if (i < 0 || i >= elements) continue;
        double sum = 0;
        for (int m = 0; m < group.size; ++m) sum += drawn(m, elements).data<float>()[i];
        EXPECT_NEAR(results[0].data<float>()[i], sum, 1e-2 * group.size);
      }
    }
}

TEST(CollectiveExchange, WhatIsGatheredStandsInTheGroupsOrder) {
  const auto results = made(group_of(3, 2), [](int m) {
    return CollectiveCall{.kind = Kind::kGather,
                          .value = Tensor::of<int32_t>({m, -m}, Shape{1, 2})};
  });
  for (const Tensor& r : results) {
    EXPECT_EQ(r.shape(), (Shape{6, 2}));
    for (int m = 0; m < 6; ++m) EXPECT_EQ(r.data<int32_t>()[2 * m + 1], -m);
  }
}

TEST(CollectiveExchange, OneMembersValueGoesToAll) {
  const auto results = made(group_of(3, 2), [](int m) {
    return m == 3 ? CollectiveCall{.kind = Kind::kSend, .value = Tensor::scalar(2.5f)}
                  : CollectiveCall{.kind = Kind::kReceive};
  });
  for (const Tensor& r : results) EXPECT_EQ(r.item<float>(), 2.5f);
}

TEST(CollectiveExchange, ShapesMustAgree) {
  Mail mail;
  Mail::Way way(mail, 0);
  const CollectiveCall a{.value = drawn(0, 2), .merge = &add},
      b{.value = drawn(1, 3), .merge = &add};
  EXPECT_THROW(exchanged(group_of(1, 2), 0, {&a, &b}, way), Error);
}

}  // namespace
}  // namespace emplace
