import type { Context } from "../command/Handler.ts"
import { momentOf } from "../output/Wording.ts"
import { connectWithToken } from "../server/Connection.ts"

export const run = async (context: Context): Promise<void> => {
  const { client } = await connectWithToken(context)
  const data = await client.call("listMailboxes")
  context.output.table(
    data,
    data.items,
    [
      { heading: "ADDRESS", value: ({ address }) => address, whole: true },
      { heading: "NAME", value: ({ displayName }) => displayName },
      { heading: "ACTIVE", value: ({ active }) => (active ? "yes" : "no"), whole: true },
      { heading: "CREATED", value: ({ createdAt }) => momentOf(createdAt), whole: true },
      { heading: "MAILBOX", value: ({ mailboxId }) => mailboxId, whole: true }
    ],
    "There is no mailbox yet."
  )
}
