// Gradients of products of matrices.
#include "grad/rows.h"

namespace emplace::grad {
namespace {

// One product of either operation; `names` are its attributes that turn an argument round.
struct Product {
  const char* op;
  const char *first, *second;
  bool conjugates;  // by itself, where it turns

  Output operator()(Output a, Output b, bool ta, bool tb) const {
    return emplace::op(op, {a, b}, {{first, ta}, {second, tb}});
  }
};

std::vector<Output> gradients_of(const Product& product, const Forward& n) {
  const bool ta = n.attr<bool>(product.first), tb = n.attr<bool>(product.second);
  // A product that conjugates where it turns does so here where the value was not turned before.
  const auto plain = [&](Output x) { return product.conjugates ? x : conj(x); };
  const Output a = plain(n.x(0)), b = plain(n.x(1)), dy = n.dy();
  if (!ta && !tb) return {product(dy, b, false, true), product(a, dy, true, false)};
  if (!ta && tb) return {product(dy, b, false, false), product(dy, a, true, false)};
  if (ta && !tb) return {product(b, dy, false, true), product(a, dy, false, false)};
  return {product(b, dy, true, true), product(dy, a, true, true)};
}

std::vector<Output> of_batches(const Forward& n, const Product& product) {
  std::vector<Output> g = gradients_of(product, n);
  return {like(g[0], n.x(0)), like(g[1], n.x(1))};  // the leading axes broadcast
}

std::vector<Output> of_inverse(const Forward& n) {
  const bool adjoint = n.attr<bool>("adjoint");
  const Product product{"BatchMatMulV2", "adj_x", "adj_y", true};
  const Output inner = product(n.dy(), n.y(), false, !adjoint);
  if (adjoint) return {-product(n.y(), product(n.dy(), n.y(), true, false), false, false)};
  return {-product(n.y(), inner, true, false)};
}

std::vector<Output> of_determinant(const Forward& n) {
  const Output inverse = op("MatrixInverse", {n.x()}, {{"adjoint", true}});
  const Output shape = f("ConcatV2", shape_of(n.y()), ints({1, 1}), constant(0));
  return {f("Reshape", n.dy() * n.y(), shape) * inverse};
}

}  // namespace

void add_products(Rows& rows) {
  rows.add("MatMul", [](const Forward& n) {
    return gradients_of({"MatMul", "transpose_a", "transpose_b", false}, n);
  });
  rows.add("BatchMatMul", [](const Forward& n) {
    return gradients_of({"BatchMatMul", "adj_x", "adj_y", true}, n);
  });
  for (const char* name : {"BatchMatMulV2", "BatchMatMulV3"})
    rows.add(name, [](const Forward& n) {
      return of_batches(n, {"BatchMatMulV2", "adj_x", "adj_y", true});
    });
  rows.add("Cross", [](const Forward& n) -> std::vector<Output> {
    return {f("Cross", n.x(1), n.dy()), f("Cross", n.dy(), n.x(0))};
  });
  rows.add("MatrixInverse", of_inverse);
  rows.add("MatrixDeterminant", of_determinant);
}

}  // namespace emplace::grad
