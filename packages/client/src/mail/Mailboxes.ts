import { AgentOsError } from "../AgentOsError.ts"
import type { components } from "../generated/Components.ts"
import type { Caller, CallOptions } from "../http/Caller.ts"
import type { InputOf, OutputOf } from "../http/OperationTypes.ts"
import type { Clock } from "../Options.ts"
import type { AgentEvent, EventOptions } from "../realtime/Events.ts"
import { Mail, type MessageRecord } from "./Mail.ts"

export type MailboxRecord = components["schemas"]["Mailbox"]
type MessageSummary = components["schemas"]["MessageSummary"]
type Query = InputOf<"queryMessages">
type QueryAnswer = OutputOf<"queryMessages">
export type ThreadRecord = components["schemas"]["Thread"]
type ThreadPage = Extract<OutputOf<"queryThreads">, { readonly thread: unknown }>

export interface ThreadOptions {
  readonly label?: string
  readonly unread?: boolean
  readonly signal?: AbortSignal | undefined
}

export interface MessageOptions extends Omit<Query, "mailboxId" | "messageId" | "cursor" | "limit"> {
  readonly new?: false
  readonly signal?: AbortSignal | undefined
}

export interface NewMessageOptions {
  /** Received mail that is not acknowledged yet, then each mail as it arrives. */
  readonly new: true
  readonly signal?: AbortSignal | undefined
}

export interface WaitOptions {
  readonly from?: string
  /** Only mail whose subject contains this text, in any case. */
  readonly subject?: string
  /** Default: 120. */
  readonly timeoutSeconds?: number
  /** How far back to look, because mail often arrives before the wait. The same for mails, codes and links. Default: 60. */
  readonly sinceSeconds?: number
  /** Only mail that was stored after this one, instead of `sinceSeconds`. */
  readonly after?: Mail
  readonly signal?: AbortSignal | undefined
}

export interface CodeOptions extends WaitOptions {
  /** Also takes codes and links whose sender is not verified. Anyone can send those. Default: no. */
  readonly unverified?: boolean
}

interface Received {
  readonly messageId: string
  /** The domain of the sender, for example shop.example. */
  readonly domain: string
  /** Whether that domain is proven (`Mail.isVerified`). Only with `unverified: true` is it false. */
  readonly verified: boolean
}

/** A one-time code, and the mail that it came in. */
export interface ReceivedCode extends Received {
  /** 4 to 10 digits, or letters and digits, without spaces and dashes. */
  readonly code: string
  /** The confirmation link of the same mail; null without exactly one. */
  readonly link: string | null
}

/** A confirmation link, and the mail that it came in. */
export interface ReceivedLink extends Received {
  readonly link: string
  /** The one-time code of the same mail; null without exactly one. */
  readonly code: string | null
}

type FollowMail = (
  options: EventOptions<"email.received">
) => AsyncGenerator<AgentEvent<"email.received">, void, undefined>

const unexpected = (operation = "queryMessages"): AgentOsError =>
  new AgentOsError({ code: "UNEXPECTED_ANSWER", message: `${operation} returned another shape.` })

/** Reads a message with its body. Throws RESOURCE_NOT_FOUND. */
const readMessage = async (caller: Caller, messageId: string, options?: CallOptions): Promise<MessageRecord> => {
  const data = await caller.call("queryMessages", { messageId }, options)
  if ("message" in data) return data.message
  throw unexpected()
}

/** What mailboxes need of their client. */
export interface MailContext {
  readonly caller: Caller
  readonly clock: Clock
  readonly follow: FollowMail
  /** The id of the last mail whose code or link was returned, by mailbox and sender. */
  readonly lastUsed: Map<string, string>
}

const PAGE_SIZE = 100
const POLL_MILLIS = 1_000
const TIMEOUT_SECONDS = 120
/** How much longer than its timeout a wait may take to read its pages, which a server may let have no end. */
const PAGES_SECONDS = 30
const SINCE_SECONDS = 60
/** How long `open` waits for the purchase of another process after a conflict. */
const RACE_MILLIS = 4_000
/** How much longer than others a large mail may take from its arrival until it is stored. */
const STORING_SECONDS = 600

