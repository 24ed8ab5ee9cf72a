#include "emplace/tensor.h"

#include <gtest/gtest.h>

#include <numeric>

namespace emplace {
namespace {

template <class F>
Code code_of(F f) {
  try {
    f();
  } catch (const Error& e) {
    return e.code();
  }
  return Code::kOk;
}

Tensor counting(Shape shape) {
  Tensor t(DType::kInt32, std::move(shape));
  std::iota(t.data<int32_t>(), t.data<int32_t>() + t.num_elements(), 0);
  return t;
}

struct Counted : Resource {
  explicit Counted(int* alive) : alive_(alive) { ++*alive_; }
  ~Counted() override { --*alive_; }
  std::string debug_string() const override { return "counted"; }
  int* alive_;
};

TEST(TensorTest, DefaultHasNoValue) {
  const Tensor t;
  EXPECT_FALSE(t.has_value());
  EXPECT_EQ(t.bytes(), 0u);
  EXPECT_EQ(t.raw(), nullptr);
}

TEST(TensorTest, FreshMemoryIsAlignedAtEverySize) {
  for (const int64_t n : {0, 1, 7, 64, 1000, 1 << 20}) {
    const Tensor t(DType::kFloat, {n});
    EXPECT_EQ(reinterpret_cast<uintptr_t>(t.raw()) % 64, 0u);
    EXPECT_EQ(t.num_elements(), n);
    EXPECT_EQ(t.bytes(), static_cast<size_t>(n) * 4);
    EXPECT_EQ(t.device(), nullptr);
  }
}

TEST(TensorTest, RefusesShapesThatAreNotKnownOrTooLarge) {
  EXPECT_EQ(code_of([] { Tensor(DType::kFloat, {2, -1}); }), Code::kInvalidArgument);
  EXPECT_EQ(code_of([] { Tensor(DType::kFloat, Shape::unknown()); }), Code::kInvalidArgument);
  EXPECT_EQ(code_of([] { Tensor(DType::kInvalid, {2}); }), Code::kInvalidArgument);
  constexpr int64_t k = int64_t{1} << 40;
  EXPECT_EQ(code_of([] { Tensor(DType::kFloat, {k, k}); }), Code::kInvalidArgument);
  EXPECT_EQ(code_of([] { Tensor(DType::kComplex128, {k, 1 << 21}); }), Code::kInvalidArgument);
}

TEST(TensorTest, SaysWhatCouldNotBeAllocated) {
  try {
    Tensor(DType::kFloat, {int64_t{1} << 31, int64_t{1} << 20});
    FAIL() << "8 PiB were had";
  } catch (const Error& e) {
    EXPECT_EQ(e.code(), Code::kResourceExhausted);
    EXPECT_NE(e.message().find("shape[2147483648,1048576] and type float"), std::string::npos);
  }
}

TEST(TensorTest, CopyingTheHandleSharesMemory) {
  const Tensor a = counting({4});
  EXPECT_TRUE(a.buffer()->unique());
  {
    const Tensor b = a;
    EXPECT_EQ(a.raw(), b.raw());
    EXPECT_FALSE(a.buffer()->unique());
  }
  EXPECT_TRUE(a.buffer()->unique());
}

TEST(TensorTest, StringsAreConstructedAndDestroyed) {
  Tensor t(DType::kString, {100});
  EXPECT_EQ(t.values<std::string>()[99], "");
  for (int i = 0; i < 100; ++i) t.data<std::string>()[i] = std::string(100, 'x');
  const Tensor c = t.copy();
  t = Tensor();
  EXPECT_EQ(c.values<std::string>()[42], std::string(100, 'x'));
}

TEST(TensorTest, LastHandleLetsGoOfResourcesAndVariants) {
  int alive = 0;
  {
    Tensor t(DType::kResource, {2});
    t.data<ResourceHandle>()[1].resource = std::make_shared<Counted>(&alive);
    const Tensor c = t.copy();
    t = Tensor();
    EXPECT_EQ(alive, 1);
  }
  EXPECT_EQ(alive, 0);
}

TEST(TensorTest, BorrowedMemoryIsReleasedOnceAfterTheLastHandle) {
  float user[6] = {1, 2, 3, 4, 5, 6};
  int released = 0;
  {
    Tensor row;
    {
      const Tensor t = Tensor::borrow(DType::kFloat, {2, 3}, user, [&] { ++released; });
      EXPECT_EQ(t.raw(), user);
      row = t.slice(1, 2);
    }
    EXPECT_EQ(released, 0);
    EXPECT_EQ(row.values<float>()[0], 4);
  }
  EXPECT_EQ(released, 1);
}

TEST(TensorTest, BorrowingWithABadShapeDoesNotRelease) {
  int released = 0;
  EXPECT_EQ(code_of([&] { Tensor::borrow(DType::kFloat, {-1}, nullptr, [&] { ++released; }); }),
            Code::kInvalidArgument);
  EXPECT_EQ(released, 0);
}

TEST(TensorTest, ReshapedSharesMemory) {
  const Tensor t = counting({2, 3});
  const Tensor r = t.reshaped({3, 2});
  EXPECT_EQ(r.raw(), t.raw());
  EXPECT_EQ(r.dim(0), 3);
  EXPECT_EQ(code_of([&] { t.reshaped({4}); }), Code::kInvalidArgument);
  EXPECT_EQ(code_of([&] { t.reshaped({-1}); }), Code::kInvalidArgument);
}

TEST(TensorTest, BitcastReadsTheSameBytes) {
  const Tensor t = Tensor::of<float>({1.0f, -2.0f}, {2});
  const Tensor bits = t.bitcast(DType::kUint32, {2});
  EXPECT_EQ(bits.values<uint32_t>()[0], 0x3f800000u);
  EXPECT_EQ(bits.raw(), t.raw());
  EXPECT_EQ(t.bitcast(DType::kUint8, {8}).num_elements(), 8);
  EXPECT_EQ(code_of([&] { t.bitcast(DType::kDouble, {2}); }), Code::kInvalidArgument);
  EXPECT_EQ(code_of([&] { t.bitcast(DType::kVariant, {}); }), Code::kInvalidArgument);
}

TEST(TensorTest, SliceTakesRows) {
  const Tensor t = counting({4, 3});
  const Tensor s = t.slice(1, 3);
  EXPECT_EQ(s.shape(), (Shape{2, 3}));
  EXPECT_EQ(s.values<int32_t>()[0], 3);
  EXPECT_EQ(s.slice(1, 2).values<int32_t>()[2], 8);
  EXPECT_EQ(t.slice(4, 4).num_elements(), 0);
  EXPECT_EQ(counting({0, 3}).slice(0, 0).shape(), (Shape{0, 3}));
  EXPECT_EQ(code_of([&] { t.slice(3, 5); }), Code::kInvalidArgument);
  EXPECT_EQ(code_of([&] { t.slice(2, 1); }), Code::kInvalidArgument);
  EXPECT_EQ(code_of([&] { t.slice(-1, 1); }), Code::kInvalidArgument);
  EXPECT_EQ(code_of([&] { counting({}).slice(0, 0); }), Code::kInvalidArgument);
}

TEST(TensorTest, CopyHasMemoryOfItsOwn) {
  const Tensor t = counting({3});
  const Tensor c = t.slice(1, 3).copy();
  EXPECT_TRUE(c.buffer()->unique());
  EXPECT_EQ(c.str(), "[1 2]");
  EXPECT_FALSE(Tensor().copy().has_value());
}

TEST(TensorTest, ValuesChecksTheDType) {
  EXPECT_EQ(code_of([] { counting({2}).values<float>(); }), Code::kInvalidArgument);
  Tensor q(DType::kQint8, {1});
  q.data<int8_t>()[0] = -3;
  EXPECT_EQ(q.item<int8_t>(), -3);  // stored as int8
}

TEST(TensorTest, DeviceMemoryIsNotReadOnTheHost) {
  char memory[8];
  auto* device = reinterpret_cast<Device*>(memory);  // never looked into
  const Tensor t(DType::kFloat, {2}, BufferPtr(new Buffer(memory, 8, device)));
  EXPECT_EQ(t.device(), device);
  EXPECT_EQ(code_of([&] { t.values<float>(); }), Code::kFailedPrecondition);
  EXPECT_EQ(code_of([&] { t.copy(); }), Code::kFailedPrecondition);
  EXPECT_EQ(t.reshaped({1, 2}).device(), device);
}

TEST(TensorTest, ATensorMustFitItsBuffer) {
  const Tensor t = counting({4});
  EXPECT_EQ(Tensor(DType::kInt32, {2}, t.buffer(), 8).str(), "[2 3]");
  EXPECT_EQ(code_of([&] { Tensor(DType::kInt32, {3}, t.buffer(), 8); }), Code::kInternal);
  EXPECT_EQ(code_of([&] { Tensor(DType::kInt32, {0}, t.buffer(), 17); }), Code::kInternal);
  EXPECT_EQ(Tensor(DType::kInt32, {0}, BufferPtr()).num_elements(), 0);
}

TEST(TensorTest, OfNeedsAsManyValuesAsElements) {
  EXPECT_EQ(code_of([] { Tensor::of<float>({1, 2}, {3}); }), Code::kInvalidArgument);
}

TEST(Tensor, NothingIsBorrowedOnlyWithoutElements) {
  bool released = false;
  const auto release = [&] { released = true; };
  EXPECT_EQ(code_of([&] { Tensor::borrow(DType::kFloat, {2}, nullptr, release); }),
            Code::kInvalidArgument);
  EXPECT_FALSE(released);
  EXPECT_EQ(Tensor::borrow(DType::kFloat, {0}, nullptr, release).num_elements(), 0);
  EXPECT_TRUE(released);
}

TEST(Tensor, TheItemIsThatOfOneElement) {
  EXPECT_EQ(counting({1, 1}).item<int32_t>(), 0);
  EXPECT_EQ(code_of([] { counting({0}).item<int32_t>(); }), Code::kInvalidArgument);
  EXPECT_EQ(code_of([] { counting({2}).item<int32_t>(); }), Code::kInvalidArgument);
}

}  // namespace
}  // namespace emplace
