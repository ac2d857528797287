
Bx_scaleJd»