import type { Completion } from "../command/Command.ts"
import { COMMANDS } from "../command/Commands.ts"
import type { GlobalValues } from "../command/GlobalFlags.ts"
import { readConfig } from "../config/ConfigFile.ts"
import type { Host } from "../host/Host.ts"
import { Output } from "../output/Output.ts"
import { readEntries } from "../payment/Journal.ts"
import { connect, connectWithToken } from "../server/Connection.ts"
import type { Candidate } from "./Candidate.ts"

const PAGE_SIZE = 50

/** Ids of what there is, asked of the server or read on this machine. */
export const resourceCandidates = async (
  host: Host,
  globals: GlobalValues,
  kind: Completion
): Promise<ReadonlyArray<Candidate>> => {
  const context = { host, globals, output: new Output(host, { json: false, quiet: true, color: false }) }
  switch (kind) {
    case "mailbox": {
      const { items } = await (await connectWithToken(context)).client.call("listMailboxes")
      return items.map(({ address, mailboxId }) => ({ word: mailboxId, does: address }))
    }
    case "message": {
      const { client } = await connectWithToken(context)
      const data = await client.call("queryMessages", { query: { limit: PAGE_SIZE } })
      return "items" in data
        ? data.items.map(({ from, messageId, subject }) => ({ word: messageId, does: `${from}: ${subject}` }))
        : []
    }
    case "number": {
      const { items } = await (await connectWithToken(context)).client.call("listNumbers")
      return items.map(({ number, phoneNumberId }) => ({ word: phoneNumberId, does: number }))
    }
    case "event": {
      const { items } = await (
        await connectWithToken(context)
      ).client.call("replayEvents", { query: { limit: PAGE_SIZE } })
      return items.map(({ eventId, type }) => ({ word: eventId, does: type }))
    }
    case "service": {
      const { items } = await (await connect(context)).client.call("listServices")
      return items.map(({ purpose, serviceId }) => ({ word: serviceId, does: purpose }))
    }
    case "payment":
      return (await readEntries(host)).map(({ id, serviceId }) => ({ word: id, does: serviceId }))
    case "profile":
      return Object.keys((await readConfig(host)).profiles).map((word) => ({ word }))
    case "command":
      return COMMANDS.map(({ name, summary }) => ({ word: name, does: summary }))
    case "file":
      return []
  }
}
