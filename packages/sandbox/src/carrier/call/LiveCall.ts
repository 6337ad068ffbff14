import { apiVersion } from "../api/TwilioResource.ts"
import type { CallRecord, CallStatus } from "../CarrierStore.ts"
import type { CallScript, Person } from "./Person.ts"
import { PersonSimulator } from "./PersonSimulator.ts"
import { type CallContext, type CallEnding, type PlayableCall, playTwiml, type TwimlSource } from "./TwimlPlayer.ts"
import { type MachineDetection, makeStatusCallbacks, type StatusCallbacks } from "./Webhooks.ts"

/** The default time until a person answers. */
const ringSecondsDefault = 0.2
/** The time until a busy line is reported. */
const busySeconds = 0.2
/** Limits the chain of documents in one call. */
const documentsMax = 200

/** A call in progress, from the first ring to the last callback. */
export class LiveCall implements PlayableCall {
  readonly context: CallContext
  readonly person: PersonSimulator
  readonly callbacks: StatusCallbacks
  /** Aborted when the call ends. */
  readonly #ended = new AbortController()
  /** Aborted when the call is redirected to another document. */
  #document = new AbortController()
  #redirectTarget: TwimlSource | undefined
  #record: CallRecord
  #answeredAt: number | undefined
  #limit: { readonly cancel: () => void; readonly end: () => void; readonly due: number } | undefined

  constructor(context: CallContext, record: CallRecord, script: CallScript) {
    this.context = context
    this.#record = record
    this.person = new PersonSimulator(script, context.clock, {
      onSpeech: (heard, said) => this.#update({ heard, said }),
      onHangup: (at) => this.end({ by: "person", reason: "the person hung up", at })
    })
    this.callbacks = makeStatusCallbacks(record.sid, context.webhooks, context.delivery)
  }

  get record(): CallRecord {
    return this.#record
  }

  get isEnded(): boolean {
    return this.#ended.signal.aborted
  }

  get isAnswered(): boolean {
    return this.#answeredAt !== undefined
  }

