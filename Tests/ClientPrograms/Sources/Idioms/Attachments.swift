// SPDX-License-Identifier: Apache-2.0
import CoreMedia
import CoreVideo
import Foundation

// The idioms around sample attachments that tutorials teach.

func makeSample(_ bytes: [UInt8] = [0, 0, 0, 1, 0x65], format: CMFormatDescription? = nil, pts: Int64 = 0)
  -> CMSampleBuffer
{
  var blockBuffer: CMBlockBuffer?
  let memory = UnsafeMutableRawPointer.allocate(byteCount: bytes.count, alignment: 1)
  memory.copyMemory(from: bytes, byteCount: bytes.count)
  var status = CMBlockBufferCreateWithMemoryBlock(
    allocator: kCFAllocatorDefault, memoryBlock: memory, blockLength: bytes.count,
    blockAllocator: kCFAllocatorMalloc, customBlockSource: nil, offsetToData: 0, dataLength: bytes.count,
    flags: 0,
    blockBufferOut: &blockBuffer)
  check(status == kCMBlockBufferNoErr)
  var sampleBuffer: CMSampleBuffer?
  var timingInfo = CMSampleTimingInfo(
    duration: CMTime(value: 1, timescale: 30), presentationTimeStamp: CMTime(value: pts, timescale: 30),
    decodeTimeStamp: .invalid)
  let sampleSizeArray = [bytes.count]
  status = CMSampleBufferCreateReady(
    allocator: kCFAllocatorDefault, dataBuffer: blockBuffer, formatDescription: format, sampleCount: 1,
    sampleTimingEntryCount: 1, sampleTimingArray: &timingInfo, sampleSizeEntryCount: 1,
    sampleSizeArray: sampleSizeArray, sampleBufferOut: &sampleBuffer)
  checkEqual(status, noErr)
  return sampleBuffer!
}

extension CMSampleBuffer {
  fileprivate var isNotSync: Bool {
    get { getAttachmentValue(for: kCMSampleAttachmentKey_NotSync) ?? false }
    set { setAttachmentValue(for: kCMSampleAttachmentKey_NotSync, value: newValue) }
  }

  private func getAttachmentValue(for key: CFString) -> Bool? {
    guard
      let attachments = CMSampleBufferGetSampleAttachmentsArray(self, createIfNecessary: false)
        as? [[CFString: Any]],
      let value = attachments.first?[key] as? Bool
    else { return nil }
    return value
  }

  private func setAttachmentValue(for key: CFString, value: Bool) {
    guard
      let attachments: CFArray = CMSampleBufferGetSampleAttachmentsArray(self, createIfNecessary: true),
      0 < CFArrayGetCount(attachments)
    else { return }
    let attachment = unsafeBitCast(CFArrayGetValueAtIndex(attachments, 0), to: CFMutableDictionary.self)
    CFDictionarySetValue(
      attachment, Unmanaged.passUnretained(key).toOpaque(),
      Unmanaged.passUnretained(value ? kCFBooleanTrue : kCFBooleanFalse).toOpaque())
  }
}

