"""tf.train.Saver with variables that are resources."""

import emplace.compat.v1 as tf


def test_resource_variables_are_saved_and_restored(tmp_path):
    with tf.Graph().as_default():
        v = tf.get_variable("v", initializer=[1.0, 2.0], use_resource=True)
        saver = tf.train.Saver()
        with tf.Session() as session:
            session.run(v.initializer)
            path = saver.save(session, str(tmp_path / "c"))
        with tf.Session() as session:
            saver.restore(session, path)
            assert session.run(v).tolist() == [1.0, 2.0]
