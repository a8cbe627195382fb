// SPDX-License-Identifier: Apache-2.0
import AudioToolbox
import FFmpegMedia
import Foundation

/// A file of sound, read or written as linear PCM.
///
/// Reads what libavformat and libavcodec read. Writes WAVE, Core Audio and AIFF files of linear PCM, and MPEG-4 files of AAC
/// and Apple Lossless.
open class AVAudioFile: NSObject {
  public let url: URL
  /// The format of what is in the file.
  public let fileFormat: AVAudioFormat
  /// The format of the buffers that are read or written.
  public let processingFormat: AVAudioFormat
  private var reader: AudioFileReader?
  private var writer: AudioFileWriter?
  private let isReading: Bool
  /// Of a file that is closed.
  private var finalLength: AVAudioFramePosition = 0

  /// Opens a file to read it as floating-point samples, each channel on its own.
  /// - Parameter fileURL: Of a regular file.
  /// - Throws: An error of the domain "com.apple.coreaudio.avfaudio": `kAudioFileUnsupportedFileTypeError` for what is no
  ///   sound, `kAudioFileInvalidFileError` for what is damaged, `kAudioFileUnspecifiedError` for what is not there.
  public convenience init(forReading fileURL: URL) throws {
    try self.init(forReading: fileURL, commonFormat: .pcmFormatFloat32, interleaved: false)
  }

  /// Opens a file to read it.
  /// - Parameters:
  ///   - fileURL: Of a regular file.
  ///   - format: Of the samples that are read.
  ///   - interleaved: Whether the channels' samples alternate.
  /// - Throws: As `init(forReading:)`; `kAudioFileUnsupportedDataFormatError` for `otherFormat`.
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

  /// Creates a file to write floating-point samples, each channel on its own.
  /// - Parameters:
  ///   - fileURL: Where the file is to be, once it is closed. Its name extension says the type (wav, caf, aif, aiff, aifc,
  ///     m4a, mp4), unless `AVAudioFileTypeKey` does. A regular file that is there is replaced then, and stays as it is
  ///     until then.
  ///   - settings: The keys of `AVFormatIDKey` and what belongs to it.
  /// - Throws: `kAudioFileUnsupportedFileTypeError` for other types, `kAudioFileUnsupportedDataFormatError` for what the
  ///   type cannot hold, `kAudioFilePermissionsError` and `kAudioFileUnspecifiedError` where nothing can be written.
  public convenience init(forWriting fileURL: URL, settings: [String: Any]) throws {
    try self.init(
      forWriting: fileURL, settings: settings, commonFormat: .pcmFormatFloat32, interleaved: false)
  }

  /// Creates a file to write.
  /// - Parameters:
  ///   - fileURL: As `init(forWriting:settings:)`.
  ///   - settings: As `init(forWriting:settings:)`.
  ///   - format: Of the samples that are written.
  ///   - interleaved: Whether the channels' samples alternate.
  /// - Throws: As `init(forWriting:settings:)`.
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

  /// Ends reading or writing. A file that was written is complete, and has its name, from here on; where that fails, there
  /// is none, and a file that was to be replaced is as it was. Called when the object goes away.
  open func close() {
    finalLength = length
    reader = nil
    try? writer?.finish()
    writer = nil
  }

  /// Whether `close()` has not been called.
  open var isOpen: Bool { reader != nil || writer != nil }

  /// Frames in the file, at the sample rate of `processingFormat`.
  open var length: AVAudioFramePosition { reader?.length ?? writer?.frames ?? finalLength }

  /// The frame that is read next, or written. Set, it is where reading goes on; of a file that is written it cannot be
  /// set. Below 0 is taken for 0, and beyond the end for the end.
  open var framePosition: AVAudioFramePosition {
    get { reader?.position ?? writer?.frames ?? finalLength }
    set { reader?.position = min(max(0, newValue), reader?.length ?? 0) }
  }

  /// Reads as many frames as a buffer has room for.
  /// - Parameter buffer: In `processingFormat`. Its `frameLength` says how many there were: at the end of the file fewer,
  ///   and then none.
  /// - Throws: As `read(into:frameCount:)`.
  open func read(into buffer: AVAudioPCMBuffer) throws {
    try read(into: buffer, frameCount: buffer.frameCapacity)
  }

  /// Reads frames.
  /// - Parameters:
  ///   - buffer: In `processingFormat`. Its `frameLength` says how many there were: at the end of the file fewer, and then
  ///     none.
  ///   - frames: As many as the buffer has room for, at most.
  /// - Throws: `kAudioFileNotOpenError` after `close()`, `kAudioFilePermissionsError` for a file that is written,
  ///   `kAudioFileUnsupportedDataFormatError` for a buffer of another format, `kAudioFileInvalidFileError` where the file
  ///   is damaged; what comes before the damage was read then.
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

  /// Writes a buffer's frames at the end of the file.
  /// - Parameter buffer: In `processingFormat`.
  /// - Throws: `kAudioFileNotOpenError` after `close()`, `kAudioFilePermissionsError` for a file that is read,
  ///   `kAudioFileUnsupportedDataFormatError` for a buffer of another format,
  ///   `kAudioFileDoesNotAllow64BitDataSizeError` for more than 4 GiB in an AIFF file, `kAudioFileUnspecifiedError` where
  ///   the disk is full.
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
