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
    bool light;  // launches nothing: made each step, so that its handle is fresh
    std::vector<uint32_t> after;  // earlier members of other lanes
  };
  std::vector<Member> members;
  int queue = 0;
  std::vector<uint32_t> loose;  // slots whose address may change from step to step
  struct Reference {            // a handle that a write hands on
    uint32_t from, to;
  };
  std::vector<Reference> references;
  struct Touched {  // a variable, by the slot of its handle
    uint32_t slot;
    int16_t own_aliases;
    bool writes;
  };
  std::vector<Touched> touched;

  static void run(const void* state, KernelContext& c) {
    static_cast<const Island*>(state)->run(c);
  }

 private:
  // A recording and what it counts on.
  struct Made {
    std::vector<const void*> addresses;
    std::unique_ptr<Recording> recording;
  };
  // An instance's, the latest used last.
  struct Kept {
    int steps = 0, forgotten = 0;
    std::vector<Made> made;
  };
  struct Context {
    const Island* island;
    KernelContext* outer;
    std::exception_ptr error;
  };

  void run(KernelContext& c) const;
  void run_plainly(KernelContext& c) const;
  static void make(const Member& m, KernelContext& outer);
  bool settled(KernelContext& c) const;  // would every write happen in place?
  std::vector<const void*> addresses(KernelContext& c) const;
  Recording* find(Kept& kept, KernelContext& c) const;  // null: something can't be recorded
  std::unique_ptr<Recording> record(KernelContext& c) const;
  static void call_member(void* context, uint64_t i);
};

}  // namespace emplace
