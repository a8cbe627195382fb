// SPDX-License-Identifier: Apache-2.0
import CoreVideo

/// Samples of one medium: their data or image, what format they have, when they are shown, and what
/// else is known of each and of all of them.
///
/// A sample buffer may be created before its data is there; see `CMSampleBufferMakeDataReady`.
public final class CMSampleBuffer: NSObject, @unchecked Sendable {
  // Sendable: `lock` guards what changes.
  // What is known at creation never changes and needs no lock.
  let format: CMFormatDescription?
  let image: CVImageBuffer?
  /// The group of buffers that the only sample is.
  let tagged: [CMTaggedBuffer]?
  let sampleCount: Int
  let timings: SampleTimings
  let sizes: SampleSizes

  private let lock = Lock()
  private var data: CMBlockBuffer?
  private var readiness: DataReadiness
  private var makeReady: CMSampleBufferMakeDataReadyHandler?
  private var tracked: CMSampleBuffer?
  private var invalidated = false
  private var onInvalidate: CMSampleBufferInvalidateHandler?
  private var outputTime = CMTime.invalid
  private var sampleDictionaries: SampleDictionaries?
  /// Of the only sample, until someone asks for its dictionary.
  private var attachmentValues: SampleAttachmentValues?
  private var attachmentTable = AttachmentTable()
  private var packets: PacketMemory?

  /// Whether the data of a sample buffer can be used.
  public enum DataReadiness: Hashable, Sendable {
    case notReady
    case ready
    /// With the status that says why.
    case failed(OSStatus)
  }

  init(
    data: CMBlockBuffer?, image: CVImageBuffer?, taggedBuffers: [CMTaggedBuffer]? = nil, isReady: Bool,
    format: CMFormatDescription?, sampleCount: Int, timings: SampleTimings, sizes: SampleSizes,
    makeReady: CMSampleBufferMakeDataReadyHandler? = nil
  ) {
    self.data = data
    self.image = image
    tagged = taggedBuffers
    self.format = format
    self.sampleCount = sampleCount
    self.timings = timings
    self.sizes = sizes
    self.makeReady = makeReady
    readiness = isReady ? .ready : .notReady
  }

  // MARK: - Validity

  var isInvalidated: Bool { lock.withLock { invalidated } }

  func invalidateNow() -> OSStatus {
    let handler = lock.withLock { () -> CMSampleBufferInvalidateHandler? in
      if invalidated { return nil }
      invalidated = true
      data = nil
      makeReady = nil
      tracked = nil
      defer { onInvalidate = nil }
      return onInvalidate
    }
    handler?(self)
    return noErr
  }

  func setOnInvalidate(_ handler: @escaping CMSampleBufferInvalidateHandler) -> OSStatus {
    lock.withLock {
      if invalidated { return kCMSampleBufferError_Invalidated }
      onInvalidate = handler
      return noErr
    }
  }

  // MARK: - Data

  var blockBuffer: CMBlockBuffer? { lock.withLock { data } }

  func setBlockBuffer(_ buffer: CMBlockBuffer) -> OSStatus {
    lock.withLock {
      if invalidated { return kCMSampleBufferError_Invalidated }
      if data != nil || image != nil || tagged != nil { return kCMSampleBufferError_AlreadyHasDataBuffer }
      data = buffer
      return noErr
    }
  }

  /// Its own readiness, or that of the sample buffer that it tracks.
  var currentReadiness: DataReadiness {
    let (own, other) = lock.withLock { (readiness, tracked) }
    if case .ready = own { return own }
    return other?.currentReadiness ?? own
  }

  func setReadiness(_ newValue: DataReadiness) -> OSStatus {
    let status = lock.withLock { () -> OSStatus in
      if invalidated { return kCMSampleBufferError_Invalidated }
      readiness = newValue
      if newValue != .notReady { makeReady = nil }
      return noErr
    }
    guard status == noErr else { return status }
    switch newValue {
    case .notReady: break
    case .ready: NotificationCenter.default.post(name: Self.dataBecameReady, object: self)
    case .failed(let code):
      NotificationCenter.default.post(
        name: Self.dataFailed, object: self,
        userInfo: [NotificationKey.status.rawValue as String: NSNumber(value: code)])
    }
    return noErr
  }

  /// Takes over the readiness of the sample buffer that this one was just copied from.
  func adoptReadiness(_ newValue: DataReadiness) {
    lock.withLock { readiness = newValue }
  }

