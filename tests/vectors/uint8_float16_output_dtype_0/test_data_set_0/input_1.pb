
Bx_scaleJÃ2