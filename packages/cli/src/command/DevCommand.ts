import { EXIT, Failure } from "@agentos/node/command-line"
import { dirname, join } from "node:path"
import type { Context } from "../context/Context.ts"
import { DATA_FLAG, yesFlag } from "../context/Flags.ts"
import { asStarted } from "../host/Host.ts"
import type { RunningSandbox, SandboxDescription } from "../sandbox/SandboxProcess.ts"
import { defineCommand } from "./Command.ts"

const DEV_PROFILE = "dev"

export const DEV = defineCommand(
  {
    name: "dev",
    summary: "Run the whole service on this machine, with test money",
    description:
      "Joins the sandbox that runs with the data folder, for example by `npx -y pnpm@12 start` in the AgentOS repository. If none runs, starts the sandbox of the repository if the current folder is in one, else the package @agentos/sandbox, which is installed on the first use. Creates or updates a profile for it with a funded wallet: `dev`, or the name in --profile. If there is no other profile, it becomes the default. The profile stays valid when the sandbox is restarted with the same data. Ctrl-C stops a sandbox that this command started; its data is kept.",
    arguments: [],
    flags: [
      {
        name: "port",
        type: "integer",
        value: "N",
        summary: "Port of the server; 0 for any free port. Default: 8402, or the next free one.",
        maximum: 65_535
      },
      DATA_FLAG,
      yesFlag("Install the sandbox")
    ],
    examples: [
      { line: "agentctl dev", does: "In a terminal of its own" },
      { line: "agentctl dev --data ./sandbox/sandbox.json", does: "A profile for the sandbox of this file" },
      { line: "agentctl dev --port 0 --data ./sandbox", does: "A second sandbox with its own data" }
    ],
    output: "record",
    json: "{profile, baseUrl, address, walletFile, rpcUrl, mail: {host, port, domain}}, when the sandbox is ready",
    exits: [5, 6]
  },
  async (context, { flags }) => {
    const { checkProfileName, walletFolder } = await import("../config/ConfigFile.ts")
    const { runningSandbox, startSandbox } = await import("../sandbox/SandboxProcess.ts")
    const { globals, host, output } = context
    const profile = checkProfileName(globals.profile ?? DEV_PROFILE)
    const walletFile = join(walletFolder(host), `${profile}.sandbox.key`)
    await rejectForeignProfile(context, profile, walletFile)
    const setUp = async (found: RunningSandbox): Promise<void> => {
      const isDefault = await createProfile(context, profile, walletFile, found)
      await findOwnToken(context, { profile, walletFile }, found.description)
      printReady(context, { profile, walletFile, isDefault }, found.description)
    }
    const running = await runningSandbox(context, flags.data)
    if (running !== undefined) {
      output.note(`Joined the running sandbox of ${dirname(running.path)}.`)
      if (flags.port !== undefined) output.warn("The sandbox runs already, so --port is ignored.")
      return setUp(running)
    }
    const sandbox = await startSandbox(context, { port: flags.port, data: flags.data, yes: flags.yes })
    try {
      await setUp(sandbox)
      output.note("Press Ctrl-C to stop the sandbox. Its data is kept.")
      const code = await sandbox.ended
      if (!host.signal.aborted) throw new Failure({ code: "FAILED", message: `The sandbox exited with ${code}.` })
      output.note("The sandbox has stopped.")
    } finally {
      sandbox.stop()
      await sandbox.ended
    }
  }
)

/** Rejects a profile of the same name that does not belong to a sandbox. */
const rejectForeignProfile = async ({ host }: Context, profile: string, walletFile: string): Promise<void> => {
  const { readConfig } = await import("../config/ConfigFile.ts")
  const { isLoopback } = await import("@agentos/client")
  const { baseUrl, walletFile: other } = (await readConfig(host)).profiles[profile] ?? {}
  const isRemote = baseUrl !== undefined && !isLoopback(new URL(baseUrl).hostname)
  if (!isRemote && (other === undefined || other === walletFile)) return
  throw new Failure({
    code: "EXISTS",
    message: `Profile ${profile} is not a sandbox profile: its ${isRemote ? `server is ${baseUrl}` : `wallet is ${other}`}.`,
    next: ["agentctl dev --profile sandbox"]
  })
}

/** Writes the profile and its wallet. Returns whether the profile is the default. */
const createProfile = async (
  { host }: Context,
  profile: string,
  walletFile: string,
  { description: { baseUrl, rpcUrl, wallet }, path }: RunningSandbox
): Promise<boolean> => {
  const { changeConfig, walletFolder } = await import("../config/ConfigFile.ts")
  const { privateFolder, writePrivate } = await import("../file/PrivateFile.ts")
  await privateFolder(walletFolder(host))
  await writePrivate(walletFile, `${wallet.privateKey}\n`)
  let isDefault = false
  await changeConfig(host, (config) => {
    const isOnly = Object.keys(config.profiles).every((name) => name === profile)
    isDefault = isOnly || config.profile === profile
    return {
      ...config,
      profile: isOnly ? profile : config.profile,
      profiles: { ...config.profiles, [profile]: { baseUrl, walletFile, rpcUrl, sandboxFile: path } }
    }
  })
  return isDefault
}

/**
 * Signs in if the wallet of the sandbox has bought something, for example by a program that used its key, and no valid token
 * of it is saved. A sandbox with new data does not know older tokens, and a sign-in with another wallet replaces the token.
 */
const findOwnToken = async (
  context: Context,
  { profile, walletFile }: { readonly profile: string; readonly walletFile: string },
  { baseUrl, wallet }: SandboxDescription
): Promise<void> => {
  const { ENVIRONMENT_TOKEN, findToken, forgetToken } = await import("../config/Credentials.ts")
  const { Server } = await import("../server/Server.ts")
  const { signIn } = await import("../wallet/SignIn.ts")
  const token = await findToken(context.host, profile, baseUrl)
  if (token?.source === ENVIRONMENT_TOKEN) return
  if (token !== undefined) {
    try {
      const { wallet: owner } = await new Server(context, baseUrl, token.value).call("listLimits")
      if (owner === wallet.address.toLowerCase()) return
    } catch (error) {
      if (!(error instanceof Failure) || error.exit !== EXIT.authentication) throw error
    }
    await forgetToken(context.host, profile, baseUrl)
  }
  try {
    // A wallet that has bought nothing has no token.
    const globals = { ...context.globals, profile, "base-url": baseUrl }
    await signIn({ ...context, globals }, "recoverToken", { walletFile })
  } catch (error) {
    if (!(error instanceof Failure) || error.parts.code !== "RESOURCE_NOT_FOUND") throw error
  }
}

const printReady = (
  { host: machine, output }: Context,
  created: { readonly profile: string; readonly walletFile: string; readonly isDefault: boolean },
  { baseUrl, emailDomain, mail, rpcUrl, wallet }: SandboxDescription
): void => {
  const { isDefault, profile, walletFile } = created
  const { address } = wallet
  const { host, port } = mail
  output.record({ profile, baseUrl, address, walletFile, rpcUrl, mail: { host, port, domain: emailDomain } }, [
    ["Profile", profile],
    ["Server", baseUrl],
    ["Wallet", `${address} (test money)`],
    ["SMTP", `smtp://${host}:${port} for ${emailDomain}`]
  ])
  const flag = isDefault ? "" : ` --profile ${profile}`
  output.note(
    asStarted(
      machine,
      `In another terminal:\n  agentctl${flag} mailbox create ada\n  agentctl${flag} sandbox mail --to ada --code\n  agentctl${flag} mail wait --otp`
    )
  )
}
