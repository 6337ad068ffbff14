import { EmailProvider, type OutgoingMail, type PaymentProof, ProviderError, type Refund } from "@agentos/core"
import { Clock, Effect } from "effect"
import { SimulatedChain } from "./SimulatedChain.ts"
import { SimulatedFault } from "./SimulatedFault.ts"

/** What a facilitator can do wrong in settling. */
export const SETTLE_FAULTS = [
  "slow",
  "lose the answer",
  "fail before",
  "hang before",
  "hang after",
  "refuse",
  "refuse and settle",
  "settle and refuse",
  "refuse and settle later",
  "accept and do nothing"
] as const
export const VERIFY_FAULTS = ["down", "refuse", "blind"] as const
export const REFUND_FAULTS = ["fail before", "lose the answer", "hang after"] as const
/** What a mail provider can do wrong: each reason of a failure, and `Unknown` with the mail sent all the same. */
export const MAIL_FAULTS = ["Temporary", "Rejected", "Misconfigured", "Unknown", "Unknown and sent", "hang"] as const

/** Whom of the outside a server can't reach. */
export interface Links {
  chain: boolean
  facilitator: boolean
  mail: boolean
}

/** Told of calls that a server may make only in certain states. */
export interface WorldWatcher {
  settling: (proof: PaymentProof, now: number) => void
  refunding: (refund: Refund, now: number) => void
  sending: (mail: OutgoingMail, now: number) => void
}

/** Milliseconds on Effect's clock, on which the whole world runs. */
export const now: Effect.Effect<number> = Clock.currentTimeMillis

/** All that is outside of the servers: a chain, a facilitator, a mail provider, and what goes wrong with them. */
export class SimulatedWorld {
  readonly chain = new SimulatedChain()
  /** Every mail that was sent, copies included. */
  readonly outbox: Array<OutgoingMail> = []
  /** What the facilitator was asked to settle, and how it took it. */
  readonly settlements: Array<{ readonly nonce: string; readonly mode: (typeof SETTLE_FAULTS)[number] | "settle" }> = []
  readonly settleFault = new SimulatedFault<(typeof SETTLE_FAULTS)[number]>()
  readonly verifyFault = new SimulatedFault<(typeof VERIFY_FAULTS)[number]>()
  readonly refundFault = new SimulatedFault<(typeof REFUND_FAULTS)[number]>()
  readonly mailFault = new SimulatedFault<(typeof MAIL_FAULTS)[number]>()
  readonly hasRefundWallet: boolean
  watcher: WorldWatcher = { settling: () => undefined, refunding: () => undefined, sending: () => undefined }

  constructor(hasRefundWallet: boolean) {
    this.hasRefundWallet = hasRefundWallet
  }

  /** Ends everything that goes wrong outside of the servers. */
  lift(): void {
    for (const fault of [this.settleFault, this.verifyFault, this.refundFault, this.mailFault]) fault.lift()
  }
}

/** The mail provider as one server reaches it. */
export const mailProvider = (world: SimulatedWorld, links: Links): EmailProvider["Service"] =>
  EmailProvider.of({
    name: "simulated",
    domain: "agents.test",
    send: Effect.fnUntraced(function* (mail) {
      const failed = (reason: ProviderError["reason"]) =>
        new ProviderError({ provider: "simulated", reason, message: `the relay says ${reason}` })
      yield* Effect.sleep(30)
      if (links.mail) return yield* failed("Temporary")
      world.watcher.sending(mail, yield* now)
      const mode = world.mailFault.take()
      switch (mode) {
        case undefined:
          world.outbox.push(mail)
          return { accepted: mail.to, rejected: [], response: "250 ok" }
        case "Unknown and sent":
          world.outbox.push(mail)
          return yield* failed("Unknown")
        case "hang":
          world.outbox.push(mail)
          return yield* Effect.andThen(world.mailFault.hang, Effect.fail(failed("Unknown")))
        default:
          return yield* failed(mode)
      }
    })
  })
