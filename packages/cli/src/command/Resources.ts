import { Failure, usageError } from "@agentos/node/command-line"
import type { SettingFlags } from "../config/Settings.ts"
import type { Context } from "../context/Context.ts"
import { callPartner, countOf } from "../output/Wording.ts"
import type { ListedMessage } from "../mail/Inbox.ts"
import type { Connection } from "../server/Connection.ts"
import { collectPages } from "../server/Pages.ts"
import type { DataOf, Server } from "../server/Server.ts"

/** Resolves the settings and connects to their server, with the token if there is one. Sends nothing. */
export const connect = async (context: Context, flags?: SettingFlags): Promise<Connection> => {
  const connection = await import("../server/Connection.ts")
  return connection.connect(context, flags)
}

/** Returns a client of a server, with a token or without. */
export const serverAt = async (context: Context, baseUrl: string, token?: string): Promise<Server> => {
  const server = await import("../server/Server.ts")
  return new server.Server(context, baseUrl, token)
}

/** Returns a client with the saved access token. Fails without one before anything is sent. */
export const clientOf = async (context: Context): Promise<Server> => {
  const { connectWithToken } = await import("../server/Connection.ts")
  return (await connectWithToken(context)).client
}

/*
 * How people name things: by a name, a number, a part of an id, or `latest`. A whole id is passed on without a request.
 */

/** The newest resource. */
export const LATEST = "latest"
const UUID = /^[\da-f]{8}(?:-[\da-f]{4}){3}-[\da-f]{12}$/i
const PART = /^[\da-f-]{4,36}$/i
/** How many resources are compared with a part of an id. */
const SEARCHED = 1_000
/** How many candidates an error lists. */
const LISTED = 5

interface Candidate {
  readonly id: string
  /** What people know it by. */
  readonly about: string
}

/** A kind of resource, and how to list it. */
interface Kind {
  readonly noun: string
  readonly list: string
}
const MAILBOX: Kind = { noun: "mailbox", list: "agentctl mailbox list" }
const NUMBER: Kind = { noun: "number", list: "agentctl number list" }
const MESSAGE: Kind = { noun: "message", list: "agentctl mail list" }
const CALL: Kind = { noun: "call", list: "agentctl call list" }
const EVENT: Kind = { noun: "event", list: "agentctl events list" }
const PAYMENT: Kind = { noun: "payment", list: "agentctl payments list" }

const capitalized = (text: string): string => text.charAt(0).toUpperCase() + text.slice(1)

const pluralOf = (noun: string, count: number): string =>
  noun === "mailbox" && count !== 1 ? `${count} mailboxes` : countOf(count, noun)

const notFound = ({ list, noun }: Kind, text: string): Failure =>
  new Failure({
    code: "NOT_FOUND",
    message: `${capitalized(noun)} ${text} not found among your ${noun === "mailbox" ? "mailboxes" : `${noun}s`}.`,
    next: [list]
  })

/** Returns the only candidate. Names the others if there are several. */
const onlyOf = (kind: Kind, text: string, found: ReadonlyArray<Candidate>): string => {
  const [only, ...more] = found
  if (only === undefined) throw notFound(kind, text)
  if (more.length === 0) return only.id
  const shown = found.slice(0, LISTED).map(({ about, id }) => `${id} (${about})`)
  const rest = found.length > LISTED ? `, and ${found.length - LISTED} more` : ""
  throw usageError(
    `${text} names ${pluralOf(kind.noun, found.length)}: ${shown.join(", ")}${rest}. Pass one of the ids.`,
    [kind.list]
  )
}

/** Selects the resources whose id begins or ends with the text. Tables show the end. */
const withPart = (text: string, candidates: ReadonlyArray<Candidate>): ReadonlyArray<Candidate> => {
  const part = text.toLowerCase()
  return candidates.filter(({ id }) => id.startsWith(part) || id.endsWith(part))
}

const requirePart = (kind: Kind, text: string): void => {
  if (!PART.test(text))
    throw usageError(
      `"${text}" names no ${kind.noun}. Pass its id, at least 4 characters of its beginning or end, or ${LATEST}.`,
      [kind.list]
    )
}

const mailboxOf = ({ address, mailboxId }: DataOf<"listMailboxes">["items"][number]): Candidate => ({
  id: mailboxId,
  about: address
})

