
Bx_scaleJd«è¡$