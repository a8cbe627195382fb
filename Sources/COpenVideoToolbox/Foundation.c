// SPDX-License-Identifier: Apache-2.0
// Functions of Core Foundation, as Foundation's library has them.
//
// The library exports some functions under the same names, which stand in front. So those of
// Foundation are looked up in its library.

#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>

#include <OpenVideoToolbox/Implementation.h>

static struct {
  const void *(*retain)(const void *);
  void (*release)(const void *);
  CFTypeID (*typeID)(const void *);
  unsigned char (*equal)(const void *, const void *);
  CFHashCode (*hash)(const void *);
  CFStringRef (*description)(const void *);
  CFAllocatorRef (*allocator)(const void *);
  CFDictionaryRef (*dictionary)(
      CFAllocatorRef, const void **, const void **, CFIndex, const CFDictionaryKeyCallBacks *,
      const CFDictionaryValueCallBacks *);
} real;

static void *find(void *library, const char *name) {
  void *found = dlsym(library, name);
  if (found == NULL) {
    fprintf(stderr, "OpenVideoToolbox: Foundation's library has no %s\n", name);
    abort();
  }
  return found;
}

/// Looks the functions up. Foundation calls some of them while it is loaded, before this library's
/// constructors run, so that it is done with the first call; to do it twice does no harm.
static void findAll(void) {
  // It is loaded: this library depends on it.
  void *library = dlopen("libFoundation.so", RTLD_LAZY | RTLD_NOLOAD);
  if (library == NULL) library = dlopen("libFoundation.so", RTLD_LAZY);
  if (library == NULL) {
    fprintf(stderr, "OpenVideoToolbox: Foundation's library cannot be loaded: %s\n", dlerror());
    abort();
  }
  *(void **)&real.release = find(library, "CFRelease");
  *(void **)&real.typeID = find(library, "CFGetTypeID");
  *(void **)&real.equal = find(library, "CFEqual");
  *(void **)&real.hash = find(library, "CFHash");
  *(void **)&real.description = find(library, "CFCopyDescription");
  *(void **)&real.allocator = find(library, "CFGetAllocator");
  *(void **)&real.dictionary = find(library, "CFDictionaryCreate");
  // Last: the others are there when this one is.
  __atomic_store_n((void **)&real.retain, find(library, "CFRetain"), __ATOMIC_RELEASE);
}

static inline void assureAll(void) {
  if (__builtin_expect(__atomic_load_n((void **)&real.retain, __ATOMIC_ACQUIRE) == NULL, 0)) findAll();
}

const void *OVTRealRetain(const void *object) {
  assureAll();
  return real.retain(object);
}
void OVTRealRelease(const void *object) {
  assureAll();
  real.release(object);
}
CFTypeID OVTRealGetTypeID(const void *object) {
  assureAll();
  return real.typeID(object);
}
uint8_t OVTRealEqual(const void *first, const void *second) {
  assureAll();
  return real.equal(first, second);
}
CFHashCode OVTRealHash(const void *object) {
  assureAll();
  return real.hash(object);
}
CFStringRef OVTRealCopyDescription(const void *object) {
  assureAll();
  return real.description(object);
}
CFAllocatorRef OVTRealGetAllocator(const void *object) {
  assureAll();
  return real.allocator(object);
}

// Foundation itself calls CFHash and the like for the objects in its containers. So that this costs
// it next to nothing, classes that turned out not to be this package's are remembered. An object
// begins with the address of its class.
static const void *knownClasses[64];

static const void **place(const void *class) { return &knownClasses[((uintptr_t)class >> 4) % 64]; }

bool OVTIsKnownFoundation(const void *object) {
  const void *class = *(const void *const *)object;
  return __atomic_load_n(place(class), __ATOMIC_RELAXED) == class;
}

void OVTNoteFoundation(const void *object) {
  const void *class = *(const void *const *)object;
  __atomic_store_n(place(class), class, __ATOMIC_RELAXED);
}

void OVTWriteError(const char *text) { fputs(text, stderr); }

CFAllocatorRef OVTAllocatorNull(void) { return kCFAllocatorNull; }
CFAllocatorRef OVTAllocatorOfSystem(void) { return kCFAllocatorSystemDefault; }
CFAllocatorRef OVTAllocatorMalloc(void) { return kCFAllocatorMalloc; }

void *OVTAllocatorAllocate(CFAllocatorRef allocator, CFIndex size) {
  return CFAllocatorAllocate(allocator, size, 0);
}

void OVTAllocatorDeallocate(CFAllocatorRef allocator, void *block) { CFAllocatorDeallocate(allocator, block); }

// Foundation's own crashes for a dictionary that Swift made. A dictionary of objects has no null
// values, so that the value itself says whether it is there.
Boolean CFDictionaryGetValueIfPresent(CFDictionaryRef dictionary, const void *key, const void **value) {
  const void *found = CFDictionaryGetValue(dictionary, key);
  if (found != NULL && value != NULL) *value = found;
  return found != NULL;
}

// Programs that were written for macOS pass null pointers for entries that they do not need (OBS
// Studio, for the properties of HDR). Foundation's own function crashes for them where keys or
// values are retained as objects. Such entries are left out. Dictionaries with a program's own
// callbacks, for which null may be a value, are created as they are.
CFDictionaryRef CFDictionaryCreate(
    CFAllocatorRef allocator, const void **keys, const void **values, CFIndex count,
    const CFDictionaryKeyCallBacks *keyCallBacks, const CFDictionaryValueCallBacks *valueCallBacks) {
  assureAll();
  const bool keysAreObjects =
      keyCallBacks == &kCFTypeDictionaryKeyCallBacks || keyCallBacks == &kCFCopyStringDictionaryKeyCallBacks;
  const bool valuesAreObjects = valueCallBacks == &kCFTypeDictionaryValueCallBacks;
  CFIndex kept = 0;
  if (keys != NULL && values != NULL) {
    for (CFIndex i = 0; i < count; i++) {
      if (!((keysAreObjects && keys[i] == NULL) || (valuesAreObjects && values[i] == NULL))) kept++;
    }
  }
  if (count <= 0 || kept == count) {
    return real.dictionary(allocator, keys, values, count, keyCallBacks, valueCallBacks);
  }
  // The arrays are the caller's and stay as they are.
  const void **entries = kept > 0 ? malloc(2 * (size_t)kept * sizeof *entries) : NULL;
  if (kept > 0 && entries == NULL) return NULL;
  CFIndex next = 0;
  for (CFIndex i = 0; next < kept; i++) {
    if ((keysAreObjects && keys[i] == NULL) || (valuesAreObjects && values[i] == NULL)) continue;
    entries[next] = keys[i];
    entries[kept + next] = values[i];
    next++;
  }
  CFDictionaryRef result = real.dictionary(
      allocator, entries, entries == NULL ? NULL : entries + kept, kept, keyCallBacks, valueCallBacks);
  free(entries);
  return result;
}
