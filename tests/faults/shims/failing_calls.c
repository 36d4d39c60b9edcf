/* Lets chosen system calls on chosen files fail.
 *
 * FAULT_CALLS    names, comma separated: write fsync ftruncate open unlink
 * FAULT_KIND     EIO ENOSPC EROFS EINTR SHORT
 * FAULT_PATH     only files whose path contains this; with a $ behind it, only those whose path ends so
 * FAULT_STICKY   1: every call from the n-th on fails
 * FAULT_PANEL    24 bytes shared with the test: n (0: off), calls counted, calls that failed
 *
 * A file opened only for reading is never refused, as on a full or read-only disk.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/types.h>
#include <unistd.h>

#define NEXT(name, type) ((type)dlsym(RTLD_NEXT, name))

static uint64_t *panel(void)
{
    static uint64_t nothing[3];
    static uint64_t *shared;
    if (shared)
        return shared;
    const char *path = getenv("FAULT_PANEL");
    int fd = path ? NEXT("open", int (*)(const char *, int, ...))(path, O_RDWR) : -1;
    void *at = fd < 0 ? MAP_FAILED : mmap(NULL, 24, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    if (fd >= 0)
        close(fd);
    return shared = at == MAP_FAILED ? nothing : at;
}

static int chosen(const char *call)
{
    const char *calls = getenv("FAULT_CALLS");
    const char *at = calls ? strstr(calls, call) : NULL;
    size_t length = strlen(call);
    return at && (at == calls || at[-1] == ',') && (at[length] == ',' || at[length] == 0);
}

static int meant(const char *path)
{
    const char *part = getenv("FAULT_PATH");
    size_t length = part ? strlen(part) : 0, whole = strlen(path);
    if (!length || part[length - 1] != '$')
        return !length || strstr(path, part) != NULL;
    return whole >= length - 1 && strncmp(path + whole - (length - 1), part, length - 1) == 0;
}

/* 0: let it through. -1: fail with errno set. 1: write only a part. */
static int verdict(const char *call, const char *path)
{
    const char *kind = getenv("FAULT_KIND");
    uint64_t nth = panel()[0];
    if (!nth || !kind || !chosen(call) || !path || !meant(path))
        return 0;
    int sticky = getenv("FAULT_STICKY") && *getenv("FAULT_STICKY") == '1';
    uint64_t count = __atomic_add_fetch(&panel()[1], 1, __ATOMIC_SEQ_CST);
    if (count < nth || (count > nth && !sticky))
        return 0;
    __atomic_add_fetch(&panel()[2], 1, __ATOMIC_SEQ_CST);
    if (strcmp(kind, "SHORT") == 0)
        return 1;
    errno = strcmp(kind, "ENOSPC") == 0  ? ENOSPC
            : strcmp(kind, "EROFS") == 0 ? EROFS
            : strcmp(kind, "EINTR") == 0 ? EINTR
                                         : EIO;
    return -1;
}

static int verdict_fd(const char *call, int fd)
{
    char link[64], path[4096];
    snprintf(link, sizeof link, "/proc/self/fd/%d", fd);
    ssize_t length = readlink(link, path, sizeof path - 1);
    if (length <= 0 || path[0] != '/')
        return 0;
    path[length] = 0;
    return verdict(call, path);
}

static ssize_t written(int answer, ssize_t (*next)(int, const void *, size_t, off_t), int fd, const void *data, size_t size,
                       off_t at)
{
    return answer < 0 ? -1 : next(fd, data, answer ? (size + 1) / 2 : size, at);
}

ssize_t pwrite64(int fd, const void *data, size_t size, off_t at)
{
    return written(verdict_fd("write", fd), NEXT("pwrite64", ssize_t(*)(int, const void *, size_t, off_t)), fd, data, size, at);
}

ssize_t pwrite(int fd, const void *data, size_t size, off_t at)
{
    return written(verdict_fd("write", fd), NEXT("pwrite", ssize_t(*)(int, const void *, size_t, off_t)), fd, data, size, at);
}

ssize_t write(int fd, const void *data, size_t size)
{
    int answer = verdict_fd("write", fd);
    return answer < 0 ? -1 : NEXT("write", ssize_t(*)(int, const void *, size_t))(fd, data, answer ? (size + 1) / 2 : size);
}

int fsync(int fd)
{
    return verdict_fd("fsync", fd) < 0 ? -1 : NEXT("fsync", int (*)(int))(fd);
}

int fdatasync(int fd)
{
    return verdict_fd("fsync", fd) < 0 ? -1 : NEXT("fdatasync", int (*)(int))(fd);
}

int ftruncate(int fd, off_t size)
{
    return verdict_fd("ftruncate", fd) < 0 ? -1 : NEXT("ftruncate", int (*)(int, off_t))(fd, size);
}

int ftruncate64(int fd, off_t size)
{
    return verdict_fd("ftruncate", fd) < 0 ? -1 : NEXT("ftruncate64", int (*)(int, off_t))(fd, size);
}

int posix_fallocate(int fd, off_t at, off_t size)
{
    return verdict_fd("ftruncate", fd) < 0 ? errno : NEXT("posix_fallocate", int (*)(int, off_t, off_t))(fd, at, size);
}

int posix_fallocate64(int fd, off_t at, off_t size)
{
    return verdict_fd("ftruncate", fd) < 0 ? errno : NEXT("posix_fallocate64", int (*)(int, off_t, off_t))(fd, at, size);
}

static int opened(const char *name, const char *path, int flags, mode_t mode)
{
    if ((flags & O_ACCMODE) != O_RDONLY && verdict("open", path) < 0)
        return -1;
    return NEXT(name, int (*)(const char *, int, mode_t))(path, flags, mode);
}

#define MODE(flags)                                                                                                            \
    mode_t mode = 0;                                                                                                           \
    if ((flags) & (O_CREAT | O_TMPFILE)) {                                                                                     \
        va_list rest;                                                                                                          \
        va_start(rest, flags);                                                                                                 \
        mode = va_arg(rest, mode_t);                                                                                           \
        va_end(rest);                                                                                                          \
    }

int open(const char *path, int flags, ...)
{
    MODE(flags)
    return opened("open", path, flags, mode);
}

int open64(const char *path, int flags, ...)
{
    MODE(flags)
    return opened("open64", path, flags, mode);
}

int unlink(const char *path)
{
    return verdict("unlink", path) < 0 ? -1 : NEXT("unlink", int (*)(const char *))(path);
}
