"""`tf.queue` and `tf.CriticalSection`: those of graph programs, run at once."""

from __future__ import annotations

from emplace.eager.lookup import at_once_class
from emplace.framework import critical_section, queues

FIFOQueue = at_once_class(queues.FIFOQueue)
PaddingFIFOQueue = at_once_class(queues.PaddingFIFOQueue)
PriorityQueue = at_once_class(queues.PriorityQueue)
RandomShuffleQueue = at_once_class(queues.RandomShuffleQueue)
QueueBase = queues.QueueBase
CriticalSection = at_once_class(critical_section.CriticalSection)
