# env: EMPLACE_VIRTUAL_GPUS=4
# oracle: none
import emplace as tf

strategy = tf.distribute.MirroredStrategy()

with strategy.scope():
  inputs = tf.keras.layers.Input(shape=(1,))
  predictions = tf.keras.layers.Dense(1)(inputs)
  model = tf.keras.models.Model(inputs=inputs, outputs=predictions)
  model.compile(loss='mse',
                optimizer=tf.train.GradientDescentOptimizer(learning_rate=0.2))

# What the page says it does: a copy of the model on each GPU, the input data split between them.
dataset = tf.data.Dataset.from_tensors(([1.], [1.])).repeat(96).batch(8)
losses = model.fit(dataset, epochs=3, shuffle=False, verbose=0).history['loss']
print(strategy.num_replicas_in_sync, losses[-1] < 1e-6)
for copy in strategy.experimental_local_results(model.layers[1].kernel.value):
  print(copy.name, copy.device)
print([len(part) for part in strategy.experimental_local_results(next(iter(strategy.experimental_distribute_dataset(dataset)))[0])])
