// SPDX-License-Identifier: Apache-2.0
// A queue of buffers in the order of their times.

#ifndef OVT_COREMEDIA_CMBUFFERQUEUE_H
#define OVT_COREMEDIA_CMBUFFERQUEUE_H

#include <CoreMedia/CMBase.h>
#include <CoreMedia/CMSampleBuffer.h>
#include <CoreMedia/CMTime.h>

OVT_HEADER_BEGIN

typedef struct opaqueCMBufferQueue *CMBufferQueueRef;
/// An element of a queue: any object of which the queue's callbacks can tell the duration.
typedef CFTypeRef CMBufferRef;

typedef CMTime (*CMBufferGetTimeCallback)(CMBufferRef buf, void *OVT_NULLABLE refcon);
typedef Boolean (*CMBufferGetBooleanCallback)(CMBufferRef buf, void *OVT_NULLABLE refcon);
typedef CFComparisonResult (*CMBufferCompareCallback)(CMBufferRef buf1, CMBufferRef buf2, void *OVT_NULLABLE refcon);
typedef size_t (*CMBufferGetSizeCallback)(CMBufferRef buf, void *OVT_NULLABLE refcon);

/// The functions by which a queue reads properties of its buffers. Their results, except that of
/// `isDataReady`, must
/// not change while a buffer is in the queue.
typedef struct {
  /// 0 or 1.
  uint32_t version;
  /// Passed to all callbacks.
  void *OVT_NULLABLE refcon;
  /// The earliest decode time in a buffer; `NULL` if it is unknown.
  CMBufferGetTimeCallback OVT_NULLABLE getDecodeTimeStamp;
  /// The earliest presentation time in a buffer; `NULL` if it is unknown.
  CMBufferGetTimeCallback OVT_NULLABLE getPresentationTimeStamp;
  /// The duration of a buffer.
  CMBufferGetTimeCallback getDuration;
  /// Whether a buffer can be used; `NULL` if all can.
  CMBufferGetBooleanCallback OVT_NULLABLE isDataReady;
  /// The order of two buffers; `NULL` for first in, first out.
  CMBufferCompareCallback OVT_NULLABLE compare;
  /// The notification that a buffer posts when it becomes ready.
  CFStringRef OVT_NULLABLE dataBecameReadyNotification;
  /// The size of a buffer in bytes; `NULL` if it is unknown. With version 1 only.
  CMBufferGetSizeCallback OVT_NULLABLE getSize;
} CMBufferCallbacks;

typedef struct opaqueCMBufferQueueTriggerToken *CMBufferQueueTriggerToken;
typedef int32_t CMBufferQueueTriggerCondition;
/// Called when a trigger's condition becomes true, from the thread whose call made it true.
typedef void (*CMBufferQueueTriggerCallback)(void *OVT_NULLABLE triggerRefcon, CMBufferQueueTriggerToken triggerToken);
/// Checks whether a buffer may be added: returns `noErr`, or the error that adding it returns.
typedef OSStatus (*CMBufferValidationCallback)(CMBufferQueueRef queue, CMBufferRef buf, void *OVT_NULLABLE refcon);

