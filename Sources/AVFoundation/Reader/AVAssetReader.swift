// SPDX-License-Identifier: Apache-2.0
import Foundation

/// Reads the samples of an asset, either as they are stored or decoded.
///
/// Add outputs, call `startReading()`, then take samples from each output until it gives nil.
/// `status` tells whether that was the end or a failure. Each output reads the file independently
/// of the others, so outputs can be read to their ends in any order and from different threads.
open class AVAssetReader: NSObject, @unchecked Sendable {
  // Sendable: `lock` guards what changes.
  public enum Status: Int, Sendable {
    case unknown = 0
    case reading = 1
    case completed = 2
    case failed = 3
    case cancelled = 4
  }

  public let asset: AVAsset
  private let lock = Lock()
  private var currentStatus = Status.unknown
  private var currentError: AVError?
  private var currentOutputs: [AVAssetReaderOutput] = []
  private var range = CMTimeRange(start: .zero, duration: .positiveInfinity)

  /// Creates a reader.
  /// - Parameter asset: The asset to read.
  /// - Throws: `AVError` if the file cannot be read.
  public init(asset: AVAsset) throws {
    self.asset = asset
    super.init()
    _ = try asset.loadedTracks()
  }

  deinit { for output in currentOutputs { output.stop() } }

  open var status: Status { lock.withLock { currentStatus } }

  /// The error that made the reading fail, or nil.
  open var error: Error? { lock.withLock { currentError } }

  /// The time range to read. Compressed samples begin with the last key frame at or before its
  /// start. Setting it has an effect only before `startReading()`.
  open var timeRange: CMTimeRange {
    get { lock.withLock { range } }
    set { lock.withLock { if currentStatus == .unknown { range = newValue } } }
  }

  open var outputs: [AVAssetReaderOutput] { lock.withLock { currentOutputs } }

  /// Whether the output can be added: its track belongs to the asset, its settings are supported,
  /// and the reading has not begun.
  @discardableResult
  open func canAdd(_ output: AVAssetReaderOutput) -> Bool {
    status == .unknown && output.reader == nil && output.belongs(to: asset) && output.settingsError == nil
  }

  /// Adds an output. Adding an output that cannot be added makes `startReading()` fail.
  open func add(_ output: AVAssetReaderOutput) {
    if status != .unknown || output.reader != nil || !output.belongs(to: asset) {
      fail(
        AVError(
          .operationNotAllowed, reason: "The output cannot be added to this reader.",
          advice: "Add each output once, before startReading(), to a reader of its own track's asset."))
      return
    }
    lock.withLock { currentOutputs.append(output) }
    output.attach(to: self)
  }

  /// Starts the reading.
  /// - Returns: False, with `error` set, if the time range is invalid or an output cannot be read.
  @discardableResult
  open func startReading() -> Bool {
    guard status == .unknown else { return false }
    let outputs = outputs
    let range = timeRange
    do {
      guard range.isValid, !range.isEmpty, range.start.isNumeric else {
        throw AVError(.operationNotAllowed, reason: "The time range to read is empty or invalid.")
      }
      for output in outputs { try output.start(asset: asset, range: range) }
    } catch {
      fail(AVError.reading(error))
      return false
    }
    let goes = lock.withLock {
      guard currentStatus == .unknown else { return false }
      currentStatus = outputs.isEmpty ? .completed : .reading
      return true
    }
    // The reading was cancelled meanwhile, and an output may have started after it was asked to
    // stop.
    if !goes, status != .reading { for output in outputs { output.stop() } }
    return goes
  }

  /// Stops the reading. Outputs give nil from now on.
  open func cancelReading() {
    let outputs = lock.withLock {
      if currentStatus == .unknown || currentStatus == .reading { currentStatus = .cancelled }
      return currentOutputs
    }
    for output in outputs { output.stop() }
  }

  // MARK: - For the outputs

  var isReading: Bool { status == .reading }

  func fail(_ error: AVError) {
    let outputs: [AVAssetReaderOutput] = lock.withLock {
      guard currentStatus == .unknown || currentStatus == .reading else { return [] }
      currentStatus = .failed
      currentError = error
      return currentOutputs
    }
    for output in outputs { output.stop() }
  }

  /// Completes the reading if all outputs have reached their ends.
  func outputEnded() {
    let all = outputs.allSatisfy { $0.hasEnded }
    lock.withLock { if all, currentStatus == .reading { currentStatus = .completed } }
  }
}
