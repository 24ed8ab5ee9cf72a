#include "kernel/einsum_labels.h"

#include <gtest/gtest.h>

namespace emplace::einsum {
namespace {

TEST(EinsumLabels, RolesFollowTheOutputsOrder) {
  const EinsumLabels l = label_einsum(parse_einsum("bij,bjk->bki"), {Shape{2, 3, 4}, Shape{2, 4, 5}});
  const Roles r(l);
  EXPECT_EQ(r.batch, Labels{'b'});
  EXPECT_EQ(r.left, Labels{'i'});
  EXPECT_EQ(r.right, Labels{'k'});
  EXPECT_EQ(r.inner, Labels{'j'});
  EXPECT_EQ(product(joined(r.left, r.right), l.sizes), 15);
}

TEST(EinsumLabels, ALabelThatStandsTwiceWalksTheDiagonal) {
  const EinsumLabels l = label_einsum(parse_einsum("ii->i"), {Shape{4, 4}});
  EXPECT_EQ(steps_of(Shape{4, 4}, l.inputs[0], l.sizes), (Steps{{'i', 5}}));
  EXPECT_EQ(once(l.inputs[0]), Labels{'i'});
}

TEST(EinsumLabels, ADimensionThatIsSpreadStays) {
  const Sizes sizes = {{'i', 3}, {'j', 4}};
  EXPECT_EQ(steps_of(Shape{1, 4}, {'i', 'j'}, sizes), (Steps{{'i', 0}, {'j', 1}}));
  EXPECT_EQ(packed({'j', 'i'}, sizes), (Steps{{'j', 3}, {'i', 1}}));
}

}  // namespace
}  // namespace emplace::einsum
