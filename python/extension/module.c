/* The extension module dql._core. */
#define DQL_IMPORTS_NUMPY
#include "numpy.h"

#include "call.h"
#include "dequantize.h"
#include "plan.h"

static PyObject *isas(PyObject *module, PyObject *unused) {
    (void)module, (void)unused;
    return available_isas();
}

static PyObject *active_isa(PyObject *module, PyObject *unused) {
    (void)module, (void)unused;
    return PyUnicode_FromString(dql_isa_name(dql_isa_active()));
}

static PyObject *types(PyObject *module, PyObject *unused) {
    (void)module, (void)unused;
    return Py_BuildValue("(NNN)", types_of_role(0), types_of_role(1), types_of_role(2));
}

static PyObject *version(PyObject *module, PyObject *unused) {
    (void)module, (void)unused;
    return PyUnicode_FromString(dql_version());
}

static PyMethodDef functions[] = {
    {"dequantize", (PyCFunction)(void (*)(void))dequantize, METH_FASTCALL | METH_KEYWORDS, dequantize_doc},
    {"isas", isas, METH_NOARGS,
     "isas()\n--\n\nThe names of the implementations that this CPU can run, such as ('scalar', 'avx2'): a tuple of "
     "strings."},
    {"active_isa", active_isa, METH_NOARGS, "active_isa()\n--\n\nThe one that runs where none is asked for."},
    {"types", types, METH_NOARGS, "types()\n--\n\nThe names of the types of x, scale and y: three tuples of strings."},
    {"version", version, METH_NOARGS, "version()\n--\n\nThe library's version."},
    {NULL, NULL, 0, NULL}};

static struct PyModuleDef definition = {
    .m_base = PyModuleDef_HEAD_INIT, .m_name = "dql._core", .m_size = -1, .m_methods = functions};

PyMODINIT_FUNC PyInit__core(void) {
    import_array();
    PyObject *module = PyModule_Create(&definition);
    PyObject *plan = module ? make_plan_class() : NULL;
    if (!plan || PyModule_AddObject(module, "Plan", plan) < 0) {
        Py_XDECREF(plan);
        Py_CLEAR(module);
    }
    return module;
}
