// SPDX-License-Identifier: Apache-2.0
import Foundation

extension AVAssetImageGenerator {
  /// Pictures at many times, one after the other; each is made when it is asked for.
  public struct Images: AsyncSequence, Sendable {
    /// A picture, or why there is none.
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

      /// The next picture. Once the task or the generation is cancelled, what is left fails as cancelled.
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

  /// Makes the pictures one after the other, as they are asked for.
  public func images(for times: [CMTime]) -> Images { Images(generator: self, times: times) }

  /// Makes one picture; the handler is called with it and its own time, or with the error, on a thread of the
  /// generator.
  @preconcurrency public func generateCGImageAsynchronously(
    for requestedTime: CMTime,
    completionHandler handler: @escaping @Sendable (CGImage?, CMTime, (any Error)?) -> Void
  ) {
    generateCGImagesAsynchronously(forTimes: [NSValue(time: requestedTime)]) { _, image, time, _, error in
      handler(image, time, error)
    }
  }
}
