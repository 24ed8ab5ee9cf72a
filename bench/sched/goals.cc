#include "bench/sched/goals.h"

#include <algorithm>
#include <array>
#include <cstdio>
#include <ostream>
#include <string_view>

#include "bench/sched/contender.h"

namespace emplace::bench {
namespace {

constexpr double kOverBestPeer = 0.5;
constexpr double kOverFloor = 1.3;
constexpr double kTwoWorkersGain = 1.7;
constexpr double kTwoNoWorse = 1.05;  // as exact as two medians can be told apart

struct FloorLimit {
  const char* work;
  double over_in_order;
};
constexpr std::array kFloorLimits = {FloorLimit{"chain-100000", 2.9},
                                     FloorLimit{"wave-256x256", 3.5},
                                     FloorLimit{"random-65536", 16}};
constexpr std::array kSmall = {"chain-32", "random-32"};

struct Absolute {
  const char* row;
  double limit;
};
constexpr std::array kAbsolutes = {Absolute{"sched/add-1/1", 20}, Absolute{"sched/add-1024/1", 60},
                                   Absolute{"sched/place-100000", 0.5}};

class Judge {
 public:
  explicit Judge(const std::vector<Row>& rows) : rows_(rows) {}

  std::vector<Goal> all() {
    for (const FloorLimit& limit : kFloorLimits) {
      floor_is_a_floor(limit);
      for (const char* workers : {"/1", "/2"}) large(std::string("sched/") + limit.work + workers);
      no_worse_with_two(std::string("sched/") + limit.work);
    }
    for (const char* small : kSmall) {
      for (const char* workers : {"/1", "/2"}) rival(std::string("sched/") + small + workers);
    }
    for (const char* work : {"sched/wave-1us/gain", "sched/random-1us/gain"}) gains(work);
    for (const Absolute& absolute : kAbsolutes) at_most(absolute);
    linear_placement();
    return std::move(goals_);
  }

 private:
  const Row* find(const std::string& name) const {
    const auto found = std::ranges::find(rows_, name, &Row::name);
    return found == rows_.end() ? nullptr : &*found;
  }

  void floor_is_a_floor(const FloorLimit& limit) {
    const Row* row = find(std::string("sched/") + limit.work + "/1");
    if (row == nullptr || row->peer("floor") == nullptr || row->peer("in order") == nullptr) return;
    goals_.push_back({row->name + ": floor over the plain loop",
                      row->peer("floor")->value / row->peer("in order")->value,
                      limit.over_in_order});
  }

  void rival(const std::string& name) {
    const Row* row = find(name);
    if (row == nullptr || !row->ratio()) return;
    goals_.push_back({name + ": ours over " + row->best_peer()->name, *row->ratio(), kOverBestPeer});
  }

  void large(const std::string& name) {
    rival(name);
    const Row* row = find(name);
    if (row == nullptr || !row->value || row->peer("floor") == nullptr) return;
    goals_.push_back(
        {name + ": ours over the floor", *row->value / row->peer("floor")->value, kOverFloor});
  }

  void no_worse_with_two(const std::string& name) {
    const Row* two = find(name + "/2");
    if (two == nullptr || !two->value || two->peer(kOneWorker) == nullptr) return;
    goals_.push_back({name + ": two workers over one", *two->value / two->peer(kOneWorker)->value,
                      kTwoNoWorse});
  }

  void gains(const std::string& name) {
    const Row* row = find(name);
    if (row == nullptr) return;
    if (const Peer* floor = row->peer("floor")) {
      goals_.push_back({name + ": floor", floor->value, kTwoWorkersGain, true});
    }
    if (row->value) goals_.push_back({name + ": ours", *row->value, kTwoWorkersGain, true});
  }

  void at_most(const Absolute& absolute) {
    const Row* row = find(absolute.row);
    if (row == nullptr || !row->value) return;
    goals_.push_back({row->name + ", " + row->unit, *row->value, absolute.limit});
  }

  // A hundred times the nodes may take a hundred times as long, and as much again: a thousand are in
  // a core's own cache, a hundred thousand in none. (Over the decade between, the step out of the
  // shared cache alone makes 14 to 16 of 10.)
  void linear_placement() {
    const Row* small = find("sched/place-1000");
    const Row* large = find("sched/place-100000");
    if (small == nullptr || large == nullptr || !small->value || !large->value) return;
    goals_.push_back({"placing 100,000 nodes over 1,000", *large->value / *small->value, 200});
  }

  const std::vector<Row>& rows_;
  std::vector<Goal> goals_;
};

}  // namespace

std::vector<Goal> judge(const std::vector<Row>& rows) { return Judge(rows).all(); }

void print_goals(std::ostream& out, const std::vector<Goal>& goals) {
  for (const Goal& goal : goals) {
    char text[64];
    std::snprintf(text, sizeof text, "%8.3g %s %-5.3g", goal.figure, goal.at_least ? ">=" : "<=",
                  goal.limit);
    out << (goal.met() ? "met   " : "MISSED") << text << "  " << goal.what << '\n';
  }
}

}  // namespace emplace::bench
