@_exported import VideoToolbox
