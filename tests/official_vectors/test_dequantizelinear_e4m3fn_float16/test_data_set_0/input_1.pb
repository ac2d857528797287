
*€€Bx_scale