// SPDX-License-Identifier: Apache-2.0
import CoreVideo

/// Samples of one medium: their data or image, their format and timing, and attachments of each
/// sample and of all of them.
///
/// A sample buffer may be created before its data is available; see `CMSampleBufferMakeDataReady`.
public final class CMSampleBuffer: NSObject, @unchecked Sendable {
  // Sendable: `lock` guards what changes.
  /// The most samples that are processed individually if there are neither entries nor bytes for
  /// each of them, since a large number of samples costs a caller nothing.
  package static let maximumListed = 1 << 20

  // These properties do not change after creation and need no lock.
  let format: CMFormatDescription?
  let image: CVImageBuffer?
  /// The group of buffers that the only sample consists of.
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
  /// The attachments of the only sample, until its dictionary is requested.
  private var attachmentValues: SampleAttachmentValues?
  private var attachmentTable = AttachmentTable()
  private var packets: PacketMemory?

  /// Whether the data of a sample buffer can be used.
  public enum DataReadiness: Hashable, Sendable {
    case notReady
    case ready
    /// The data has failed with this status.
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
    typealias Given = (
      data: CMBlockBuffer?, makeReady: CMSampleBufferMakeDataReadyHandler?,
      handler: CMSampleBufferInvalidateHandler?
    )
    // The values are released outside the lock: deinitializers of the client's objects may call
    // this object.
    var given = lock.withLock { () -> Given in
      if invalidated { return (nil, nil, nil) }
      invalidated = true
      defer { (data, makeReady, onInvalidate) = (nil, nil, nil) }
      return (data, makeReady, onInvalidate)
    }
    (given.data, given.makeReady) = (nil, nil)
    var old = takeTracked()
    Self.release(&old)
    given.handler?(self)
    return noErr
  }

