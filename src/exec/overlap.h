#pragma once
#include "exec/instance.h"

namespace emplace {

// Rounds of one loop under way together. Each has an instance of its own; a variable is handed to the
// next round as soon as it is made, and that round begins when it is known that it is to come, unless
// as many as parallel_iterations allows are not yet over.

// Whether anybody could see in which order a step and itself in another round ran.
bool has_effect(const StepGraph& g, const Step& s);

// Where that may pay and changes no result, makes a round receive its variables, deliver the next
// ones and say that it goes on. Its steps have their queues; `has_effects` is known.
void let_overlap(LoopPlan& loop, Device& host);

// How many rounds fit beside each other: an instance has memory of its own.
size_t most_rounds(const LoopPlan& loop);

// Runs a loop so planned; no thread waits.
void run_overlapping(const RoundPlan& plan, KernelContext& c, Instance& caller);

// After the last round.
void put_results(const RoundPlan& plan, Instance& round, KernelContext& c);

// The calls of a round that hand over, of variable *state.
void receive(const void* state, KernelContext& c);
void deliver(const void* state, KernelContext& c);
void go_on(const void* state, KernelContext& c);

}  // namespace emplace
