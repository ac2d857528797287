/* DequantizeLinear from the definitions of the formats and of the operator, in double and without regard for speed. It
 * shares no code with the library. */
#ifndef DQL_TESTS_REFERENCE_H
#define DQL_TESTS_REFERENCE_H

#include "dql/dql.h"

typedef struct reference_type {
    dql_type type;
    const char *name;
    unsigned bits;
} reference_type;

#define REFERENCE_X_TYPES     16
#define REFERENCE_Y_TYPES     3
#define REFERENCE_SCALE_TYPES 4
extern const reference_type reference_x_types[REFERENCE_X_TYPES];
extern const reference_type reference_scale_types[REFERENCE_SCALE_TYPES]; /* the first ones are y types too */

bool reference_is_float(dql_type type);
unsigned reference_bits(dql_type type);
size_t reference_bytes(dql_type type, size_t elements);

/* Elements of at most a byte are a stream of bits, in which the first one has the lowest bits of the first byte, and
 * one that doesn't fit goes on in the lowest bits of the next byte. Element i of `bits` bits; the other bits stay. */
uint32_t reference_read_code(const void *from, unsigned bits, size_t i);
void reference_write_code(void *to, unsigned bits, size_t i, uint32_t code);

/* The value of element i. */
double reference_decode(dql_type type, const void *from, size_t i);

/* The bits of the y type that is nearest to v, ties to even. Infinity from halfway past the largest number on. */
uint32_t reference_encode(dql_type type, double v);

/* The bits of one y. `zero` may be NULL. */
uint32_t reference_element(dql_type x_type, dql_type y_type, const void *x, size_t i, double scale, const void *zero,
                           size_t zero_i);

/* The number of the scale of x's element i, by its indices. The spec is right and has at most 64 dims. */
size_t reference_scale_number(const dql_spec *spec, size_t i);

/* Element i of y. */
uint32_t reference_y(const dql_spec *spec, const void *x, const void *scale, const void *zero, size_t i);

/* The bits of element i of a y as it is in memory. */
uint32_t reference_bits_of(dql_type type, const void *y, size_t i);

/* Bitwise, but any NaN equals any NaN. */
bool reference_equal(dql_type type, uint32_t a, uint32_t b);

#endif
