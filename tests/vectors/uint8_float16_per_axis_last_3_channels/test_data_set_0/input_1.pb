
Bx_scaleJ±Ότ+
*