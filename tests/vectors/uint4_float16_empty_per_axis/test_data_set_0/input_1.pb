
Bx_scaleJ %´;;1