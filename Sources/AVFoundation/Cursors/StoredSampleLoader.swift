// SPDX-License-Identifier: Apache-2.0
import FFmpegMedia
import Foundation

/// Reads samples of a track by number.
final class StoredSampleLoader: @unchecked Sendable {
  // Sendable: `lock` guards what changes.
  let index: SampleIndex
  private let lock = Lock()
  private var demuxer: Demuxer?
  /// The number of the sample that the demuxer delivers next.
  private var next = 0

  /// The most samples that are skipped by reading, rather than by a seek.
  private static let nearby = 64
  /// The largest distance in samples to the key frame for a seek.
  private static let farthest = 1 << 16

  init(_ index: SampleIndex) { self.index = index }

  /// Reads samples.
  /// - Throws: `AVError` if the file cannot be read, or has changed since it was indexed.
  func packets(_ numbers: Range<Int>) throws -> [MediaPacket] {
    try lock.withLock {
      do {
        return try numbers.map { try packet($0) }
      } catch {
        demuxer = nil
        throw AVError.reading(error)
      }
    }
  }

  private func packet(_ number: Int) throws -> MediaPacket {
    guard let sample = index.sample(number) else { throw Self.changed }
    let demuxer = try self.demuxer ?? open()
    if next > number || number - next > Self.nearby {
      if let found = try seek(demuxer, to: number) { return found }
      try rewind(demuxer)
    }
    while let packet = try demuxer.next() {
      next += 1
      guard next > number else { continue }
      guard sample.isSame(as: packet, hasPositions: index.hasPositions) else { throw Self.changed }
      return packet
    }
    throw Self.changed
  }

  private static var changed: AVError {
    AVError(
      .fileFailedToParse, reason: "A sample is not where it was found before.",
      advice: "The file has changed: create a new asset.")
  }

  private func open() throws -> Demuxer {
    let made = try index.makeDemuxer()
    demuxer = made
    next = 0
    if index.stream.isChapterText { try made.seek(stream: index.stream.index, to: 0) }
    return made
  }

  private func rewind(_ demuxer: Demuxer) throws {
    // libavformat skips the first sample of such a stream while it examines the streams.
    if index.stream.isChapterText {
      try demuxer.seek(stream: index.stream.index, to: 0)
    } else {
      try demuxer.rewind()
    }
    next = 0
  }

  /// Seeks to the key frame before a sample, and reads up to the sample.
  /// - Returns: Nil if the sample was not found, so that the file must be read from the beginning.
  private func seek(_ demuxer: Demuxer, to number: Int) throws -> MediaPacket? {
    guard let sample = index.sample(number), let key = index.sync(before: number),
      number - key < Self.farthest, let start = index.sample(key)
    else { return nil }
    try demuxer.seek(stream: index.stream.index, to: start.presentationTime)
    for _ in 0..<Self.farthest {
      guard let packet = try demuxer.next(), (packet.dts ?? packet.pts ?? 0) <= sample.decodeTime else {
        break
      }
      if sample.isSame(as: packet, hasPositions: index.hasPositions) {
        // Without positions in the file, two samples may be indistinguishable. The seek is then not
        // used, since it may have found the other one.
        guard index.hasPositions || isOnlyOne(number, sample) else { return nil }
        next = number + 1
        return packet
      }
    }
    return nil
  }

  /// Whether the decode times of the neighbouring samples differ from this one's.
  private func isOnlyOne(_ number: Int, _ sample: IndexedSample) -> Bool {
    [number - 1, number + 1].allSatisfy { index.sample($0)?.decodeTime != sample.decodeTime }
  }
}

/// Samples of a sample buffer whose data is read later.
final class PendingSamples: NSObject, @unchecked Sendable {
  // Sendable: `lock` guards what changes.
  private let loader: StoredSampleLoader
  private let numbers: Range<Int>
  private let lock = Lock()
  private var outcome: Result<Void, AVError>?
  private var handlers: [@Sendable (AVError?) -> Void] = []
  private var isAbandoned = false

  init(_ loader: StoredSampleLoader, _ numbers: Range<Int>) {
    self.loader = loader
    self.numbers = numbers
    super.init()
  }

  /// The key of the attachment through which a sample buffer refers to this object.
  nonisolated(unsafe) static let key: CFString = "OpenVideoToolbox.PendingSamples"

  static func of(_ buffer: CMSampleBuffer) -> PendingSamples? {
    CMGetAttachment(buffer, key: key, attachmentModeOut: nil) as? PendingSamples
  }

