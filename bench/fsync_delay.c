/* A slower disk, by LD_PRELOAD: every sync of file data takes FSYNC_DELAY_US microseconds longer. */

#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <stddef.h>
#include <stdlib.h>
#include <sys/types.h>
#include <time.h>

static struct timespec extra;

__attribute__((constructor)) static void read_delay(void) {
    const char *text = getenv("FSYNC_DELAY_US");
    long microseconds = text ? atol(text) : 0;
    extra.tv_sec = microseconds / 1000000;
    extra.tv_nsec = microseconds % 1000000 * 1000;
}

/* Keeps the errno of the call that came before. */
static void wait_longer(void) {
    int kept = errno;
    struct timespec left = extra;
    while (nanosleep(&left, &left) != 0 && errno == EINTR) {
    }
    errno = kept;
}

int fsync(int file) {
    static int (*real)(int);
    if (!real)
        real = (int (*)(int))dlsym(RTLD_NEXT, "fsync");
    int result = real(file);
    wait_longer();
    return result;
}

int fdatasync(int file) {
    static int (*real)(int);
    if (!real)
        real = (int (*)(int))dlsym(RTLD_NEXT, "fdatasync");
    int result = real(file);
    wait_longer();
    return result;
}

int sync_file_range(int file, off_t offset, off_t length, unsigned int flags) {
    static int (*real)(int, off_t, off_t, unsigned int);
    if (!real)
        real = (int (*)(int, off_t, off_t, unsigned int))dlsym(RTLD_NEXT, "sync_file_range");
    int result = real(file, offset, length, flags);
    wait_longer();
    return result;
}
