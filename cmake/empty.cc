// Keeps a library of generated files buildable while there are none.
