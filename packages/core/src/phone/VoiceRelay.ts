import { Effect, Redacted } from "effect"
import { Base64Url, Hex } from "effect/encoding"
import { Keyring } from "../kernel/Keyring.ts"
import * as Timestamp from "../kernel/Timestamp.ts"

/** An event that a relay reports about the person on the line. */
export type RelayEvent =
  | { readonly _tag: "Said"; readonly text: string }
  /** The person spoke during playback: `spoken` is the part that had been heard by then. */
  | { readonly _tag: "Interrupted"; readonly spoken: string }
  | { readonly _tag: "Pressed"; readonly key: string }
  /** The relay could not carry out a command. */
  | { readonly _tag: "Failed"; readonly why: string }

export type RelayCommand =
  /** Speaks a piece immediately. `isLast` ends the speech; its text is empty if nothing is left to say. */
  | { readonly _tag: "Say"; readonly text: string; readonly isLast: boolean }
  /** Presses keys; `w` waits half a second. */
  | { readonly _tag: "Press"; readonly digits: string }
  /** Ends the session, and with it the call. */
  | { readonly _tag: "End" }

/** Sends a command to the relay. Commands keep their order. */
export type SendToRelay = (command: RelayCommand) => Effect.Effect<void>

/** The secret that admits one socket of the carrier to one call, once; and the hash of it that is stored. */
export interface RelayToken {
  readonly token: Redacted.Redacted<string>
  readonly hash: string
}

/**
 * Makes the token for the next relay of a call, from the hash of the one that was redeemed last. It is the same until it is
 * redeemed: a form of the carrier that is repeated, by the carrier or by others, makes no token invalid.
 */
export const makeToken = Effect.fnUntraced(function* (
  callId: string,
  redeemed: string | null
): Effect.fn.Return<RelayToken, never, Keyring> {
  const { activeKeyId, mac } = yield* Keyring
  // Has a line feed, as no token does: it can't have the MAC of a token.
  const seed = new TextEncoder().encode(`${callId}\n${redeemed ?? ""}`)
  const token = Base64Url.encode(mac(activeKeyId, "relay-token", seed)!)
  return { token: Redacted.make(token), hash: yield* hashToken(token) }
})

/** Returns the stored form of a token, which does not admit to a call. */
export const hashToken = (token: string): Effect.Effect<string, never, Keyring> =>
  Effect.map(Keyring, ({ activeKeyId, mac }) =>
    Hex.encode(mac(activeKeyId, "relay-token", new TextEncoder().encode(token))!)
  )

/** The delays before each relay that replaces a broken one, in seconds. After the last of them, no relay follows. */
const RETRY_DELAYS = [0, 1, 2, 4, 8, 8, 8]
/** A relay that lasts this long after its scheduled opening, in milliseconds, is not counted as a failure. */
const STABLE_AFTER = 10 * Timestamp.SECOND

/** Counts the consecutive failures of each call's relays. */
export interface RelayRetries {
  /**
   * Records that a relay of the call broke. Returns the seconds to wait before the next one is opened, or undefined if
   * too many failed in a row: the cause, for example a voice that the carrier does not have, may fail the next one too.
   */
  readonly next: (callId: string, now: Timestamp.Timestamp) => number | undefined
}

/** Creates the counters in memory: they start again when the server restarts. */
export const makeRetries = (): RelayRetries => {
  /** By call: how many relays failed in a row, and when the next one counts as stable. */
  const broken = new Map<string, { readonly count: number; readonly stableAt: Timestamp.Timestamp }>()
  let cleanedAt = 0
  return {
    next: (callId, now) => {
      // Not on each call: all relays of a server may break at once.
      if (now - cleanedAt >= STABLE_AFTER) {
        for (const [known, { stableAt }] of broken) if (stableAt <= now) broken.delete(known)
        cleanedAt = now
      }
      const last = broken.get(callId)
      const count = last === undefined || last.stableAt <= now ? 0 : last.count
      const delay = RETRY_DELAYS[count]
      const stableAt = Timestamp.add(now, (delay ?? 0) * Timestamp.SECOND + STABLE_AFTER)
      broken.set(callId, { count: count + 1, stableAt })
      return delay
    }
  }
}
