// SPDX-License-Identifier: Apache-2.0
/// A queue. An element is released as soon as it is removed, and removal takes constant amortised
/// time.
struct SampleQueue<Element> {
  private var samples: [Element?] = []
  /// The index of the first element.
  private var head = 0

  var isEmpty: Bool { head == samples.count }
  var count: Int { samples.count - head }
  var first: Element? { isEmpty ? nil : samples[head] }
  var last: Element? { isEmpty ? nil : samples[samples.count - 1] }

  mutating func append(_ sample: Element) { samples.append(sample) }

  mutating func popFirst() -> Element? {
    guard !isEmpty else { return nil }
    let sample = samples[head]
    samples[head] = nil
    head += 1
    if head == samples.count || head >= 256 && head > samples.count / 2 {
      samples.removeFirst(head)
      head = 0
    }
    return sample
  }
}
