import {
  EmailProvider,
  type OutgoingMail,
  type PaymentProof,
  ProviderError,
  type Refund,
  type SendReceipt
} from "@agentos/core"
import { Clock, Effect } from "effect"
import { SimulatedChain } from "./SimulatedChain.ts"
import { SimulatedFault } from "./SimulatedFault.ts"

/** The faults of a facilitator when it settles. */
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
/** The faults of the reads before a claim: they fail, refuse the payment, or do not notice that its wallet is empty. */
export const VERIFY_FAULTS = ["down", "refuse", "blind"] as const
export const SIMULATE_FAULTS = ["down", "refuse"] as const
export const REFUND_FAULTS = ["fail before", "lose the answer", "hang after"] as const
/** The faults of a mail provider: each failure reason, `Unknown` although the mail was sent, and no answer. */
export const MAIL_FAULTS = ["Temporary", "Rejected", "Misconfigured", "Unknown", "Unknown and sent", "hang"] as const

/** The state of a server in the world: the services it can't reach, and whether it was frozen. */
export interface Links {
  chain: boolean
  facilitator: boolean
  mail: boolean
  /** Until when the server may still act on leases that it has lost, because it was frozen; unix milliseconds. */
  behindUntil: number
}

/** Observes calls that a server may make only in certain states, and only one at a time. */
export interface WorldWatcher {
  /** Two servers make the same call, and neither was frozen. */
  twice: (what: string) => void
  simulating: (proof: PaymentProof, now: number) => void
  settling: (proof: PaymentProof, now: number) => void
  refunding: (refund: Refund, now: number) => void
  sending: (mail: OutgoingMail, now: number) => void
}

/** Milliseconds on Effect's clock, which the whole world uses. */
export const now: Effect.Effect<number> = Clock.currentTimeMillis

/** Everything outside the servers: a chain, a facilitator, a mail provider, and their faults. */
export class SimulatedWorld {
  readonly chain = new SimulatedChain()
  /** Every mail that was sent, including duplicates. */
  readonly outbox: Array<OutgoingMail> = []
  /** The payments that the facilitator was asked to settle, and how it handled each. */
  readonly settlements: Array<{ readonly nonce: string; readonly mode: (typeof SETTLE_FAULTS)[number] | "settle" }> = []
  readonly settleFault = new SimulatedFault<(typeof SETTLE_FAULTS)[number]>()
  /** The nonces of authorizations whose simulated transfer failed. */
  readonly failedSimulations = new Set<string>()
  readonly simulateFault = new SimulatedFault<(typeof SIMULATE_FAULTS)[number]>()
  readonly verifyFault = new SimulatedFault<(typeof VERIFY_FAULTS)[number]>()
  readonly refundFault = new SimulatedFault<(typeof REFUND_FAULTS)[number]>()
  readonly mailFault = new SimulatedFault<(typeof MAIL_FAULTS)[number]>()
  readonly hasRefundWallet: boolean
  /** Whether the chain shows which authorization made each transfer. */
  readonly tiesTransfers: boolean
  /** The Message-IDs of mails that were refused permanently: they are refused again on each retry. */
  readonly refusedMails = new Set<string>()
  watcher: WorldWatcher = {
    twice: () => undefined,
    simulating: () => undefined,
    settling: () => undefined,
    refunding: () => undefined,
    sending: () => undefined
  }
  readonly #callers = new Map<string, Links>()

  constructor(hasRefundWallet: boolean, tiesTransfers = true) {
    this.hasRefundWallet = hasRefundWallet
    this.tiesTransfers = tiesTransfers
  }

  /**
   * Makes a call that only one server should make at a time, the one that holds the lease. Reports violations to the
   * watcher.
   */
  alone<A, E, R>(what: string, links: Links, call: Effect.Effect<A, E, R>): Effect.Effect<A, E, R> {
    return Effect.acquireUseRelease(
      Effect.map(now, (at) => {
        const other = this.#callers.get(what)
        if (other !== undefined && Math.max(other.behindUntil, links.behindUntil) < at) this.watcher.twice(what)
        this.#callers.set(what, links)
      }),
      () => call,
      () => Effect.sync(() => this.#callers.delete(what))
    )
  }

  /** Ends all faults outside the servers. */
  lift(): void {
    for (const fault of [this.settleFault, this.verifyFault, this.simulateFault, this.refundFault, this.mailFault])
      fault.lift()
  }
}

/** The mail provider as one server reaches it. */
export const mailProvider = (world: SimulatedWorld, links: Links): EmailProvider["Service"] =>
  EmailProvider.of({
    name: "simulated",
    domain: "agents.test",
    send: (mail) => world.alone(mail.messageIdHeader, links, send(world, links, mail))
  })

const send = Effect.fnUntraced(function* (
  world: SimulatedWorld,
  links: Links,
  mail: OutgoingMail
): Effect.fn.Return<SendReceipt, ProviderError> {
  const failed = (reason: ProviderError["reason"]) =>
    new ProviderError({ provider: "simulated", reason, message: `the relay says ${reason}` })
  yield* Effect.sleep(30)
  if (links.mail) return yield* failed("Temporary")
  world.watcher.sending(mail, yield* now)
  const mode = world.refusedMails.has(mail.messageIdHeader) ? "Rejected" : world.mailFault.take()
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
    case "Rejected":
      world.refusedMails.add(mail.messageIdHeader)
      return yield* failed("Rejected")
    default:
      return yield* failed(mode)
  }
})
