"""`tf.data`: datasets as operations, which the engine runs, and their iterators; one set of classes for both namespaces."""
