/* Makes every fsync and fdatasync take FAULT_SYNC_MS longer: what is answered sooner was not on disk. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdlib.h>
#include <time.h>

static void delay(void)
{
    const char *text = getenv("FAULT_SYNC_MS");
    long ms = text ? atol(text) : 0;
    struct timespec span = {ms / 1000, (ms % 1000) * 1000000L};
    while (nanosleep(&span, &span) != 0)
        ;
}

int fsync(int fd)
{
    delay();
    return ((int (*)(int))dlsym(RTLD_NEXT, "fsync"))(fd);
}

int fdatasync(int fd)
{
    delay();
    return ((int (*)(int))dlsym(RTLD_NEXT, "fdatasync"))(fd);
}
