/* The libraries of CUDA and HIP, found when the program runs: nothing of either is needed to build it. */
#define _POSIX_C_SOURCE 200809L
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "gpu.h"

enum { MAX_PITCH_OF_CUDA = 11, MAX_PITCH_OF_HIP = 58 };
/* Pageable memory by the host's tables of pages. */
enum { READS_HOST_OF_CUDA = 100, READS_HOST_OF_HIP = 66 };

static void *open_first(const char *const *names) {
    void *library = NULL;
    for (; *names && !library; names++)
        library = dlopen(*names, RTLD_NOW | RTLD_LOCAL);
    return library;
}

/* POSIX makes a function's address of what dlsym gives; ISO C has no such conversion. */
static bool find(void *library, const char *symbol, void *function) {
    void *address = library ? dlsym(library, symbol) : NULL;
    if (address)
        memcpy(function, &address, sizeof address);
    return address != NULL;
}

const char *gpu_open(struct gpu *gpu) {
    bool is_hip = gpu->dialect == &gpu_hip;
    const char *symbol;
    void *library = open_first(gpu->dialect->libraries);
    if (!library)
        return gpu->dialect->missing;
#define FIND(result, name, cuda, hip, parameters)                                                                      \
    symbol = is_hip ? hip : cuda;                                                                                      \
    if (symbol && !find(library, symbol, &gpu->calls.name))                                                            \
        return "the driver is too old: it lacks a function";
    GPU_CALLS(FIND)
#undef FIND
    gpu->has_graphs = !is_hip;
#define FIND(result, name, cuda, hip, parameters)                                                                      \
    gpu->has_graphs = gpu->has_graphs && find(library, cuda, &gpu->calls.name);
    GPU_GRAPH_CALLS(FIND)
#undef FIND
    return NULL;
}

/* ---- CUDA: the compiler made an image ---- */

static int fatbin(const polybuild_module *module, const void **image, void **owned) {
    *image = module->fatbin;
    *owned = NULL;
    return 0;
}

static const char *const cuda_libraries[] = {"libcuda.so.1", NULL};
const struct gpu_dialect gpu_cuda = {
    cuda_libraries, "there is no libcuda.so.1, which the driver installs", MAX_PITCH_OF_CUDA, READS_HOST_OF_CUDA,
    (stream_t)1, fatbin, /* NOLINT: a handle */
};

/* ---- HIP: a library of its own compiles the source for the device at hand ---- */

static const char *const hip_libraries[] = {"libamdhip64.so.7", "libamdhip64.so.6", "libamdhip64.so.5",
                                            "libamdhip64.so", NULL};
/* Before version 7 the functions are in the library above, too. */
static const char *const compilers[] = {"libhiprtc.so.7", "libhiprtc.so.6", "libhiprtc.so.5", "libhiprtc.so",
                                        "libamdhip64.so.6", "libamdhip64.so.5", NULL};

typedef struct program *program_t;

#define COMPILER_CALLS(X)                                                                                              \
    X(create, "hiprtcCreateProgram", (program_t *, const char *, const char *, int, const char **, const char **))     \
    X(compile, "hiprtcCompileProgram", (program_t, int, const char **))                                                \
    X(log_size, "hiprtcGetProgramLogSize", (program_t, size_t *))                                                      \
    X(log, "hiprtcGetProgramLog", (program_t, char *))                                                                 \
    X(code_size, "hiprtcGetCodeSize", (program_t, size_t *))                                                           \
    X(code, "hiprtcGetCode", (program_t, char *))                                                                      \
    X(destroy, "hiprtcDestroyProgram", (program_t *))

struct compiler {
#define MEMBER(name, symbol, parameters) int(*name) parameters;
    COMPILER_CALLS(MEMBER)
#undef MEMBER
};

enum { INVALID_IMAGE = 200, NO_COMPILER = 302 }; /* hipErrorSharedObjectSymbolNotFound */

/* The functions of the compiler; NULL if it is not there. */
static const struct compiler *compiler(void) {
    static struct compiler found;
    static const struct compiler *usable;
    if (usable)
        return usable;
    void *library = open_first(compilers);
    bool all = library != NULL;
#define FIND(name, symbol, parameters) all = all && find(library, symbol, &found.name);
    COMPILER_CALLS(FIND)
#undef FIND
    usable = all ? &found : NULL;
    return usable;
}

/* The pieces of a module's source as one text; NULL if there is no memory. */
static char *joined(const char *const *pieces) {
    size_t size = 1;
    for (const char *const *each = pieces; *each; each++)
        size += strlen(*each);
    char *text = malloc(size), *end = text;
    for (const char *const *each = pieces; *each && text; each++) {
        size_t length = strlen(*each);
        memcpy(end, *each, length);
        end += length;
    }
    if (text)
        *end = '\0';
    return text;
}

static void show_log(const struct compiler *rtc, program_t program) {
    size_t size = 0;
    if (!pb_settings()->verbose || rtc->log_size(program, &size) != 0 || size < 2)
        return;
    char *log = calloc(1, size + 1);
    if (log && rtc->log(program, log) == 0)
        fprintf(stderr, "%s\n", log);
    free(log);
}

static int code_of(const struct compiler *rtc, program_t program, void **code) {
    size_t size = 0;
    if (rtc->code_size(program, &size) != 0 || !size)
        return INVALID_IMAGE;
    *code = malloc(size);
    if (!*code)
        return GPU_OUT_OF_MEMORY;
    return rtc->code(program, *code) == 0 ? 0 : INVALID_IMAGE;
}

/* Compiles the source for the device that this thread has made its own: without an architecture the library
 * takes that. */
static int compiled(const polybuild_module *module, const void **image, void **owned) {
    const struct compiler *rtc = compiler();
    const char *options[] = {"-O3", module->hip_options};
    program_t program = NULL;
    *owned = NULL;
    if (!rtc)
        return NO_COMPILER;
    char *text = joined(module->hip);
    if (!text)
        return GPU_OUT_OF_MEMORY;
    int code = rtc->create(&program, text, "polybuild.hip", 0, NULL, NULL) == 0 ? 0 : INVALID_IMAGE;
    if (!code && rtc->compile(program, module->hip_options ? 2 : 1, options) != 0) {
        show_log(rtc, program);
        code = INVALID_IMAGE;
    }
    if (!code)
        code = code_of(rtc, program, owned);
    if (program)
        (void)rtc->destroy(&program);
    free(text);
    if (code) {
        free(*owned);
        *owned = NULL;
    }
    *image = *owned;
    return code;
}

const struct gpu_dialect gpu_hip = {
    hip_libraries, "there is no libamdhip64.so, which ROCm installs", MAX_PITCH_OF_HIP, READS_HOST_OF_HIP, NULL, compiled,
};