enum {
  /// Memory ran out.
  kCMBufferQueueError_AllocationFailed = -12760,
  /// A parameter that is needed is missing.
  kCMBufferQueueError_RequiredParameterMissing = -12761,
  /// The version of the callbacks is not 0, or there is none for the duration.
  kCMBufferQueueError_InvalidCMBufferCallbacksStruct = -12762,
  /// The end of data was marked: there can be no more buffers until the queue is reset.
  kCMBufferQueueError_EnqueueAfterEndOfData = -12763,
  /// There is no room for another buffer.
  kCMBufferQueueError_QueueIsFull = -12764,
  /// A trigger's time is not numeric or has an epoch.
  kCMBufferQueueError_BadTriggerDuration = -12765,
  /// A trigger's function must not change the queue.
  kCMBufferQueueError_CannotModifyQueueFromTriggerCallback = -12766,
  /// The condition is unknown, or it needs a time and was given a threshold, or the reverse.
  kCMBufferQueueError_InvalidTriggerCondition = -12767,
  /// The queue has no such trigger.
  kCMBufferQueueError_InvalidTriggerToken = -12768,
  /// The validation callback has refused the buffer.
  kCMBufferQueueError_InvalidBuffer = -12769,
  /// The queue's duration becomes less than the trigger's time.
  kCMBufferQueueTrigger_WhenDurationBecomesLessThan = 1,
  /// The queue's duration becomes less than or equal to the trigger's time.
  kCMBufferQueueTrigger_WhenDurationBecomesLessThanOrEqualTo = 2,
  /// The queue's duration becomes greater than the trigger's time.
  kCMBufferQueueTrigger_WhenDurationBecomesGreaterThan = 3,
  /// The queue's duration becomes greater than or equal to the trigger's time.
  kCMBufferQueueTrigger_WhenDurationBecomesGreaterThanOrEqualTo = 4,
  /// The earliest presentation time changes.
  kCMBufferQueueTrigger_WhenMinPresentationTimeStampChanges = 5,
  /// The latest presentation time changes.
  kCMBufferQueueTrigger_WhenMaxPresentationTimeStampChanges = 6,
  /// The first buffer becomes ready.
  kCMBufferQueueTrigger_WhenDataBecomesReady = 7,
  /// The queue becomes empty after its end of data was marked.
  kCMBufferQueueTrigger_WhenEndOfDataReached = 8,
  /// The queue is reset.
  kCMBufferQueueTrigger_WhenReset = 9,
  /// The number of buffers becomes less than the trigger's threshold.
  kCMBufferQueueTrigger_WhenBufferCountBecomesLessThan = 10,
  /// The number of buffers becomes greater than the trigger's threshold.
  kCMBufferQueueTrigger_WhenBufferCountBecomesGreaterThan = 11,
  /// The queue's duration becomes at least the trigger's time while the number of buffers is
  /// greater
  /// than its threshold. A trigger is installed with only one of the two; the other one counts as
  /// zero.
  kCMBufferQueueTrigger_WhenDurationBecomesGreaterThanOrEqualToAndBufferCountBecomesGreaterThan = 12
};

/// The type identifier of buffer queues.
OVT_EXPORT CFTypeID CMBufferQueueGetTypeID(void);

/// Adds a buffer: at its position if the queue is sorted, otherwise at the end.
OVT_EXPORT OSStatus CMBufferQueueEnqueue(CMBufferQueueRef queue, CMBufferRef buffer);

/// Removes and returns the first buffer; NULL if there is none.
///
/// The caller owns the result, and releases it with `CFRelease`.
OVT_EXPORT CMBufferRef OVT_NULLABLE CMBufferQueueDequeue(CMBufferQueueRef queue);

/// Removes and returns the first buffer if it is ready; NULL if it is not or there is none.
///
/// The caller owns the result, and releases it with `CFRelease`.
OVT_EXPORT CMBufferRef OVT_NULLABLE CMBufferQueueDequeueIfDataReady(CMBufferQueueRef queue);

/// Returns the first buffer without removing it; NULL if there is none.
///
/// The result is not retained for the caller.
OVT_EXPORT CMBufferRef OVT_NULLABLE CMBufferQueueGetHead(CMBufferQueueRef queue);

/// Returns the first buffer without removing it; NULL if there is none. On Apple's systems, unlike
/// `CMBufferQueueGetHead`, this is safe while another thread removes the buffer; here both
/// functions are.
///
/// The caller owns the result, and releases it with `CFRelease`.
OVT_EXPORT CMBufferRef OVT_NULLABLE CMBufferQueueCopyHead(CMBufferQueueRef queue);

/// Whether there are no buffers.
OVT_EXPORT Boolean CMBufferQueueIsEmpty(CMBufferQueueRef queue);

/// Marks the end of data: no more buffers can be added until the queue is reset.
OVT_EXPORT OSStatus CMBufferQueueMarkEndOfData(CMBufferQueueRef queue);

