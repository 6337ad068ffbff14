import { acquireFileLock, type FileLock, FileLockedError } from "@agentos/node/file-lock"
import { setTimeout as sleep } from "node:timers/promises"
import { describeDataDirectory } from "../supervisor/DataDirectory.ts"
import { START_COMMAND } from "../supervisor/Installation.ts"
import { readSandboxFile, type SandboxDescription } from "../supervisor/SandboxFile.ts"
import { readTourOptions, tourHelp } from "../supervisor/StartOptions.ts"
import { expectEqual, ExpectationFailed } from "./Expectation.ts"
import { createMailbox, runMailSteps } from "./MailSteps.ts"
import { runPhoneSteps } from "./PhoneSteps.ts"
import { makeTourClient, openTourSocket, type TourClient, type TourSocket } from "./TourClient.ts"
import { makeSteps, type StepResult, type TourContext, TourFailed } from "./TourStep.ts"

/**
 * The command `tour`: runs the tour of a running sandbox. Returns the exit code: 1 if the tour fails, 2 for a wrong
 * command line.
 */
export const tourCommand = async (args: ReadonlyArray<string>): Promise<number> => {
  const commandLine = readTourOptions(args)
  switch (commandLine._tag) {
    case "Help":
      console.log(tourHelp)
      return 0
    case "UsageError":
      console.error(`${commandLine.message}\n\n${tourHelp}`)
      return 2
    case "Run":
      return run(commandLine.options.dataDir)
  }
}

const run = async (dataDir: string): Promise<number> => {
  const { sandboxFile, tourLockFile } = describeDataDirectory(dataDir)
  const sandbox = await readSandboxFile(sandboxFile)
  if (sandbox === undefined) {
    console.error(`No sandbox is running in ${dataDir}. Start one with: ${START_COMMAND}`)
    return 1
  }
  const lock = await lockTour(tourLockFile)
  // The tour signs payments, which are valid for less than a minute in the time of the sandbox.
  if (sandbox.clock !== null) await import(sandbox.clock.module)
  try {
    return await take(sandbox)
  } finally {
    lock.release()
  }
}

const POLL_MILLIS = 100

/** Waits for its turn: all tours of a sandbox use the same wallet, and check its balance and events. */
const lockTour = async (file: string): Promise<FileLock> => {
  for (let isAnnounced = false; ; isAnnounced = true) {
    try {
      return acquireFileLock(file)
    } catch (error) {
      if (!(error instanceof FileLockedError)) throw error
      if (!isAnnounced) console.log("Another tour of this sandbox is running. This one begins after it.")
      await sleep(POLL_MILLIS)
    }
  }
}

/** Prints the tour, and returns the exit code. */
const take = async (sandbox: SandboxDescription): Promise<number> => {
  const startedAt = performance.now()
  console.log(
    "\nThe tour: an agent buys a mailbox, receives mail and replies. It buys a phone number, places a call and receives " +
      "one.\n"
  )
  try {
    await runTour(sandbox, (line) => console.log(line))
  } catch (error) {
    console.error(error instanceof TourFailed ? `\n${error.message}` : error)
    return 1
  }
  console.log(`\nThe tour took ${((performance.now() - startedAt) / 1_000).toFixed(1)} s.`)
  return 0
}

/** Runs all steps with standard clients, and prints one line per step. Rejects with `TourFailed` at the first failure. */
const runTour = async (sandbox: SandboxDescription, print: (line: string) => void): Promise<void> => {
  // The last wallet, because users start with the first.
  const wallet = sandbox.wallets.at(-1)
  if (wallet === undefined) throw new TourFailed("Wallet", new ExpectationFailed("a funded wallet", "none"))
  const client = makeTourClient(sandbox, wallet.privateKey)
  const step = makeSteps(print)

  const priceOf = await step("Read the catalog", () => readCatalog(client))
  const mailbox = await step("Create a mailbox", () => createMailbox(client, priceOf("email.mailbox.create")))
  const socket = await step("Open the realtime socket", () => openSocket(client, sandbox))
  const context: TourContext = { sandbox, client, step, priceOf }
  try {
    await runMailSteps(context, socket, mailbox)
    await runPhoneSteps(context, socket)
  } finally {
    socket.close()
  }
}

interface Service {
  readonly serviceId: string
  readonly price: { readonly amount: string } | null
}

const readCatalog = async (client: TourClient): Promise<StepResult<TourContext["priceOf"]>> => {
  const { items } = await client.get<{ readonly items: ReadonlyArray<Service> }>("/api/v1/services")
  const priceOf = (serviceId: string): string => {
    const amount = items.find((service) => service.serviceId === serviceId)?.price?.amount
    if (amount === undefined) throw new ExpectationFailed(`a price for ${serviceId}`, "none")
    return amount
  }
  const [mailbox, email] = [priceOf("email.mailbox.create"), priceOf("email.message.send")]
  const number = priceOf("phone.number.us.30d")
  return {
    value: priceOf,
    evidence: `${items.length} services; a mailbox costs ${mailbox} USDT, an email ${email}, a number ${number} a month`
  }
}

const openSocket = async (client: TourClient, sandbox: SandboxDescription): Promise<StepResult<TourSocket>> => {
  const { realtime } = await client.get<{
    readonly realtime: { readonly token: string; readonly websocketUrl: string }
  }>("/api/v1/events/realtime-token")
  expectEqual("WebSocket URL", realtime.websocketUrl, sandbox.websocketUrl)
  const socket = await openTourSocket(realtime.websocketUrl)
  try {
    socket.send({ type: "session.authenticate", token: realtime.token })
    await socket.next("session.ready", ({ type }) => type === "session.ready")
    const replay = await socket.next("session.replay.complete", (message) => {
      // Acknowledges the events of earlier tours and purchases, as an agent that handled them would.
      if (message.event !== undefined) socket.send({ type: "event.ack", eventId: message.event.eventId })
      return message.type === "session.replay.complete"
    })
    return { value: socket, evidence: `session.ready; earlier events replayed: ${replay.delivered}` }
  } catch (error) {
    socket.close()
    throw error
  }
}
