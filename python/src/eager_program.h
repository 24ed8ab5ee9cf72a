#pragma once
#include <nanobind/nanobind.h>

#include <memory>
#include <string>
#include <vector>

#include "emplace/eager.h"

namespace emplace::python {

// What a trace became: run with the values of its inputs, it gives its results.
class Runnable {
 public:
  virtual ~Runnable() = default;
  virtual std::vector<Tensor> run(std::vector<Tensor> inputs) = 0;
};

// A short traced function without branches and loops, laid out for quick runs: operations in order over
// numbered values, each with the kernel it found the first time (dtypes are the trace's, so it
// stays right). What nobody reads any more is let go at once. The GIL guards it.
class EagerProgram final : public Runnable {
 public:
  // `inputs` values come first; then each operation's outputs.
  explicit EagerProgram(int inputs) : values_(inputs), last_(static_cast<size_t>(inputs), -1) {}

  // Adds an operation that reads the values with these numbers; the number of its first output.
  int add(std::string op, AttrList attrs, std::string device, std::vector<int> sources,
          int num_outputs);
  void set_results(std::vector<int> results);
  // Runs it: the results' tensors.
  std::vector<Tensor> run(std::vector<Tensor> inputs) override;

 private:
  struct Step {
    std::string op;
    AttrList attrs;
    std::string device;
    std::vector<int> sources;
    int num_outputs, first;
    std::shared_ptr<const EagerCall> call;
  };
  const EagerCall& prepare(Step& s, std::span<const Tensor> inputs);
  // `ready`: needs no GIL. Otherwise it is let go while a kernel runs.
  void run_steps(std::vector<Tensor>& values, bool ready);

  int values_;
  std::vector<int> last_;  // by value: the step that reads it last; kKept for results
  std::vector<int> results_;
  std::vector<Step> steps_;
  bool ready_ = false;     // all kernels are known: runs change nothing any more
  bool light_ = false;     // … and take time in proportion to their inputs
};

// A traced function as the graph engine runs it. The GIL is let go meanwhile.
class GraphProgram final : public Runnable {
 public:
  explicit GraphProgram(std::shared_ptr<EagerFunction> f) : function_(std::move(f)) {}
  std::vector<Tensor> run(std::vector<Tensor> inputs) override;

 private:
  const std::shared_ptr<EagerFunction> function_;
};

void bind_eager_program(nanobind::module_& m);
void bind_function(nanobind::module_& m);

}  // namespace emplace::python
