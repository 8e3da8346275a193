import NIOSSL

extension NIOTLSCipher {
    /// The suites of TLS 1.2 whose traffic no later loss of a key opens, and that authenticate what they encrypt. Those of 1.3
    /// all do, and are not chosen.
    package static let forwardSecret: [NIOTLSCipher] = [
        .TLS_ECDHE_ECDSA_WITH_AES_128_GCM_SHA256, .TLS_ECDHE_ECDSA_WITH_AES_256_GCM_SHA384,
        .TLS_ECDHE_ECDSA_WITH_CHACHA20_POLY1305_SHA256, .TLS_ECDHE_RSA_WITH_AES_128_GCM_SHA256,
        .TLS_ECDHE_RSA_WITH_AES_256_GCM_SHA384, .TLS_ECDHE_RSA_WITH_CHACHA20_POLY1305_SHA256,
    ]
}
