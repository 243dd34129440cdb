/* The threads of a block, as fibres of one operating-system thread. */
#define _GNU_SOURCE
#include <stdint.h>
#include <stdlib.h>
#include <sys/mman.h>

#include "emulator.h"

static const size_t STACK = (size_t)64 << 10, GUARD = 4096;

static char *stacks;
static void *scheduler;               /* its stack pointer while a fibre runs */
static void *fibres[MOST_RESIDENT * MOST_THREADS]; /* theirs while they do not */
static unsigned current;

/* Saves the registers that a call must keep on this stack, its pointer in *save, and goes on at `load`. */
void fibre_switch(void **save, void *load);

#if defined(__x86_64__)
__asm__(".text\n.globl fibre_switch\n.hidden fibre_switch\n.type fibre_switch, @function\nfibre_switch:\n"
        "push %rbp\n push %rbx\n push %r12\n push %r13\n push %r14\n push %r15\n"
        "mov %rsp, (%rdi)\n mov %rsi, %rsp\n"
        "pop %r15\n pop %r14\n pop %r13\n pop %r12\n pop %rbx\n pop %rbp\n ret\n"
        ".size fibre_switch, . - fibre_switch\n");
enum { SAVED = 6, RETURN_TO = 6 };
#elif defined(__aarch64__)
__asm__(".text\n.globl fibre_switch\n.hidden fibre_switch\n.type fibre_switch, %function\nfibre_switch:\n"
        "stp x29, x30, [sp, #-160]!\n stp x19, x20, [sp, #16]\n stp x21, x22, [sp, #32]\n"
        "stp x23, x24, [sp, #48]\n stp x25, x26, [sp, #64]\n stp x27, x28, [sp, #80]\n"
        "stp d8, d9, [sp, #96]\n stp d10, d11, [sp, #112]\n stp d12, d13, [sp, #128]\n stp d14, d15, [sp, #144]\n"
        "mov x2, sp\n str x2, [x0]\n mov sp, x1\n"
        "ldp x19, x20, [sp, #16]\n ldp x21, x22, [sp, #32]\n ldp x23, x24, [sp, #48]\n ldp x25, x26, [sp, #64]\n"
        "ldp x27, x28, [sp, #80]\n ldp d8, d9, [sp, #96]\n ldp d10, d11, [sp, #112]\n ldp d12, d13, [sp, #128]\n"
        "ldp d14, d15, [sp, #144]\n ldp x29, x30, [sp], #160\n ret\n"
        ".size fibre_switch, . - fibre_switch\n");
enum { SAVED = 20, RETURN_TO = 1 };
#else
#error "the emulator knows how to switch stacks on x86-64 and AArch64 only"
#endif

static void make_stacks(void) {
    const size_t count = (size_t)MOST_RESIDENT * MOST_THREADS;
    stacks = mmap(NULL, count * STACK, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1,
                  0);
    if (stacks == MAP_FAILED)
        abort();
    for (size_t i = 0; i < count; i++)
        if (mprotect(stacks + i * STACK, GUARD, PROT_NONE))
            abort();
}

void fibre_prepare(unsigned number, fibre_body *body) {
    if (!stacks)
        make_stacks();
    /* As if the body had been called: the stack is aligned to 16 bytes before its return address. */
    uintptr_t *top = (uintptr_t *)(void *)(stacks + ((size_t)number + 1) * STACK) - 2;
    top -= SAVED;
    for (int i = 0; i < SAVED; i++)
        top[i] = 0;
    top[RETURN_TO] = (uintptr_t)body;
    fibres[number] = top;
}

void fibre_resume(unsigned number) {
    current = number;
    fibre_switch(&scheduler, fibres[number]);
}

void fibre_yield(void) { fibre_switch(&fibres[current], scheduler); }

bool on_fibre_stack(uintptr_t address) {
    return address >= (uintptr_t)stacks + current * STACK && address < (uintptr_t)stacks + (current + 1) * STACK;
}
