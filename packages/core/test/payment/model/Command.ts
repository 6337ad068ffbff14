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
/** One of the purchases that were made, the latest first; any number will do. */
const Chosen = upTo(4)
/** For how many calls something goes wrong; 0 for all of them until faults are lifted. */
const Times = Schema.Literals([1, 1, 2, 0])

const Buy = Schema.TaggedStruct("Buy", {
  wallet: upTo(2),
  goods: Schema.Literals(["create", "create", "send", "send", "send", "send", "update", "delete"]),
  /** Which name is wanted, or which mailbox is meant. */
  choice: upTo(2),
  server: Server,
  /** How often the same bytes are sent at once, to one server and the other in turn. */
  copies: Schema.Literals([1, 1, 2, 3]),
  /**
   * What befalls it at once: another submits the authorization, or its owner cancels it; either happens after the claim
   * and before its nonce is read, since the server is killed in between; the mailbox is deleted meanwhile; its mail is
   * refused; or no mail is taken for longer than it is tried.
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
    "rejection",
    "rejection",
    "long silence",
    "long silence"
  ])
})
const Retry = Schema.TaggedStruct("Retry", { purchase: Chosen, server: Server })
const Advance = Schema.TaggedStruct("Advance", { millis: Schema.Literals([300, 1_000, 4_000, 9_000, 16_000, 40_000]) })
/** Nothing but the time that each command takes. */
const Wait = Schema.TaggedStruct("Wait", {})
const Kill = Schema.TaggedStruct("Kill", { server: Server })
const KillAt = Schema.TaggedStruct("KillAt", { server: Server, step: OperationStep, skip: upTo(1) })
const Start = Schema.TaggedStruct("Start", { server: Server })
const SettleFault = Schema.TaggedStruct("SettleFault", { mode: Schema.Literals(SETTLE_FAULTS), times: Times })
const MailFault = Schema.TaggedStruct("MailFault", { mode: Schema.Literals(MAIL_FAULTS), times: Times })

/** What happens to the service and around it. What is likely stands here more than once. */
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
  /** Everybody outside is well again. */
  Schema.TaggedStruct("Lift", {}),
  /** A payment is offered again as something else than it was: with another key, body, header or endpoint. */
  Schema.TaggedStruct("Misuse", {
    purchase: Chosen,
    server: Server,
    how: Schema.Literals(["key", "body", "header", "endpoint"])
  }),
  /** A second payment under the Idempotency-Key of a first, both sent at once. */
  Schema.TaggedStruct("TwoProofs", { purchase: Chosen, server: Server }),
  /** The client was told 402, believes it, and signs anew. */
  Schema.TaggedStruct("PayAnew", { purchase: Chosen, server: Server }),
  Schema.TaggedStruct("Vanish", { purchase: Chosen }),
  /** A server loses its database: before a transaction, within one, or before it hears that one is committed. */
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
  /** Somebody who saw a signed authorization submits it, or its owner cancels it. */
  Schema.TaggedStruct("Front", { purchase: Chosen, call: Schema.Literals(["transfer", "cancel"]) }),
  Schema.TaggedStruct("Reorganise", { depth: Schema.Literals([1, 2]), forgets: Schema.Boolean }),
  /** The operator takes the money out of the refund wallet, or fills it. */
  Schema.TaggedStruct("RefundWallet", { filled: Schema.Boolean }),
  /** Every server is down for longer than any service waits for its provider. */
  Schema.TaggedStruct("LongOutage", {})
])
export type Command = typeof Command.Type

/** A history: what the deployment is like, and what happens. */
const HistoryOf = (length: number) =>
  Schema.Struct({
    refundWallet: Schema.Literals([true, true, true, false]),
    commands: Schema.Array(Command).check(Schema.isMaxLength(length))
  })
export type History = ReturnType<typeof HistoryOf>["Type"]

/** Any history of up to so many commands. */
export const history = (length: number): Arbitrary.Arbitrary<History> =>
  Arbitrary.schema(HistoryOf(length), { shrink: shorter })

/**
 * The same history without some of its commands: half of them, a quarter, and so on down to one; or with nothing
 * happening in their place, where leaving them out would make the others come at other moments.
 */
const shorter = ({ commands, refundWallet }: History): ReadonlyArray<History> => {
  const without: Array<History> = []
  const idle: Array<History> = []
  for (let size = commands.length; size >= 1; size = size === 1 ? 0 : Math.ceil(size / 2)) {
    for (let start = 0; start < commands.length; start += size) {
      const isIn = (at: number) => at >= start && at < start + size
      without.push({ refundWallet, commands: commands.filter((_, at) => !isIn(at)) })
      if (commands.some((command, at) => isIn(at) && command._tag !== "Wait")) {
        idle.push({ refundWallet, commands: commands.map((command, at) => (isIn(at) ? { _tag: "Wait" } : command)) })
      }
    }
  }
  return [...without, ...idle]
}
