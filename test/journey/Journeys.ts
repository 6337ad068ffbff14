import { readChainDescription } from "@agentos/sandbox"
import { join } from "node:path"
import { setTimeout as sleep } from "node:timers/promises"
import { generatePrivateKey } from "viem/accounts"
import { Agent, freshName } from "../support/Agent.ts"
import { sendMail } from "../support/ClientRig.ts"
import { inspectorUrl, openInspector } from "../support/Inspector.ts"
import { PhoneCarrier } from "../support/PhoneCarrier.ts"
import { PhoneCustomer } from "../support/PhoneCustomer.ts"
import { FROM_SOURCES } from "../support/ProgramBundle.ts"
import { Realtime } from "../support/Realtime.ts"
import { type Sandbox, startSandbox } from "../support/Sandbox.ts"
import { Treasury } from "../support/Treasury.ts"
import { Coverage, type EnteredFunction } from "./Coverage.ts"

/** The functions that a journey enters in the server. */
export interface Journey {
  readonly name: string
  readonly entered: ReadonlyArray<EnteredFunction>
}

const FUNDS = 100
const INSPECTABLE_WITHIN_MILLIS = 10_000
const POLL_MILLIS = 50

/** Opens the inspector of the server, which listens only after SIGUSR1. */
const inspectServer = async (sandbox: Sandbox, pid: number) => {
  process.kill(pid, "SIGUSR1")
  const deadline = Date.now() + INSPECTABLE_WITHIN_MILLIS
  for (;;) {
    const url = inspectorUrl(join(sandbox.directory, "logs/server.log"))
    if (url !== undefined) return openInspector(url)
    if (Date.now() > deadline) throw new Error("the server did not open its inspector")
    await sleep(POLL_MILLIS)
  }
}

/** Walks each journey twice on a sandbox of its own, and returns the functions that the second walk entered. */
export const walkJourneys = async (): Promise<ReadonlyArray<Journey>> => {
  const sandbox = await startSandbox({
    // The port at which SIGUSR1 opens the inspector.
    environment: { ...FROM_SOURCES, NODE_OPTIONS: "--inspect-port=127.0.0.1:0" }
  })
  try {
    const described = await sandbox.describe()
    const chain = await readChainDescription(join(sandbox.directory, "chain"))
    if (chain === undefined) throw new Error("the sandbox's folder has no chain")
    const newAgent = async () => {
      const agent = new Agent(described, generatePrivateKey())
      await new Treasury(chain).fund([agent.account.address], FUNDS)
      return agent
    }
    // Nobody follows its events, so a purchase is measured without their delivery.
    const buyer = await newAgent()
    const receiver = await newAgent()
    const customer = new PhoneCustomer(receiver, described.agentWebhookUrl)
    const { number, phoneNumberId } = await customer.buy()
    await customer.addMinutes(phoneNumberId)
    const { address } = await receiver.createMailbox(freshName())
    const socket = await Realtime.open(receiver)
    const carrier = new PhoneCarrier(described)
    /** Acknowledges events until one of the type, and returns the message that acknowledges that one. */
    const receive = async (type: string) => {
      for (;;) {
        const { deliveryId, event } = await socket.next()
        if (event === undefined) continue
        const acknowledgement = { type: "event.ack", eventId: event.eventId, deliveryId }
        if (event.type === type) return acknowledgement
        socket.send(acknowledgement)
      }
    }
    const acknowledge = async (acknowledgement: { readonly eventId: string }) => {
      socket.send(acknowledgement)
      for (;;) {
        const { eventId, type } = await socket.next()
        if (type === "event.acknowledged" && eventId === acknowledgement.eventId) return
      }
    }

    const inspector = await inspectServer(sandbox, described.processes.server)
    const coverage = await Coverage.start(inspector)
    const walk = async (): Promise<ReadonlyArray<Journey>> => {
      await coverage.learnIdle()
      const journeys: Array<Journey> = []
      const measure = async <A>(name: string, work: () => Promise<A>): Promise<A> => {
        const results: Array<A> = []
        const entered = await coverage.during(async () => void results.push(await work()))
        journeys.push({ name, entered })
        return results[0]!
      }
      await measure("challenge, then payment for a mailbox", () => buyer.createMailbox(freshName()))
      await measure("list of numbers", () => customer.numbers())
      const received = await measure("mail to its event on the socket", async () => {
        await sendMail(described, address, { subject: "Hello", text: "Are you there?" })
        return receive("email.received")
      })
      await measure("acknowledgement over the socket", () => acknowledge(received))
      const ended = await measure("inbound call", async () => {
        await carrier.over(await carrier.callIn(number, { lines: ["Who's there?"] }))
        return receive("phone.call.ended")
      })
      // The lease of an unacknowledged event is renewed, and would count as what an idle server does.
      await acknowledge(ended)
      return journeys
    }
    try {
      await walk()
      return await walk()
    } finally {
      socket.close()
      inspector.close()
    }
  } finally {
    await sandbox.stop()
  }
}
