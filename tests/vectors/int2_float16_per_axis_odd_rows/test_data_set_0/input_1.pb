
Bx_scaleJ
»¾õ.Ü¤Z­'