export class Mailbox {
  readonly record: MailboxRecord
  readonly id: string
  readonly address: string
  readonly #context: MailContext

  /** @internal */
  constructor(context: MailContext, record: MailboxRecord) {
    this.#context = context
    this.record = record
    this.id = record.mailboxId
    this.address = record.address
  }

  /** Sends a message. Costs money. */
  async send(input: Omit<InputOf<"sendMessage">, "mailboxId">, options?: CallOptions): Promise<Mail> {
    const { caller } = this.#context
    const { message } = await caller.call("sendMessage", { ...input, mailboxId: this.id }, options)
    return new Mail(caller, message)
  }

  /**
   * With `new: true`, yields received mail that is not acknowledged yet, and then each mail as it arrives, and acknowledges
   * it as `AgentOs.events` does. Otherwise yields the stored messages, newest first.
   */
  messages(options: NewMessageOptions | MessageOptions = {}): AsyncGenerator<Mail, void, undefined> {
    return options.new === true ? this.#newMail(options) : this.#stored(options)
  }

  async *#newMail({ signal }: NewMessageOptions): AsyncGenerator<Mail, void, undefined> {
    const { caller, follow } = this.#context
    const events = follow({ types: ["email.received"], agentId: this.id, signal })
    for await (const event of events) {
      const record = await this.#read(event.payload.emailId)
      // A message that was deleted meanwhile is acknowledged and skipped.
      if (record !== undefined) yield new Mail(caller, record, event.acknowledge)
    }
  }

  async *#stored(options: MessageOptions): AsyncGenerator<Mail, void, undefined> {
    const { new: _new, signal, ...query } = options
    for await (const { messageId } of this.#summaries(query, signal)) {
      signal?.throwIfAborted()
      const record = await this.#read(messageId)
      if (record !== undefined) yield new Mail(this.#context.caller, record)
    }
  }

  /** Yields all matching messages without their bodies, newest first. After `until`, no other page is read. */
  async *#summaries(query: Query, signal: AbortSignal | undefined, until = Infinity) {
    for (let more: Query | undefined = {}; more !== undefined;) {
      const input: Query = { ...query, ...more, limit: PAGE_SIZE, mailboxId: this.id }
      const data: QueryAnswer = await this.#context.caller.call("queryMessages", input, { signal })
      if (!("items" in data)) throw unexpected()
      yield* data.items
      const { nextCursor } = data
      more = nextCursor === null || this.#context.clock.now() > until ? undefined : { cursor: nextCursor }
    }
  }

  /** Yields the threads, newest activity first. */
  async *threads({ signal, ...query }: ThreadOptions = {}): AsyncGenerator<ThreadRecord, void, undefined> {
    for (let more: { cursor?: string } | undefined = {}; more !== undefined;) {
      const input: InputOf<"queryThreads"> = { ...query, ...more, limit: PAGE_SIZE, mailboxId: this.id }
      const data: OutputOf<"queryThreads"> = await this.#context.caller.call("queryThreads", input, { signal })
      if (!("items" in data)) throw unexpected("queryThreads")
      yield* data.items
      more = data.nextCursor === null ? undefined : { cursor: data.nextCursor }
    }
  }

  /** Returns a message with its body; undefined if it was deleted. */
  async #read(messageId: string): Promise<MessageRecord | undefined> {
    try {
      return await readMessage(this.#context.caller, messageId)
    } catch (error) {
      if (error instanceof AgentOsError && error.code === "RESOURCE_NOT_FOUND") return undefined
      throw error
    }
  }

  /** Returns the first matching mail that arrives. It is not acknowledged. Throws TIMEOUT. */
  async waitForMail(options: WaitOptions = {}): Promise<Mail> {
    return this.#wait(options, "mail", async (unread) => {
      for (const { messageId } of unread) {
        const record = await this.#read(messageId)
        if (record !== undefined) return new Mail(this.#context.caller, record)
      }
      return undefined
    })
  }

  /**
   * Waits for a mail of a verified sender with a one-time code, and returns the newest code, also one that arrived up to
   * `sinceSeconds` before the call. One AgentOs returns no code twice, and none older than the last one of the same sender.
   * Throws TIMEOUT.
   */
  async waitForCode(options: CodeOptions = {}): Promise<ReceivedCode> {
    return this.#waitForPart(options, "one-time code", ({ code, link = null }) => code && { code, link })
  }

  /** Waits for a mail with a confirmation link, as `waitForCode` does for one with a code. Throws TIMEOUT. */
  async waitForLink(options: CodeOptions = {}): Promise<ReceivedLink> {
    return this.#waitForPart(options, "confirmation link", ({ code = null, link }) => link && { code, link })
  }

  /** Waits for the newest mail that has a part, which one mail of each sender gives once. */
  #waitForPart<Part extends object>(
    { unverified = false, ...options }: CodeOptions,
    what: string,
    partOf: (mail: Mail) => Part | "" | undefined
  ): Promise<Part & Received> {
    const { lastUsed } = this.#context
    const whose = unverified ? what : `${what} of a verified sender`
    return this.#wait(options, whose, async (unread) => {
      for (const { messageId, sender } of unread.toReversed()) {
        const key = `${what} ${this.id} ${sender.address.toLowerCase()}`
        const isUsed = () => messageId <= (lastUsed.get(key) ?? "")
        const record = isUsed() ? undefined : await this.#read(messageId)
        if (record === undefined) continue
        const mail = new Mail(this.#context.caller, record)
        const part = partOf(mail)
        // Another wait may have returned it meanwhile.
        if (!part || !(mail.isVerified || unverified) || isUsed()) continue
        lastUsed.set(key, messageId)
        const domain = sender.address.slice(sender.address.lastIndexOf("@") + 1)
        return { ...part, messageId, domain, verified: mail.isVerified }
      }
      return undefined
    })
  }

  /** Passes matching mails that were not passed before, in the order in which they were stored, until one is picked. */
  async #wait<A>(
    options: WaitOptions,
    what: string,
    pick: (unread: ReadonlyArray<MessageSummary>) => Promise<A | undefined>
  ): Promise<A> {
    const { clock } = this.#context
    const { from, signal, sinceSeconds = SINCE_SECONDS, subject = "", timeoutSeconds = TIMEOUT_SECONDS } = options
    const start = clock.now()
    const end = start + timeoutSeconds * 1_000
    const { id: handled = "", record: last } = options.after ?? {}
    const since =
      last === undefined
        ? this.#context.caller.serverNow() - sinceSeconds * 1_000
        : Date.parse(last.createdAt) - STORING_SECONDS * 1_000
    const query: Query = {
      direction: "inbound",
      after: new Date(since).toISOString(),
      ...(from === undefined ? {} : { from })
    }
    const seen = new Set<string>()
    for (;;) {
      const lookedAt = clock.now()
      const unread = new Map<string, MessageSummary>()
      for await (const mail of this.#summaries(query, signal, end + PAGES_SECONDS * 1_000))
        if (mail.subject.toLowerCase().includes(subject.toLowerCase()) && mail.messageId > handled)
          if (!seen.has(mail.messageId)) unread.set(mail.messageId, mail)
      for (const messageId of unread.keys()) seen.add(messageId)
      // Ids sort by the time of storing, and a mail that arrived before another may be stored after it.
      const picked = await pick(
        [...unread.values()].toSorted((one, other) => (one.messageId < other.messageId ? -1 : 1))
      )
      if (picked !== undefined) return picked
      // The last look begins when the time is over.
      if (lookedAt >= end)
        throw new AgentOsError({
          code: "TIMEOUT",
          message: `Timed out after ${timeoutSeconds} s: no ${what}${from === undefined ? "" : ` from ${from}`} for ${this.address}.`,
          isRetryable: true
        })
      await clock.sleep(Math.min(POLL_MILLIS, Math.max(0, end - clock.now())), signal)
      signal?.throwIfAborted()
    }
  }

  /** Changes the mailbox and returns it. Costs money. */
  async update(changes: Omit<InputOf<"updateMailbox">, "mailboxId">, options?: CallOptions): Promise<Mailbox> {
    const { mailbox } = await this.#context.caller.call("updateMailbox", { ...changes, mailboxId: this.id }, options)
    return new Mailbox(this.#context, mailbox)
  }

  /** Deletes the mailbox with its messages. Costs money. */
  async delete(options?: CallOptions): Promise<void> {
    await this.#context.caller.call("deleteMailbox", { mailboxId: this.id }, options)
  }
}

export class Mailboxes {
  readonly #context: MailContext

  /** @internal */
  constructor(context: MailContext) {
    this.#context = context
  }

  /**
   * Returns the mailbox of this wallet with a local part, unchanged, or buys it if it does not exist. The list is free, so only
   * the first run of a program pays. Throws CONFLICT if the address belongs to another wallet, or if the mailbox is inactive.
   */
  async open(input: InputOf<"createMailbox">, options?: CallOptions): Promise<Mailbox> {
    const own = await this.#findOwn(input, options)
    if (own !== undefined) return own
    const conflict = await this.create(input, options).catch((error: unknown) => {
      if (error instanceof AgentOsError && error.code === "CONFLICT") return error
      throw error
    })
    if (conflict instanceof Mailbox) return conflict
    const { clock } = this.#context
    // Another process of this wallet may be buying it: it is listed once that payment has settled.
    for (let millis = 0; millis <= RACE_MILLIS; millis += POLL_MILLIS) {
      const bought = await this.#findOwn(input, options)
      if (bought !== undefined) return bought
      await clock.sleep(POLL_MILLIS, options?.signal)
      options?.signal?.throwIfAborted()
    }
    const { localPart } = input
    const { answer, message, moneyMoved, nextCalls, requestId, status } = conflict
    throw new AgentOsError({
      code: "CONFLICT",
      message:
        moneyMoved === "no"
          ? `localPart ${JSON.stringify(localPart)} belongs to another wallet. Nothing was charged. Choose another localPart.`
          : message,
      moneyMoved,
      nextCalls,
      requestId,
      status,
      ...(answer === null ? {} : { answer }),
      cause: conflict
    })
  }

  /** Returns the mailbox of this wallet with a local part; undefined without one. Throws CONFLICT if it is inactive. */
  async #findOwn(
    { localPart }: InputOf<"createMailbox">,
    options: CallOptions | undefined
  ): Promise<Mailbox | undefined> {
    const wanted = localPart.toLowerCase()
    const own = (await this.list(options)).find(({ record }) => record.localPart === wanted)
    if (own?.record.active !== false) return own
    throw new AgentOsError({
      code: "CONFLICT",
      message: `${own.address} is yours, but inactive, so it receives no mail. Activate it with mailbox.update({ active: true }), which costs money. Nothing was charged.`
    })
  }

  /** Buys a mailbox. Throws CONFLICT if its address is taken, also by this wallet: see `open`. */
  async create(input: InputOf<"createMailbox">, options?: CallOptions): Promise<Mailbox> {
    const { mailbox } = await this.#context.caller.call("createMailbox", input, options)
    return new Mailbox(this.#context, mailbox)
  }

  /** Returns all mailboxes; none before the first purchase of the wallet. */
  async list(options?: CallOptions): Promise<ReadonlyArray<Mailbox>> {
    const { caller } = this.#context
    const items = await caller.itemsOf(caller.call("listMailboxes", {}, options))
    return items.map((record) => new Mailbox(this.#context, record))
  }

  /** Returns a received or sent message of any mailbox. Throws RESOURCE_NOT_FOUND. */
  async message(messageId: string, options?: CallOptions): Promise<Mail> {
    const { caller } = this.#context
    return new Mail(caller, await readMessage(caller, messageId, options))
  }

  /** Returns a thread with a page of its messages, oldest first, without bodies. Throws RESOURCE_NOT_FOUND. */
  async thread(
    threadId: string,
    { signal, ...page }: CallOptions & Pick<InputOf<"queryThreads">, "mailboxId" | "limit" | "cursor"> = {}
  ): Promise<ThreadPage> {
    const data = await this.#context.caller.call("queryThreads", { ...page, threadId }, { signal })
    if ("thread" in data) return data
    throw unexpected("queryThreads")
  }

  /** Returns the mailbox with this id or address; undefined without one. */
  async find(idOrAddress: string, options?: CallOptions): Promise<Mailbox | undefined> {
    const mailboxes = await this.list(options)
    return mailboxes.find(({ address, id }) => id === idOrAddress || address === idOrAddress.toLowerCase())
  }
}
