const PATH = "/api/v1/email/mailboxes"
const PHONE_PATH = "/webhooks/twilio/voice"

const TARGET_BYTES = 8_000
const HEADER_BYTES = 28_000
/** Maximum length of a body of a service without a token. */
const BODY_BYTES = 16 * 1024

const base64 = (text: string): string => Buffer.from(text).toString("base64")

const request = (
  target: string,
  headers: ReadonlyArray<string>,
  body: string | Uint8Array = "",
  method = "POST"
): Uint8Array =>
  Buffer.concat([
    Buffer.from([`${method} ${target} HTTP/1.1`, "Host: agentos.test", ...headers, "", ""].join("\r\n")),
    Buffer.from(body)
  ])

const json = (body: string | Uint8Array, ...headers: ReadonlyArray<string>): Uint8Array =>
  request(PATH, ["Content-Type: application/json", `Content-Length: ${Buffer.from(body).length}`, ...headers], body)

const paid = (header: string): Uint8Array =>
  json('{"localPart":"a"}', `PAYMENT-SIGNATURE: ${header}`, "Idempotency-Key: k")

const form = (body: string): Uint8Array =>
  request(
    PHONE_PATH,
    ["Content-Type: application/x-www-form-urlencoded", "X-Twilio-Signature: AAAA", `Content-Length: ${body.length}`],
    body
  )

/** Repeats `part` between `head` and `tail` until the text has the maximum length. */
const filled = (head: string, part: (index: number) => string, tail: string, limitBytes = BODY_BYTES): string => {
  const parts: Array<string> = []
  for (let index = 0, length = head.length + tail.length; ; index++) {
    const next = `${index === 0 ? "" : ","}${part(index)}`
    length += next.length
    if (length > limitBytes) return `${head}${parts.join("")}${tail}`
    parts.push(next)
  }
}

/** The first request of an honest client. */
export const CHALLENGE = json('{"localPart":"a"}')

/** Bodies of `bytes` bytes that are as costly as possible, by their content. */
export const bodiesOf = (bytes: number): Readonly<Record<string, string | Uint8Array>> => ({
  "unknown properties": filled("{", (index) => `"k${index}":0`, "}", bytes),
  "short unknown properties": filled("{", (index) => `"${index.toString(36)}":0`, "}", bytes),
  "long unknown properties": filled("{", (index) => `"${"k".repeat(200)}${index}":0`, "}", bytes),
  "escaped unknown properties": filled("{", (index) => `"\\u006b${index}":0`, "}", bytes),
  "empty arrays": filled('{"localPart":[', () => "[]", "]}", bytes),
  "deep arrays": filled('{"localPart":[', () => `${"[".repeat(7)}${"]".repeat(7)}`, "]}", bytes),
  "very deep arrays": `${"[".repeat(bytes / 2)}${"]".repeat(bytes / 2)}`,
  "unclosed arrays": "[".repeat(bytes),
  numbers: filled('{"localPart":[', () => "0", "]}", bytes),
  "a huge number": `{"localPart":${"9".repeat(bytes - 20)}}`,
  "short strings": filled('{"localPart":[', () => '""', "]}", bytes),
  whitespace: `{"localPart":"a"${" ".repeat(bytes - 20)}}`,
  "a long string": `{"localPart":"${"a".repeat(bytes - 20)}"}`,
  "an escaped string": `{"localPart":"${"\\u0001".repeat(bytes / 6 - 10)}"}`,
  surrogates: `{"localPart":"${"\\ud800".repeat(bytes / 6 - 10)}"}`,
  backslashes: `{"localPart":"${"\\\\".repeat(bytes / 2 - 20)}"}`,
  quotes: `"`.repeat(bytes),
  "a byte order mark": `\uFEFF{"localPart":"a"${" ".repeat(bytes - 30)}}`,
  "invalid UTF-8": Buffer.alloc(bytes, 0xff),
  NULs: Buffer.alloc(bytes)
})

/** Requests that any client can send, as bytes: each as costly as its size allows. */
export const anonymousRequests = (): Readonly<Record<string, Uint8Array>> => ({
  ...Object.fromEntries(Object.entries(bodiesOf(BODY_BYTES)).map(([name, body]) => [name, json(body)])),
  ...Object.fromEntries(Object.entries(bodiesOf(256 * 1024)).map(([name, body]) => [`${name} (256 KiB)`, json(body)])),
  "query parameters": request(`/api/v1?${"a&".repeat(TARGET_BYTES / 2)}`, [], "", "GET"),
  "distinct query parameters": request(
    `/api/v1?${filled("", (index) => `${index}=`, "", TARGET_BYTES).replaceAll(",", "&")}`,
    [],
    "",
    "GET"
  ),
  "escaped query": request(`/api/v1?a=${"%41".repeat(TARGET_BYTES / 3)}`, [], "", "GET"),
  "a long path": request(`/${"a/".repeat(TARGET_BYTES / 2)}`, [], "", "GET"),
  "an escaped path": request(`/api/v1/services/${"%41".repeat(80)}`, [], "", "GET"),
  "many headers": request(
    "/api/v1",
    Array.from({ length: HEADER_BYTES / 7 }, () => "a: b"),
    "",
    "GET"
  ),
  "distinct headers": request(
    "/api/v1",
    Array.from({ length: HEADER_BYTES / 9 }, (_, index) => `h${index}: b`),
    "",
    "GET"
  ),
  "a long header": request("/api/v1", [`a: ${"b".repeat(HEADER_BYTES)}`], "", "GET"),
  cookies: request("/api/v1", [`Cookie: ${"a=b; ".repeat(HEADER_BYTES / 5)}`], "", "GET"),
  "a long token": request(
    "/api/v1/events",
    [`Authorization: Bearer at_v1_${"a".repeat(HEADER_BYTES - 100)}`],
    "",
    "GET"
  ),
  "a payment of noise": paid("A".repeat(16_000)),
  "a payment of unknown properties": paid(base64(filled("{", (index) => `"k${index}":0`, "}", 12_000))),
  "a payment of deep arrays": paid(base64("[".repeat(6_000) + "]".repeat(6_000))),
  "an unpaid form": form(`a=b&`.repeat(4_000)),
  "a form of distinct names": form(filled("", (index) => `k${index}=v`, "", BODY_BYTES).replaceAll(",", "&")),
  "a form of 64 KiB": form(filled("", (index) => `k${index}=v`, "", 64 * 1024).replaceAll(",", "&"))
})

/**
 * A body in one-byte chunks. It is refused by its headers, but Node still parses the chunks that arrive with them, at
 * several microseconds per chunk.
 */
export const TINY_CHUNKS = request(
  PATH,
  ["Content-Type: application/json", "Transfer-Encoding: chunked"],
  `${"1\r\n \r\n".repeat(BODY_BYTES)}0\r\n\r\n`
)
