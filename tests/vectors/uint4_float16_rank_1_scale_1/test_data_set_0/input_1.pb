
Bx_scaleJ]°