// SPDX-License-Identifier: Apache-2.0
// Numbers in the order of bytes of a file or of the processor.

#ifndef OVT_COREFOUNDATION_CFBYTEORDER_H
#define OVT_COREFOUNDATION_CFBYTEORDER_H

#include <CoreFoundation/CFBase.h>

OVT_HEADER_BEGIN

#if !defined(__swift__)
/// The order of the processor's bytes.
typedef CFIndex CFByteOrder;
enum { CFByteOrderUnknown = 0, CFByteOrderLittleEndian = 1, CFByteOrderBigEndian = 2 };
CF_INLINE CFByteOrder CFByteOrderGetCurrent(void) {
  return TARGET_RT_BIG_ENDIAN ? CFByteOrderBigEndian : CFByteOrderLittleEndian;
}
CF_INLINE uint16_t CFSwapInt16(uint16_t value) { return __builtin_bswap16(value); }
CF_INLINE uint16_t CFSwapInt16BigToHost(uint16_t value) {
  return TARGET_RT_BIG_ENDIAN ? value : CFSwapInt16(value);
}
CF_INLINE uint16_t CFSwapInt16HostToBig(uint16_t value) {
  return TARGET_RT_BIG_ENDIAN ? value : CFSwapInt16(value);
}
CF_INLINE uint16_t CFSwapInt16LittleToHost(uint16_t value) {
  return TARGET_RT_LITTLE_ENDIAN ? value : CFSwapInt16(value);
}
CF_INLINE uint16_t CFSwapInt16HostToLittle(uint16_t value) {
  return TARGET_RT_LITTLE_ENDIAN ? value : CFSwapInt16(value);
}
CF_INLINE uint32_t CFSwapInt32(uint32_t value) { return __builtin_bswap32(value); }
CF_INLINE uint32_t CFSwapInt32BigToHost(uint32_t value) {
  return TARGET_RT_BIG_ENDIAN ? value : CFSwapInt32(value);
}
CF_INLINE uint32_t CFSwapInt32HostToBig(uint32_t value) {
  return TARGET_RT_BIG_ENDIAN ? value : CFSwapInt32(value);
}
CF_INLINE uint32_t CFSwapInt32LittleToHost(uint32_t value) {
  return TARGET_RT_LITTLE_ENDIAN ? value : CFSwapInt32(value);
}
CF_INLINE uint32_t CFSwapInt32HostToLittle(uint32_t value) {
  return TARGET_RT_LITTLE_ENDIAN ? value : CFSwapInt32(value);
}
CF_INLINE uint64_t CFSwapInt64(uint64_t value) { return __builtin_bswap64(value); }
CF_INLINE uint64_t CFSwapInt64BigToHost(uint64_t value) {
  return TARGET_RT_BIG_ENDIAN ? value : CFSwapInt64(value);
}
CF_INLINE uint64_t CFSwapInt64HostToBig(uint64_t value) {
  return TARGET_RT_BIG_ENDIAN ? value : CFSwapInt64(value);
}
CF_INLINE uint64_t CFSwapInt64LittleToHost(uint64_t value) {
  return TARGET_RT_LITTLE_ENDIAN ? value : CFSwapInt64(value);
}
CF_INLINE uint64_t CFSwapInt64HostToLittle(uint64_t value) {
  return TARGET_RT_LITTLE_ENDIAN ? value : CFSwapInt64(value);
}
#endif

OVT_HEADER_END

#endif
