// Lists of tensors, and values that may be missing: variants.
#include "op/shape_context.h"
#include "stdops/stdops.h"

namespace emplace::stdops {
namespace {

using namespace shape_rules;
using namespace cost_rules;

// A list's handle carries what its elements are.
HandleInfo elements(ShapeContext& c, int input) { return c.input_handle(input); }

Shape element_shape(ShapeContext& c, int input) {
  const Shape& s = c.input(input);
  if (s.has_rank() && s.rank() == 0) return Shape::unknown();  // -1: of any shape
  return c.input_as_shape(input);
}

Shape with_first(int64_t first, const Shape& rest) {
  if (!rest.has_rank()) return Shape::unknown();
  std::vector<int64_t> dims{first};
  dims.insert(dims.end(), rest.dims().begin(), rest.dims().end());
  return Shape(std::span<const int64_t>(dims));
}

Shape without_first(const Shape& s) {
  if (!s.has_rank() || s.rank() == 0) return Shape::unknown();
  return Shape(s.dims().subspan(1));
}

void new_list(ShapeContext& c) {
  c.set_output(0, Shape{});
  c.set_output_handle(0, {c.attr<DType>("element_dtype"), element_shape(c, 0)});
}

void list_like_input(ShapeContext& c) {
  c.set_output(0, Shape{});
  c.set_output_handle(0, elements(c, 0));
}

void push_back(ShapeContext& c) {
  c.set_output(0, Shape{});
  HandleInfo h = elements(c, 0);
  h.dtype = c.attr<DType>("element_dtype");
  c.set_output_handle(0, h);
}

void pop_back(ShapeContext& c) {
  c.set_output(0, Shape{});
  c.set_output_handle(0, elements(c, 0));
  c.set_output(1, ShapeContext::merge(elements(c, 0).shape, element_shape(c, 1)));
}

void push_back_batch(ShapeContext& c) {
  c.set_output(0, c.input(0));
  c.set_output_handle(0, elements(c, 0));
}

void get_item(ShapeContext& c) {
  c.set_output(0, ShapeContext::merge(elements(c, 0).shape, element_shape(c, 2)));
}

void set_item(ShapeContext& c) { push_back(c); }

void stacked(ShapeContext& c) {
  const int64_t n = c.attr<int64_t>("num_elements");
  c.set_output(0, with_first(n >= 0 ? n : Shape::kUnknown,
                             ShapeContext::merge(elements(c, 0).shape, element_shape(c, 1))));
}

void from_tensor(ShapeContext& c) {
  c.set_output(0, Shape{});
  c.set_output_handle(
      0, {c.attr<DType>("element_dtype"), ShapeContext::merge(element_shape(c, 1), without_first(c.input(0)))});
}

void gathered(ShapeContext& c) {
  const Shape& indices = c.input(1);
  const int64_t n = indices.has_rank() && indices.rank() == 1 ? indices.dim(0) : Shape::kUnknown;
  c.set_output(0, with_first(n, ShapeContext::merge(elements(c, 0).shape, element_shape(c, 2))));
}

void scattered(ShapeContext& c) {
  c.set_output(0, Shape{});
  c.set_output_handle(0, {c.attr<DType>("element_dtype"), element_shape(c, 2)});
}

void split_list(ShapeContext& c) {
  c.set_output(0, Shape{});
  c.set_output_handle(0, {c.attr<DType>("element_dtype"), element_shape(c, 1)});
}

void concatenated(ShapeContext& c, const Shape& given) {
  const Shape s = ShapeContext::merge(elements(c, 0).shape, given);
  c.set_output(0, with_first(Shape::kUnknown, without_first(s)));
  c.set_output(1, Shape{Shape::kUnknown});
}

void concat_v1(ShapeContext& c) { concatenated(c, c.attr<Shape>("element_shape")); }
void list_concat_v2(ShapeContext& c) { concatenated(c, element_shape(c, 1)); }

void concat_lists(ShapeContext& c) { c.set_output(0, c.input(0)); }

void element_shape_out(ShapeContext& c) {
  const Shape& s = elements(c, 0).shape;
  c.set_output(0, s.has_rank() ? Shape{s.rank()} : Shape::unknown());
}

void optional_values(ShapeContext& c) {
  const auto& shapes = c.attr<std::vector<Shape>>("output_shapes");
  for (int i = 0; i < c.num_outputs() && i < static_cast<int>(shapes.size()); ++i)
    c.set_output(i, shapes[static_cast<size_t>(i)]);
}

constexpr OpRow kListsRows[] = {
    {"EmptyTensorList(element_shape: shape_type, max_num_elements: int32) -> (handle: variant) "
     "| element_dtype: type; shape_type: type in [int32,int64]",
     new_list, cheap,
     "A list without elements."},
    {"TensorListReserve(element_shape: shape_type, num_elements: int32) -> (handle: variant) | "
     "element_dtype: type; shape_type: type in [int32,int64]",
     new_list, cheap,
     "A list of elements that are not set yet."},
    {"TensorListPushBack(input_handle: variant, tensor: element_dtype) -> (output_handle: "
     "variant) | element_dtype: type",
     push_back, cheap,
     "The list with one more element."},
    {"TensorListPushBackBatch(input_handles: variant, tensor: element_dtype) -> "
     "(output_handles: variant) | element_dtype: type",
     push_back_batch, cheap,
     "Each list with one more element."},
    {"TensorListPopBack(input_handle: variant, element_shape: int32) -> (output_handle: "
     "variant, tensor: element_dtype) | element_dtype: type",
     pop_back, cheap,
     "The list without its last element, and that element."},
    {"TensorListSetItem(input_handle: variant, index: int32, item: element_dtype) -> "
     "(output_handle: variant) | element_dtype: type; resize_if_index_out_of_bounds: bool = "
     "false",
     set_item, cheap,
     "The list with one element replaced."},
    {"TensorListGetItem(input_handle: variant, index: int32, element_shape: Tshape) -> (item: "
     "element_dtype) | element_dtype: type; Tshape: type in [int32,int64] = int32",
     get_item, moved,
     "One element of a list."},
    {"TensorListStack(input_handle: variant, element_shape: int32) -> (tensor: element_dtype) | "
     "element_dtype: type; num_elements: int = -1",
     stacked, moved,
     "All elements as one tensor."},
    {"TensorListFromTensor(tensor: element_dtype, element_shape: shape_type) -> (output_handle: "
     "variant) | element_dtype: type; shape_type: type in [int32,int64]",
     from_tensor, moved,
     "The rows of a tensor as a list."},
    {"TensorListLength(input_handle: variant) -> (length: int32)",
     scalar, cheap,
     "How many elements a list has."},
    {"TensorListResize(input_handle: variant, size: int32) -> (output_handle: variant)",
     list_like_input, cheap,
     "The list made longer or shorter."},
    {"TensorListElementShape(input_handle: variant) -> (element_shape: shape_type) | "
     "shape_type: type in [int32,int64]",
     element_shape_out, cheap,
     "The shape that the elements share."},
    {"TensorListConcat(input_handle: variant) -> (tensor: element_dtype, lengths: int64) | "
     "element_dtype: type; element_shape: shape = unknown",
     concat_v1, elementwise,
     "The elements one after another along their first dimension."},
    {"TensorListConcatV2(input_handle: variant, element_shape: shape_type, leading_dims: int64) "
     "-> (tensor: element_dtype, lengths: int64) | element_dtype: type; shape_type: type in "
     "[int32,int64]",
     list_concat_v2, elementwise,
     "The elements one after another along their first dimension."},
    {"TensorListSplit(tensor: element_dtype, element_shape: shape_type, lengths: int64) -> "
     "(output_handle: variant) | element_dtype: type; shape_type: type in [int32,int64]",
     split_list, elementwise,
     "Pieces of a tensor, of given lengths, as a list."},
    {"TensorListGather(input_handle: variant, indices: int32, element_shape: int32) -> (values: "
     "element_dtype) | element_dtype: type",
     gathered, moved,
     "Some elements as one tensor."},
    {"TensorListScatter(tensor: element_dtype, indices: int32, element_shape: shape_type) -> "
     "(output_handle: variant) | element_dtype: type; shape_type: type in [int32,int64]",
     scattered, elementwise,
     "A list with rows of a tensor at given places."},
    {"TensorListScatterV2(tensor: element_dtype, indices: int32, element_shape: shape_type, "
     "num_elements: int32) -> (output_handle: variant) | element_dtype: type; shape_type: type "
     "in [int32,int64]",
     scattered, elementwise,
     "A list with rows of a tensor at given places."},
    {"TensorListScatterIntoExistingList(input_handle: variant, tensor: element_dtype, indices: "
     "int32) -> (output_handle: variant) | element_dtype: type",
     list_like_input, elementwise,
     "The list with rows of a tensor at given places."},
    {"TensorListConcatLists(input_a: variant, input_b: variant) -> (output: variant) | "
     "element_dtype: type",
     concat_lists, cheap,
     "Two lists as one."},
    {"OptionalFromValue(components: Toutput_types) -> (optional: variant) | Toutput_types: "
     "list(type) >= 1",
     scalar, cheap,
     "A value that is there."},
    {"OptionalNone() -> (optional: variant)",
     scalar, cheap,
     "A value that is missing."},
    {"OptionalHasValue(optional: variant) -> (has_value: bool)",
     scalar, cheap,
     "Is the value there?"},
    {"OptionalGetValue(optional: variant) -> (components: output_types) | output_types: "
     "list(type) >= 1; output_shapes: list(shape) >= 1",
     optional_values, cheap,
     "The value, if it is there."},
    {"EmptyTensorMap() -> (handle: variant)",
     scalar, cheap,
     "A map without entries."},
    {"TensorMapSize(input_handle: variant) -> (size: int32)",
     scalar, cheap,
     "How many entries a map has."},
    {"TensorMapLookup(input_handle: variant, key: key_dtype) -> (value: value_dtype) | key_dtype: "
     "type; value_dtype: type",
     unknown, cheap,
     "The value of a key."},
    {"TensorMapInsert(input_handle: variant, key: key_dtype, value: value_dtype) -> "
     "(output_handle: variant) | key_dtype: type; value_dtype: type",
     scalar, cheap,
     "A map with one more entry."},
    {"TensorMapErase(input_handle: variant, key: key_dtype) -> (output_handle: variant) | "
     "key_dtype: type; value_dtype: type",
     scalar, cheap,
     "A map without one of its entries."},
    {"TensorMapHasKey(input_handle: variant, key: key_dtype) -> (has_key: bool) | key_dtype: type",
     scalar, cheap,
     "Does a map have a key?"},
    {"TensorMapStackKeys(input_handle: variant) -> (keys: key_dtype) | key_dtype: type",
     unknown, cheap,
     "All keys of a map."},
};

}  // namespace

std::span<const OpRow> list_ops() { return kListsRows; }

}  // namespace emplace::stdops
