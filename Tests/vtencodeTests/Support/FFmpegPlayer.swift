// SPDX-License-Identifier: Apache-2.0
/// Plays the stream of `vtencode send` with ffmpeg, using the session description that `--sdp`
/// writes. The description depends on the options alone, so that a run of one frame writes it: the
/// player listens before the first packet is sent, and misses nothing.
///
/// - Parameters:
///   - options: the source and the options of `send`, for the shell.
///   - port: the UDP port on which ffmpeg listens.
///   - description: the name of the description in the folder.
///   - folder: where the files are written.
/// - Returns: how ffmpeg ended after 20 pictures, with their MD5 sums in lines of `framemd5`.
func playWithFFmpeg(
  _ options: String, to port: Int, description: String, in folder: Folder
) throws -> Finished {
  let send = "'\(CommandLine.vtencode)' send \(options) --to 127.0.0.1:\(port) --sdp \(description)"
  return try CommandLine.shell(
    """
    \(send) --frames 1 > summary.txt 2> complaints.txt || exit 1
    timeout 60 ffmpeg -v error -protocol_whitelist file,udp,rtp -i \(description) -frames:v 20 \
      -fps_mode passthrough -f framemd5 - & player=$!
    await $player grep -q "$(printf ':%04X ' \(port))" /proc/net/udp
    \(send) --frames 120 --overwrite > summary.txt 2> complaints.txt & sender=$!
    wait $player; status=$?
    kill -INT $sender; wait $sender; exit $status
    """, in: folder)
}
