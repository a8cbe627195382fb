// SPDX-License-Identifier: Apache-2.0
import COpenVideoToolbox
import CoreMedia

/// A group of buffers of C, each with a collection of tags.
final class TaggedBufferGroup: CFRuntimeObject, Sendable {
  static let cfTypeID = CFRuntimeRegister("CMTaggedBufferGroup")

  struct Member: Sendable {
    /// A collection that cannot be changed.
    let tags: TagCollection
    let buffer: CMTaggedBuffer.Buffer
  }

  let members: [Member]

  init(_ members: [Member]) { self.members = members }

  convenience init(_ buffers: [CMTaggedBuffer]) {
    self.init(buffers.map { Member(tags: TagCollection($0.tags.map { Tag($0) }), buffer: $0.buffer) })
  }

  /// The module's tagged buffers. Tags of types that it does not know are left out.
  var buffers: [CMTaggedBuffer] {
    members.map { CMTaggedBuffer(tags: $0.tags.tags.compactMap(\.tag), buffer: $0.buffer) }
  }

  /// The index of the only member that a closure chooses; nil if there is none or more than one.
  func onlyIndex(where isChosen: (Member) -> Bool) -> Int? {
    let chosen = members.indices.filter { isChosen(members[$0]) }
    return chosen.count == 1 ? chosen[0] : nil
  }

  var cfDescription: String {
    let list = members.map { member -> String in
      let kind = if case .pixelBuffer = member.buffer { "CVPixelBuffer" } else { "CMSampleBuffer" }
      return "\(kind) \(member.tags.cfDescription)"
    }
    return "CMTaggedBufferGroup{\(list.joined(separator: ", "))}"
  }
}

extension TaggedBufferGroup.Member {
  var pixelBuffer: CVPixelBuffer? { if case .pixelBuffer(let buffer) = buffer { buffer } else { nil } }
  var sampleBuffer: CMSampleBuffer? { if case .sampleBuffer(let buffer) = buffer { buffer } else { nil } }
}
