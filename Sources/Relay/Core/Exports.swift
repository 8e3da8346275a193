// Who uses the relay uses its configuration.
@_exported public import RelaySetup
