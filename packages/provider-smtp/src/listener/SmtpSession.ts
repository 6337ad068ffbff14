import type { InboundRefusal } from "@agentos/core"
import { SmtpDismissal } from "./SmtpReply.ts"
import type { SmtpLimits } from "./SmtpLimits.ts"

/** Commands that do nothing for a message. */
const IDLE_COMMANDS = new Set(["NOOP", "RSET", "VRFY", "EXPN", "HELP", "HELO", "EHLO"])

/** Time for which what was found about a recipient holds within a session. */
const VERDICT_MILLIS = 5_000

/** Commands whose rate is counted in one step: one call of the rate limiter for each is too much. */
const RATED_AT_ONCE = 20

/** What one session has used of its limits. */
export class SmtpSession {
  readonly #limits: SmtpLimits
  readonly #now: () => number
  readonly #verdicts = new Map<string, { readonly refusal: InboundRefusal | null; readonly until: number }>()
  #commands = 0
  #idleCommands = 0
  #errors = 0
  #refusedRecipients = 0
  #recipients = 0
  #rated = 0

  constructor(limits: SmtpLimits, now: () => number) {
    this.#limits = limits
    this.#now = now
  }

  /** Counts a command; returns the reason to end the session if it is one too many. */
  countCommand(verb: string): string | undefined {
    if (verb === "MAIL") this.#recipients = 0
    if (verb === "RCPT") this.#recipients++
    if (IDLE_COMMANDS.has(verb)) this.#idleCommands++
    const isOver = ++this.#commands > this.#limits.commands || this.#idleCommands > this.#limits.idleCommands
    return isOver ? SmtpDismissal.tooManyCommands : undefined
  }

  /** The tokens that a command of this cost takes from the rate limiter now; 0 if they were taken before. */
  rateCost(cost: number): number {
    this.#rated -= cost
    if (this.#rated >= 0) return 0
    const taken = Math.max(RATED_AT_ONCE, cost)
    this.#rated += taken
    return taken
  }

  /** Counts a reply that refuses a command. Refused recipients have a limit of their own. */
  countRefusal(verb: string): string | undefined {
    if (verb === "RCPT") return undefined
    return ++this.#errors > this.#limits.errors ? SmtpDismissal.tooManyErrors : undefined
  }

  /** Counts a recipient without a mailbox; returns whether it is one too many. */
  countRefusedRecipient(): boolean {
    return ++this.#refusedRecipients > this.#limits.refusedRecipients
  }

  /** Whether the message has more recipients than one may have, repeated ones included. */
  get hasTooManyRecipients(): boolean {
    return this.#recipients > this.#limits.recipients
  }

  /** Why mail to a recipient was refused a moment ago, null if it was not; undefined if that is not known. */
  verdictOn(recipient: string): InboundRefusal | null | undefined {
    const verdict = this.#verdicts.get(recipient)
    return verdict === undefined || verdict.until < this.#now() ? undefined : verdict.refusal
  }

  keepVerdict(recipient: string, refusal: InboundRefusal | null): void {
    this.#verdicts.set(recipient, { refusal, until: this.#now() + VERDICT_MILLIS })
  }

  /** A message was accepted: the session has done what it is for, and its counts begin again. */
  acceptMessage(): void {
    this.#commands = 0
    this.#idleCommands = 0
    this.#errors = 0
    this.#verdicts.clear()
  }
}
