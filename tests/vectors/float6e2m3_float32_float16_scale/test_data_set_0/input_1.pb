
Bx_scaleJ¨)Š³®: