import { AgentOsError } from "./AgentOsError.ts"
import type { Answer } from "./http/Answer.ts"
import { Caller, type CallOptions, type PlainRequest } from "./http/Caller.ts"
import { Http } from "./http/Http.ts"
import type { InputOf, OperationId, OutputOf } from "./http/OperationTypes.ts"
import { Mailboxes } from "./mail/Mailboxes.ts"
import { type AgentOsOptions, type PaymentOption, type Settings, settingsOf } from "./Options.ts"
import { Payments } from "./payment/Payments.ts"
import type { Call } from "./phone/Call.ts"
import { type CallsOptions, followCalls, PhoneNumbers } from "./phone/PhoneNumbers.ts"
import { Voice } from "./phone/Voice.ts"
import { type AgentEvent, type EventOptions, type EventType, followEvents } from "./realtime/Events.ts"
import { Tokens } from "./session/Tokens.ts"

/** The input of an operation, which may be left out if nothing in it is required. */
type CallArguments<Id extends OperationId> =
  Readonly<Record<never, never>> extends InputOf<Id>
    ? [input?: InputOf<Id>, options?: CallOptions]
    : [input: InputOf<Id>, options?: CallOptions]

/** A client of one AgentOS, with one wallet. */
export class AgentOs {
  readonly mailboxes: Mailboxes
  readonly phoneNumbers: PhoneNumbers
  readonly payments: Payments
  readonly #settings: Settings
  readonly #caller: Caller
  readonly #closing = new AbortController()
  readonly #phone: { readonly caller: Caller; readonly clock: Settings["clock"]; readonly voice: Voice }

  private constructor(settings: Settings, caller: Caller, payments: Payments) {
    const { clock } = settings
    this.#settings = settings
    this.#caller = caller
    this.payments = payments
    this.mailboxes = new Mailboxes({ caller, clock, follow: (options) => this.events(options), lastUsed: new Map() })
    this.#phone = { caller, clock, voice: new Voice(settings, caller) }
    this.phoneNumbers = new PhoneNumbers(this.#phone)
  }

  /**
   * Checks the options and reads the journal. Nothing is sent. Throws INVALID_OPTION and JOURNAL_FAILED.
   */
  static async connect(baseUrl: string, options: AgentOsOptions = {}): Promise<AgentOs> {
    const settings = settingsOf(baseUrl, options)
    const http = new Http(settings)
    const tokens = new Tokens(settings, http)
    const payments = await Payments.load(settings, http, tokens)
    return new AgentOs(settings, new Caller(settings, http, tokens, payments), payments)
  }

  /**
   * Calls an operation by its operationId in the OpenAPI document, and pays where it costs money. Resumes a payment of
   * the same request whose outcome is unknown. Throws AgentOsError, or the signal's reason if nothing was sent.
   */
  async call<Id extends OperationId>(operationId: Id, ...[input, options]: CallArguments<Id>): Promise<OutputOf<Id>> {
    this.#checkOpen()
    return this.#caller.call(operationId, (input ?? {}) as InputOf<Id>, options)
  }

  /**
   * Sends a request of your own, with the access token if there is one, and returns its answer whatever the status. Pays
   * nothing. Throws UNREACHABLE without an answer.
   */
  async request(request: PlainRequest, options?: CallOptions): Promise<Answer> {
    this.#checkOpen()
    return this.#caller.request(request, options)
  }

  /** Sends a request of a paid operation without a payment, and returns the ways to pay for it. */
  async quote(request: PlainRequest, options?: CallOptions): Promise<ReadonlyArray<PaymentOption>> {
    return this.payments.optionsOf(await this.request({ ...request, isRepeatable: true }, options))
  }

  /**
   * Yields the events that are not acknowledged yet, and then each event as it is stored. Asking for the next one
   * acknowledges it. Streams without `types` and `agentId` lease their events, and share them.
   */
  events<Type extends EventType = EventType>(
    options: EventOptions<Type> = {}
  ): AsyncGenerator<AgentEvent<Type>, void, undefined> {
    this.#checkOpen()
    return followEvents(this.#settings, this.#caller, options, this.#closing.signal)
  }

  /** Yields the calls of all numbers, as `PhoneNumber.calls` does for one. */
  calls(options: CallsOptions = {}): AsyncGenerator<Call, void, undefined> {
    this.#checkOpen()
    return followCalls(this.#phone, undefined, options)
  }

  /** Ends all streams. Payments that are being sent continue. */
  close(): void {
    this.#closing.abort()
    this.#phone.voice.close()
  }

  #checkOpen(): void {
    if (this.#closing.signal.aborted) throw new AgentOsError({ code: "CLOSED", message: "The client is closed." })
  }
}
