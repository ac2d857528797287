
Bx_scaleJè¢L%°*