
Bx_zero_pointJøø