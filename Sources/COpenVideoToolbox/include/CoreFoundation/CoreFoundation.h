// SPDX-License-Identifier: Apache-2.0
// The part of Core Foundation that programs for video use, over the Core Foundation of Swift's
// Foundation.

#ifndef OVT_COREFOUNDATION_COREFOUNDATION_H
#define OVT_COREFOUNDATION_COREFOUNDATION_H

#include <CoreFoundation/CFArray.h>
#include <CoreFoundation/CFBase.h>
#include <CoreFoundation/CFByteOrder.h>
#include <CoreFoundation/CFCGTypes.h>
#include <CoreFoundation/CFData.h>
#include <CoreFoundation/CFDate.h>
#include <CoreFoundation/CFDictionary.h>
#include <CoreFoundation/CFError.h>
#include <CoreFoundation/CFNumber.h>
#include <CoreFoundation/CFPropertyList.h>
#include <CoreFoundation/CFRunLoop.h>
#include <CoreFoundation/CFSet.h>
#include <CoreFoundation/CFString.h>
#include <CoreFoundation/CFURL.h>
#include <CoreFoundation/CFUUID.h>

// Programs get these from Core Foundation.
#include <assert.h>
#include <ctype.h>
#include <errno.h>
#include <float.h>
#include <limits.h>
#include <locale.h>
#include <math.h>
#include <setjmp.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

// Also libdispatch, whose headers need Clang.
#if defined(__clang__) && !defined(__swift__) && __has_include(<dispatch/dispatch.h>)
#include <dispatch/dispatch.h>
#endif

#endif
