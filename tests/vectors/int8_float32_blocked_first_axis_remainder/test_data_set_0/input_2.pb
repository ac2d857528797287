Bx_zero_pointJ©’2v×
øfS^ó7IÿóuÁ