/** Returns a mailbox that is given by local part, address, or id or a part of it. */
export const findMailbox = async (client: Server, text: string): Promise<DataOf<"listMailboxes">["items"][number]> => {
  const { items } = await client.call("listMailboxes")
  const name = text.toLowerCase()
  const named = items.filter(({ address, localPart }) => (name.includes("@") ? address : localPart) === name)
  const candidates = named.length > 0 || !PART.test(text) ? named.map(mailboxOf) : withPart(text, items.map(mailboxOf))
  const id = onlyOf(MAILBOX, text, candidates)
  return items.find(({ mailboxId }) => mailboxId === id)!
}

/** Returns the id of a mailbox that is given in the same way. */
export const mailboxIdOf = async (client: Server, text: string): Promise<string> =>
  UUID.test(text) ? text.toLowerCase() : (await findMailbox(client, text)).mailboxId

/** Returns a number that is given as a phone number, by the name of its agent, or by id or a part of it. */
export const findNumber = async (client: Server, text: string): Promise<DataOf<"listNumbers">["items"][number]> => {
  const { items } = await client.call("listNumbers")
  const digits = text.replaceAll(/[\s().-]/g, "")
  // A released number can be bought again. The newest one counts.
  const found = items
    .filter(({ number }) => number === digits || number === `+${digits}`)
    .toSorted((left, right) => (left.createdAt < right.createdAt ? 1 : -1))[0]
  if (found !== undefined) return found
  const candidateOf = ({ agentName, number, phoneNumberId }: (typeof items)[number]): Candidate => ({
    id: phoneNumberId,
    about: `${number}, ${agentName}`
  })
  const named = items.filter(({ agentName }) => agentName.toLowerCase() === text.toLowerCase())
  const candidates =
    named.length > 0 || !PART.test(text) ? named.map(candidateOf) : withPart(text, items.map(candidateOf))
  const id = onlyOf(NUMBER, text, candidates)
  return items.find(({ phoneNumberId }) => phoneNumberId === id)!
}

/** Returns the id of a number that is given in the same way. */
export const numberIdOf = async (client: Server, text: string): Promise<string> =>
  UUID.test(text) ? text.toLowerCase() : (await findNumber(client, text)).phoneNumberId

/** Lists messages, the newest first. */
const listMessages = (
  client: Server,
  limit: number,
  filter: { readonly direction?: "inbound" | undefined; readonly mailboxId?: string } = {}
) =>
  collectPages<ListedMessage>(limit, undefined, async (size, cursor) => {
    const data = await client.call("queryMessages", { query: { ...filter, limit: size, cursor } })
    return "items" in data ? data : { items: [], nextCursor: null }
  })

const messageAbout = ({ direction, from, subject, to }: ListedMessage): string =>
  `${direction === "inbound" ? `from ${from}` : `to ${to.join(", ")}`}: ${subject}`

const newestMessage = async (client: Server, direction?: "inbound"): Promise<ListedMessage> => {
  const [newest] = (await listMessages(client, 1, { direction })).items
  if (newest === undefined) throw notFound(MESSAGE, LATEST)
  return newest
}

/**
 * Returns the id of a message that is given by id, a part of it, or as `latest`: the newest, or the newest received one for
 * commands that need one.
 */
export const messageIdOf = async (client: Server, text: string, direction?: "inbound"): Promise<string> => {
  if (UUID.test(text)) return text.toLowerCase()
  if (text === LATEST) return (await newestMessage(client, direction)).messageId
  requirePart(MESSAGE, text)
  const { items } = await listMessages(client, SEARCHED)
  const candidates = items.map((item) => ({ id: item.messageId, about: messageAbout(item) }))
  return onlyOf(MESSAGE, text, withPart(text, candidates))
}

/** Counts the messages of a mailbox in words: `with its 12 messages`. */
export const messageCount = async (client: Server, mailboxId: string): Promise<string> => {
  const { items, nextCursor } = await listMessages(client, SEARCHED, { mailboxId })
  if (items.length === 0) return "which has no messages"
  return `with its ${nextCursor === null ? countOf(items.length, "message") : `more than ${SEARCHED} messages`}`
}

