// SPDX-License-Identifier: Apache-2.0
#define _GNU_SOURCE
#include "CSandbox.h"

#include <errno.h>
#include <fcntl.h>
#include <malloc.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

int ovt_free_descriptors(int count) {
  struct rlimit limit;
  if (getrlimit(RLIMIT_NOFILE, &limit) != 0) return count;
  for (;;) {
    int most = limit.rlim_cur < INT32_MAX ? (int)limit.rlim_cur : INT32_MAX;
    int found = 0;
    for (int descriptor = 0; descriptor < most && found < count; descriptor++)
      if (fcntl(descriptor, F_GETFD) < 0) found++;
    if (found >= count || limit.rlim_cur >= limit.rlim_max) return found;
    // Raises the soft limit only as far as necessary.
    rlim_t wanted = limit.rlim_cur + (rlim_t)(count - found);
    limit.rlim_cur = wanted < limit.rlim_max ? wanted : limit.rlim_max;
    if (setrlimit(RLIMIT_NOFILE, &limit) != 0) return found;
  }
}

void ovt_close_above_limit(void) {
  struct rlimit limit;
  if (getrlimit(RLIMIT_NOFILE, &limit) == 0 && limit.rlim_cur < UINT32_MAX)
    syscall(436 /* close_range */, (unsigned)limit.rlim_cur, UINT32_MAX, 0u);
}

uint64_t ovt_limit_of_processes(void) {
  struct rlimit limit;
  return getrlimit(RLIMIT_NPROC, &limit) == 0 && limit.rlim_cur != RLIM_INFINITY ? limit.rlim_cur : UINT64_MAX;
}

static void *wait_for_lock(void *lock) {
  pthread_mutex_lock(lock);
  pthread_mutex_unlock(lock);
  return NULL;
}

int ovt_try_threads(int count, int *failure) {
  pthread_t *threads = malloc((size_t)count * sizeof *threads);
  *failure = 0;
  if (threads == NULL) return 0;
  pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
  pthread_mutex_lock(&lock);
  int made = 0;
  while (made < count) {
    *failure = pthread_create(&threads[made], NULL, wait_for_lock, &lock);
    if (*failure != 0) break;
    made++;
  }
  pthread_mutex_unlock(&lock);
  for (int i = 0; i < made; i++) pthread_join(threads[i], NULL);
  free(threads);
  return made;
}

int ovt_try_memory(size_t bytes) {
  void *memory = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (memory == MAP_FAILED) return 0;
  munmap(memory, bytes);
  return 1;
}

void ovt_save_address_space(void) {
  // Each arena reserves 64 MiB of address space, and by default there may be eight for each
  // processor.
  mallopt(M_ARENA_MAX, 2);
}

// The paths to remove if the process ends abnormally.
enum { MOST_LEFTOVERS = 64, LONGEST_PATH = 4096, DEEPEST = 4 };

static struct leftover {
  // 0: free; 1: being filled; 2: a file; 3: a folder with all its contents.
  atomic_int kind;
  char path[LONGEST_PATH];
} leftovers[MOST_LEFTOVERS];

void ovt_add_leftover(const char *path, int is_folder) {
  size_t length = strlen(path);
  if (length >= LONGEST_PATH) return;
  for (int i = 0; i < MOST_LEFTOVERS; i++) {
    int empty = 0;
    if (!atomic_compare_exchange_strong(&leftovers[i].kind, &empty, 1)) continue;
    memcpy(leftovers[i].path, path, length + 1);
    atomic_store(&leftovers[i].kind, is_folder ? 3 : 2);
    return;
  }
}

void ovt_remove_leftover(const char *path) {
  for (int i = 0; i < MOST_LEFTOVERS; i++)
    if (atomic_load(&leftovers[i].kind) > 1 && strcmp(leftovers[i].path, path) == 0) {
      atomic_store(&leftovers[i].kind, 0);
      return;
    }
}

struct entry {
  uint64_t inode;
  int64_t offset;
  uint16_t length;
  uint8_t kind;
  char name[];
};

static int open_folder(int parent, const char *name) {
  int flags = O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC;
  int descriptor = (int)syscall(SYS_openat, parent, name, flags, 0);
  if (descriptor < 0 && errno == EMFILE && ovt_use_reserve())
    descriptor = (int)syscall(SYS_openat, parent, name, flags, 0);
  return descriptor;
}

