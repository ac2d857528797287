
*€è”yÈq¦ýéRBx_scale