/* Linked to every image: where its __shared__ variables lie, both 0 if it has none. */
extern "C" {
extern char __start_emulator_shared[] __attribute__((weak, visibility("hidden")));
extern char __stop_emulator_shared[] __attribute__((weak, visibility("hidden")));
char *emulator_shared_bounds[2] = {__start_emulator_shared, __stop_emulator_shared};
}
