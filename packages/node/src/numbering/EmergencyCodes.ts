const codes = `
  000 100 101 102 103 104 105 106 107 108 109 110 111 112 113 114 115 116 117 118 119
  120 121 122 123 124 125 126 127 128 129 131 132 133 140 144 145 147 150 151 155 156 158 159
  160 161 166 177 180 185 190 191 192 193 194 195 196 197 198 199
  15 17 18 061 062 066 080 085 088 091 092 333 442 444 777 911 912 913 917 919 933 988
  990 991 992 993 994 995 996 997 998 999 1122 1414 10111 10177
`

/**
 * The short codes for police, ambulance, fire brigade, coast guard and crisis lines of all countries, including the
 * complete series 100 to 129. One set serves all countries: no plan assigns a subscriber a national number this short,
 * and networks accept several codes (above all 112 and 911) in every country.
 */
export const EMERGENCY_CODES: ReadonlySet<string> = new Set(codes.trim().split(/\s+/))
