// SPDX-License-Identifier: Apache-2.0
import CoreVideo
import Foundation

extension CMSampleBuffer {
  /// The sizes of samples in bytes.
  public enum SizePerSample: Equatable, Sendable, ExpressibleByArrayLiteral {
    case uniform(Int)
    case distinct([Int])

    public init(arrayLiteral elements: Int...) { self = .distinct(elements) }

    var entries: [Int] {
      switch self {
      case .uniform(let size): [size]
      case .distinct(let sizes): sizes
      }
    }
  }

  /// The presentation times, decode times and durations of samples.
  public enum TimingPerSample: Sendable {
    /// Consecutive samples with the duration of the first one.
    case sequential(startingAt: CMSampleTimingInfo)
    case distinct([CMSampleTimingInfo])

    public static func sequential(
      presentationTimeOfFirstSample: CMTime, uniformDuration: CMTime,
      decodeTimeOfFirstSample: CMTime = .invalid
    ) -> TimingPerSample {
      .sequential(
        startingAt: CMSampleTimingInfo(
          duration: uniformDuration, presentationTimeStamp: presentationTimeOfFirstSample,
          decodeTimeStamp: decodeTimeOfFirstSample))
    }

    var entries: [CMSampleTimingInfo] {
      switch self {
      case .sequential(let first): [first]
      case .distinct(let timings): timings
      }
    }
  }

  /// The size, the times and the attachments of one sample.
  public struct SampleProperties: Sendable {
    /// The size in bytes; nil for pictures.
    public var size: Int?
    public var timing: CMSampleTimingInfo
    public var attachments: SampleAttachments

    public init(
      size: Int? = nil, timing: CMSampleTimingInfo, attachments: SampleAttachments = SampleAttachments()
    ) {
      self.size = size
      self.timing = timing
      self.attachments = attachments
    }
  }

  /// The size, the times and the attachments of each sample.
  public struct SamplePropertiesCollection: RandomAccessCollection, MutableCollection, Sendable {
    private var elements: [SampleProperties]
    private var sizes: SizePerSample?
    private var timings: TimingPerSample?

    /// Creates an empty collection.
    public init() { self.init([SampleProperties]()) }

    public init(_ elements: some Collection<SampleProperties>) {
      self.elements = Array(elements)
      setDistinct()
    }

    /// Creates the properties of a number of samples. Lists must have an entry for each sample.
    public init(
      sampleCount: Int, sizes: SizePerSample?, timings: TimingPerSample?,
      attachments: [SampleAttachments]? = nil
    ) {
      precondition(sampleCount > 0, "no samples")
      precondition(attachments.map { $0.count == sampleCount } ?? true, "not an entry for each sample")
      if case .distinct(let list) = sizes {
        precondition(list.count == sampleCount, "not a size for each sample")
      }
      if case .distinct(let list) = timings {
        precondition(list.count == sampleCount, "not times for each sample")
      }
      elements = (0..<sampleCount).map { index in
        let size: Int? =
          switch sizes {
          case nil: nil
          case .uniform(let size)?: size
          case .distinct(let list)?: list[index]
          }
        let timing: CMSampleTimingInfo =
          switch timings {
          case nil: .invalid
          case .distinct(let list)?: list[index]
          case .sequential(let first)?: first.following(index)
          }
        return SampleProperties(
          size: size, timing: timing, attachments: attachments?[index] ?? SampleAttachments())
      }
      self.sizes = sizes
      self.timings = timings
    }

    public var startIndex: Int { 0 }
    public var endIndex: Int { elements.count }

    public subscript(position: Int) -> SampleProperties {
      get { elements[position] }
      set {
        elements[position] = newValue
        setDistinct()
      }
    }

    private mutating func setDistinct() {
      let known = elements.compactMap(\.size)
      sizes = known.count == elements.count && !known.isEmpty ? .distinct(known) : nil
      timings = elements.isEmpty ? nil : .distinct(elements.map(\.timing))
    }

    /// Gets the properties of the samples of a sample buffer; empty if it declares more samples
    /// than can be listed.
    init(_ buffer: CMSampleBuffer) {
      let sizes = try? buffer.sampleSizes()
      self.init(
        (0..<(buffer.canBeListed ? buffer.numSamples : 0)).map { index in
          SampleProperties(
            size: sizes.map { $0.count == 1 ? $0[0] : $0[index] },
            timing: (try? buffer.sampleTimingInfo(at: index)) ?? .invalid,
            attachments: SampleAttachments(buffer, index))
        })
    }

    /// Creates a sample buffer with these properties; nil if they do not match the data.
    func sampleBuffer(_ data: CMBlockBuffer?, _ format: CMFormatDescription) -> CMSampleBuffer? {
      let entries = sizes?.entries ?? []
      if let data, !entries.isEmpty {
        var total = 0
        for index in elements.indices {
          let size = entries.count == 1 ? entries[0] : entries[index]
          let (sum, overflows) = total.addingReportingOverflow(size)
          guard size >= 0, !overflows else { return nil }
          total = sum
        }
        guard total <= data.dataLength else { return nil }
      }
      guard
        let made = try? CMSampleBuffer(
          dataBuffer: data, formatDescription: format, numSamples: elements.count,
          sampleTimings: timings?.entries ?? [], sampleSizes: entries)
      else { return nil }
      for (index, element) in elements.enumerated() { element.attachments.apply(to: made, index) }
      return made
    }
  }
}

extension CMSampleTimingInfo {
  /// Returns the times of the sample that comes `count` samples later, if all have the same
  /// duration.
  fileprivate func following(_ count: Int) -> CMSampleTimingInfo {
    let offset = CMTimeMultiply(duration, multiplier: Int32(clamping: count))
    var result = self
    if count > 0 {
      result.presentationTimeStamp = CMTimeAdd(presentationTimeStamp, offset)
      if decodeTimeStamp.isValid { result.decodeTimeStamp = CMTimeAdd(decodeTimeStamp, offset) }
    }
    return result
  }
}
