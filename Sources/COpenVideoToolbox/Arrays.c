// SPDX-License-Identifier: Apache-2.0
// Arrays of this package's own objects, as Core Foundation makes them.

#include <OpenVideoToolbox/Implementation.h>

CFArrayRef OVTArrayCreate(const void *const *objects, CFIndex count) {
  CFMutableArrayRef array = CFArrayCreateMutable(NULL, 0, &kCFTypeArrayCallBacks);
  for (CFIndex i = 0; i < count; i++) CFArrayAppendValue(array, objects[i]);
  return array;
}
