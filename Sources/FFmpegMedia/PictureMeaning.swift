import CFFmpeg
import CodecInterface
import CoreMedia

extension DecodedPicture {
  /// Writes what the stream says of its pictures (colour, shape of the pixels, fields) into the buffer's attachments.
  package func attachMeaning() {
    func attach(_ key: CFString, _ value: Any?) {
      guard let value else { return }
      CVBufferSetAttachment(pixelBuffer, key, value as AnyObject, .shouldPropagate)
    }
    attach(kCVImageBufferColorPrimariesKey, MediaColor.name(AVColorPrimaries(UInt32(color.primaries))))
    attach(
      kCVImageBufferTransferFunctionKey,
      MediaColor.name(AVColorTransferCharacteristic(UInt32(color.transfer))))
    attach(kCVImageBufferYCbCrMatrixKey, MediaColor.name(AVColorSpace(UInt32(color.matrix))))
    if let pixelAspect, pixelAspect.horizontal != pixelAspect.vertical {
      let aspect: [CFString: NSNumber] = [
        kCVImageBufferPixelAspectRatioHorizontalSpacingKey: NSNumber(value: pixelAspect.horizontal),
        kCVImageBufferPixelAspectRatioVerticalSpacingKey: NSNumber(value: pixelAspect.vertical),
      ]
      attach(kCVImageBufferPixelAspectRatioKey, aspect as NSDictionary)
    }
    let places: [CFString] = ["Left", "Center", "TopLeft", "Top", "BottomLeft", "Bottom"]
    if let chromaLocation, Int(chromaLocation) < places.count {
      attach(kCVImageBufferChromaLocationTopFieldKey, places[Int(chromaLocation)])
    }
    if isInterlaced {
      attach(kCVImageBufferFieldCountKey, NSNumber(value: 2))
      attach(
        kCVImageBufferFieldDetailKey,
        isTopFieldFirst
          ? kCVImageBufferFieldDetailSpatialFirstLineEarly : kCVImageBufferFieldDetailSpatialFirstLineLate)
    }
  }
}
