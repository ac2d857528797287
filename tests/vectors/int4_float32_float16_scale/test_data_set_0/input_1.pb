
Bx_scaleJ(+®0(¨