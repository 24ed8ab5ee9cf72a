// Operations that all members of a group make together, on devices of one task or of several.
#include "op/shape_context.h"
#include "stdops/more.h"

namespace emplace::stdops {
namespace {

using namespace shape_rules;
using namespace cost_rules;

// The values of all members, one behind the other.
void gathered(ShapeContext& c, std::optional<int64_t> members) {
  Shape s = c.with_rank_at_least(0, 1);
  if (s.has_rank()) s.set_dim(0, s[0] >= 0 && members ? s[0] * *members : kAny);
  c.set_output(0, s);
}
void gather_of_attr(ShapeContext& c) { gathered(c, c.attr<int64_t>("group_size")); }
void gather_of_input(ShapeContext& c) { gathered(c, c.input_as_scalar(1)); }
void shape_of_input(ShapeContext& c) { c.set_output(0, c.input_as_shape(3)); }

constexpr OpRow kCollectiveRows[] = {
    {"CollectiveReduce(input: T) -> (data: T) | T: type in [bfloat16,float,half,double,int32,int64]; "
     "group_size: int; group_key: int; instance_key: int; merge_op: string in ['Min','Max','Mul','Add']; "
     "final_op: string in ['Id','Div']; subdiv_offsets: list(int); wait_for: list(int) = []; "
     "communication_hint: string = 'auto'; timeout_seconds: float = 0.0 | stateful distributed_communication",
     unchanged, elementwise,
     "The values of all members of a group as one, which each of them gets."},
    {"CollectiveReduceV2(input: T, group_size: int32, group_key: int32, instance_key: int32, ordering_token: "
     "Nordering_token*resource) -> (data: T) | T: type in [bfloat16,float,half,double,int32,int64]; merge_op: "
     "string in ['Min','Max','Mul','Add']; final_op: string in ['Id','Div']; communication_hint: string = "
     "'auto'; timeout_seconds: float = 0.0; is_stateless: bool = false; Nordering_token: int >= 0 = 0; "
     "max_subdivs_per_device: int = -1 | stateful distributed_communication",
     unchanged, elementwise,
     "The values of all members of a group as one, which each of them gets."},
    {"CollectiveGather(input: T) -> (data: T) | T: type in [float,half,double,int32,int64]; group_size: int; "
     "group_key: int; instance_key: int; shape: shape; communication_hint: string = 'auto'; timeout_seconds: "
     "float = 0.0 | stateful distributed_communication",
     gather_of_attr, moved,
     "The values of all members of a group behind each other, which each of them gets."},
    {"CollectiveGatherV2(input: T, group_size: int32, group_key: int32, instance_key: int32, ordering_token: "
     "Nordering_token*resource) -> (data: T) | T: type in [float,half,double,int32,int64]; communication_hint: "
     "string = 'auto'; timeout_seconds: float = 0.0; is_stateless: bool = false; Nordering_token: int >= 0 = 0 "
     "| stateful distributed_communication",
     gather_of_input, moved,
     "The values of all members of a group behind each other, which each of them gets."},
    {"CollectiveBcastSend(input: T) -> (data: T) | T: type in [bool,float,half,double,int32,int64]; group_size: "
     "int; group_key: int; instance_key: int; shape: shape; communication_hint: string = 'auto'; "
     "timeout_seconds: float = 0.0 | stateful distributed_communication",
     unchanged, moved,
     "Gives a value to all other members of a group."},
    {"CollectiveBcastSendV2(input: T, group_size: int32, group_key: int32, instance_key: int32) -> (data: T) | "
     "T: type in [bool,float,half,double,int32,int64]; communication_hint: string = 'auto'; timeout_seconds: "
     "float = 0.0 | stateful distributed_communication",
     unchanged, moved,
     "Gives a value to all other members of a group."},
    {"CollectiveBcastRecv() -> (data: T) | T: type in [bool,float,half,double,int32,int64]; group_size: int; "
     "group_key: int; instance_key: int; shape: shape; communication_hint: string = 'auto'; timeout_seconds: "
     "float = 0.0 | stateful distributed_communication",
     from_shape_attr, moved,
     "Takes the value that one member of a group gives."},
    {"CollectiveBcastRecvV2(group_size: int32, group_key: int32, instance_key: int32, shape: Tshape) -> (data: "
     "T) | T: type in [bool,float,half,double,int32,int64]; Tshape: type in [int32,int64] = int32; "
     "communication_hint: string = 'auto'; timeout_seconds: float = 0.0 | stateful distributed_communication",
     shape_of_input, moved,
     "Takes the value that one member of a group gives."},
};

}  // namespace

std::span<const OpRow> collective_ops() { return kCollectiveRows; }

}  // namespace emplace::stdops