/// Whether the end of data was marked.
OVT_EXPORT Boolean CMBufferQueueContainsEndOfData(CMBufferQueueRef queue);

/// Whether the end of data was marked and all buffers were removed.
OVT_EXPORT Boolean CMBufferQueueIsAtEndOfData(CMBufferQueueRef queue);

/// Removes all buffers and the mark of the end of data.
OVT_EXPORT OSStatus CMBufferQueueReset(CMBufferQueueRef queue);

/// The number of buffers.
OVT_EXPORT CMItemCount CMBufferQueueGetBufferCount(CMBufferQueueRef queue);

/// The sum of the durations of all buffers; zero if there are none.
OVT_EXPORT CMTime CMBufferQueueGetDuration(CMBufferQueueRef queue);

/// The earliest decode time; invalid if there is none.
OVT_EXPORT CMTime CMBufferQueueGetMinDecodeTimeStamp(CMBufferQueueRef queue);

/// The decode time of the first buffer; invalid if there is none.
OVT_EXPORT CMTime CMBufferQueueGetFirstDecodeTimeStamp(CMBufferQueueRef queue);

/// The earliest presentation time; invalid if there is none.
OVT_EXPORT CMTime CMBufferQueueGetMinPresentationTimeStamp(CMBufferQueueRef queue);

/// The presentation time of the first buffer; invalid if there is none.
OVT_EXPORT CMTime CMBufferQueueGetFirstPresentationTimeStamp(CMBufferQueueRef queue);

/// The latest presentation time; invalid if there is none.
OVT_EXPORT CMTime CMBufferQueueGetMaxPresentationTimeStamp(CMBufferQueueRef queue);

/// The latest end (presentation time plus duration) of all buffers; invalid if there is none.
OVT_EXPORT CMTime CMBufferQueueGetEndPresentationTimeStamp(CMBufferQueueRef queue);

/// The size of all buffers in bytes; 0 if it is unknown.
OVT_EXPORT size_t CMBufferQueueGetTotalSize(CMBufferQueueRef queue);

/// The callbacks for sample buffers in the order in which they were added.
OVT_EXPORT const CMBufferCallbacks *CMBufferQueueGetCallbacksForUnsortedSampleBuffers(void);
/// The callbacks for sample buffers in the order of their output presentation times.
OVT_EXPORT const CMBufferCallbacks *CMBufferQueueGetCallbacksForSampleBuffersSortedByOutputPTS(
    void);

/// Creates a queue. `capacity` is the number of buffers that it holds at most, 0 for as many as
/// come. The callbacks
/// are copied. The caller owns the object that `queueOut` receives.
OVT_EXPORT OSStatus CMBufferQueueCreate(
    CFAllocatorRef OVT_NULLABLE allocator, CMItemCount capacity, const CMBufferCallbacks *callbacks,
    CMBufferQueueRef OVT_NULLABLE *queueOut);

/// Calls a function for each buffer and removes all.
OVT_EXPORT OSStatus CMBufferQueueResetWithCallback(
    CMBufferQueueRef queue, void (*callback)(CMBufferRef buffer, void *OVT_NULLABLE refcon),
    void *OVT_NULLABLE refcon);
/// Calls a function for each buffer in order, until it returns an error, which is the result.
OVT_EXPORT OSStatus CMBufferQueueCallForEachBuffer(
    CMBufferQueueRef queue, OSStatus (*callback)(CMBufferRef buffer, void *OVT_NULLABLE refcon),
    void *OVT_NULLABLE refcon);
/// Sets the function that checks buffers before they are added.
OVT_EXPORT OSStatus CMBufferQueueSetValidationCallback(
    CMBufferQueueRef queue, CMBufferValidationCallback validationCallback, void *OVT_NULLABLE validationRefCon);

/// Installs a trigger. Without a callback it can be tested only.
OVT_EXPORT OSStatus CMBufferQueueInstallTrigger(
    CMBufferQueueRef queue, CMBufferQueueTriggerCallback OVT_NULLABLE triggerCallback,
    void *OVT_NULLABLE triggerRefcon, CMBufferQueueTriggerCondition triggerCondition, CMTime triggerTime,
    CMBufferQueueTriggerToken OVT_NULLABLE *OVT_NULLABLE triggerTokenOut);