  func makeReadyNow() -> OSStatus {
    let (own, handler, other, isInvalid) = lock.withLock { (readiness, makeReady, tracked, invalidated) }
    if isInvalid { return kCMSampleBufferError_Invalidated }
    switch own {
    case .ready: return noErr
    case .failed: return kCMSampleBufferError_DataFailed
    case .notReady: break
    }
    if let other { return other.makeReadyNow() }
    guard let handler else { return kCMSampleBufferError_BufferNotReady }
    let status = handler(self)
    guard status == noErr else { return status }
    // The handler may have said so itself.
    return currentReadiness == .ready ? noErr : setReadiness(.ready)
  }

  func track(_ other: CMSampleBuffer) -> OSStatus {
    var next: CMSampleBuffer? = other
    while let buffer = next {
      if buffer === self { return kCMSampleBufferError_RequiredParameterMissing }
      next = buffer.lock.withLock { buffer.tracked }
    }
    return lock.withLock {
      if invalidated { return kCMSampleBufferError_Invalidated }
      tracked = other
      return noErr
    }
  }

  /// The descriptions of the packets at an address that stays, made when they are first asked for.
  func packetMemory() throws -> PacketMemory {
    if let packets = lock.withLock({ packets }) { return packets }
    let made = PacketMemory(try audioStreamPacketDescriptions())
    return lock.withLock {
      let kept = packets ?? made
      packets = kept
      return kept
    }
  }

  // MARK: - Time

  /// The output time that was set, or an invalid one.
  var explicitOutputTime: CMTime {
    get { lock.withLock { outputTime } }
    set { lock.withLock { outputTime = newValue } }
  }

  // MARK: - Attachments

  /// A dictionary for each sample; nil if there are none yet, or no samples.
  func dictionaries(create: Bool) -> SampleDictionaries? {
    lock.withLock {
      if let values = attachmentValues {
        attachmentValues = nil
        sampleDictionaries = SampleDictionaries([values.dictionary()])
      } else if sampleDictionaries == nil, create, sampleCount > 0 {
        sampleDictionaries = SampleDictionaries(
          (0..<sampleCount).map { _ in NSMutableDictionary(capacity: 4) })
      }
      return sampleDictionaries
    }
  }

  /// Takes copies of the attachments of a range of another one's samples, as many as this has.
  func copyAttachments(of original: CMSampleBuffer, samples: Range<Int>) {
    let values = original.lock.withLock { original.attachmentValues }
    if let values {
      lock.withLock { attachmentValues = values }
    } else if let copies = original.dictionaries(create: false)?.copy(samples) {
      lock.withLock { sampleDictionaries = copies }
    }
  }

  /// Gives a sample buffer of one sample its attachments.
  package func setAttachments(_ values: SampleAttachmentValues) {
    guard sampleCount == 1 else { return }
    lock.withLock {
      attachmentValues = values
      sampleDictionaries = nil
    }
  }

  public override var description: String {
    let content =
      image.map { "image \($0)" } ?? tagged.map { "\($0.count) tagged buffers" } ?? blockBuffer.map(
        \.description)
      ?? (format == nil ? "a marker" : "no data")
    return "CMSampleBuffer \(sampleCount) sample\(sampleCount == 1 ? "" : "s"), PTS "
      + "\(timings.earliest(\.presentationTimeStamp).seconds), \(content)"
  }
}

extension CMSampleBuffer: AttachmentBearing {
  func withAttachmentTable<R>(_ body: (inout AttachmentTable) -> R) -> R {
    lock.withLock { body(&attachmentTable) }
  }
}

extension CMSampleBuffer: CFRuntimeObject {
  package static let cfTypeID: CFTypeID = CFRuntimeRegister("CMSampleBuffer")
  package var cfDescription: String { description }
}

/// The array of the dictionaries of a sample buffer's samples.
///
/// Foundation's own array would hand out the dictionaries as Swift values, which are copies; these are
/// to be changed in place.
final class SampleDictionaries: NSArray {
  private(set) var dictionaries: [NSMutableDictionary] = []

  convenience init(_ dictionaries: [NSMutableDictionary]) {
    self.init(objects: nil, count: 0)
    self.dictionaries = dictionaries
  }

  override var count: Int { dictionaries.count }
  override func object(at index: Int) -> Any { dictionaries[index] }

  /// A copy of those of a range of samples.
  func copy(_ range: Range<Int>) -> SampleDictionaries {
    SampleDictionaries(
      dictionaries[range].map { $0.mutableCopy() as? NSMutableDictionary ?? NSMutableDictionary() })
  }
}
