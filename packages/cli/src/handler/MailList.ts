import type { InputOf } from "../command/Command.ts"
import type { Context } from "../command/Handler.ts"
import type { MAIL_LIST } from "../command/MailCommands.ts"
import { Failure } from "../failure/Failure.ts"
import { verdictCell } from "../mail/SenderVerdict.ts"
import { shellWord } from "../output/ShellWord.ts"
import { momentOf } from "../output/Wording.ts"
import type { ApiClient } from "../server/ApiClient.ts"
import { connectWithToken } from "../server/Connection.ts"
import { collect } from "../server/Pages.ts"

/** The id of a mailbox that is named by its id or its address. */
export const mailboxIdOf = async (client: ApiClient, text: string): Promise<string> => {
  if (!text.includes("@")) return text
  const { items } = await client.call("listMailboxes")
  const found = items.find(({ address }) => address === text.toLowerCase())
  if (found !== undefined) return found.mailboxId
  throw new Failure({ code: "NOT_FOUND", message: `You have no mailbox ${text}.`, next: ["agentctl mailbox list"] })
}

export const run = async (context: Context, { flags }: InputOf<typeof MAIL_LIST>): Promise<void> => {
  const { client } = await connectWithToken(context)
  const mailboxId = flags.mailbox === undefined ? undefined : await mailboxIdOf(client, flags.mailbox)
  const page = await collect(flags.limit, flags.cursor, async (limit, cursor) => {
    const data = await client.call("queryMessages", { query: { mailboxId, limit, cursor } })
    return "items" in data ? data : { items: [data.message], nextCursor: null }
  })
  context.output.table(
    page,
    page.items,
    [
      { heading: "WHEN", value: ({ createdAt }) => momentOf(createdAt), whole: true },
      { heading: "", value: ({ direction }) => (direction === "inbound" ? "from" : "to"), whole: true },
      { heading: "WHO", value: ({ direction, from, to }) => (direction === "inbound" ? from : to.join(", ")) },
      { heading: "SUBJECT", value: ({ subject }) => subject },
      { heading: "SPF/DKIM/DMARC", value: ({ authentication }) => verdictCell(authentication), whole: true },
      { heading: "STATUS", value: ({ status }) => status, whole: true },
      { heading: "MESSAGE", value: ({ messageId }) => messageId, whole: true }
    ],
    "There is no message."
  )
  if (page.nextCursor !== null)
    context.output.note(`There are more: --limit ${flags.limit * 2}, or --cursor ${shellWord(page.nextCursor)}`)
}
