// Strings.
#include <fmt/format.h>

#include "emplace/error.h"
#include "op/shape_context.h"
#include "stdops/stdops.h"

namespace emplace::stdops {
namespace {

using namespace shape_rules;
using namespace cost_rules;

Work per_string(const CostContext& c) {
  constexpr double kOps = 60;
  return {.ops = kOps * c.largest(), .bytes = c.bytes()};
}

// Scalars meet any shape; all others are alike.
void string_join(ShapeContext& c) {
  Shape out;
  bool unclear = false;
  for (int i = 0; i < c.num_inputs(); ++i) {
    const Shape& s = c.input(i);
    unclear = unclear || !s.has_rank();
    if (s.has_rank() && s.rank() > 0) out = out.rank() == 0 ? s : c.merge(out, s);
  }
  c.set_output(0, unclear && out.rank() == 0 ? Shape::unknown() : out);
}

void substr(ShapeContext& c) {
  const Shape pos = c.merge(c.input(1), c.input(2));
  if (!c.input(0).has_rank() || !pos.has_rank()) return c.set_output(0, Shape::unknown());
  c.set_output(0, ShapeContext::broadcast(c.input(0), pos));
}

void scalar_pattern(ShapeContext& c) {
  for (int i = 1; i < c.num_inputs(); ++i) c.with_rank(i, 0);
  c.set_output(0, c.input(0));
}

// A sparse tensor's three parts; how many there will be nobody knows.
void text_split(ShapeContext& c) {
  c.with_rank(0, 1);
  c.set_output(0, Shape{Shape::kUnknown, 2});
  c.set_output(1, Shape{Shape::kUnknown});
  c.set_output(2, Shape{2});
}

void segment_join(ShapeContext& c) {
  const Shape &in = c.input(0), &ids = c.input(1);
  c.with_rank(2, 0);
  if (!in.has_rank() || !ids.has_rank()) return c.set_output(0, Shape::unknown());
  if (ids.rank() > in.rank())
    throw invalid_argument(fmt::format("Shape must be at least rank {} but is rank {}", ids.rank(),
                                       in.rank()));
  const auto n = c.input_as_scalar(2);
  if (n && *n < 0)
    throw invalid_argument(fmt::format("Number of segments must be non-negative but got {}", *n));
  Shape out{n ? *n : Shape::kUnknown};
  for (int i = 0; i < in.rank(); ++i) {
    if (i < ids.rank()) c.merge_dims(in[i], ids[i]);
    else out.push_back(in[i]);
  }
  c.set_output(0, out);
}

void decode_raw(ShapeContext& c) {
  Shape out = c.input(0);
  if (out.has_rank()) out.push_back(Shape::kUnknown);
  c.set_output(0, out);
}

void decode_padded(ShapeContext& c) {
  c.with_rank(1, 0);
  Shape out = c.input(0);
  const auto length = c.input_as_scalar(1);
  const auto size = static_cast<int64_t>(dtype_size(c.attr<DType>("out_type")));
  if (length && *length > 0 && *length % size != 0)
    throw invalid_argument(fmt::format("fixed_length ({}) must be a multiple of the size of "
                                       "out_type ({})", *length, size));
  if (out.has_rank()) out.push_back(length && *length > 0 ? *length / size : Shape::kUnknown);
  c.set_output(0, out);
}

void unicode_decode(ShapeContext& c) {
  const Shape& in = c.input(0);
  c.set_output(0, Shape{in.is_fully_known() ? in.num_elements() + 1 : Shape::kUnknown});
  for (int i = 1; i < c.num_outputs(); ++i) c.set_output(i, Shape{Shape::kUnknown});
}

void unicode_encode(ShapeContext& c) {
  c.with_rank(0, 1);
  const Shape splits = c.with_rank(1, 1);
  c.set_output(0, Shape{splits[0] > 0 ? splits[0] - 1 : Shape::kUnknown});
}

void print(ShapeContext& c) { c.with_rank(0, 0); }

constexpr OpRow kTextRows[] = {
    {"StringJoin(inputs: N*string) -> (output: string) | N: int >= 0; separator: string = ''",
     string_join, per_string,
     "Strings one behind the other."},
    {"AsString(input: T) -> (output: string) | T: type in [float,double,int32,uint8,int16,int8,"
     "int64,bfloat16,uint16,half,uint32,uint64,complex64,complex128,bool,variant,string]; "
     "precision: int = -1; scientific: bool = false; shortest: bool = false; width: int = -1; "
     "fill: string = ''",
     unchanged, per_string,
     "Numbers as text."},
    {"StringToNumber(string_tensor: string) -> (output: out_type) | out_type: type in [float,"
     "double,int32,int64,uint32,uint64] = float",
     unchanged, per_string,
     "Text as numbers."},
    {"StringFormat(inputs: T) -> (output: string) | T: list(type) >= 0; template: string = '%s'; "
     "placeholder: string = '%s'; summarize: int = 3",
     scalar, per_string,
     "A text with tensors in the places left for them."},
    {"StringLength(input: string) -> (output: int32) | unit: string in ['BYTE','UTF8_CHAR'] = "
     "'BYTE'",
     unchanged, per_string,
     "Lengths in bytes or in characters."},
    {"StringLower(input: string) -> (output: string) | encoding: string = ''",
     unchanged, per_string,
     "Each string in small letters."},
    {"StringUpper(input: string) -> (output: string) | encoding: string = ''",
     unchanged, per_string,
     "Each string in capital letters."},
    {"StringStrip(input: string) -> (output: string)",
     unchanged, per_string,
     "Without white space at both ends."},
    {"Substr(input: string, pos: T, len: T) -> (output: string) | T: type in [int32,int64]; unit: "
     "string in ['BYTE','UTF8_CHAR'] = 'BYTE'",
     substr, per_string,
     "Parts by position and length."},
    {"StringSplit(input: string, delimiter: string) -> (indices: int64, values: string, shape: "
     "int64) | skip_empty: bool = true",
     text_split, per_string,
     "Parts between any of the delimiter's characters, as a sparse tensor."},
    {"StringSplitV2(input: string, sep: string) -> (indices: int64, values: string, shape: int64) "
     "| maxsplit: int = -1",
     text_split, per_string,
     "Parts between separators, as a sparse tensor."},
    {"RegexReplace(input: string, pattern: string, rewrite: string) -> (output: string) | "
     "replace_global: bool = true",
     scalar_pattern, per_string,
     "What matches a pattern, written anew."},
    {"StaticRegexReplace(input: string) -> (output: string) | pattern: string; rewrite: string; "
     "replace_global: bool = true",
     unchanged, per_string,
     "What matches a fixed pattern, written anew."},
    {"RegexFullMatch(input: string, pattern: string) -> (output: bool)",
     scalar_pattern, per_string,
     "Does the pattern match the whole string?"},
    {"StaticRegexFullMatch(input: string) -> (output: bool) | pattern: string",
     unchanged, per_string,
     "Does the fixed pattern match the whole string?"},
    {"ReduceJoin(inputs: string, reduction_indices: int32) -> (output: string) | keep_dims: bool "
     "= false; separator: string = ''",
     reduction, per_string,
     "Strings joined along dimensions."},
    {"UnsortedSegmentJoin(inputs: string, segment_ids: Tindices, num_segments: Tnumsegments) -> "
     "(output: string) | separator: string = ''; Tindices: type in [int32,int64]; Tnumsegments: "
     "type in [int32,int64] = int32",
     segment_join, per_string,
     "Strings joined by segment."},
    {"StringToHashBucket(string_tensor: string) -> (output: int64) | num_buckets: int >= 1",
     unchanged, per_string,
     "A number below num_buckets for each string."},
    {"StringToHashBucketFast(input: string) -> (output: int64) | num_buckets: int >= 1",
     unchanged, per_string,
     "A number below num_buckets for each string, quickly."},
    {"StringToHashBucketStrong(input: string) -> (output: int64) | num_buckets: int >= 1; key: "
     "list(int)",
     unchanged, per_string,
     "A number below num_buckets, hard to guess without the key."},
    {"DecodeRaw(bytes: string) -> (output: out_type) | out_type: type in [half,float,double,int32,"
     "uint16,uint8,int16,int8,int64,complex64,complex128,bool,bfloat16]; little_endian: bool = "
     "true",
     decode_raw, per_string,
     "Bytes as numbers."},
    {"DecodePaddedRaw(input_bytes: string, fixed_length: int32) -> (output: out_type) | out_type: "
     "type in [half,float,double,int32,uint16,uint8,int16,int8,int64,bfloat16]; little_endian: "
     "bool = true",
     decode_padded, per_string,
     "Bytes, cut or filled up to one length, as numbers."},
    {"EncodeBase64(input: string) -> (output: string) | pad: bool = false",
     unchanged, per_string,
     "Base64 as it stands in addresses."},
    {"DecodeBase64(input: string) -> (output: string)",
     unchanged, per_string,
     "What such base64 says."},
    {"UnicodeDecode(input: string) -> (row_splits: Tsplits, char_values: int32) | input_encoding: "
     "string; errors: string in ['strict','replace','ignore'] = 'replace'; replacement_char: int "
     "= 65533; replace_control_characters: bool = false; Tsplits: type in [int32,int64] = int64",
     unicode_decode, per_string,
     "Code points of strings."},
    {"UnicodeDecodeWithOffsets(input: string) -> (row_splits: Tsplits, char_values: int32, "
     "char_to_byte_starts: int64) | input_encoding: string; errors: string in ['strict','replace',"
     "'ignore'] = 'replace'; replacement_char: int = 65533; replace_control_characters: bool = "
     "false; Tsplits: type in [int32,int64] = int64",
     unicode_decode, per_string,
     "Code points of strings and where they begin."},
    {"UnicodeEncode(input_values: int32, input_splits: Tsplits) -> (output: string) | errors: "
     "string in ['ignore','replace','strict'] = 'replace'; output_encoding: string in ['UTF-8',"
     "'UTF-16-BE','UTF-32-BE']; replacement_char: int = 65533; Tsplits: type in [int32,int64] = "
     "int64",
     unicode_encode, per_string,
     "Strings of code points."},
    {"UnicodeTranscode(input: string) -> (output: string) | input_encoding: string; "
     "output_encoding: string in ['UTF-8','UTF-16-BE','UTF-32-BE']; errors: string in ['strict',"
     "'replace','ignore'] = 'replace'; replacement_char: int = 65533; replace_control_characters: "
     "bool = false",
     unchanged, per_string,
     "Strings in another encoding."},
    {"UnicodeScript(input: int32) -> (output: int32)",
     unchanged, elementwise,
     "The number of each code point's script; -1 for what is none."},
    {"PrintV2(input: string) -> () | output_stream: string = 'stderr'; end: string = '\\n' | "
     "stateful",
     print, per_string,
     "Writes a string to a stream."},
};

}  // namespace

std::span<const OpRow> text_ops() { return kTextRows; }

}  // namespace emplace::stdops
