// SPDX-License-Identifier: Apache-2.0
import AudioToolbox
import FFmpegMedia
import Foundation

/// An audio file, whose contents are read or written as linear PCM.
///
/// The formats that libavformat and libavcodec support can be read. WAVE, Core Audio and AIFF files
/// with linear PCM, and MPEG-4 files with AAC or Apple Lossless can be written.
open class AVAudioFile: NSObject {
  public let url: URL
  /// The format of the audio in the file.
  public let fileFormat: AVAudioFormat
  /// The format of the buffers for reading and writing.
  public let processingFormat: AVAudioFormat
  private var reader: AudioFileReader?
  private var writer: AudioFileWriter?
  private let isReading: Bool
  /// The length of a file that has been closed.
  private var finalLength: AVAudioFramePosition = 0

  /// Opens a file for reading as 32-bit floating-point samples with a buffer for each channel.
  /// - Parameter fileURL: The URL of a regular file.
  /// - Throws: An error of the domain "com.apple.coreaudio.avfaudio":
  ///   `kAudioFileUnsupportedFileTypeError` if the file contains no audio,
  ///   `kAudioFileInvalidFileError` if it is damaged, `kAudioFileUnspecifiedError` if it does not
  ///   exist.
  public convenience init(forReading fileURL: URL) throws {
    try self.init(forReading: fileURL, commonFormat: .pcmFormatFloat32, interleaved: false)
  }

  /// Opens a file for reading.
  /// - Parameters:
  ///   - fileURL: The URL of a regular file.
  ///   - format: The format of the samples that are read.
  ///   - interleaved: Whether the samples of the channels are interleaved in one buffer.
  /// - Throws: The errors of `init(forReading:)`, and `kAudioFileUnsupportedDataFormatError` for
  ///   `otherFormat`.
  public init(forReading fileURL: URL, commonFormat format: AVAudioCommonFormat, interleaved: Bool) throws {
    do {
      let reader = try AudioFileReader(fileURL, format, isInterleaved: interleaved)
      self.reader = reader
      url = fileURL
      fileFormat = reader.fileFormat
      processingFormat = reader.processingFormat
      isReading = true
    } catch { throw AudioError.file(error) }
    super.init()
  }

  /// Creates a file for writing 32-bit floating-point samples with a buffer for each channel.
  /// - Parameters:
  ///   - fileURL: The URL that the file gets when it is closed. Its path extension determines the
  ///     type (wav, caf, aif, aiff, aifc, m4a, mp4), unless `AVAudioFileTypeKey` does. An existing
  ///     regular file is replaced when the new file is closed, and is not changed before.
  ///   - settings: `AVFormatIDKey` and the keys for that format.
  /// - Throws: `kAudioFileUnsupportedFileTypeError` for other types,
  ///   `kAudioFileUnsupportedDataFormatError` for formats that the type cannot hold,
  ///   `kAudioFilePermissionsError` or `kAudioFileUnspecifiedError` if the file cannot be written.
  public convenience init(forWriting fileURL: URL, settings: [String: Any]) throws {
    try self.init(
      forWriting: fileURL, settings: settings, commonFormat: .pcmFormatFloat32, interleaved: false)
  }

  /// Creates a file for writing.
  /// - Parameters:
  ///   - fileURL: As in `init(forWriting:settings:)`.
  ///   - settings: As in `init(forWriting:settings:)`.
  ///   - format: The format of the samples that are written.
  ///   - interleaved: Whether the samples of the channels are interleaved in one buffer.
  /// - Throws: The errors of `init(forWriting:settings:)`, and
  ///   `kAudioFileUnsupportedDataFormatError` for `otherFormat`.
  public init(
    forWriting fileURL: URL, settings: [String: Any], commonFormat format: AVAudioCommonFormat,
    interleaved: Bool
  ) throws {
    do {
      let writer = try AudioFileWriter(fileURL, settings, format, isInterleaved: interleaved)
      self.writer = writer
      url = fileURL
      fileFormat = writer.fileFormat
      processingFormat = writer.processingFormat
      isReading = false
    } catch { throw AudioError.file(error) }
    super.init()
  }

