/// A well-known point on one side of a border.
struct BorderPoint: Sendable {
    /// The border or the place it belongs to.
    var border: String
    var name: String
    var country: CountryCode
    var latitude: Double
    var longitude: Double
    /// How far the border is, at least, in meters.
    var clearance: Double

    init(_ name: String, _ country: String, _ latitude: Double, _ longitude: Double, clearance: Double = 100) {
        (self.border, self.name, self.country) = ("", name, CountryCode(country))
        (self.latitude, self.longitude, self.clearance) = (latitude, longitude, clearance)
    }

    /// Points on either side of borders, by border. Those of Baarle's smaller parcels are as far from the border as
    /// can be.
    static let all: [BorderPoint] = table.flatMap { border, points in
        points.map { point in
            var point = point
            point.border = border
            return point
        }
    }

    private static let table: [(String, [BorderPoint])] = [
        (
            "Detroit and Windsor",
            [
                BorderPoint("Detroit, Campus Martius", "US", 42.33165, -83.04660),
                BorderPoint("Windsor, Ouellette Avenue", "CA", 42.31700, -83.03900),
                BorderPoint("Detroit, Hart Plaza", "US", 42.32760, -83.04480),
                BorderPoint("Windsor, Dieppe Gardens", "CA", 42.32060, -83.03950),
                BorderPoint("Belle Isle", "US", 42.34250, -82.97500),
                BorderPoint("Sandwich", "CA", 42.30000, -83.07600),
            ]
        ),
        (
            "Niagara Falls",
            [
                BorderPoint("Prospect Park", "US", 43.08600, -79.06700),
                BorderPoint("Clifton Hill", "CA", 43.09130, -79.07450),
                BorderPoint("Goat Island", "US", 43.08000, -79.07000),
                BorderPoint("Table Rock", "CA", 43.07920, -79.07900),
            ]
        ),
        (
            "San Ysidro and Tijuana",
            [
                BorderPoint("San Ysidro", "US", 32.55200, -117.04400),
                BorderPoint("Tijuana, Avenida Revolución", "MX", 32.53300, -117.03700),
                BorderPoint("Otay Mesa", "US", 32.55600, -116.94000),
                BorderPoint("Tijuana airport", "MX", 32.53900, -116.97000),
                BorderPoint("Playas de Tijuana", "MX", 32.52900, -117.12200),
                BorderPoint("Border Field", "US", 32.54200, -117.12000),
            ]
        ),
        (
            "El Paso and Juárez",
            [
                BorderPoint("San Jacinto Plaza", "US", 31.75920, -106.48880),
                BorderPoint("Juárez cathedral", "MX", 31.73830, -106.48720),
                BorderPoint("Chamizal park, Juárez", "MX", 31.75200, -106.46200),
                BorderPoint("Sunland Park", "US", 31.79650, -106.58000),
                BorderPoint("Anapra", "MX", 31.77600, -106.56000),
            ]
        ),
        (
            "Basel",
            [
                BorderPoint("Marktplatz", "CH", 47.55810, 7.58780),
                BorderPoint("Kleinhüningen", "CH", 47.58200, 7.59500),
                BorderPoint("Weil am Rhein", "DE", 47.59500, 7.61300),
                BorderPoint("Huningue", "FR", 47.59200, 7.58200),
                BorderPoint("Saint-Louis", "FR", 47.58800, 7.56200),
                BorderPoint("Lörrach", "DE", 47.61300, 7.66100),
                BorderPoint("Riehen", "CH", 47.58400, 7.65000),
                BorderPoint("Basel airport", "FR", 47.59800, 7.52600),
            ]
        ),
        (
            "Geneva",
            [
                BorderPoint("Cornavin", "CH", 46.21020, 6.14240),
                BorderPoint("Annemasse", "FR", 46.19400, 6.23600),
                BorderPoint("Ferney-Voltaire", "FR", 46.25600, 6.10900),
                BorderPoint("Geneva airport", "CH", 46.23100, 6.10900),
                BorderPoint("Saint-Julien-en-Genevois", "FR", 46.14400, 6.08200),
                BorderPoint("Meyrin", "CH", 46.23400, 6.08000),
                BorderPoint("Gaillard", "FR", 46.18500, 6.20800),
            ]
        ),
        (
            "Strasbourg and Kehl",
            [
                BorderPoint("Strasbourg cathedral", "FR", 48.58190, 7.75100),
                BorderPoint("Kehl station", "DE", 48.57580, 7.80850),
                BorderPoint("Port du Rhin", "FR", 48.57300, 7.79600),
                BorderPoint("Kehl, Marktplatz", "DE", 48.57300, 7.81500),
            ]
        ),
        (
            "Aachen and Vaals",
            [
                BorderPoint("Aachen cathedral", "DE", 50.77470, 6.08390),
                BorderPoint("Vaals, Maastrichterlaan", "NL", 50.77000, 6.01500),
                BorderPoint("Gemmenich", "BE", 50.74600, 5.99500),
                BorderPoint("Vaalserquartier", "DE", 50.77100, 6.03300),
                BorderPoint("Kelmis", "BE", 50.71500, 6.01000),
                BorderPoint("below the tripoint", "NL", 50.75800, 6.01700),
            ]
        ),
        (
            "Baarle",
            [
                BorderPoint("Zondereigen", "BE", 51.39600, 4.95800),
                BorderPoint("Castelré", "NL", 51.42200, 4.77600),
                BorderPoint("Ulicoten", "NL", 51.45200, 4.86000),
                BorderPoint("Baarle-Hertog, the village's large enclave", "BE", 51.43625, 4.92691),
                BorderPoint("Baarle-Hertog, the north-eastern enclave", "BE", 51.44870, 4.93904),
                BorderPoint("Baarle-Nassau, east of the village", "NL", 51.44300, 4.95500),
                BorderPoint("Baarle-Nassau, west of the village", "NL", 51.44600, 4.90500),
                BorderPoint("the southern enclave", "BE", 51.40736, 4.93401),
                BorderPoint("NL inside an enclave, 5.3 ha", "NL", 51.43890, 4.92342, clearance: 70),
                BorderPoint("NL inside an enclave, 1.4 ha", "NL", 51.43946, 4.93161, clearance: 48),
                BorderPoint("NL inside the southern enclave, 2.8 ha", "NL", 51.41193, 4.87075, clearance: 48),
                BorderPoint("an enclave of 4.4 ha", "BE", 51.44461, 4.94712, clearance: 48),
                BorderPoint("an enclave of 2.9 ha", "BE", 51.42402, 4.89112, clearance: 48),
                BorderPoint("an enclave of 1.5 ha", "BE", 51.44950, 4.93061, clearance: 48),
            ]
        ),
        (
            "Büsingen",
            [
                BorderPoint("Büsingen", "DE", 47.69700, 8.69000),
                BorderPoint("Schaffhausen", "CH", 47.69700, 8.63500),
                BorderPoint("Dörflingen", "CH", 47.70600, 8.72400),
                BorderPoint("Gailingen", "DE", 47.69500, 8.75600),
            ]
        ),
        (
            "Campione",
            [
                BorderPoint("Campione d'Italia", "IT", 45.96900, 8.97000),
                BorderPoint("Lugano", "CH", 46.00400, 8.95100),
                BorderPoint("Bissone", "CH", 45.95300, 8.96700),
                BorderPoint("Lanzo d'Intelvi", "IT", 45.98200, 9.02200),
            ]
        ),
        (
            "Llívia",
            [
                BorderPoint("Llívia", "ES", 42.46450, 1.98000),
                BorderPoint("Puigcerdà", "ES", 42.43170, 1.92830),
                BorderPoint("Bourg-Madame", "FR", 42.43600, 1.94400),
                BorderPoint("Saillagouse", "FR", 42.45900, 2.03800),
                BorderPoint("Estavar", "FR", 42.46900, 1.99900),
            ]
        ),
        (
            "Ceuta",
            [
                BorderPoint("Ceuta", "ES", 35.88900, -5.31600),
                BorderPoint("Fnideq", "MA", 35.84800, -5.35500),
                BorderPoint("Belyounech", "MA", 35.90500, -5.39500),
                BorderPoint("El Príncipe", "ES", 35.87700, -5.34300),
            ]
        ),
        (
            "Melilla",
            [
                BorderPoint("Melilla", "ES", 35.29300, -2.93800),
                BorderPoint("Beni Ensar", "MA", 35.26300, -2.93200),
                BorderPoint("Farkhana", "MA", 35.28900, -2.98000),
            ]
        ),
        (
            "Gibraltar",
            [
                BorderPoint("Casemates Square", "GI", 36.14500, -5.35300),
                BorderPoint("La Línea", "ES", 36.16500, -5.34800),
                BorderPoint("Europa Point", "GI", 36.11000, -5.34600),
                BorderPoint("Algeciras", "ES", 36.13000, -5.45000),
            ]
        ),
        (
            "Monaco",
            [
                BorderPoint("Casino", "MC", 43.73930, 7.42800),
                BorderPoint("Cap-d'Ail", "FR", 43.72200, 7.40700),
                BorderPoint("La Turbie", "FR", 43.74540, 7.40100),
                BorderPoint("Fontvieille", "MC", 43.72800, 7.41500),
                BorderPoint("Roquebrune-Cap-Martin", "FR", 43.76000, 7.46400),
            ]
        ),
        (
            "Vatican",
            [
                BorderPoint("Saint Peter's dome", "VA", 41.90220, 12.45330),
                BorderPoint("Vatican gardens", "VA", 41.90360, 12.45150),
                BorderPoint("Castel Sant'Angelo", "IT", 41.90310, 12.46630),
                BorderPoint("Gianicolo", "IT", 41.89150, 12.46100),
            ]
        ),
        (
            "San Marino",
            [
                BorderPoint("San Marino", "SM", 43.93560, 12.44730),
                BorderPoint("Serravalle", "SM", 43.97200, 12.48500),
                BorderPoint("Rimini", "IT", 44.06000, 12.56500),
                BorderPoint("Verucchio", "IT", 43.98300, 12.42200),
            ]
        ),
        (
            "Singapore and Johor Bahru",
            [
                BorderPoint("Woodlands", "SG", 1.43700, 103.78600),
                BorderPoint("Johor Bahru Sentral", "MY", 1.46260, 103.76400),
                BorderPoint("Sembawang", "SG", 1.44900, 103.82000),
                BorderPoint("Pasir Gudang", "MY", 1.47000, 103.90500),
                BorderPoint("Pulau Ubin", "SG", 1.40900, 103.96000),
            ]
        ),
        (
            "Hong Kong and Shenzhen",
            [
                BorderPoint("Sheung Shui", "HK", 22.50100, 114.12800),
                BorderPoint("Luohu, Renmin South Road", "CN", 22.54000, 114.12000),
                BorderPoint("Futian", "CN", 22.53000, 114.05500),
                BorderPoint("Lok Ma Chau village", "HK", 22.51000, 114.08000),
                BorderPoint("Shekou", "CN", 22.48500, 113.91500),
                BorderPoint("Central", "HK", 22.28200, 114.15800),
            ]
        ),
        (
            "Macau and Zhuhai",
            [
                BorderPoint("Senado Square", "MO", 22.19360, 113.53970),
                BorderPoint("Gongbei", "CN", 22.22300, 113.54800),
                BorderPoint("Cotai", "MO", 22.14800, 113.56200),
                BorderPoint("Hengqin", "CN", 22.12500, 113.53000),
                BorderPoint("Coloane", "MO", 22.11700, 113.55400),
            ]
        ),
        (
            "Narva and Ivangorod",
            [
                BorderPoint("Narva town hall", "EE", 59.38000, 28.19000),
                BorderPoint("Ivangorod", "RU", 59.37500, 28.21500),
                BorderPoint("Narva-Jõesuu", "EE", 59.45800, 28.03500),
            ]
        ),
        (
            "Tornio and Haparanda",
            [
                BorderPoint("Tornio", "FI", 65.84800, 24.14700),
                BorderPoint("Haparanda", "SE", 65.83550, 24.13000),
                BorderPoint("Kemi", "FI", 65.73600, 24.56400),
                BorderPoint("Övertorneå", "SE", 66.38800, 23.65500),
                BorderPoint("Ylitornio", "FI", 66.31800, 23.67500),
            ]
        ),
        (
            "Gorizia and Nova Gorica",
            [
                BorderPoint("Gorizia castle", "IT", 45.94400, 13.62800),
                BorderPoint("Nova Gorica", "SI", 45.95600, 13.64400),
                BorderPoint("Šempeter", "SI", 45.92700, 13.63900),
                BorderPoint("Gorizia station", "IT", 45.93200, 13.60800),
            ]
        ),
        (
            "Kinshasa and Brazzaville",
            [
                BorderPoint("Kinshasa, Gombe", "CD", -4.30900, 15.30400),
                BorderPoint("Brazzaville, Poto-Poto", "CG", -4.26300, 15.28700),
                BorderPoint("Brazzaville airport", "CG", -4.25200, 15.25300),
                BorderPoint("Kinshasa, Ngaliema", "CD", -4.33000, 15.25000),
            ]
        ),
        (
            "Victoria Falls",
            [
                BorderPoint("Victoria Falls town", "ZW", -17.93200, 25.83000),
                BorderPoint("Livingstone", "ZM", -17.84900, 25.85400),
                BorderPoint("Kasane", "BW", -17.80000, 25.15000),
                BorderPoint("Kazungula", "ZM", -17.77600, 25.28500),
                BorderPoint("Katima Mulilo", "NA", -17.50500, 24.27500),
            ]
        ),
        (
            "Iguazú",
            [
                BorderPoint("Puerto Iguazú", "AR", -25.60000, -54.57500),
                BorderPoint("Foz do Iguaçu", "BR", -25.54700, -54.58700),
                BorderPoint("Ciudad del Este", "PY", -25.51000, -54.61500),
                BorderPoint("Presidente Franco", "PY", -25.56300, -54.61200),
                BorderPoint("Vila Portes", "BR", -25.50700, -54.58900),
            ]
        ),
        (
            "Leticia and Tabatinga",
            [
                BorderPoint("Leticia", "CO", -4.21500, -69.94300),
                BorderPoint("Tabatinga", "BR", -4.24100, -69.93800),
                BorderPoint("Santa Rosa", "PE", -4.21900, -69.95900),
                BorderPoint("Benjamin Constant", "BR", -4.38000, -70.03100),
            ]
        ),
        (
            "Kosovo and Serbia",
            [
                BorderPoint("Pristina", "XK", 42.66300, 21.16500),
                BorderPoint("Mitrovica", "XK", 42.89000, 20.86700),
                BorderPoint("Raška", "RS", 43.28800, 20.61500),
                BorderPoint("Kuršumlija", "RS", 43.13800, 21.27000),
                BorderPoint("Kumanovo", "MK", 42.13200, 21.71500),
            ]
        ),
        (
            "Northern Vietnam",
            [
                BorderPoint("Hanoi", "VN", 21.02800, 105.85200),
                BorderPoint("Lào Cai station", "VN", 22.49500, 103.97200),
                BorderPoint("Móng Cái", "VN", 21.52500, 107.96600),
                BorderPoint("Dongxing", "CN", 21.54800, 107.97200),
                BorderPoint("Lạng Sơn", "VN", 21.85300, 106.76100),
                BorderPoint("Pingxiang", "CN", 22.09500, 106.76500),
            ]
        ),
        (
            "Liechtenstein",
            [
                BorderPoint("Vaduz", "LI", 47.14100, 9.52100),
                BorderPoint("Buchs", "CH", 47.16700, 9.47800),
                BorderPoint("Feldkirch", "AT", 47.23700, 9.59800),
                BorderPoint("Schaan", "LI", 47.16500, 9.50900),
            ]
        ),
        (
            "Rafah",
            [
                BorderPoint("Rafah", "PS", 31.29600, 34.24800),
                BorderPoint("Egyptian Rafah", "EG", 31.28000, 34.22500),
                BorderPoint("Kerem Shalom", "IL", 31.22900, 34.28400),
            ]
        ),
        (
            "Blagoveshchensk and Heihe",
            [
                BorderPoint("Blagoveshchensk", "RU", 50.26500, 127.53200),
                BorderPoint("Heihe", "CN", 50.24200, 127.50000),
            ]
        ),
        (
            "Point Roberts",
            [
                BorderPoint("Point Roberts", "US", 48.98500, -123.06500),
                BorderPoint("Tsawwassen", "CA", 49.01500, -123.06800),
                BorderPoint("Blaine", "US", 48.99100, -122.74600),
                BorderPoint("White Rock", "CA", 49.02500, -122.80300),
            ]
        ),
        (
            "Kaliningrad",
            [
                BorderPoint("Kaliningrad", "RU", 54.71000, 20.51000),
                BorderPoint("Sovetsk", "RU", 55.07700, 21.88500),
                BorderPoint("Panemunė", "LT", 55.09300, 21.90400),
                BorderPoint("Bartoszyce", "PL", 54.25300, 20.80800),
                BorderPoint("Nida", "LT", 55.30600, 21.00400),
            ]
        ),
        (
            "Cabinda",
            [
                BorderPoint("Cabinda", "AO", -5.56000, 12.19000),
                BorderPoint("Pointe-Noire", "CG", -4.79800, 11.85000),
                BorderPoint("Moanda", "CD", -5.93000, 12.35500),
            ]
        ),
        (
            "Brest and Terespol",
            [
                BorderPoint("Brest", "BY", 52.09400, 23.69000),
                BorderPoint("Terespol", "PL", 52.07600, 23.61600),
            ]
        ),
        (
            "Lesotho",
            [
                BorderPoint("Maseru", "LS", -29.31600, 27.48600),
                BorderPoint("Ladybrand", "ZA", -29.19400, 27.45600),
            ]
        ),
        (
            "Andorra",
            [
                BorderPoint("Andorra la Vella", "AD", 42.50700, 1.52200),
                BorderPoint("La Seu d'Urgell", "ES", 42.35800, 1.46100),
                BorderPoint("Pas de la Casa", "AD", 42.54400, 1.73000),
                BorderPoint("L'Hospitalet-près-l'Andorre", "FR", 42.58900, 1.79700),
            ]
        ),
        (
            "Słubice and Frankfurt",
            [
                BorderPoint("Frankfurt (Oder)", "DE", 52.34600, 14.55000),
                BorderPoint("Słubice", "PL", 52.35000, 14.56300),
            ]
        ),
        (
            "Görlitz and Zgorzelec",
            [
                BorderPoint("Görlitz", "DE", 51.15500, 14.98700),
                BorderPoint("Zgorzelec", "PL", 51.15000, 15.00800),
            ]
        ),
        (
            "Komárno and Komárom",
            [
                BorderPoint("Komárno", "SK", 47.76000, 18.12900),
                BorderPoint("Komárom", "HU", 47.74000, 18.12400),
            ]
        ),
        (
            "Ruse and Giurgiu",
            [
                BorderPoint("Ruse", "BG", 43.84900, 25.95500),
                BorderPoint("Giurgiu", "RO", 43.89600, 25.97000),
            ]
        ),
        (
            "Derry",
            [
                BorderPoint("Derry", "GB", 54.99700, -7.32000),
                BorderPoint("Bridgend, Donegal", "IE", 55.04600, -7.37500),
            ]
        ),
        (
            "Newry",
            [
                BorderPoint("Newry", "GB", 54.17600, -6.34000),
                BorderPoint("Dundalk", "IE", 54.00500, -6.40300),
            ]
        ),
        (
            "Saint Martin",
            [
                BorderPoint("Marigot", "MF", 18.06800, -63.08200),
                BorderPoint("Philipsburg", "SX", 18.02700, -63.04600),
            ]
        ),
        (
            "Hispaniola",
            [
                BorderPoint("Dajabón", "DO", 19.54900, -71.70600),
                BorderPoint("Ouanaminthe", "HT", 19.54700, -71.72700),
            ]
        ),
        (
            "Aqaba and Eilat",
            [
                BorderPoint("Aqaba", "JO", 29.52700, 35.00500),
                BorderPoint("Eilat", "IL", 29.55800, 34.94800),
                BorderPoint("Taba", "EG", 29.48300, 34.88800),
            ]
        ),
        (
            "Wagah",
            [
                BorderPoint("Amritsar", "IN", 31.63400, 74.87200),
                BorderPoint("Lahore", "PK", 31.55800, 74.35000),
            ]
        ),
        (
            "Nepal",
            [
                BorderPoint("Birgunj", "NP", 27.01200, 84.87700),
                BorderPoint("Raxaul", "IN", 26.98000, 84.84500),
            ]
        ),
        (
            "Mekong",
            [
                BorderPoint("Nong Khai", "TH", 17.87900, 102.74200),
                BorderPoint("Vientiane", "LA", 17.96600, 102.60600),
            ]
        ),
        (
            "Padang Besar",
            [
                BorderPoint("Padang Besar, Perlis", "MY", 6.66000, 100.31600),
                BorderPoint("Padang Besar, Songkhla", "TH", 6.67500, 100.31500),
            ]
        ),
        (
            "Lomé and Aflao",
            [
                BorderPoint("Lomé", "TG", 6.12800, 1.22200),
                BorderPoint("Aflao", "GH", 6.11900, 1.18600),
            ]
        ),
        (
            "Bangui and Zongo",
            [
                BorderPoint("Bangui", "CF", 4.36600, 18.58200),
                BorderPoint("Zongo", "CD", 4.34300, 18.59500),
            ]
        ),
        (
            "N'Djamena and Kousséri",
            [
                BorderPoint("N'Djamena", "TD", 12.11000, 15.04500),
                BorderPoint("Kousséri", "CM", 12.07800, 15.03100),
            ]
        ),
        (
            "Gisenyi and Goma",
            [
                BorderPoint("Goma", "CD", -1.67900, 29.22800),
                BorderPoint("Gisenyi", "RW", -1.70200, 29.25700),
            ]
        ),
        (
            "Rivera and Livramento",
            [
                BorderPoint("Rivera", "UY", -30.90500, -55.55000),
                BorderPoint("Santana do Livramento", "BR", -30.88600, -55.53300),
            ]
        ),
        (
            "Kyrgyz enclaves",
            [
                BorderPoint("Osh", "KG", 40.51400, 72.81600),
                BorderPoint("Sokh", "UZ", 39.96000, 71.13000),
                BorderPoint("Vorukh", "TJ", 39.84500, 70.56800),
            ]
        ),
        (
            "Musandam",
            [
                BorderPoint("Khasab", "OM", 26.18000, 56.24700),
                BorderPoint("Madha", "OM", 25.28500, 56.33300),
                BorderPoint("Fujairah", "AE", 25.12800, 56.33600),
                BorderPoint("Nahwa", "AE", 25.27100, 56.27400),
            ]
        ),
        (
            "Nicosia",
            [
                BorderPoint("Nicosia, Eleftheria Square", "CY", 35.16950, 33.36100)
            ]
        ),
        (
            "Greenland and Canada",
            [
                BorderPoint("Nuuk", "GL", 64.17500, -51.73800),
                BorderPoint("Iqaluit", "CA", 63.74700, -68.51700),
            ]
        ),
        (
            "Bering Strait",
            [
                BorderPoint("Little Diomede", "US", 65.75800, -168.95300),
                BorderPoint("Big Diomede", "RU", 65.78000, -169.06000),
            ]
        ),
        (
            "Saint-Pierre",
            [
                BorderPoint("Saint-Pierre", "PM", 46.77900, -56.17700),
                BorderPoint("Fortune", "CA", 47.07400, -55.82200),
            ]
        ),
    ]
}
