// What `dump` and `Mirror` show. Precise positions, times and device keys stay hidden; published values appear in full.
// Embedded Swift has no reflection.
#if !hasFeature(Embedded)
    extension Atlas: CustomReflectable {
        /// Without children.
        public var customMirror: Mirror { Mirror(self, children: [], displayStyle: .struct) }
    }

    extension Coordinate: CustomReflectable {
        /// Without children.
        public var customMirror: Mirror { Mirror(self, children: [], displayStyle: .struct) }
    }

    extension Fix: CustomReflectable {
        /// Without children.
        public var customMirror: Mirror { Mirror(self, children: [], displayStyle: .struct) }
    }

    extension Pacer: CustomReflectable {
        /// Without children.
        public var customMirror: Mirror { Mirror(self, children: [], displayStyle: .struct) }
    }

    extension Pacer.State: CustomReflectable {
        /// Without children.
        public var customMirror: Mirror { Mirror(self, children: [], displayStyle: .struct) }
    }

    extension Fleet: CustomReflectable {
        /// Without children.
        public var customMirror: Mirror { Mirror(self, children: [], displayStyle: .struct) }
    }

    extension ReducedLocation: CustomReflectable {
        /// All members, the center as two numbers.
        public var customMirror: Mirror {
            Mirror(
                self,
                children: [
                    "latitude": coordinate.latitude, "longitude": coordinate.longitude,
                    "horizontalAccuracy": horizontalAccuracy, "region": region, "country": country,
                    "place": place as Any,
                ], displayStyle: .struct)
        }
    }

    extension Atlas.Circle: CustomReflectable {
        /// All members, the center as two numbers.
        public var customMirror: Mirror {
            Mirror(
                self,
                children: [
                    "latitude": coordinate.latitude, "longitude": coordinate.longitude,
                    "horizontalAccuracy": horizontalAccuracy,
                ], displayStyle: .struct)
        }
    }
#endif
