// SPDX-License-Identifier: Apache-2.0
import Foundation

/// The folder next to a plan in which its segments lie, with the plan's name and the extension
/// `parts`.
struct PartFolder: Sendable {
  static let maxSegments = 100_000

  let path: String

  /// - Parameter plan: the plan's file.
  init(of plan: String) { path = (plan as NSString).deletingPathExtension + ".parts" }

  func create() throws {
    do {
      try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: true)
    } catch {
      throw Failure("cannot make the folder '\(path)': \(Failure.describe(error))")
    }
  }

  func name(_ index: Int) -> String { "segment-" + String(format: "%05d", index) }
  func movie(_ index: Int) -> String { "\(path)/\(name(index)).mov" }
  func statistics(_ index: Int) -> String { "\(path)/\(name(index)).pass" }
  func record(_ index: Int) -> String { "\(path)/\(name(index)).json" }
}

/// The record of a segment, written when its movie is complete. A segment without a record does not
/// count as encoded.
struct SegmentRecord: Codable, Sendable {
  static let format = "vtencode segment"
  /// The largest size of a record in bytes.
  private static let maxBytes = 1 << 16

  var format = Self.format
  var version = 1
  /// The checksum of the plan that it belongs to.
  var plan: String
  var segment: Int
  var frames: Int
  /// The bytes of the pictures alone.
  var videoBytes: Int
  /// The size of the movie's file in bytes, and its MD5.
  var fileBytes: Int
  var checksum: String
  var passes: Int
  /// How long the encoding took, in seconds.
  var wallSeconds: Double

  /// The record of a segment whose movie is present and complete.
  /// - Throws: a `Failure` that says what is wrong, as a predicate that follows "segment 3".
  static func verified(_ segment: PlannedSegment, of plan: EncodingPlanFile, in folder: PartFolder) throws
    -> SegmentRecord
  {
    let data: Data
    do {
      data = try RegularFile.contents(folder.record(segment.index), maximum: maxBytes)
    } catch RegularFile.Problem.system(let code) where code != ENOENT && code != ENOTDIR {
      throw Failure("cannot be read (\(String(cString: strerror(code)).lowercased()))")
    } catch {
      throw Failure("is not there")
    }
    guard let record = try? JSONDecoder().decode(SegmentRecord.self, from: data), record.format == format,
      record.version == 1, record.segment == segment.index
    else { throw Failure("has a damaged record") }
    guard record.plan == plan.checksum else { throw Failure("belongs to another plan") }
    guard record.frames == segment.frames else { throw Failure("has another number of frames") }
    let movie = folder.movie(segment.index)
    do {
      let isWhole = try RegularFile.open(movie) { descriptor, fileStatus in
        guard Int(fileStatus.st_size) == record.fileBytes else { return false }
        let digest = try FileDigest.md5(descriptor, from: 0, count: record.fileBytes, name: movie)
        return digest == record.checksum
      }
      guard isWhole else { throw Failure("is damaged") }
    } catch RegularFile.Problem.system(let code) where code != ENOENT && code != ENOTDIR {
      throw Failure("has a movie that cannot be read (\(String(cString: strerror(code)).lowercased()))")
    } catch is RegularFile.Problem {
      throw Failure("has no movie")
    }
    return record
  }
}
