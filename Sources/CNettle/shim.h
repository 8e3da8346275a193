// The part of Nettle that Swift uses: HMAC-SHA256 (RFC 2104, FIPS 180-4), SHA-256, and comparison in constant time.
#ifndef HEREABOUTS_CNETTLE_SHIM_H
#define HEREABOUTS_CNETTLE_SHIM_H

#include <nettle/hmac.h>
#include <nettle/memops.h>
#include <nettle/sha2.h>
#include <nettle/version.h>

#endif
