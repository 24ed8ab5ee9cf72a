"""Keras's training loops on two workers, as its guide for several workers has them."""
import os, sys
import numpy as np
import tensorflow as tf

strategy = tf.distribute.MultiWorkerMirroredStrategy()
me = strategy.cluster_resolver.task_id
chief = me == 0
folder = sys.argv[1]
tf.keras.utils.set_random_seed(1 + me)  # workers begin with the chief's values all the same

rng = np.random.RandomState(0)
x = rng.randn(60, 4).astype("float32")
y = (x @ rng.randn(4, 3)).argmax(1)

def data(n=60):
    return tf.data.Dataset.from_tensor_slices((x[:n], y[:n])).batch(16)

with strategy.scope():
    model = tf.keras.Sequential([
        tf.keras.layers.Input([4]),
        tf.keras.layers.Dense(8, activation="relu", kernel_initializer=tf.keras.initializers.RandomNormal(seed=me)),
        tf.keras.layers.BatchNormalization(synchronized=True),
        tf.keras.layers.Dense(3),
    ])
    model.compile(optimizer=tf.keras.optimizers.SGD(0.1, momentum=0.9), loss=tf.keras.losses.SparseCategoricalCrossentropy(from_logits=True), metrics=["accuracy"])
print([v.path for v in model.variables], [v.name for v in model.variables[:1]])
start = [float(np.abs(v.numpy()).sum()) for v in model.weights]
print(np.round(start, 4).tolist())

class Told(tf.keras.callbacks.Callback):
    def on_epoch_end(self, epoch, logs=None):
        print(epoch, {k: round(float(v), 4) for k, v in logs.items()})

where = os.path.join(folder, "weights" if chief else f"weights_{me}", "at.weights.h5")
os.makedirs(os.path.dirname(where))
saver = tf.keras.callbacks.ModelCheckpoint(where, save_weights_only=True)
history = model.fit(data(), epochs=3, verbose=0, callbacks=[Told(), saver], validation_data=data(32))
print(sorted(history.history), model.optimizer.iterations.numpy())
print([round(float(v), 4) for v in model.evaluate(data(), verbose=0)])
print(np.round(model.predict(data(8), verbose=0), 3).shape)
print([round(float(np.abs(v.numpy()).sum()), 3) for v in model.weights])
print(os.listdir(os.path.dirname(where)))

out = os.path.join(folder, "model" if chief else f"model_{me}")
model.export(out, verbose=False)
restored = tf.saved_model.load(out)
print(np.allclose(restored.serve(x[:4]).numpy(), model(x[:4]).numpy(), atol=1e-5))
model.save(out + ".keras")
again = tf.keras.models.load_model(out + ".keras")
print(np.allclose(again.predict(x[:4], verbose=0), model(x[:4]).numpy(), atol=1e-5))

with strategy.scope():
    multi = tf.keras.Sequential([tf.keras.layers.Input([4]), tf.keras.layers.Dense(3, kernel_initializer="ones")])
    multi.compile(optimizer="adam", loss="mse", steps_per_execution=2, metrics=["mae"])
def of_worker(context):
    n = context.get_per_replica_batch_size(16)
    d = tf.data.Dataset.from_tensor_slices((x, tf.one_hot(y, 3)))
    return d.shard(context.num_input_pipelines, context.input_pipeline_id).batch(n).repeat()
h = multi.fit(strategy.distribute_datasets_from_function(of_worker), steps_per_epoch=4, epochs=2, verbose=0)
print({k: np.round(v, 4).tolist() for k, v in h.history.items()})
