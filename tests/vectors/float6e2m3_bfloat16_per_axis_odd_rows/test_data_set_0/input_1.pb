Bx_scaleJ
š=£¿¿½â¾¼