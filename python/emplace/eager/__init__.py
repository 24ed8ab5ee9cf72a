"""Operations run one by one: eager tensors, variables, tapes."""
