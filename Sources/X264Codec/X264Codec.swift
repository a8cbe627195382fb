import CoreMedia
