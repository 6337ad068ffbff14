import { PaymentRail } from "@agentos/core"
import type { Ports } from "@agentos/server"
import { around } from "./Defects.ts"

/** The longest PAYMENT-REQUIRED that a server with several networks sends, in characters. */
export const CHALLENGE_LENGTH_MAX = 8_144

interface Challenge {
  readonly accepts: ReadonlyArray<{ readonly extra: object }>
}

/** Adds terms on a network that no client of these tests knows, by which the header is as long as it may be. */
const lengthened = (header: string): string => {
  const challenge = JSON.parse(Buffer.from(header, "base64").toString()) as Challenge
  const withName = (name: string): string => {
    const terms = { ...challenge.accepts[0], network: "eip155:1", extra: { name } }
    return JSON.stringify({ ...challenge, accepts: [...challenge.accepts, terms] })
  }
  const bytes = (CHALLENGE_LENGTH_MAX / 4) * 3
  return Buffer.from(withName("x".repeat(bytes - Buffer.byteLength(withName(""))))).toString("base64")
}

/** The real ports, whose challenges are as long as those of a server with many networks. */
export const longestChallenges = (ports: Ports): Ports =>
  around(PaymentRail, (rail) => ({
    ...rail,
    challengeEncoder: (document) => {
      const encode = rail.challengeEncoder(document)
      return (bindings) => lengthened(encode(bindings))
    }
  }))(ports)