  /// Creates a sample buffer without data.
  /// - Throws: `AVError.Code.invalidSampleCursor` if the samples cannot be found.
  func makeBuffer() throws -> CMSampleBuffer {
    let index = loader.index
    let samples = numbers.compactMap { index.sample($0) }
    guard let first = samples.first, samples.count == numbers.count else {
      throw AVError(.invalidSampleCursor)
    }
    let stream = index.stream
    var timings = samples.map { sample in
      CMSampleTimingInfo(
        duration: sample.duration > 0 ? stream.time(sample.duration) : .invalid,
        presentationTimeStamp: stream.time(sample.presentationTime),
        decodeTimeStamp: stream.kind == .video ? stream.time(sample.decodeTime) : .invalid)
    }
    var sizes = samples.map { Int($0.size) }
    var count = samples.count
    let format = index.formatDescription(of: first)
    if let audio = CMAudioFormatDescriptionGetStreamBasicDescription(format)?.pointee,
      audio.mFormatID == kAudioFormatLinearPCM, audio.mBytesPerFrame > 0
    {
      // In uncompressed audio every frame is a sample.
      count = sizes.reduce(0, +) / Int(audio.mBytesPerFrame)
      timings = [timings[0]]
      timings[0].duration = CMTime(
        value: 1, timescale: CMTimeScale(max(1, min(audio.mSampleRate, Double(Int32.max)))))
      sizes = [Int(audio.mBytesPerFrame)]
    }
    let buffer = try CMSampleBuffer(
      dataBuffer: nil, formatDescription: format, numSamples: count, sampleTimings: timings,
      sampleSizes: sizes, makeDataReadyHandler: { [self] in load($0) == nil ? noErr : Self.failure })
    if stream.kind == .video { attach(samples, to: buffer) }
    CMSetAttachment(
      buffer, key: Self.key, value: self, attachmentMode: kCMAttachmentMode_ShouldNotPropagate)
    return buffer
  }

  private static let failure = kCMSampleBufferError_DataFailed

  private func attach(_ samples: [IndexedSample], to buffer: CMSampleBuffer) {
    guard samples.contains(where: { $0.flags != .sync }),
      let array = CMSampleBufferGetSampleAttachmentsArray(buffer, createIfNecessary: true)
    else { return }
    for (sample, element) in zip(samples, array) {
      guard let attachments = element as? NSMutableDictionary else { continue }
      func set(_ key: CFString, _ value: Bool) {
        attachments.setObject(NSNumber(value: value), forKey: key)
      }
      if !sample.flags.contains(.sync) {
        set(kCMSampleAttachmentKey_NotSync, true)
        set(kCMSampleAttachmentKey_DependsOnOthers, true)
      }
      if sample.flags.contains(.disposable) { set(kCMSampleAttachmentKey_IsDependedOnByOthers, false) }
      if sample.flags.contains(.hidden) { set(kCMSampleAttachmentKey_DoNotDisplay, true) }
    }
  }

  // MARK: - Loading

  /// Reads the data, unless it has been read or given up before.
  /// - Returns: The error because of which there is no data; nil on success.
  @discardableResult func load(_ buffer: CMSampleBuffer) -> AVError? {
    let (error, waiting) = lock.withLock { () -> (AVError?, [@Sendable (AVError?) -> Void]) in
      if let outcome {
        if case .failure(let error) = outcome { return (error, []) }
        return (nil, [])
      }
      let result: Result<Void, AVError>
      do {
        if isAbandoned { throw AVError(.operationCancelled, reason: "The batch was cancelled.") }
        try fill(buffer)
        result = .success(())
      } catch {
        _ = CMSampleBufferSetDataFailed(buffer, status: Self.failure)
        result = .failure(AVError.reading(error))
      }
      outcome = result
      defer { handlers = [] }
      if case .failure(let error) = result { return (error, handlers) }
      return (nil, handlers)
    }
    for handler in waiting { handler(error) }
    return error
  }

  /// Prevents the data from being read, if it has not been read yet.
  func giveUp() { lock.withLock { isAbandoned = true } }

  /// Calls `handler` when the data is ready or has failed.
  func whenLoaded(_ handler: @escaping @Sendable (AVError?) -> Void) {
    let known = lock.withLock { () -> Result<Void, AVError>? in
      if outcome == nil { handlers.append(handler) }
      return outcome
    }
    switch known {
    case .success: handler(nil)
    case .failure(let error): handler(error)
    case nil: break
    }
  }

  private func fill(_ buffer: CMSampleBuffer) throws {
    let stream = loader.index.stream
    let format = CMSampleBufferGetFormatDescription(buffer)
    let singles = try loader.packets(numbers).map { try $0.makeSampleBuffer(of: stream, description: format) }
    guard let first = singles.first, let last = singles.last else { throw AVError(.invalidSampleCursor) }
    let length = singles.reduce(0) { $0 + (CMSampleBufferGetDataBuffer($1)?.dataLength ?? 0) }
    if singles.count > 1, length > 0 {
      let block = try CMBlockBuffer(length: length, flags: .assureMemoryNow)
      var offset = 0
      for single in singles {
        guard let data = CMSampleBufferGetDataBuffer(single), data.dataLength > 0 else { continue }
        let bytes = try data.dataBytes()
        try bytes.withUnsafeBytes { try block[offset..<offset + bytes.count].replaceDataBytes(with: $0) }
        offset += bytes.count
      }
      try buffer.setDataBuffer(block)
    } else if let block = CMSampleBufferGetDataBuffer(first) {
      try buffer.setDataBuffer(block)
    }
    func copy(_ key: CFString, from single: CMSampleBuffer) {
      guard let value = CMGetAttachment(single, key: key, attachmentModeOut: nil) else { return }
      CMSetAttachment(
        buffer, key: key, value: value, attachmentMode: kCMAttachmentMode_ShouldNotPropagate)
    }
    copy(kCMSampleBufferAttachmentKey_TrimDurationAtStart, from: first)
    copy(kCMSampleBufferAttachmentKey_TrimDurationAtEnd, from: last)
    MediaPacket.copyDecoderData(from: first, to: buffer)
    try buffer.setDataReadiness(.ready)
  }
}
