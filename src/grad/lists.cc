// Gradients of lists of tensors: lists of the elements' gradients.
#include "grad/rows.h"

namespace emplace::grad {
namespace {

Output without_first(Output shape) { return f("Slice", shape, ints({1}), ints({-1})); }

AttrList of_type(Output element) { return {{"element_dtype", element.dtype()}}; }

Back of_push(const Forward& n) {
  Node* popped = op("TensorListPopBack", {n.dy(), shape_of(n.x(1))}, of_type(n.x(1))).node;
  return {popped->output(0), popped->output(1)};
}

Back of_get(const Forward& n) {
  const Output dy = n.dy(), size = f("TensorListLength", n.x(0));
  const Output empty = op("TensorListReserve", {shape_of(dy), size}, of_type(dy));
  return {f("TensorListSetItem", empty, n.x(1), dy)};
}

Back of_set(const Forward& n) {
  const Output dy = n.dy(), item = n.x(2);
  const Output back = op("TensorListGetItem", {dy, n.x(1), shape_of(item)}, of_type(item));
  return {f("TensorListSetItem", dy, n.x(1), zeros_like(item)), {}, back};
}

Back of_list_gather(const Forward& n) {
  return {f("TensorListScatterV2", n.dy(), n.x(1), n.x(2), f("TensorListLength", n.x(0)))};
}

Output gathered(Output list, Output indices, Output like) {
  return op("TensorListGather", {list, indices, without_first(shape_of(like))}, of_type(like));
}

}  // namespace

void add_lists(Rows& rows) {
  rows.add("TensorListPushBack", of_push);
  rows.add("TensorListPopBack", [](const Forward& n) -> Back {
    return {f("TensorListPushBack", n.dy(0), n.dy(1))};
  });
  rows.add("TensorListStack", [](const Forward& n) -> Back {
    return {f("TensorListFromTensor", n.dy(), n.x(1))};
  });
  rows.add("TensorListFromTensor", [](const Forward& n) -> Back {
    return {op("TensorListStack", {n.dy(), without_first(shape_of(n.x(0)))}, of_type(n.x(0)))};
  });
  rows.add("TensorListGetItem", of_get);
  rows.add("TensorListSetItem", of_set);
  rows.add("TensorListGather", of_list_gather);
  rows.add({"TensorListScatter", "TensorListScatterV2"}, [](const Forward& n) -> Back {
    return {gathered(n.dy(), n.x(1), n.x(0))};
  });
  rows.add("TensorListScatterIntoExistingList", [](const Forward& n) -> Back {
    const Output kept =
        f("TensorListScatterIntoExistingList", n.dy(), zeros_like(n.x(1)), n.x(2));
    return {kept, gathered(n.dy(), n.x(2), n.x(1))};
  });
  rows.add("TensorListResize", [](const Forward& n) -> Back {
    return {f("TensorListResize", n.dy(), f("TensorListLength", n.x(0)))};
  });
  rows.stop({"EmptyTensorList", "TensorListReserve", "TensorListLength", "TensorListElementShape",
             "OptionalNone"});
}

}  // namespace emplace::grad
