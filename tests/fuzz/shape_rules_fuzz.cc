// Shape rules: the bytes choose an operation, then dtypes, shapes and values of its inputs and its attributes.
#include <vector>

#include "fuzz.h"
#include "op/op_def.h"
#include "op/shape_context.h"

namespace {

using namespace emplace;

class Choices {
 public:
  explicit Choices(std::string_view bytes) : bytes_(bytes) {}
  int64_t below(int64_t n) { return byte() % n; }
  int64_t number() {
    constexpr int64_t kEdges[] = {-1, INT32_MIN, INT32_MAX, INT64_MIN, INT64_MAX, int64_t{1} << 40};
    const int64_t b = byte();
    return b < 240 ? b % 9 - 2 : kEdges[static_cast<size_t>(b) % std::size(kEdges)];
  }
  Shape shape() {
    if (below(8) == 0) return Shape::unknown();
    Shape s;
    for (int64_t rank = below(6); rank > 0; --rank) s.push_back(below(8) == 0 ? -1 : below(5));
    return s;
  }

 private:
  uint8_t byte() {
    if (at_ == bytes_.size()) return 0;
    return static_cast<uint8_t>(bytes_[at_++]);
  }

  std::string_view bytes_;
  size_t at_ = 0;
};

AttrValue value_of(const AttrDef& a, Choices& c) {
  switch (a.type) {
    case AttrType::kInt: return a.is_list ? AttrValue(std::vector<int64_t>{c.number(), c.number(), c.number(), c.number()}) : AttrValue(c.number());
    case AttrType::kBool: return a.is_list ? AttrValue(std::vector<bool>{true}) : AttrValue(c.below(2) == 1);
    case AttrType::kFloat: return a.is_list ? AttrValue(std::vector<float>{1, 0.5F}) : AttrValue(static_cast<float>(c.number()));
    case AttrType::kString: return AttrValue(a.allowed_strings.empty() ? std::string("NHWC") : a.allowed_strings[static_cast<size_t>(c.below(static_cast<int64_t>(a.allowed_strings.size())))]);
    case AttrType::kShape: return a.is_list ? AttrValue(std::vector<Shape>{c.shape()}) : AttrValue(c.shape());
    default: return {};
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  return fuzz::tried(data, size, [](std::string_view bytes) {
    Choices c(bytes);
    static const std::vector<const OpDef*> ops = op_catalogue().all();
    const OpDef& op = *ops[static_cast<size_t>(c.below(256) * 256 + c.below(256)) % ops.size()];
    constexpr DType kTypes[] = {DType::kFloat, DType::kInt32, DType::kInt64, DType::kString, DType::kResource};
    std::vector<DType> types;
    for (const ArgDef& a : op.inputs)
      types.push_back(a.type != DType::kInvalid ? a.type : kTypes[static_cast<size_t>(c.below(5))]);
    AttrList attrs;
    for (const AttrDef& a : op.attrs)
      if (a.type != AttrType::kType && a.type != AttrType::kFunc && a.type != AttrType::kTensor && c.below(2) == 0)
        attrs.push_back({a.name, value_of(a, c)});
    attrs = complete_attrs(op, types, std::move(attrs));
    if (input_types(op, attrs).size() != types.size()) return;
    std::vector<ShapeContext::Input> inputs(types.size());
    std::vector<Tensor> values;
    values.reserve(types.size());
    for (size_t i = 0; i < types.size(); ++i) {
      inputs[i].dtype = types[i];
      inputs[i].shape = c.shape();
      if (types[i] != DType::kInt32 && types[i] != DType::kInt64) continue;
      if (!inputs[i].shape.is_fully_known() || c.below(2) == 0) continue;
      Tensor& t = values.emplace_back(types[i], inputs[i].shape);
      for (int64_t k = 0; k < t.num_elements(); ++k) {
        if (types[i] == DType::kInt32) t.data<int32_t>()[k] = static_cast<int32_t>(c.number());
        else t.data<int64_t>()[k] = c.number();
      }
      inputs[i].value = &t;
    }
    ShapeContext context(op, attrs, inputs, static_cast<int>(output_types(op, attrs).size()));
    if (op.shape_rule) op.shape_rule(context);
  });
}
