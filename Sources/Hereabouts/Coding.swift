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
        private enum CodingKeys: String, CodingKey { case bytes }

        /// Decodes the byte form.
        public init(from decoder: any Decoder) throws {
            let container = try decoder.container(keyedBy: CodingKeys.self)
            guard let state = try? Pacer.State(bytes: try container.decode([UInt8].self, forKey: .bytes)) else {
                throw DecodingError.dataCorruptedError(
                    forKey: .bytes, in: container, debugDescription: "not a pacer's state")
            }
            self = state
        }

        /// Encodes the byte form, see `bytes`.
        public func encode(to encoder: any Encoder) throws {
            var container = encoder.container(keyedBy: CodingKeys.self)
            try container.encode(bytes, forKey: .bytes)
        }
    }
#endif