func attachments() {
  // Display immediately, as players of live streams do it.
  let sample = makeSample()
  if let attachments = CMSampleBufferGetSampleAttachmentsArray(sample, createIfNecessary: true) {
    let dict = unsafeBitCast(CFArrayGetValueAtIndex(attachments, 0), to: CFMutableDictionary.self)
    let key = Unmanaged.passUnretained(kCMSampleAttachmentKey_DisplayImmediately).toOpaque()
    let value = Unmanaged.passUnretained(kCFBooleanTrue).toOpaque()
    CFDictionarySetValue(dict, key, value)
    var found: UnsafeRawPointer?
    check(CFDictionaryGetValueIfPresent(dict, key, &found))
    check(CFBooleanGetValue(unsafeBitCast(found, to: CFBoolean.self)))
    checkEqual(CFDictionaryGetCount(dict), 1)
  }
  check((sample.sampleAttachments[0][.displayImmediately] as? Bool) == true)
  check(sample.sampleAttachments[0][.notSync] == nil)
  check(sample.sampleAttachments.first?[.displayImmediately] != nil)

  // The same through casts.
  let attachmentsArray = CMSampleBufferGetSampleAttachmentsArray(sample, createIfNecessary: true)! as NSArray
  let attachmentsDict = attachmentsArray[0] as! NSMutableDictionary
  attachmentsDict[kCMSampleAttachmentKey_DependsOnOthers as NSString] = kCFBooleanFalse
  attachmentsDict.setValue(kCFBooleanTrue, forKey: kCMSampleAttachmentKey_NotSync as String)
  check(sample.isNotSync)
  sample.isNotSync = false
  check(!sample.isNotSync)
  check((sample.sampleAttachments[0][.dependsOnOthers] as! CFBoolean) == kCFBooleanFalse)

  // A key frame, the many ways of asking.
  let keyFrame = makeSample()
  check(CMSampleBufferGetSampleAttachmentsArray(keyFrame, createIfNecessary: false) == nil)
  keyFrame.sampleAttachments[0][.notSync] = true
  keyFrame.sampleAttachments[0][.dependsOnOthers] = true
  let array = CMSampleBufferGetSampleAttachmentsArray(keyFrame, createIfNecessary: false)!
  let rawDic: UnsafeRawPointer = CFArrayGetValueAtIndex(array, 0)
  let dic: CFDictionary = Unmanaged.fromOpaque(rawDic).takeUnretainedValue()
  let isKey = !CFDictionaryContainsKey(
    dic, Unmanaged.passUnretained(kCMSampleAttachmentKey_NotSync).toOpaque())
  check(!isKey)
  let value = CFDictionaryGetValue(
    dic, unsafeBitCast(kCMSampleAttachmentKey_NotSync, to: UnsafeRawPointer.self))
  check(value != nil && CFBooleanGetValue(Unmanaged<CFBoolean>.fromOpaque(value!).takeUnretainedValue()))
  if let list = array as? [[String: Any]], let first = list.first {
    check(first[kCMSampleAttachmentKey_NotSync as String] as? Bool == true)
    check(first[String(kCMSampleAttachmentKey_DependsOnOthers)] as? Bool == true)
  } else {
    check(false, "no list of dictionaries")
  }
  let typed = array as? [[CFString: Any]]
  check(typed?.first?[kCMSampleAttachmentKey_NotSync] as? Bool ?? false)
  let notSync = (array as! [NSDictionary])[0][kCMSampleAttachmentKey_NotSync] as! NSNumber
  check(notSync.boolValue)
  check(keyFrame.sampleAttachments.allSatisfy { $0[.notSync] as? Bool == true })

  // Attachments of the buffer.
  CMSetAttachment(
    sample, key: kCMSampleBufferAttachmentKey_DrainAfterDecoding, value: kCFBooleanTrue,
    attachmentMode: kCMAttachmentMode_ShouldPropagate)
  CMSetAttachment(
    sample, key: "mine" as CFString, value: 7 as CFNumber,
    attachmentMode: kCMAttachmentMode_ShouldNotPropagate)
  var mode: CMAttachmentMode = 99
  let drain = CMGetAttachment(
    sample, key: kCMSampleBufferAttachmentKey_DrainAfterDecoding, attachmentModeOut: &mode)
  check(drain as? Bool == true && mode == kCMAttachmentMode_ShouldPropagate)
  check(CMGetAttachment(sample, key: "none" as CFString, attachmentModeOut: nil) == nil)
  let propagating = CMCopyDictionaryOfAttachments(
    allocator: kCFAllocatorDefault, target: sample, attachmentMode: kCMAttachmentMode_ShouldPropagate)
  check((propagating as? [String: Any])?.count == 1)
  var copy: CMSampleBuffer?
  CMSampleBufferCreateCopy(allocator: kCFAllocatorDefault, sampleBuffer: sample, sampleBufferOut: &copy)
  check(
    CMGetAttachment(copy!, key: kCMSampleBufferAttachmentKey_DrainAfterDecoding, attachmentModeOut: nil)
      != nil)
  check(CMGetAttachment(copy!, key: "mine" as CFString, attachmentModeOut: nil) == nil)
  check(copy!.sampleAttachments[0][.displayImmediately] as? Bool == true)
  // The copy's dictionaries are its own.
  copy!.sampleAttachments[0][.displayImmediately] = nil
  check(sample.sampleAttachments[0][.displayImmediately] as? Bool == true)
  CMPropagateAttachments(sample, destination: makeSample())
  CMRemoveAttachment(sample, key: "mine" as CFString)
  CMRemoveAllAttachments(sample)
  check(CMCopyDictionaryOfAttachments(allocator: nil, target: sample, attachmentMode: 1) == nil)

  // On a pixel buffer.
  var pixelBuffer: CVPixelBuffer?
  CVPixelBufferCreate(nil, 16, 16, kCVPixelFormatType_32BGRA, nil, &pixelBuffer)
  CVBufferSetAttachment(
    pixelBuffer!, kCVImageBufferColorPrimariesKey, kCVImageBufferColorPrimaries_ITU_R_709_2, .shouldPropagate)
  CVBufferSetAttachments(
    pixelBuffer!, [kCVImageBufferYCbCrMatrixKey: kCVImageBufferYCbCrMatrix_ITU_R_709_2] as CFDictionary,
    .shouldPropagate)
  let primaries = CVBufferCopyAttachment(pixelBuffer!, kCVImageBufferColorPrimariesKey, nil) as! CFString
  check(CFEqual(primaries, kCVImageBufferColorPrimaries_ITU_R_709_2))
  check(primaries as String == "ITU_R_709_2")
  let dictionary = CVBufferCopyAttachments(pixelBuffer!, .shouldPropagate) as! [String: Any]
  checkEqual(dictionary.count, 2)
  check(CMGetAttachment(pixelBuffer!, key: kCVImageBufferYCbCrMatrixKey, attachmentModeOut: nil) is String)
}
