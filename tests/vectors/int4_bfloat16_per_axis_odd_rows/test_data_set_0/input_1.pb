Bx_scaleJ
¼<ý¼e>$<ï>