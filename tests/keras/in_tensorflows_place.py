"""A plugin for pytest: Emplace in TensorFlow's place before anything is collected."""

import emplace

emplace.pose_as_tensorflow()
