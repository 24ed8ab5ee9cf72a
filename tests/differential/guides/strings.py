"""Text."""

import os

import numpy as np
import tensorflow as tf

print(tf.strings.lower('ABC'), tf.strings.upper(['a']), tf.strings.strip(' a '), tf.strings.length(['abc', 'ü'], unit='UTF8_CHAR'), tf.strings.regex_replace('hello', 'l+', 'L'), tf.strings.regex_full_match(['ab', 'b'], 'a.*'), tf.strings.substr('hello', 1, 3), tf.strings.substr(['hello', 'world'], [0, 1], [2, 3]), tf.strings.join(['a', 'b'], '-'), tf.strings.as_string([1.5, 2]), tf.strings.as_string(3.14159, precision=2), tf.strings.as_string(True), tf.strings.as_string([1, 22], width=4, fill='0'), tf.strings.to_number(['1', '2.5']), tf.strings.to_number('7', tf.int64), tf.strings.split('a b  c'), tf.strings.split(['a,b', 'c'], ','), tf.strings.split('a-b-c', '-', maxsplit=1), tf.strings.to_hash_bucket_fast(['a', 'b'], 10), tf.strings.to_hash_bucket_strong('a', 10, [1, 2]), tf.strings.reduce_join([['a', 'b'], ['c', 'd']], axis=0), tf.strings.reduce_join([['a', 'b'], ['c', 'd']]), tf.strings.format('x={}, y={}', (tf.constant([1, 2]), 2.5)), tf.strings.ngrams(['a', 'b', 'c'], 2), tf.strings.unicode_transcode('é', 'UTF-8', 'UTF-16-BE'), tf.strings.unicode_decode('aé', 'UTF-8'), tf.strings.unicode_encode([97, 233], 'UTF-8'), tf.strings.unicode_split('aé', 'UTF-8'), tf.strings.bytes_split('ab'), tf.strings.unsorted_segment_join(['a', 'b', 'c'], [0, 1, 0], 2), tf.strings.to_hash_bucket('a', 7), sep='\n')
print(tf.constant('a') + 'b', tf.constant(['a', 'b']) == ['a', 'c'], tf.constant('a') < 'b' if False else '', tf.add(['a'], ['b']), tf.strings.length('ü'), tf.where(tf.strings.regex_full_match(['a', 'b'], 'a'), 'yes', 'no'))
for f in [lambda: tf.strings.to_number('x'), lambda: tf.strings.substr('abc', 9, 1), lambda: tf.strings.regex_replace('a', '(', 'b'), lambda: tf.strings.as_string('a'), lambda: tf.strings.join([['a'], ['b', 'c']]), lambda: tf.strings.length(3), lambda: tf.strings.split(3), lambda: tf.strings.format('{}', (1, 2)), lambda: tf.strings.upper(1)]:
    try:
        print(f())
    except Exception as e:
        print(type(e).__name__, str(e).split('\n')[0][:220])
