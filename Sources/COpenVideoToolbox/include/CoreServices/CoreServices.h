// SPDX-License-Identifier: Apache-2.0
// Of Core Services only what programs that compress video include it for.
#ifndef OVT_CORESERVICES_CORESERVICES_H
#define OVT_CORESERVICES_CORESERVICES_H
#include <CoreFoundation/CoreFoundation.h>
enum {
  /// An argument is wrong.
  paramErr = -50,
  /// There is no memory.
  memFullErr = -108
};
#endif
