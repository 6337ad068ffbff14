import { OperationStep } from "@agentos/core"
import { Arbitrary, Schema } from "effect"
import { STORE_FAULTS } from "../../support/SimulatedServer.ts"
import {
  MAIL_FAULTS,
  REFUND_FAULTS,
  SETTLE_FAULTS,
  SIMULATE_FAULTS,
  VERIFY_FAULTS
} from "../../support/SimulatedWorld.ts"

const upTo = (maximum: number) => Schema.Int.check(Schema.isBetween({ minimum: 0, maximum }))
const Server = upTo(1)
/** Selects one of the purchases, 0 being the latest. Numbers beyond the first purchase select none. */
const Chosen = upTo(4)
/** Number of calls that a fault affects; 0 affects all until the faults are lifted. */
const Times = Schema.Literals([1, 1, 2, 0])

const Buy = Schema.TaggedStruct("Buy", {
  wallet: upTo(2),
  goods: Schema.Literals(["create", "create", "send", "send", "send", "send", "update", "delete"]),
  /** Selects the requested name or the mailbox. */
  choice: upTo(2),
  server: Server,
  /** Number of concurrent copies of the same request, sent alternately to the two servers. */
  copies: Schema.Literals([1, 1, 2, 3]),
  /**
   * What happens to the purchase right after it is sent: a third party submits the authorization, or its owner cancels
   * it; `unread` does so after the claim and before the nonce is read, since the server is killed in between; its
   * mailbox is deleted; its mail is rejected; its mail is scheduled, and canceled at both servers at once; or the relay is unavailable for longer than mail is retried.
   */
  fate: Schema.Literals([
    "none",
    "none",
    "none",
    "none",
    "none",
    "none",
    "transfer",
    "cancel",
    "unread transfer",
    "unread cancel",
    "unread cancel",
    "deletion",
    "deletion",
    "cancellation",
    "cancellation",
    "rejection",
    "rejection",
    "long silence",
    "long silence"
  ])
})
const Retry = Schema.TaggedStruct("Retry", {
  purchase: Chosen,
  server: Server,
  /** Whether the server admits the request. It does not while the service is unavailable, for example. */
  isAdmitted: Schema.Literals([true, true, true, false])
})
const Advance = Schema.TaggedStruct("Advance", { millis: Schema.Literals([300, 1_000, 4_000, 9_000, 16_000, 40_000]) })
/** No action; only the time that each command takes. */
const Wait = Schema.TaggedStruct("Wait", {})
const Kill = Schema.TaggedStruct("Kill", { server: Server })
const KillAt = Schema.TaggedStruct("KillAt", { server: Server, step: OperationStep, skip: upTo(1) })
const Start = Schema.TaggedStruct("Start", { server: Server })
const SettleFault = Schema.TaggedStruct("SettleFault", { mode: Schema.Literals(SETTLE_FAULTS), times: Times })
const MailFault = Schema.TaggedStruct("MailFault", { mode: Schema.Literals(MAIL_FAULTS), times: Times })

/** All commands. Likely ones are listed more than once. */
export const Command = Schema.Union([
  Buy,
  Buy,
  Buy,
  Buy,
  Buy,
  Retry,
  Retry,
  Advance,
  Advance,
  Advance,
  Wait,
  Kill,
  KillAt,
  KillAt,
  Start,
  Start,
  SettleFault,
  SettleFault,
  MailFault,
  MailFault,
  Schema.TaggedStruct("VerifyFault", { mode: Schema.Literals(VERIFY_FAULTS), times: Times }),
  Schema.TaggedStruct("SimulateFault", { mode: Schema.Literals(SIMULATE_FAULTS), times: Times }),
  Schema.TaggedStruct("RefundFault", { mode: Schema.Literals(REFUND_FAULTS), times: Times }),
  /** All external systems work again. */
  Schema.TaggedStruct("Lift", {}),
  /** A payment is presented for something else: with another key, body, header or endpoint. */
  Schema.TaggedStruct("Misuse", {
    purchase: Chosen,
    server: Server,
    how: Schema.Literals(["key", "body", "header", "endpoint"])
  }),
  /** A second payment with the Idempotency-Key of the first, both sent concurrently. */
  Schema.TaggedStruct("TwoProofs", { purchase: Chosen, server: Server }),
  /** A client that received a 402 signs a new payment. */
  Schema.TaggedStruct("PayAnew", { purchase: Chosen, server: Server }),
  Schema.TaggedStruct("Vanish", { purchase: Chosen }),
  /** A server loses its database: before a transaction, within one, or before it learns that one is committed. */
  Schema.TaggedStruct("StoreFault", {
    server: Server,
    mode: Schema.Literals(STORE_FAULTS),
    times: Schema.Literals([1, 1, 2])
  }),
  Schema.TaggedStruct("Freeze", { server: Server }),
  Schema.TaggedStruct("FreezeAt", { server: Server, step: OperationStep, seconds: Schema.Literals([10, 17, 30]) }),
  Schema.TaggedStruct("Thaw", { server: Server }),
  Schema.TaggedStruct("Cut", {
    server: Server,
    link: Schema.Literals(["chain", "facilitator", "mail"]),
    cut: Schema.Boolean
  }),
  /** A third party that saw a signed authorization submits it, or its owner cancels it. */
  Schema.TaggedStruct("Front", { purchase: Chosen, call: Schema.Literals(["transfer", "cancel"]) }),
  Schema.TaggedStruct("Reorganise", { depth: Schema.Literals([1, 2]), forgets: Schema.Boolean }),
  /** The operator empties or fills the refund wallet. */
  Schema.TaggedStruct("RefundWallet", { filled: Schema.Boolean }),
  /** Every server is down for longer than any service retries its provider. */
  Schema.TaggedStruct("LongOutage", {})
])
export type Command = typeof Command.Type

/** A history: the deployment's configuration and its commands. */
const HistoryOf = (length: number) =>
  Schema.Struct({
    refundWallet: Schema.Literals([true, true, true, false]),
    /** Whether the chain shows which authorization made each transfer. */
    tiesTransfers: Schema.Literals([true, true, false]),
    commands: Schema.Array(Command).check(Schema.isMaxLength(length))
  })
export type History = ReturnType<typeof HistoryOf>["Type"]

/** Generates histories of up to `length` commands. */
export const history = (length: number): Arbitrary.Arbitrary<History> =>
  Arbitrary.schema(HistoryOf(length), { shrink: shorter })

/**
 * Returns shorter histories: without half of the commands, a quarter, and so on down to one; or with `Wait` in their
 * place, for failures that depend on the timing of the other commands.
 */
const shorter = ({ commands, ...deployment }: History): ReadonlyArray<History> => {
  const without: Array<History> = []
  const idle: Array<History> = []
  for (let size = commands.length; size >= 1; size = size === 1 ? 0 : Math.ceil(size / 2)) {
    for (let start = 0; start < commands.length; start += size) {
      const isIn = (at: number) => at >= start && at < start + size
      without.push({ ...deployment, commands: commands.filter((_, at) => !isIn(at)) })
      if (commands.some((command, at) => isIn(at) && command._tag !== "Wait")) {
        idle.push({ ...deployment, commands: commands.map((command, at) => (isIn(at) ? { _tag: "Wait" } : command)) })
      }
    }
  }
  return [...without, ...idle]
}
