/// What bounds the memory and time that a message takes.
package enum DialectLimits {
    /// The largest body of a request, in bytes.
    package static let bodyByteCount = 2 << 20
    /// How deep brackets of JSON may be nested.
    package static let jsonDepth = 16
    /// The most locations of a batch.
    package static let batchCount = 1000
    /// The longest name of a device that a sender may claim, in bytes of UTF-8.
    package static let nameByteCount = 256
    /// The longest line of a gpsd server, in bytes; gpsd's own limit is 10,240.
    package static let reportByteCount = 16 << 10
    /// The longest request line of a gpsd client, in bytes. The protocol has 80; clients of today send more.
    package static let requestByteCount = 1024
    /// The longest `Authorization` header, in bytes.
    package static let authorizationByteCount = 1024
    /// The most parameters of a query or form.
    package static let parameterCount = 100
    /// The largest accuracy in meters: half a meridian.
    package static let accuracyMeters = 2.01e7
}
