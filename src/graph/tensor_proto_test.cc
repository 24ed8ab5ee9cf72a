#include "graph/tensor_proto.h"

#include <gtest/gtest.h>

#include "graph/attr_proto.h"
#include "graph/graph_testutil.h"

namespace emplace {
namespace {

using testing::failure;

Tensor round_trip(const Tensor& t) {
  proto::TensorProto p;
  to_proto(t, &p);
  proto::TensorProto again;
  EXPECT_TRUE(again.ParseFromString(p.SerializeAsString()));
  return from_proto(again);
}

void expect_same(const Tensor& a, const Tensor& b) {
  EXPECT_EQ(AttrValue(a), AttrValue(b)) << a.str() << " / " << b.str();
}

template <class T>
void check_plain(DType dtype) {
  for (int64_t n : {0, 1, 3}) {
    Tensor t(dtype, Shape({n}));
    for (int64_t i = 0; i < n; ++i) t.data<T>()[i] = T(static_cast<float>(i + 1));
    expect_same(round_trip(t), t);
  }
  Tensor scalar(dtype, Shape());
  scalar.data<T>()[0] = T(1.0f);
  expect_same(round_trip(scalar), scalar);
}

TEST(TensorProto, BytesOfABoolThatAreNeither0Nor1AreTrue) {
  proto::TensorProto p;
  p.set_dtype(proto::DT_BOOL);
  p.mutable_tensor_shape()->add_dim()->set_size(3);
  p.set_tensor_content(std::string("\x00\x0b\xff", 3));
  EXPECT_EQ(from_proto(p).str(), "[False  True  True]");
}

TEST(TensorProto, EveryPlainDtypeGoesThereAndBack) {
  check_plain<float>(DType::kFloat);
  check_plain<double>(DType::kDouble);
  check_plain<int8_t>(DType::kInt8);
  check_plain<int16_t>(DType::kInt16);
  check_plain<int32_t>(DType::kInt32);
  check_plain<int64_t>(DType::kInt64);
  check_plain<uint8_t>(DType::kUint8);
  check_plain<uint16_t>(DType::kUint16);
  check_plain<uint32_t>(DType::kUint32);
  check_plain<uint64_t>(DType::kUint64);
  check_plain<bool>(DType::kBool);
  check_plain<Half>(DType::kHalf);
  check_plain<Bfloat16>(DType::kBfloat16);
  check_plain<Complex64>(DType::kComplex64);
  check_plain<Complex128>(DType::kComplex128);
  check_plain<int8_t>(DType::kQint8);
  check_plain<uint8_t>(DType::kQuint8);
  check_plain<int32_t>(DType::kQint32);
}

TEST(TensorProto, NegativeSmallIntegersKeepTheirSign) {
  expect_same(round_trip(Tensor::scalar<int8_t>(-3)), Tensor::scalar<int8_t>(-3));
  expect_same(round_trip(Tensor::scalar<int16_t>(-300)), Tensor::scalar<int16_t>(-300));
}

TEST(TensorProto, StringsAndHandlesGoThereAndBack) {
  const Tensor s = Tensor::of<std::string>({"a", std::string("\0b", 2), ""}, Shape({3}));
  const Tensor back = round_trip(s);
  EXPECT_EQ(back.values<std::string>()[1], std::string("\0b", 2));
  Tensor h(DType::kResource, Shape());
  h.data<ResourceHandle>()[0].name = "v";
  h.data<ResourceHandle>()[0].container = "c";
  EXPECT_EQ(round_trip(h).item<ResourceHandle>().name, "v");
  EXPECT_EQ(round_trip(h).item<ResourceHandle>().container, "c");
}

TEST(TensorProto, TextsAreReadAsServersSendThem) {
  proto::TensorProto p;
  p.set_dtype(proto::DT_STRING);
  p.mutable_tensor_shape()->add_dim()->set_size(2);
  p.set_tensor_content("\x03\x02" "abcde");
  EXPECT_THAT(from_proto(p).values<std::string>(), ::testing::ElementsAre("abc", "de"));
  for (const char* broken : {"\x03", "\x03\x03" "abcde", "\xff\xff"}) {
    p.set_tensor_content(broken);
    EXPECT_THROW(from_proto(p), Error) << broken;
  }
}

TEST(TensorProto, ValuesAllAlikeAreWrittenOnce) {
  Tensor t(DType::kFloat, Shape({1000}));
  std::fill_n(t.data<float>(), 1000, 2.5f);
  proto::TensorProto p;
  to_proto(t, &p);
  EXPECT_EQ(p.float_val_size(), 1);
  EXPECT_TRUE(p.tensor_content().empty());
  expect_same(from_proto(p), t);
}

TEST(TensorProto, OtherValuesAreWrittenAsBytes) {
  proto::TensorProto p;
  to_proto(Tensor::of<float>({1, 2}, Shape({2})), &p);
  EXPECT_EQ(p.tensor_content().size(), 8u);
  EXPECT_EQ(p.float_val_size(), 0);
}

TEST(TensorProto, TheLastValueStandsForAllThatFollow) {
  proto::TensorProto p;
  p.set_dtype(proto::DT_INT32);
  p.mutable_tensor_shape()->add_dim()->set_size(4);
  p.add_int_val(7);
  p.add_int_val(9);
  expect_same(from_proto(p), Tensor::of<int32_t>({7, 9, 9, 9}, Shape({4})));
  p.clear_int_val();
  expect_same(from_proto(p), Tensor::of<int32_t>({0, 0, 0, 0}, Shape({4})));
}

TEST(TensorProto, ComplexValuesComeInPairs) {
  proto::TensorProto p;
  p.set_dtype(proto::DT_COMPLEX64);
  p.mutable_tensor_shape()->add_dim()->set_size(2);
  p.add_scomplex_val(1);
  p.add_scomplex_val(2);
  EXPECT_EQ(from_proto(p).values<Complex64>()[1], Complex64(1, 2));
  p.add_scomplex_val(3);
  failure(Code::kInvalidArgument, [&] { from_proto(p); });
}

TEST(TensorProto, WhatContradictsItselfIsRefused) {
  proto::TensorProto p;
  p.set_dtype(proto::DT_FLOAT);
  p.mutable_tensor_shape()->add_dim()->set_size(2);
  p.set_tensor_content("abc");
  EXPECT_EQ(failure(Code::kInvalidArgument, [&] { from_proto(p); }),
            "Cannot parse tensor from proto: tensor_content has 3 bytes, expected 8 (dtype: "
            "DT_FLOAT, shape: [2])");
  p.clear_tensor_content();
  for (int i = 0; i < 3; ++i) p.add_float_val(1);
  failure(Code::kInvalidArgument, [&] { from_proto(p); });
}

TEST(TensorProto, AConstantThatClaimsTooManyElementsIsRefused) {
  proto::TensorProto p;
  p.set_dtype(proto::DT_FLOAT);
  p.mutable_tensor_shape()->add_dim()->set_size(1'000'000'000'000'000'000);
  p.add_float_val(1);
  failure(Code::kInvalidArgument, [&] { from_proto(p); });
  p.mutable_tensor_shape()->add_dim()->set_size(1'000'000'000'000'000'000);  // overflows
  failure(Code::kInvalidArgument, [&] { from_proto(p); });
  p.mutable_tensor_shape()->clear_dim();
  p.mutable_tensor_shape()->add_dim()->set_size(-1);
  failure(Code::kInvalidArgument, [&] { from_proto(p); });
  p.mutable_tensor_shape()->set_unknown_rank(true);
  failure(Code::kInvalidArgument, [&] { from_proto(p); });
}

TEST(ShapeProto, UnknownsStay) {
  for (const Shape& s : {Shape(), Shape({2, -1}), Shape::unknown(), Shape({0})}) {
    proto::TensorShapeProto p;
    to_proto(s, &p);
    EXPECT_EQ(from_proto(p), s);
  }
  proto::TensorShapeProto p;
  p.add_dim()->set_size(-2);
  failure(Code::kInvalidArgument, [&] { from_proto(p); });
}

TEST(DataTypeProto, RefsAndStrangersAreTold) {
  bool is_ref = false;
  EXPECT_EQ(from_proto(proto::DT_FLOAT_REF, &is_ref), DType::kFloat);
  EXPECT_TRUE(is_ref);
  EXPECT_EQ(from_proto(proto::DT_HALF, &is_ref), DType::kHalf);
  EXPECT_FALSE(is_ref);
  EXPECT_EQ(from_proto(proto::DT_FLOAT8_E5M2), DType::kInvalid);
}

TEST(AttrProto, EveryKindGoesThereAndBack) {
  const AttrValue values[] = {
      "text", 3, 2.5f, true, DType::kHalf, Shape({2, -1}), Tensor::scalar(1.5f),
      FunctionName{"f", {{"T", DType::kFloat}}},
      std::vector<std::string>{"a", "b"}, std::vector<int64_t>{1, -2}, std::vector<float>{0.5f},
      std::vector<bool>{true, false}, std::vector<DType>{DType::kInt32, DType::kString},
      std::vector<Shape>{Shape({1}), Shape::unknown()}, std::vector<Tensor>{Tensor::scalar(1)},
      std::vector<FunctionName>{{"f", {}}, {"g", {}}}};
  for (const AttrValue& v : values) {
    proto::AttrValue p;
    to_proto(v, &p);
    EXPECT_EQ(from_proto(p), v) << v.str();
  }
}

TEST(AttrProto, AnEmptyListIsAListStill) {
  proto::AttrValue p;
  to_proto(AttrValue(std::vector<DType>{}), &p);
  EXPECT_TRUE(p.has_list());
  EXPECT_TRUE(from_proto(p).is_list());
}

TEST(AttrProto, OpDefinitionsAreWritten) {
  proto::OpDef p;
  to_proto(parse_signature("AddN(inputs: N*T) -> (sum: T) | N: int >= 1; T: type in [float] | "
                           "commutative aggregate"),
           &p);
  EXPECT_EQ(p.input_arg(0).number_attr(), "N");
  EXPECT_EQ(p.attr(0).minimum(), 1);
  EXPECT_EQ(p.attr(1).allowed_values().list().type(0), proto::DT_FLOAT);
  EXPECT_TRUE(p.is_aggregate());
}

}  // namespace
}  // namespace emplace
