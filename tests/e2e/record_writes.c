/* Records what a process writes below POWER_ROOT, syncs and renames, in POWER_LOG, so that a test can rebuild the files
   as a power cut leaves them. Preloaded (LD_PRELOAD). A record: operation, inode, number, two lengths, two strings. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <unistd.h>

#define MOST_FILES 65536
#define REAL(name) ((typeof(&name))dlsym(RTLD_NEXT, #name))

static pthread_mutex_t lock = PTHREAD_RECURSIVE_MUTEX_INITIALIZER_NP;
static unsigned char tracked[MOST_FILES];
static int log_file = -1;
static const char *root;

static void record(char op, uint64_t inode, uint64_t number, const void *a, uint32_t na, const void *b, uint32_t nb) {
    if (log_file < 0) return;
    struct __attribute__((packed)) { char op; uint64_t inode, number; uint32_t na, nb; } head = {op, inode, number, na, nb};
    struct iovec parts[3] = {{&head, sizeof head}, {(void *)a, na}, {(void *)b, nb}};
    if (writev(log_file, parts, 3) != (ssize_t)(sizeof head + na + nb)) abort();
}

__attribute__((constructor)) static void begin(void) {
    const char *path = getenv("POWER_LOG");
    root = getenv("POWER_ROOT");
    if (path && root) log_file = REAL(open)(path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600);
}

static int is_below(const char *path) { return root && !strncmp(path, root, strlen(root)); }

static uint64_t inode_of(int fd) {
    struct stat s;
    return fstat(fd, &s) ? 0 : s.st_ino;
}

static void opened(int fd, int flags, int is_new) {
    char link[64], path[4096];
    if (fd < 0 || fd >= MOST_FILES || log_file < 0) return;
    snprintf(link, sizeof link, "/proc/self/fd/%d", fd);
    ssize_t n = readlink(link, path, sizeof path - 1);
    tracked[fd] = 0;
    if (n <= 0) return;
    path[n] = 0;
    if (!is_below(path)) return;
    tracked[fd] = 1;
    if (is_new) record('C', inode_of(fd), 0, path, n, "", 0);
    else if (flags & O_TRUNC) record('T', inode_of(fd), 0, "", 0, "", 0);
}

static int is_missing(int folder, const char *path, int flags) {
    struct stat s;
    return (flags & O_CREAT) && fstatat(folder, path, &s, 0) != 0;
}

#define MODE(flags) mode_t mode = 0; if (flags & (O_CREAT | O_TMPFILE)) { va_list l; va_start(l, flags); mode = va_arg(l, mode_t); va_end(l); }
#define OPEN(name) int name(const char *path, int flags, ...) { MODE(flags) \
    pthread_mutex_lock(&lock); int is_new = is_missing(AT_FDCWD, path, flags); int fd = REAL(name)(path, flags, mode); \
    opened(fd, flags, is_new); pthread_mutex_unlock(&lock); return fd; }
OPEN(open) OPEN(open64)
#define OPENAT(name) int name(int folder, const char *path, int flags, ...) { MODE(flags) \
    pthread_mutex_lock(&lock); int is_new = is_missing(folder, path, flags); int fd = REAL(name)(folder, path, flags, mode); \
    opened(fd, flags, is_new); pthread_mutex_unlock(&lock); return fd; }
OPENAT(openat) OPENAT(openat64)

int close(int fd) {
    if (fd >= 0 && fd < MOST_FILES) tracked[fd] = 0;
    return REAL(close)(fd);
}

#define IS_TRACKED(fd) ((fd) >= 0 && (fd) < MOST_FILES && tracked[fd])

ssize_t write(int fd, const void *data, size_t size) {
    if (!IS_TRACKED(fd)) return REAL(write)(fd, data, size);
    pthread_mutex_lock(&lock);
    ssize_t n = REAL(write)(fd, data, size);
    if (n > 0) record('W', inode_of(fd), lseek(fd, 0, SEEK_CUR) - n, data, n, "", 0);
    pthread_mutex_unlock(&lock);
    return n;
}

#define PWRITE(name) ssize_t name(int fd, const void *data, size_t size, off_t at) { \
    if (!IS_TRACKED(fd)) return REAL(name)(fd, data, size, at); \
    pthread_mutex_lock(&lock); ssize_t n = REAL(name)(fd, data, size, at); \
    if (n > 0) record('W', inode_of(fd), at, data, n, "", 0); pthread_mutex_unlock(&lock); return n; }
PWRITE(pwrite) PWRITE(pwrite64)

#define FTRUNCATE(name) int name(int fd, off_t size) { \
    pthread_mutex_lock(&lock); int r = REAL(name)(fd, size); \
    if (!r && IS_TRACKED(fd)) record('T', inode_of(fd), size, "", 0, "", 0); pthread_mutex_unlock(&lock); return r; }
FTRUNCATE(ftruncate) FTRUNCATE(ftruncate64)

/* What is written while a file is being synced may be lost: 'B' notes the beginning, 'S' the end. */
static uint64_t syncs;
static int sync_file(int fd, int (*sync)(int)) {
    if (!IS_TRACKED(fd)) return sync(fd);
    pthread_mutex_lock(&lock);
    uint64_t inode = inode_of(fd), number = ++syncs;
    record('B', inode, number, "", 0, "", 0);
    pthread_mutex_unlock(&lock);
    int r = sync(fd);
    pthread_mutex_lock(&lock);
    if (!r) record('S', inode, number, "", 0, "", 0);
    pthread_mutex_unlock(&lock);
    return r;
}
int fsync(int fd) { return sync_file(fd, REAL(fsync)); }
int fdatasync(int fd) { return sync_file(fd, REAL(fdatasync)); }


#define PATHS(op, ok, a, b) do { if ((ok) == 0 && is_below(a)) record(op, 0, 0, a, strlen(a), b, strlen(b)); } while (0)
int rename(const char *from, const char *to) {
    pthread_mutex_lock(&lock); int r = REAL(rename)(from, to); PATHS('R', r, from, to); pthread_mutex_unlock(&lock); return r;
}
int unlink(const char *path) {
    pthread_mutex_lock(&lock); int r = REAL(unlink)(path); PATHS('U', r, path, ""); pthread_mutex_unlock(&lock); return r;
}
int unlinkat(int folder, const char *path, int flags) {
    pthread_mutex_lock(&lock); int r = REAL(unlinkat)(folder, path, flags); PATHS('U', r, path, ""); pthread_mutex_unlock(&lock); return r;
}
int mkdir(const char *path, mode_t mode) {
    pthread_mutex_lock(&lock); int r = REAL(mkdir)(path, mode); struct stat s;
    if (!r && is_below(path) && !stat(path, &s)) record('M', s.st_ino, 0, path, strlen(path), "", 0);
    pthread_mutex_unlock(&lock); return r;
}