/** Returns the id of a conversation that is given by id, a part of it, or as `latest`: that of the newest message. */
export const threadIdOf = async (client: Server, text: string): Promise<string> => {
  if (text === LATEST) return (await newestMessage(client)).threadId
  if (UUID.test(text) || !PART.test(text)) return text
  const { items } = await listMessages(client, SEARCHED)
  const threads = new Map(items.map((item) => [item.threadId, messageAbout(item)]))
  const candidates = Array.from(threads, ([id, about]) => ({ id, about }))
  return onlyOf({ ...MESSAGE, noun: "thread" }, text, withPart(text, candidates))
}

/** Returns the id of a call that is given by id, a part of it, or as `latest`. */
export const callIdOf = async (client: Server, text: string): Promise<string> => {
  if (UUID.test(text)) return text.toLowerCase()
  if (text !== LATEST) requirePart(CALL, text)
  const { items } = await collectPages(text === LATEST ? 1 : SEARCHED, undefined, (limit, cursor) =>
    client.call("listCalls", { query: { limit, cursor } })
  )
  const found = items.map((call) => ({ id: call.callId, about: callPartner(call) }))
  return onlyOf(CALL, text, text === LATEST ? found : withPart(text, found))
}

const HOUR_MILLIS = 3_600_000

/** Returns the id of an event that is given by id, a part of it, or as `latest`. The server lists the oldest first. */
export const eventIdOf = async ({ host }: Context, client: Server, text: string): Promise<string> => {
  if (UUID.test(text)) return text.toLowerCase()
  if (text !== LATEST) requirePart(EVENT, text)
  for (const hours of [1, 24, undefined]) {
    const from = hours === undefined ? {} : { from: new Date(host.now() - hours * HOUR_MILLIS).toISOString() }
    const { items } = await collectPages(SEARCHED, undefined, (limit, cursor) =>
      client.call("listEvents", { payload: { ...from, limit, ...(cursor === undefined ? {} : { cursor }) } })
    )
    const all = items.map(({ createdAt, eventId, type }) => ({ id: eventId, about: `${type}, ${createdAt}` }))
    const found = text === LATEST ? all.slice(-1) : withPart(text, all)
    if (found.length > 0) return onlyOf(EVENT, text, found)
  }
  throw notFound(EVENT, text)
}

/** Returns the id of a payment in the journal that is given by id, a part of it, or as `latest`. */
export const paymentIdOf = async (context: Context, text: string): Promise<string> => {
  if (UUID.test(text)) return text.toLowerCase()
  if (text !== LATEST) requirePart(PAYMENT, text)
  const { resolveSettings } = await import("../config/Settings.ts")
  const { readEntries } = await import("../payment/Journal.ts")
  const entries = await readEntries(context.host)
  if (text === LATEST) {
    const profile = (await resolveSettings(context)).profile.value
    const newest = entries.find((entry) => entry.profile === profile)
    if (newest === undefined) throw notFound(PAYMENT, LATEST)
    return newest.id
  }
  const candidates = entries.map(({ id, serviceId }) => ({ id, about: serviceId }))
  return onlyOf(PAYMENT, text, withPart(text, candidates))
}

/** Returns the id of a mailbox, number or call. */
export const resourceIdOf = async (client: Server, text: string): Promise<string> => {
  if (text.startsWith("+")) return numberIdOf(client, text)
  return text.includes("@") ? mailboxIdOf(client, text) : text
}

/** Returns the id of the only mailbox, if no --from is given. */
export const onlyMailboxId = async (client: Server): Promise<string> => {
  const { items } = await client.call("listMailboxes")
  const [only, ...more] = items
  if (only === undefined) throw usageError("You have no mailbox to send from.", ["agentctl mailbox create LOCALPART"])
  if (more.length === 0) return only.mailboxId
  const addresses = items.map(({ address }) => address).join(", ")
  throw usageError(`You have ${items.length} mailboxes. Pick one with --from: ${addresses}`, ["agentctl mailbox list"])
}

/** Returns the id of the only usable number, if no --from is given. */
export const onlyNumberId = async (client: Server): Promise<string> => {
  const { items } = await client.call("listNumbers")
  const usable = items.filter(({ status }) => status === "active" || status === "expiring")
  const [only, ...more] = usable
  if (only === undefined) throw usageError("You have no number to call from.", ["agentctl number buy us"])
  if (more.length === 0) return only.phoneNumberId
  const numbers = usable.map(({ number }) => number).join(", ")
  throw usageError(`You have ${usable.length} numbers. Pick one with --from: ${numbers}`, ["agentctl number list"])
}
