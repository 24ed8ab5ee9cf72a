#include "data/pipeline_testutil.h"

namespace emplace::data {
namespace {

void set_kind(AttrList& attrs, const std::vector<DType>& types) {
  set_attr(attrs, "output_types", types);
  set_attr(attrs, "output_shapes", std::vector<Shape>(types.size(), Shape::unknown()));
}

}  // namespace

std::string Pipeline::function(const std::vector<DType>& inputs, const Body& body, bool stateful) {
  auto f = std::make_shared<Function>();
  f->name = "f_" + std::to_string(functions_++);
  f->body = std::make_shared<Graph>();
  f->stateful = stateful;
  std::vector<Output> args;
  for (size_t i = 0; i < inputs.size(); ++i) {
    Node* const arg =
        f->body->add("_Arg", {}, {{"T", inputs[i]}, {"index", static_cast<int64_t>(i)}});
    f->inputs.push_back(arg);
    args.push_back(arg->output());
  }
  f->outputs = body(*f->body, args);
  e.add_function(f);
  return f->name;
}

Tensor Pipeline::range(int64_t stop) {
  return dataset("RangeDataset",
                 {Tensor::scalar<int64_t>(0), Tensor::scalar(stop), Tensor::scalar<int64_t>(1)});
}

Tensor Pipeline::slices(std::vector<Tensor> columns) {
  AttrList attrs;
  std::vector<DType> types;
  for (const Tensor& t : columns) types.push_back(t.dtype());
  set_attr(attrs, "Toutput_types", types);
  set_attr(attrs, "output_shapes", std::vector<Shape>(types.size(), Shape::unknown()));
  return e.execute("TensorSliceDataset", columns, attrs).at(0);
}

Tensor Pipeline::dataset(std::string_view op, std::vector<Tensor> inputs, std::vector<DType> types,
                         AttrList attrs) {
  set_kind(attrs, types);
  return e.execute(op, inputs, attrs).at(0);
}

Tensor Pipeline::map(Tensor input, const std::string& f, std::vector<DType> types) {
  return dataset("MapDataset", {std::move(input)}, std::move(types),
                 {{"f", FunctionName{f, {}}}, {"Targuments", std::vector<DType>{}}});
}

Tensor Pipeline::iterator(const Tensor& dataset, std::vector<DType> types) {
  AttrList attrs;
  set_kind(attrs, types);
  const Tensor it = e.execute("AnonymousIteratorV3", {}, attrs).at(0);
  e.execute("MakeIterator", std::vector{dataset, it});
  return it;
}

std::vector<Tensor> Pipeline::next(const Tensor& iterator, std::vector<DType> types) {
  AttrList attrs;
  set_kind(attrs, types);
  return e.execute("IteratorGetNext", std::vector{iterator}, attrs);
}

std::string Pipeline::all(const Tensor& dataset, std::vector<DType> types) {
  const Tensor it = iterator(dataset, types);
  std::string text;
  try {
    for (;;) {
      const std::string one = next(it, types).at(0).str();
      text += (text.empty() ? "" : " ") + one;
    }
  } catch (const Error& error) {
    if (error.code() != Code::kOutOfRange) throw;
  }
  return text;
}

}  // namespace emplace::data
