#pragma once
#include <span>
#include <vector>

#include "op/op_def.h"

namespace emplace {

// What is known about a value behind a DT_RESOURCE output (a variable's element type and shape).
struct HandleInfo {
  DType dtype = DType::kInvalid;
  Shape shape = Shape::unknown();
};

// Finds values behind inputs when a rule asks for them. Lives as long as the context.
class ValueSource {
 public:
  virtual ~ValueSource() = default;
  virtual const Tensor* value(int input) = 0;          // null if not known
  virtual const Shape* value_as_shape(int input) = 0;  // null if nothing is known
};

// Given to a shape rule: reads input shapes and known values, sets output shapes. Rules throw
// InvalidArgument on what can't be; they never assume that a shape or value is known.
class ShapeContext {
 public:
  struct Input {
    Shape shape = Shape::unknown();
    DType dtype = DType::kInvalid;
    const Tensor* value = nullptr;      // known constant, host memory; else null
    const Shape* value_as_shape = nullptr;  // a 1-D int value of which only some entries are known
    HandleInfo handle;
  };

  // Values come from `inputs`, and from `source` for those that `inputs` leave open.
  ShapeContext(const OpDef& op, const AttrList& attrs, std::span<const Input> inputs,
               int num_outputs, ValueSource* source = nullptr);

  const OpDef& op() const { return op_; }
  int num_inputs() const { return static_cast<int>(inputs_.size()); }
  int num_outputs() const { return static_cast<int>(outputs_.size()); }
  const Shape& input(int i) const { return inputs_[i].shape; }
  DType input_dtype(int i) const { return inputs_[i].dtype; }
  const Tensor* input_value(int i) const;
  const HandleInfo& input_handle(int i) const { return inputs_[i].handle; }
  ArgRange input_arg(std::string_view name) const;   // flattened range of a named argument
  ArgRange output_arg(std::string_view name) const;

  template <class T>
  const T& attr(std::string_view name) const {
    return get_attr(name).as<T>();
  }
  const AttrList& attrs() const { return attrs_; }

  void set_output(int i, Shape s) { outputs_[i] = std::move(s); }
  void set_output_handle(int i, HandleInfo h) { handles_[i] = std::move(h); }
  const Shape& output(int i) const { return outputs_[i]; }
  const HandleInfo& output_handle(int i) const { return handles_[i]; }

  // ---- Helpers that most rules use; all throw InvalidArgument in TensorFlow's words.
  // "Shape must be rank 2 but is rank 1"
  Shape with_rank(int i, int rank) const;
  Shape with_rank_at_least(int i, int rank) const;
  Shape with_rank_at_most(int i, int rank) const;
  int64_t merge_dims(int64_t a, int64_t b) const;  // "Dimensions must be equal, but are 2 and 3"
  // A 1-D integer input read as a shape: what is known of it ("[?,3]", unknown rank, …).
  Shape input_as_shape(int i) const;
  // A scalar integer input's value, or nothing.
  std::optional<int64_t> input_as_scalar(int i) const;
  // A known integer vector (or scalar) input as int64s, or nothing.
  std::optional<std::vector<int64_t>> input_as_vector(int i) const;
  // NumPy broadcasting; "Dimensions must be equal, but are 2 and 3" when impossible.
  static Shape broadcast(const Shape& a, const Shape& b);
  // What both say; "Dimension 1 in both shapes must be equal, but are 3 and 4. Shapes are …".
  static Shape merge(const Shape& a, const Shape& b);
  // `axis` counted from the front; InvalidArgument unless -rank <= axis < rank.
  static int wrapped_axis(int64_t axis, int rank);

  // " for '<node>' with input shapes: [1,2], [3,1].", with the values that the rule asked for:
  // what follows a rule's error.
  std::string call_text(std::string_view node) const;

 private:
  const AttrValue& get_attr(std::string_view name) const;
  const Shape* value_as_shape(int i) const;

  const OpDef& op_;
  const AttrList& attrs_;
  std::span<const Input> inputs_;
  std::vector<Shape> outputs_;       // start as unknown
  std::vector<HandleInfo> handles_;
  ValueSource* source_;
  mutable uint64_t asked_value_ = 0, asked_shape_ = 0;  // bit i: input i (of the first 64)
};

// Shape rules shared by families (definitions in shape_rules.cc).
namespace shape_rules {
void unknown(ShapeContext& c);
void scalar(ShapeContext& c);         // every output is a scalar
void none(ShapeContext& c);           // no outputs
void unchanged(ShapeContext& c);      // every output like input 0
void broadcast_binary(ShapeContext& c);
void merge_all(ShapeContext& c);      // output 0 = all inputs merged (AddN)
void merge_two(ShapeContext& c);      // output 0 = inputs 0 and 1 merged
void reduction(ShapeContext& c);      // input 0 reduced over input 1, attr keep_dims
void from_shape_attr(ShapeContext& c);  // attr "shape"
void from_first(ShapeContext& c);       // output 0 has the shape that input 0 holds
void from_third(ShapeContext& c);       // … input 2 holds
void old_handle(ShapeContext& c);       // of TensorFlow 1: two texts in a reference
template <int kInput, int kRank>
void like(ShapeContext& c) {  // output 0 like that input, which has this rank
  c.set_output(0, c.with_rank(kInput, kRank));
}
void matmul(ShapeContext& c);
}  // namespace shape_rules

// What a cost rule sees. Of a shape that is not known rules assume kAssumedElements, of a dimension
// kAssumedDim.
struct CostContext {
  static constexpr double kAssumedElements = 1024, kAssumedDim = 32;
  std::span<const Shape> inputs, outputs;
  std::span<const DType> input_types, output_types;
  const AttrList& attrs;

  static double elements(const Shape& s);
  static double dim(const Shape& s, int from_the_back);  // 1: the last
  double bytes() const;                                  // of all operands
  double largest() const;                                // elements of the largest operand
  bool flag(std::string_view attr) const;                // set, and true
};
namespace cost_rules {
Work cheap(const CostContext&);  // bookkeeping: nothing worth counting, whatever the size
Work elementwise(const CostContext&);
Work transcendental(const CostContext&);
Work moved(const CostContext&);      // reads of its inputs no more than it writes: slices, rows
Work updates(const CostContext&);    // changes as much of a tensor as its last input has
Work optimizer(const CostContext&);  // reads and writes variables as large as the gradient
Work normalized(const CostContext&);  // passes over input 0 for its moments, then over everything
Work pooled(const CostContext&);     // windows of attr "ksize"
Work sorted(const CostContext&);     // rows of input 0, as many as the output has
Work random(const CostContext&);     // draws what it outputs
Work transposed(const CostContext&);
Work matmul(const CostContext&);
Work einsum(const CostContext&);
}  // namespace cost_rules

}  // namespace emplace
