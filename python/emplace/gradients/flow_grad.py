"""Gradients of branches, loops and arrays of tensors."""

from __future__ import annotations

from emplace.gradients.registry import no_gradient

for _name in "NoOp ControlTrigger LoopCond".split():
    no_gradient(_name)
