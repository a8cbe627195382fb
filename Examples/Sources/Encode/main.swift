// SPDX-License-Identifier: Apache-2.0
import VideoToolbox

var session: VTCompressionSession?
VTCompressionSessionCreate(
  allocator: nil, width: 640, height: 360, codecType: kCMVideoCodecType_H264,
  encoderSpecification: nil, imageBufferAttributes: nil, compressedDataAllocator: nil,
  outputCallback: nil, refcon: nil, compressionSessionOut: &session)
VTSessionSetProperty(
  session!, key: kVTCompressionPropertyKey_AverageBitRate, value: 800_000 as CFNumber)
for number in 0..<90 {
  var image: CVPixelBuffer?  // Draw into it, or take a camera's.
  CVPixelBufferPoolCreatePixelBuffer(nil, VTCompressionSessionGetPixelBufferPool(session!)!, &image)
  VTCompressionSessionEncodeFrame(
    session!, imageBuffer: image!,
    presentationTimeStamp: CMTime(value: Int64(number), timescale: 30), duration: .invalid,
    frameProperties: nil, infoFlagsOut: nil
  ) { status, _, sample in print(number, status, sample?.dataBuffer?.dataLength ?? 0, "bytes") }
}
VTCompressionSessionCompleteFrames(session!, untilPresentationTimeStamp: .invalid)
