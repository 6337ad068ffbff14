import { spawn } from "node:child_process"
import { extname } from "node:path"
import { fileURLToPath } from "node:url"
import { readFileIfExists, replaceFile } from "../shared/AtomicFile.ts"
import { isInWorkspace, TOUR_COMMAND } from "./Installation.ts"
import { launcherEnded } from "./Launchers.ts"
import { inheritedEnvironment } from "./Programs.ts"
import type { SandboxDescription } from "./SandboxFile.ts"
import { describeError, shortPath } from "./StartError.ts"
import { defaultDataDir, readStartOptions, startHelp, type StartOptions } from "./StartOptions.ts"
import { startSandbox, type RunningSandbox } from "./RunningSandbox.ts"

/**
 * The command `start`: starts the sandbox, prints the ready line, runs the tour unless it was completed before, and waits
 * for a signal. Returns the exit code: 0 after SIGINT or SIGTERM, 1 if the start or the tour fails, 2 for a wrong command
 * line.
 */
export const startCommand = async (args: ReadonlyArray<string>): Promise<number> => {
  // The reader of the output may end before the sandbox.
  for (const stream of [process.stdout, process.stderr]) stream.on("error", () => undefined)
  const commandLine = readStartOptions(args, process.env)
  switch (commandLine._tag) {
    case "Help":
      console.log(startHelp)
      return 0
    case "UsageError":
      console.error(`${commandLine.message}\n\n${startHelp}`)
      return 2
    case "Run":
      return run(commandLine.options, listenForStop())
  }
}

const run = async (options: StartOptions, stopRequest: AbortSignal): Promise<number> => {
  console.log(`Starting the sandbox in ${shortPath(options.dataDir)}.`)
  const sandbox = await startSandbox(options, (line) => console.log(line), stopRequest).catch((error: unknown) => {
    if (!stopRequest.aborted) console.error(describeError(error))
  })
  if (sandbox === undefined) return stopRequest.aborted ? 0 : 1
  try {
    console.log(describeSandbox(sandbox))
    console.log(`ready ${sandbox.description.baseUrl}`)
    if (options.tour && !(await runTourOnce(sandbox, stopRequest))) return 1
    if (!stopRequest.aborted) console.log(nextSteps(sandbox))
    await aborted(stopRequest)
    return 0
  } finally {
    console.log("Stopping.")
    await sandbox.stop()
  }
}

/** Returns false if the tour failed. A tour that a stop request interrupts has not failed. */
const runTourOnce = async ({ data }: RunningSandbox, stopRequest: AbortSignal): Promise<boolean> => {
  if ((await readFileIfExists(data.tourFile)) !== undefined) return true
  const program = fileURLToPath(new URL(`../main${extname(import.meta.url)}`, import.meta.url))
  const tour = spawn(process.execPath, [program, "tour", "--data", data.root], {
    stdio: ["ignore", "inherit", "inherit"],
    env: inheritedEnvironment(),
    // Only the supervisor handles Ctrl-C, so that it does not fail the tour.
    detached: true
  })
  const stop = () => void tour.kill()
  stopRequest.addEventListener("abort", stop)
  const code = await new Promise((resolve) => tour.once("exit", resolve))
  stopRequest.removeEventListener("abort", stop)
  if (stopRequest.aborted) return true
  if (code !== 0) return false
  await replaceFile(data.tourFile, `${JSON.stringify({ takenAt: new Date().toISOString() })}\n`)
  return true
}

const aborted = (signal: AbortSignal): Promise<void> =>
  new Promise((resolve) => {
    if (signal.aborted) resolve()
    signal.addEventListener("abort", () => resolve())
  })

/** Aborts at the first stop signal, or when the process that ran the command has ended. */
const listenForStop = (): AbortSignal => {
  const stop = new AbortController()
  for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"] as const) process.on(signal, () => stop.abort())
  // A parent with an IPC channel, such as agentctl, has ended.
  process.on("disconnect", () => stop.abort())
  void launcherEnded(stop.signal).then(() => stop.abort())
  return stop.signal
}

const describeSandbox = ({ data, description }: RunningSandbox): string => {
  const { agentWebhookUrl, baseUrl, carrier, chain, chains, emailDomain, facilitatorUrl, mail, servers, websocketUrl } =
    description
  return `
AgentOS runs on this machine. Local stand-ins replace all external services: payments use
test USDT on ${chains.length === 1 ? "a local chain" : `${chains.length} local chains`}, mail to other domains is stored in files and not sent, and
phone numbers are fictitious and ring only here.

  API            ${baseUrl}  (${baseUrl}/docs)
  WebSocket      ${websocketUrl}
  Inbound mail   ${mail.host}:${mail.port}, for *@${emailDomain}
  Outbound mail  ${shortPath(mail.outboxDir)}
  Phone          carrier ${carrier.url}, test agent ${agentWebhookUrl}
  Chain          ${chain.rpcUrl} (${chain.network}), facilitator ${facilitatorUrl}
${describeSecondChain(description)}${describeServers(servers)}${describeDatabase(description)}  Wallets        10,000 USDT each; keys and all addresses in ${shortPath(data.sandboxFile)}
  Logs           ${shortPath(data.logs)}
`
}

const describeSecondChain = ({ chains: [, second] }: SandboxDescription): string =>
  second === undefined ? "" : `  Second chain   ${second.rpcUrl} (${second.network}), where Permit2 moves the token\n`

const describeServers = (servers: SandboxDescription["servers"]): string =>
  servers.length === 1
    ? ""
    : servers
        .map(
          ({ baseUrl, mail }, index) =>
            `  ${index === 0 ? "Servers" : "       "}        ${baseUrl}, mail ${mail.host}:${mail.port}\n`
        )
        .join("")

/** Omits the password. */
const describeDatabase = ({ databaseUrl }: SandboxDescription): string => {
  if (databaseUrl === null) return ""
  const { host, pathname } = new URL(databaseUrl)
  return `  Database       PostgreSQL at ${host}${pathname}\n`
}

const nextSteps = ({ data }: RunningSandbox): string => {
  const isDefault = data.root === defaultDataDir
  const steps = [
    [`${TOUR_COMMAND}${isDefault ? "" : ` --data ${data.root}`}`, "runs the tour of this sandbox again"],
    ...(isInWorkspace
      ? [[SUPPORT_INBOX + (isDefault ? "" : ` --sandbox ${data.sandboxFile}`), SUPPORT_INBOX_TEXT]]
      : [])
  ]
  return `
Next, in another terminal:
${steps.map(([command, text]) => `  ${command}\n      ${text}\n`).join("")}
Press Ctrl-C to stop. The data in ${shortPath(data.root)} is kept for the next start.
`
}

const SUPPORT_INBOX = "npx -y pnpm@12 --filter @agentos/example-support-inbox start"
const SUPPORT_INBOX_TEXT = "runs an agent that buys a mailbox and answers each mail in its thread"
