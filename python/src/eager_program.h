#pragma once
#include <nanobind/nanobind.h>

#include <memory>
#include <string>
#include <vector>

#include "emplace/eager.h"

namespace emplace::python {

// A traced function without branches and loops, laid out for quick runs: operations in order over
// numbered values, each with the kernel it found the first time (dtypes are the trace's, so it
// stays right). What nobody reads any more is let go at once. The GIL guards it.
class EagerProgram {
 public:
  // `inputs` values come first; then each operation's outputs.
  explicit EagerProgram(int inputs) : values_(inputs), last_(static_cast<size_t>(inputs), -1) {}

  // Adds an operation that reads the values with these numbers; the number of its first output.
  int add(std::string op, AttrList attrs, std::string device, std::vector<int> sources,
          int num_outputs);
  void set_results(std::vector<int> results);
  // Runs it: the results' tensors.
  std::vector<Tensor> run(std::vector<Tensor> inputs);

 private:
  struct Step {
    std::string op;
    AttrList attrs;
    std::string device;
    std::vector<int> sources;
    int num_outputs, first;
    std::shared_ptr<const EagerCall> call;
  };
  void prepare(Step& s, std::span<const Tensor> inputs);
  void run_steps(std::vector<Tensor>& values);

  int values_;
  std::vector<int> last_;  // by value: the step that reads it last; kKept for results
  std::vector<int> results_;
  std::vector<Step> steps_;
  bool ready_ = false;     // all kernels are known: runs change nothing any more
  bool light_ = false;     // … and take time in proportion to their inputs
};

void bind_eager_program(nanobind::module_& m);

}  // namespace emplace::python
