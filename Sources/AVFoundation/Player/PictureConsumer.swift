// SPDX-License-Identifier: Apache-2.0
import Foundation

/// Receives the decoded pictures of an item that is played. Layers and outputs are consumers.
protocol PictureConsumer: AnyObject, Sendable {
  /// Adds the next picture in presentation order.
  func receive(_ sample: CMSampleBuffer)
  /// Removes the pictures; the next picture does not follow them.
  func forget()
}

extension AVSampleBufferDisplayLayer: PictureConsumer {
  func receive(_ sample: CMSampleBuffer) { enqueue(sample) }
  func forget() { flush() }
}

/// The consumers of one item, which it does not retain.
struct PictureConsumers {
  private final class Entry {
    weak var consumer: (any PictureConsumer)?
    init(_ consumer: any PictureConsumer) { self.consumer = consumer }
  }
  private var entries: [Entry] = []

  var all: [any PictureConsumer] { entries.compactMap(\.consumer) }

  mutating func add(_ consumer: any PictureConsumer) {
    entries.removeAll { $0.consumer == nil || $0.consumer === consumer }
    entries.append(Entry(consumer))
  }

  mutating func remove(_ consumer: any PictureConsumer) {
    entries.removeAll { $0.consumer == nil || $0.consumer === consumer }
  }
}