// Uses no heap memory, because there may be none left.
static void empty_folder(int folder, int depth) {
  char buffer[2048] __attribute__((aligned(8)));
  // Removing entries while a folder is read may hide others, so it is read again until nothing more
  // can be removed.
  for (int isOver = 0; !isOver;) {
    isOver = 1;
    lseek(folder, 0, SEEK_SET);
    long size;
    while ((size = syscall(SYS_getdents64, folder, buffer, sizeof buffer)) > 0) {
      for (long place = 0; place < size;) {
        struct entry *entry = (struct entry *)(buffer + place);
        place += entry->length;
        if (strcmp(entry->name, ".") == 0 || strcmp(entry->name, "..") == 0) continue;
        if (unlinkat(folder, entry->name, 0) == 0) {
          isOver = 0;
          continue;
        }
        if ((errno != EISDIR && errno != EPERM) || depth >= DEEPEST) continue;
        int inner = open_folder(folder, entry->name);
        if (inner < 0) continue;
        empty_folder(inner, depth + 1);
        close(inner);
        if (unlinkat(folder, entry->name, AT_REMOVEDIR) == 0) isOver = 0;
      }
    }
  }
}

void ovt_remove_folder(int folder, const char *path) {
  int own = folder >= 0 ? folder : open_folder(AT_FDCWD, path);
  if (own >= 0) {
    empty_folder(own, 0);
    if (own != folder) close(own);
  }
  rmdir(path);
}

static const size_t little = 256u << 20;
static char no_memory[256];
static char no_files[256];

static void say(const char *text) {
  size_t length = strlen(text);
  while (length > 0) {
    ssize_t count = write(STDERR_FILENO, text, length);
    if (count < 0 && errno == EINTR) continue;
    if (count <= 0) return;
    text += count;
    length -= (size_t)count;
  }
}

// The message for a signal that a lack of resources has caused; NULL for other causes. The lack is
// assumed if it was the thread's last error and still exists. This is not proof, but checking only
// one of the two would attribute defects of the program to a limit.
static const char *reason(int failure, const siginfo_t *information) {
  // A signal sent by another process says nothing about this one.
  if (information->si_code <= 0 && information->si_pid != getpid()) return NULL;
  if (failure == EMFILE) {
    int descriptor = (int)syscall(SYS_dup, STDERR_FILENO);
    if (descriptor < 0) return errno == EMFILE ? no_files : NULL;
    close(descriptor);
  }
  return failure == ENOMEM && !ovt_try_memory(little) ? no_memory : NULL;
}

static void end(int number, siginfo_t *information, void *context) {
  (void)context;
  int failure = errno;
  static atomic_flag isEnding = ATOMIC_FLAG_INIT;
  // Another thread is already handling it.
  if (atomic_flag_test_and_set(&isEnding))
    for (;;) pause();
  const char *text = reason(failure, information);
  if (text == NULL) {
    // Another cause: the signal has its default effect.
    signal(number, SIG_DFL);
    raise(number);
    return;
  }
  say(text);
  // Frees descriptors, which are needed to open the folders that are emptied.
  if (text == no_files) syscall(436 /* close_range */, 3u, UINT32_MAX, 0u);
  for (int i = 0; i < MOST_LEFTOVERS; i++) {
    int kind = atomic_load(&leftovers[i].kind);
    if (kind == 3) {
      ovt_remove_folder(-1, leftovers[i].path);
    } else if (kind == 2) {
      unlink(leftovers[i].path);
      char *slash = strrchr(leftovers[i].path, '/');
      if (slash != NULL && slash != leftovers[i].path) {
        *slash = 0;
        // The file's own folder, if it is empty.
        rmdir(leftovers[i].path);
      }
    }
  }
  _exit(1);
}

void ovt_end_well_without(const char *memory, const char *files) {
  strncpy(no_memory, memory, sizeof no_memory - 1);
  strncpy(no_files, files, sizeof no_files - 1);
  struct sigaction action;
  memset(&action, 0, sizeof action);
  action.sa_sigaction = end;
  action.sa_flags = SA_SIGINFO;
  const int numbers[] = {SIGILL, SIGTRAP, SIGABRT, SIGBUS, SIGSEGV};
  for (size_t i = 0; i < sizeof numbers / sizeof numbers[0]; i++) sigaction(numbers[i], &action, NULL);
}
