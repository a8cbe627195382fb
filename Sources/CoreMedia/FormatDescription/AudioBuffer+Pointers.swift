// SPDX-License-Identifier: Apache-2.0
import CoreFoundation

extension AudioBuffer {
  /// Creates a buffer that refers to these values. It does not own the memory.
  public init<Element>(_ typedBuffer: UnsafeMutableBufferPointer<Element>, numberOfChannels: Int) {
    self.init(
      mNumberChannels: UInt32(clamping: numberOfChannels),
      mDataByteSize: UInt32(clamping: typedBuffer.count * MemoryLayout<Element>.stride),
      mData: typedBuffer.baseAddress)
  }
}

extension UnsafeBufferPointer {
  /// The values of an audio buffer; an incomplete value at its end is left out.
  public init(_ audioBuffer: AudioBuffer) { self.init(UnsafeMutableBufferPointer(audioBuffer)) }
}

extension UnsafeMutableBufferPointer {
  /// The values of an audio buffer; an incomplete value at its end is left out.
  public init(_ audioBuffer: AudioBuffer) {
    let count = Int(audioBuffer.mDataByteSize) / Swift.max(1, MemoryLayout<Element>.stride)
    guard let data = audioBuffer.mData, count > 0 else {
      self.init(start: nil, count: 0)
      return
    }
    self.init(start: data.bindMemory(to: Element.self, capacity: count), count: count)
  }
}
