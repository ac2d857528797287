
*‡xšY²ÀÕB¶hBx_scale