  deinit { close() }

  /// Ends the reading or writing. A file that was written is completed and gets its name. If that
  /// fails, the file is removed, and a file that was to be replaced is not changed. Called when the
  /// object is deallocated.
  open func close() {
    finalLength = length
    reader = nil
    try? writer?.finish()
    writer = nil
  }

  /// Whether the file has not been closed.
  open var isOpen: Bool { reader != nil || writer != nil }

  /// The number of frames in the file, at the sample rate of `processingFormat`.
  open var length: AVAudioFramePosition { reader?.length ?? writer?.frames ?? finalLength }

  /// The index of the next frame to be read or written. Setting it makes reading continue there;
  /// values outside of the file are limited to its beginning and end. It cannot be set for a file
  /// that is written.
  open var framePosition: AVAudioFramePosition {
    get { reader?.position ?? writer?.frames ?? finalLength }
    set { reader?.position = min(max(0, newValue), reader?.length ?? 0) }
  }

  /// Reads as many frames as fit into a buffer.
  /// - Parameter buffer: A buffer in `processingFormat`. Its `frameLength` is set to the number of
  ///   frames that were read, which is smaller at the end of the file and then 0.
  /// - Throws: The errors of `read(into:frameCount:)`.
  open func read(into buffer: AVAudioPCMBuffer) throws {
    try read(into: buffer, frameCount: buffer.frameCapacity)
  }

  /// Reads frames.
  /// - Parameters:
  ///   - buffer: A buffer in `processingFormat`. Its `frameLength` is set to the number of frames
  ///     that were read, which is smaller at the end of the file and then 0.
  ///   - frames: The largest number of frames to read, which is limited to the buffer's capacity.
  /// - Throws: `kAudioFileNotOpenError` after `close()`, `kAudioFilePermissionsError` for a file
  ///   that is written, `kAudioFileUnsupportedDataFormatError` for a buffer in another format,
  ///   `kAudioFileInvalidFileError` if the file is damaged at this position; frames before the
  ///   damage are read first.
  open func read(into buffer: AVAudioPCMBuffer, frameCount frames: AVAudioFrameCount) throws {
    buffer.frameLength = 0
    guard isReading else {
      throw AudioError.make(kAudioFilePermissionsError, "The file was opened to be written.")
    }
    guard let reader else { throw AudioError.make(kAudioFileNotOpenError, "The file is closed.") }
    try check(buffer)
    do { try reader.read(into: buffer, frames: min(frames, buffer.frameCapacity)) } catch {
      throw AudioError.file(error)
    }
  }

  /// Appends the frames of a buffer to the file.
  /// - Parameter buffer: A buffer in `processingFormat`.
  /// - Throws: `kAudioFileNotOpenError` after `close()`, `kAudioFilePermissionsError` for a file
  ///   that is read, `kAudioFileUnsupportedDataFormatError` for a buffer in another format,
  ///   `kAudioFileDoesNotAllow64BitDataSizeError` if an AIFF file would exceed 4 GiB,
  ///   `kAudioFileUnspecifiedError` if the disk is full.
  open func write(from buffer: AVAudioPCMBuffer) throws {
    guard !isReading else {
      throw AudioError.make(kAudioFilePermissionsError, "The file was opened to be read.")
    }
    guard let writer else { throw AudioError.make(kAudioFileNotOpenError, "The file is closed.") }
    try check(buffer)
    do { try writer.write(buffer) } catch { throw AudioError.file(error) }
  }

  private func check(_ buffer: AVAudioPCMBuffer) throws {
    guard buffer.format.basic == processingFormat.basic else {
      throw AudioError.make(
        kAudioFileUnsupportedDataFormatError,
        "The buffer's format (\(buffer.format)) is not that of the file's processing (\(processingFormat)).")
    }
  }
}
