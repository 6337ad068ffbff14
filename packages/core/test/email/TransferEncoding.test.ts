import { makeDecoder, type TransferEncoding } from "@agentos/core/transfer-encoding"
import { assert, describe, it } from "@effect/vitest"

/** Returns the decoded text of bytes that arrive in pieces of this size. */
const decoded = (encoding: TransferEncoding, encoded: string, pieceBytes: number): string => {
  const decoder = makeDecoder(encoding)
  const bytes = Buffer.from(encoded, "latin1")
  const pieces: Array<Uint8Array> = []
  for (let at = 0; at < bytes.length; at += pieceBytes) pieces.push(decoder.decode(bytes.subarray(at, at + pieceBytes)))
  return Buffer.concat([...pieces, decoder.end()]).toString("latin1")
}

const CASES: ReadonlyArray<readonly [TransferEncoding, string, string]> = [
  ["identity", "a=3D\r\n", "a=3D\r\n"],
  ["base64", "", ""],
  ["base64", "SGVs\r\nbG8gd29ybGQ=\r\n", "Hello world"],
  ["base64", "SGVs bG8*", "Hello"],
  ["base64", "SGU=bGxv", "Hello"],
  ["base64", "SGVsbG", "Hell"],
  ["quoted-printable", "a=3Db=3dc", "a=b=c"],
  ["quoted-printable", "soft=\r\n break=\nends", "soft breakends"],
  ["quoted-printable", "=E4=F6\r\n\r\n", "\xe4\xf6\r\n\r\n"],
  ["quoted-printable", "not=zz =4z =", "not=zz =4z "],
  ["quoted-printable", "==3D=\rx", "===\rx"],
  ["quoted-printable", "soft= \t\r\n break=\t\nends= no", "soft breakends= no"],
  ["quoted-printable", `long=${" ".repeat(80)}\n`, `long=${" ".repeat(80)}\n`],
  ["quoted-printable", "= =41=\r =42", "= A=\r B"],
  ["quoted-printable", "cut=4", "cut=4"],
  ["quoted-printable", "=3", "=3"]
]

describe("a transfer encoding", () => {
  it("is decoded to the same bytes, whatever the size of the pieces", () => {
    for (const [encoding, encoded, text] of CASES) {
      for (const size of [1, 2, 3, 5, 1_000]) {
        assert.strictEqual(decoded(encoding, encoded, size), text, `${encoding} ${JSON.stringify(encoded)} by ${size}`)
      }
    }
  })
})