  func setOnInvalidate(_ handler: @escaping CMSampleBufferInvalidateHandler) -> OSStatus {
    // The old handler is released outside the lock: deinitializers of objects that it holds may
    // call this object.
    let (status, _) = lock.withLock { () -> (OSStatus, CMSampleBufferInvalidateHandler?) in
      if invalidated { return (kCMSampleBufferError_Invalidated, nil) }
      defer { onInvalidate = handler }
      return (noErr, onInvalidate)
    }
    return status
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

  /// The readiness of this sample buffer, or of the sample buffer that it tracks.
  var currentReadiness: DataReadiness {
    var (own, other) = lock.withLock { (readiness, tracked) }
    while own != .ready, let next = other {
      (own, other) = next.lock.withLock { (next.readiness, next.tracked) }
    }
    return own
  }

  func setReadiness(_ newValue: DataReadiness) -> OSStatus {
    // The handler is released outside the lock: deinitializers of objects that it holds may call
    // this object.
    let (status, _) = lock.withLock { () -> (OSStatus, CMSampleBufferMakeDataReadyHandler?) in
      if invalidated { return (kCMSampleBufferError_Invalidated, nil) }
      readiness = newValue
      guard newValue != .notReady else { return (noErr, nil) }
      defer { makeReady = nil }
      return (noErr, makeReady)
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

  /// Sets the readiness to that of the original, during the creation of a copy.
  func adoptReadiness(_ newValue: DataReadiness) {
    lock.withLock { readiness = newValue }
  }

  func makeReadyNow() -> OSStatus {
    var buffer = self
    while true {
      let (own, handler, other, isInvalid) = buffer.lock.withLock {
        (buffer.readiness, buffer.makeReady, buffer.tracked, buffer.invalidated)
      }
      if isInvalid { return kCMSampleBufferError_Invalidated }
      switch own {
      case .ready: return noErr
      case .failed: return kCMSampleBufferError_DataFailed
      case .notReady: break
      }
      if let other {
        buffer = other
        continue
      }
      guard let handler else { return kCMSampleBufferError_BufferNotReady }
      let status = handler(buffer)
      guard status == noErr else { return status }
      // The handler may have set the readiness already.
      return buffer.currentReadiness == .ready ? noErr : buffer.setReadiness(.ready)
    }
  }

  /// Held while tracking is changed, so that two sample buffers cannot begin to track each other.
  private static let tracking = Lock()

  func track(_ other: CMSampleBuffer) -> OSStatus {
    var old: CMSampleBuffer?
    let status = Self.tracking.withLock { () -> OSStatus in
      var next: CMSampleBuffer? = other
      while let buffer = next {
        if buffer === self { return kCMSampleBufferError_RequiredParameterMissing }
        next = buffer.lock.withLock { buffer.tracked }
      }
      return lock.withLock {
        if invalidated { return kCMSampleBufferError_Invalidated }
        old = tracked
        tracked = other
        return noErr
      }
    }
    // The release is outside the locks.
    Self.release(&old)
    return status
  }

  /// Begins tracking during the creation of a copy, which no sample buffer can track yet.
  func beginTracking(_ original: CMSampleBuffer) { lock.withLock { tracked = original } }

  private func takeTracked() -> CMSampleBuffer? {
    lock.withLock {
      defer { tracked = nil }
      return tracked
    }
  }

  /// Releases a sample buffer and those that it tracks, if there are no other references to them,
  /// one after the other: recursion along a long chain could overflow the stack.
  private static func release(_ next: inout CMSampleBuffer?) {
    while next != nil, isKnownUniquelyReferenced(&next) {
      let following = next?.takeTracked()
      next = following
    }
  }

  deinit {
    var old = takeTracked()
    Self.release(&old)
  }

  /// Returns the packet descriptions at an address that does not change. They are created on first
  /// use.
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

  /// The output presentation time that was set; invalid if none was.
  var explicitOutputTime: CMTime {
    get { lock.withLock { outputTime } }
    set { lock.withLock { outputTime = newValue } }
  }

  // MARK: - Attachments

  /// Whether the samples may be processed individually.
  var canBeListed: Bool {
    sampleCount <= Self.maximumListed || sampleCount <= timings.entries.count
      || sampleCount <= sizes.entries.count || sampleCount <= blockBuffer?.memoryLength ?? 0
  }

  /// Returns a dictionary for each sample; nil if there are none yet, or there are no samples.
  func dictionaries(create: Bool) -> SampleDictionaries? {
    let create = create && canBeListed
    return lock.withLock {
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

  /// Copies the attachments of a range of another sample buffer's samples. The range has as many
  /// samples as this sample buffer.
  func copyAttachments(of original: CMSampleBuffer, samples: Range<Int>) {
    let values = original.lock.withLock { original.attachmentValues }
    if let values {
      lock.withLock { attachmentValues = values }
    } else if let copies = original.dictionaries(create: false)?.copy(samples) {
      lock.withLock { sampleDictionaries = copies }
    }
  }

  /// Sets the attachments of a sample buffer with one sample.
  package func setAttachments(_ values: SampleAttachmentValues) {
    guard sampleCount == 1 else { return }
    // The old values are released outside the lock: their deinitializers may call this object.
    _ = lock.withLock {
      attachmentValues = values
      defer { sampleDictionaries = nil }
      return sampleDictionaries
    }
  }

  public override var description: String {
    let content: String
    if let image {
      content = "image \(image)"
    } else if let tagged {
      content = "\(tagged.count) tagged buffers"
    } else if let blockBuffer {
      content = blockBuffer.description
    } else {
      content = format == nil ? "a marker" : "no data"
    }
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

/// The array of the attachment dictionaries of a sample buffer.
///
/// An ordinary NSArray of Foundation would return copies of the dictionaries as Swift values,
/// whereas these must be changed in place.
final class SampleDictionaries: NSArray {
  private(set) var dictionaries: [NSMutableDictionary] = []

  convenience init(_ dictionaries: [NSMutableDictionary]) {
    self.init(objects: nil, count: 0)
    self.dictionaries = dictionaries
  }

  override var count: Int { dictionaries.count }
  override func object(at index: Int) -> Any { dictionaries[index] }

  /// Returns copies of the dictionaries of a range of samples.
  func copy(_ range: Range<Int>) -> SampleDictionaries {
    SampleDictionaries(
      dictionaries[range].map { $0.mutableCopy() as? NSMutableDictionary ?? NSMutableDictionary() })
  }
}
