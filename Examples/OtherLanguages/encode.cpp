// SPDX-License-Identifier: Apache-2.0
// Encodes raw pictures (4:2:0, 8 bits, planar: what `ffmpeg -pix_fmt yuv420p -f rawvideo` gives) into an H.264 stream.
//
//   c++ -std=c++20 encode.cpp $(pkg-config --cflags --libs openvideotoolbox) && ./a.out 640 480 < in.yuv > out.h264
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <vector>

#include <VideoToolbox/VideoToolbox.h>

struct Release {
  void operator()(const void *object) const { CFRelease(object); }
};
/// A reference that is given up with the variable.
template <typename Ref>
using Owned = std::unique_ptr<std::remove_pointer_t<Ref>, Release>;

static void writeUnit(const void *bytes, size_t size) {
  std::fwrite("\0\0\0\1", 1, 4, stdout), std::fwrite(bytes, 1, size, stdout);
}

static void write(void *, void *, OSStatus status, VTEncodeInfoFlags, CMSampleBufferRef sample) {
  if (status != noErr || sample == nullptr) return;
  auto attachments = CMSampleBufferGetSampleAttachmentsArray(sample, false);
  auto first = attachments ? (CFDictionaryRef)CFArrayGetValueAtIndex(attachments, 0) : nullptr;
  bool isKey = !first || !CFDictionaryContainsKey(first, kCMSampleAttachmentKey_NotSync);
  auto format = CMSampleBufferGetFormatDescription(sample);
  size_t count = 0;
  CMVideoFormatDescriptionGetH264ParameterSetAtIndex(format, 0, nullptr, nullptr, &count, nullptr);
  for (size_t i = 0; isKey && i < count; i++) {
    const uint8_t *set;
    size_t size;
    CMVideoFormatDescriptionGetH264ParameterSetAtIndex(format, i, &set, &size, nullptr, nullptr);
    writeUnit(set, size);
  }
  auto block = CMSampleBufferGetDataBuffer(sample);
  std::vector<uint8_t> data(CMBlockBufferGetDataLength(block));
  CMBlockBufferCopyDataBytes(block, 0, data.size(), data.data());
  for (size_t at = 0; at + 4 <= data.size();) {
    size_t size = (size_t)data[at] << 24 | data[at + 1] << 16 | data[at + 2] << 8 | data[at + 3];
    writeUnit(&data[at + 4], size);
    at += 4 + size;
  }
}

int main(int count, char **arguments) {
  if (count != 3) return std::fprintf(stderr, "usage: encode WIDTH HEIGHT < in.yuv > out.h264\n"), 64;
  const int width = std::atoi(arguments[1]), height = std::atoi(arguments[2]);
  VTCompressionSessionRef made = nullptr;
  OSStatus status = VTCompressionSessionCreate(
      nullptr, width, height, kCMVideoCodecType_H264, nullptr, nullptr, nullptr, write, nullptr, &made);
  if (status != noErr) return std::fprintf(stderr, "no session: %d\n", (int)status), 1;
  Owned<VTCompressionSessionRef> session(made);
  int rate = 1500000;
  Owned<CFNumberRef> number(CFNumberCreate(nullptr, kCFNumberIntType, &rate));
  VTSessionSetProperty(made, kVTCompressionPropertyKey_AverageBitRate, number.get());
  for (int frame = 0;; frame++) {
    CVPixelBufferRef picture = nullptr;
    CVPixelBufferCreate(nullptr, width, height, kCVPixelFormatType_420YpCbCr8Planar, nullptr, &picture);
    Owned<CVPixelBufferRef> owned(picture);
    CVPixelBufferLockBaseAddress(picture, 0);
    bool complete = true;
    for (size_t plane = 0; plane < 3; plane++) {
      auto row = (uint8_t *)CVPixelBufferGetBaseAddressOfPlane(picture, plane);
      size_t columns = CVPixelBufferGetWidthOfPlane(picture, plane);
      for (size_t y = 0; y < CVPixelBufferGetHeightOfPlane(picture, plane); y++) {
        complete = std::fread(row, 1, columns, stdin) == columns && complete;
        row += CVPixelBufferGetBytesPerRowOfPlane(picture, plane);
      }
    }
    CVPixelBufferUnlockBaseAddress(picture, 0);
    if (!complete) break;
    VTCompressionSessionEncodeFrame(made, picture, CMTimeMake(frame, 30), kCMTimeInvalid, nullptr, nullptr, nullptr);
  }
  status = VTCompressionSessionCompleteFrames(made, kCMTimeInvalid);
  VTCompressionSessionInvalidate(made);
  return status == noErr ? 0 : 1;
}
