// SPDX-License-Identifier: Apache-2.0
import AVFoundation
import CoreMedia
import Foundation

private func makeAudio(frames: Int) -> CMSampleBuffer? {
  var description = AudioStreamBasicDescription(
    mSampleRate: 48000, mFormatID: kAudioFormatLinearPCM,
    mFormatFlags: kAudioFormatFlagIsFloat | kAudioFormatFlagIsPacked | kAudioFormatFlagIsNonInterleaved,
    mBytesPerPacket: 4, mFramesPerPacket: 1, mBytesPerFrame: 4, mChannelsPerFrame: 2, mBitsPerChannel: 32,
    mReserved: 0)
  var format: CMAudioFormatDescription?
  CMAudioFormatDescriptionCreate(
    allocator: kCFAllocatorDefault, asbd: &description, layoutSize: 0, layout: nil, magicCookieSize: 0,
    magicCookie: nil, extensions: nil, formatDescriptionOut: &format)
  var timing = CMSampleTimingInfo(
    duration: CMTime(value: 1, timescale: 48000), presentationTimeStamp: .zero, decodeTimeStamp: .invalid)
  var sample: CMSampleBuffer?
  CMSampleBufferCreate(
    allocator: kCFAllocatorDefault, dataBuffer: nil, dataReady: false, makeDataReadyCallback: nil,
    refcon: nil,
    formatDescription: format, sampleCount: frames, sampleTimingEntryCount: 1, sampleTimingArray: &timing,
    sampleSizeEntryCount: 0, sampleSizeArray: nil, sampleBufferOut: &sample)
  guard let sample else { return nil }
  let list = AudioBufferList.allocate(maximumBuffers: 2)
  defer { free(list.unsafeMutablePointer) }
  for channel in 0..<2 {
    let data = UnsafeMutablePointer<Float>.allocate(capacity: frames)
    for frame in 0..<frames { data[frame] = Float(frame) * (channel == 0 ? 1 : -1) }
    list[channel] = AudioBuffer(mNumberChannels: 1, mDataByteSize: UInt32(frames * 4), mData: data)
  }
  defer { for buffer in list { buffer.mData?.deallocate() } }
  let status = CMSampleBufferSetDataBufferFromAudioBufferList(
    sample, blockBufferAllocator: kCFAllocatorDefault, blockBufferMemoryAllocator: kCFAllocatorDefault,
    flags: kCMSampleBufferFlag_AudioBufferList_Assure16ByteAlignment, bufferList: list.unsafePointer)
  check(status == noErr, "set: \(status)")
  return sample
}

