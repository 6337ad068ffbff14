import type { CallRecord, CallStatus } from "../CarrierStore.ts"
import { apiVersion } from "../twilio/TwilioResource.ts"
import type { CallContext, CallEnding } from "./CallContext.ts"
import type { Part, Person } from "./Person.ts"
import { PersonOnCall } from "./PersonOnCall.ts"
import { makeStatusCallbacks, type StatusCallbacks } from "./StatusCallbacks.ts"
import { type PlayedCall, playTwiml, type TwimlSource } from "./TwimlPlayer.ts"

/** How long a person lets it ring unless told. */
const ringSecondsDefault = 0.2
/** A busy line is known as fast. */
const busySeconds = 0.2
/** Documents of one call, each following from the one before. */
const documentsMax = 200

/** A call that is under way, from the first ring to the last callback. */
export class LiveCall implements PlayedCall {
  readonly context: CallContext
  readonly person: PersonOnCall
  readonly callbacks: StatusCallbacks
  /** Aborted when the call ends. */
  readonly #ended = new AbortController()
  /** Aborted when the call is sent to another document, too. */
  #step = new AbortController()
  #next: TwimlSource | undefined
  #record: CallRecord
  #answeredAt: number | undefined
  #limit: { readonly callOff: () => void; readonly end: () => void; readonly due: number } | undefined

  constructor(context: CallContext, record: CallRecord, part: Part) {
    this.context = context
    this.#record = record
    this.person = new PersonOnCall(part, context.clock, {
      noted: (heard, said) => this.#change({ heard, said }),
      hungUp: (at) => this.end({ by: "person", reason: "the person hung up", at })
    })
    this.callbacks = makeStatusCallbacks(record.sid, context.webhooks, context.delivery)
  }

  get record(): CallRecord {
    return this.#record
  }

  get isOver(): boolean {
    return this.#ended.signal.aborted
  }

  get isAnswered(): boolean {
    return this.#answeredAt !== undefined
  }

