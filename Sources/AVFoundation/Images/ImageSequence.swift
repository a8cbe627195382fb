// SPDX-License-Identifier: Apache-2.0
import Foundation

extension AVAssetImageGenerator {
  /// Images at several times, in order; each is created when it is requested.
  public struct Images: AsyncSequence, Sendable {
    /// An image, or the error because of which there is none.
    public enum Element: Sendable {
      case success(requestedTime: CMTime, image: CGImage, actualTime: CMTime)
      case failure(requestedTime: CMTime, error: any Error)

      public var requestedTime: CMTime {
        switch self {
        case .success(let requestedTime, _, _), .failure(let requestedTime, _): requestedTime
        }
      }
      public var image: CGImage {
        get throws {
          switch self {
          case .success(_, let image, _): image
          case .failure(_, let error): throw error
          }
        }
      }
      public var actualTime: CMTime {
        get throws {
          switch self {
          case .success(_, _, let actualTime): actualTime
          case .failure(_, let error): throw error
          }
        }
      }
    }

    public struct Iterator: AsyncIteratorProtocol {
      fileprivate let generator: AVAssetImageGenerator
      fileprivate let cancelCount: Int
      fileprivate var times: ArraySlice<CMTime>

      /// Returns the next image. After cancellation of the task or the generation, the remaining
      /// elements are failures with `AVError.Code.operationCancelled`.
      public mutating func next() async -> Element? {
        guard let time = times.popFirst() else { return nil }
        guard !Task.isCancelled, generator.cancellations == cancelCount else {
          return .failure(requestedTime: time, error: AVError(.operationCancelled))
        }
        do {
          let (image, actualTime) = try await generator.image(at: time)
          return .success(requestedTime: time, image: image, actualTime: actualTime)
        } catch {
          return .failure(requestedTime: time, error: error)
        }
      }
    }

    fileprivate let generator: AVAssetImageGenerator
    fileprivate let times: [CMTime]

    public func makeAsyncIterator() -> Iterator {
      Iterator(generator: generator, cancelCount: generator.cancellations, times: times[...])
    }
  }

  /// Returns a sequence that creates the images one after the other, when they are requested.
  public func images(for times: [CMTime]) -> Images { Images(generator: self, times: times) }

  /// Creates one image and calls a handler with the image and its presentation time, or with an
  /// error, on a queue of the generator.
  @preconcurrency public func generateCGImageAsynchronously(
    for requestedTime: CMTime,
    completionHandler handler: @escaping @Sendable (CGImage?, CMTime, (any Error)?) -> Void
  ) {
    generateCGImagesAsynchronously(forTimes: [NSValue(time: requestedTime)]) { _, image, time, _, error in
      handler(image, time, error)
    }
  }
}
