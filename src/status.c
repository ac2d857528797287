#include "dql/dql.h"

const char *dql_status_text(dql_status status) {
    switch (status) {
    case DQL_OK: return "no error";
    case DQL_ERROR_NULL: return "a pointer that is needed is NULL";
    case DQL_ERROR_TYPE: return "element type unknown, or not taken for this tensor";
    case DQL_ERROR_SHAPE: return "negative dim, or tensor too large to address";
    case DQL_ERROR_AXIS: return "axis outside [-rank, rank)";
    case DQL_ERROR_BLOCK_SIZE:
        return "block_size negative, missing, or not the one that gives the scale's dim on the axis";
    case DQL_ERROR_SCALE_SHAPE:
        return "scale shape is neither per tensor, per axis nor blocked for this x, axis and block_size";
    case DQL_ERROR_ZERO_POINT: return "zero point of a float type that is not zero";
    case DQL_ERROR_RANGE: return "elements outside the tensor, or rows of y that overlap";
    case DQL_ERROR_ISA: return "store mode unknown, or ISA unknown or not available on this machine";
    case DQL_ERROR_PLAN: return "not a plan: dql_plan_init has not succeeded on it";
    case DQL_ERROR_RESERVED: return "a reserved field is not 0";
    }
    return "unknown status";
}

#define DOTTED(major, minor, patch) #major "." #minor "." #patch
#define VERSION(...)                DOTTED(__VA_ARGS__)

const char *dql_version(void) {
    return VERSION(DQL_VERSION_MAJOR, DQL_VERSION_MINOR, DQL_VERSION_PATCH);
}
