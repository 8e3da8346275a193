// Coding of what may be stored or published. `Coordinate` and `Fix` are left out on purpose: no encoder meets a precise
// position by accident. Embedded Swift has no `Codable`.
#if !hasFeature(Embedded)
    extension RegionID: Codable {
        /// Decodes the text form, with or without the letter `r`.
        public init(from decoder: any Decoder) throws {
            let container = try decoder.singleValueContainer()
            guard let id = RegionID(try container.decode(String.self)) else {
                throw DecodingError.dataCorruptedError(in: container, debugDescription: "not a region's identifier")
            }
            self = id
        }

        /// Encodes the text form.
        public func encode(to encoder: any Encoder) throws {
            var container = encoder.singleValueContainer()
            try container.encode(description)
        }
    }

    extension Country: Codable {
        /// Decodes a code of 1 to 8 bytes.
        public init(from decoder: any Decoder) throws {
            let container = try decoder.singleValueContainer()
            let code = try container.decode(String.self)
            guard (1...8).contains(code.utf8.count) else {
                throw DecodingError.dataCorruptedError(in: container, debugDescription: "not a country's code")
            }
            self.init(code: code)
        }

        /// Encodes the code.
        public func encode(to encoder: any Encoder) throws {
            var container = encoder.singleValueContainer()
            try container.encode(code)
        }
    }

    extension Timestamp: Codable {
        /// Decodes nanoseconds since 1970.
        public init(from decoder: any Decoder) throws {
            self.init(nanosecondsSince1970: try decoder.singleValueContainer().decode(Int64.self))
        }

        /// Encodes nanoseconds since 1970, an integer beyond the 53 bits that JavaScript has.
        public func encode(to encoder: any Encoder) throws {
            var container = encoder.singleValueContainer()
            try container.encode(nanosecondsSince1970)
        }
    }

    extension ReducedLocation: Codable {
        private enum CodingKeys: String, CodingKey {
            case latitude, longitude, horizontalAccuracy, region, country, place
        }

        /// Decodes the members; the center is `latitude` and `longitude` in degrees.
        public init(from decoder: any Decoder) throws {
            let container = try decoder.container(keyedBy: CodingKeys.self)
            self.init(
                coordinate: Coordinate(
                    latitude: try container.decode(Double.self, forKey: .latitude),
                    longitude: try container.decode(Double.self, forKey: .longitude)),
                horizontalAccuracy: try container.decode(Double.self, forKey: .horizontalAccuracy),
                region: try container.decode(RegionID.self, forKey: .region),
                country: try container.decode(Country.self, forKey: .country),
                place: try container.decodeIfPresent(Place.self, forKey: .place))
        }

        /// Encodes the members; the center as `latitude` and `longitude` in degrees.
        public func encode(to encoder: any Encoder) throws {
            var container = encoder.container(keyedBy: CodingKeys.self)
            try container.encode(coordinate.latitude, forKey: .latitude)
            try container.encode(coordinate.longitude, forKey: .longitude)
            try container.encode(horizontalAccuracy, forKey: .horizontalAccuracy)
            try container.encode(region, forKey: .region)
            try container.encode(country, forKey: .country)
            try container.encodeIfPresent(place, forKey: .place)
        }
    }

    extension Pacer.State: Codable {
        private enum CodingKeys: String, CodingKey { case tick, region, isContested, isSettled, standing, seconds }

        /// Decodes the members; refuses more regions than a pacer remembers, or one that stood twice or not at all.
        public init(from decoder: any Decoder) throws {
            let container = try decoder.container(keyedBy: CodingKeys.self)
            let regions = try container.decode([RegionID].self, forKey: .standing)
            let seconds = try container.decode([UInt32].self, forKey: .seconds)
            let standing = zip(regions, seconds).map { Standing(region: $0, seconds: $1) }
            guard regions.count == seconds.count, Self.isConsistent(standing) else {
                throw DecodingError.dataCorruptedError(
                    forKey: .standing, in: container, debugDescription: "not what a pacer remembers")
            }
            self.init(
                tick: try container.decode(Timestamp.self, forKey: .tick),
                region: try container.decodeIfPresent(RegionID.self, forKey: .region),
                isContested: try container.decode(Bool.self, forKey: .isContested),
                isSettled: try container.decode(Bool.self, forKey: .isSettled), standing: standing)
        }

        /// Encodes the members. For the compact form with a checksum, see `bytes`.
        public func encode(to encoder: any Encoder) throws {
            var container = encoder.container(keyedBy: CodingKeys.self)
            try container.encode(tick, forKey: .tick)
            try container.encodeIfPresent(region, forKey: .region)
            try container.encode(isContested, forKey: .isContested)
            try container.encode(isSettled, forKey: .isSettled)
            try container.encode(standing.map(\.region), forKey: .standing)
            try container.encode(standing.map(\.seconds), forKey: .seconds)
        }
    }
#endif