  /** Aborted when what is being played is to be left. */
  get signal(): AbortSignal {
    return AbortSignal.any([this.#ended.signal, this.#step.signal])
  }

  /** The fields of every request about this call: https://www.twilio.com/docs/voice/twiml#request-parameters */
  form(status: CallStatus | "initiated" = this.#record.status): Readonly<Record<string, string>> {
    const { answeredBy, direction, from, sid, to } = this.#record
    return {
      CallSid: sid,
      AccountSid: this.context.accountSid,
      From: from,
      To: to,
      Caller: from,
      Called: to,
      CallStatus: status,
      ApiVersion: apiVersion,
      Direction: direction,
      ...(answeredBy === null ? {} : { AnsweredBy: answeredBy })
    }
  }

  note(event: string, details: Readonly<Record<string, unknown>> = {}): void {
    this.context.journal.event(this.#record.sid, event, details)
  }

  /** A call to a person: rings, and when it is answered plays the document. */
  async runOutbound(
    person: Person | undefined,
    document: TwimlSource,
    timeoutSeconds: number,
    detectMachine: boolean
  ): Promise<void> {
    this.callbacks.tell("initiated", this.form("initiated"))
    this.#ring()
    if (!this.isOver) this.callbacks.tell("ringing", this.form())
    await this.#waitForPerson(person, timeoutSeconds)
    if (!this.isOver) {
      if (detectMachine) this.#change({ answeredBy: "human" })
      this.answer()
      await this.#play(document)
    }
    this.#finish()
  }

  /** A call from a person: rings, and lets the document say whether it is answered. */
  async runInbound(document: TwimlSource | undefined): Promise<void> {
    this.#ring()
    if (document === undefined) this.end({ by: "carrier", reason: "nobody has this number, or it has no VoiceUrl" })
    else await this.#play(document)
    this.#finish()
  }

  /** The call is connected from now on. A second time does nothing. */
  answer(): void {
    if (this.#answeredAt !== undefined || this.isOver) return
    const moment = this.context.clock.now()
    this.#answeredAt = moment
    this.#change({ status: "in-progress", answeredAt: Date.now() })
    this.note("answered")
    this.callbacks.tell("answered", this.form())
    this.#armLimit(moment)
    this.person.connected(moment)
  }

  /**
   * How long the call may last from answer, in all. One that has lasted as long ends at once. One whose limit before has
   * passed has ended by it, however late the timer is.
   */
  setTimeLimit(seconds: number): void {
    if (this.#limit !== undefined && this.#limit.due <= this.context.clock.now()) return this.#limit.end()
    this.#change({ timeLimitSeconds: seconds })
    if (this.#answeredAt !== undefined) this.#armLimit(this.#answeredAt)
  }

  /** Leaves what is being played for another document. */
  redirect(document: TwimlSource): void {
    this.#next = document
    this.#step.abort()
  }

  /** The first end counts. */
  end({ at, by, reason, status }: CallEnding): void {
    if (this.isOver) return
    const answeredAt = this.#answeredAt
    this.#limit?.callOff()
    this.#change({
      status: status ?? (answeredAt === undefined ? "failed" : "completed"),
      endedAt: Date.now(),
      durationSeconds:
        answeredAt === undefined ? null : Math.round(((at ?? this.context.clock.now()) - answeredAt) / 1_000),
      endedBy: by,
      reason
    })
    this.note("ended", { by, reason, status: this.#record.status, durationSeconds: this.#record.durationSeconds })
    this.#ended.abort()
    this.person.leave()
  }

  #change(changed: Partial<CallRecord>): void {
    this.#record = { ...this.#record, ...changed, updatedAt: Date.now() }
    this.context.store.noteCall(this.#record)
  }

  #ring(): void {
    if (!this.isOver) this.#change({ status: "ringing", startedAt: Date.now() })
  }

  async #waitForPerson(person: Person | undefined, timeoutSeconds: number): Promise<void> {
    const { clock } = this.context
    const sleep = (seconds: number) => clock.sleep(seconds, this.#ended.signal)
    if (person === undefined) return this.end({ by: "carrier", reason: "nobody has this number", status: "failed" })
    if (person.behaviour === "busy") {
      await sleep(busySeconds)
      return this.end({ by: "person", reason: "the line is busy", status: "busy" })
    }
    const ringSeconds = person.behaviour === "answers" ? (person.ringSeconds ?? ringSecondsDefault) : Infinity
    await sleep(Math.min(ringSeconds, timeoutSeconds))
    if (ringSeconds >= timeoutSeconds) {
      this.end({ by: "carrier", reason: `no answer within ${timeoutSeconds} s`, status: "no-answer" })
    }
  }

  async #play(document: TwimlSource): Promise<void> {
    let documents = 0
    for (let next: TwimlSource | undefined = document; next !== undefined && !this.isOver; documents += 1) {
      if (documents >= documentsMax) return this.end({ by: "carrier", reason: `over ${documentsMax} documents` })
      this.#step = new AbortController()
      const following = await playTwiml(this, next)
      next = this.#next ?? following
      this.#next = undefined
    }
    this.end({ by: "agent", reason: "the document was at its end" })
  }

  #armLimit(answeredAt: number): void {
    const { clock } = this.context
    const { timeLimitSeconds: seconds } = this.#record
    const reason = `the time limit of ${seconds} s was reached`
    const due = answeredAt + seconds * 1_000
    this.#limit?.callOff()
    this.#limit = undefined
    if (!this.context.keepsLimits()) return
    // One that was set too late ends the call now, not at its time.
    if (due <= clock.now()) return this.end({ by: "carrier", reason })
    const end = () => this.end({ by: "carrier", reason, at: due })
    this.#limit = { due, end, callOff: clock.at(due, end) }
  }

  /** Told last: what the end of a session of ConversationRelay has to say comes before. */
  #finish(): void {
    const { durationSeconds } = this.#record
    this.callbacks.tell("completed", {
      ...this.form(),
      CallDuration: String(durationSeconds ?? 0),
      Duration: String(Math.ceil((durationSeconds ?? 0) / 60))
    })
  }
}