  /** Aborted when the current document must stop. */
  get signal(): AbortSignal {
    return AbortSignal.any([this.#ended.signal, this.#document.signal])
  }

  /** Returns the fields of every webhook: https://www.twilio.com/docs/voice/twiml#request-parameters */
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

  log(event: string, details: Readonly<Record<string, unknown>> = {}): void {
    this.context.requestLog.event(this.#record.sid, event, details)
  }

  /** Runs a call to a person: rings, and plays the document after the answer. */
  async runOutbound(
    person: Person | undefined,
    document: TwimlSource,
    timeoutSeconds: number,
    detection: MachineDetection | undefined
  ): Promise<void> {
    this.callbacks.send("initiated", this.form("initiated"))
    this.#ring()
    if (!this.isEnded) this.callbacks.send("ringing", this.form())
    await this.#waitForAnswer(person, timeoutSeconds)
    if (!this.isEnded) {
      const answeredBy = person?.answeredBy ?? "human"
      if (detection !== undefined && detection.callback === undefined) this.#update({ answeredBy })
      this.answer()
      if (detection?.callback !== undefined) this.#reportRecognized(answeredBy, detection.callback)
      await this.#play(document)
    }
    this.#sendCompleted()
  }

  /** Reports who answered, in the background: https://www.twilio.com/docs/voice/answering-machine-detection */
  #reportRecognized(answeredBy: string, callback: NonNullable<MachineDetection["callback"]>): void {
    this.#update({ answeredBy })
    const form = { CallSid: this.#record.sid, AccountSid: this.context.accountSid, AnsweredBy: answeredBy }
    const sent = { ...form, MachineDetectionDuration: "0" }
    void this.context.webhooks.send({ callSid: form.CallSid, purpose: "recognized", ...callback, form: sent })
  }

  /** Runs a call from a person: rings, and plays the document, which decides whether the call is answered. */
  async runInbound(document: TwimlSource | undefined): Promise<void> {
    this.#ring()
    if (document === undefined) {
      this.end({ by: "carrier", reason: "the number is not assigned or has no VoiceUrl" })
    } else await this.#play(document)
    this.#sendCompleted()
  }

  /** Connects the call. Idempotent. */
  answer(): void {
    if (this.#answeredAt !== undefined || this.isEnded) return
    const now = this.context.clock.now()
    this.#answeredAt = now
    this.#update({ status: "in-progress", answeredAt: Date.now() })
    this.log("answered")
    this.callbacks.send("answered", this.form())
    this.#scheduleLimit(now)
    this.person.connected(now)
  }

  /**
   * Sets the total duration from the answer. A call that has lasted longer ends at once. If the previous limit has passed,
   * it has ended the call, even if its timer is late.
   */
  setTimeLimit(seconds: number): void {
    if (this.#limit !== undefined && this.#limit.due <= this.context.clock.now()) return this.#limit.end()
    this.#update({ timeLimitSeconds: seconds })
    if (this.#answeredAt !== undefined) this.#scheduleLimit(this.#answeredAt)
  }

  /** Stops the current document and plays another one. */
  redirect(document: TwimlSource): void {
    this.#redirectTarget = document
    this.#document.abort()
  }

  /** Ends the call. Later calls have no effect. */
  end({ at, by, reason, status }: CallEnding): void {
    if (this.isEnded) return
    const answeredAt = this.#answeredAt
    this.#limit?.cancel()
    this.#update({
      status: status ?? (answeredAt === undefined ? "failed" : "completed"),
      endedAt: Date.now(),
      durationSeconds:
        answeredAt === undefined ? null : Math.round(((at ?? this.context.clock.now()) - answeredAt) / 1_000),
      endedBy: by,
      reason
    })
    this.log("ended", { by, reason, status: this.#record.status, durationSeconds: this.#record.durationSeconds })
    this.#ended.abort()
    this.person.end()
  }

  #update(changes: Partial<CallRecord>): void {
    this.#record = { ...this.#record, ...changes, updatedAt: Date.now() }
    this.context.store.putCallLater(this.#record)
  }

  #ring(): void {
    if (!this.isEnded) this.#update({ status: "ringing", startedAt: Date.now() })
  }

  async #waitForAnswer(person: Person | undefined, timeoutSeconds: number): Promise<void> {
    const { clock } = this.context
    const sleep = (seconds: number) => clock.sleep(seconds, this.#ended.signal)
    if (person === undefined) {
      return this.end({ by: "carrier", reason: "the number belongs to no person", status: "failed" })
    }
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
    for (let next: TwimlSource | undefined = document; next !== undefined && !this.isEnded; documents += 1) {
      if (documents >= documentsMax) return this.end({ by: "carrier", reason: `more than ${documentsMax} documents` })
      this.#document = new AbortController()
      const following = await playTwiml(this, next)
      next = this.#redirectTarget ?? following
      this.#redirectTarget = undefined
    }
    this.end({ by: "agent", reason: "the document ended" })
  }

  #scheduleLimit(answeredAt: number): void {
    const { clock } = this.context
    const { timeLimitSeconds: seconds } = this.#record
    const reason = `the time limit of ${seconds} s was reached`
    const due = answeredAt + seconds * 1_000
    this.#limit?.cancel()
    this.#limit = undefined
    if (!this.context.enforcesTimeLimits()) return
    // A limit that is already in the past ends the call now, not at its due time.
    if (due <= clock.now()) return this.end({ by: "carrier", reason })
    const end = () => this.end({ by: "carrier", reason, at: due })
    this.#limit = { due, end, cancel: clock.at(due, end) }
  }

  /** Sent last, after the webhook about the end of a ConversationRelay session. */
  #sendCompleted(): void {
    const { durationSeconds } = this.#record
    this.callbacks.send("completed", {
      ...this.form(),
      CallDuration: String(durationSeconds ?? 0),
      Duration: String(Math.ceil((durationSeconds ?? 0) / 60))
    })
  }
}
