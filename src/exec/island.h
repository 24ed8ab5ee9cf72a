#pragma once
#include <memory>
#include <vector>

#include "exec/program.h"

namespace emplace {

// Calls of one device that are one instruction: made plainly in the first step, recorded in the
// second, replayed from then on. Immutable once the program is made; what an instance has recorded
// lies with the instance.
class Island {
 public:
  // A call that was an instruction of its own.
  struct Member {
    Call call;
    CallSite site;
    Label label;
    int lane;
    bool light;  // only takes a handle of a variable: made each step, so that it is fresh
    int own_aliases;  // the most that Touched has of its variables
    std::vector<uint32_t> after;  // earlier members of other lanes
  };
  std::vector<Member> members;
  int queue = 0;
  std::vector<uint32_t> loose;  // slots whose address or shape may change from step to step
  struct Reference {            // a handle that a write hands on
    uint32_t from, to;
  };
  std::vector<Reference> references;
  struct Touched {  // a variable, by the slot of its handle
    uint32_t slot;
    int own_aliases;  // and reads of the island behind it, whose handles are taken before
    bool writes;
  };
  std::vector<Touched> touched;

  static void run(const void* state, KernelContext& c) {
    static_cast<const Island*>(state)->run(c);
  }

 private:
  // A recording, what it counts on, and what its calls are made with.
  struct Made {
    std::vector<const void*> addresses;  // by number, as address() has them
    std::vector<Shape> shapes;           // of the loose slots: launches are made for them
    std::unique_ptr<class FrozenCalls> calls;
    std::unique_ptr<Recording> recording;
    void replay();
  };
  // An instance's, the latest used last.
  struct Kept {
    int steps = 0, forgotten = 0;
    std::vector<Made> made;
  };

  void run(KernelContext& c) const;
  void run_plainly(KernelContext& c) const;
  void take_handles(KernelContext& c) const;
  void drop_handles(KernelContext& c) const;
  bool settled(KernelContext& c) const;  // would every write happen in place?
  // What may move: the loose slots, then the variables.
  const void* address(size_t i, const KernelContext& c) const;
  bool counts_on(const Made& made, const KernelContext& c) const;  // what is there now
  Made* find(Kept& kept, KernelContext& c) const;  // null: something can't be recorded
  Made record(KernelContext& c) const;
};

}  // namespace emplace
