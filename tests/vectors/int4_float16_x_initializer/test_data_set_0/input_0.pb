
Bx_scaleJs¯µ¸¼¦’4,#