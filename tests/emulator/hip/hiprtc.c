/* libhiprtc.so: gives kernels to the stand-in for nvcc, which lies beside this library. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "../src/emulator.h"

enum { SUCCESS = 0, INVALID_INPUT = 3, INVALID_PROGRAM = 4, INVALID_OPTION = 5, COMPILATION = 6 };

struct program {
    char *source, *code;
    size_t bytes;
    char log[4096];
};

int hiprtcCreateProgram(struct program **result, const char *source, const char *name, int headers, const char **texts,
                        const char **names) {
    (void)name, (void)texts, (void)names;
    if (headers || driver_call(__func__))
        return INVALID_INPUT;
    *result = calloc(1, sizeof **result);
    (*result)->source = strdup(source);
    return SUCCESS;
}

/* Reads all of a file; NULL: there is none. */
static char *contents(const char *path, size_t *bytes) {
    FILE *file = fopen(path, "rb");
    if (!file)
        return NULL;
    fseek(file, 0, SEEK_END);
    *bytes = (size_t)ftell(file);
    rewind(file);
    char *text = malloc(*bytes + 1);
    *bytes = fread(text, 1, *bytes, file);
    fclose(file);
    return text;
}

static bool compile(struct program *program, const char *folder) {
    Dl_info self;
    char source[256], image[256], log[256], command[6000];
    snprintf(source, sizeof source, "%s/kernels.cu", folder);
    snprintf(image, sizeof image, "%s/image", folder);
    snprintf(log, sizeof log, "%s/log", folder);
    FILE *file = fopen(source, "w");
    if (!dladdr((void *)(uintptr_t)hiprtcCreateProgram, &self) || !file)
        return false;
    fputs(program->source, file);
    fclose(file);
    const char *end = strrchr(self.dli_fname, '/');
    snprintf(command, sizeof command, "env -u LD_LIBRARY_PATH '%.*s/nvcc' -fatbin -o '%s' '%s' >'%s' 2>&1",
             (int)(end - self.dli_fname), self.dli_fname, image, source, log);
    bool done = system(command) == 0;
    size_t bytes = 0;
    char *said = contents(log, &bytes);
    snprintf(program->log, sizeof program->log, "%.*s", (int)bytes, said ? said : "");
    free(said);
    if (done)
        program->code = contents(image, &program->bytes);
    unlink(source);
    unlink(image);
    unlink(log);
    return program->code != NULL;
}

int hiprtcCompileProgram(struct program *program, int count, const char **options) {
    char folder[] = "/tmp/polybuild-hiprtc-XXXXXX";
    if (driver_call(__func__))
        return COMPILATION;
    for (int i = 0; i < count; i++) {
        if (strcmp(options[i], "-O3") != 0 && strncmp(options[i], "-ffp-contract=", 14) != 0) {
            snprintf(program->log, sizeof program->log, "unknown option '%s'", options[i]);
            return INVALID_OPTION;
        }
    }
    if (!mkdtemp(folder))
        return COMPILATION;
    bool done = compile(program, folder);
    rmdir(folder);
    return done ? SUCCESS : COMPILATION;
}

int hiprtcGetProgramLogSize(struct program *program, size_t *size) {
    *size = strlen(program->log) + 1;
    return SUCCESS;
}

int hiprtcGetProgramLog(struct program *program, char *log) {
    strcpy(log, program->log);
    return SUCCESS;
}

int hiprtcGetCodeSize(struct program *program, size_t *size) {
    *size = program->bytes;
    return driver_call(__func__) || !program->code ? INVALID_PROGRAM : SUCCESS;
}

int hiprtcGetCode(struct program *program, char *code) {
    memcpy(code, program->code, program->bytes);
    return driver_call(__func__) ? INVALID_PROGRAM : SUCCESS;
}

int hiprtcDestroyProgram(struct program **program) {
    free((*program)->source);
    free((*program)->code);
    free(*program);
    *program = NULL;
    return SUCCESS;
}
