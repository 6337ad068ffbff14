import type { InputOf } from "../command/Command.ts"
import type { Context } from "../command/Handler.ts"
import type { MAIL_WAIT } from "../command/MailCommands.ts"
import { Failure } from "../failure/Failure.ts"
import { messageText, type Message } from "../mail/MessageText.ts"
import { oneTimeCode } from "../mail/OneTimeCode.ts"
import { senderFilter } from "../mail/SenderFilter.ts"
import { isVerified, isVerifiedSender, type SentMessage, verdictText } from "../mail/SenderVerdict.ts"
import { millisOfSpan } from "../output/Moment.ts"
import { plainLine } from "../output/Plain.ts"
import { countOf } from "../output/Wording.ts"
import { type ApiClient, type DataOf, queryOf } from "../server/ApiClient.ts"
import { connectWithToken } from "../server/Connection.ts"
import { ROUTES } from "../server/Routes.ts"
import { serverTime } from "../server/ServerTime.ts"
import { mailboxIdOf } from "./MailList.ts"

type Input = InputOf<typeof MAIL_WAIT>
type Listed = Extract<DataOf<"queryMessages">, { readonly items: unknown }>["items"][number]

/** How far back it looks: a message is often there before anybody waits for it. */
const LOOK_BACK_MILLIS = 60_000
const POLL_MILLIS = 1_000
const PAGE = 100
/** Pages of one look. */
const PAGES = 10

export const run = async (context: Context, { flags }: Input): Promise<void> => {
  const { host, output } = context
  const limit = millisOfSpan("timeout", flags.timeout)
  const isFrom = flags.from === undefined ? () => true : senderFilter(flags.from)
  const isTrusted = trustOf(flags)
  const { client } = await connectWithToken(context)
  const mailboxId = flags.mailbox === undefined ? undefined : await mailboxIdOf(client, flags.mailbox)
  const deadline = host.now() + limit
  const inbox = new Inbox(context, client, mailboxId)
  let unverified = 0
  for (let isFirst = true; ; isFirst = false) {
    for (const listed of await inbox.unseen()) {
      if (!isFrom(listed.from) || !contains(listed.subject, flags.subject)) continue
      if (!isTrusted(listed)) {
        unverified++
        output.warn(
          `Ignored ${plainLine(`"${listed.subject}" from ${listed.from}: its sender is not verified (${verdictText(listed.authentication)})`)}. Use --unverified to accept it.`
        )
        continue
      }
      const { message } = await inbox.read(listed.messageId)
      const code = flags.otp ? oneTimeCode(message) : undefined
      if (flags.otp && code === undefined) continue
      const { messageId } = message
      const { authentication }: SentMessage = message
      const document = code === undefined ? { message } : { code, messageId, authentication: authentication ?? null }
      return output.data(document, () =>
        code === undefined ? messageText(message, message.text, output) : `${plainLine(code)}\n`
      )
    }
    const left = deadline - host.now()
    if (left <= 0) break
    if (isFirst) output.note(`Waiting ${flags.timeout} for a message…`)
    await host.sleep(Math.min(POLL_MILLIS, left))
  }
  throw new Failure({
    code: "NOT_FOUND",
    message: `No ${flags.otp ? "message with a code" : "such message"} has come within ${flags.timeout}.${distrustOf(unverified)}`,
    next: ["agentctl mail list --limit 10"]
  })
}

/** Which messages are relied on: anybody can write a code, or a name into From. */
const trustOf = ({ from, otp, unverified }: Input["flags"]): ((message: Listed) => boolean) => {
  if (unverified || (from === undefined && !otp)) return () => true
  return from === undefined ? isVerified : isVerifiedSender
}

const distrustOf = (count: number): string =>
  count === 0
    ? ""
    : ` ${countOf(count, "message")} ${count === 1 ? "was ignored because its" : "were ignored because their"} sender is not verified.`

const contains = (text: string, part: string | undefined): boolean =>
  part === undefined || text.toLowerCase().includes(part.toLowerCase())

/** What has come in since a little before it was first looked at. */
class Inbox {
  readonly #context: Context
  readonly #client: ApiClient
  readonly #mailboxId: string | undefined
  readonly #seen = new Set<string>()
  /** By the server's clock, which dates messages. */
  #since: string | undefined

  constructor(context: Context, client: ApiClient, mailboxId: string | undefined) {
    this.#context = context
    this.#client = client
    this.#mailboxId = mailboxId
  }

  /** Messages that it has not given before, newest first. */
  async unseen(): Promise<ReadonlyArray<Listed>> {
    const found: Array<Listed> = []
    let cursor: string | undefined
    for (let page = 0; page < PAGES; page++) {
      const { at, items, nextCursor } = await this.#page(cursor)
      this.#since ??= new Date(Date.parse(at) - LOOK_BACK_MILLIS).toISOString()
      const since = this.#since
      const recent = items.filter(({ createdAt }) => createdAt >= since)
      found.push(...recent.filter(({ direction, messageId }) => direction === "inbound" && !this.#seen.has(messageId)))
      if (recent.length < items.length || nextCursor === null) break
      cursor = nextCursor
    }
    for (const { messageId } of found) this.#seen.add(messageId)
    return found
  }

  async read(messageId: string): Promise<{ readonly message: Message }> {
    const data = await this.#client.call("queryMessages", { query: { messageId } })
    if ("message" in data) return data
    throw new Failure({ code: "UNEXPECTED_ANSWER", message: "The server answered with a list." })
  }

  async #page(cursor: string | undefined) {
    const { method, path } = ROUTES.queryMessages
    const query = queryOf({ mailboxId: this.#mailboxId, limit: PAGE, cursor })
    const answer = await this.#client.send({ method, path: `${path}${query}`, repeatable: true })
    const data = this.#client.dataOf(answer) as DataOf<"queryMessages">
    if (!("items" in data))
      throw new Failure({ code: "UNEXPECTED_ANSWER", message: "The server answered with one message." })
    return { ...data, at: serverTime(answer.headers) ?? new Date(this.#context.host.now()).toISOString() }
  }
}