func audioBuffers() {
  guard let sample = makeAudio(frames: 100) else { return check(false, "no audio") }
  // As recorders take it apart.
  var needed = 0
  CMSampleBufferGetAudioBufferListWithRetainedBlockBuffer(
    sample, bufferListSizeNeededOut: &needed, bufferListOut: nil, bufferListSize: 0,
    blockBufferAllocator: nil,
    blockBufferMemoryAllocator: nil, flags: 0, blockBufferOut: nil)
  let memory = UnsafeMutableRawPointer.allocate(byteCount: needed, alignment: 16)
  defer { memory.deallocate() }
  let list = memory.bindMemory(to: AudioBufferList.self, capacity: 1)
  var block: CMBlockBuffer?
  let status = CMSampleBufferGetAudioBufferListWithRetainedBlockBuffer(
    sample, bufferListSizeNeededOut: nil, bufferListOut: list, bufferListSize: needed,
    blockBufferAllocator: kCFAllocatorDefault, blockBufferMemoryAllocator: kCFAllocatorDefault,
    flags: kCMSampleBufferFlag_AudioBufferList_Assure16ByteAlignment, blockBufferOut: &block)
  check(status == noErr && block != nil, "get: \(status)")
  let buffers = UnsafeMutableAudioBufferListPointer(list)
  check(buffers.count == 2 && buffers[0].mDataByteSize == 400, "\(buffers.count) buffers")
  check(buffers[1].mData?.assumingMemoryBound(to: Float.self)[99] == -99, "the second channel")
  do {
    let sums = try sample.withAudioBufferList { list, _ in
      list.map { buffer in UnsafeBufferPointer<Float>(buffer).reduce(0, +) }
    }
    check(sums == [4950, -4950], "\(sums)")
  } catch { check(false, "\(error)") }

  // Packets of AAC.
  var aac = AudioStreamBasicDescription(
    mSampleRate: 44100, mFormatID: kAudioFormatMPEG4AAC, mFormatFlags: 0, mBytesPerPacket: 0,
    mFramesPerPacket: 1024, mBytesPerFrame: 0, mChannelsPerFrame: 2, mBitsPerChannel: 0, mReserved: 0)
  var format: CMAudioFormatDescription?
  CMAudioFormatDescriptionCreate(
    allocator: nil, asbd: &aac, layoutSize: 0, layout: nil, magicCookieSize: 0, magicCookie: nil,
    extensions: nil,
    formatDescriptionOut: &format)
  let packets = [
    AudioStreamPacketDescription(mStartOffset: 0, mVariableFramesInPacket: 0, mDataByteSize: 10),
    AudioStreamPacketDescription(mStartOffset: 10, mVariableFramesInPacket: 0, mDataByteSize: 22),
  ]
  var data: CMBlockBuffer?
  CMBlockBufferCreateWithMemoryBlock(
    allocator: nil, memoryBlock: nil, blockLength: 32, blockAllocator: nil, customBlockSource: nil,
    offsetToData: 0,
    dataLength: 32, flags: kCMBlockBufferAssureMemoryNowFlag, blockBufferOut: &data)
  guard let data, let format else { return check(false, "no data") }
  var coded: CMSampleBuffer?
  let made = CMAudioSampleBufferCreateReadyWithPacketDescriptions(
    allocator: kCFAllocatorDefault, dataBuffer: data, formatDescription: format, sampleCount: 2,
    presentationTimeStamp: .zero, packetDescriptions: packets, sampleBufferOut: &coded)
  check(made == noErr && coded?.duration == CMTime(value: 2048, timescale: 44100), "packets: \(made)")
  check((try? coded?.audioStreamPacketDescriptions())?.map(\.mDataByteSize) == [10, 22], "sizes of packets")
}

func times() {
  let start = mach_absolute_time()
  let deadline = DispatchTime.now().uptimeNanoseconds + 2 * NSEC_PER_MSEC
  while DispatchTime.now().uptimeNanoseconds < deadline { usleep(100) }
  let elapsed = Double(mach_absolute_time() - start) / Double(NSEC_PER_SEC)
  check(elapsed >= 0.001, "\(elapsed) s")
  check(NSEC_PER_SEC / NSEC_PER_USEC == USEC_PER_SEC, "units")
}

func pictures() {
  let fitted = AVMakeRect(
    aspectRatio: CGSize(width: 16, height: 9), insideRect: CGRect(x: 0, y: 0, width: 1600, height: 1600))
  check(fitted == CGRect(x: 0, y: 350, width: 1600, height: 900), "\(fitted)")
  let audio: [String: Any] = [
    AVFormatIDKey: kAudioFormatMPEG4AAC, AVSampleRateKey: 44_100, AVNumberOfChannelsKey: 2,
    AVEncoderAudioQualityKey: AVAudioQuality.high.rawValue, AVEncoderBitRatePerChannelKey: 64_000,
    AVEncoderBitRateStrategyKey: AVAudioBitRateStrategy_Variable,
    AVSampleRateConverterAudioQualityKey: AVAudioQuality.max.rawValue,
  ]
  let url = FileManager.default.temporaryDirectory.appendingPathComponent("\(UUID().uuidString).mov")
  guard let writer = try? AVAssetWriter(outputURL: url, fileType: .mov) else { return check(false, "writer") }
  check(writer.canApply(outputSettings: audio, forMediaType: .audio), "sound")
  let background = AVMutableVideoCompositionInstruction()
  background.backgroundColor = CGColor(red: 1, green: 0, blue: 0, alpha: 1)
  check(background.backgroundColor?.alpha == 1, "background")
}

func queues() {
  var queue: CMBufferQueue?
  CMBufferQueueCreate(
    allocator: kCFAllocatorDefault, capacity: 0,
    callbacks: CMBufferQueueGetCallbacksForUnsortedSampleBuffers(),
    queueOut: &queue)
  guard let queue, let sample = makeAudio(frames: 10) else { return check(false, "no queue") }
  check(CMBufferQueueCopyHead(queue) == nil, "head of nothing")
  check(CMBufferQueueEnqueue(queue, buffer: sample) == noErr, "enqueue")
  check(CMBufferQueueCopyHead(queue) === sample && CMBufferQueueGetBufferCount(queue) == 1, "head")
  check(CMBufferQueueDequeue(queue) === sample && CMBufferQueueIsEmpty(queue), "dequeue")
}

