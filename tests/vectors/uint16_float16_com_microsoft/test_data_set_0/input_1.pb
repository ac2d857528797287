
Bx_scaleJñ0½cª