import type { SandboxDescription } from "../supervisor/SandboxFile.ts"
import { expectEqual, Unexpected } from "./Expectation.ts"
import { createMailbox, takeMailSteps } from "./MailSteps.ts"
import { takePhoneSteps } from "./PhoneSteps.ts"
import { makeTourClient, type TourClient } from "./TourClient.ts"
import { openTourSocket, type TourSocket } from "./TourSocket.ts"
import { makeSteps, type Outcome, TourFailed, type Visit } from "./TourStep.ts"

interface Service {
  readonly serviceId: string
  readonly price: { readonly amount: string } | null
}

/**
 * An agent's day in a running sandbox, with the clients that anybody would use: it buys a mailbox, hears of mail to
 * it, reads the mail, acknowledges and answers it; it buys a telephone number, calls somebody and is called. Each step
 * is told in one line with what proves it. Rejects with `TourFailed` at the first step that does not go as it should.
 */
export const takeTour = async (sandbox: SandboxDescription, say: (line: string) => void): Promise<void> => {
  // The last wallet, so as to be out of the way of those who take the first.
  const wallet = sandbox.wallets.at(-1)
  if (wallet === undefined) throw new TourFailed("Wallet", new Unexpected("a funded wallet", "none"))
  const client = makeTourClient(sandbox, wallet.privateKey)
  const step = makeSteps(say)

  const priceOf = await step("Read the catalog", () => readCatalog(client))
  const mailbox = await step("Create a mailbox", () => createMailbox(client, priceOf("email.mailbox.create")))
  const socket = await step("Open the realtime socket", () => openSocket(client, sandbox))
  const visit: Visit = { sandbox, client, step, priceOf }
  try {
    await takeMailSteps(visit, socket, mailbox)
    await takePhoneSteps(visit, socket)
  } finally {
    socket.close()
  }
}

const readCatalog = async (client: TourClient): Promise<Outcome<Visit["priceOf"]>> => {
  const { items } = await client.get<{ readonly items: ReadonlyArray<Service> }>("/api/v1/services")
  const priceOf = (serviceId: string): string => {
    const amount = items.find((service) => service.serviceId === serviceId)?.price?.amount
    if (amount === undefined) throw new Unexpected(`a price for ${serviceId}`, `${items.length} services without it`)
    return amount
  }
  const [mailbox, email] = [priceOf("email.mailbox.create"), priceOf("email.message.send")]
  const number = priceOf("phone.number.us.30d")
  return {
    value: priceOf,
    proof: `${items.length} services; a mailbox costs ${mailbox} USDT, an email ${email}, a number ${number} a month`
  }
}

const openSocket = async (client: TourClient, sandbox: SandboxDescription): Promise<Outcome<TourSocket>> => {
  const { realtime } = await client.get<{
    readonly realtime: { readonly token: string; readonly websocketUrl: string }
  }>("/api/v1/events/realtime-token")
  expectEqual("the WebSocket at", realtime.websocketUrl, sandbox.websocketUrl)
  const socket = await openTourSocket(realtime.websocketUrl)
  try {
    socket.send({ type: "session.authenticate", token: realtime.token })
    await socket.next("session.ready", ({ type }) => type === "session.ready")
    const replay = await socket.next("session.replay.complete", (message) => {
      // Events of an earlier tour, or of what was just paid for: an agent would have handled them.
      if (message.event !== undefined) socket.send({ type: "event.ack", eventId: message.event.eventId })
      return message.type === "session.replay.complete"
    })
    return { value: socket, proof: `session.ready; ${replay.delivered} earlier events replayed` }
  } catch (error) {
    socket.close()
    throw error
  }
}
