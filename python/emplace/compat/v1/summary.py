"""tf.summary."""

from emplace.framework.summaries import histogram as histogram, merge as merge, merge_all as merge_all, scalar as scalar
from emplace.proto.event_pb2 import Event as Event, SessionLog as SessionLog, Summary as Summary

