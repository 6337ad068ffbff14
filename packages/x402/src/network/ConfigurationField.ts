import { Schema } from "effect"

/** A whole number between two bounds, both included. */
export const between = (minimum: number, maximum: number) => Schema.Int.check(Schema.isBetween({ minimum, maximum }))

/** An amount of USDT. */
export const DecimalPrice = Schema.String.check(
  Schema.isPattern(/^\d{1,12}(\.\d{1,6})?$/, { expected: "a price, for example 5.00" })
)

export const HttpUrl = Schema.String.check(Schema.isPattern(/^https?:\/\/[^\s/]/, { expected: "an http or https URL" }))

/** A valid header value, checked here because the error of `fetch` would contain a value that it rejects. */
export const HeaderValue = Schema.String.check(
  Schema.isPattern(/^[!-~]([ -~]*[!-~])?$/, { expected: "printable ASCII without space at its ends" })
)

/** The order of secp256k1's group. */
const CURVE_ORDER = 0xfffffffffffffffffffffffffffffffebaaedce6af48a03bbfd25e8cd0364141n

/** A private key of an account: `0x` and 64 digits, within the range of the curve. Errors never contain the key. */
export const PrivateKey = Schema.RedactedFromValue(
  Schema.TemplateLiteral(["0x", Schema.String]).check(
    Schema.makeFilter((text) => /^0x[0-9a-fA-F]{64}$/.test(text) && BigInt(text) > 0n && BigInt(text) < CURVE_ORDER, {
      expected: "a private key: 0x and 64 hexadecimal digits"
    })
  )
)
