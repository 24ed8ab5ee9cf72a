#pragma once
#include "exec/program.h"

namespace emplace {

// Makes one instruction of each island: calls of one device that can be recorded and that no call
// from outside has to come between. The device records their launches once an instance and replays
// them from then on; where addresses have changed meanwhile it records anew. Only for devices that
// can (Device::can_record); others' programs stay as they are.
void make_islands(Program& program, const PlannerOptions& options);

}  // namespace emplace