func descriptions() {
  var timeCode: CMTimeCodeFormatDescription?
  var status = CMTimeCodeFormatDescriptionCreate(
    allocator: kCFAllocatorDefault, timeCodeFormatType: kCMTimeCodeFormatType_TimeCode32,
    frameDuration: CMTime(value: 1001, timescale: 30000), frameQuanta: 30,
    flags: kCMTimeCodeFlag_DropFrame | kCMTimeCodeFlag_24HourMax, extensions: nil,
    formatDescriptionOut: &timeCode)
  check(status == noErr, "time code: \(status)")
  if let timeCode {
    check(CMTimeCodeFormatDescriptionGetFrameQuanta(timeCode) == 30, "quanta")
    check(CMTimeCodeFormatDescriptionGetTimeCodeFlags(timeCode) & kCMTimeCodeFlag_DropFrame != 0, "flags")
    var block: CMBlockBuffer?
    status = CMTimeCodeFormatDescriptionCopyAsBigEndianTimeCodeDescriptionBlockBuffer(
      allocator: nil, timeCodeFormatDescription: timeCode, flavor: nil, blockBufferOut: &block)
    var again: CMTimeCodeFormatDescription?
    if let block {
      CMTimeCodeFormatDescriptionCreateFromBigEndianTimeCodeDescriptionBlockBuffer(
        allocator: nil, bigEndianTimeCodeDescriptionBlockBuffer: block, flavor: nil,
        formatDescriptionOut: &again)
    }
    check(
      again.map { CMTimeCodeFormatDescriptionGetFrameDuration($0).timescale } == 30000, "and back: \(status)")
  }
  let specification: [CFString: Any] = [
    kCMMetadataFormatDescriptionMetadataSpecificationKey_Identifier: "mdta/org.example.location",
    kCMMetadataFormatDescriptionMetadataSpecificationKey_DataType: kCMMetadataBaseDataType_UTF8,
  ]
  var metadata: CMMetadataFormatDescription?
  status = CMMetadataFormatDescriptionCreateWithMetadataSpecifications(
    allocator: kCFAllocatorDefault, metadataType: kCMMetadataFormatType_Boxed,
    metadataSpecifications: [specification] as CFArray, formatDescriptionOut: &metadata)
  check(status == noErr, "metadata: \(status)")
  let identifiers = metadata.flatMap { CMMetadataFormatDescriptionGetIdentifiers($0) } as? [String]
  check(identifiers == ["mdta/org.example.location"], "\(String(describing: identifiers))")
}

func metadata() {
  let title = AVMutableMetadataItem()
  title.identifier = .quickTimeMetadataTitle
  title.value = "A title" as NSString
  check(title.dataType == kCMMetadataBaseDataType_UTF8 as String, "\(title.dataType ?? "no type")")
  check(title.keySpace == .quickTimeMetadata && title.stringValue == "A title", "title")
  // The names of frameworks as strings, as programs that know Objective-C write them.
  title.key = AVMetadataKey.quickTimeMetadataKeyTitle as (NSCopying & NSObjectProtocol)?
  title.keySpace = .quickTimeMetadata
  check(title.identifier == .quickTimeMetadataTitle, "\(String(describing: title.identifier))")
  check(AVFileType.mov as CFString == "com.apple.quicktime-movie" as CFString, "file type")
  check(AVMediaType.video as NSString == "vide" as NSString, "media type")
  let found = AVMetadataItem.metadataItems(
    from: [title], filteredByIdentifier: AVMetadataIdentifier.quickTimeMetadataTitle)
  check(found.count == 1, "filter")
  let number = AVMutableMetadataItem()
  number.identifier = AVMetadataItem.identifier(forKey: "org.example.count", keySpace: .quickTimeMetadata)
  number.dataType = kCMMetadataBaseDataType_SInt32 as String
  number.value = 42 as NSNumber
  check(
    number.numberValue?.intValue == 42 && number.identifier?.rawValue == "mdta/org.example.count", "number")
}
