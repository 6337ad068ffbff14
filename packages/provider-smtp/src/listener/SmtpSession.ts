import type { InboundRefusal } from "@agentos/core"
import { SmtpDismissal } from "./SmtpReply.ts"
import type { SmtpLimits } from "./SmtpLimits.ts"

/** Commands without effect on a message. */
const IDLE_COMMANDS = new Set(["NOOP", "RSET", "VRFY", "EXPN", "HELP", "HELO", "EHLO"])

/** Time for which the result of a recipient lookup is cached within a session. */
const VERDICT_MILLIS = 5_000

/** Number of commands counted by one call of the rate limiter: one call for each would cost too much. */
const RATED_AT_ONCE = 20

/** The limits that one session has used. */
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

  /** Counts a command; returns the reason to end the session if the limit is exceeded. */
  countCommand(verb: string): string | undefined {
    if (verb === "MAIL") this.#recipients = 0
    if (verb === "RCPT") this.#recipients++
    if (IDLE_COMMANDS.has(verb)) this.#idleCommands++
    const isOver = ++this.#commands > this.#limits.commands || this.#idleCommands > this.#limits.idleCommands
    return isOver ? SmtpDismissal.tooManyCommands : undefined
  }

  /** Returns the tokens that a command of this cost takes from the rate limiter now; 0 if they were taken earlier. */
  rateCost(cost: number): number {
    this.#rated -= cost
    if (this.#rated >= 0) return 0
    const taken = Math.max(RATED_AT_ONCE, cost)
    this.#rated += taken
    return taken
  }

  /** Counts a reply that refuses a command. Refused recipients have a separate limit. */
  countRefusal(verb: string): string | undefined {
    if (verb === "RCPT") return undefined
    return ++this.#errors > this.#limits.errors ? SmtpDismissal.tooManyErrors : undefined
  }

  /** Counts a recipient without a mailbox; returns whether the limit is exceeded. */
  countRefusedRecipient(): boolean {
    return ++this.#refusedRecipients > this.#limits.refusedRecipients
  }

  /** True if the message exceeds the limit of recipients, repeated ones included. */
  get hasTooManyRecipients(): boolean {
    return this.#recipients > this.#limits.recipients
  }

  /**
   * Returns the cached reason why mail to a recipient is refused, null if it is accepted; undefined if nothing
   * is cached.
   */
  verdictOn(recipient: string): InboundRefusal | null | undefined {
    const verdict = this.#verdicts.get(recipient)
    return verdict === undefined || verdict.until < this.#now() ? undefined : verdict.refusal
  }

  keepVerdict(recipient: string, refusal: InboundRefusal | null): void {
    this.#verdicts.set(recipient, { refusal, until: this.#now() + VERDICT_MILLIS })
  }

  /** Resets the counts after a message was accepted. */
  acceptMessage(): void {
    this.#commands = 0
    this.#idleCommands = 0
    this.#errors = 0
    this.#verdicts.clear()
  }
}
