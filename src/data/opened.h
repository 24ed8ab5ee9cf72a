#pragma once
#include <memory>

#include "data/captured.h"
#include "data/dataset.h"
#include "data/state.h"
#include "kernel/kernel.h"

// Datasets of datasets, in turns: what the sequential ones and the parallel ones have in common.
namespace emplace::data {

// What a function makes of an element: a dataset, opened.
struct Opened {
  Element from;  // the element, to open it again
  DatasetPtr dataset;
  std::unique_ptr<Iterator> iterator;
};

class Opener {
 public:
  Opener(const Captured& f, Caller& c) : f_(f, c) {}
  void open(Caller& c, Opened& o) {
    Element made;
    f_(c, o.from, made);
    if (made.size() != 1) throw invalid_argument("Function must return a single dataset.");
    o.dataset = dataset_in(made[0]);
    o.iterator = o.dataset->iterator(c);
  }
  void save(StateWriter& w, const Opened& o) const {
    w.put(o.from);
    o.iterator->save(w);
  }
  void restore(Caller& c, StateReader& r, Opened& o) {
    o.from = r.element();
    open(c, o);
    o.iterator->restore(c, r);
  }

 private:
  Captured::Call f_;
};

// How many are open at once, and how many elements of one come before the next one's turn.
struct Turns {
  int64_t length = 1, block = 1;
};

Turns turns_in(KernelContext& c, int first, int64_t calls);

}  // namespace emplace::data
