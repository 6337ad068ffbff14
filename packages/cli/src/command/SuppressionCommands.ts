import { CURSOR_FLAG, LIMIT_FLAG } from "../context/Flags.ts"
import { timeColumn } from "../output/Wording.ts"
import { collectPages } from "../server/Pages.ts"
import { defineCommand } from "./Command.ts"
import { clientOf } from "./Resources.ts"

export const MAIL_SUPPRESSIONS_LIST = defineCommand(
  {
    name: "mail suppressions list",
    summary: "List the addresses that you can't write to",
    description:
      "An address is suppressed when it does not exist (bounced) or marked your mail as spam (complained). Mail to it is refused before anything is charged.",
    flags: [LIMIT_FLAG, CURSOR_FLAG],
    examples: [{ line: "agentctl mail suppressions list", does: "Find out why a recipient is refused" }],
    output: "rows",
    json: "{items: [suppression], nextCursor}",
    exits: [4, 9]
  },
  async (context, { flags }) => {
    const client = await clientOf(context)
    const page = await collectPages(flags.limit, flags.cursor, (limit, cursor) =>
      client.call("listSuppressions", { query: { limit, cursor } })
    )
    context.output.page(page, "suppressions", flags.limit, [
      { heading: "ADDRESS", value: ({ address }) => address, whole: true },
      { heading: "REASON", value: ({ reason }) => reason, whole: true },
      timeColumn("TIME", ({ createdAt }) => createdAt)
    ])
  }
)

export const MAIL_SUPPRESSIONS_LIFT = defineCommand(
  {
    name: "mail suppressions lift",
    summary: "Write to an address again that bounced or complained",
    description:
      "Use it when you know that the address exists, or that its owner wants your mail. If it bounces or complains again, it is suppressed again. Nothing is paid.",
    arguments: [{ name: "address", summary: "Email address.", presence: "required" }],
    examples: [{ line: "agentctl mail suppressions lift bob@example.com", does: "Lift the suppression" }],
    output: "record",
    json: "{address, lifted}",
    exits: [4, 9]
  },
  async (context, { arguments: { address } }) => {
    const data = await (await clientOf(context)).call("liftSuppression", { payload: { address } })
    context.output.record(data, [
      ["Address", data.address],
      ["Lifted", data.lifted ? "yes" : "no, it was not suppressed"]
    ])
  }
)
