/* Whether a run pays on the device; follows client.c in one file.
 *
 * usage: estimates INSTANCES SERIAL LAUNCHES BYTES BLOCKS   prints where a run runs that does so much, of which
 * one thread does a part alone, in so many launches of so many blocks, and for which so many bytes travel there and
 * back. Another array that it reads is on the device already.
 */
int main(int count, char **words) {
    double there[8] = {0}, result[8];
    polybuild_work work = {.minimum = 1};
    (void)count;
    work.instances = strtod(words[1], NULL);
    work.serial = strtod(words[2], NULL);
    work.launches = strtod(words[3], NULL);
    polybuild_kernel_work kernel = {3e-3 * (work.instances - work.serial), strtod(words[5], NULL), 16};
    work.kernel_count = 1;
    work.kernels = &kernel;
    polybuild_resident(there, sizeof there);
    polybuild_resident(result, sizeof result);
    twice(there, result, 0, 8); /* which brings it there */
    polybuild_box known = flat(there, sizeof there), other = flat(words, (size_t)strtoul(words[4], NULL, 10));
    const polybuild_use uses[] = {{&known, POLYBUILD_IN}, {&other, POLYBUILD_INOUT}};
    polybuild_session *session = polybuild_open(&heat_region, &work, uses, 2);
    puts(session ? "device" : "host");
    if (session)
        polybuild_close(session);
    polybuild_release(there);
    polybuild_release(result);
    return 0;
}
