"N“·ºHá^øhÉ<©@äº?Q
æBx_scale