/// Installs a trigger whose condition compares the number of buffers with a threshold.
OVT_EXPORT OSStatus CMBufferQueueInstallTriggerWithIntegerThreshold(
    CMBufferQueueRef queue, CMBufferQueueTriggerCallback OVT_NULLABLE triggerCallback,
    void *OVT_NULLABLE triggerRefcon, CMBufferQueueTriggerCondition triggerCondition, CMItemCount triggerThreshold,
    CMBufferQueueTriggerToken OVT_NULLABLE *OVT_NULLABLE triggerTokenOut);
OVT_EXPORT OSStatus CMBufferQueueRemoveTrigger(
    CMBufferQueueRef queue, CMBufferQueueTriggerToken triggerToken);
/// Whether the condition of a trigger is true.
OVT_EXPORT Boolean CMBufferQueueTestTrigger(
    CMBufferQueueRef queue, CMBufferQueueTriggerToken triggerToken);

#if OVT_HAS_BLOCKS
typedef CMTime (^CMBufferGetTimeHandler)(CMBufferRef buf);
typedef Boolean (^CMBufferGetBooleanHandler)(CMBufferRef buf);
typedef CFComparisonResult (^CMBufferCompareHandler)(CMBufferRef buf1, CMBufferRef buf2);
typedef size_t (^CMBufferGetSizeHandler)(CMBufferRef buf);
typedef void (^CMBufferQueueTriggerHandler)(CMBufferQueueTriggerToken triggerToken);
typedef OSStatus (^CMBufferValidationHandler)(CMBufferQueueRef queue, CMBufferRef buf);

/// The blocks by which a queue reads properties of its buffers, as the functions of
/// `CMBufferCallbacks` do.
typedef struct {
  /// 0 or 1.
  unsigned long version;
  CMBufferGetTimeHandler OVT_NULLABLE getDecodeTimeStamp;
  CMBufferGetTimeHandler OVT_NULLABLE getPresentationTimeStamp;
  CMBufferGetTimeHandler getDuration;
  CMBufferGetBooleanHandler OVT_NULLABLE isDataReady;
  CMBufferCompareHandler OVT_NULLABLE compare;
  CFStringRef OVT_NULLABLE dataBecameReadyNotification;
  CMBufferGetSizeHandler OVT_NULLABLE getSize;
} CMBufferHandlers;

/// `CMBufferQueueCreate` with blocks, which are copied.
OVT_EXPORT OSStatus CMBufferQueueCreateWithHandlers(
    CFAllocatorRef OVT_NULLABLE allocator, CMItemCount capacity, const CMBufferHandlers *handlers,
    CMBufferQueueRef OVT_NULLABLE *queueOut);
/// Sets the block that checks buffers before they are added. It is copied.
OVT_EXPORT OSStatus CMBufferQueueSetValidationHandler(CMBufferQueueRef queue, CMBufferValidationHandler handler);
/// `CMBufferQueueInstallTrigger` with a block, which is copied.
OVT_EXPORT OSStatus CMBufferQueueInstallTriggerHandler(
    CMBufferQueueRef queue, CMBufferQueueTriggerCondition condition, CMTime time,
    CMBufferQueueTriggerToken OVT_NULLABLE *OVT_NULLABLE triggerTokenOut,
    CMBufferQueueTriggerHandler OVT_NULLABLE handler);
/// `CMBufferQueueInstallTriggerWithIntegerThreshold` with a block, which is copied.
OVT_EXPORT OSStatus CMBufferQueueInstallTriggerHandlerWithIntegerThreshold(
    CMBufferQueueRef queue, CMBufferQueueTriggerCondition condition, CMItemCount threshold,
    CMBufferQueueTriggerToken OVT_NULLABLE *OVT_NULLABLE triggerTokenOut,
    CMBufferQueueTriggerHandler OVT_NULLABLE handler);
#endif

OVT_HEADER_END

#endif
