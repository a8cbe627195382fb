// SPDX-License-Identifier: Apache-2.0
// The container functions of the Core Foundation that Foundation on Linux is built on, under names
// of our own and with plain pointers for objects.
//
// Foundation's own `object(forKey:)` turns what it finds into Swift values, which loses the
// object's identity. These return the very object that the container holds, as programs that use
// raw pointers need.

#ifndef CCOREFOUNDATION_H
#define CCOREFOUNDATION_H

#include <stdbool.h>
#include <stdint.h>

#define OVT_CF(name) __asm__(#name)

typedef const void *_Nullable OVTPointer;
typedef const void *_Nonnull OVTObject;

OVTPointer OVTDictionaryGetValue(OVTObject dictionary, OVTPointer key) OVT_CF(CFDictionaryGetValue);
uint8_t OVTDictionaryContainsKey(OVTObject dictionary, OVTPointer key) OVT_CF(CFDictionaryContainsKey);
long OVTDictionaryGetCount(OVTObject dictionary) OVT_CF(CFDictionaryGetCount);
void OVTDictionaryGetKeysAndValues(OVTObject dictionary, OVTPointer *_Nullable keys, OVTPointer *_Nullable values)
    OVT_CF(CFDictionaryGetKeysAndValues);
void OVTDictionarySetValue(OVTObject dictionary, OVTPointer key, OVTPointer value) OVT_CF(CFDictionarySetValue);
void OVTDictionaryRemoveValue(OVTObject dictionary, OVTPointer key) OVT_CF(CFDictionaryRemoveValue);
void OVTDictionaryAddValue(OVTObject dictionary, OVTPointer key, OVTPointer value) OVT_CF(CFDictionaryAddValue);
void OVTDictionaryReplaceValue(OVTObject dictionary, OVTPointer key, OVTPointer value)
    OVT_CF(CFDictionaryReplaceValue);
void OVTDictionaryRemoveAllValues(OVTObject dictionary) OVT_CF(CFDictionaryRemoveAllValues);
OVTPointer OVTDictionaryCreateMutable(OVTPointer allocator, long capacity, OVTPointer keys, OVTPointer values)
    OVT_CF(CFDictionaryCreateMutable);

long OVTArrayGetCount(OVTObject array) OVT_CF(CFArrayGetCount);
OVTPointer OVTArrayGetValueAtIndex(OVTObject array, long index) OVT_CF(CFArrayGetValueAtIndex);
void OVTArrayAppendValue(OVTObject array, OVTPointer value) OVT_CF(CFArrayAppendValue);
void OVTArrayInsertValueAtIndex(OVTObject array, long index, OVTPointer value) OVT_CF(CFArrayInsertValueAtIndex);
void OVTArraySetValueAtIndex(OVTObject array, long index, OVTPointer value) OVT_CF(CFArraySetValueAtIndex);
void OVTArrayRemoveValueAtIndex(OVTObject array, long index) OVT_CF(CFArrayRemoveValueAtIndex);
void OVTArrayRemoveAllValues(OVTObject array) OVT_CF(CFArrayRemoveAllValues);
OVTPointer OVTArrayCreateMutable(OVTPointer allocator, long capacity, OVTPointer callbacks)
    OVT_CF(CFArrayCreateMutable);

int32_t OVTRunLoopRunInMode(OVTObject mode, double seconds, uint8_t returnAfterSourceHandled)
    OVT_CF(CFRunLoopRunInMode);
OVTPointer OVTRunLoopGetCurrent(void) OVT_CF(CFRunLoopGetCurrent);
void OVTRunLoopStop(OVTObject runLoop) OVT_CF(CFRunLoopStop);

#endif
