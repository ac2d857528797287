
Bx_scaleJ
@°ç;ù/Õ4q 