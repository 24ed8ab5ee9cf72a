#pragma once
// The whole public API.
#include "emplace/attr.h"
#include "emplace/contract.h"
#include "emplace/dtype.h"
#include "emplace/eager.h"
#include "emplace/error.h"
#include "emplace/graph.h"
#include "emplace/op.h"
#include "emplace/ops.h"
#include "emplace/plan.h"
#include "emplace/session.h"
#include "emplace/shape.h"
#include "emplace/tensor.h"
