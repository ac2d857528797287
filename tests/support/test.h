/* cmocka, with what its header needs before it. */
#ifndef DQL_TESTS_TEST_H
#define DQL_TESTS_TEST_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#endif
