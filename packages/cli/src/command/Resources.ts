import { usageError } from "@agentos/node/command-line"
import type { Server } from "../server/Server.ts"
import type { Context } from "../context/Context.ts"

/** Returns a client with the saved access token. Fails without one before anything is sent. */
export const clientOf = async (context: Context): Promise<Server> => {
  const { connectWithToken } = await import("../server/Connection.ts")
  return (await connectWithToken(context)).client
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
