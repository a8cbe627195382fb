// SPDX-License-Identifier: Apache-2.0
// The strings of literals, for compilers that do not lay them out: made with the first use, and
// kept for good.

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include <CoreFoundation/CoreFoundation.h>

#include "ConstantString.h"

struct literal {
  struct literal *next;
  const char *text;
  CFStringRef string;
  struct OVTConstantString object;
};

enum { kBuckets = 1024 };
static struct literal *buckets[kBuckets];
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;

static size_t bucket(const char *text) {
  // FNV-1a.
  uint64_t hash = 0xcbf29ce484222325;
  for (const unsigned char *at = (const unsigned char *)text; *at != 0; at++) hash = (hash ^ *at) * 0x100000001b3;
  return (size_t)(hash ^ hash >> 32) % kBuckets;
}

static int isASCII(const char *text) {
  for (; *text != 0; text++) {
    if ((unsigned char)*text > 127) return 0;
  }
  return 1;
}

/// A new string, or NULL if there is no memory or the text is not in UTF-8.
static struct literal *make(const char *text) {
  struct literal *literal = malloc(sizeof(*literal));
  char *copy = strdup(text);
  if (literal == NULL || copy == NULL) {
    free(literal);
    free(copy);
    return NULL;
  }
  literal->text = copy;
  if (isASCII(text)) {
    literal->object = (struct OVTConstantString){&OVTConstantStringClass, OVT_IMMORTAL, 0x7c8, copy, strlen(copy)};
    literal->string = (CFStringRef)&literal->object;
  } else {
    literal->string = CFStringCreateWithCString(NULL, text, kCFStringEncodingUTF8);
  }
  if (literal->string == NULL) {
    free(literal);
    free(copy);
    return NULL;
  }
  return literal;
}

CFStringRef __CFStringMakeConstantString(const char *text) {
  // The result is never null for a program that passes a string; without one, it is the empty
  // string.
  if (text == NULL) text = "";
  struct literal **list = &buckets[bucket(text)];
  pthread_mutex_lock(&mutex);
  struct literal *found = *list;
  while (found != NULL && strcmp(found->text, text) != 0) found = found->next;
  if (found == NULL && (found = make(text)) != NULL) {
    found->next = *list;
    *list = found;
  }
  pthread_mutex_unlock(&mutex);
  return found == NULL ? NULL : found->string;
}
