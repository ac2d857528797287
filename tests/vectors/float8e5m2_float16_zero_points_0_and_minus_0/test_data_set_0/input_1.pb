
Bx_scaleJÇ¬ð 