/** Returns a text of this length. */
export const long = (length: number): string => "x".repeat(length)

/** Invalid changes of a purchase, with the field that the error must name. */
export const WRONG_PURCHASES: ReadonlyArray<readonly [string, object]> = [
  ["agentName", { agentName: undefined }],
  ["agentName", { agentName: "" }],
  ["agentName", { agentName: 7 }],
  ["agentName", { agentName: long(129) }],
  ["agentName", { agentName: "a\u0000b" }],
  ["agentName", { agentName: "a\ud800" }],
  ["agentWebhookUrl", { agentWebhookUrl: undefined }],
  ["agentWebhookUrl", { agentWebhookUrl: null }],
  ["agentWebhookUrl", { agentWebhookUrl: ["https://agent.example/"] }],
  ["agentWebhookUrl", { agentWebhookUrl: `https://agent.example/${long(2_048)}` }],
  ["areaCode", { areaCode: 415 }],
  ["areaCode", { areaCode: "41" }],
  ["areaCode", { areaCode: "4155" }],
  ["areaCode", { areaCode: "４１５" }],
  ["areaCode", { areaCode: "415\n" }],
  ["description", { description: long(1_001) }],
  ["beginMessage", { beginMessage: long(1_001) }],
  ["beginMessage", { beginMessage: "a\u0000" }],
  ["voice", { voice: long(129) }],
  ["language", { language: long(36) }],
  ["language", { language: true }],
  // The language of a number cannot be changed, and every call would fail.
  ["language", { language: "American English" }],
  ["language", { language: "en_US" }],
  ["language", { language: "en-" }],
  ["country", { country: "US" }]
]

/** URLs that an agent may not have, with the expected message. */
export const HIDDEN_ADDRESSES: ReadonlyArray<readonly [address: string, why: RegExp]> = [
  ["http://1.1.1.1/voice", /https/],
  ["ftp://1.1.1.1/voice", /https/],
  ["HTTPS:1.1.1.1", /https/],
  ["https://", /https/],
  ["https://1.1.1.1:65536/", /https/],
  ["https://1.1.1.1:0/", /port that can't be connected to/],
  ["https://user:secret@1.1.1.1/", /user name/],
  ["https://user@1.1.1.1/", /user name/],
  ["https://1.1.1.1:8443/", /must use port 443/],
  ["https://router/", /public internet address/],
  ["https://localhost./", /public internet address/],
  ["https://metadata.google.internal./", /public internet address/],
  ...[
    "localhost",
    "agent.localhost",
    "printer.local",
    "metadata.google.internal",
    "127.0.0.1",
    "127.1",
    "2130706433",
    "0x7f.0.0.1",
    "0177.0.0.1",
    "0.0.0.0",
    "10.0.0.1",
    "172.16.0.1",
    "172.31.255.255",
    "192.168.1.1",
    "100.64.0.1",
    "169.254.169.254",
    "168.63.129.16",
    "198.18.0.1",
    "224.0.0.1",
    "255.255.255.255",
    "[::1]",
    "[::]",
    "[::ffff:127.0.0.1]",
    "[::ffff:a9fe:a9fe]",
    "[64:ff9b::7f00:1]",
    "[2002:7f00:1::]",
    "[fe80::1]",
    "[fd00:ec2::254]",
    "[ff02::1]"
  ].map((host) => [`https://${host}/voice`, /public internet address/] as const)
]

/** Numbers that may not be called. */
export const UNCALLABLE: ReadonlyArray<string> = [
  "4155550150",
  "+04155550150",
  "+1 415 555 0150",
  "+1(415)5550150",
  "+141555",
  "+1415555015000000",
  "+14155550150\n",
  // The parts of a number that can't begin with 0 or 1, service codes, and a number of 7 digits.
  "+14150550150",
  "+14154112671",
  "+14112345678",
  "+13102345",
  // Shown for callers who withheld their number.
  "+266696687",
  "+2562533",
  "+12562533",
  "+7378742833",
  "+86282452253",
  "+10000000000",
  "sip:a@b.example",
  // Emergency numbers, with a plus or in the plan of a country.
  "+911",
  "+1911",
  "+112",
  "+44999",
  "+2710111",
  "+9981122",
  // Premium-rate and unassigned numbers.
  "+19005550123",
  "+14159761234",
  "+14155551212",
  "+449098790000",
  "+447012345678",
  "+881612345678",
  "+97912345678",
  "+10005550123",
  "+999123456789"
]
