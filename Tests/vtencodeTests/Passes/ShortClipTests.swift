// SPDX-License-Identifier: Apache-2.0
import Foundation
import Testing

#if X264 && X265
  /// Clips of a few frames at a bit rate, with encoders that plan no rate of their own for them.
  @Suite(.serialized) struct ShortClipTests {
    private static let x264 = ["--encoder", "org.openvideotoolbox.videoencoder.h264.x264"]

    /// Makes a clip of noisy pictures, which take far more bits than their size lets expect.
    /// - Parameters:
    ///   - frames: the number of frames.
    ///   - isVariable: whether every third frame is left out, so that durations differ.
    private func make(frames: Int, isVariable: Bool, in folder: Folder) throws {
      let selection = isVariable ? ",select=not(eq(mod(n\\,3)\\,1))" : ""
      let made = try CommandLine.shell(
        "ffmpeg -nostdin -v error -y -f lavfi -i 'testsrc2=size=320x180:rate=12,noise=alls=40:allf=t\(selection)' "
          + "-frames:v \(frames) -fps_mode vfr -pix_fmt yuv420p -c:v ffv1 in.mkv", in: folder)
      try #require(made.status == 0, "\(made.complaints)")
    }

    /// The mean PSNR of the frames in decibels, by ffmpeg.
    private func quality(_ name: String, in folder: Folder) throws -> Double {
      let run = try CommandLine.shell(
        "ffmpeg -nostdin -v error -i \(name) -i in.mkv -lavfi "
          + "'[0:v]settb=AVTB,setpts=N[a];[1:v]settb=AVTB,setpts=N[b];[a][b]psnr=f=-' -f null -", in: folder)
      let values = run.text.matches(of: /psnr_avg:([\d.]+)/).compactMap { Double($0.1) }
      try #require(!values.isEmpty, "\(run.complaints)")
      return values.reduce(0, +) / Double(values.count)
    }

    private func sizes(_ name: String, in folder: Folder) throws -> [Double] {
      try Probe(folder.path(name)).packets().compactMap { $0.size.flatMap(Double.init) }
    }

    private func encode(_ options: [String], in folder: Folder) throws -> Finished {
      let run = try CommandLine.run(
        CommandLine.vtencode,
        ["transcoding", "in.mkv", "--bitrate", "250k", "--overwrite", "--out", "out.mp4"] + options,
        in: folder.url)
      try #require(run.status == 0, "\(run.complaints)")
      return run
    }

    @Test(
      "A short clip has the quality of ffmpeg's two passes at the same size, however many frames it has",
      arguments: [2, 5, 10, 25, 50])
    func shortClipsAreAsGoodAsWithTwoPasses(frames: Int) throws {
      let folder = try Folder()
      for isVariable in [false, true] where !isVariable || frames >= 5 {
        try make(frames: frames, isVariable: isVariable, in: folder)
        let run = try encode(Self.x264, in: folder)
        let ours = try sizes("out.mp4", in: folder)
        try #require(ours.count == frames)
        let seconds = try #require(
          Double(
            try CommandLine.shell(
              "ffprobe -v error -select_streams v -show_entries stream=duration -of csv=p=0 out.mp4",
              in: folder
            ).text.trimmingCharacters(in: .whitespacesAndNewlines)))
        let rate = Int(ours.reduce(0, +) * 8 / seconds)
        for pass in 1...2 {
          let other = try CommandLine.shell(
            "ffmpeg -nostdin -v error -y -i in.mkv -fps_mode passthrough -c:v libx264 -preset medium "
              + "-b:v \(rate) -pass \(pass) two.mp4", in: folder)
          try #require(other.status == 0, "\(other.complaints)")
        }
        let theirs = try sizes("two.mp4", in: folder)
        // Twice the bits are worth some three decibels at these rates.
        let advantage = 3 * log2(theirs.reduce(0, +) / ours.reduce(0, +))
        let difference =
          try quality("out.mp4", in: folder) - (try quality("two.mp4", in: folder) - advantage)
        #expect(
          difference > -1.5,
          "\(frames) frames, variable: \(isVariable): \(difference) dB, \(ours) and \(theirs) bytes; \(run.text)"
        )
      }
    }

    /// Two passes of libx265 by itself miss the rate of so few frames by multiples, so that there
    /// is nothing of equal size to compare with.
    @Test(
      "With libx265 the first frame of a short clip takes much less than in one pass",
      arguments: [10, 25])
    func firstFramesLeaveBitsToOthers(frames: Int) throws {
      let folder = try Folder()
      try make(frames: frames, isVariable: false, in: folder)
      let codec = ["--codec", "hevc"]
      let run = try encode(codec, in: folder)
      let ours = try sizes("out.mp4", in: folder)
      _ = try encode(codec + ["--multi-pass", "1"], in: folder)
      let once = try sizes("out.mp4", in: folder)
      try #require(ours.count == frames && once.count == frames)
      #expect(ours[0] < once[0] * 0.6, "\(ours) and \(once) bytes; \(run.text)")
      #expect(ours.reduce(0, +) < once.reduce(0, +), "\(ours) and \(once) bytes")
    }
  }
#endif
